"""A hub: its address, the user's token for it, and where it may redirect to. Any thread.

A redirect goes to https only, and never to this machine or the local network. A hub on this machine may
redirect to this machine, also over plain http. Tokens are in the system's keyring, never in the settings or a
log, one for each hub, so that a mirror never gets another hub's. The keyring blocks, perhaps until the user
has unlocked it: call it by `off_loop`.

Refusals, silence and invalid answers of a hub become a HubError, which says what to do.
"""

import logging
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from email.utils import parsedate_to_datetime
from urllib.parse import SplitResult, quote, urlsplit

from app.system.proxies import address_of, is_this_machine
from app.system.said import said


class HubError(Exception):
    """A request to the hub failed."""


class GatedError(HubError):
    """Access to the model must be requested on the web page `page`."""

    def __init__(self, text: str, page: str) -> None:
        super().__init__(text)
        self.page = page


class DownloadError(Exception):
    """A file could not be downloaded. It does not exist under its name."""


DEFAULT_ENDPOINT = "https://huggingface.co"
TOKEN_BEGINS = "hf_…"  # as every token of Hugging Face does


def endpoint_of(setting: str, environment: Mapping[str, str] = os.environ) -> str:
    """The hub in use, without a trailing slash. Raises HubError for an invalid address."""
    chosen = (setting or environment.get("HF_ENDPOINT", "") or DEFAULT_ENDPOINT).strip().rstrip("/")
    parts = _split(chosen)
    is_safe = parts.scheme == "https" or (parts.scheme == "http" and is_this_machine(parts.hostname or ""))
    if not is_safe or not parts.hostname or parts.username or parts.query or parts.fragment:
        raise HubError(
            said(
                "{address} cannot be used as a hub. Enter an address that begins with https://, such as "
                "{example}; plain http:// is allowed only for this machine.",
                address=chosen,
                example=DEFAULT_ENDPOINT,
            )
        )
    return chosen


def file_url(endpoint: str, repo_id: str, revision: str, path: str) -> str:
    return f"{endpoint}/{quote(repo_id)}/resolve/{quote(revision, safe='')}/{quote(path)}"


def web_page(endpoint: str, repo_id: str) -> str:
    return f"{endpoint}/{quote(repo_id)}"


def check(url: str, endpoint: str) -> None:
    """Raises HubError if a hub at `endpoint` may not redirect to `url`."""
    parts, home = _split(url), _split(endpoint)
    host = parts.hostname or ""
    may_be_plain = is_this_machine(home.hostname or "") and is_this_machine(host)
    is_encrypted = parts.scheme == "https" or (parts.scheme == "http" and may_be_plain)
    if not host or not is_encrypted or (is_inside(host) and not is_inside(home.hostname or "")):
        raise leads_astray(url, endpoint)


def leads_astray(url: str, endpoint: str) -> HubError:
    return HubError(
        said(
            "{hub} redirected to {address}, which is not safe, so nothing was downloaded. If you use a "
            "mirror, check its address.",
            hub=endpoint,
            address=url[:200],
        )
    )


def same_origin(one: str, other: str) -> bool:
    """Whether both may receive the same secrets."""
    return _origin(_split(one)) == _origin(_split(other))


def is_inside(host: str) -> bool:
    """Whether it is this machine or its network, by the name. The resolved address is checked later."""
    address = address_of(host)
    return (
        not address.is_global if address else host == "localhost" or host.endswith((".localhost", ".local"))
    )


def _origin(parts: SplitResult) -> tuple[str, str, int]:
    return parts.scheme, parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)


def _split(url: str) -> SplitResult:
    """An empty result for an invalid address."""
    try:
        parts = urlsplit(url)
        _ = parts.port  # checked only when it is asked for
    except ValueError:
        return urlsplit("")
    return parts


log = logging.getLogger(__name__)

SERVICE = "skein"


def read_token(endpoint: str) -> str:
    """Empty if there is no token or no keyring."""
    from keyring import get_password
    from keyring.errors import KeyringError

    try:
        kept = get_password(SERVICE, endpoint)
    except (KeyringError, OSError) as error:
        log.info("The keyring cannot be read: %s", type(error).__name__)
        kept = None
    return kept or (os.environ.get("HF_TOKEN", "") if endpoint == DEFAULT_ENDPOINT else "")


def keep_token(endpoint: str, token: str) -> bool:
    """Stores the token; an empty one deletes it. False: there is no keyring, or it is locked."""
    from keyring import delete_password, set_password
    from keyring.errors import KeyringError, PasswordDeleteError

    try:
        if token:
            set_password(SERVICE, endpoint, token)
        else:
            delete_password(SERVICE, endpoint)
    except PasswordDeleteError:  # there was none
        return True
    except (KeyringError, OSError) as error:
        log.info("The keyring cannot be written: %s", type(error).__name__)
        return False
    return True


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
    if isinstance(system, ConnectionError) and system.errno:  # in place of asyncio's own words
        reason = os.strerror(system.errno)
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


def refusal(
    status: int, headers: Mapping[str, str], repo_id: str, endpoint: str, has_token: bool
) -> HubError:
    """Any answer of the hub itself that is not what was asked for."""
    code = headers.get("X-Error-Code", "")
    if code == "GatedRepo":
        return gated(repo_id, endpoint)
    # Without a token, the hub answers 401 for missing files, too.
    status = 404 if code.endswith("NotFound") else status
    return refused(status, repo_id, endpoint, has_token, wait_s(headers))


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
    page = web_page(endpoint, repo_id)
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
