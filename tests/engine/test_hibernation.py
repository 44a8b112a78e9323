"""Bytes in, the same bytes out, or nothing: never other ones."""

import numpy as np
import pytest

from app.engine.hibernation import HibernatedChats

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
    chats = HibernatedChats(ram_bytes=KIB, disk_bytes=2 * KIB, folder=tmp_path)
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


def test_a_state_larger_than_the_budget_is_not_kept(in_ram):
    assert not in_ram.save("ann", [1], state_of("ann", 4 * KIB), FINGERPRINT)
    assert in_ram.chats() == ()


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
    save(on_disk, "cat", "dan")
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
