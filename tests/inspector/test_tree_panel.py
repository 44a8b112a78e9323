from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PySide6.QtCore import Qt
from PySide6.QtTest import QAbstractItemModelTester
from pytestqt.qtbot import QtBot

from app.chats.branches import branches_of
from app.chats.chat import Chat, Turn
from app.inspector.recording import Recording
from app.inspector.tree_panel import AROUND, Parting, TreePanel, around_parting, part, pieces_of, words_of
from app.inspector.tree_table import HELD, MESSAGE, TOKENS
from app.protocol.commands import Tokenize, WatchCells
from app.protocol.output import Usage
from app.protocol.report import TokenizedText, TokenTexts
from app.protocol.request import Role
from tests.fakes import model_info
from tests.inspector.cell_maps import cell_map, report_with


def chat_with_two_answers() -> Chat:
    usage = Usage(num_prompt_tokens=4, num_generated_tokens=3)
    question = Turn(Role.USER, "Which city?")
    chat = Chat(turns=[question, Turn(Role.ASSISTANT, "It is Paris.", usage=usage)])
    chat.put_aside(1)
    chat.add(Turn(Role.ASSISTANT, "It is Lyon.", usage=usage))
    return chat


@pytest.fixture
def panel(qtbot: QtBot) -> Iterator[TreePanel]:
    recording = Recording()
    recording.start(model_info(n_seq_max=4))
    panel = TreePanel(recording)
    qtbot.addWidget(panel)
    panel.resize(600, 420)
    panel.show()
    yield panel


def texts(panel: TreePanel, column: int) -> list[str]:
    return [panel.rows.text_at(row, column) for row in range(panel.rows.rowCount())]


def test_each_turn_is_a_row_with_the_sequences_that_hold_it(panel: TreePanel) -> None:
    QAbstractItemModelTester(panel.rows, QAbstractItemModelTester.FailureReportingMode.Fatal, panel)
    chat = chat_with_two_answers()
    panel.last_turn_in = lambda slot: chat.turns[-1] if slot.seq_id == 0 else None
    panel.recording.append([report_with(cell_map([(0, 2)] * 4 + [(0,)] * 3))])
    panel.show_chat("Cities", branches_of(chat))
    assert texts(panel, MESSAGE) == ["You: Which city?", "It is Paris.", "It is Lyon."]
    assert texts(panel, HELD) == ["seq 0, 2", "", "seq 0"]
    assert texts(panel, TOKENS) == ["4", "3", "3"]
    assert panel.figures.text() == "3 messages · 2 branches · 1 chat"
    panel.grab()


def test_of_an_answer_the_words_are_shown(panel: TreePanel) -> None:
    chat = Chat(
        turns=[Turn(Role.USER, "**As** typed"), Turn(Role.ASSISTANT, "<think>hm</think>\n\n## **Yes**")]
    )
    panel.show_chat("Marks", branches_of(chat))
    assert texts(panel, MESSAGE) == ["You: **As** typed", "Yes"]


def test_a_click_goes_there(panel: TreePanel, qtbot: QtBot) -> None:
    chat = chat_with_two_answers()
    panel.show_chat("Cities", branches_of(chat))
    place = panel.table.visualRect(panel.rows.index(1, MESSAGE)).center()
    click = partial(qtbot.mouseClick, panel.table.viewport(), Qt.MouseButton.LeftButton, pos=place)
    with qtbot.assertNotEmitted(panel.turn_activated):
        click(Qt.KeyboardModifier.ControlModifier)
    with qtbot.waitSignal(panel.turn_activated) as activated:
        click()
    assert activated.args[0] == chat.id
    assert activated.args[1].text == "It is Paris."


def test_two_chosen_messages_are_compared_by_their_tokens(panel: TreePanel, qtbot: QtBot) -> None:
    panel.show_chat("Cities", branches_of(chat_with_two_answers()))
    wanted: list[Tokenize] = []
    panel.commanded.connect(wanted.append)
    panel._choose([panel.rows.branches[row].turn for row in (1, 2)])
    assert panel.parting.isVisible()
    spelled = {
        "It is Paris.": (b"It", b" is", b" Par", b"is."),
        "It is Lyon.": (b"It", b" is", b" Ly", b"on."),
    }
    for _ in spelled:
        panel.draw()
        text = wanted[-1].text
        tokens = TokenTexts(tuple(range(len(spelled[text]))), spelled[text])
        newest = report_with(cell_map([]))
        panel.recording.append([replace(newest, answers=(TokenizedText(text, tokens),))])
    panel.draw()
    assert panel.parting.head.text() == "The same for 5 characters, then “␣Par” and “␣Ly”."
    assert not panel.answers.isEnabled(), "they are asked for at one message"


def test_cells_are_mapped_only_while_it_is_seen(panel: TreePanel, qtbot: QtBot) -> None:
    with qtbot.waitSignal(panel.commanded) as commanded:
        panel.hide()
    assert commanded.args[0] == WatchCells(False)


def test_two_texts_part_at_the_first_token_that_differs() -> None:
    one, other = words_of("The capital is Paris."), words_of("The capital is Lyon, of course.")
    assert part(one, other) == Parting(3, len("The capital is"), " Paris.", " Lyon,")
    assert part(one, one[:2]) == Parting(2, len("The capital"), " is", None)
    assert part(one, one).is_same


def test_tokens_of_half_a_character_are_one_piece() -> None:
    assert pieces_of("a€b", [b"a", b"\xe2\x82", b"\xac", b"b"]) == ["a", "€", "b"]
    assert pieces_of("a b", [b"c"]) == ["a", " b"], "those of another text"


@settings(max_examples=30)
@given(st.text(), st.text(), st.text())
def test_what_is_cut_away_is_the_same_in_both(common: str, one: str, other: str) -> None:
    begin, mine, its = around_parting(common + one, common + other)
    assert (common + one)[:begin] == (common + other)[:begin]
    assert len(mine) <= len(common + one)
    place = part(common + one, common + other).num_common
    assert begin <= place
    assert mine == (common + one)[begin : place + AROUND]
    assert its == (common + other)[begin : place + AROUND]
