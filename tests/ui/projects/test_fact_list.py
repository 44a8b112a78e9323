"""Rows of facts, by keyboard and by mouse."""

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QLineEdit
from pytestqt.qtbot import QtBot

from app.chats.project import Fact
from app.ui.projects.fact_list import FactList, source_text

Key = Qt.Key
DAY = 1_764_500_000.0
FACTS = (
    Fact("The boat is 9 m long.", "length", created_at=DAY),
    Fact("Ann steers.", "ann", is_on=False, chat_id="sums", turn_id="turn", created_at=DAY),
    Fact("Bob cooks.", "bob", chat_id="gone", created_at=DAY),
)
TITLES = {"sums": "Sums"}


@pytest.fixture
def facts(qtbot: QtBot) -> Iterator[FactList]:
    facts = FactList("Facts", None, has_switches=True)  # type: ignore[arg-type]
    qtbot.addWidget(facts)
    facts.resize(400, 300)
    facts.apply(FACTS, TITLES.get)
    facts.show()
    qtbot.waitExposed(facts)
    facts.activateWindow()
    facts.setFocus()
    yield facts
    facts.hide()


def test_a_fact_says_where_it_comes_from_and_when(facts: FactList) -> None:
    assert source_text(FACTS[0], None) == "11/30/25"
    assert source_text(FACTS[1], "Sums") == "From “Sums” · 11/30/25"
    assert source_text(FACTS[2], None) == "From a deleted chat · 11/30/25"
    spoken = facts.model().index(1, 0).data(Qt.ItemDataRole.AccessibleTextRole)
    assert spoken == "Ann steers., off, From “Sums” · 11/30/25"


def test_space_switches_and_delete_deletes(facts: FactList, qtbot: QtBot) -> None:
    heard: list[tuple[str, Fact]] = []
    facts.switched.connect(lambda fact: heard.append(("switched", fact)))
    facts.deleted.connect(lambda fact: heard.append(("deleted", fact)))
    qtbot.keyClick(facts, Key.Key_Space)
    qtbot.keyClick(facts, Key.Key_Down)
    qtbot.keyClick(facts, Key.Key_Delete)
    assert heard == [("switched", FACTS[0]), ("deleted", FACTS[1])]


def test_enter_edits_in_place_and_escape_leaves_it_as_it_was(facts: FactList, qtbot: QtBot) -> None:
    heard: list[tuple[Fact, str]] = []
    facts.edited.connect(lambda fact, text: heard.append((fact, text)))
    qtbot.keyClick(facts, Key.Key_Return)
    edit = QApplication.focusWidget()
    assert isinstance(edit, QLineEdit)
    qtbot.keyClicks(edit, "It has one mast.")
    qtbot.keyClick(edit, Key.Key_Return)
    qtbot.waitUntil(facts.hasFocus)
    assert heard == [(FACTS[0], "It has one mast.")]
    qtbot.keyClick(facts, Key.Key_F2)
    edit = QApplication.focusWidget()
    qtbot.keyClicks(edit, "Nonsense")
    qtbot.keyClick(edit, Key.Key_Escape)
    qtbot.waitUntil(facts.hasFocus)
    assert len(heard) == 1


def test_the_keyboard_stays_where_it_is_when_facts_come_and_go(facts: FactList) -> None:
    facts.choose(1)
    facts.apply((Fact("New"), *FACTS), TITLES.get)
    assert facts.chosen is FACTS[1]
    facts.apply((FACTS[0], FACTS[2]), TITLES.get)
    assert facts.chosen is FACTS[2], "the one that took its place"
    facts.apply(FACTS[:1], TITLES.get)
    assert facts.chosen is FACTS[0]
    facts.apply((), TITLES.get)
    assert facts.chosen is None


def test_a_click_switches_or_opens_the_chat(facts: FactList, qtbot: QtBot) -> None:
    delegate, viewport, left = facts._delegate, facts.viewport(), Qt.MouseButton.LeftButton
    rects = [facts.visualRect(facts.model().index(row, 0)) for row in range(3)]
    switched: list[Fact] = []
    opened: list[Fact] = []
    facts.switched.connect(switched.append)
    facts.source_opened.connect(opened.append)
    qtbot.mouseClick(viewport, left, pos=delegate.switch_rect(rects[1]).center())
    for rect in rects:
        qtbot.mouseClick(viewport, left, pos=delegate.source_rect(rect).center())
        qtbot.mouseClick(viewport, left, pos=delegate.text_rect(rect).topLeft())
    assert switched == [FACTS[1]]
    assert opened == [FACTS[1]], "the other chat is gone, and the first was written by hand"


def test_long_facts_are_shown_whole(facts: FactList) -> None:
    before = facts.visualRect(facts.model().index(0, 0)).height()
    facts.apply((Fact("long " * 90),), TITLES.get)
    assert facts.visualRect(facts.model().index(0, 0)).height() > 3 * before
