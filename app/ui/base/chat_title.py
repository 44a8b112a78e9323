"""A chat's title as it is shown. GUI thread."""

from functools import lru_cache

from app.chats.titles import NEW_CHAT, NEW_NOTEBOOK
from app.look.plain_text import one_line
from app.look.words import tr

_one_line = lru_cache(maxsize=32_768)(one_line)  # the sidebar needs each repeatedly


def shown_title(title: str) -> str:
    """In one line, and translated if it is the default title."""
    if title == NEW_NOTEBOOK:
        return tr("New notebook")
    return tr("New chat") if title in ("", NEW_CHAT) else _one_line(title)
