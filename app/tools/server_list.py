"""The user's MCP servers in a private file, as `mcp.json` with a few fields more. Never in a log.

`trusted` is the fingerprint of what the user has confirmed: a change by another program makes it untrusted.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.protocol.json_object import check_size
from app.system.files import private_dir, private_file, replacing, sync_dir
from app.tools.server_config import ServerConfig, read_entry

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ListedServer:
    config: ServerConfig
    is_enabled: bool = True
    trusted: str = ""

    @property
    def is_trusted(self) -> bool:
        """An address is only asked; a command could do anything."""
        return not self.config.command or self.trusted == self.config.fingerprint


def read_list(path: Path) -> list[ListedServer]:
    """What cannot be read is left out, and kept under another name."""
    try:
        private_file(path)
        text = path.read_text(encoding="utf-8")
        check_size(text.encode())
        entries = json.loads(text or "{}").get("mcpServers") or {}
        return [_listed(name, entry) for name, entry in entries.items()]
    except FileNotFoundError:
        return []
    except (OSError, ValueError, AttributeError, TypeError, RecursionError) as error:
        log.warning("The list of MCP servers cannot be read: %s.", type(error).__name__)
        _set_aside(path)
        return []


def write_list(path: Path, servers: Iterable[ListedServer]) -> None:
    """Raises OSError."""
    private_dir(path.parent)
    entries = {one.config.name: _entry(one) for one in servers}
    with replacing(path) as file:
        file.write(json.dumps({"mcpServers": entries}, indent=2, ensure_ascii=False))
    sync_dir(path.parent)


def _listed(name: str, entry: Mapping[str, Any]) -> ListedServer:
    config = read_entry(name, entry)
    return ListedServer(config, entry.get("enabled") is not False, str(entry.get("trusted", "")))


def _entry(one: ListedServer) -> dict[str, Any]:
    told = one.config.entry()
    if not one.is_enabled:
        told["enabled"] = False
    if one.trusted:
        told["trusted"] = one.trusted
    return told


def _set_aside(path: Path) -> None:
    try:
        path.replace(path.with_suffix(".unreadable.json"))
    except OSError as error:
        log.warning("The unreadable list of MCP servers could not be kept: %s", error.strerror)
