import pytest
from pytestqt.qtbot import QtBot

from app.look.strip import Offer, Strip, StripLook


@pytest.fixture
def strip(qtbot: QtBot) -> Strip:
    strip = Strip(StripLook((0, 0, 0, 0), can_be_dismissed=True))
    qtbot.addWidget(strip)
    return strip


def test_what_is_said_again_before_it_would_go_does_not_make_it_jump(strip: Strip, qtbot: QtBot) -> None:
    strip.say("Paused.")
    strip.clear(20)
    strip.say("Paused.")
    qtbot.wait(40)
    assert strip.isVisible()
    strip.clear(20)
    assert strip.isVisible()
    qtbot.waitUntil(strip.isHidden)


def test_what_lasts_goes_by_itself(strip: Strip, qtbot: QtBot) -> None:
    strip.say("Removed.", lasts_ms=20)
    qtbot.waitUntil(strip.isHidden)
    assert strip.text == ""


def test_an_offer_is_taken_after_its_strip_has_gone_unless_that_can_be_left(strip: Strip) -> None:
    seen: list[bool] = []
    strip.say("Queued.", Offer("Send now", lambda: seen.append(strip.isVisible())))
    strip.buttons[0].click()
    strip.say("Paused.", Offer("Step", lambda: seen.append(strip.isVisible()), can_be_left=True))
    strip.buttons[0].click()
    assert seen == [False, True]


def test_a_tip_that_was_corrected_stays(strip: Strip) -> None:
    step = Offer("Step", lambda: None, tip="Run one step (F10)", command="engine.step")
    strip.say("Paused.", step)
    strip.buttons[0].setToolTip("Run one step (F8)")
    strip.say("Paused again.", step)
    assert strip.buttons[0].toolTip() == "Run one step (F8)"


def test_problems_stand_below_each_other_and_an_offer_does_not_stay_among_them(strip: Strip) -> None:
    strip.say("Removed.", Offer("Undo", lambda: None))
    for number in range(6):
        strip.add_problem(f"Problem {number}.")
    assert strip.text.splitlines() == [f"Problem {number}." for number in range(2, 6)]
    strip.cross.click()
    assert strip.isHidden()
