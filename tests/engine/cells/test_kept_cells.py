"""What was computed for a saved chat is there after a start, as it was or not at all."""

import os
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from app.engine.cells import kept_cells
from app.engine.cells.hibernation import HibernatedChats
from app.engine.cells.kept_cells import KeptCells, delete_all_but, path_of
from app.engine.engine import Engine
from app.protocol.commands import KeepCells
from app.protocol.load import CellStore
from app.protocol.request import Message, Role
from tests.driver import Answer, ask, request
from tests.fakes import CountingBackend

KIB = 1024
KEY = bytes(range(32))
TOKENS = list(range(100))
FIRST = "What is a token, and what is it made of?"


def state_of(chat: str, size: int = KIB) -> np.ndarray:
    return np.random.default_rng(sum(chat.encode())).integers(0, 256, size, np.uint8)


@pytest.fixture
def store(tmp_path: Path) -> CellStore:
    return CellStore(tmp_path, KEY)


@pytest.fixture
def kept(store: CellStore) -> KeptCells:
    return KeptCells(store, "model and context")


@pytest.fixture
def small_pieces(monkeypatch) -> None:
    monkeypatch.setattr(kept_cells, "_PIECE_BYTES", 100)


def files(store: CellStore) -> set[Path]:
    return set(store.folder.iterdir())


# Files


@pytest.mark.parametrize("size", [0, 1, 99, 100, KIB, 3 * KIB + 7])
@pytest.mark.usefixtures("small_pieces")
def test_what_was_written_is_read_by_the_next_start(store, size):
    assert KeptCells(store, "a").write("ann", TOKENS, state_of("ann", size), time.monotonic() + 60)
    tokens, state = KeptCells(store, "a").read("ann")
    assert tokens == TOKENS
    np.testing.assert_array_equal(state, state_of("ann", size))


def test_nothing_of_it_can_be_read_without_the_key(kept, store):
    words = np.frombuffer(b"nobody is to read this" * 20, np.uint8)
    kept.write("ann", TOKENS, words)
    (file,) = files(store)
    content = file.read_bytes()
    assert b"nobody" not in content
    assert np.array(TOKENS[:8], "<i4").tobytes() not in content
    assert "ann" not in file.name
    if os.name == "posix":
        assert file.stat().st_mode & 0o077 == 0
    kept.write("ann", TOKENS, words)
    assert file.read_bytes()[100:] != content[100:], "the same nonce came twice"


@pytest.mark.parametrize("place", range(0, 556, 37))
def test_one_flipped_bit_anywhere_makes_it_nothing(kept, store, place):
    kept.write("ann", list(range(20)), state_of("ann", 400))
    path = path_of(store.folder, "ann")
    content = bytearray(path.read_bytes())
    content[place] ^= 16
    path.write_bytes(content)
    assert kept.read("ann") is None


@pytest.mark.parametrize("length", [0, 5, 14, 46, 58, 80, 500, 1501])
def test_a_file_that_was_cut_off_is_nothing(kept, store, length):
    kept.write("ann", TOKENS, state_of("ann"))
    path = path_of(store.folder, "ann")
    path.write_bytes(path.read_bytes()[:length])
    assert kept.read("ann") is None
    assert files(store) == set()


def test_another_chats_file_is_nothing(kept, store):
    kept.write("ann", TOKENS, state_of("ann"))
    path_of(store.folder, "ann").rename(path_of(store.folder, "bob"))
    assert kept.read("bob") is None


def test_with_another_key_there_is_nothing(kept, store):
    kept.write("ann", TOKENS, state_of("ann"))
    assert KeptCells(CellStore(store.folder, bytes(32)), kept.fingerprint).read("ann") is None
    assert files(store) == set()


def test_of_another_model_there_is_nothing_but_it_may_come_back(kept, store):
    kept.write("ann", TOKENS, state_of("ann"))
    assert KeptCells(store, "another model").read("ann") is None
    assert kept.read("ann") is not None


@pytest.mark.usefixtures("small_pieces")
def test_what_is_not_written_in_time_leaves_what_was_there(kept, store, monkeypatch):
    kept.write("ann", TOKENS, state_of("ann"))
    now = time.monotonic()
    clock = iter([now, *np.arange(now, now + 100, 0.3)])
    monkeypatch.setattr(time, "monotonic", lambda: next(clock))
    assert not kept.write("ann", [1, 2, 3], state_of("other", 4 * KIB), now + 2)
    assert kept.read("ann")[0] == TOKENS
    assert len(files(store)) == 1


def test_what_would_not_be_written_in_time_is_not_begun(kept, store):
    assert not kept.write("ann", TOKENS, state_of("ann"), time.monotonic())
    assert files(store) == set()


def test_a_full_disk_costs_nothing_but_the_cells(kept, store, monkeypatch, caplog):
    kept.write("ann", TOKENS, state_of("ann"))

    def full(*_args: object, **_kwargs: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(kept_cells.tempfile, "mkstemp", full)
    assert not kept.write("ann", [1], state_of("bob"))
    assert kept.read("ann")[0] == TOKENS
    assert "No space left" in caplog.text


def test_the_oldest_go_first(tmp_path):
    kept = KeptCells(CellStore(tmp_path, KEY, max_bytes=4 * KIB), "a")
    for age, chat in enumerate(["ann", "bob", "cat"]):
        kept.write(chat, TOKENS, state_of(chat))
        os.utime(path_of(tmp_path, chat), (1000 + age, 1000 + age))
    assert [chat for chat in ("ann", "bob", "cat") if kept.read(chat)] == ["bob", "cat"]
    assert not kept.write("dan", TOKENS, state_of("dan", 5 * KIB)), "it is larger than all there may be"


@pytest.mark.parametrize("is_begun", [False, True], ids=["waits for its turn", "is written"])
@pytest.mark.parametrize("comes_back", [False, True])
def test_what_is_deleted_while_it_is_written_does_not_come_back(store, monkeypatch, is_begun, comes_back):
    chats = HibernatedChats(ram_bytes=2 * KIB, disk_bytes=9 * KIB, folder=store.folder)
    chats.kept = KeptCells(store, "a")
    chats.saved_chat_ids = {"ann"}
    may_go_on, has_begun = threading.Event(), threading.Event()
    encrypt = KeptCells._encrypt

    def slowly(self: KeptCells, *arguments: object) -> bool:
        has_begun.set()
        assert may_go_on.wait(10)
        return encrypt(self, *arguments)

    monkeypatch.setattr(KeptCells, "_encrypt", slowly)
    if not is_begun:
        chats._writer.submit(may_go_on.wait, 10)
    for chat in ("ann", "bob", "cat"):
        chats.save(chat, TOKENS, state_of(chat, 800), "a")
    if is_begun:
        assert has_begun.wait(10)
    chats.forget("ann")
    if comes_back:
        chats.saved_chat_ids.add("ann")
    may_go_on.set()
    chats._writer.submit(lambda: None).result()
    assert files(store) == set()
    chats.close()


def test_what_a_former_run_left_is_read_once(kept, store):
    kept.write("ann", TOKENS, state_of("ann"))
    assert kept.take_left("ann") is None, "this run has written it"
    next_run = KeptCells(store, kept.fingerprint)
    assert next_run.take_left("ann")[0] == TOKENS
    assert next_run.take_left("ann") is None
    assert next_run.take_left("nobody") is None


def test_all_but_the_wanted_chats_are_deleted(kept, store):
    for chat in ("ann", "bob"):
        kept.write(chat, TOKENS, state_of(chat))
    (store.folder / "tmp1234").write_bytes(b"half written")
    delete_all_but(store.folder, ["bob", "nobody"])
    assert files(store) == {path_of(store.folder, "bob")}
    delete_all_but(store.folder / "none", [])


# Engines


class Runs:
    """One engine after another, as the program is started again and again."""

    def __init__(self, store: CellStore | None) -> None:
        self.store = store
        self.fingerprint = "fake"

    def run(self, *turns: tuple[str, str], is_saved: bool = True, forgets: str = "") -> list[Answer]:
        """Each turn is the next one in the chat of that name, of which this run knows the text only."""
        backend = CountingBackend()
        backend.fingerprint = self.fingerprint
        engine = Engine(backend, HibernatedChats(), verify=True)
        engine.obey(KeepCells(self.store))
        answers = []
        for chat, text in turns:
            history = HISTORY if text != FIRST else ()
            engine.slots.hibernated.prefetch(chat)  # as the thread does where prompts are built
            answers.append(ask(engine, request(text, chat, history=history, is_saved=is_saved)))
        if forgets:
            engine.forget(forgets)
        engine.close()
        return answers


HISTORY = (Message(Role.USER, FIRST), Message(Role.ASSISTANT, "A piece of a word."))
NEXT = ("ann", "And a cell?")


@pytest.fixture
def alone() -> Answer:
    (answer,) = Runs(None).run(NEXT)
    return answer


@pytest.fixture
def runs(store: CellStore) -> Runs:
    return Runs(store)


def test_after_a_start_only_what_is_new_is_computed(runs, alone):
    runs.run(("ann", FIRST), ("bob", FIRST))
    (answer,) = runs.run(NEXT)
    assert answer.text == alone.text
    assert answer.usage.num_restored_tokens >= len(FIRST)
    restored = answer.usage.num_restored_tokens
    assert answer.usage.num_computed_tokens == alone.usage.num_computed_tokens - restored
    (again,) = runs.run(NEXT)
    assert again.text == alone.text
    assert again.usage.num_computed_tokens < answer.usage.num_computed_tokens


def flip_a_bit(runs: Runs) -> None:
    path = path_of(runs.store.folder, "ann")
    content = bytearray(path.read_bytes())
    content[-100] ^= 1
    path.write_bytes(content)


def change_the_model(runs: Runs) -> None:
    runs.fingerprint = "another model"


def lose_the_key(runs: Runs) -> None:
    runs.store = CellStore(runs.store.folder, bytes(32))


def switch_it_off(runs: Runs) -> None:
    runs.store = None


@pytest.mark.parametrize("change", [flip_a_bit, change_the_model, lose_the_key, switch_it_off])
def test_what_cannot_be_used_is_computed_again(runs, alone, change):
    runs.run(("ann", FIRST))
    change(runs)
    (answer,) = runs.run(NEXT)
    assert answer.text == alone.text
    assert answer.usage.num_restored_tokens == 0
    assert answer.usage.num_computed_tokens == alone.usage.num_computed_tokens


def test_only_saved_chats_are_kept(runs, store):
    runs.run(("api", FIRST), is_saved=False)
    assert files(store) == set()


def test_a_forgotten_chat_leaves_no_file(runs, store):
    runs.run(("ann", FIRST), ("bob", FIRST))
    runs.run(("ann", FIRST), forgets="bob")
    assert files(store) == {path_of(store.folder, "ann")}
    runs.run(NEXT, forgets="ann")
    assert files(store) == set()


def test_hibernated_chats_are_kept_too(store):
    chats = HibernatedChats(ram_bytes=2 * KIB, disk_bytes=9 * KIB, folder=store.folder)
    chats.kept = KeptCells(store, "a")
    chats.saved_chat_ids = {"ann", "bob"}
    for chat in ("ann", "bob"):
        chats.save(chat, TOKENS, state_of(chat), "a")
    chats._writer.submit(lambda: None).result()
    assert files(store) == {path_of(store.folder, "ann")}, "it went to disk, so it is kept at once"
    chats.save("cat", TOKENS, state_of("cat"), "a")
    chats.keep_all(time.monotonic() + 60)
    chats.close()
    assert files(store) == {path_of(store.folder, chat) for chat in ("ann", "bob")}
