"""What chats with a shelf or in a project begin with is computed and held once, and there after a start."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest

from app.engine.cells.hibernation import HibernatedChats
from app.engine.cells.kept_cells import path_of
from app.engine.engine import Engine
from app.protocol.commands import KeepCells
from app.protocol.load import CellStore
from app.protocol.request import PROJECT, SHELF, Message, Request, Role
from tests.driver import Answer, ask, request, run
from tests.fakes import CountingBackend

TEXT = "A document, word by word. " * 20
NAME = f"{SHELF}docs"
NUM_CHATS = 10


@pytest.fixture(autouse=True, params=[SHELF, PROJECT])
def name(request, monkeypatch) -> None:
    """Whose own sequence it is."""
    monkeypatch.setitem(globals(), "NAME", f"{request.param}docs")


def asked(question: str, chat: str, text: str = TEXT) -> Request:
    return request(question, chat, history=(Message(Role.SYSTEM, text),), begins_as=NAME, is_saved=True)


def read(engine: Engine, text: str = TEXT) -> int:
    """Has the engine read the shelf while it is idle. Returns how many tokens that took."""
    one = replace(asked("", NAME, text), max_tokens=0)
    engine.read_ahead(one, engine.prompts.build_ahead(one))
    return sum(report.num_rows for report in run(engine).reports)


@contextmanager
def started(store: CellStore | None = None, fingerprint: str = "fake", **model: object) -> Iterator[Engine]:
    backend = CountingBackend(**({"n_ctx": 4096, "n_seq_max": NUM_CHATS + 1} | model))
    backend.fingerprint = fingerprint
    engine = Engine(backend, HibernatedChats(), verify=True)
    engine.obey(KeepCells(store))
    yield engine
    wait_for_disk(engine)
    engine.close()


def wait_for_disk(engine: Engine) -> None:
    engine.slots.hibernated._writer.submit(lambda: None).result()


@pytest.fixture
def store(tmp_path) -> CellStore:
    return CellStore(tmp_path, bytes(range(32)))


def ask_in(engine: Engine, question: str, chat: str, text: str = TEXT) -> Answer:
    for name in (chat, NAME):  # as the thread does where prompts are built
        engine.slots.hibernated.prefetch(name)
    return ask(engine, asked(question, chat, text))


@pytest.fixture
def alone() -> Answer:
    with started() as engine:
        return ask_in(engine, "What is it?", "ann")


def test_a_new_chat_computes_only_its_own_words(alone):
    with started() as engine:
        assert read(engine) >= len(TEXT)
        answer = ask_in(engine, "What is it?", "ann")
    assert answer.text == alone.text
    assert answer.usage.num_shared_tokens >= len(TEXT)


def test_ten_chats_at_once_hold_its_cells_once():
    with started() as engine:
        num_shelf = read(engine)
        requests = [asked(f"Question {number}?", f"chat {number}") for number in range(NUM_CHATS)]
        answers = run(engine, *requests).answers.values()
        own = [one.usage.num_prompt_tokens + one.usage.num_generated_tokens - num_shelf for one in answers]
        assert len(own) == NUM_CHATS
        assert engine.slots.cells.usage.num_used <= num_shelf + sum(own)
        assert engine.slots.cells.usage.num_shared >= num_shelf - 1


def test_after_a_start_it_is_restored_once_and_shared_from_then_on(store, alone):
    with started(store) as engine:
        num_shelf = read(engine)
    with started(store) as engine:
        first = ask_in(engine, "What is it?", "ann")
        second = ask_in(engine, "And why?", "bob")
        assert first.text == alone.text
        assert first.usage.num_restored_tokens == num_shelf <= second.usage.num_shared_tokens
        assert engine.slots.cells.usage.num_used < 2 * num_shelf
        assert read(engine) == 0, "all of it is there"


def test_it_is_restored_as_often_as_its_cells_are_gone(store):
    with started(store) as engine:
        num_shelf = read(engine)
        wait_for_disk(engine)
        for chat in ("ann", "bob"):
            engine.slots.hibernate_chat(NAME)
            assert engine.slots.hibernated.chats()[0].is_on_disk
            assert ask_in(engine, "What is it?", chat).usage.num_restored_tokens == num_shelf
            engine.forget(chat)


def test_a_chat_that_comes_back_shares_it_again():
    with started() as engine:
        num_shelf = read(engine)
        for chat in ("ann", "bob"):
            ask_in(engine, f"What is it, {chat}?", chat)
        engine.slots.hibernate_chat("ann")
        assert ask_in(engine, "And why?", "ann").usage.num_restored_tokens == 0
        assert engine.slots.cells.usage.num_used < 2 * num_shelf


@pytest.mark.parametrize("is_restarted", [False, True])
def test_a_changed_file_is_computed_from_there_on(store, is_restarted):
    changed = TEXT[:400] + "B" + TEXT[401:]
    with started(store) as engine:
        num_shelf = read(engine)
        if not is_restarted:
            assert 0 < read(engine, changed) <= num_shelf - 400
    if is_restarted:
        with started(store) as engine:
            engine.slots.hibernated.prefetch(NAME)
            assert 0 < read(engine, changed) <= num_shelf - 400


def test_each_model_has_a_file_of_its_own(store):
    for fingerprint in ("one", "other"):
        with started(store, fingerprint) as engine:
            read(engine)
    assert set(store.folder.iterdir()) == {path_of(store.folder, NAME, one) for one in ("one", "other")}
    with started(store, "one") as engine:
        assert ask_in(engine, "What is it?", "ann").usage.num_restored_tokens >= len(TEXT)


def test_a_damaged_file_is_computed_again(store, alone):
    with started(store) as engine:
        read(engine)
    path = path_of(store.folder, NAME, "fake")
    content = bytearray(path.read_bytes())
    content[-100] ^= 1
    path.write_bytes(content)
    with started(store) as engine:
        answer = ask_in(engine, "What is it?", "ann")
    assert answer.text == alone.text
    assert answer.usage.num_restored_tokens == 0


def test_idle_chats_make_way_for_it_but_not_the_one_in_front():
    with started(n_ctx=640, n_seq_max=2) as engine:
        for chat in ("ann", "bob"):
            ask(engine, request("A word. " * 20, chat))
        engine.slots.front_chat_id = "ann"
        assert read(engine) == 0, "no room beside the chat in front"
    with started(n_ctx=1024, n_seq_max=2) as engine:
        for chat in ("ann", "bob"):
            ask(engine, request("A word. " * 20, chat))
        engine.slots.front_chat_id = "ann"
        assert read(engine) >= len(TEXT)
        assert "bob" in engine.slots.hibernated


LONG = "Tell me about the thread that is wound into a skein, and about everything else you know. " * 2


def test_several_answers_to_one_question_compute_it_once(engine) -> None:
    first = request(LONG, "chat", max_tokens=4)
    ways = [
        first,
        *(replace(first, request_id=f"way {n}", chat_id=f"chat#{n}", keep_cells=False) for n in (1, 2)),
    ]
    answers = run(engine, *ways).answers

    usages = [answers[way.request_id].usage for way in ways]
    num_prompt_tokens = usages[0].num_prompt_tokens
    computed = [usage.num_computed_tokens - usage.num_generated_tokens for usage in usages]
    assert sum(computed) <= num_prompt_tokens + 2 * 2  # each needs the last row again, for logits of its own
    assert len({answers[way.request_id].text for way in ways}) == 1
