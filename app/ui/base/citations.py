"""Numbers of sources in answers, as links: [3]. In a chat with a shelf they open the reader. GUI thread."""

import re

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QWidget

SCHEME = "source"
_PROPERTY = "cites"  # of a widget: answers below it cite
_CITATION = re.compile(r"\[(\d{1,5})\]")
_TAG = re.compile(r"(<[^>]*>)")
_NO_TEXT = ("a", "pre", "code", "math")  # a number in them is no citation


def set_citing(widget: QWidget, cites: bool) -> None:
    """From the next text on that is shown below it."""
    widget.setProperty(_PROPERTY, cites)


def is_citing(widget: QWidget | None) -> bool:
    while widget is not None:
        cites = widget.property(_PROPERTY)
        if cites is not None:
            return bool(cites)
        widget = widget.parentWidget()
    return False


def with_links(html: str) -> str:
    """The same with a link around each number of a source."""
    if not _CITATION.search(html):
        return html
    parts, depth = [], 0
    for part in _TAG.split(html):
        if part.startswith("<"):
            name = re.split(r"[\s>]", part[1:].lstrip("/"), maxsplit=1)[0]
            if name in _NO_TEXT:
                depth += -1 if part.startswith("</") else 1
            parts.append(part)
        else:
            parts.append(part if depth else _CITATION.sub(rf'<a href="{SCHEME}:\1">\g<0></a>', part))
    return "".join(parts)


def open_source(number: str, said: str) -> None:
    """Whoever has set himself as the handler of the scheme gets it, with what the answer says there."""
    url = QUrl(f"{SCHEME}:{number}")
    url.setFragment(said)
    QDesktopServices.openUrl(url)
