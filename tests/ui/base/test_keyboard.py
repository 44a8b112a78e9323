from collections.abc import Iterator

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication, QHBoxLayout, QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from app.ui.base.keyboard import Panes, keeps_escape


@pytest.fixture
def fields(qtbot: QtBot) -> Iterator[list[QLineEdit]]:
    window = QWidget()
    qtbot.addWidget(window)
    row = QHBoxLayout(window)
    fields = [QLineEdit(window) for _ in range(3)]
    for field in fields:
        row.addWidget(field)
    window.show()
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    fields[0].setFocus()
    yield fields


def walk(panes: Panes, fields: list[QLineEdit], *steps: int) -> list[int]:
    seen = []
    for step in steps:
        panes.cycle(step)
        focused = QApplication.focusWidget()
        seen.append(next(index for index, field in enumerate(fields) if field is focused))
    return seen


def test_it_goes_round_both_ways(fields) -> None:
    assert walk(Panes(lambda: fields), fields, 1, 1, 1, -1, -1) == [1, 2, 0, 2, 1]


def test_what_cannot_be_seen_is_passed_over(fields) -> None:
    fields[1].hide()
    assert walk(Panes(lambda: fields), fields, 1, 1, -1) == [2, 0, 2]


def test_from_nowhere_it_begins_at_an_end(fields) -> None:
    panes = Panes(lambda: fields[1:])
    assert walk(panes, fields, 1) == [1]
    fields[0].setFocus()
    assert walk(panes, fields, -1) == [2]


def test_without_panes_the_keyboard_stays_where_it_is(fields) -> None:
    fields[1].setFocus()
    Panes(list).cycle(1)
    assert fields[1].hasFocus()


@pytest.mark.parametrize(
    ("kind", "key", "is_kept"),
    [
        (QEvent.Type.ShortcutOverride, Qt.Key.Key_Escape, True),
        (QEvent.Type.ShortcutOverride, Qt.Key.Key_A, False),
        (QEvent.Type.KeyPress, Qt.Key.Key_Escape, False),
    ],
)
def test_only_escape_is_kept_from_the_commands(kind: QEvent.Type, key: Qt.Key, is_kept: bool) -> None:
    event = QKeyEvent(kind, key, Qt.KeyboardModifier.NoModifier)
    event.ignore()
    assert keeps_escape(event) is is_kept
    assert event.isAccepted() is is_kept
