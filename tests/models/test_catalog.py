import os
from collections.abc import Callable
from pathlib import Path

import gguf
import pytest

from app.models import catalog, model_file
from app.models.catalog import scan
from app.models.folders import Folder
from app.models.gguf_header import HeaderError
from app.models.model_file import FileKind, ModelFile, ModelSource, parts_of, read_whole_header
from tests.native.tiny_ggufs import write_tiny_gguf

TinyGguf = Callable[[str], Path]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "models"
    path.mkdir()
    return path


def listed(*folders: Path) -> dict[str, ModelFile]:
    """By the name of the file."""
    models = scan([Folder(folder, ModelSource.FOLDER) for folder in folders])
    return {model.path.name: model for model in models}


def write_other(path: Path, architecture: str, purpose: str = "", **values: str | int) -> None:
    """A file of another purpose than to chat."""
    writer = gguf.GGUFWriter(path, architecture)
    if purpose:
        writer.add_type(purpose)
    for name, value in values.items():
        add = writer.add_string if isinstance(value, str) else writer.add_uint16
        add(name.replace("__", "."), value)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def write_parts(folder: Path, num_parts: int, template: Path) -> list[Path]:
    """The tensors of `template` spread over files, as llama-gguf-split does it."""
    tensors = gguf.GGUFReader(template).tensors
    paths = [folder / f"big-{number:05}-of-{num_parts:05}.gguf" for number in range(1, num_parts + 1)]
    for number, path in enumerate(paths):
        writer = gguf.GGUFWriter(path, "qwen3")
        if number == 0:
            writer.add_name("Big one")
            writer.add_string("tokenizer.ggml.model", "gpt2")
        writer.add_uint16("split.no", number)
        writer.add_uint16("split.count", num_parts)
        for tensor in tensors[number::num_parts]:
            writer.add_tensor(tensor.name, tensor.data)
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()
    return paths


def test_a_model_says_what_it_is(folder: Path) -> None:
    path = write_tiny_gguf(folder / "some.GGUF", "qwen3", n_ctx_train=4096)
    model = listed(folder)["some.GGUF"]
    assert model.kind is FileKind.CHAT
    assert (model.name, model.family, model.quantisation) == ("tiny qwen3", "qwen3", "F32")
    assert (model.n_ctx_train, model.has_template) == (4096, True)
    assert model.size_bytes == path.stat().st_size
    assert model.num_params == sum(int(tensor.n_elements) for tensor in gguf.GGUFReader(path).tensors)


@pytest.mark.parametrize(
    ("architecture", "purpose", "values", "kind"),
    [
        ("clip", "mmproj", {}, FileKind.PROJECTOR),
        ("llama", "adapter", {"adapter__type": "lora"}, FileKind.ADAPTER),
        ("nomic-bert", "model", {}, FileKind.EMBEDDING),
        ("qwen3", "model", {"qwen3__pooling_type": 3}, FileKind.EMBEDDING),
        ("bert", "model", {"bert__pooling_type": 4}, FileKind.RERANKER),
        ("flux", "model", {}, FileKind.OTHER),
        ("llada", "model", {"tokenizer__ggml__model": "gpt2"}, FileKind.OTHER),
        ("t5", "model", {"tokenizer__ggml__model": "t5"}, FileKind.OTHER),
        ("llama", "", {"tokenizer__ggml__model": "llama"}, FileKind.CHAT),
    ],
)
def test_what_is_no_chat_model_is_told_apart(
    folder: Path, architecture: str, purpose: str, values: dict[str, str | int], kind: FileKind
) -> None:
    write_other(folder / "x.gguf", architecture, purpose, **values)
    assert listed(folder)["x.gguf"].kind is kind


def test_texts_of_a_file_cannot_do_anything(folder: Path) -> None:
    write_other(folder / "x.gguf", "llama", general__name="\x1b]0;a\x07b\u202ec\nd" + "e" * 1000)
    name = listed(folder)["x.gguf"].name
    assert name.startswith("]0;a b c de")
    assert len(name) == 200


def test_the_parts_of_a_model_are_one(folder: Path, tiny_gguf: TinyGguf) -> None:
    parts = write_parts(folder, 3, tiny_gguf("qwen3"))
    (model,) = listed(folder).values()
    assert (model.path, model.parts, model.name) == (parts[0], tuple(parts), "Big one")
    assert model.size_bytes == sum(part.stat().st_size for part in parts)
    assert model.num_params == read_whole_header(tiny_gguf("qwen3")).num_params

    parts[1].unlink()
    (model,) = listed(folder).values()
    assert (model.kind, model.problem) == (FileKind.INCOMPLETE, "part 2 of 3 is missing")

    parts[0].rename(folder / "alone.gguf")
    parts[2].rename(folder / "big-00001-of-00001.gguf")
    models = listed(folder)
    assert "one of 3 parts" in models["alone.gguf"].problem
    assert "one of 3 parts" in models["big-00001-of-00001.gguf"].problem


@pytest.mark.parametrize("limit", ["MAX_TENSORS", "MAX_HEADER_BYTES"])
def test_all_parts_of_a_model_have_no_more_than_one_file_may(
    folder: Path, tiny_gguf: TinyGguf, monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    """Two names may lead to one file, and a thousand to one with the largest header."""
    first = folder / "big-00001-of-00002.gguf"
    first.write_bytes(tiny_gguf("qwen3").read_bytes())
    (folder / "big-00002-of-00002.gguf").hardlink_to(first)
    header = read_whole_header(tiny_gguf("qwen3"))
    size = len(header.tensors) if limit == "MAX_TENSORS" else header.num_bytes
    monkeypatch.setattr(model_file, limit, size * 3 // 2)
    with pytest.raises(HeaderError, match="more tensors than any model"):
        read_whole_header(first)


def test_versions_of_a_model_may_share_some_of_its_parts(folder: Path, tiny_gguf: TinyGguf) -> None:
    for version in ("a", "b"):
        (folder / version).mkdir()
    old = write_parts(folder / "a", 2, tiny_gguf("qwen3"))
    new = write_parts(folder / "b", 2, tiny_gguf("qwen3"))
    new[0].unlink()
    new[0].hardlink_to(old[0])
    models = scan([Folder(folder, ModelSource.FOLDER)])
    assert [(model.kind, model.parts) for model in models] == [
        (FileKind.CHAT, tuple(old)),
        (FileKind.CHAT, tuple(new)),
    ]


def test_names_that_claim_too_many_parts_are_refused(folder: Path, tiny_gguf: TinyGguf) -> None:
    (folder / "x-00001-of-99999.gguf").write_bytes(tiny_gguf("qwen3").read_bytes())
    (folder / "y-00001-of-00000.gguf").write_bytes(tiny_gguf("qwen3").read_bytes())
    models = listed(folder)
    assert {model.kind for model in models.values()} == {FileKind.DAMAGED}
    assert parts_of(Path("y-00001-of-00002.gguf")) == (
        Path("y-00001-of-00002.gguf"),
        Path("y-00002-of-00002.gguf"),
    )


def test_what_cannot_be_read_is_listed_with_the_reason(folder: Path, tiny_gguf: TinyGguf) -> None:
    content = tiny_gguf("qwen3").read_bytes()
    (folder / "text.gguf").write_text("hello")
    (folder / "cut.gguf").write_bytes(content[:-1])
    (folder / "good.gguf").write_bytes(content)
    (folder / "incomplete-other.gguf").write_bytes(content[:1000])  # GPT4All's
    os.mkfifo(folder / "pipe.gguf")
    models = listed(folder)
    assert set(models) == {"text.gguf", "cut.gguf", "good.gguf"}
    assert models["text.gguf"].problem == "it is not a GGUF file"
    assert "is truncated" in models["cut.gguf"].problem


def test_every_real_file_is_listed_once(folder: Path, tmp_path: Path, tiny_gguf: TinyGguf) -> None:
    """The cache of Hugging Face has links with names to files without; and links may go round."""
    blob = tmp_path / "hub" / "models--me--tiny" / "blobs" / "abc"
    blob.parent.mkdir(parents=True)
    blob.write_bytes(tiny_gguf("qwen3").read_bytes())
    for revision in ("one", "two"):
        snapshot = blob.parents[1] / "snapshots" / revision
        snapshot.mkdir(parents=True)
        (snapshot / "tiny.gguf").symlink_to(blob)
        (snapshot / "round").symlink_to(tmp_path / "hub")
        (snapshot / "gone.gguf").symlink_to(tmp_path / "gone")
    (folder / "mine.gguf").hardlink_to(blob)

    assert list(listed(folder, tmp_path / "hub", tmp_path / "not there")) == ["mine.gguf"]
    model = listed(tmp_path / "hub")["tiny.gguf"]
    assert model.path.parent.name == "one"  # where llama.cpp finds its other parts, not among the blobs


def test_a_folder_too_deep_or_too_full_ends_the_search(
    folder: Path, monkeypatch: pytest.MonkeyPatch, tiny_gguf: TinyGguf
) -> None:
    deep = folder.joinpath(*["d"] * (catalog.MAX_DEPTH + 1))
    deep.mkdir(parents=True)
    (deep / "deep.gguf").symlink_to(tiny_gguf("qwen3"))
    (deep.parent / "less.gguf").symlink_to(tiny_gguf("llama"))
    assert set(listed(folder)) == {"less.gguf"}
    monkeypatch.setattr(catalog, "MAX_ENTRIES", 3)
    assert listed(folder) == {}


def test_a_header_is_read_once_until_its_file_changes(
    folder: Path, monkeypatch: pytest.MonkeyPatch, tiny_gguf: TinyGguf
) -> None:
    reads: list[str] = []

    def counted(path: Path) -> object:
        reads.append(path.name)
        return read_whole_header(path)

    monkeypatch.setattr(catalog, "read_whole_header", counted)
    (folder / "a.gguf").write_bytes(tiny_gguf("qwen3").read_bytes())
    (folder / "b.gguf").write_text("bad text")
    first = listed(folder)
    assert listed(folder) == first
    assert first["b.gguf"].problem == "it is not a GGUF file"
    assert sorted(reads) == ["a.gguf", "b.gguf"]

    (folder / "b.gguf").write_bytes(tiny_gguf("llama").read_bytes())
    assert listed(folder)["b.gguf"].family == "llama"
    assert reads[2:] == ["b.gguf"]

    scan([Folder(folder, ModelSource.FOLDER)], on_progress=lambda done, _all: done < 1)
    assert set(listed(folder)) == {"a.gguf", "b.gguf"}
    assert reads[3:] == []  # a scan that was ended early has forgotten nothing

    from app.system import paths

    for remembered in (b"{", b'{"format": 1, "models": {"x": 3}}', b'{"format": 2}'):
        paths.model_headers_file().write_bytes(remembered)
        assert set(listed(folder)) == {"a.gguf", "b.gguf"}
    assert len(reads) == 3 + 3 * 2


def test_names_that_are_no_text_are_listed(folder: Path, tiny_gguf: TinyGguf) -> None:
    path = os.fsdecode(bytes(folder) + b"/\xff.gguf")
    Path(path).write_bytes(tiny_gguf("qwen3").read_bytes())
    assert [model.name for model in listed(folder).values()] == ["tiny qwen3"]
    assert list(listed(folder)) == [Path(path).name]
