"""One comparison at a time: it ends, fails in words, or is stopped without a word."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.protocol.comparison import Compare, Comparison
from app.protocol.load import LoadParams
from app.services.comparisons import Comparisons

pytestmark = pytest.mark.native


class Heard:
    def __init__(self, comparisons: Comparisons) -> None:
        self.comparisons = comparisons
        self.progress: list[float] = []
        self.ended: list[Comparison] = []
        self.failed: list[str] = []
        comparisons.progressed.connect(self.progress.append)
        comparisons.ended.connect(self.ended.append)
        comparisons.failed.connect(self.failed.append)

    async def until_all_is_done(self) -> None:
        while self.comparisons._tasks:
            await asyncio.sleep(0.01)


@pytest.fixture
def heard(qloop) -> Iterator[Heard]:
    yield Heard(Comparisons())


def question(path: Path, other: Path, text: str = "one two three") -> Compare:
    return Compare(LoadParams(path, n_threads=1), LoadParams(other, n_threads=1), text)


async def test_it_ends_with_what_was_found(qloop, heard: Heard, tiny_gguf) -> None:
    heard.comparisons.start(question(tiny_gguf("llama"), tiny_gguf("qwen3")), ())
    await heard.until_all_is_done()
    (found,) = heard.ended
    assert len(found.kl) == len(found.pieces) - 1
    assert heard.progress[-1] == 1
    assert heard.failed == []


async def test_it_fails_in_words(qloop, heard: Heard, tiny_gguf, tmp_path: Path) -> None:
    heard.comparisons.start(question(tiny_gguf("llama"), tmp_path / "none.gguf"), ())
    await heard.until_all_is_done()
    assert heard.failed == ["none.gguf cannot be read: No such file or directory."]


async def test_a_later_one_takes_the_place_of_one_that_runs(qloop, heard: Heard, tiny_gguf) -> None:
    pair = tiny_gguf("llama"), tiny_gguf("qwen3")
    heard.comparisons.start(question(*pair, text="one two three " * 4_000), ())
    while not heard.progress:
        await asyncio.sleep(0.01)
    heard.comparisons.start(question(*pair), ())
    await heard.until_all_is_done()
    assert [b"".join(found.pieces) for found in heard.ended] == [b"one two three"]
    assert heard.failed == []


async def test_closing_ends_it_at_once(qloop, heard: Heard, tiny_gguf) -> None:
    heard.comparisons.start(question(tiny_gguf("llama"), tiny_gguf("qwen3"), "one two three " * 4_000), ())
    while not heard.progress:
        await asyncio.sleep(0.01)
    await heard.comparisons.close()
    assert (heard.ended, heard.failed) == ([], [])
