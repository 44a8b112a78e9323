from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtTest import QAbstractItemModelTester
from pytestqt.qtbot import QtBot

from app.inspector.answer_finder import AnswerSource
from app.inspector.lens_panel import LensPanel
from app.inspector.lens_view import DROPPED, PASSAGE, READ
from app.inspector.recording import Recording
from app.protocol.commands import DescribeTokens, TokensOf
from app.protocol.lens import Attention, LeaveOut, LensRefusal, ReadAttention, Scores, StopLens
from app.protocol.report import ChatTokens, TokenTexts
from app.protocol.request import Message, Request, Role
from tests.fakes import model_info
from tests.inspector.reports import decoding, report

WORDS = [b"<s>", b"Ann is ", b"six.\n", b"Bob is ", b"ten.", b"</s>", b"How old", b" is Bob?", b"<a>"]
ANSWER = [b"He is", b" ten.", b" Yes."]
TOKENS = tuple(range(50, 50 + len(WORDS) + len(ANSWER)))
PART = (9, 11)  # the first sentence


@pytest.fixture
def panel(qtbot: QtBot) -> Iterator[LensPanel]:
    recording = Recording()
    recording.start(model_info(n_seq_max=4))
    panel = LensPanel(recording)
    qtbot.addWidget(panel)
    panel.resize(640, 420)
    panel.show()
    yield panel


@pytest.fixture
def commands(panel: LensPanel) -> list[object]:
    """What the panel asks the engine; the answer that it shows has two sentences."""
    QAbstractItemModelTester(panel.rows, QAbstractItemModelTester.FailureReportingMode.Fatal, panel)
    commands: list[object] = []
    panel.commanded.connect(commands.append)
    messages = (Message(Role.SYSTEM, "Ann is six.\nBob is ten."), Message(Role.USER, "How old is Bob?"))
    reading = Request("r", "reading", messages)
    panel.show_answer(AnswerSource("sums", "Ages", "He is ten. Yes.", object(), reading))
    assert commands == [TokensOf("sums")]
    say(panel, ChatTokens("sums", TOKENS, len(WORDS), tuple(ANSWER)))
    asked = next(one for one in commands if isinstance(one, DescribeTokens))
    texts = dict(zip(TOKENS, WORDS + ANSWER, strict=True))
    say(panel, TokenTexts(asked.token_ids, tuple(texts[token_id] for token_id in asked.token_ids)))
    return commands


def say(panel: LensPanel, *answers: object) -> None:
    panel.recording.append([replace(report(7, decoding(1, "sums")), answers=answers)])
    panel.draw()


def texts(panel: LensPanel, column: int) -> list[str]:
    return [panel.rows.text_at(row, column) for row in range(panel.rows.rowCount())]


def looked(panel: LensPanel, commands: list[object]) -> None:
    question = next(one for one in reversed(commands) if isinstance(one, ReadAttention))
    weights = np.zeros((2, 1, PART[1]), np.float32)
    weights[:, :, 0], weights[0, :, 3], weights[1, :, 1] = 0.5, 0.5, 0.5
    say(panel, Attention(question.query_id, weights, (0, 4), 0.25, 3))


def test_it_asks_for_the_first_sentence_and_sums_by_message_and_passage(
    panel: LensPanel, commands: list[object]
) -> None:
    question = commands[-1]
    assert isinstance(question, ReadAttention)
    assert (question.chat_id, question.token_ids, question.part) == ("sums", TOKENS, PART)
    looked(panel, commands)
    assert texts(panel, PASSAGE) == [
        "System prompt: Ann is six. Bob is ten.",
        "Ann is six.",
        "Bob is ten.",
        "You: How old is Bob?",
    ]
    assert texts(panel, READ) == ["100.0%", "50.0%", "50.0%", "0.0%"]
    panel.layer.choose(0)
    assert texts(panel, READ) == ["100.0%", "0.0%", "100.0%", "0.0%"]
    panel.sinks.setChecked(False)
    assert texts(panel, READ) == ["50.0%", "0.0%", "50.0%", "0.0%"], "half of it went to the first token"
    assert panel.figures.text() == "0.2 s, 3 tokens computed"
    panel.grab()


def test_another_sentence_is_looked_at_by_a_click_on_it(panel: LensPanel, commands: list[object]) -> None:
    looked(panel, commands)
    panel.heat.token_clicked.emit(11)
    question = commands[-1]
    assert isinstance(question, ReadAttention)
    assert question.part == (11, 12)
    panel.heat.token_clicked.emit(4)
    assert panel.table.currentIndex().row() == 2, "a passage is chosen"


def test_what_is_left_out_shows_what_counts(panel: LensPanel, commands: list[object]) -> None:
    looked(panel, commands)
    panel.drop.click()
    question = commands[-1]
    assert isinstance(question, LeaveOut)
    assert question.spans == ((1, 5), (1, 3), (3, 5), (6, 8))
    likely = {None: -1.0, (6, 8): -2.0, (3, 5): -5.0, (1, 3): -0.5, (1, 5): -5.5}
    for number, (span, logprob) in enumerate(likely.items()):
        say(panel, Scores(question.query_id, span, (logprob,), 0.5, is_last=number == len(likely) - 1))
    assert texts(panel, DROPPED) == ["−4.50", "+0.50", "−4.00", "−1.00"]
    assert panel.note.text().startswith("Matters most: “Bob is ten.”. Without it")
    assert panel.drop.text() == "Drop and ask again"


def test_a_second_click_stops_it(panel: LensPanel, commands: list[object]) -> None:
    looked(panel, commands)
    panel.drop.click()
    question = commands[-1]
    assert isinstance(question, LeaveOut)
    panel.drop.click()
    assert commands[-1] == StopLens(question.query_id)


def test_a_model_that_cannot_be_read_says_why(panel: LensPanel, commands: list[object]) -> None:
    question = commands[-1]
    assert isinstance(question, ReadAttention)
    say(panel, LensRefusal(question.query_id, "This model has no attention."))
    assert panel.note.text() == "This model has no attention."


def test_it_begins_with_the_sentence_that_was_pointed_at(panel: LensPanel, commands: list[object]) -> None:
    source = panel.finder.source
    assert source
    panel.show_answer(source, "Yes.")
    question = commands[-1]
    assert isinstance(question, ReadAttention)
    assert question.part == (11, 12)
