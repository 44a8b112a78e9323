"""A hub: its address, the user's token for it, and where it may redirect to. Any thread.

A redirect goes to https only, and never to this machine or the local network. A hub on this machine may
redirect to this machine, also over plain http. Tokens are in the system's keyring, never in the settings or a
log, one for each hub, so that a mirror never gets another hub's. The keyring blocks, perhaps until the user
has unlocked it: call it by `off_loop`.
"""

import logging
import os
from collections.abc import Mapping
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
