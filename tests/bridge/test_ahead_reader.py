"""What is typed is posted to the engine in good time, and never when that could be in somebody's way."""

from types import SimpleNamespace
from unittest.mock import Mock

import psutil
import pytest

from app.bridge.ahead_reader import AheadReader, is_on_mains
from app.protocol.commands import ReadAhead
from app.protocol.output import FinishReason
from app.protocol.sampling import SamplingParams

DRAFT = "Tell me about the sea"


@pytest.fixture(autouse=True)
def power(monkeypatch):
    """Of a machine without a battery, until a test has one put in."""
    power = SimpleNamespace(battery=None)
    monkeypatch.setattr(psutil, "sensors_battery", lambda: power.battery, raising=False)
    return power


@pytest.fixture
def reader(engine, workspace, settings):
    return AheadReader(engine, workspace, settings, workspace)


@pytest.fixture
def thread(reader, load):
    return load()


@pytest.fixture
def session(reader, workspace, thread):
    return workspace.new_chat()


def read(thread) -> list[str]:
    """The last messages of all that was to be read ahead."""
    commands = [command for command in thread.posted if isinstance(command, ReadAhead)]
    return [command.request.messages[-1].content for command in commands]


def wait(reader) -> None:
    """As if so much time had passed, if anything waits for that."""
    if reader._timer.isActive():
        reader._timer.stop()
        reader._post()


async def test_a_draft_is_read_ahead_a_piece_at_a_time(qloop, reader, thread, session):
    for end in range(1, len(DRAFT) + 1):
        session.draft = DRAFT[:end]
        wait(reader)
    assert read(thread) == [DRAFT[:1], DRAFT[:9], DRAFT[:17]]


async def test_several_keys_make_one_prompt(qloop, reader, thread, session):
    for end in range(1, len(DRAFT) + 1):
        session.draft = DRAFT[:end]
    wait(reader)
    assert read(thread) == [DRAFT]


async def test_nothing_is_made_of_it(qloop, reader, thread, session):
    session.draft = DRAFT
    wait(reader)
    request = next(command.request for command in thread.posted if isinstance(command, ReadAhead))
    assert (request.chat_id, request.max_tokens) == (session.chat.id, 0)
    assert request.sampling == SamplingParams()


async def test_another_draft_is_read_from_its_beginning(qloop, reader, thread, session):
    for text in (DRAFT, "Who"):
        session.draft = text
        wait(reader)
    assert read(thread) == [DRAFT, "Who"]


async def test_after_an_answer_the_beginning_of_the_next_turn_is_read(qloop, reader, thread, session):
    session.send("hello")
    request = thread.submitted[-1]
    thread.answer(request, "hi", FinishReason.STOP)
    wait(reader)
    assert read(thread) == [""]


async def test_while_a_chat_is_answering_nothing_is(qloop, reader, workspace, thread, session):
    session.send("hello")
    other = workspace.new_chat()
    other.draft = DRAFT
    wait(reader)
    assert read(thread) == []


@pytest.mark.parametrize(("is_plugged", "is_read"), [(True, True), (False, False), (None, True)])
async def test_on_battery_nothing_is(qloop, reader, thread, session, power, is_plugged, is_read):
    power.battery = SimpleNamespace(power_plugged=is_plugged)
    session.draft = DRAFT
    wait(reader)
    assert bool(read(thread)) == is_read


def test_where_the_system_tells_of_no_power_supplies_it_is_on_mains(monkeypatch):
    """psutil raises it on a Linux without `/sys/class/power_supply`."""
    monkeypatch.setattr(psutil, "sensors_battery", Mock(side_effect=FileNotFoundError), raising=False)
    assert is_on_mains()


async def test_it_can_be_switched_off(qloop, reader, thread, session, settings):
    settings.reads_ahead = False
    session.draft = DRAFT
    wait(reader)
    assert read(thread) == []


async def test_a_closed_chat_is_not_read(qloop, reader, workspace, thread, session):
    session.draft = DRAFT
    workspace.close(session)
    wait(reader)
    assert read(thread) == []


async def test_a_model_that_sleeps_is_not_woken(qloop, reader, engine, thread, session):
    engine.front.sleep()
    session.draft = DRAFT
    wait(reader)
    assert read(thread) == []
    assert engine.is_asleep
