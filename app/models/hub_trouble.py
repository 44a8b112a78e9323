"""Messages for a hub's refusals, silence and invalid answers, and how long to wait then.

Pure functions. Any thread.
"""

import re
from collections.abc import Mapping
from contextlib import suppress
from email.utils import parsedate_to_datetime

from app.models import hub_address
from app.models.hub_address import GatedError, HubError
from app.system.said import said


def offline(endpoint: str, reason: str) -> HubError:
    return HubError(
        said(
            "{hub} cannot be reached ({reason}). Check your internet connection and try again. Models on "
            "this machine still work.",
            hub=endpoint,
            reason=reason,
        )
    )


def unreachable(endpoint: str, error: Exception) -> HubError:
    """`error` is the exception raised instead of an answer."""
    system = getattr(error, "os_error", error)  # as aiohttp keeps it
    reason = (system.strerror if isinstance(system, OSError) else "") or str(error)
    reason = reason.partition("] ")[2] if reason.startswith("[Errno") else reason
    if "CERTIFICATE_VERIFY_FAILED" in str(error):
        return HubError(
            said(
                "The certificate of {hub} is not valid ({reason}). Check this computer's date and time, "
                "and whether your network requires you to sign in first.",
                hub=endpoint,
                reason=reason.rpartition("CERTIFICATE_VERIFY_FAILED] ")[2],
            )
        )
    return offline(endpoint, reason or said("it does not respond"))


def wait_s(headers: Mapping[str, str]) -> float:
    """The hub's wait time, computed by its own clock since ours may be wrong. 0: not given."""
    if limit := re.search(r"\br=0;t=(\d{1,9})", headers.get("RateLimit", "")):
        return float(limit[1])
    after = headers.get("Retry-After", "")
    if after.isascii() and after.isdecimal():
        return float(after[:9])
    with suppress(ValueError, TypeError):
        then, now = parsedate_to_datetime(after), parsedate_to_datetime(headers.get("Date", ""))
        return max(0.0, (then - now).total_seconds())
    return 0.0


def refused(status: int, repo_id: str, endpoint: str, has_token: bool, wait_s: float = 0.0) -> HubError:
    """`status` is an HTTP error."""
    if status == 401 and has_token:
        return GatedError(
            said("{hub} rejected your token. Create a new one there and enter it here.", hub=endpoint),
            f"{endpoint}/settings/tokens",
        )
    if status in (401, 403):
        return gated(repo_id, endpoint)
    if status in (404, 410):
        return not_found(repo_id, endpoint) if repo_id else no_hub(endpoint)
    if status == 429 and wait_s:
        return HubError(
            said(
                "{hub} limits requests. Try again in {minutes:.0f} min; with a token the limit is higher.",
                hub=endpoint,
                minutes=max(1.0, wait_s / 60),
            )
        )
    if status == 429:
        return HubError(
            said(
                "{hub} limits requests. Wait a few minutes and try again; with a token the limit is higher.",
                hub=endpoint,
            )
        )
    return in_trouble(status, endpoint)


def in_trouble(status: int, endpoint: str) -> HubError:
    """A failure on the hub's side, which may be temporary."""
    return HubError(
        said("{hub} has a problem (HTTP {status}). Try again in a few minutes.", hub=endpoint, status=status)
    )


def gated(repo_id: str, endpoint: str) -> GatedError:
    page = hub_address.web_page(endpoint, repo_id)
    return GatedError(
        said(
            "{repo} requires a token and acceptance of its terms. Accept them at {page}, then enter your "
            "token here.",
            repo=repo_id or endpoint,
            page=page,
        ),
        page,
    )


def no_hub(endpoint: str) -> HubError:
    return HubError(
        said(
            "{hub} does not answer as a model hub should. Check its address in Settings.",
            hub=endpoint,
        )
    )


def not_found(repo_id: str, endpoint: str) -> HubError:
    return HubError(
        said(
            "{repo} is not at {hub}: it was renamed, removed, or is private. Search for it again.",
            repo=repo_id,
            hub=endpoint,
        )
    )
