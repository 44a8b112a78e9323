"""Detects a file's type by its content, not its name, and picks the reader for it.

In the child process only: each reader may run into its limits.
"""

import json
import re
from collections.abc import Iterator
from io import BytesIO
from pathlib import PurePath
from typing import Any

from app.attachments import html_text, office, plain, spreadsheet
from app.attachments.packed import Package
from app.attachments.refusal import CollectedText, Reason, RefusedError

_IMAGES = (
    b"\x89PNG\r\n",
    b"\xff\xd8\xff",
    b"GIF8",
    b"BM",
    b"II*\0",
    b"MM\0*",
    b"\0\0\1\0",
    b"8BPS",
    b"\xff\x0a",
    b"\0\0\0\x0cJXL ",
)
_IMAGE_BRANDS = (b"avif", b"heic", b"heix", b"mif1", b"msf1")
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_RICH_TEXT = b"{\\rtf"
_ENCRYPTED_PACKAGE = "EncryptedPackage".encode("utf-16-le")
_PDF_WITHIN = 1024  # some programs write something before the head
_HTML = re.compile(rb"\s*(<!--.*?-->\s*)*<(!doctype html|html)\b", re.IGNORECASE | re.DOTALL)
_MANY_BLANK_LINES = re.compile(r"\n{4,}")
_CONTROL = re.compile(r"\x1b\[[0-9;]*[A-Za-z]|[\x00-\x08\x0b\x0e-\x1f\x7f]")


def text_of(file: BytesIO, name: str) -> tuple[str, str]:
    """The file's text and kind. Raises RefusedError, or anything that a reader raises on a broken file."""
    head = file.getvalue()[:_PDF_WITHIN]
    if _is_image(head):
        raise RefusedError(Reason.IMAGE)
    text, kind = _read(file, head, PurePath(name).suffix.lower())
    text = _tidy(text)
    if not text.strip():
        raise RefusedError(Reason.NO_TEXT)
    return text, kind


def _read(file: BytesIO, head: bytes, suffix: str) -> tuple[str, str]:
    if head.lstrip().startswith(b"%PDF-") or (suffix == ".pdf" and b"%PDF-" in head):
        return pdf_text(file), "pdf"
    if head.startswith(b"PK\3\4"):
        return _read_package(file)
    if head.startswith(_OLE):
        is_locked = _ENCRYPTED_PACKAGE in file.getvalue()
        raise RefusedError(Reason.PASSWORD if is_locked else Reason.OLD_OFFICE)
    if head.startswith(_RICH_TEXT):
        raise RefusedError(Reason.OLD_OFFICE)
    text = plain.text_of(file.getvalue())
    if suffix in (".html", ".htm", ".xhtml") or _HTML.match(head):
        return html_text.text_of(text), "html"
    if suffix == ".ipynb":
        return notebook_text(text), "notebook"
    if suffix in (".csv", ".tsv"):
        return text, "csv"
    if suffix in (".json", ".jsonl"):
        return text, "json"
    return text, "text"


def _read_package(file: BytesIO) -> tuple[str, str]:
    package = Package(file)
    if "word/document.xml" in package:
        return office.docx_text(package), "docx"
    if "ppt/presentation.xml" in package:
        return office.pptx_text(package), "pptx"
    if "xl/workbook.xml" in package:
        return spreadsheet.text_of(package), "xlsx"
    if "content.xml" in package and (kind := office.odf_kind(package)):
        return office.odf_text(package), kind
    raise RefusedError(Reason.BINARY)


def _is_image(head: bytes) -> bool:
    is_webp = head.startswith(b"RIFF") and head[8:12] == b"WEBP"
    is_heif = head[4:8] == b"ftyp" and head[8:12] in _IMAGE_BRANDS
    is_text_that_begins_so = head.startswith(b"BM") and b"\0" not in head[:26]
    return is_webp or is_heif or (head.startswith(_IMAGES) and not is_text_that_begins_so)


def _tidy(text: str) -> str:
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\f", "\n")
    return _MANY_BLANK_LINES.sub("\n\n\n", _CONTROL.sub("", text)).strip("\n")


def pdf_text(file: BytesIO) -> str:
    """Raises RefusedError, and pypdf's errors for a broken file."""
    from pypdf import PdfReader, filters
    from pypdf.errors import DependencyError

    filters.JBIG2DEC_BINARY = None  # it would start another program
    reader = PdfReader(file)
    collected = CollectedText()
    try:
        if reader.is_encrypted and not reader.decrypt(""):
            raise RefusedError(Reason.PASSWORD)
        failures: list[Exception] = []
        for number, page in enumerate(reader.pages, 1):
            try:
                text = page.extract_text().strip()
            except (DependencyError, MemoryError):
                raise
            except Exception as error:  # pypdf raises anything on a broken page
                failures.append(error)
                text = f"[unreadable page {number}]"
            collected.add(text, "\n\n")
    except DependencyError as error:  # a cipher that pypdf alone cannot do
        raise RefusedError(Reason.PASSWORD) from error
    if failures and len(failures) == len(reader.pages):
        raise failures[0]
    return collected.text


MAX_OUTPUT_CHARS = 10_000  # of one cell


def notebook_text(text: str) -> str:
    """Raises RefusedError for what is no notebook."""
    notebook = json.loads(text)
    if not isinstance(notebook, dict) or not isinstance(notebook.get("cells"), list):
        raise RefusedError(Reason.DAMAGED)
    try:
        language = notebook["metadata"]["kernelspec"]["language"]
    except (LookupError, TypeError):
        language = "python"
    return "\n\n".join(part for cell in notebook["cells"] for part in _cell(cell, language))


def _cell(cell: Any, language: str) -> list[str]:
    try:
        return list(_parts(cell, language))
    except (AttributeError, TypeError):  # its values are of other kinds than in any notebook
        return ["[unreadable cell]"]


def _parts(cell: dict[str, Any], language: str) -> Iterator[str]:
    source = _joined(cell.get("source", "")).strip("\n")
    if not source:
        return
    if cell.get("cell_type") != "code":
        yield source
        return
    yield f"```{language}\n{source}\n```"
    printed = "".join(map(_printed, cell.get("outputs", []))).strip("\n")
    if printed:
        yield f"Output:\n```\n{printed[:MAX_OUTPUT_CHARS]}\n```"


def _printed(output: dict[str, Any]) -> str:
    if "traceback" in output:
        return "\n".join(output["traceback"]) + "\n"
    data = output.get("data", {})
    return _joined(output.get("text", data.get("text/plain", ""))) + ("\n" if data else "")


def _joined(lines: str | list[str]) -> str:
    return lines if isinstance(lines, str) else "".join(lines)
