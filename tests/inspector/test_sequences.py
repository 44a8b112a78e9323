import json
from collections.abc import Iterator
from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMenu, QWidget
from pytestqt.qtbot import QtBot

from app.inspector.recording import Recording
from app.inspector.sequence_rows import COLUMNS, STATE
from app.inspector.sequences import NO_MODEL, CheckBadge, SequencesPanel, check_text
from app.protocol.commands import CheckCells, ClearCells, Hibernate, Pin, Restore
from app.protocol.report import CellCheck, HibernatedChat, SlotSnapshot, SlotState, WaitingRequest, WaitReason
from tests.fakes import model_info
from tests.inspector.reports import decoding, report

WARM = SlotSnapshot(1, SlotState.WARM, "notes", None, 0, 63, 64)
STEP = replace(
    report(1, decoding(0, "sums"), WARM, hibernated=(HibernatedChat("haiku", 640, 2**20, True),)),
    waiting=(WaitingRequest("of letter", "letter", WaitReason.QUEUED, 20, 0, 0.5),),
)
AGREES = CellCheck(1204, 2823)
DIFFERS = CellCheck(1300, 2823, "the library has 2823, among them [(3, (1,))] that our books do not have")


@pytest.fixture
def panel(qtbot: QtBot) -> Iterator[SequencesPanel]:
    recording = Recording()
    recording.start(model_info(n_ctx=4096, n_seq_max=4))
    panel = SequencesPanel(recording)
    qtbot.addWidget(panel)
    panel.resize(900, 400)
    panel.show()
    panel.tabs = {"sums", "notes"}
    panel.set_titles({"sums": "Sums", "notes": "Notes", "letter": "API caller"})
    recording.append((STEP,))
    panel.draw()
    yield panel


def enabled(panel: SequencesPanel, key: str) -> set[str]:
    panel.table.choose(key)
    return {action.text() for action in panel.row_actions if action.isEnabled()}


def commanded(panel: SequencesPanel, qtbot: QtBot, key: str, text: str) -> object:
    assert text in enabled(panel, key)
    with qtbot.waitSignal(panel.commanded) as signal:
        next(action for action in panel.row_actions if action.text() == text).trigger()
    return signal.args[0]


def test_without_a_model_it_says_what_to_do(panel: SequencesPanel) -> None:
    panel.recording.start(None)
    panel.reset()
    assert panel.message.isVisible()
    assert panel.message.text() == NO_MODEL
    assert not panel.table.isVisible()


def test_rows_show_the_newest_report(panel: SequencesPanel) -> None:
    rows = panel.table.rows
    states = [rows.index(number, STATE).data() for number in range(rows.rowCount())]
    assert states == ["decode", "warm", "empty", "empty", "waiting", "hibernated, disk"]


def test_nothing_can_be_done_while_no_row_is_chosen(panel: SequencesPanel) -> None:
    assert not any(action.isEnabled() for action in panel.row_actions)


def test_each_row_offers_what_makes_sense_for_it(panel: SequencesPanel) -> None:
    assert enabled(panel, "slot 0") == {"Stop", "Fork", "Pin", "Copy JSON"}
    assert enabled(panel, "slot 1") == {"Hibernate", "Clear", "Fork", "Pin", "Copy JSON"}
    assert enabled(panel, "slot 2") == {"Copy JSON"}
    assert enabled(panel, "request of letter") == {"Stop", "Copy JSON"}
    assert enabled(panel, "saved haiku") == {"Restore", "Copy JSON"}


def test_what_is_done_to_cells_is_a_command(panel: SequencesPanel, qtbot: QtBot) -> None:
    assert commanded(panel, qtbot, "slot 1", "Hibernate") == Hibernate("notes")
    assert commanded(panel, qtbot, "slot 1", "Clear") == ClearCells("notes")
    assert commanded(panel, qtbot, "slot 1", "Pin") == Pin("notes")
    assert commanded(panel, qtbot, "saved haiku", "Restore") == Restore("haiku")


def test_what_is_pinned_can_be_unpinned(panel: SequencesPanel, qtbot: QtBot) -> None:
    panel.recording.append((report(2, replace(WARM, is_pinned=True)),))
    panel.draw()
    assert commanded(panel, qtbot, "slot 1", "Unpin") == Pin("notes", is_pinned=False)


def test_stop_names_the_request_and_fork_the_chat(panel: SequencesPanel, qtbot: QtBot) -> None:
    panel.table.choose("slot 0")
    stop, fork = (next(a for a in panel.row_actions if a.text() == text) for text in ("Stop", "Fork"))
    with qtbot.waitSignal(panel.stop_requested) as stopped:
        stop.trigger()
    with qtbot.waitSignal(panel.fork_requested) as forked:
        fork.trigger()
    assert (stopped.args, forked.args) == (["of sums"], ["sums"])


def test_a_row_can_be_copied(panel: SequencesPanel) -> None:
    panel.table.choose("slot 0")
    copy = next(a for a in panel.row_actions if a.text() == "Copy JSON")
    assert copy.iconText() == "JSON", "its button fits into a narrow panel"
    copy.trigger()
    assert json.loads(QGuiApplication.clipboard().text())["skein"]["chat_id"] == "sums"


def test_the_menu_key_opens_what_can_be_done(panel: SequencesPanel, qtbot: QtBot) -> None:
    panel.table.choose("slot 0")
    panel.table.menu_requested.emit(panel.mapToGlobal(panel.rect().center()))
    (menu,) = (menu for menu in panel.findChildren(QMenu) if menu.isVisible())
    texts = [action.text() for action in menu.actions() if not action.isSeparator()]
    assert texts == [*(action.text() for action in panel.row_actions), "Columns"]
    qtbot.keyClick(menu, Qt.Key.Key_Escape)


def test_a_chosen_sequence_is_told_and_one_chosen_elsewhere_is_marked(
    panel: SequencesPanel, qtbot: QtBot
) -> None:
    with qtbot.waitSignal(panel.sequence_selected) as selected:
        panel.table.choose("slot 1")
    assert selected.args == [1]
    panel.select_sequence(0)
    assert panel.table.chosen_row
    assert panel.table.chosen_row.key == "slot 0"


def test_the_library_is_asked_on_demand_and_its_answer_is_shown(panel: SequencesPanel, qtbot: QtBot) -> None:
    with qtbot.waitSignal(panel.commanded) as signal:
        panel.badge.check.click()
    assert signal.args == [CheckCells()]
    panel.recording.append((replace(STEP, step=9, last_check=CellCheck(9, 476)),))
    panel.draw()
    assert panel.badge.text == "Agrees with llama.cpp: 476 cells, step 9"


def test_in_a_recording_there_is_nothing_to_steer(qtbot: QtBot) -> None:
    recording = Recording(name="crash.jsonl")
    recording.start(model_info(n_seq_max=4))
    recording.append((STEP,))
    panel = SequencesPanel(recording)
    qtbot.addWidget(panel)
    panel.set_titles({"sums": "Sums", "notes": "Notes"})
    panel.draw()
    assert enabled(panel, "slot 0") == enabled(panel, "slot 1") == {"Copy JSON"}
    assert not panel.badge.check.isEnabled()


def test_of_an_engine_that_is_gone_the_last_state_stays_and_cannot_be_steered(panel: SequencesPanel) -> None:
    panel.recording.is_over = True
    panel.draw()
    assert panel._over.isVisible()
    assert enabled(panel, "slot 0") == {"Copy JSON"}
    assert not panel.badge.check.isEnabled()


def test_the_columns_are_kept_with_the_window(panel: SequencesPanel, qtbot: QtBot) -> None:
    panel.table.setColumnHidden(3, True)
    again = SequencesPanel(panel.recording)
    qtbot.addWidget(again)
    again.restore_layout(panel.save_layout())
    hidden = [number for number in range(len(COLUMNS)) if again.table.isColumnHidden(number)]
    assert hidden == [3]


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
    assert "Skein keeps its own record" in badge._words.toolTip(), "what is compared, and with what"
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
