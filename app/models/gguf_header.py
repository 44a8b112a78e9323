"""Reads the header of a GGUF: metadata and tensor list, never the weights.

The file is untrusted, so every count and length is limited, and long values, such as a vocabulary, are
skipped. What llama.cpp would refuse is refused here, too. Any thread.
"""

import math
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import BinaryIO

from app.system.said import said

MAX_HEADER_BYTES = 128 * 2**20  # the largest vocabularies take some 20 MB
MAX_VALUES = 10_000
MAX_TENSORS = 32_768  # each takes some 20 us and 400 bytes; the largest models have some 2,000
MAX_KEY_BYTES = 65_535  # as the format says
MAX_KEPT_KEYS = 2**20  # bytes, together
MAX_NAME_BYTES = 63
MAX_DIMENSIONS = 4
MAX_KEPT_TEXT = 2**20  # bytes; a chat template takes some 20,000
MAX_KEPT_TEXTS = 8 * 2**20  # together
MAX_TEXT_CHARS = 1000
MAX_KEPT_ARRAY = 1024  # some values are per layer, such as the number of heads
MAX_KEPT_ITEMS = 100_000  # of all arrays together: 10,000 arrays of 1024 numbers would take 400 MB
MAX_TENSOR_BYTES = 2**48

TOKENS = "tokenizer.ggml.tokens"

_VERSIONS = (2, 3)
_CHUNK = 256 * 1024

# The tensor types: name, weights per block, and bytes per block.
TENSOR_TYPES: dict[int, tuple[str, int, int]] = {
    0: ("F32", 1, 4),
    1: ("F16", 1, 2),
    2: ("Q4_0", 32, 18),
    3: ("Q4_1", 32, 20),
    6: ("Q5_0", 32, 22),
    7: ("Q5_1", 32, 24),
    8: ("Q8_0", 32, 34),
    9: ("Q8_1", 32, 36),
    10: ("Q2_K", 256, 84),
    11: ("Q3_K", 256, 110),
    12: ("Q4_K", 256, 144),
    13: ("Q5_K", 256, 176),
    14: ("Q6_K", 256, 210),
    15: ("Q8_K", 256, 292),
    16: ("IQ2_XXS", 256, 66),
    17: ("IQ2_XS", 256, 74),
    18: ("IQ3_XXS", 256, 98),
    19: ("IQ1_S", 256, 50),
    20: ("IQ4_NL", 32, 18),
    21: ("IQ3_S", 256, 110),
    22: ("IQ2_S", 256, 82),
    23: ("IQ4_XS", 256, 136),
    24: ("I8", 1, 1),
    25: ("I16", 1, 2),
    26: ("I32", 1, 4),
    27: ("I64", 1, 8),
    28: ("F64", 1, 8),
    29: ("IQ1_M", 256, 56),
    30: ("BF16", 1, 2),
    34: ("TQ1_0", 256, 54),
    35: ("TQ2_0", 256, 66),
    39: ("MXFP4", 32, 17),
    40: ("NVFP4", 64, 36),
    41: ("Q1_0", 128, 18),
    42: ("Q2_0", 64, 18),
}

# The types of values, in the order of their numbers. 8 is a text, 9 an array.
_SCALARS = {
    number: struct.Struct("<" + code)
    for number, code in {
        0: "B",
        1: "b",
        2: "H",
        3: "h",
        4: "I",
        5: "i",
        6: "f",
        7: "?",
        10: "Q",
        11: "q",
        12: "d",
    }.items()
}
_TEXT, _ARRAY = 8, 9
_U32, _U64 = struct.Struct("<I"), struct.Struct("<Q")


class HeaderError(Exception):
    """Not a readable GGUF. The text says why, as half a sentence: “it is damaged: …”."""


class HeaderCutError(HeaderError):
    """The file ends within its header."""


@dataclass(frozen=True, slots=True)
class LongArray:
    """Stands for a long array or text, which was not kept."""

    length: int

    def __len__(self) -> int:
        return self.length


Scalar = str | int | float | bool
Value = Scalar | tuple[Scalar, ...] | LongArray


@dataclass(frozen=True, slots=True)
class TensorInfo:
    name: str
    shape: tuple[int, ...]  # the fastest dimension first, as the file has it
    type_name: str  # "Q4_K"
    size_bytes: int
    offset: int  # relative to the start of the weights

    @property
    def num_params(self) -> int:
        return math.prod(self.shape)


@dataclass(frozen=True, slots=True)
class GgufHeader:
    version: int
    values: Mapping[str, Value]
    tensors: tuple[TensorInfo, ...]
    num_bytes: int  # from the start of the file to that of the weights

    @property
    def architecture(self) -> str:
        return self.text("general.architecture")

    @property
    def num_params(self) -> int:
        return sum(tensor.num_params for tensor in self.tensors)

    @property
    def weights_bytes(self) -> int:
        return sum(tensor.size_bytes for tensor in self.tensors)

    def text(self, key: str) -> str:
        """Cut to what somebody would read. Empty if it is missing or not a text."""
        value = self.values.get(key)
        return value[:MAX_TEXT_CHARS] if isinstance(value, str) else ""

    def number(self, key: str, default: int = 0) -> int:
        """`default` if it is not an integer. In `key`, "{arch}" stands for the architecture."""
        value = self.values.get(key.replace("{arch}", self.architecture))
        return value if isinstance(value, int) and not isinstance(value, bool) else default


def read_header(file: BinaryIO, size_bytes: int | None = None) -> GgufHeader:
    """The header of `file`, from its begin on.

    With `size_bytes`, the size of the whole file, also says whether all weights are there.
    Raises HeaderError, OSError.
    """
    reader = _Reader(file)
    version = _read_version(reader)
    num_tensors = reader.count(MAX_TENSORS)
    num_values = reader.count(MAX_VALUES)
    values = _read_values(reader, num_values)
    alignment = _alignment(values)
    tensors = tuple(_read_tensor(reader, alignment) for _ in range(num_tensors))
    if len({tensor.name for tensor in tensors}) < num_tensors:
        raise _damaged(said("two of its tensors have the same name"))
    if size_bytes is not None and reader.position > size_bytes:
        raise HeaderCutError(said("it is truncated within its header"))
    num_bytes = -(-reader.position // alignment) * alignment
    if size_bytes is not None:
        _check_is_whole(tensors, num_bytes, size_bytes)
    return GgufHeader(version, values, tensors, num_bytes)


def read_token_texts(file: BinaryIO, first: int, end: int) -> bytes:
    """The texts of tokens `first … end - 1`, each behind its length, which `read_header` steps over.

    Raises HeaderError, OSError.
    """
    reader = _Reader(file)
    _read_version(reader)
    reader.count(MAX_TENSORS)
    for _ in range(reader.count(MAX_VALUES)):
        key, kind = reader.name(MAX_KEY_BYTES), reader.number(_U32)
        if key != TOKENS:
            reader.value(kind)
        elif kind == _ARRAY and reader.number(_U32) == _TEXT and reader.number(_U64) >= end:
            return reader.texts_as_they_are(first, end)
        else:
            break
    raise HeaderError(said("its vocabulary cannot be read"))


def _read_version(reader: "_Reader") -> int:
    if reader.take(4) != b"GGUF":
        raise HeaderError(said("it is not a GGUF file"))
    version = reader.number(_U32)
    if not version & 0xFFFF:
        raise HeaderError(said("it is big-endian, which this computer cannot use"))
    if version == 1:
        raise HeaderError(said("its format, GGUF version 1, is too old. Look for a newer file of this model"))
    if version not in _VERSIONS:
        raise HeaderError(said("its format, GGUF version {version}, is unknown", version=version))
    return version


def _read_values(reader: "_Reader", num_values: int) -> dict[str, Value]:
    values: dict[str, Value] = {}
    left = MAX_KEPT_KEYS
    for _ in range(num_values):
        key = reader.name(MAX_KEY_BYTES)
        left -= len(key)
        if left < 0:
            raise _damaged(said("its names are too long"))
        if key in values:
            raise _damaged(said("the key {key} appears twice", key=key[:80]))
        values[key] = reader.value(reader.number(_U32))
    return values


def _alignment(values: Mapping[str, Value]) -> int:
    alignment = values.get("general.alignment", 32)
    if not isinstance(alignment, int) or not 0 < alignment <= 2**20 or alignment & (alignment - 1):
        raise _damaged(said("its alignment is not a power of two"))
    return alignment


def _read_tensor(reader: "_Reader", alignment: int) -> TensorInfo:
    name = reader.name(MAX_NAME_BYTES)
    num_dimensions = reader.number(_U32)
    if num_dimensions > MAX_DIMENSIONS:
        raise _damaged(said("the tensor {name} has {count} dimensions", name=name, count=num_dimensions))
    shape = tuple(reader.number(_U64) for _ in range(num_dimensions))
    number = reader.number(_U32)
    if number not in TENSOR_TYPES:
        raise HeaderError(said("the tensor {name} has an unknown type ({number})", name=name, number=number))
    type_name, block_length, block_bytes = TENSOR_TYPES[number]
    num_params = math.prod(shape)
    if (shape and shape[0] % block_length) or num_params // block_length * block_bytes > MAX_TENSOR_BYTES:
        raise _damaged(said("the tensor {name} has an impossible size", name=name))
    offset = reader.number(_U64)
    if offset % alignment:
        raise _damaged(said("the tensor {name} lies outside the file", name=name))
    return TensorInfo(name, shape, type_name, num_params // block_length * block_bytes, offset)


def _check_is_whole(tensors: tuple[TensorInfo, ...], begin: int, size_bytes: int) -> None:
    needed = max((begin + tensor.offset + tensor.size_bytes for tensor in tensors), default=0)
    if needed > size_bytes:
        raise HeaderError(
            said(
                "it is truncated: {there:,} of at least {needed:,} bytes",
                there=size_bytes,
                needed=needed,
            )
        )


def _damaged(reason: str) -> HeaderError:
    return HeaderError(said("it is damaged: {reason}", reason=reason))


class _Reader:
    """Reads a file sequentially, in one buffer of some 256 KiB."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._buffer = b""
        self._begin = 0  # of the buffer, in the file
        self._next = 0  # in the buffer
        self._kept_bytes = 0  # of texts
        self._kept_items = 0  # of arrays

    @property
    def position(self) -> int:
        return self._begin + self._next

    def take(self, num_bytes: int) -> bytes:
        end = self._next + num_bytes
        if end > len(self._buffer):
            self._fill(num_bytes)
            end = num_bytes
        taken = self._buffer[self._next : end]
        self._next = end
        return taken

    def number(self, kind: struct.Struct) -> int:
        number: int = kind.unpack(self.take(kind.size))[0]
        return number

    def count(self, limit: int) -> int:
        count = self.number(_U64)
        if count > limit:
            raise _damaged(said("it claims to have {count:,} entries", count=count))
        return count

    def name(self, limit: int) -> str:
        length = self.number(_U64)
        if length > limit:
            raise _damaged(said("one of its names has {count:,} bytes", count=length))
        return self.take(length).decode("utf-8", "replace")

    def value(self, kind: int) -> Value:
        if kind == _ARRAY:
            return self._array()
        return self._text() if kind == _TEXT else self._scalar(kind)

    def _scalar(self, kind: int) -> Scalar:
        form = _scalar_form(kind)
        scalar: Scalar = form.unpack(self.take(form.size))[0]
        return scalar

    def _text(self) -> str | LongArray:
        length = self.number(_U64)
        if length > MAX_KEPT_TEXT or self._kept_bytes + length > MAX_KEPT_TEXTS:
            self._skip(length)
            return LongArray(length)
        self._kept_bytes += length
        return self.take(length).decode("utf-8", "replace")

    def _array(self) -> tuple[Scalar, ...] | LongArray:
        kind, length = self.number(_U32), self.number(_U64)
        if kind == _ARRAY:
            raise _damaged(said("one of its arrays contains arrays"))
        if kind == _TEXT:
            return self._texts(length)
        form = _scalar_form(kind)
        if not self._keeps(length):
            self._skip(length * form.size)
            return LongArray(length)
        return tuple(value for (value,) in form.iter_unpack(self.take(length * form.size)))

    def _texts(self, length: int) -> tuple[Scalar, ...] | LongArray:
        if not self._keeps(length):
            self._skip_texts(length)
            return LongArray(length)
        texts = [self._text() for _ in range(length)]
        kept = tuple(text for text in texts if isinstance(text, str))
        return kept if len(kept) == length else LongArray(length)

    def _keeps(self, num_items: int) -> bool:
        if num_items > MAX_KEPT_ARRAY or self._kept_items + num_items > MAX_KEPT_ITEMS:
            return False
        self._kept_items += num_items
        return True

    def texts_as_they_are(self, first: int, end: int) -> bytes:
        """The raw bytes of the texts that begin here, with their lengths."""
        self._skip_texts(first)
        begin = self.position
        self._skip_texts(end - first)
        self._file.seek(begin)
        return self._file.read(self.position - begin)

    def _skip(self, num_bytes: int) -> None:
        end = self._next + num_bytes
        if end <= len(self._buffer):
            self._next = end
            return
        self._check_limit(num_bytes)
        self._begin += end
        self._buffer, self._next = b"", 0
        self._file.seek(self._begin)

    def _skip_texts(self, num_texts: int) -> None:
        """A vocabulary has hundreds of thousands: a tight loop that reads only their lengths."""
        length_at = _U64.unpack_from
        while num_texts:
            buffer, position, end = self._buffer, self._next, len(self._buffer) - _U64.size
            while num_texts and position <= end:
                position += 8 + length_at(buffer, position)[0]
                num_texts -= 1
            self._skip(position - self._next)
            if num_texts:
                self._fill(_U64.size)

    def _fill(self, num_bytes: int) -> None:
        """Refills the buffer from here on, with at least so many bytes."""
        self._check_limit(num_bytes)
        rest = self._buffer[self._next :]
        self._begin += self._next
        self._next = 0
        self._buffer = rest + self._file.read(max(num_bytes, _CHUNK) - len(rest))
        if len(self._buffer) < num_bytes:
            raise HeaderCutError(said("it is truncated within its header"))

    def _check_limit(self, num_bytes: int) -> None:
        if self.position + num_bytes > MAX_HEADER_BYTES:
            raise _damaged(
                said("its header claims to be larger than {size:,} MiB", size=MAX_HEADER_BYTES // 2**20)
            )


def _scalar_form(kind: int) -> struct.Struct:
    if kind not in _SCALARS:
        raise _damaged(said("one of its entries has an unknown type ({number})", number=kind))
    return _SCALARS[kind]
