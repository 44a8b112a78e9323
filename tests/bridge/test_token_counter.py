import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from typing import Any

import pytest
import shiboken6
from PySide6.QtCore import QObject, Signal

from app.bridge.tasks import finish_all
from app.bridge.token_counter import MAX_COUNTED_CHARS, PIECE_CHARS, TokenCount, TokenCounter
from app.protocol.errors import EngineError
from app.protocol.media import Media, MediaKind
from app.protocol.model import ModelInfo
from tests.fakes import model_info


class Prompts:
    """One token a word. Notes what it is asked for."""

    def __init__(self) -> None:
        self.asked_for: list[str] = []

    def tokenize(self, text: str, *, parse_special: bool) -> list[int]:
        assert not parse_special  # what is typed is never a control token
        self.asked_for.append(text)
        return list(range(len(text.split())))


class CountingEngine(QObject):
    loaded = Signal(object)
    engine_failed = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.model: ModelInfo | None = model_info()
        self.is_asleep = False
        self.prompts = Prompts()
        self.held: list[Callable[[], None]] | None = None  # what waits, once it is a list

    def use_prompts(self, work: Callable[[Any], int]) -> Future[int]:
        future: Future[int] = Future()

        def answer() -> None:
            if self.model is None:
                future.set_exception(EngineError("It is gone."))
            else:
                future.set_result(work(self.prompts))

        if self.held is None:
            answer()
        else:
            self.held.append(answer)
        return future


@pytest.fixture
def engine(qloop: asyncio.AbstractEventLoop) -> CountingEngine:
    return CountingEngine()


@pytest.fixture
def counter(engine: CountingEngine) -> Iterator[TokenCounter]:
    counter = TokenCounter(engine, engine)  # type: ignore[arg-type]
    yield counter
    counter.count(())


async def test_texts_are_counted_once_each_and_told_as_they_are_known(
    engine: CountingEngine, counter: TokenCounter, qloop: object
) -> None:
    told = []
    counter.counted.connect(lambda: told.append(counter.num_tokens("one two three")))
    counter.count(("one two three", "a b"))
    assert counter.num_tokens("a b") is None
    await finish_all()
    assert counter.num_tokens("a b") == TokenCount(2)
    assert told == [TokenCount(3), TokenCount(3)]
    counter.count(("a b", "c"))
    await finish_all()
    assert engine.prompts.asked_for == ["one two three", "a b", "c"]
    assert counter.num_tokens("one two three") is None  # it is no longer requested


async def test_a_draft_does_not_go_to_another_host_to_be_counted(
    engine: CountingEngine, counter: TokenCounter, qloop: object
) -> None:
    engine.model = model_info(server="http://gpu-box:8000", n_seq_max=0)
    counter.count(["a secret draft"])
    await finish_all()
    assert counter.num_tokens("a secret draft") is None
    assert engine.prompts.asked_for == []


async def test_for_an_engine_lent_from_another_host_it_is_estimated_here(
    engine: CountingEngine, counter: TokenCounter, qloop: object
) -> None:
    engine.model = model_info(server="http://gpu-box:8712")
    picture = Media(MediaKind.PICTURE, "a" * 64, b"")
    counter.count(["a secret draft", picture])
    await finish_all()
    assert counter.num_tokens("a secret draft") == TokenCount(4, is_exact=False)
    assert counter.num_tokens(picture) == TokenCount(0, is_exact=False)
    assert engine.prompts.asked_for == []


async def test_nothing_has_no_tokens_and_is_not_asked_about(
    engine: CountingEngine, counter: TokenCounter, qloop: object
) -> None:
    counter.count(("",))
    await finish_all()
    assert counter.num_tokens("") == TokenCount(0)
    assert engine.prompts.asked_for == []


async def test_a_model_that_goes_to_sleep_is_not_woken_up_for_the_next_text(
    engine: CountingEngine, counter: TokenCounter, qloop: object
) -> None:
    engine.held = []
    counter.count(("one two", "three"))
    await asyncio.sleep(0)
    engine.is_asleep = True
    engine.held.pop()()
    await finish_all()
    assert counter.num_tokens("one two") == TokenCount(2)
    assert engine.prompts.asked_for == ["one two"]


async def test_a_counter_that_is_gone_tells_nothing(
    engine: CountingEngine, qloop: asyncio.AbstractEventLoop
) -> None:
    """Its timers may fire once more between the end of a chat and the end of its objects."""
    seen: list[object] = []
    qloop.set_exception_handler(lambda _loop, context: seen.append(context))
    counter = TokenCounter(engine, engine)  # type: ignore[arg-type]
    engine.held = []
    counter.count(("one two",))
    await asyncio.sleep(0)
    shiboken6.delete(counter)
    for answer in engine.held:
        answer()
    await finish_all()
    await asyncio.sleep(0)
    assert seen == []


async def test_a_long_text_is_counted_in_pieces_between_its_lines(
    engine: CountingEngine, counter: TokenCounter, qloop: object
) -> None:
    text = "some words here\n" * (PIECE_CHARS // 8)
    counter.count((text,))
    await finish_all()
    assert counter.num_tokens(text) == TokenCount(len(text.split()))
    pieces = engine.prompts.asked_for
    assert len(pieces) > 1
    assert all(len(piece) <= PIECE_CHARS and piece.endswith("\n") for piece in pieces)
    assert "".join(pieces) == text


async def test_of_a_text_that_no_context_holds_the_rest_is_taken_to_be_like_its_beginning(
    engine: CountingEngine, counter: TokenCounter, qloop: object
) -> None:
    text = "abc " * (MAX_COUNTED_CHARS // 2)
    counter.count((text,))
    await finish_all()
    counted = counter.num_tokens(text)
    assert counted is not None
    assert not counted.is_exact
    assert counted.number == pytest.approx(len(text) / 4, rel=0.01)
    assert sum(map(len, engine.prompts.asked_for)) == MAX_COUNTED_CHARS


async def test_what_is_no_longer_wanted_is_not_counted_to_its_end(
    engine: CountingEngine, counter: TokenCounter, qloop: object
) -> None:
    engine.held = []
    counter.count(("word " * PIECE_CHARS,))
    await asyncio.sleep(0)
    counter.count(("new",))
    while engine.held:
        engine.held.pop(0)()
        await asyncio.sleep(0)
        await asyncio.sleep(0)
    await finish_all()
    assert len(engine.prompts.asked_for) == 2
    assert counter.num_tokens("new") == TokenCount(1)


async def test_another_model_counts_again(
    engine: CountingEngine, counter: TokenCounter, qloop: object
) -> None:
    engine.model = None
    counter.count(("a b",))
    assert counter.num_tokens("a b") is None
    for model in (model_info(name="first"), model_info(name="second")):
        engine.model = model
        engine.loaded.emit(model)
        assert counter.num_tokens("a b") is None
        await finish_all()
        assert counter.num_tokens("a b") == TokenCount(2)
    assert engine.prompts.asked_for == ["a b", "a b"]


async def test_an_engine_that_dies_while_it_counts_leaves_the_text_uncounted(
    engine: CountingEngine, counter: TokenCounter, qloop: object
) -> None:
    engine.held = []
    counter.count(("a b",))
    await asyncio.sleep(0)
    engine.model = None
    engine.held.pop()()
    await finish_all()
    assert counter.num_tokens("a b") is None
    engine.model, engine.held = model_info(), None
    engine.loaded.emit(engine.model)
    await finish_all()
    assert counter.num_tokens("a b") == TokenCount(2)
