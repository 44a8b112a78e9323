import io
import random
import struct
from collections.abc import Callable
from pathlib import Path

import gguf
import pytest

from app.models.gguf_header import (
    MAX_HEADER_BYTES,
    MAX_KEPT_ARRAY,
    MAX_KEPT_ITEMS,
    TENSOR_TYPES,
    GgufHeader,
    HeaderCutError,
    HeaderError,
    LongArray,
    read_header,
)
from app.protocol.model_names import FILE_TYPES

TEXT, ARRAY, U32, U64 = 8, 9, 4, 10


def text(content: str) -> bytes:
    return struct.pack("<Q", len(content)) + content.encode()


def entry(key: str, kind: int, value: bytes) -> bytes:
    return text(key) + struct.pack("<I", kind) + value


def tensor(name: str = "t", shape: tuple[int, ...] = (32,), kind: int = 0, offset: int = 0) -> bytes:
    dimensions = struct.pack(f"<I{len(shape)}Q", len(shape), *shape)
    return text(name) + dimensions + struct.pack("<IQ", kind, offset)


def file_of(*entries: bytes, tensors: tuple[bytes, ...] = (), version: int = 3) -> bytes:
    counts = struct.pack("<IQQ", version, len(tensors), len(entries))
    return b"GGUF" + counts + b"".join(entries) + b"".join(tensors)


def read(content: bytes, size_bytes: int | None = None) -> GgufHeader:
    return read_header(io.BytesIO(content), size_bytes)


@pytest.mark.parametrize("architecture", ["qwen3", "gpt-oss", "lfm2", "mamba"])
def test_a_header_says_what_the_gguf_package_says(
    tiny_gguf: Callable[[str], Path], architecture: str
) -> None:
    path = tiny_gguf(architecture)
    with path.open("rb") as file:
        header = read_header(file, path.stat().st_size)

    theirs = gguf.GGUFReader(path)
    assert header.num_bytes == theirs.data_offset
    assert [(tensor.name, tensor.type_name, tensor.size_bytes) for tensor in header.tensors] == [
        (tensor.name, tensor.tensor_type.name, tensor.n_bytes) for tensor in theirs.tensors
    ]
    assert header.num_params == sum(int(tensor.n_elements) for tensor in theirs.tensors)
    for key, value in header.values.items():
        theirs_value = theirs.fields[key].contents()
        if isinstance(value, LongArray):
            assert len(value) == len(theirs_value)
        else:
            assert value == (tuple(theirs_value) if isinstance(theirs_value, list) else theirs_value)


def test_the_tables_know_what_the_gguf_package_knows() -> None:
    """What the installed library knows besides is compared in tests/native/test_tensor_types.py."""
    types = {kind.value: (kind.name, *gguf.GGML_QUANT_SIZES[kind]) for kind in gguf.GGMLQuantizationType}
    del types[gguf.GGMLQuantizationType.Q8_1.value]  # 40 bytes, says the package; the library has 36
    assert types.items() <= TENSOR_TYPES.items()
    theirs = {
        kind.value: kind.name.removeprefix("MOSTLY_").removeprefix("ALL_") for kind in gguf.LlamaFileType
    }
    del theirs[gguf.LlamaFileType.GUESSED.value]
    assert theirs.items() <= FILE_TYPES.items()


def test_version_2_is_read_too() -> None:
    header = read(file_of(entry("general.name", TEXT, text("old")), version=2))
    assert (header.version, header.text("general.name")) == (2, "old")


def test_numbers_and_texts_of_another_kind_are_as_none() -> None:
    header = read(file_of(entry("general.architecture", U32, struct.pack("<I", 7))))
    assert header.architecture == ""
    assert header.number("{arch}.context_length", 5) == 5


class CountingFile(io.BytesIO):
    num_read = 0

    def read(self, size: int | None = -1, /) -> bytes:
        content = super().read(size)
        self.num_read += len(content)
        return content


def test_what_a_file_says_of_itself_is_cut() -> None:
    texts = [entry(f"t{number}", TEXT, text("a" * 1_000_000)) for number in range(20)]
    header = read(file_of(entry("general.architecture", TEXT, text("b" * 1_000_000)), *texts))
    assert len(header.architecture) == 1000
    assert sum(len(value) for value in header.values.values() if isinstance(value, str)) < 9_000_000
    assert header.values["t19"] == LongArray(1_000_000)


def test_what_is_long_is_stepped_over() -> None:
    """Of a list of numbers nothing is read, and of the weights neither."""
    words = b"".join(text(f"token {number}") for number in range(150_000))
    scores = bytes(4 * 5_000_000)
    content = file_of(
        entry("tokens", ARRAY, struct.pack("<IQ", TEXT, 150_000) + words),
        entry("scores", ARRAY, struct.pack("<IQ", U32, 5_000_000) + scores),
        entry("heads", ARRAY, struct.pack("<IQ3I", U32, 3, 1, 2, 3)),
        entry("template", TEXT, text("x" * 20_000)),
        entry("tokenizer.json", TEXT, text("x" * 5_000_000)),
        tensors=(tensor(shape=(256, 4096), kind=12),),
    )
    weights = bytes(256 * 4096 // 256 * 144)
    padding = bytes(-len(content) % 32)
    file = CountingFile(content + padding + weights)

    header = read_header(file, len(file.getvalue()))

    assert header.values["tokens"] == LongArray(150_000)
    assert header.values["scores"] == LongArray(5_000_000)
    assert header.values["heads"] == (1, 2, 3)
    assert header.values["tokenizer.json"] == LongArray(5_000_000)
    assert header.values["template"] == "x" * 20_000
    assert header.tensors[0].size_bytes == len(weights)
    assert header.num_bytes == len(content + padding)
    assert file.num_read < len(words) + 1_000_000


def test_of_very_many_short_arrays_the_first_are_kept() -> None:
    numbers = struct.pack("<IQ", U32, 1024) + bytes(4 * 1024)
    texts = struct.pack("<IQ", TEXT, 1024) + bytes(8 * 1024)
    arrays = [entry(f"a{number}", ARRAY, (numbers, texts)[number % 2]) for number in range(300)]
    values = read(file_of(*arrays)).values
    assert values["a0"] == (0,) * 1024
    assert values["a1"] == ("",) * 1024
    assert values["a298"] == values["a299"] == LongArray(1024)
    assert sum(len(value) for value in values.values() if isinstance(value, tuple)) <= MAX_KEPT_ITEMS


HUGE = struct.pack("<Q", 2**63)
BAD = {
    "another format": b"PK\x03\x04" + bytes(100),
    "version 1": file_of(version=1),
    "big-endian": file_of(version=3 << 24),
    "version 9": file_of(version=9),
    "a crowd of entries": b"GGUF" + struct.pack("<IQQ", 3, 0, 2**40),
    "a crowd of weights": b"GGUF" + struct.pack("<IQQ", 3, 2**63, 0),
    "a long key": b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + HUGE,
    "many long keys": file_of(*(entry(f"{number}" + "k" * 60_000, U32, bytes(4)) for number in range(18))),
    "a long text": file_of(entry("k", TEXT, HUGE)),
    "a long array": file_of(entry("k", ARRAY, struct.pack("<I", U64) + HUGE)),
    "a long array of texts": file_of(entry("k", ARRAY, struct.pack("<I", TEXT) + HUGE)),
    "a long text in a long array": file_of(entry("k", ARRAY, struct.pack("<IQ", TEXT, 5000) + HUGE)),
    "texts beyond every limit": file_of(
        entry("k", ARRAY, struct.pack("<IQ", TEXT, 5000) + struct.pack("<Q", MAX_HEADER_BYTES))
    ),
    "an array of arrays": file_of(entry("k", ARRAY, struct.pack("<IQ", ARRAY, 1))),
    "a kind of entry that is not known": file_of(entry("k", 77, b"")),
    "one key twice": file_of(entry("k", U32, bytes(4)), entry("k", U32, bytes(4))),
    "an odd alignment": file_of(entry("general.alignment", U32, struct.pack("<I", 24))),
    "no alignment": file_of(entry("general.alignment", TEXT, text("8"))),
    "a name too long": file_of(tensors=(tensor("t" * 64),)),
    "five dimensions": file_of(tensors=(tensor(shape=(1, 1, 1, 1, 1)),)),
    "an impossible size": file_of(tensors=(tensor(shape=(2**62, 2**62)),)),
    "half a block": file_of(tensors=(tensor(shape=(33,), kind=2),)),
    "a type that was taken back": file_of(tensors=(tensor(kind=31),)),
    "an odd place": file_of(tensors=(tensor(offset=8),)),
    "one name twice": file_of(tensors=(tensor(), tensor())),
    "nothing": b"",
}


@pytest.mark.parametrize("content", BAD.values(), ids=BAD.keys())
def test_a_hostile_header_is_refused_with_a_text(content: bytes) -> None:
    with pytest.raises(HeaderError, match=r"^(its?|the) "):
        read(content)


def test_a_file_that_was_not_fetched_to_its_end_is_refused() -> None:
    content = file_of(entry("k", TEXT, text("v")), tensors=(tensor(),))
    whole = -(-len(content) // 32) * 32 + 128
    assert read(content, whole)
    with pytest.raises(HeaderError, match="is truncated"):
        read(content, whole - 1)
    for length in range(len(content)):
        with pytest.raises(HeaderCutError):
            read(content[:length])


def test_a_damaged_header_gives_a_header_or_a_reason(tiny_gguf: Callable[[str], Path]) -> None:
    good = tiny_gguf("qwen3").read_bytes()
    begin = good[: read(good).num_bytes]
    luck = random.Random(7)
    refused = 0
    for _ in range(150):
        bad = bytearray(begin)
        for _ in range(luck.randint(1, 4)):
            bad[luck.randrange(len(bad))] = luck.choice((0, 0xFF, luck.randrange(256)))
        try:
            header = read(bytes(bad), len(good))
            assert all(
                len(value) <= MAX_KEPT_ARRAY for value in header.values.values() if isinstance(value, tuple)
            )
        except HeaderError:
            refused += 1
    assert refused
