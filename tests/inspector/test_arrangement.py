"""All panels of the inspector together: who works while eight tabs stream."""

from collections import Counter
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QApplication, QMainWindow, QTextEdit
from pytestqt.qtbot import QtBot

from app.inspector.arrangement import ROWS
from app.inspector.dock_panel import DockPanel, Later
from app.inspector.docks import InspectorDocks
from tests.fakes import model_info
from tests.inspector.steps import busy_step

ALL_NAMES = {kind.NAME for _, kinds in ROWS for kind in kinds}
FRONT_NAMES = {kinds[0].NAME for _, kinds in ROWS}


class Work(QObject):
    """Counts what each panel does: how often it is drawn, and how often anything in it is painted."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        super().__init__()
        self.num_draws: Counter[str] = Counter()
        self.num_paints: Counter[str] = Counter()
        for kind in (kind.load() if isinstance(kind, Later) else kind for _, kinds in ROWS for kind in kinds):
            monkeypatch.setattr(kind, "draw", self._counted(kind))

    def _counted(self, kind: type[DockPanel]) -> object:
        draw = kind.draw

        def counted(panel: DockPanel) -> None:
            self.num_draws[panel.NAME] += 1
            draw(panel)

        return counted

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Paint:
            part: QObject | None = watched
            while part is not None and not isinstance(part, DockPanel):
                part = part.parent()
            if part is not None:
                self.num_paints[part.NAME] += 1
        return False


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch, qapp: QApplication) -> Iterator[Work]:
    work = Work(monkeypatch)
    qapp.installEventFilter(work)
    yield work
    qapp.removeEventFilter(work)


@pytest.fixture
def docks(work: Work, qtbot: QtBot) -> InspectorDocks:
    window = QMainWindow()
    qtbot.addWidget(window)
    window.setCentralWidget(QTextEdit())
    window.resize(1280, 800)
    docks = InspectorDocks(window, ROWS)
    docks.set_model(model_info())
    window.show()
    qtbot.waitExposed(window)
    return docks


def stream(docks: InspectorDocks, work: Work) -> None:
    """Eight tabs for ten pulses."""
    for _ in range(4):
        QApplication.processEvents()
    work.num_draws.clear()
    work.num_paints.clear()
    for step in range(1, 101):
        docks.append((busy_step(step, 8),))
        if step % 10 == 0:
            docks._on_pulse()
            while docks._undrawn:
                docks._draw_next()
            QApplication.processEvents()
    assert docks.recording.num_seen == 100


def test_of_the_usual_docks_only_those_in_front_work(docks: InspectorDocks, work: Work) -> None:
    stream(docks, work)
    assert work.num_draws.keys() == work.num_paints.keys() == FRONT_NAMES
    assert max(work.num_draws.values()) < 20


def test_a_closed_inspector_does_nothing(docks: InspectorDocks, work: Work) -> None:
    docks.set_shown(False)
    stream(docks, work)
    assert (work.num_draws, work.num_paints) == ({}, {})


def test_torn_off_every_panel_is_drawn_as_often_as_the_others(docks: InspectorDocks, work: Work) -> None:
    for name in ALL_NAMES:
        docks.dock(name).setFloating(True)
    stream(docks, work)
    assert work.num_draws.keys() == ALL_NAMES
    assert max(work.num_draws.values()) - min(work.num_draws.values()) <= 1


def test_a_panel_that_is_made_later_is_the_one_that_is_named() -> None:
    for later in (kind for _, kinds in ROWS for kind in kinds if isinstance(kind, Later)):
        assert (later.NAME, later.TITLE) == (later.load().NAME, later.load().TITLE)
