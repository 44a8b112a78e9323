"""Bytes in, the same bytes out, or nothing: never other ones."""

import os
import tempfile
import threading
import weakref

import numpy as np
import pytest

from app.engine.cells.hibernation import HibernatedChats
from app.engine.cells.idle import SHORTEST_IDLE_S, TRIAL_STEPS, IdleChats
from app.engine.cells.kept_cells import KeptCells
from app.engine.engine import Engine
from app.protocol.load import CellStore
from tests.driver import ask, request
from tests.fakes import CountingBackend, endless_token

KIB = 1024
FINGERPRINT = "model and context"


def state_of(chat: str, size: int = KIB) -> np.ndarray:
    return np.random.default_rng(sum(chat.encode())).integers(0, 256, size, np.uint8)


def save(chats: HibernatedChats, *names: str) -> None:
    for name in names:
        chats.save(name, list(range(10)), state_of(name), FINGERPRINT)


def wait_for_disk(chats: HibernatedChats) -> None:
    chats._writer.submit(lambda: None).result()
    chats._note_written()


def where(chats: HibernatedChats) -> dict[str, str]:
    return {chat.chat_id: "disk" if chat.is_on_disk else "ram" for chat in chats.chats()}


@pytest.fixture
def in_ram():
    chats = HibernatedChats(ram_bytes=3 * KIB)
    yield chats
    chats.close()


@pytest.fixture
def on_disk(tmp_path):
    chats = HibernatedChats(ram_bytes=2 * KIB, disk_bytes=2 * KIB, folder=tmp_path)
    yield chats
    chats.close()


def test_a_state_comes_back_once(in_ram):
    save(in_ram, "ann")
    assert in_ram.tokens_of("ann") == list(range(10))
    np.testing.assert_array_equal(in_ram.take("ann", FINGERPRINT), state_of("ann"))
    assert "ann" not in in_ram
    assert in_ram.tokens_of("ann") == []


def test_without_a_disk_the_least_recently_used_is_dropped(in_ram):
    save(in_ram, "ann", "bob", "cat")
    save(in_ram, "ann")
    save(in_ram, "dan")
    assert list(where(in_ram)) == ["cat", "ann", "dan"]


def test_a_state_larger_than_the_budget_costs_no_other_its_place(in_ram):
    save(in_ram, "ann", "bob")
    assert not in_ram.save("cat", [1], state_of("cat", 4 * KIB), FINGERPRINT)
    assert list(where(in_ram)) == ["ann", "bob"]


def test_whose_state_had_to_go_is_told_once(in_ram):
    save(in_ram, "ann", "bob", "cat", "dan")
    assert in_ram.take_lost() == [("ann", 10)]
    assert in_ram.take_lost() == []


def test_the_least_recently_used_go_to_disk_and_then_away(on_disk):
    save(on_disk, "ann", "bob")
    wait_for_disk(on_disk)
    assert where(on_disk) == {"ann": "disk", "bob": "ram"}
    for chat in ("cat", "dan"):
        save(on_disk, chat)
        wait_for_disk(on_disk)
    assert where(on_disk) == {"bob": "disk", "cat": "disk", "dan": "ram"}


def test_a_state_comes_back_from_disk_and_leaves_no_file(on_disk, tmp_path):
    save(on_disk, "ann", "bob")
    wait_for_disk(on_disk)
    on_disk.prefetch("ann")
    np.testing.assert_array_equal(on_disk.take("ann", FINGERPRINT), state_of("ann"))
    assert list(tmp_path.iterdir()) == []


def test_a_state_on_its_way_to_disk_can_be_taken(on_disk):
    save(on_disk, "ann", "bob")
    np.testing.assert_array_equal(on_disk.take("ann", FINGERPRINT), state_of("ann"))
    wait_for_disk(on_disk)
    assert list(where(on_disk)) == ["bob"]


def test_a_full_disk_costs_the_state_and_nothing_else(on_disk, monkeypatch):
    def full(*_args: object, **_kwargs: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("tempfile.TemporaryFile", full)
    save(on_disk, "ann", "bob")
    wait_for_disk(on_disk)
    assert where(on_disk) == {"bob": "ram"}


def test_what_waits_for_the_disk_counts_as_memory(on_disk):
    may_write = threading.Event()
    on_disk._writer.submit(may_write.wait, 10)
    for number in range(10):
        save(on_disk, f"chat {number}")
        in_ram = [chat.size_bytes for chat in on_disk.chats() if not chat.is_on_disk]
        assert sum(in_ram) <= 2 * KIB
    may_write.set()
    assert "chat 9" in on_disk


def test_a_state_leaves_memory_as_soon_as_it_is_on_disk(on_disk):
    state = state_of("ann")
    is_there = weakref.ref(state)
    on_disk.save("ann", list(range(10)), state, FINGERPRINT)
    del state
    save(on_disk, "bob")
    on_disk._writer.submit(lambda: None).result()
    assert is_there() is None
    assert where(on_disk) == {"ann": "disk", "bob": "ram"}


@pytest.fixture
def descriptors(monkeypatch):
    """One for each file that was made, also where the file itself is closed."""
    made: list[int] = []
    make = tempfile.TemporaryFile

    def remember(*arguments, **options):
        file = make(*arguments, **options)
        made.append(os.dup(file.fileno()))
        return file

    monkeypatch.setattr(tempfile, "TemporaryFile", remember)
    yield made
    for descriptor in made:
        os.close(descriptor)


@pytest.mark.skipif(os.name == "nt", reason="a file that is open elsewhere cannot be cut there")
def test_a_file_that_is_cut_short_costs_its_state_and_nothing_else(tmp_path, descriptors):
    chats = HibernatedChats(ram_bytes=KIB, disk_bytes=2 * KIB, folder=tmp_path)
    for name in ("ann", "bob"):
        save(chats, name)
        wait_for_disk(chats)
    os.ftruncate(descriptors[0], 0)
    chats.prefetch("ann")
    assert chats.take("ann", FINGERPRINT) is None
    np.testing.assert_array_equal(chats.take("bob", FINGERPRINT), state_of("bob"))
    chats.close()


def test_what_is_told_is_the_same_object_until_something_changes(on_disk):
    may_write = threading.Event()
    on_disk._writer.submit(may_write.wait, 10)
    told = [on_disk.chats()]
    for change in (
        lambda: save(on_disk, "ann"),
        lambda: save(on_disk, "bob"),
        lambda: (may_write.set(), wait_for_disk(on_disk)),
        lambda: on_disk.take("ann", FINGERPRINT),
        lambda: on_disk.drop("bob"),
    ):
        change()
        assert on_disk.chats() != told[-1]
        told.append(on_disk.chats())
        on_disk.drop("nobody")
        assert on_disk.chats() is told[-1]


def num_remembered(thing: object) -> int:
    return sum(len(value) for value in vars(thing).values() if isinstance(value, (set, dict, list)))


def test_nothing_is_remembered_of_chats_that_are_gone(in_ram, tmp_path):
    in_ram.kept = KeptCells(CellStore(tmp_path, bytes(32)), FINGERPRINT)
    for number in range(100):
        chat = f"chat {number}"
        in_ram.saved_chat_ids.add(chat)
        in_ram.prefetch(chat)
        save(in_ram, chat)
        in_ram.take_lost()
        in_ram.forget(chat)
    assert (num_remembered(in_ram), num_remembered(in_ram.kept)) == (0, 0)


@pytest.mark.parametrize("byte", [0, KIB // 2, KIB - 1])
def test_a_damaged_state_is_not_given_out(in_ram, byte):
    save(in_ram, "ann")
    in_ram._saved["ann"].state[byte] ^= 1
    assert in_ram.take("ann", FINGERPRINT) is None


def test_a_state_of_another_model_is_not_given_out(in_ram):
    save(in_ram, "ann")
    assert in_ram.take("ann", "another model") is None


def test_dropped_is_gone(in_ram):
    save(in_ram, "ann")
    in_ram.drop("ann")
    in_ram.drop("nobody")
    assert in_ram.chats() == ()


def run_evenly(idle: IdleChats, step_ms: float, num_decoding: int = 3) -> None:
    for _ in range(TRIAL_STEPS + 1):
        idle.learn(num_decoding, 0, step_ms)


@pytest.fixture
def idle():
    idle = IdleChats()
    run_evenly(idle, 40.0)
    return idle


def test_a_trial_begins_only_while_answers_run_evenly():
    idle = IdleChats()
    assert not idle.can_try
    run_evenly(idle, 40.0)
    assert idle.can_try
    idle.learn(3, num_prompt_tokens=20, step_ms=100.0)
    assert not idle.can_try


def test_a_gain_keeps_the_wait_short(idle):
    idle.note_hibernated(cost_ms=50.0)
    assert not idle.can_try
    run_evenly(idle, 36.0)
    assert idle.can_try
    assert idle.min_idle_s == SHORTEST_IDLE_S


def test_without_a_gain_the_next_trial_comes_later(idle):
    idle.note_hibernated(cost_ms=50.0)
    run_evenly(idle, 39.9)
    assert idle.min_idle_s == 2 * SHORTEST_IDLE_S


def test_a_trial_that_was_disturbed_says_nothing(idle):
    idle.note_hibernated(cost_ms=50.0)
    idle.learn(4, 0, 55.0)
    run_evenly(idle, 55.0, num_decoding=4)
    assert idle.can_try
    assert idle.min_idle_s == SHORTEST_IDLE_S


def engine_with_an_idle_chat(monkeypatch, idle_s: float) -> tuple[Engine, str]:
    monkeypatch.setattr("app.engine.cells.idle.MIN_CELLS", 16)
    engine = Engine(CountingBackend(endless_token), HibernatedChats(ram_bytes=2**20))
    engine._idle.min_idle_s = idle_s
    sleeper = request("a chat that nobody looks at", max_tokens=4)
    ask(engine, sleeper)
    ask(engine, request("a chat that goes on and on", max_tokens=60))
    return engine, sleeper.chat_id


def test_a_chat_idle_for_long_sleeps_while_others_talk(monkeypatch):
    engine, sleeper = engine_with_an_idle_chat(monkeypatch, idle_s=0.0)
    assert [chat.chat_id for chat in engine.slots.hibernated.chats()] == [sleeper]


def test_a_chat_that_was_used_just_now_stays_warm(monkeypatch):
    engine, _ = engine_with_an_idle_chat(monkeypatch, idle_s=3600.0)
    assert engine.slots.hibernated.chats() == ()


def test_alone_an_idle_chat_stays_warm(monkeypatch):
    engine, _ = engine_with_an_idle_chat(monkeypatch, idle_s=3600.0)
    engine._idle.min_idle_s = 0.0
    while engine.has_work:
        engine.step()
    assert engine.slots.hibernated.chats() == ()
