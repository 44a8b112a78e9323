"""What tools are called, and which a chat offers its model: "server/tool", or "server/*" for all of a server.

Pure functions.
"""

from collections.abc import Iterable, Sequence

from app.look.plain_text import one_line
from app.look.words import mark, tr, tr_n
from app.tools.server_config import BUILT_IN
from app.tools.tool import Tool

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
    """For a chat's settings, where it is not known how many tools a server has."""
    wholes = [server_of(key) for key in keys if key.endswith(f"/{ALL}")]
    num_single = len(keys) - len(wholes)
    parts = [tr("all of {server}", server=server) for server in wholes]
    if num_single:
        parts.append(tr_n("{n} tool", "{n} tools", num_single))
    return ", ".join(parts) or tr("None")


MAX_CHARS = 1_000

_OWN = {  # whose own words, in English, are for models
    "time": (mark("Current time"), mark("The date and time, in your time zone or another.")),
    "calculate": (mark("Calculator"), mark("Computes exactly, also with fractions and large numbers.")),
    "delegate": (
        mark("Work on tasks side by side"),
        mark("Hands out tasks, each in a fork of this chat."),
    ),
    "recall": (mark("Recall earlier messages"), mark("Finds what a summary of the chat leaves out.")),
    "search_chats": (mark("Search chats"), mark("Finds messages in your other chats.")),
    "fetch_page": (mark("Fetch a web page"), mark("Reads a public page as text. Always asks.")),
    "read_file": (mark("Read a file"), mark("Reads a text file in your folders.")),
    "find_files": (mark("Find files"), mark("Finds files in your folders by name.")),
    "search_files": (mark("Search in files"), mark("Finds lines in the files of your folders.")),
}


def title_of(tool: Tool) -> str:
    words = _own_words(tool)
    return tr(words[0]) if words else one_line((tool.title or tool.name)[:MAX_CHARS])


def sentence_of(tool: Tool) -> str:
    words = _own_words(tool)
    return tr(words[1]) if words else tool.description[:MAX_CHARS]


def _own_words(tool: Tool) -> tuple[str, str] | None:
    server, _slash, name = tool.key.partition("/")
    return _OWN.get(name) if server == BUILT_IN else None
