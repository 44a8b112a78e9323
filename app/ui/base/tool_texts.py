"""What tools are called, and what they do, in the user's words: our own are described to models in English.

Pure functions.
"""

from app.look.plain_text import one_line
from app.look.words import mark, tr
from app.tools.server_config import BUILT_IN
from app.tools.tool import Tool

MAX_CHARS = 1_000

_OWN = {
    "time": (mark("Current time"), mark("The date and time, in your time zone or another.")),
    "calculate": (mark("Calculator"), mark("Computes exactly, also with fractions and large numbers.")),
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
