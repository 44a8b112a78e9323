import pytest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from app.chats.chat import Turn, TurnState
from app.protocol.output import Usage
from app.protocol.request import Role
from app.ui.transcript.turn_actions import (
    MAX_EDITED_CHARS,
    Place,
    TurnAction,
    TurnButtons,
    TurnMenu,
    VersionSwitch,
    is_possible,
    offered,
    why_impossible,
)

QUESTION = Turn(Role.USER, "Count")
ANSWER = Turn(Role.ASSISTANT, "1, 2", usage=Usage(num_prompt_tokens=4, num_generated_tokens=2))
STREAMING = Turn(Role.ASSISTANT, "1, 2", TurnState.STREAMING)
LAST = Place((ANSWER,), is_last=True)


@pytest.fixture
def ground(qtbot: QtBot) -> QWidget:
    ground = QWidget()
    qtbot.addWidget(ground)
    return ground


def test_a_message_can_be_changed_but_not_asked_again_by_itself() -> None:
    actions = offered(QUESTION, Place((QUESTION,)))
    assert actions == {
        TurnAction.COPY,
        TurnAction.EDIT,
        TurnAction.FORK,
        TurnAction.SELECT,
        TurnAction.DELETE,
    }


def test_a_message_that_stands_last_can_be_answered() -> None:
    assert {TurnAction.ANSWER, TurnAction.WAYS} <= offered(QUESTION, Place((QUESTION,), is_last=True))
    assert TurnAction.ANSWER not in offered(QUESTION, Place((QUESTION,), is_last=True, is_busy=True))


def test_an_answer_can_be_asked_for_again_and_the_last_one_in_several_ways() -> None:
    assert TurnAction.REGENERATE in offered(ANSWER, Place((ANSWER,)))
    assert TurnAction.WAYS not in offered(ANSWER, Place((ANSWER,)))
    assert {TurnAction.WAYS, TurnAction.CONTINUE} <= offered(ANSWER, LAST)


def test_versions_are_compared_where_there_are_several() -> None:
    assert TurnAction.COMPARE not in offered(ANSWER, LAST)
    assert TurnAction.COMPARE in offered(ANSWER, Place((ANSWER, STREAMING), is_last=True))


def test_what_is_being_written_can_only_be_read() -> None:
    actions = offered(STREAMING, Place((STREAMING,), is_last=True, is_busy=True))
    assert actions == {
        TurnAction.SELECT,
        TurnAction.COPY,
        TurnAction.COPY_PLAIN,
        TurnAction.TOKENS,
        TurnAction.LENS,
    }


def test_an_answer_without_a_word_can_only_be_asked_for_again_or_deleted() -> None:
    failed = Turn(Role.ASSISTANT, "", TurnState.FAILED)
    assert offered(failed, Place((failed,))) == {
        TurnAction.REGENERATE,
        TurnAction.DELETE,
        TurnAction.SELECT,
    }


def test_a_book_is_not_edited_in_its_place() -> None:
    assert TurnAction.EDIT not in offered(Turn(Role.USER, "x" * (MAX_EDITED_CHARS + 1)), Place())


@pytest.mark.parametrize("action", list(TurnAction))
def test_while_an_answer_is_written_nothing_changes_what_it_rests_on(action: TurnAction) -> None:
    changes = {
        TurnAction.EDIT,
        TurnAction.ANSWER,
        TurnAction.REGENERATE,
        TurnAction.WAYS,
        TurnAction.CONTINUE,
        TurnAction.DELETE,
        TurnAction.COMPARE,
    }
    assert is_possible(action, Place(is_busy=False))
    assert is_possible(action, Place(is_busy=True)) == (action not in changes)


def test_the_menu_has_all_that_is_offered(ground: QWidget, qtbot: QtBot) -> None:
    menu = TurnMenu(ANSWER, LAST, ground)
    texts = [entry.text().replace("&", "") for entry in menu.actions() if not entry.isSeparator()]
    assert len(texts) == len(offered(ANSWER, LAST))
    entry = next(entry for entry in menu.actions() if entry.text() == "&Regenerate")
    with qtbot.waitSignal(menu.chosen) as chosen:
        entry.trigger()
    assert chosen.args == [TurnAction.REGENERATE]


def test_the_menu_asks_how_many_answers_there_shall_be(ground: QWidget, qtbot: QtBot) -> None:
    menu = TurnMenu(ANSWER, LAST, ground)
    ways = next(entry.menu() for entry in menu.actions() if entry.menu())
    assert [entry.text() for entry in ways.actions()] == [
        "2 answers",
        "3 answers",
        "4 answers",
        "",
        "Other models or settings…",
    ]
    with qtbot.waitSignal(menu.ways_chosen) as chosen:
        ways.actions()[1].trigger()
    assert chosen.args == [3]


def test_buttons_that_cannot_work_now_stay_where_they_are(ground: QWidget) -> None:
    buttons = TurnButtons(Role.ASSISTANT, lambda: "", ground)
    buttons.apply(ANSWER, LAST)
    width = buttons.width()
    buttons.apply(ANSWER, Place((ANSWER,), is_last=True, is_busy=True))
    assert buttons.width() == width
    assert not buttons.button(TurnAction.REGENERATE).isEnabled()
    assert buttons.button(TurnAction.COPY).isEnabled()


def test_the_switch_stops_at_the_first_and_the_last_version(ground: QWidget) -> None:
    switch = VersionSwitch(ground)
    versions = (ANSWER, QUESTION, STREAMING)
    states = []
    for turn in versions:
        switch.apply(turn, Place(versions))
        states.append((switch.text, switch.previous.isEnabled(), switch.next.isEnabled()))
    assert states == [("1/3", False, True), ("2/3", True, True), ("3/3", True, False)]
    assert switch.accessibleName() == "Version 3 of 3"


def test_versions_are_not_switched_under_an_answer_that_is_being_written(ground: QWidget) -> None:
    switch = VersionSwitch(ground)
    switch.apply(QUESTION, Place((ANSWER, QUESTION, STREAMING), is_busy=True))
    assert not switch.previous.isEnabled()
    assert not switch.next.isEnabled()


def test_an_answer_that_follows_nothing_cannot_be_asked_for_again_and_says_why(ground) -> None:
    alone = Place((ANSWER,), is_last=True, has_messages=False)
    for action in (TurnAction.REGENERATE, TurnAction.WAYS, TurnAction.CONTINUE):
        assert action in offered(ANSWER, alone)
        assert not is_possible(action, alone)
        assert "There is no message before this answer" in why_impossible(action, alone)
    assert is_possible(TurnAction.DELETE, alone)
    assert why_impossible(TurnAction.DELETE, alone) == ""

    buttons = TurnButtons(Role.ASSISTANT, str, ground)
    buttons.apply(ANSWER, LAST)
    again = buttons.button(TurnAction.REGENERATE)
    assert (again.isEnabled(), again.toolTip()) == (True, "Regenerate")
    buttons.apply(ANSWER, alone)
    assert (again.isEnabled(), again.toolTip()) == (False, why_impossible(TurnAction.REGENERATE, alone))
    menu = TurnMenu(ANSWER, alone, ground)
    (entry,) = [entry for entry in menu.actions() if "Regenerate" in entry.text().replace("&", "")]
    assert (entry.isEnabled(), entry.toolTip()) == (False, again.toolTip())
    menu.close()
