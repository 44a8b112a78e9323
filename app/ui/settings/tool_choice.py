"""Which tools a chat offers its model, as keys: "server/tool", or "server/*" for all of a server.

Pure functions.
"""

from collections.abc import Iterable, Sequence

from app.look.words import tr, tr_n

ALL = "*"

Keys = tuple[str, ...]


def key_of(server: str, tool: str) -> str:
    return f"{server}/{tool}"


def server_of(key: str) -> str:
    return key.partition("/")[0]


def is_chosen(keys: Sequence[str], key: str) -> bool:
    return key in keys or key_of(server_of(key), ALL) in keys


def has_all(keys: Sequence[str], server: str) -> bool:
    return key_of(server, ALL) in keys


def with_all(keys: Sequence[str], server: str, *, is_on: bool) -> Keys:
    """All of a server, also those that it gets later, or none."""
    others = tuple(key for key in keys if server_of(key) != server)
    return (*others, key_of(server, ALL)) if is_on else others


def with_tool(keys: Sequence[str], key: str, tools: Iterable[str], *, is_on: bool) -> Keys:
    """`tools`: the keys of all tools of its server. One less than all of them are named one by one."""
    server = server_of(key)
    if has_all(keys, server):
        keys = (*(one for one in keys if server_of(one) != server), *tools)
    without = tuple(one for one in keys if one != key)
    return (*without, key) if is_on else without


def chosen_text(keys: Sequence[str]) -> str:
    """Of a chat's settings, where it is not known how many tools a server has."""
    wholes = [server_of(key) for key in keys if key.endswith(f"/{ALL}")]
    num_single = len(keys) - len(wholes)
    parts = [tr("all of {server}", server=server) for server in wholes]
    if num_single:
        parts.append(tr_n("{n} tool", "{n} tools", num_single))
    return ", ".join(parts) or tr("None")
