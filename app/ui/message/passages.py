"""What is copied of messages: passages of text documents, as plain text, as HTML and as Markdown.

Lists, tables, quotations, code and formulas stay what they are in all three. GUI thread, as QTextDocument is.
"""

import html
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import pairwise

from PySide6.QtGui import (
    QTextBlock,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFormat,
    QTextFragment,
    QTextList,
    QTextTable,
)

from app.ui.message.folding import unfold

FAMILIES = QTextFormat.Property.FontFamilies.value
_RULER = QTextFormat.Property.BlockTrailingHorizontalRulerWidth.value
_BOLD = 600
_SCRIPTS = {
    QTextCharFormat.VerticalAlignment.AlignSuperScript: "sup",
    QTextCharFormat.VerticalAlignment.AlignSubScript: "sub",
}
_MARKUP = re.compile(
    r"[\\`*\[<]|(?<!\w)_|_(?!\w)|^[#>+-]|(?<=\d)(?<!\w\d)[.)](?= )"
)  # `\]` would end a formula


class PassageKind(StrEnum):
    TEXT = "text"  # as it was written
    CODE = "code"
    PARAGRAPH = "paragraph"
    HEADING = "heading"
    ITEM = "item"
    ROW = "row"
    RULER = "ruler"


@dataclass(frozen=True, slots=True)
class TextRun:
    """Text of one appearance. A formula is as it was written."""

    text: str
    is_bold: bool = False
    is_italic: bool = False
    is_struck: bool = False
    is_code: bool = False
    is_formula: bool = False
    script: str = ""  # "sup" or "sub": it stands higher or lower
    link: str = ""


Runs = tuple[TextRun, ...]


@dataclass(frozen=True, slots=True)
class CopiedPassage:
    """A piece of text as a reader sees it: in `text` for text and code, in `cells` for a row, else in `runs`.

    `level`: of a heading; of others, how many lists it is in. `is_first`: the row is its table's head.
    """

    kind: PassageKind
    runs: Runs = ()
    level: int = 0
    marker: str = ""  # of an item: its number, or "-"; none where only its end was copied
    quotes: int = 0  # how many quotations it is in
    cells: tuple[Runs, ...] = ()
    is_first: bool = False
    text: str = ""
    info: str = ""  # the language of code

    @property
    def is_empty(self) -> bool:
        texts = (
            self.text,
            *(run.text for run in self.runs),
            *(run.text for cell in self.cells for run in cell),
        )
        return self.kind is not PassageKind.RULER and not any(texts)


def passages(
    document: QTextDocument, begin: int, end: int, sources: Mapping[str, str]
) -> list[CopiedPassage]:
    """The passages between two positions. `sources` has the text of each formula by its image's name."""
    found: list[CopiedPassage] = []
    row = (-1, -1)  # the table, by its first position, and the row that is being read
    block = document.findBlock(begin)
    while block.isValid() and block.position() < max(end, begin + 1):
        runs = _trimmed(tuple(_runs(block, begin, end, sources)))
        table = _table_of(block)
        if table is None:
            row = (-1, -1)
            found += _of_block(block, runs, begin)
        elif table.rows() == table.columns() == 1 and is_framed_code(table):
            if block.blockFormat().nonBreakableLines():
                _add_code(found, block, runs)
        else:
            cell = table.cellAt(block.position())
            before, row = row, (table.firstPosition(), cell.row())
            if before != row:
                is_head = cell.row() < table.format().headerRowCount()
                found.append(CopiedPassage(PassageKind.ROW, quotes=_num_quotes(block), is_first=is_head))
            _add_cell(found, runs, is_new=cell.firstPosition() == block.position() or before != row)
        block = block.next()
    return found


def _runs(block: QTextBlock, begin: int, end: int, sources: Mapping[str, str]) -> Iterator[TextRun]:
    is_plain = bool(block.blockFormat().headingLevel()) or _is_head(block)
    for piece in block:  # type: ignore[attr-defined]
        fragment = piece.fragment()
        first = max(begin, fragment.position())
        last = min(end, fragment.position() + fragment.length())
        if first < last:
            at = fragment.position()
            yield from _runs_of(fragment, fragment.text()[first - at : last - at], sources, is_plain)


def _trimmed(runs: Runs) -> Runs:
    """Without the space that HTML leaves at the end of a paragraph."""
    return (*runs[:-1], replace(runs[-1], text=runs[-1].text.rstrip(" "))) if runs else runs


def _table_of(block: QTextBlock) -> QTextTable | None:
    return QTextCursor(block).currentTable()


def _list_of(block: QTextBlock) -> QTextList | None:
    return block.textList()


def _is_head(block: QTextBlock) -> bool:
    table = _table_of(block)
    return table is not None and table.cellAt(block.position()).row() < table.format().headerRowCount()


def _runs_of(
    fragment: QTextFragment, text: str, sources: Mapping[str, str], is_plain: bool
) -> Iterator[TextRun]:
    look = fragment.charFormat()
    if look.isImageFormat():
        source = sources.get(look.toImageFormat().name(), "")
        yield from (TextRun(source, is_formula=True) for _ in text if source)
        return
    link = look.anchorHref()
    yield TextRun(
        unfold(text).replace("\u2028", "\n"),
        is_bold=look.fontWeight() >= _BOLD and not is_plain,
        is_italic=look.fontItalic(),
        is_struck=look.fontStrikeOut(),
        is_code=look.hasProperty(FAMILIES),
        script=_SCRIPTS.get(look.verticalAlignment(), ""),
        link=link,
    )


def _of_block(block: QTextBlock, runs: Runs, begin: int) -> Iterator[CopiedPassage]:
    look, quotes = block.blockFormat(), _num_quotes(block)
    listed = _list_of(block)
    if look.hasProperty(_RULER):
        yield CopiedPassage(PassageKind.RULER, quotes=quotes)
    elif listed is not None:
        number = listed.itemText(block)
        marker = number if number[:1].isdigit() else "-"
        is_begun = block.position() >= begin
        yield CopiedPassage(
            PassageKind.ITEM, runs, max(1, listed.format().indent()), marker if is_begun else "", quotes
        )
    elif any(run.text for run in runs):
        level = look.headingLevel()
        yield CopiedPassage(
            PassageKind.HEADING if level else PassageKind.PARAGRAPH,
            runs,
            level or look.indent(),
            quotes=quotes,
        )


def _num_quotes(block: QTextBlock) -> int:
    number, frame = 0, QTextCursor(block).currentFrame()
    while frame != block.document().rootFrame():
        number += not isinstance(frame, QTextTable)
        frame = frame.parentFrame()
    return number


def is_framed_code(table: QTextTable) -> bool:
    return table.cellAt(0, 0).lastCursorPosition().block().blockFormat().nonBreakableLines()


def _add_code(found: list[CopiedPassage], block: QTextBlock, runs: Runs) -> None:
    """Another line of it."""
    text = "".join(run.text for run in runs)
    before = found[-1] if found else CopiedPassage(PassageKind.RULER)
    if before.kind is PassageKind.CODE and block.previous().blockFormat().nonBreakableLines():
        found[-1] = CopiedPassage(PassageKind.CODE, text=f"{before.text}\n{text}", quotes=before.quotes)
    else:
        found.append(CopiedPassage(PassageKind.CODE, text=text, quotes=_num_quotes(block)))


def _add_cell(found: list[CopiedPassage], runs: Runs, *, is_new: bool) -> None:
    row = found[-1]
    cells = (*row.cells, runs) if is_new else (*row.cells[:-1], (*row.cells[-1], TextRun("\n"), *runs))
    found[-1] = CopiedPassage(PassageKind.ROW, quotes=row.quotes, cells=cells, is_first=row.is_first)


# As plain text


def as_plain(found: Sequence[CopiedPassage]) -> str:
    return _joined(found, [_quoted(passage, _plain(passage)) for passage in found])


def _plain(passage: CopiedPassage) -> str:
    match passage.kind:
        case PassageKind.TEXT | PassageKind.CODE:
            return passage.text
        case PassageKind.ROW:
            return "\t".join(_text(cell).replace("\n", " ") for cell in passage.cells)
        case PassageKind.RULER:
            return "---"
    return _in_lists(passage, _text(passage.runs))


def _text(runs: Runs) -> str:
    return "".join(run.text for run in runs)


def _in_lists(passage: CopiedPassage, text: str) -> str:
    is_item = passage.kind is PassageKind.ITEM
    if passage.kind is PassageKind.HEADING or not passage.level or (is_item and not passage.marker):
        return text
    head = "   " * (passage.level - is_item) + (f"{passage.marker} " if is_item else "")
    return head + text.replace("\n", "\n" + " " * len(head))


def _quoted(passage: CopiedPassage, text: str) -> str:
    mark = "> " * passage.quotes
    return mark + text.replace("\n", f"\n{mark}") if mark else text


def _joined(found: Sequence[CopiedPassage], texts: Sequence[str]) -> str:
    """With an empty line between them, but for items and rows."""
    parts = list(texts[:1])
    for (before, passage), text in zip(pairwise(found), texts[1:], strict=True):
        is_close = (
            before.kind is passage.kind
            and passage.kind in (PassageKind.ITEM, PassageKind.ROW)
            and not passage.is_first
        )
        between = "> " * min(before.quotes, passage.quotes)
        parts += ["\n" if is_close else f"\n{between.rstrip()}\n", text]
    return "".join(parts)


# As Markdown


def as_markdown(found: Sequence[CopiedPassage]) -> str:
    return _joined(found, [_quoted(passage, _markdown(passage)) for passage in found])


def _markdown(passage: CopiedPassage) -> str:
    match passage.kind:
        case PassageKind.TEXT:
            return passage.text
        case PassageKind.CODE:
            fence = "`" * max([3, *(len(ticks) + 1 for ticks in re.findall("`{3,}", passage.text))])
            return f"{fence}{passage.info}\n{passage.text}\n{fence}"
        case PassageKind.HEADING:
            return f"{'#' * passage.level} {_marked_up(passage.runs)}"
        case PassageKind.ROW:
            cells = [_marked_up(cell).replace("\n", " ").replace("|", "\\|") for cell in passage.cells]
            row = f"| {' | '.join(cells)} |"
            return f"{row}\n|{' --- |' * len(cells)}" if passage.is_first else row
        case PassageKind.RULER:
            return "---"
    return _in_lists(passage, _marked_up(passage.runs))


def _marked_up(runs: Runs) -> str:
    return "".join(_run_markdown(run) for run in runs)


def _run_markdown(run: TextRun) -> str:
    if run.is_formula:
        return run.text
    text = f"`{run.text}`" if run.is_code else _MARKUP.sub(lambda found: f"\\{found[0]}", run.text)
    bare = text.strip()
    for is_so, mark in ((run.is_bold, "**"), (run.is_italic, "*"), (run.is_struck, "~~")):
        if is_so and bare:
            bare = f"{mark}{bare}{mark}"
    if run.script and bare:
        bare = f"<{run.script}>{bare}</{run.script}>"
    if run.link:
        bare = f"[{bare}]({run.link})" if run.text != run.link else run.link
    return text.replace(text.strip(), bare, 1) if text.strip() else text


# As HTML


def as_html(found: Sequence[CopiedPassage]) -> str:
    """Without colours and fonts: where it is pasted has its own."""
    parts: list[str] = []
    open_: list[str] = []  # what has to be closed, the innermost last
    for passage in found:
        wanted = _around(passage, open_)
        same = next((at for at, tag in enumerate(wanted) if open_[at : at + 1] != [tag]), len(wanted))
        same -= passage.is_first and same == len(wanted)  # another table
        parts += [f"</{tag}>" for tag in reversed(open_[same:])]
        parts += [_opened(tag, passage) for tag in wanted[same:]]
        parts.append(_html(passage))
        open_ = wanted
    return "".join([*parts, *(f"</{tag}>" for tag in reversed(open_))])


def _around(passage: CopiedPassage, open_: Sequence[str]) -> list[str]:
    around = ["blockquote"] * passage.quotes
    if passage.kind is PassageKind.ROW:
        return [*around, "table"]
    if passage.kind is PassageKind.ITEM:
        outer = [tag for tag in open_ if tag in ("ul", "ol")]
        around += [*outer, *["ul"] * passage.level][: passage.level - 1]
        around.append("ol" if passage.marker[:1].isdigit() else "ul")
    return around


def _opened(tag: str, passage: CopiedPassage) -> str:
    if tag == "ol" and passage.marker not in ("1.", "-", ""):
        return f'<ol start="{passage.marker.rstrip(".")}">'
    return f"<{tag}>"


def _html(passage: CopiedPassage) -> str:
    match passage.kind:
        case PassageKind.TEXT:
            return f'<p style="white-space: pre-wrap">{_escaped(passage.text)}</p>'
        case PassageKind.CODE:
            return f"<pre><code>{html.escape(passage.text)}</code></pre>"
        case PassageKind.HEADING:
            return f"<h{passage.level}>{_inner(passage.runs)}</h{passage.level}>"
        case PassageKind.ITEM:
            return f"<li>{_inner(passage.runs)}</li>"
        case PassageKind.ROW:
            tag = "th" if passage.is_first else "td"
            return f"<tr>{''.join(f'<{tag}>{_inner(cell)}</{tag}>' for cell in passage.cells)}</tr>"
        case PassageKind.RULER:
            return "<hr>"
    return f"<p>{_inner(passage.runs)}</p>"


def _inner(runs: Runs) -> str:
    return "".join(_run_html(run) for run in runs)


def _run_html(run: TextRun) -> str:
    text = _escaped(run.text)
    for is_so, tag in ((run.is_code, "code"), (run.is_bold, "b"), (run.is_italic, "i"), (run.is_struck, "s")):
        text = f"<{tag}>{text}</{tag}>" if is_so else text
    text = f"<{run.script}>{text}</{run.script}>" if run.script else text
    return f'<a href="{html.escape(run.link)}">{text}</a>' if run.link else text


def _escaped(text: str) -> str:
    return html.escape(text, quote=False).replace("\n", "<br>")
