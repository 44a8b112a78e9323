from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.inspector.cell_figures import NO_BREAK
from app.inspector.cell_picture import NO_SEQUENCE
from app.inspector.kv_map import HINT, NO_MAP, NO_MODEL, OWN_ORDER, KvMapPanel
from app.inspector.recording import Recording
from app.protocol.commands import CheckCells, DescribeTokens, WatchCells
from app.protocol.report import CellCheck, StepReport, TokenTexts
from tests.fakes import model_info
from tests.inspector.cell_maps import cell_map, report_with

CELLS = cell_map([(0,)] * 20 + [(0, 2)] * 10 + [(2,)] * 5 + [()] * 5, high_water=37)


class Shown:
    """A panel and what it asked for."""

    def __init__(self, panel: KvMapPanel) -> None:
        self.panel = panel
        self.commands: list[object] = []
        self.selected: list[int] = []
        panel.commanded.connect(self.commands.append)
        panel.sequence_selected.connect(self.selected.append)


@pytest.fixture
def shown(qtbot: QtBot) -> Iterator[Shown]:
    recording = Recording()
    recording.start(model_info(n_ctx=40, n_seq_max=4))
    panel = KvMapPanel(recording)
    qtbot.addWidget(panel)
    panel.resize(600, 420)
    shown = Shown(panel)
    panel.show()
    panel.set_titles({"sums": "Sums", "fork": "Fork of Sums"})
    tell(panel, report_with(CELLS))
    yield shown
    panel.close()


def tell(panel: KvMapPanel, *reports: StepReport) -> None:
    panel.recording.append(reports)
    panel.draw()


def point_at(shown: Shown, index: int, qtbot: QtBot) -> None:
    qtbot.keyClick(shown.panel.grid, Qt.Key.Key_Home)
    qtbot.keyClick(shown.panel.grid, Qt.Key.Key_Home)
    for _ in range(index):
        qtbot.keyClick(shown.panel.grid, Qt.Key.Key_Right)


def click(shown: Shown, index: int, qtbot: QtBot) -> None:
    place = shown.panel.grid.cell_rect(index).center().toPoint()
    qtbot.mouseClick(shown.panel.grid.viewport(), Qt.MouseButton.LeftButton, pos=place)


# Who is asked to make maps


def test_maps_are_made_only_while_somebody_sees_them(shown: Shown) -> None:
    assert shown.commands == [WatchCells(True)]
    shown.panel.hide()
    assert shown.commands == [WatchCells(True), WatchCells(False)]
    shown.panel.show()
    assert shown.commands[2:] == [WatchCells(True)]


def test_nobody_needs_live_maps_while_a_file_is_looked_at(shown: Shown) -> None:
    live = shown.panel.recording
    shown.panel.show_recording(Recording(name="run.jsonl"))
    assert shown.commands == [WatchCells(True), WatchCells(False)]
    shown.panel.show_recording(live)
    assert shown.commands[2:] == [WatchCells(True)]
    assert shown.panel.grid.picture.layout.num_cells == 40


def test_the_buttons_stand_in_line_with_the_words_beside_them(shown: Shown) -> None:
    button, words = shown.panel.zoom.buttons[0], shown.panel.cell
    first_line = words.contentsMargins().top() + words.fontMetrics().height() / 2
    middle = button.mapTo(shown.panel, button.rect().center()).y()
    assert middle == pytest.approx(words.y() + first_line, abs=1)


def test_what_happened_while_it_was_hidden_is_there_when_it_is_shown(shown: Shown) -> None:
    shown.panel.hide()
    shown.panel.select_sequence(1)
    shown.panel.recording.append([report_with(cell_map([(1,)] * 3 + [()] * 37))])
    shown.panel.show()
    assert shown.panel.figures.text().startswith(f"3{NO_BREAK}cells{NO_BREAK}used")
    assert shown.panel.grid.chosen_seq == 1


def test_without_a_map_it_says_why(shown: Shown) -> None:
    shown.panel.recording.start(None)
    shown.panel.reset()
    assert shown.panel.message.text() == NO_MODEL
    assert not shown.panel.grid.isVisible()
    shown.panel.show_recording(Recording(name="run.jsonl"))
    assert shown.panel.message.text() == NO_MAP


# What it says


def test_the_figures_are_those_of_the_map(shown: Shown) -> None:
    assert shown.panel.figures.text().replace(NO_BREAK, " ") == (
        "35 cells used · 5 free of 40 · 10 shared (29% of used) · fragmentation 0% (0 gaps) · "
        "at most 37 used so far"
    )


def test_a_newer_map_is_drawn_and_reports_without_one_change_nothing(shown: Shown) -> None:
    newer = cell_map([(1,)] * 2 + [()] * 38)
    tell(shown.panel, report_with(newer, step=2), StepReport(3, (), (), (), report_with(newer).cells))
    assert shown.panel.figures.text().startswith(f"2{NO_BREAK}cells{NO_BREAK}used")


def test_the_cell_of_the_keys_is_told_in_words(shown: Shown, qtbot: QtBot) -> None:
    assert shown.panel.cell.text() == HINT
    point_at(shown, 21, qtbot)
    assert shown.panel.cell.text() == "cell 21 · position 21 · token 121 · seq 0 Sums, seq 2 Fork of Sums"
    assert shown.panel.grid.accessibleDescription() == shown.panel.cell.text()


def test_texts_of_tokens_are_asked_for_once_and_shown_when_they_come(shown: Shown, qtbot: QtBot) -> None:
    point_at(shown, 3, qtbot)
    (asked,) = [command for command in shown.commands if isinstance(command, DescribeTokens)]
    assert asked.token_ids == tuple(range(100, 135))
    texts = TokenTexts(asked.token_ids, tuple(f" t{token}".encode() for token in asked.token_ids))
    answer = StepReport(2, (), (), report_with(CELLS).slots, report_with(CELLS).cells, answers=(texts,))
    tell(shown.panel, answer)
    assert "token 103 “␣t103”" in shown.panel.cell.text()
    point_at(shown, 5, qtbot)
    assert len([command for command in shown.commands if isinstance(command, DescribeTokens)]) == 1


def test_it_says_where_the_places_of_cells_are_not_known(shown: Shown) -> None:
    shown.panel.recording.start(model_info(n_ctx=40, n_seq_max=4, n_swa=16))
    shown.panel.reset()
    tell(shown.panel, report_with(CELLS))
    assert OWN_ORDER in shown.panel.cell.text()


def test_the_legend_names_the_sequences_that_hold_cells(shown: Shown) -> None:
    assert shown.panel.legend.accessibleDescription() == "free, shared, seq 0 Sums, seq 2 Fork of Sums"


def test_the_legend_shortens_titles_only_where_they_do_not_all_fit_on_a_line(shown: Shown) -> None:
    legend = shown.panel.legend
    legend.apply({0: "The history of navigation by stars"}, NO_SEQUENCE)
    title = legend.fontMetrics().horizontalAdvance("The history of navigation by stars")
    assert legend._places(600)[-1].width() > title > legend._places(240)[-1].width()


def test_the_legend_never_pushes_the_map_about(shown: Shown) -> None:
    height = shown.panel.grid.height()
    tell(shown.panel, report_with(cell_map([()] * 40)))
    assert shown.panel.grid.height() == height


# Choosing a sequence


def test_a_click_selects_the_sequence_everywhere_and_another_one_the_next_owner(
    shown: Shown, qtbot: QtBot
) -> None:
    for index in (25, 25, 25, 0):
        click(shown, index, qtbot)
    assert shown.selected == [0, 2, 0, 0]
    assert shown.panel.grid.chosen_seq == 0


def test_enter_selects_the_sequence_of_the_cell(shown: Shown, qtbot: QtBot) -> None:
    point_at(shown, 32, qtbot)
    qtbot.keyClick(shown.panel.grid, Qt.Key.Key_Return)
    assert shown.selected == [2]


def test_a_free_cell_and_escape_take_the_emphasis_away(shown: Shown, qtbot: QtBot) -> None:
    shown.panel.select_sequence(2)
    click(shown, 39, qtbot)
    assert shown.panel.grid.chosen_seq == -1
    shown.panel.select_sequence(2)
    qtbot.keyClick(shown.panel.grid, Qt.Key.Key_Escape)
    assert shown.panel.grid.chosen_seq == -1
    assert shown.selected == []


# Asking the library


def test_the_library_can_be_asked_now(shown: Shown, qtbot: QtBot) -> None:
    qtbot.mouseClick(shown.panel.badge.check, Qt.MouseButton.LeftButton)
    assert shown.commands[-1] == CheckCells()
    usage = report_with(CELLS).cells
    tell(shown.panel, StepReport(9, (), (), (), usage, last_check=CellCheck(9, 35)))
    assert shown.panel.badge.text == "Agrees with llama.cpp: 35 cells, step 9"
    tell(shown.panel, StepReport(10, (), (), (), usage, last_check=CellCheck(10, 35, "cell 3 differs")))
    assert shown.panel.badge.text == "Disagreed with llama.cpp at step 10"
