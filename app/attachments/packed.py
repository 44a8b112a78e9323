"""The parts of a document that is a ZIP file, unpacked no further than they are read."""

import zipfile
from collections.abc import Iterator
from io import BytesIO
from typing import Protocol
from xml.parsers import expat

from app.attachments.refusal import MAX_UNPACKED_BYTES, Reason, RefusedError

_CHUNK_BYTES = 64 << 10
_ENCRYPTED = 0x1


class XmlReader(Protocol):
    """Names come without their namespace."""

    def start(self, name: str, attributes: dict[str, str]) -> None: ...
    def end(self, name: str) -> None: ...
    def characters(self, text: str) -> None: ...


class Package:
    def __init__(self, file: BytesIO) -> None:
        """Raises RefusedError if it is locked, or unpacks to more than any real document."""
        self._zip = zipfile.ZipFile(file)
        parts = self._zip.infolist()
        if any(part.flag_bits & _ENCRYPTED for part in parts):
            raise RefusedError(Reason.PASSWORD)
        if sum(part.file_size for part in parts) > MAX_UNPACKED_BYTES:
            raise RefusedError(Reason.LIMITS)
        self.names = [part.filename for part in parts]

    def __contains__(self, name: str) -> bool:
        return name in self.names

    def content(self, name: str) -> bytes:
        return b"".join(self._chunks(name))

    def read_xml(self, name: str, reader: XmlReader) -> None:
        """Raises RefusedError for XML that declares a document type: that is for entity bombs only."""
        parser = expat.ParserCreate(namespace_separator=" ")
        parser.buffer_text = True
        parser.StartDoctypeDeclHandler = _refuse_doctype
        parser.StartElementHandler = lambda tag, attributes: reader.start(
            _local(tag), {_local(key): value for key, value in attributes.items()}
        )
        parser.EndElementHandler = lambda tag: reader.end(_local(tag))
        parser.CharacterDataHandler = reader.characters
        for chunk in self._chunks(name):
            parser.Parse(chunk, False)
        parser.Parse(b"", True)

    def _chunks(self, name: str) -> Iterator[bytes]:
        with self._zip.open(name) as part:
            while chunk := part.read(_CHUNK_BYTES):  # zipfile reads no more than the part's size in the list
                yield chunk


class ElementFinder:
    """Collects these attributes of each such element. The last counts of two with the same name."""

    def __init__(self, element: str, *attributes: str) -> None:
        self._element, self._attributes = element, attributes
        self.values: list[tuple[str, ...]] = []

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if name == self._element:
            self.values.append(tuple(attributes.get(key, "") for key in self._attributes))

    def end(self, name: str) -> None: ...
    def characters(self, text: str) -> None: ...


def _refuse_doctype(*_declaration: object) -> None:
    raise RefusedError(Reason.DAMAGED)


def _local(name: str) -> str:
    return name.rpartition(" ")[2]
