import pytest
from pytestqt.qtbot import QtBot

from app.protocol.report import PauseState
from app.ui.base.pause_strip import PAUSED, PauseStrip


@pytest.fixture
def strip(qtbot: QtBot) -> PauseStrip:
    strip = PauseStrip()
    qtbot.addWidget(strip)
    return strip


def test_it_is_there_only_in_a_pause_and_tells_why(strip: PauseStrip, qtbot: QtBot) -> None:
    assert not strip.isVisible()
    strip.apply(PauseState("An answer ended."))
    assert strip.isVisible()
    assert strip.text == f"{PAUSED} An answer ended."
    strip.apply(None)
    qtbot.waitUntil(lambda: not strip.isVisible())


def test_a_step_between_two_pauses_does_not_make_it_jump(strip: PauseStrip, qtbot: QtBot) -> None:
    strip.apply(PauseState(""))
    strip.apply(None)
    assert strip.isVisible()
    strip.apply(PauseState(""))
    assert not strip._leave.isActive()
    assert strip.isVisible()
