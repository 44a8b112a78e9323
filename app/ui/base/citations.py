"""Numbers of sources in answers, as links: [3]. In a chat with a shelf they open the reader. GUI thread."""

import re
from collections.abc import Callable

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QWidget

SCHEME = "source"
_PROPERTY = "sources"  # of a widget: which numbers answers below it may cite
_CITATION = re.compile(r"\[(\d{1,5})\]")
_TAG = re.compile(r"(<[^>]*>)")
_NO_TEXT = ("a", "pre", "code", "math")  # a number in them is no citation


def set_sources(widget: QWidget, is_source: Callable[[int], bool] | None) -> None:
    """From the next text on that is shown below it. None: no number is a citation."""
    widget.setProperty(_PROPERTY, is_source or False)


def sources_of(widget: QWidget | None) -> Callable[[int], bool] | None:
    """Says of a number whether it is a source of this answer. None: answers do not cite."""
    while widget is not None:
        is_source = widget.property(_PROPERTY)
        if is_source is not None:
            return is_source or None
        widget = widget.parentWidget()
    return None


def with_links(html: str, is_source: Callable[[int], bool]) -> str:
    """The same with a link around each number of a source."""
    if not _CITATION.search(html):
        return html

    def linked(citation: re.Match[str]) -> str:
        number = citation[1]
        return f'<a href="{SCHEME}:{number}">[{number}]</a>' if is_source(int(number)) else citation[0]

    parts, depth = [], 0
    for part in _TAG.split(html):
        if part.startswith("<"):
            name = re.split(r"[\s>]", part[1:].lstrip("/"), maxsplit=1)[0]
            if name in _NO_TEXT:
                depth += -1 if part.startswith("</") else 1
            parts.append(part)
        else:
            parts.append(part if depth else _CITATION.sub(linked, part))
    return "".join(parts)


def open_source(number: str, said: str) -> None:
    """Whoever has set himself as the handler of the scheme gets it, with what the answer says there."""
    url = QUrl(f"{SCHEME}:{number}")
    url.setFragment(said)
    QDesktopServices.openUrl(url)
