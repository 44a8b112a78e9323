"""The user's token for a hub, in the system's keyring: never in the settings, never in a log.

One for each hub, so that a mirror never gets another hub's token. Blocks, perhaps until the user has unlocked
the keyring, so call it by `off_loop`. Any thread.
"""

import logging
import os

from app.models.hub_address import DEFAULT_ENDPOINT

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
