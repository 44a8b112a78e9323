"""The cells of an Excel file as comma-separated values. In the child process only.

Streams through the few elements that carry values. What a cell holds is decided for it alone: one that cannot
be read says so in its place.
"""

import csv
import datetime
import posixpath
import re
from collections.abc import Callable
from io import StringIO

from app.attachments.packed import ElementFinder, Package
from app.attachments.refusal import CollectedText

MAX_COLUMNS = 16_384  # as Excel has them
_WORKBOOK = "xl/workbook.xml"
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_ESCAPED = re.compile("_x([0-9A-Fa-f]{4})_")  # a character that XML cannot hold
_PLACE = re.compile("([A-Z]{1,3})[0-9]+")


def text_of(package: Package) -> str:
    """Each sheet by its name. Formulas by the value they had when the file was saved, else as they are."""
    book = ElementFinder("workbookPr", "date1904")
    sheets = ElementFinder("sheet", "name", "id")
    package.read_xml(_WORKBOOK, book)
    package.read_xml(_WORKBOOK, sheets)
    parts = ElementFinder("Relationship", "Id", "Type", "Target")
    package.read_xml("xl/_rels/workbook.xml.rels", parts)
    kinds = {identity: kind.rpartition("/")[2] for identity, kind, _target in parts.values}
    paths = {identity: _path(target) for identity, _kind, target in parts.values}
    path_of = {"sharedStrings": "xl/sharedStrings.xml", "styles": "xl/styles.xml"}
    path_of |= {kind: paths[identity] for identity, kind in kinds.items()}
    texts, styles = _Texts(), _Styles(counts_from_1904=("1",) in book.values or ("true",) in book.values)
    if path_of["sharedStrings"] in package:
        package.read_xml(path_of["sharedStrings"], texts)
    if path_of["styles"] in package:
        package.read_xml(path_of["styles"], styles)
    collected = CollectedText()
    for name, identity in sheets.values:
        if kinds.get(identity) == "worksheet" and paths[identity] in package:
            collected.add(f"{name}\n\n")
            package.read_xml(paths[identity], _Sheet(collected, texts.values, styles.shown))
            collected.add("\n")
    return collected.text


def _path(target: str) -> str:
    """Relative to the folder of the workbook, or to the package."""
    return posixpath.normpath(posixpath.join("/xl", target)).lstrip("/")


class _Texts:
    """The strings that cells share."""

    def __init__(self) -> None:
        self.values: list[str] = []
        self._pieces: list[str] = []
        self._is_text = False
        self._num_spoken = 0  # how it is pronounced

    def start(self, name: str, _attributes: dict[str, str]) -> None:
        self._num_spoken += name == "rPh"
        self._is_text = name == "t" and not self._num_spoken

    def end(self, name: str) -> None:
        self._is_text = False
        self._num_spoken -= name == "rPh"
        if name == "si":
            self.values.append(_unescaped("".join(self._pieces)))
            self._pieces = []

    def characters(self, text: str) -> None:
        if self._is_text:
            self._pieces.append(text)


class _Styles:
    """Which cells are dates: a number says it by its format alone."""

    def __init__(self, *, counts_from_1904: bool) -> None:
        self._counts_from_1904 = counts_from_1904
        self._codes: dict[str, str] = {}  # by id, which come before the styles that use them
        self._formats: list[str] = []  # of each style
        self._is_style = False

    def start(self, name: str, attributes: dict[str, str]) -> None:
        match name:
            case "numFmt":
                self._codes[attributes.get("numFmtId", "")] = attributes.get("formatCode", "")
            case "cellXfs":
                self._is_style = True
            case "xf" if self._is_style:
                self._formats.append(attributes.get("numFmtId", ""))

    def end(self, name: str) -> None:
        self._is_style &= name != "cellXfs"

    def characters(self, text: str) -> None: ...

    def shown(self, number: str, style: str) -> str:
        """Raises ValueError or OverflowError."""
        from openpyxl.styles.numbers import BUILTIN_FORMATS, is_date_format, is_timedelta_format
        from openpyxl.utils.datetime import MAC_EPOCH, WINDOWS_EPOCH, from_excel

        if not _NUMBER.fullmatch(number):
            raise ValueError(number)
        index = int(style) if style.isdecimal() else 0
        identity = self._formats[index] if index < len(self._formats) else ""
        code = self._codes.get(identity) or BUILTIN_FORMATS.get(int(identity) if identity.isdecimal() else 0)
        if code and is_date_format(code):
            epoch = MAC_EPOCH if self._counts_from_1904 else WINDOWS_EPOCH
            return _moment(from_excel(float(number), epoch, timedelta=is_timedelta_format(code)))
        value = float(number)
        if value.is_integer() and abs(value) < 2**53:
            return str(int(value))
        return number if number.lstrip("+-").isdecimal() else str(value)


def _moment(value: object) -> str:
    if isinstance(value, datetime.datetime):
        return value.isoformat(" ").removesuffix(" 00:00:00")
    return str(value)


class _Sheet:
    def __init__(self, collected: CollectedText, texts: list[str], shown: Callable[[str, str], str]) -> None:
        self._collected, self._texts, self._shown = collected, texts, shown
        self._row: list[str] = []
        self._cell: dict[str, str] | None = None  # its attributes, while it is open
        self._parts: dict[str, list[str]] = {}  # what stands in its elements
        self._open = ""  # the one that is being read
        self._formulas: dict[str, tuple[str, str]] = {}  # shared ones, and the first cells that have them
        self._shared = ""
        self._num_spoken = 0

    def start(self, name: str, attributes: dict[str, str]) -> None:
        match name:
            case "row":
                self._row = []
            case "c":
                self._cell, self._parts, self._shared = attributes, {}, ""
            case "rPh":
                self._num_spoken += 1
            case "v" | "f" | "t" if self._cell is not None and not self._num_spoken:
                self._open = name
                self._parts.setdefault(name, [])
                if name == "f" and attributes.get("t") == "shared":
                    self._shared = attributes.get("si", "")

    def characters(self, text: str) -> None:
        if self._open:
            self._parts[self._open].append(text)

    def end(self, name: str) -> None:
        self._open = ""
        match name:
            case "rPh":
                self._num_spoken -= 1
            case "c" if self._cell is not None:
                self._put(self._cell)
                self._cell = None
            case "row":
                self._collected.add(_line(self._row))

    def _put(self, cell: dict[str, str]) -> None:
        place = _PLACE.fullmatch(cell.get("r", ""))
        column = _column(place[1]) if place else len(self._row)
        column = column if column < MAX_COLUMNS else len(self._row)
        self._row += [""] * (column + 1 - len(self._row))
        self._row[column] = self._written(cell)

    def _written(self, cell: dict[str, str]) -> str:
        kind = cell.get("t", "n")
        value = "".join(self._parts.get("t" if kind == "inlineStr" else "v", []))
        if "f" in self._parts and not value and not (kind == "str" and "v" in self._parts):
            return self._formula(cell.get("r", ""))
        try:
            match kind:
                case "s":
                    return self._texts[_index(value)] if value else ""
                case "n":
                    return self._shown(value.strip(), cell.get("s", "")) if value.strip() else ""
                case "b":
                    return {"0": "False", "1": "True"}[value.strip()] if value else ""
                case "d":
                    return _moment(datetime.datetime.fromisoformat(value))
        except (ValueError, LookupError, OverflowError):
            return f"[unreadable cell: {value}]"
        return _unescaped(value)

    def _formula(self, place: str) -> str:
        """One that many cells share stands in the first of them."""
        from openpyxl.formula.translate import Translator, TranslatorError

        formula = "".join(self._parts["f"])
        if formula and self._shared:
            self._formulas[self._shared] = (f"={formula}", place)
        if formula or self._shared not in self._formulas:
            return f"={formula}"
        first, origin = self._formulas[self._shared]
        try:
            return str(Translator(first, origin).translate_formula(place))
        except (TranslatorError, ValueError, LookupError):
            return first


def _unescaped(text: str) -> str:
    written = _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text)
    return written.replace("\r\n", "\n").replace("\r", "\n")


def _index(text: str) -> int:
    """Raises ValueError."""
    if not text.strip().isdecimal():
        raise ValueError(text)
    return int(text)


def _column(letters: str) -> int:
    """From 0."""
    number = 0
    for letter in letters:
        number = 26 * number + ord(letter) - ord("A") + 1
    return number - 1


def _line(row: list[str]) -> str:
    while row and not row[-1]:
        row.pop()
    if not row:
        return ""
    line = StringIO()
    csv.writer(line, lineterminator="\n").writerow(row)
    return line.getvalue()
