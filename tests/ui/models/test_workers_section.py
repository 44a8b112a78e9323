import asyncio

from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.bridge.tasks import finish_all
from app.engine.children.workers import RemoteWorker, WorkerState
from app.services.preferences import Preferences
from app.settings.settings import Settings
from app.ui.models import workers_section
from app.ui.models.workers_section import WorkersSection, state_text

READY = "10.0.0.2:50052"
GONE = "10.0.0.3:50052"
GIB = 1 << 30


def answer(address: str) -> RemoteWorker:
    if address == GONE:
        return RemoteWorker(address, WorkerState.UNREACHABLE, reason="Connection refused")
    return RemoteWorker(address, WorkerState.READY, (7, 0, 0), 1, 12 * GIB, 16 * GIB)


async def test_machines_are_listed_with_what_they_say_chosen_and_taken_away(
    qloop: asyncio.AbstractEventLoop, qtbot: QtBot, monkeypatch
) -> None:
    monkeypatch.setattr("app.services.worker_list.ask", answer)
    preferences = Preferences(Settings(workers=[READY]))
    parent = workers_section.QWidget()
    qtbot.addWidget(parent)
    section = WorkersSection(preferences, (GONE,), parent)
    await finish_all()
    assert section.workers.addresses == (READY, GONE)
    assert section.chosen == (GONE,)
    shown = [label.text() for label in section.findChildren(workers_section.PlainLabel)]
    assert "12.0 GiB of 16.0 GiB free" in shown
    assert "unreachable" in shown

    seen = []
    section.changed.connect(lambda: seen.append(section.chosen))
    section.choose(READY, True)
    section.address.setText("  10.0.0.4 ")
    qtbot.keyClick(section.address, Qt.Key.Key_Return)
    section._remove(GONE)
    await finish_all()
    assert seen == [(READY, GONE), (READY, GONE, "10.0.0.4:50052"), (READY, "10.0.0.4:50052")]
    assert preferences.settings.workers == [READY, "10.0.0.4:50052"]


async def test_what_is_no_address_is_refused_with_what_to_write(
    qloop: asyncio.AbstractEventLoop, qtbot: QtBot
) -> None:
    parent = workers_section.QWidget()
    qtbot.addWidget(parent)
    section = WorkersSection(Preferences(Settings()), (), parent)
    section.address.setText("there/is nobody")
    qtbot.keyClick(section.address, Qt.Key.Key_Return)
    shown = [label.text() for label in section.findChildren(workers_section.PlainLabel)]
    assert any("192.168.1.20:50052" in text for text in shown)
    assert section.address.text() == "there/is nobody"
    assert section.workers.addresses == ()


def test_a_machine_that_computes_for_us_now_is_not_called_busy() -> None:
    assert state_text(RemoteWorker(READY, WorkerState.BUSY), is_in_use=True) == "in use now"
    assert state_text(RemoteWorker(READY, WorkerState.BUSY), is_in_use=False) == "busy with another program"
    assert state_text(None, is_in_use=False) == "connecting…"
