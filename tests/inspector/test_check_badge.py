from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from app.inspector.check_badge import CheckBadge, check_text
from app.protocol.report import CellCheck

AGREES = CellCheck(1204, 2823)
DIFFERS = CellCheck(1300, 2823, "the library has 2823, among them [(3, (1,))] that our books do not have")


def test_it_says_when_the_library_was_asked_and_that_it_agreed() -> None:
    assert check_text(AGREES, None) == "Agrees with llama.cpp: 2,823 cells, step 1,204"
    assert check_text(None, None) == "Not yet compared with llama.cpp"
    assert "cannot be listed" in check_text(CellCheck(3, 0, can_compare=False), None)


def test_a_disagreement_stays_whatever_later_checks_say() -> None:
    assert check_text(AGREES, DIFFERS) == "Disagreed with llama.cpp at step 1,300"


def test_the_evidence_of_a_disagreement_can_be_copied(qtbot: QtBot) -> None:
    frame = QWidget()
    qtbot.addWidget(frame)
    badge = CheckBadge(frame)
    frame.show()
    badge.apply(AGREES, None)
    assert not badge.copy.isVisible()
    badge.apply(DIFFERS, DIFFERS)
    assert badge.copy.isVisible()
    badge.copy.click()
    assert QGuiApplication.clipboard().text() == f"step 1300: 2823 cells compared, {DIFFERS.difference}"


def test_the_library_can_be_asked_now_but_not_about_a_recording(qtbot: QtBot) -> None:
    frame = QWidget()
    qtbot.addWidget(frame)
    badge = CheckBadge(frame)
    with qtbot.waitSignal(badge.check_requested):
        badge.check.click()
    badge.set_live(False)
    with qtbot.assertNotEmitted(badge.check_requested):
        badge.check.click()
