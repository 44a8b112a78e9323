"""Messages for a hub's refusals, silence and invalid answers, and how long to wait then.

Pure functions. Any thread.
"""

import re
from collections.abc import Mapping
from contextlib import suppress
from email.utils import parsedate_to_datetime

from app.models import hub_address
from app.models.hub_errors import GatedError, HubError
from app.system.said import said


def offline(endpoint: str, reason: str) -> HubError:
    return HubError(
        said(
            "{hub} cannot be reached ({reason}). Check the connection to the internet, then try again. "
            "Models on this machine can be used all the same.",
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
                "{hub} cannot prove that it is itself ({reason}). Check the date and time of this computer, "
                "and whether your network wants you to sign in first, as in a hotel.",
                hub=endpoint,
                reason=reason.rpartition("CERTIFICATE_VERIFY_FAILED] ")[2],
            )
        )
    return offline(endpoint, reason or said("it does not answer"))


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
            said("{hub} does not accept your token. Make a new one there and enter it here.", hub=endpoint),
            f"{endpoint}/settings/tokens",
        )
    if status in (401, 403):
        return gated(repo_id, endpoint)
    if status in (404, 410):
        return not_found(repo_id, endpoint) if repo_id else no_hub(endpoint)
    if status == 429 and wait_s:
        return HubError(
            said(
                "{hub} says that it was asked too often. Try again in {minutes:.0f} min; with a token it "
                "allows more.",
                hub=endpoint,
                minutes=max(1.0, wait_s / 60),
            )
        )
    if status == 429:
        return HubError(
            said(
                "{hub} says that it was asked too often. Wait some minutes, then try again; with a token it "
                "allows more.",
                hub=endpoint,
            )
        )
    return in_trouble(status, endpoint)


def in_trouble(status: int, endpoint: str) -> HubError:
    """A failure on the hub's side, which may be temporary."""
    return HubError(
        said("{hub} has trouble (HTTP {status}). Try again in some minutes.", hub=endpoint, status=status)
    )


def gated(repo_id: str, endpoint: str) -> GatedError:
    page = hub_address.web_page(endpoint, repo_id)
    return GatedError(
        said(
            "{repo} is given only to those who have a token and have accepted its terms. Accept them at "
            "{page}, then enter your token here.",
            repo=repo_id or endpoint,
            page=page,
        ),
        page,
    )


def no_hub(endpoint: str) -> HubError:
    return HubError(
        said(
            "{hub} answers, but not as a hub for models does. Check its address in the settings.",
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
