"""Reads rows from a database file that SQLite itself refuses: page by page, without following pointers.

Follows the file format (sqlite.org/fileformat2.html): leaf pages of tables, their overflow pages, and the
write-ahead log. Knows no tables: the caller must recognise the rows.
"""

import struct
from collections.abc import Iterator
from pathlib import Path

Value = int | float | str | bytes | None
Row = tuple[Value, ...]

LEAF_OF_TABLE = 0x0D
USUAL_PAGE_SIZE = 4096
_WAL_MAGIC = (0x377F0682, 0x377F0683)
_SIZES = {0: 0, 1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8, 7: 8, 8: 0, 9: 0}


class DamagedPagesError(Exception):
    """The page is not valid."""


class Pages:
    """A database file and the log beside it, as far as they can be read."""

    def __init__(self, path: Path) -> None:
        self._content = path.read_bytes()
        known_size = _page_size(self._content[:18])
        num_reserved = int.from_bytes(self._content[20:21], "big") if known_size else 0
        self.size = known_size or USUAL_PAGE_SIZE
        self._usable = self.size - num_reserved
        self._newer = _read_log(path.with_name(f"{path.name}-wal"), self.size)

    @property
    def user_version(self) -> int:
        """The number that is stored, which may be nonsense."""
        return int.from_bytes(self._page(1)[60:64], "big")

    def rows(self) -> Iterator[tuple[int, Row]]:
        """The rows of all tables, with their row ids. An integer primary key is None in its row.

        Unreadable rows are left out.
        """
        unused = self._unused()
        numbers = {*range(1, len(self._content) // self.size + 1), *self._newer}
        for number in sorted(numbers - unused):
            yield from self._rows_of(number)

    def _rows_of(self, number: int) -> Iterator[tuple[int, Row]]:
        page = self._page(number)
        start = 100 if number == 1 else 0
        if len(page) < self.size or page[start] != LEAF_OF_TABLE:
            return
        num_cells = int.from_bytes(page[start + 3 : start + 5], "big")
        pointers = page[start + 8 : start + 8 + 2 * num_cells]
        for (offset,) in struct.iter_unpack(">H", pointers[: len(pointers) // 2 * 2]):
            try:
                row_id, payload = self._cell(page, offset)
                yield row_id, _row(payload)
            except (DamagedPagesError, IndexError, struct.error):
                continue

    def _page(self, number: int) -> bytes:
        if number in self._newer:
            return self._newer[number]
        return self._content[(number - 1) * self.size : number * self.size]

    def _cell(self, page: bytes, offset: int) -> tuple[int, bytes]:
        """The row's id and the complete row."""
        size, offset = _varint(page, offset)
        row_id, offset = _varint(page, offset)
        if size > len(self._content) + len(self._newer) * self.size:
            raise DamagedPagesError("a row larger than the file")
        num_here = self._num_local(size)
        payload = page[offset : offset + num_here]
        if num_here < size:
            payload += self._overflow(page[offset + num_here : offset + num_here + 4], size - num_here)
        if len(payload) < size:
            raise DamagedPagesError("a row without its end")
        return row_id, payload

    def _num_local(self, size: int) -> int:
        most = self._usable - 35
        if size <= most:
            return size
        least = (self._usable - 12) * 32 // 255 - 23
        wanted = least + (size - least) % (self._usable - 4)
        return wanted if wanted <= most else least

    def _overflow(self, first: bytes, size: int) -> bytes:
        parts, number = [], int.from_bytes(first, "big")
        while size > 0:
            page = self._page(number) if number else b""
            if len(page) < self._usable:
                raise DamagedPagesError("a row that goes on nowhere")
            parts.append(page[4 : self._usable][:size])
            size -= len(parts[-1])
            number = int.from_bytes(page[:4], "big")
        return b"".join(parts)

    def _unused(self) -> set[int]:
        """Free pages, whose rows were deleted and must not come back."""
        unused: set[int] = set()
        header = self._page(1)
        trunk = int.from_bytes(header[32:36], "big") if _page_size(header[:18]) else 0
        while trunk and trunk not in unused and (page := self._page(trunk)):
            unused.add(trunk)
            room = len(page) // 4 - 2  # the file may end within it
            num_leaves = min(int.from_bytes(page[4:8], "big"), room)
            unused.update(number for (number,) in struct.iter_unpack(">I", page[8 : 8 + 4 * num_leaves]))
            trunk = int.from_bytes(page[:4], "big")
        return unused


def _page_size(header: bytes) -> int:
    """Zero if this is not the beginning of a database."""
    if header[:16] != b"SQLite format 3\0":
        return 0
    size = int.from_bytes(header[16:18], "big")
    size = 65_536 if size == 1 else size
    return size if size >= 512 and size & (size - 1) == 0 else 0


def _read_log(path: Path, page_size: int) -> dict[int, bytes]:
    """The newest committed version of each page in the log."""
    try:
        content = path.read_bytes()
    except OSError:
        return {}
    if len(content) < 32 or int.from_bytes(content[:4], "big") not in _WAL_MAGIC:
        return {}
    committed: dict[int, bytes] = {}
    pending: dict[int, bytes] = {}
    salts = content[16:24]
    for start in range(32, len(content) - page_size - 23, page_size + 24):
        number, size_after_commit = struct.unpack_from(">II", content, start)
        if content[start + 8 : start + 16] != salts or number == 0:
            break
        pending[number] = content[start + 24 : start + 24 + page_size]
        if size_after_commit:
            committed |= pending
            pending = {}
    return committed


def _varint(data: bytes, offset: int) -> tuple[int, int]:
    """The number, and the offset after it."""
    value = 0
    for index in range(8):
        byte = data[offset + index]
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, offset + index + 1
    return value << 8 | data[offset + 8], offset + 9


def _row(payload: bytes) -> Row:
    header_size, offset = _varint(payload, 0)
    types = []
    while offset < header_size:
        kind, offset = _varint(payload, offset)
        types.append(kind)
    values, offset = [], header_size
    for kind in types:
        size = _SIZES.get(kind, (kind - 12) // 2)
        if kind in (10, 11) or offset + size > len(payload):
            raise DamagedPagesError("a value larger than its row")
        values.append(_value(kind, payload[offset : offset + size]))
        offset += size
    return tuple(values)


def _value(kind: int, data: bytes) -> Value:
    if kind == 0:
        return None
    if kind <= 6:
        return int.from_bytes(data, "big", signed=True)
    if kind == 7:
        (number,) = struct.unpack(">d", data)
        return float(number)
    if kind <= 9:
        return kind - 8
    return data.decode("utf-8", "replace") if kind % 2 else data
