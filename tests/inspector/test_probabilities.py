import math
from collections.abc import Iterator
from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QAbstractItemModelTester, QTest
from pytestqt.qtbot import QtBot

from app.inspector.answer_finder import AnswerSource, chance
from app.inspector.answer_tables import (
    AFTER,
    ANSWER_COLUMNS,
    BEFORE,
    CANDIDATE_COLUMNS,
    LAYER_COLUMNS,
    RULED_OUT,
    TOKEN,
)
from app.inspector.probabilities import COMPUTING, PAUSED, ProbabilitiesPanel
from app.inspector.recording import Recording
from app.look.table import PADDING
from app.protocol.lens import LayerWord, LayerWords, ReadLayers
from app.protocol.output import FinishReason, Output, SampledToken, TokenLogprob, Usage
from app.protocol.report import ChatTokens, PauseState, TokenTexts
from app.protocol.request import Request
from tests.fakes import model_info
from tests.inspector.reports import decoding, report

TOKENS = ChatTokens("sums", (7, 8, 9, 53, 2, 54), 3, (b"5", b"", b"5"))
SOURCE = AnswerSource("sums", "Sums", "55", turn=object())
LIKELIEST = (
    TokenLogprob(53, b"5", math.log(0.9), 0.98),
    TokenLogprob(54, b" 6", math.log(0.05), 0.02),
    TokenLogprob(2, b"<|im_end|>", math.log(0.01), 0.0, is_control=True),
)


@pytest.fixture
def panel(qtbot: QtBot) -> Iterator[ProbabilitiesPanel]:
    recording = Recording()
    recording.start(model_info(n_ctx=4096))
    panel = ProbabilitiesPanel(recording)
    qtbot.addWidget(panel)
    QAbstractItemModelTester(panel.tokens, QAbstractItemModelTester.FailureReportingMode.Fatal, panel)
    QAbstractItemModelTester(panel.candidates, QAbstractItemModelTester.FailureReportingMode.Fatal, panel)
    panel.resize(700, 400)
    panel.show()
    yield panel


@pytest.fixture
def requests(panel: ProbabilitiesPanel) -> list[Request]:
    requests: list[Request] = []
    panel.requested.connect(requests.append)
    return requests


def hear(panel: ProbabilitiesPanel, **changes: object) -> None:
    panel.recording.append((replace(report(1, decoding(0, "sums")), **changes),))  # type: ignore[arg-type]
    panel.draw()


def show_answer(panel: ProbabilitiesPanel, source: AnswerSource = SOURCE) -> None:
    panel.show_answer(source)
    hear(panel, answers=(TOKENS,))


def tell(panel: ProbabilitiesPanel, request: Request) -> None:
    """The engine answers a question."""
    sampled = SampledToken(LIKELIEST[0], LIKELIEST)
    usage = Usage(num_computed_tokens=1, num_shared_tokens=4)
    output = Output(request.request_id, request.chat_id, "5", FinishReason.LENGTH, "", usage, (sampled,))
    hear(panel, outputs=(output,))


def look_at(panel: ProbabilitiesPanel, place: int, requests: list[Request], qtbot: QtBot) -> None:
    num_before = len(requests)
    panel.token_table.selectRow(place)
    qtbot.waitUntil(lambda: len(requests) > num_before)
    tell(panel, requests[-1])


def candidate(panel: ProbabilitiesPanel, row: int) -> list[str]:
    return [panel.candidates.index(row, column).data() for column in range(panel.candidates.columnCount())]


def test_the_answers_tokens_are_listed_and_the_first_is_looked_up(
    panel: ProbabilitiesPanel, requests: list[Request], qtbot: QtBot
) -> None:
    show_answer(panel)
    hear(panel, answers=(TokenTexts((2,), (b"<|im_end|>",)),))
    rows = [[panel.tokens.index(row, column).data() for column in range(3)] for row in range(4)]
    assert rows == [["3", "5", "53"], ["4", "<|im_end|>", "2"], ["5", "5", "54"], ["6", "(next)", ""]]
    assert panel.status.text() == COMPUTING
    qtbot.waitUntil(lambda: bool(requests))
    tell(panel, requests[0])
    assert panel.tokens.index(0, 3).data() == "98.0%"


def test_candidates_have_rank_text_id_and_the_probability_before_and_after(
    panel: ProbabilitiesPanel, requests: list[Request], qtbot: QtBot
) -> None:
    show_answer(panel)
    look_at(panel, 2, requests, qtbot)
    assert candidate(panel, 0) == ["1", "5", "53", "90.0%", "98.0%"]
    assert candidate(panel, 1) == ["2", "␣6", "54", "5.0%", "2.0%"]
    assert candidate(panel, 2)[BEFORE:] == ["1.0%", RULED_OUT]
    assert panel.candidates.chosen_row == 1  # token 54 stands there
    assert panel.candidate_table.currentIndex().row() == 1
    name = panel.candidates.index(1, TOKEN).data(Qt.ItemDataRole.AccessibleTextRole)
    assert name == "␣6, chosen"
    assert panel.status.text().startswith("Chosen: rank 2, 5.0% before and 2.0% after the samplers.")


def test_each_layer_says_what_it_would_have_chosen(
    panel: ProbabilitiesPanel, requests: list[Request], qtbot: QtBot
) -> None:
    QAbstractItemModelTester(panel.layer_rows, QAbstractItemModelTester.FailureReportingMode.Fatal, panel)
    commands: list[object] = []
    panel.commanded.connect(commands.append)
    show_answer(panel)
    look_at(panel, 2, requests, qtbot)
    panel.layers.click()
    question = commands[-1]
    assert isinstance(question, ReadLayers)
    assert question.token_ids == (7, 8, 9, 53, 2), "what stands before the place"
    layers = ((54, 0.5, 0.1), (53, 0.6, 0.6), (53, 0.9, 0.9))
    words = (LayerWord(layer, ((best, share),), own) for layer, (best, share, own) in enumerate(layers))
    hear(panel, answers=(LayerWords(question.query_id, 53, tuple(words), 0.02),))
    hear(panel, answers=(TokenTexts((53, 54), (b"5", b" 6")),))
    rows = [[panel.layer_rows.text_at(row, column) for column in range(4)] for row in range(3)]
    assert rows == [["2", "5", "90.0%", "90.0%"], ["1", "5", "60.0%", "60.0%"], ["0", "␣6", "50.0%", "10.0%"]]
    assert panel.status.text() == "The likeliest token is settled from layer 1 on. 20.0 ms"
    assert not panel.candidate_table.isVisible()
    panel.token_table.selectRow(1)
    assert panel.layer_rows.rowCount() == 0, "that was another place"


def test_only_where_somebody_rests_is_asked(
    panel: ProbabilitiesPanel, requests: list[Request], qtbot: QtBot
) -> None:
    show_answer(panel)
    for _ in range(2):
        QTest.keyClick(panel.token_table, Qt.Key.Key_Down)
    qtbot.waitUntil(lambda: bool(requests))
    assert [request.answer_start for request in requests] == [(53, 2)]


def test_enter_forks_the_chat_with_the_candidate(
    panel: ProbabilitiesPanel, requests: list[Request], qtbot: QtBot
) -> None:
    show_answer(panel)
    look_at(panel, 2, requests, qtbot)
    panel.candidate_table.selectRow(1)
    with qtbot.waitSignal(panel.fork_at_requested) as forked:
        QTest.keyClick(panel.candidate_table, Qt.Key.Key_Return)
    assert forked.args == [SOURCE, "5 6", (53, 2, 54)]


def test_so_do_a_double_click_and_the_button(
    panel: ProbabilitiesPanel, requests: list[Request], qtbot: QtBot
) -> None:
    show_answer(panel)
    look_at(panel, 2, requests, qtbot)
    place = panel.candidate_table.visualRect(panel.candidates.index(0, AFTER)).center()
    viewport = panel.candidate_table.viewport()
    qtbot.mouseClick(viewport, Qt.MouseButton.LeftButton, pos=place)
    assert panel.fork.text() == "Fork here with “5”"
    with qtbot.waitSignal(panel.fork_at_requested) as forked:
        qtbot.mouseDClick(viewport, Qt.MouseButton.LeftButton, pos=place)
    assert forked.args[1:] == ["55", (53, 2, 53)]
    with qtbot.waitSignal(panel.fork_at_requested):
        panel.fork.click()


def test_nothing_goes_on_behind_a_control_token(
    panel: ProbabilitiesPanel, requests: list[Request], qtbot: QtBot
) -> None:
    show_answer(panel)
    look_at(panel, 2, requests, qtbot)
    panel.candidate_table.selectRow(2)
    assert not panel.fork.isEnabled()
    with qtbot.assertNotEmitted(panel.fork_at_requested):
        QTest.keyClick(panel.candidate_table, Qt.Key.Key_Return)


def test_a_chat_without_a_tab_can_be_looked_into_and_not_forked(
    panel: ProbabilitiesPanel, requests: list[Request], qtbot: QtBot
) -> None:
    show_answer(panel, AnswerSource("sums", "no tab"))
    look_at(panel, 2, requests, qtbot)
    assert not panel.fork.isEnabled()


def test_in_a_pause_it_says_that_it_waits(panel: ProbabilitiesPanel, requests: list[Request]) -> None:
    panel.show_answer(SOURCE)
    hear(panel, answers=(TOKENS,), pause=PauseState(""))
    panel._on_rested()
    assert panel.status.text() == PAUSED
    assert requests == []


def test_hidden_it_neither_follows_a_choice_nor_asks(
    panel: ProbabilitiesPanel, requests: list[Request], qtbot: QtBot
) -> None:
    hear(panel)
    panel.hide()
    with qtbot.assertNotEmitted(panel.answer_wanted):
        panel.select_sequence(0)
    with qtbot.waitSignal(panel.answer_wanted) as wanted:
        panel.show()
    assert wanted.args == ["sums"]


def test_without_an_answer_it_says_what_to_do(panel: ProbabilitiesPanel) -> None:
    assert panel.message.text() == ProbabilitiesPanel.CHOOSE
    show_answer(panel)
    panel.recording.start(model_info(name="other"))
    panel.reset()
    assert panel.message.text() == ProbabilitiesPanel.CHOOSE
    assert panel.tokens.rowCount() == 0
    panel.show_recording(Recording(name="old.jsonl"))
    assert panel.message.text() == ProbabilitiesPanel.RECORDED


def test_columns_are_as_wide_as_their_widest_values(panel: ProbabilitiesPanel) -> None:
    for table, columns in (
        (panel.candidate_table, CANDIDATE_COLUMNS),
        (panel.token_table, ANSWER_COLUMNS),
        (panel.layer_table, LAYER_COLUMNS),
    ):
        for number, column in enumerate(columns):
            if column.is_number and column.head not in ("rank", "layer", "pos", "id"):
                for text in (chance(0.000001), chance(0.99999), chance(0.0123)):
                    needed = table.fontMetrics().horizontalAdvance(text)
                    assert table.columnWidth(number) >= needed + 2 * PADDING, (column.head, text)
