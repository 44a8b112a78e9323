"""The passages of a whole message, read from what was written: it need not be on the screen. GUI thread."""

import html
import re
from functools import partial

from PySide6.QtGui import QTextDocument

from app.ui.message.markdown import Block, BlockKind, parse_blocks
from app.ui.message.markdown_column import MAX_CHARS
from app.ui.message.markdown_html import COPY, MATH, formula_source
from app.ui.message.passages import CopiedPassage, PassageKind, passages

QUOTES = ".quote { -qt-table-type: frame; }"


def passages_of(text: str, *, is_markdown: bool) -> list[CopiedPassage]:
    """All of it. A very long one is shown as it was written, and copied so."""
    if not is_markdown or len(text) > MAX_CHARS:
        return [CopiedPassage(PassageKind.TEXT, text=text)]
    return [passage for block in parse_blocks(text) for passage in _passages_in(block)]


def _passages_in(block: Block) -> list[CopiedPassage]:
    if block.kind is BlockKind.CODE:
        return [CopiedPassage(PassageKind.CODE, text=block.code.removesuffix("\n"), info=block.info)]
    sources: dict[str, str] = {}
    document = QTextDocument()
    document.setDefaultStyleSheet(QUOTES)
    document.setHtml(COPY.sub("", MATH.sub(partial(_named, sources), block.html)))
    return passages(document, 0, document.characterCount(), sources)


def _named(sources: dict[str, str], found: re.Match[str]) -> str:
    """An image stands for a formula, as on the page."""
    name = f"formula:{len(sources)}"
    sources[name] = formula_source(html.unescape(found[1]), html.unescape(found[2]))
    return f'<img src="{name}">'
