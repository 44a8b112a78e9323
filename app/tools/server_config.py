"""How an MCP server is reached: a command to start, or an address. Read from `mcp.json`, and written to it.

The same file is written by Claude Desktop and LM Studio (`mcpServers`) and by VS Code (`servers`, `inputs`).
The user's own list is a private file with a few fields more. Values of the environment and headers may be
secrets: they are in no repr and no log. Any thread.
"""

from __future__ import annotations

import hashlib
import json
import logging
import re
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from app.protocol.errors import InvalidRequestError
from app.protocol.json_object import check_size
from app.system.files import private_file, replacing_private, set_aside

log = logging.getLogger(__name__)

DEFAULT_TIMEOUT_MS = 60_000
MAX_NAME_CHARS = 40
BUILT_IN = "skein"  # the server of the built-in tools
HAND_OUT = f"{BUILT_IN}/delegate"  # the tool that hands out tasks, each in a fork of its chat
RECALL = f"{BUILT_IN}/recall"  # the tool that searches what a summary of its chat stands for

_PLACEHOLDER = re.compile(r"\$\{input:([^}]*)\}")
_NO_NAME = re.compile(r"[^\w .@-]")


@dataclass(frozen=True, slots=True)
class Input:
    """A value that the user has to give, since VS Code's `mcp.json` leaves it out."""

    id: str
    description: str = ""
    is_password: bool = False


@dataclass(frozen=True, slots=True)
class ServerConfig:
    """Either `command` or `url` is set; `uses_sse`: the older of the two transports over HTTP."""

    name: str
    command: str = ""
    arguments: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    folder: str | None = None
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    uses_sse: bool = False
    timeout_s: float = DEFAULT_TIMEOUT_MS / 1000
    inputs: tuple[Input, ...] = ()

    @property
    def command_line(self) -> str:
        """All of what is started, or the address."""
        return shlex.join((self.command, *self.arguments)) if self.command else self.url

    @property
    def fingerprint(self) -> str:
        """Changes with all that decides what is started or asked."""
        parts = [
            self.command,
            *self.arguments,
            sorted(self.environment.items()),
            self.folder,
            self.url,
            sorted(self.headers.items()),
        ]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()

    def filled(self, values: Mapping[str, str]) -> ServerConfig:
        """With the inputs that have values."""

        def fill(text: str) -> str:
            return _PLACEHOLDER.sub(lambda found: values.get(found[1], found[0]), text)

        return self._mapped(fill, [one for one in self.inputs if one.id not in values])

    def _mapped(self, change: Callable[[str], str], inputs: Iterable[Input]) -> ServerConfig:
        return replace(
            self,
            command=change(self.command),
            arguments=tuple(map(change, self.arguments)),
            environment={name: change(value) for name, value in self.environment.items()},
            folder=self.folder and change(self.folder),
            url=change(self.url),
            headers={name: change(value) for name, value in self.headers.items()},
            inputs=tuple(inputs),
        )

    def entry(self) -> dict[str, Any]:
        """The entry in `mcp.json`."""
        if self.command:
            entry: dict[str, Any] = {
                "command": self.command,
                "args": list(self.arguments),
                "env": dict(self.environment),
            }
            if self.folder:
                entry["cwd"] = self.folder
        else:
            entry = {
                "type": "sse" if self.uses_sse else "http",
                "url": self.url,
                "headers": dict(self.headers),
            }
        if self.timeout_s != DEFAULT_TIMEOUT_MS / 1000:
            entry["timeout_ms"] = round(self.timeout_s * 1000)
        return entry


def read_mcp_json(text: str) -> list[ServerConfig]:
    """Raises InvalidRequestError."""
    try:
        check_size(text.encode("utf-8", "replace"))
        whole = json.loads(text)
        inputs = [_input(one) for one in whole.get("inputs") or ()]
        listed = next((whole[name] for name in ("mcpServers", "servers") if name in whole), None)
        if listed is None and isinstance(whole.get("mcp"), dict):  # in the settings of VS Code
            listed = whole["mcp"].get("servers")
        return [read_entry(name, entry, inputs) for name, entry in (listed or {}).items()]
    except (ValueError, AttributeError, TypeError, KeyError, RecursionError) as error:
        raise InvalidRequestError(f"The list of MCP servers cannot be read: {error}.") from error


def unique_name(name: str, taken: Iterable[str]) -> str:
    names, number = set(taken), 2
    unique = name
    while unique in names:
        unique, number = f"{name[: MAX_NAME_CHARS - 4]} {number}", number + 1
    return unique


def read_entry(name: str, entry: Mapping[str, Any], inputs: Sequence[Input] = ()) -> ServerConfig:
    """Raises ValueError, AttributeError or TypeError."""
    timeout_ms = entry.get("timeout_ms", entry.get("timeout", DEFAULT_TIMEOUT_MS))
    if isinstance(timeout_ms, bool) or not isinstance(timeout_ms, int) or timeout_ms < 1:
        raise ValueError(f"timeout_ms of {name} is no number of milliseconds")
    kind = entry.get("type") or entry.get("transport") or ("stdio" if "command" in entry else "http")
    if kind not in ("stdio", "http", "sse", "streamable-http", "streamableHttp"):
        raise ValueError(f"type of {name} is none of stdio, http and sse")
    config = ServerConfig(
        name=checked_name(name),
        command=_text(entry, "command") if kind == "stdio" else "",
        arguments=tuple(_no_zero(str(one)) for one in entry.get("args") or ()),
        environment=_texts(entry.get("env")),
        folder=None if entry.get("cwd") is None else _no_zero(str(entry["cwd"])),
        url=_text(entry, "url") if kind != "stdio" else "",
        headers=_texts(entry.get("headers")),
        uses_sse=kind == "sse",
        timeout_s=timeout_ms / 1000,
    )
    check(config)
    wanted = dict.fromkeys(_PLACEHOLDER.findall(json.dumps(config.entry(), ensure_ascii=False)))
    known = {one.id: one for one in inputs}
    return replace(config, inputs=tuple(known.get(one, Input(one)) for one in wanted))


def check(config: ServerConfig) -> None:
    """Raises ValueError for one that cannot be used."""
    if bool(config.command) == bool(config.url):
        raise ValueError(f"{config.name} needs a command or an address")
    if config.url and not _PLACEHOLDER.search(config.url):
        parts = urlsplit(config.url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"the address of {config.name} must begin with http:// or https://")


def checked_name(name: str) -> str:
    """One that can be part of a tool's key. Raises ValueError for one of nothing else."""
    name = _NO_NAME.sub("-", name).strip()[:MAX_NAME_CHARS]
    if not name.strip("- ."):
        raise ValueError("a server has no name")
    return f"{name}-mcp" if name == BUILT_IN else name


def _text(entry: Mapping[str, Any], name: str) -> str:
    value = entry.get(name)
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"{name} is missing")
    return _no_zero(value.strip())


def _texts(values: Mapping[str, Any] | None) -> dict[str, str]:
    return {_no_zero(str(name)): _no_zero(str(value)) for name, value in (values or {}).items()}


def _no_zero(text: str) -> str:
    if "\0" in text:
        raise ValueError("a NUL character is in it")
    return text


def _input(stored: Mapping[str, Any]) -> Input:
    return Input(str(stored["id"]), str(stored.get("description", ""))[:1000], stored.get("password") is True)


@dataclass(frozen=True, slots=True)
class ListedServer:
    config: ServerConfig
    is_enabled: bool = True
    trusted: str = ""  # the fingerprint of what the user has confirmed; another program may change the rest

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
        set_aside(path)
        return []


def write_list(path: Path, servers: Iterable[ListedServer]) -> None:
    """Raises OSError."""
    entries = {one.config.name: _entry(one) for one in servers}
    with replacing_private(path) as file:
        file.write(json.dumps({"mcpServers": entries}, indent=2, ensure_ascii=False))


def _listed(name: str, entry: Mapping[str, Any]) -> ListedServer:
    config = read_entry(name, entry)
    return ListedServer(config, entry.get("enabled") is not False, str(entry.get("trusted", "")))


def _entry(one: ListedServer) -> dict[str, Any]:
    entry = one.config.entry()
    if not one.is_enabled:
        entry["enabled"] = False
    if one.trusted:
        entry["trusted"] = one.trusted
    return entry
