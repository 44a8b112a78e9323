from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.ui.engine.status_bar import StatusBar
from tests.fakes import model_info
from tests.inspector.reports import decoding, report


@pytest.fixture
def bar(qtbot: QtBot) -> Iterator[StatusBar]:
    bar = StatusBar()
    qtbot.addWidget(bar)
    bar.set_model(model_info(n_ctx=4096))
    bar.show()
    yield bar


@pytest.mark.parametrize("part", ["model", "cells", "queue", "speed"])
def test_each_part_opens_what_tells_more_by_mouse_and_by_key(bar: StatusBar, qtbot: QtBot, part: str) -> None:
    button, clicked = getattr(bar, part), getattr(bar, f"{part}_clicked")
    with qtbot.waitSignal(clicked):
        qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    with qtbot.waitSignal(clicked):
        qtbot.keyClick(button, Qt.Key.Key_Space)
    assert button.focusPolicy() & Qt.FocusPolicy.TabFocus
    assert button.toolTip()


def test_parts_never_shrink(bar: StatusBar) -> None:
    bar.apply(report(1, decoding(0, "sums", 4000)))
    wide = bar.cells.minimumWidth()
    bar.apply(report(2, decoding(0, "sums", 4)))
    assert bar.cells.minimumWidth() == wide


def test_a_name_is_no_mnemonic_and_no_markup(bar: StatusBar) -> None:
    bar.set_model(model_info(name="Salt & <b>Pepper</b>"))
    assert bar.model.text() == "Salt && <b>Pepper</b>"
