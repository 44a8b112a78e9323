"""Word, PowerPoint and OpenDocument: the text with its headings, lists and tables. In the child process only.

Streams through the few elements that carry text: no tree is built, however large the file is.
"""

import posixpath
import re

from app.attachments.packed import ElementFinder, Package
from app.attachments.refusal import CollectedText, Reason, RefusedError

_ODF_KINDS = {
    "application/vnd.oasis.opendocument.text": "odt",
    "application/vnd.oasis.opendocument.spreadsheet": "ods",
    "application/vnd.oasis.opendocument.presentation": "odp",
}
# A style's id is in the language of the Word that made it; in Chinese it is the number alone.
_HEADING = re.compile(r"(?:heading|berschrift|titre|titolo|ttulo|kop)?\s?([1-6])", re.IGNORECASE)
_MAX_REPEATS = 256  # of a cell that holds something; empty ones fill a sheet to its edge
_MAX_SPACES = 64


def docx_text(package: Package) -> str:
    collected = CollectedText()
    for name in ("word/document.xml", "word/footnotes.xml", "word/endnotes.xml"):
        if name in package:
            package.read_xml(name, _OoxmlReader(collected))
            collected.add("\n")
    return collected.text


def pptx_text(package: Package) -> str:
    collected = CollectedText()
    for number, name in enumerate(_slides(package), 1):
        collected.add(f"Slide {number}\n\n")
        package.read_xml(name, _OoxmlReader(collected))
        collected.add("\n")
    return collected.text


def odf_kind(package: Package) -> str | None:
    """None for kinds without text. Raises RefusedError if the file is locked."""
    if "META-INF/manifest.xml" in package and b"encryption-data" in package.content("META-INF/manifest.xml"):
        raise RefusedError(Reason.PASSWORD)
    mimetype = package.content("mimetype") if "mimetype" in package else b""
    return _ODF_KINDS.get(mimetype.decode("ascii", "replace").strip())


def odf_text(package: Package) -> str:
    collected = CollectedText()
    package.read_xml("content.xml", _OdfReader(collected))
    return collected.text


def _slides(package: Package) -> list[str]:
    """In the order in which they are shown."""
    order = ElementFinder("sldId", "id")
    package.read_xml("ppt/presentation.xml", order)
    targets = ElementFinder("Relationship", "Target", "Id")
    package.read_xml("ppt/_rels/presentation.xml.rels", targets)
    name_of = {identity: target for target, identity in targets.values}
    names = [posixpath.normpath(posixpath.join("ppt", name_of.get(key, ""))) for (key,) in order.values]
    return [name for name in names if name in package]


class _Paragraphs:
    """Lines of text, and rows of cells where they stand in a table."""

    def __init__(self, collected: CollectedText) -> None:
        self._collected = collected
        self._line: list[str] = []
        self._prefix = ""
        self._rows: list[list[str]] = []  # of the tables that are open: the row that is being read
        self._cells: list[list[str]] = []  # the cell of each that is being read

    def write(self, text: str) -> None:
        self._line.append(text)

    def begin_as(self, prefix: str, *, unless_begun: bool = False) -> None:
        self._prefix = (unless_begun and self._prefix) or prefix

    def end_paragraph(self) -> None:
        line, prefix = "".join(self._line), self._prefix
        self._line, self._prefix = [], ""
        if self._cells:
            self._cells[-1].append(line)
        else:
            self._collected.add(prefix if line.strip() else "", line, "\n")

    def begin_row(self) -> None:
        self._rows.append([])

    def begin_cell(self) -> None:
        self._cells.append([])

    def end_cell(self, num_times: int = 1) -> None:
        if self._cells and self._rows:
            text = " ".join(part.strip() for part in self._cells.pop() if part.strip())
            self._rows[-1] += [text.replace("\n", " ")] * num_times

    def end_row(self) -> None:
        row = self._rows.pop() if self._rows else []
        while row and not row[-1]:
            row.pop()
        if row and self._cells:  # a table in a table's cell
            self._cells[-1].append(" | ".join(row))
        elif row:
            self._collected.add(" | ".join(row), "\n")


class _OoxmlReader:
    """Word's `w:` and PowerPoint's `a:` elements, which have the same names for the same things."""

    # Fallbacks for old programs, tab stop positions, and text before a tracked change.
    _SKIPPED = frozenset({"Fallback", "tabs", "tabLst", "moveFrom", "pPrChange"})

    def __init__(self, collected: CollectedText) -> None:
        self._paragraphs = _Paragraphs(collected)
        self._is_text = False
        self._num_skipped = 0  # elements that are open in one that is skipped

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if self._num_skipped or name in self._SKIPPED:
            self._num_skipped += 1
            return
        match name:
            case "t":
                self._is_text = True
            case "tab":
                self._paragraphs.write("\t")
            case "br" | "cr":
                self._paragraphs.write("\n")
            case "noBreakHyphen":
                self._paragraphs.write("-")
            case "pStyle":
                if heading := _HEADING.fullmatch(attributes.get("val", "")):
                    self._paragraphs.begin_as("#" * int(heading[1]) + " ")
            case "numPr":
                self._paragraphs.begin_as("- ", unless_begun=True)  # headings have numbers, too
            case "tr":
                self._paragraphs.begin_row()
            case "tc":
                self._paragraphs.begin_cell()

    def end(self, name: str) -> None:
        if self._num_skipped:
            self._num_skipped -= 1
            return
        match name:
            case "t":
                self._is_text = False
            case "p":
                self._paragraphs.end_paragraph()
            case "tc":
                self._paragraphs.end_cell()
            case "tr":
                self._paragraphs.end_row()

    def characters(self, text: str) -> None:
        if self._is_text and not self._num_skipped:
            self._paragraphs.write(text)


class _OdfReader:
    """`text:`, `table:` and `draw:` elements. All characters in a paragraph count."""

    _SKIPPED = frozenset(
        {
            "annotation",
            "tracked-changes",
            "forms",
            "automatic-styles",
            "notes",
            "binary-data",
            "title",
            "desc",
        }
    )

    def __init__(self, collected: CollectedText) -> None:
        self._collected = collected
        self._paragraphs = _Paragraphs(collected)
        self._num_open = 0  # paragraphs
        self._num_skipped = 0
        self._num_lists = 0
        self._num_pages = 0
        self._num_repeats: list[int] = []  # of the cells that are open

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if self._num_skipped or name in self._SKIPPED:
            self._num_skipped += 1
            return
        match name:
            case "p" | "h":
                self._num_open += 1
                self._paragraphs.begin_as(self._prefix(name, attributes))
            case "s":
                self._paragraphs.write(" " * min(_number(attributes.get("c", "1")), _MAX_SPACES))
            case "tab":
                self._paragraphs.write("\t")
            case "line-break":
                self._paragraphs.write("\n")
            case "list":
                self._num_lists += 1
            case "table" if "name" in attributes:
                self._collected.add(f"\n{attributes['name']}\n\n")
            case "table-row":
                self._paragraphs.begin_row()
            case "table-cell" | "covered-table-cell":
                self._num_repeats.append(_number(attributes.get("number-columns-repeated", "1")))
                self._paragraphs.begin_cell()
            case "page":
                self._num_pages += 1
                self._collected.add(f"\nSlide {self._num_pages}\n\n")

    def end(self, name: str) -> None:
        if self._num_skipped:
            self._num_skipped -= 1
            return
        match name:
            case "p" | "h":
                self._num_open -= 1
                if not self._num_open:
                    self._paragraphs.end_paragraph()
            case "list":
                self._num_lists -= 1
            case "table-cell" | "covered-table-cell":
                self._paragraphs.end_cell(min(self._num_repeats.pop(), _MAX_REPEATS))
            case "table-row":
                self._paragraphs.end_row()

    def characters(self, text: str) -> None:
        if self._num_open and not self._num_skipped:
            self._paragraphs.write(text)

    def _prefix(self, name: str, attributes: dict[str, str]) -> str:
        if name == "h":
            return "#" * min(6, _number(attributes.get("outline-level", "1"))) + " "
        return "- " if self._num_lists else ""


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 1
