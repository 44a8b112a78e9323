"""Paths of chats and models, settings, logs, and bundled files.

Follows the platform's rules (on Linux the XDG variables). Makes none but in `private_dir`. Any thread.
"""

import logging
import os
import sys
from pathlib import Path

import platformdirs

from app.system.files import private_dir as private_dir

APP_NAME = "skein"

log = logging.getLogger(__name__)


def data_dir() -> Path:
    return platformdirs.user_data_path(APP_NAME, appauthor=False)


def config_dir() -> Path:
    return platformdirs.user_config_path(APP_NAME, appauthor=False)


def usual_cache_dir() -> Path:
    return platformdirs.user_cache_path(APP_NAME, appauthor=False)


def cache_dir() -> Path:
    """The folder for what can be made anew: beside the chats where the usual one cannot be written to."""
    usual = usual_cache_dir()
    there = next(place for place in (usual, *usual.parents) if may(place, os.F_OK))
    return usual if may(there, os.W_OK | os.X_OK) else data_dir() / "cache"


def state_dir() -> Path:
    return platformdirs.user_state_path(APP_NAME, appauthor=False)


def log_dir() -> Path:
    return platformdirs.user_log_path(APP_NAME, appauthor=False)


def chats_file() -> Path:
    return data_dir() / "chats.db"


def presets_dir() -> Path:
    return data_dir() / "presets"


def models_dir() -> Path:
    """The default folder for downloads."""
    return data_dir() / "models"


def kept_cells_dir() -> Path:
    return data_dir() / "cells"


def shelves_file() -> Path:
    return config_dir() / "shelves.json"


def shelf_texts_file() -> Path:
    """Everything in it comes from the user's files."""
    return data_dir() / "shelf-texts.db"


def rows_dir() -> Path:
    """A file for each job: the table's rows, and the answers."""
    return data_dir() / "rows"


def certificate_file() -> Path:
    """The API's own TLS certificate. Its key is beside it."""
    return config_dir() / "tls" / "api-certificate.pem"


def run_marker_file() -> Path:
    return data_dir() / "running.json"


def settings_file() -> Path:
    return config_dir() / "settings.json"


def mcp_servers_file() -> Path:
    """Its values may be secrets."""
    return config_dir() / "mcp-servers.json"


def window_state_file() -> Path:
    return config_dir() / "window.ini"


def probed_models_file() -> Path:
    return cache_dir() / "probed-models.json"


def model_headers_file() -> Path:
    return cache_dir() / "model-headers.json"


def resources_dir() -> Path:
    """Inside the package when installed, beside it in a checkout."""
    package = Path(__file__).resolve().parents[1]
    installed = package / "resources"
    return installed if installed.is_dir() else package.parent / "resources"


def starter_model() -> Path:
    return resources_dir() / "models" / "starter.gguf"


def bundled_licences() -> Path | None:
    """The list that packaging/licences.py puts into a bundle."""
    listed = resources_dir().parents[2] / "LICENCES.md"
    return listed if getattr(sys, "frozen", False) and listed.is_file() else None


def private_dir_if_possible(path: Path) -> Path | None:
    """Like `private_dir`, for what can be done without."""
    try:
        return private_dir(path)
    except OSError as error:
        log.warning("%s cannot be made: %s", path, error)
        return None


def is_read_only(folder: Path) -> bool:
    return may(folder, os.R_OK | os.X_OK) and not may(folder, os.W_OK)


def may(folder: Path, mode: int) -> bool:
    """A check in advance: SQLite, the lock and the log would each fail differently."""
    return os.access(folder, mode, effective_ids=os.access in os.supports_effective_ids)
