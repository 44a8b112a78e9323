"""Which models can draft for which, by their files: as the library finds when it loads them."""

import shutil

import gguf
import pytest

from app.models.load_limits import remarks, why_not_draft
from app.models.memory_fit import estimate
from app.models.model_file import open_header, read_whole_header
from app.protocol.load import LoadParams
from app.system import paths
from tests.native.tiny_ggufs import Shape, write_tiny_gguf


def changed(source, target, key, index, value):
    """A copy whose `index`-th text in the array `key` begins with another byte, or whose value is another."""
    shutil.copyfile(source, target)
    parts = gguf.GGUFReader(target, "r+").fields[key]
    parts.parts[parts.data[index]][0] = value
    return target


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("smaller", ""),
        ("filled up", ""),
        ("mamba", "It cannot remove tokens it has computed, so it cannot reject draft tokens."),
        ("gemma3", ""),
        ("other", "Its vocabulary type or its special tokens differ."),
        ("larger", "Its vocabulary has 600 tokens, the model's 264."),
        ("another word", "Its tokens differ."),
        ("gone", "gone.gguf cannot be read: No such file or directory."),
    ],
)
def test_a_draft_model_has_the_vocabulary_of_the_other(kind, reason, tiny_gguf, tmp_path):
    model, path = tiny_gguf("qwen3"), tmp_path / f"{kind}.gguf"
    match kind:
        case "smaller":
            write_tiny_gguf(path, "llama", seed=3, n_layer=1)
        case "filled up":
            write_tiny_gguf(path, "llama", shape=Shape(n_vocab=300))
        case "mamba" | "gemma3":
            path = tiny_gguf(kind)
        case "other":
            changed(model, path, "tokenizer.ggml.add_bos_token", 0, 1)
        case "larger":
            write_tiny_gguf(path, "llama", shape=Shape(n_vocab=600))
        case "another word":
            changed(model, path, "tokenizer.ggml.tokens", 200, ord("?"))
    assert why_not_draft(path, model) == reason


def test_the_starter_model_and_a_tiny_one_have_nothing_in_common(tiny_gguf):
    assert why_not_draft(paths.starter_model(), tiny_gguf("qwen3"))
    assert why_not_draft(paths.starter_model(), paths.starter_model()) == ""


def test_what_a_draft_model_takes_counts_and_what_comes_of_it_is_said(tiny_gguf):
    model, draft = tiny_gguf("qwen3"), tiny_gguf("llama")
    alone = LoadParams(model, n_ctx=1024, num_drafted_tokens=0)
    wished = LoadParams(model, n_ctx=1024, num_drafted_tokens=8, draft_model=draft)
    unused = LoadParams(model, n_ctx=1024, num_drafted_tokens=0, draft_model=draft)
    need, header = {}, read_whole_header(model)
    for params in (alone, wished, unused):
        need[params] = estimate(header, params).weights_bytes
    assert need[wished] == need[alone] + read_whole_header(draft).weights_bytes
    assert need[unused] == need[alone]
    assert "draft_model" not in remarks(header, wished)
    assert remarks(header, unused)["draft_model"] == "Draft tokens are off, so it is not loaded."
    recurrent = open_header(tiny_gguf("mamba"))
    assert "cannot reject draft tokens" in remarks(recurrent, wished)["draft_model"]
    assert estimate(recurrent, wished).weights_bytes == recurrent.weights_bytes
