"""POST /infill, on the fake and on llama.cpp."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from app.engine.prompts.infill import Gap, infill_tokens
from app.engine.prompts.prompt_builder import PromptBuilder
from app.protocol.load import LoadParams
from app.protocol.model import FimTokens
from tests.api.conftest import OpenBackend, serving
from tests.conftest import TINY_CONTEXT
from tests.fakes import CountingBackend, endless_token
from tests.native.tiny_ggufs import END_OF_TEXT, MERGES, TURN_END, TURN_START, byte_letters, write_tiny_gguf

FIM = FimTokens(prefix=256, suffix=257, middle=258)
GAP = {"input_prefix": "int main() {\n", "input_suffix": "}\n", "prompt": "    int n"}
SHORT = {"temperature": 0.0, "n_predict": 4}


@pytest.fixture(params=["fake", pytest.param("llama", marks=pytest.mark.native)])
def opener(request: pytest.FixtureRequest, tmp_path: Path) -> OpenBackend:
    """A model whose control tokens are those of gaps."""
    if request.param == "fake":
        return lambda _on_progress: nullcontext(CountingBackend(endless_token, fim=FIM, **TINY_CONTEXT))
    from app.engine.llama.loading import open_llama_backend

    first = len(byte_letters()) + len(MERGES)
    ids = {f"tokenizer.ggml.fim_{part}_token_id": first + at for at, part in enumerate(("pre", "suf", "mid"))}
    path = write_tiny_gguf(tmp_path / "code.gguf", "qwen3", metadata=ids)
    params = LoadParams(path, n_threads=1, **TINY_CONTEXT)
    return lambda on_progress: open_llama_backend(params, on_progress)


async def test_the_gap_is_written_between_what_is_before_and_behind_it(opener):
    async with serving(open_backend=opener) as served:
        status, body = await served.post("/infill", GAP | SHORT)
        assert status == 200, body
    before, behind, middle = END_OF_TEXT, TURN_START, TURN_END
    assert body["prompt"] == f"{before}int main() {{\n    int n{behind}}}\n{middle}"
    assert body["tokens_predicted"] == 4


async def test_other_files_come_first():
    backend = CountingBackend(endless_token, fim=FIM, **TINY_CONTEXT)
    files = [{"filename": "llama.h", "text": "int n_threads();\n"}, {"text": "x"}]
    async with serving(backend) as served:
        _, body = await served.post("/infill", GAP | SHORT | {"input_extra": files})
    snip = "\n\n--- snippet ---\n\n"
    assert body["prompt"].startswith(f"{snip}int n_threads();\n{snip}x<|endoftext|>int main")


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/completions", {"max_tokens": 9}),
        ("/v1/completions", {"max_tokens": 9, "echo": True}),
        ("/api/generate", {"options": {"num_predict": 9, "temperature": 0}, "stream": False}),
        ("/api/generate", {"options": {"num_predict": 9, "temperature": 0}, "stream": False, "raw": True}),
    ],
)
async def test_a_suffix_asks_for_a_gap_in_other_protocols_too(path: str, body: dict[str, Any]):
    async with serving(CountingBackend(fim=FIM, **TINY_CONTEXT)) as served:
        gap = {"input_prefix": "def f(", "input_suffix": "return 1", "n_predict": 9, "temperature": 0}
        _, whole = await served.post("/infill", gap)
        asked = {"prompt": "def f(", "suffix": "return 1", "temperature": 0}
        status, answer = await served.post(path, asked | body)
        assert status == 200, answer
    text = answer["choices"][0]["text"] if "choices" in answer else answer["response"]
    assert text == ("def f(" if body.get("echo") else "") + whole["content"]


async def test_a_suffix_behind_tokens_or_pictures_is_refused():
    async with serving(CountingBackend(fim=FIM, **TINY_CONTEXT)) as served:
        status, answer = await served.post("/v1/completions", {"prompt": [1, 2], "suffix": "x"})
        assert (status, answer["error"]["param"]) == (400, "suffix")
        asked = {"prompt": "x", "suffix": "x", "images": ["aGk="]}
        assert (await served.post("/api/generate", asked))[0] == 400


async def test_a_model_without_the_tokens_says_what_would_help():
    async with serving() as served:
        for path, asked in (("/infill", GAP), ("/v1/completions", {"prompt": "x", "suffix": "x"})):
            status, body = await served.post(path, asked)
            assert status == 400
            assert "Load a code model" in body["error"]["message"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"input_prefix": None},
        {"input_suffix": 1},
        {"prompt": ["a"]},
        {"input_extra": {"text": "a"}},
        {"input_extra": [{"filename": "a"}]},
        {"input_extra": [{"filename": 1, "text": "a"}]},
    ],
)
async def test_a_field_of_another_kind_is_refused(wrong: dict[str, Any]):
    async with serving() as served:
        status, _ = await served.post("/infill", GAP | wrong)
    assert status == 400


def test_what_is_next_to_the_gap_is_kept():
    prompts = PromptBuilder(CountingBackend(**TINY_CONTEXT))
    gap = Gap("b" * 100 + "B", "g", "A" + "a" * 100, (("f", "x" * 100),))
    tokens = infill_tokens(prompts, FIM, gap, 40)
    assert bytes(token for token in tokens if token < 256) == b"b" * 29 + b"B" + b"g" + b"A" + b"a" * 6
    assert len(infill_tokens(prompts, FIM, gap, 240)) == 240


def test_files_are_told_apart_by_the_vocabulary_where_it_can():
    prompts = PromptBuilder(CountingBackend(**TINY_CONTEXT))
    repository, file = 1, 2
    fim = FimTokens(256, 257, 258, repository, file)
    tokens = infill_tokens(prompts, fim, Gap("b", "", "a", (("f.py", "x"),)), 100)
    others = [repository, *b"myproject\n", file, *b"f.py\nx", file, *b"filename\n"]
    assert list(tokens) == [*others, 256, *b"b", 257, *b"a", 258]


def test_without_other_files_nothing_stands_before_the_text():
    """With a made-up repository and file name, Qwen2.5-Coder fills no gap cleanly."""
    prompts = PromptBuilder(CountingBackend(**TINY_CONTEXT))
    fim = FimTokens(256, 257, 258, 1, 2)
    assert infill_tokens(prompts, fim, Gap("b", "", "a"), 100) == (256, *b"b", 257, *b"a", 258)
