from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QFont
from PySide6.QtTest import QAbstractItemModelTester, QTest
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from app.inspector import comparison_panel
from app.inspector.answer_finder import AnswerSource
from app.inspector.comparison_panel import ANSWER, PASTED, ComparisonPanel
from app.inspector.comparison_view import KL, TOKEN
from app.inspector.recording import Recording
from app.protocol.comparison import Compare, Comparison
from app.protocol.report import ChatTokens
from app.protocol.request import Message, Request, Role
from tests.fakes import model_info
from tests.inspector.reports import decoding, report

PIECES = (b"He", b" is", b" \xe4\xbd", b"\xa0", b" ten.")
TOKENS = ChatTokens("sums", (1, 2, 3, 50, 51, 52, 53, 54), 3, PIECES)
READING = Request("", "", (Message(Role.USER, "How old is he?"),))
OTHER = "/models/q4.gguf"


@pytest.fixture
def panel(qtbot: QtBot) -> Iterator[ComparisonPanel]:
    recording = Recording()
    recording.start(model_info(n_seq_max=4))
    panel = ComparisonPanel(recording)
    QAbstractItemModelTester(panel.rows, QAbstractItemModelTester.FailureReportingMode.Fatal, panel)
    qtbot.addWidget(panel)
    panel.resize(640, 420)
    panel.show()
    panel.tabs = {"sums"}
    assert recording.model
    models = [("/models/a.gguf", "A", "else"), (OTHER, "Small · Q4_0", "fake")]
    panel.offer([(str(recording.model.path), "the loaded one", "fake"), *models])
    yield panel


@pytest.fixture
def asked(panel: ComparisonPanel) -> list[Compare]:
    """What the panel asks for; it shows an answer."""
    asked: list[Compare] = []
    panel.compare_requested.connect(asked.append)
    panel.show_answer(AnswerSource("sums", "Ages", "He is 你 ten.", object(), READING))
    panel.recording.append([replace(report(7, decoding(1, "sums")), answers=(TOKENS,))])
    panel.draw()
    return asked


def found(num_given: int = 0) -> Comparison:
    num_places = len(PIECES) - num_given
    kl = np.array([0.0, 0.05, 0.3, 0.0, 0.9])[num_given:]
    greedy_ids = np.array([[50, 51, 52, 53, 54], [50, 51, 9, 53, 8]])[:, num_given:]
    others = (b"He", b" is", b" she", b"\xa0", b" six.")[num_given:]
    ranks, logprobs = np.ones((2, num_places), np.int32), np.log(np.full((2, num_places), 0.5))
    ranks[1, -1], logprobs[1, -1] = 4, np.log(0.125)
    return Comparison(
        np.array(TOKENS.token_ids[3:], np.int32),
        PIECES,
        num_given,
        kl,
        logprobs,
        ranks,
        greedy_ids,
        (PIECES[num_given:], others),
        4096,
    )


def test_an_answer_is_compared_after_its_prompt(panel: ComparisonPanel, asked: list[Compare]) -> None:
    assert panel.other.label == "Small · Q4_0", "the loaded one is no second, and its family comes first"
    panel.start.click()
    model = panel.recording.model
    assert model
    (question,) = asked
    assert (question.base.path, question.other.path) == (model.path, Path(OTHER))
    assert (question.token_ids, question.first) == (TOKENS.token_ids, 3)
    assert panel.start.text() == "Stop"
    panel.note_progress(0.345)
    assert panel.note.text() == "Comparing… 35%"


def test_a_model_of_another_family_is_no_second_one_until_it_is_chosen(
    panel: ComparisonPanel, asked: list[Compare]
) -> None:
    others = [("/models/a.gguf", "A", "else"), ("/models/b.gguf", "B", "else")]
    panel.offer(others)
    assert not panel.start.isEnabled()
    panel.other._pick("/models/b.gguf")
    panel.offer([*others, (OTHER, "Small · Q4_0", "fake")])
    assert panel.start.isEnabled()
    assert panel.other.label == "B"


def test_nothing_is_cut_in_a_narrow_inspector(panel: ComparisonPanel, asked: list[Compare]) -> None:
    panel.start.click()
    panel.take(found())
    panel.resize(420, 420)
    panel.grab()
    buttons = (panel.text, panel.other, panel.reverse, panel.start, panel.next, *panel.forks)
    assert [button.text() for button in buttons if button.width() < button.sizeHint().width()] == []
    table = panel.table
    assert table.horizontalScrollBar().maximum() == 0
    for column in range(panel.rows.columnCount()):
        widest = table.fontMetrics().horizontalAdvance("<0.001%") if column > KL else 0
        assert table.isColumnHidden(column) or table.columnWidth(column) > widest
    panel.resize(640, 420)
    assert not any(table.isColumnHidden(column) for column in range(panel.rows.columnCount()))


@pytest.mark.parametrize("size", [(560, 300), (240, 180), (640, 420)])
def test_no_part_is_squeezed_or_drawn_over_another_where_it_is_low(
    panel: ComparisonPanel, asked: list[Compare], size: tuple[int, int]
) -> None:
    panel.start.click()
    panel.take(found())
    panel.resize(*size)
    panel.grab()
    words = (panel.figures, panel.note, panel.head)
    boxes = (panel.text, panel.other, panel.reverse, panel.start, panel.next, *panel.forks, panel.legend)
    parts = (*words, *boxes, panel.view, panel.table, panel.chart)
    places = [QRect(part.mapTo(panel.window(), QPoint()), part.size()) for part in parts]
    for number, place in enumerate(places):
        assert not any(map(place.intersects, places[:number])), parts[number]
    assert [part for part in words if part.height() < part.heightForWidth(part.width())] == []
    assert [part for part in boxes if part.height() < part.sizeHint().height()] == []
    assert panel.table.height() > 3 * panel.table.rowHeight(0)


def test_what_was_found_begins_where_they_part(panel: ComparisonPanel, asked: list[Compare]) -> None:
    panel.start.click()
    panel.take(found())
    assert panel.start.text() == "Compare"
    assert panel.figures.text().startswith(
        "fake → Small · Q4_0: mean KL 0.2500, 99% up to 0.88 · perplexity 2.000 → 2.639"
    )
    assert panel.figures.text().endswith("same choice at 60% · they part at token 3")
    assert panel.table.currentIndex().row() == 2
    assert panel.view.text == "He is 你 ten."
    assert panel.note.text() == "The base would choose “␣\\xe4\\xbd”, the other “␣she”."
    row = [panel.rows.text_at(4, column) for column in range(6)]
    assert row == ["␣ten.", "0.900", "50.0%", "1", "12.5%", "4"]
    panel.next.click()
    assert panel.table.currentIndex().row() == 4
    panel.next.click()
    assert panel.table.currentIndex().row() == 2, "it goes round"


def test_places_are_reached_by_keys_and_in_text_and_chart(
    panel: ComparisonPanel, asked: list[Compare]
) -> None:
    panel.start.click()
    panel.take(found())
    panel.table.setFocus()
    QTest.keyClick(panel.table, Qt.Key.Key_Down)
    assert panel.table.currentIndex().row() == 3
    panel.view.token_clicked.emit(1)
    assert panel.table.currentIndex().row() == 1
    right = QPoint(panel.chart.width() - 2, 30)
    QTest.mouseClick(panel.chart, Qt.MouseButton.LeftButton, pos=right)
    assert panel.table.currentIndex().row() == 4
    tinted = [selection.cursor.selectedText() for selection in panel.view.extraSelections()]
    assert tinted == [" is", " ", " ten.", " ten."], "half a character counts with its other half"
    panel.grab()


def test_either_model_goes_on_from_before_the_token(panel: ComparisonPanel, asked: list[Compare]) -> None:
    forks: list[tuple[object, ...]] = []
    panel.fork_at_requested.connect(lambda *fork: forks.append(fork))
    panel.reverse.click()
    panel.start.click()
    assert asked[-1].base.path == Path(OTHER)
    panel.take(found())
    assert ["Small · Q4_0" in panel.forks[0].toolTip(), "fake" in panel.forks[1].toolTip()] == [True, True]
    panel.forks[0].click()
    source, model = panel.finder.source, panel.recording.model
    assert model
    assert forks == [(source, "He is ", (50, 51, 52), OTHER)], "half a character is no text yet"
    panel.forks[1].click()
    assert forks[-1] == (source, "He is she", (50, 51, 9), str(model.path)), "with what it would choose"
    panel.take(replace(found(), control_ids=frozenset({9})))
    panel.forks[1].click()
    assert forks[-1] == (source, "He is", (50, 51), str(model.path)), "nothing goes on after an end"
    panel.take(found(num_given=1))
    panel.table.selectRow(0)
    panel.forks[1].click()
    assert forks[-1] == (source, "", (), str(model.path)), "no model was asked there"


def test_a_pasted_text_needs_no_answer_and_offers_no_fork(panel: ComparisonPanel) -> None:
    asked: list[Compare] = []
    panel.compare_requested.connect(asked.append)
    assert panel.message.isVisible()
    assert not panel.start.isEnabled()
    panel.text.choose(PASTED)
    assert panel.head.text() == "Pasted text"
    assert not panel.message.isVisible()
    panel.pasted.setPlainText("He is 你 ten.")
    panel.start.click()
    assert asked[0].text == "He is 你 ten."
    panel.take(found(num_given=1))
    assert not panel.forks[0].isVisible()
    panel.table.selectRow(0)
    assert panel.note.text().startswith("Nothing stands before this token")
    assert panel.rows.text_at(0, KL) == ""
    assert panel.rows.text_at(0, TOKEN) == "He"


def test_it_is_stopped_and_says_why_it_failed(panel: ComparisonPanel, asked: list[Compare]) -> None:
    stopped: list[None] = []
    panel.stopped.connect(lambda: stopped.append(None))
    panel.start.click()
    panel.start.click()
    assert len(stopped) == 1
    panel.note_progress(0.5)
    assert panel.start.text() == "Compare"
    panel.start.click()
    panel.refuse("Its tokens differ.")
    assert panel.note.text() == "Its tokens differ."
    assert len(asked) == 2
    panel.other._pick("/models/a.gguf")
    assert panel.note.text().startswith("Choose a second model"), "the refusal was about another one"


def test_its_title_is_of_what_is_compared_whatever_chat_is_in_front(
    panel: ComparisonPanel, asked: list[Compare]
) -> None:
    panel.start.click()
    panel.show_answer(AnswerSource("other", "Other", "It is.", object()))
    assert panel.head.text() == "Ages"
    panel.start.click()
    assert panel.head.text() == "Other", "it was stopped"
    panel.text.choose(PASTED)
    panel.pasted.setPlainText("He is ten.")
    panel.start.click()
    panel.text.choose(ANSWER)
    assert panel.head.text() == "Pasted text"


def test_it_can_be_stopped_where_the_engine_is_gone(panel: ComparisonPanel, asked: list[Compare]) -> None:
    panel.start.click()
    panel.recording.start(None)
    panel.set_engine(False)
    assert (panel.start.isVisible(), panel.start.text()) == (True, "Stop")
    assert panel.note.isVisible()


def test_what_was_found_outlives_the_engine_and_forks_and_no_other_answer(
    panel: ComparisonPanel, asked: list[Compare]
) -> None:
    panel.start.click()
    panel.take(found())
    panel.recording.start(None)
    panel.set_engine(False)
    assert panel.table.isVisible()
    assert panel.head.text() == "Ages"
    panel.recording.start(model_info(path=Path("another.gguf")))
    panel.set_engine(True)
    panel.show_answer(AnswerSource("fork", "Fork", "He is", object(), READING))
    assert panel.table.isVisible()
    panel.recording.start(model_info())
    panel.set_engine(True)
    panel.show_answer(AnswerSource("fork 2", "Fork", "He is", object(), READING))
    assert panel.table.isVisible()
    panel.show_answer(AnswerSource("other", "Other", "It is.", object()))
    assert not panel.table.isVisible()


def test_a_chat_that_is_closed_cannot_be_forked(panel: ComparisonPanel, asked: list[Compare]) -> None:
    panel.start.click()
    panel.tabs = ()
    panel.take(found())
    assert not panel.forks[0].isEnabled()


def test_a_file_dialog_that_is_cancelled_leaves_the_choice(
    panel: ComparisonPanel, asked: list[Compare], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(comparison_panel, "choose_file", lambda *_arguments: None)
    before = panel.other.value
    panel.other._pick(comparison_panel.FILE)
    assert panel.other.value == before


def test_its_title_is_bold_in_its_dock(qtbot: QtBot, qapp: QApplication) -> None:
    qapp.setStyleSheet("QLabel { color: red }")
    panel, seat = ComparisonPanel(Recording()), QWidget()
    qtbot.addWidget(seat)
    panel.setParent(seat)
    weight = panel.head.font().weight()
    qapp.setStyleSheet("")
    assert weight == QFont.Weight.DemiBold
