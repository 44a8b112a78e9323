"""The self-test in the window, on a scripted process."""

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.bridge import tasks
from app.protocol.model import ModelInfo
from app.selftest.report import TITLES, Outcome, Report, ReportLine
from app.services import self_test
from app.ui.engine.self_test import SelfTestDialog, SelfTestMenu, intro_text, memory_text
from app.ui.main_window import MainWindow
from tests.fakes import model_info
from tests.ui.fakes import FakeEngine

LINES = tuple(
    ReportLine(name, title, "asked", "the same", Outcome.PASSED, 0.5) for name, title in TITLES.items()
)
REPORT = Report("starter", "qwen3", 4096, 4, "0.3", LINES)
FAILED = replace(LINES[3], outcome=Outcome.FAILED, seen="it was in 7 more batches")
SKIPPED = replace(LINES[4], outcome=Outcome.SKIPPED, seen="one chat can have 64 tokens only")


class FakeTest(QObject):
    progressed = Signal(float, str)
    checked = Signal(object)
    ended = Signal(object)
    failed = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.starts: list[tuple[ModelInfo, int]] = []
        self.num_cancels = 0
        self.is_running = False

    def start(self, model: ModelInfo, n_threads: int) -> None:
        self.is_running = True
        self.starts.append((model, n_threads))

    def cancel(self) -> None:
        self.num_cancels += 1

    def end(self, result: Report | str) -> None:
        self.is_running = False
        (self.failed if isinstance(result, str) else self.ended).emit(result)


@pytest.fixture
def test(qapp: QApplication) -> FakeTest:
    return FakeTest()


@pytest.fixture
def services(test: FakeTest) -> dict[str, object]:
    return {"self_test": test}


@pytest.fixture
def menu(window: MainWindow, monkeypatch: pytest.MonkeyPatch) -> SelfTestMenu:
    monkeypatch.setattr(self_test, "free_memory", lambda: 8 << 30)
    return window.self_test_menu


@pytest.fixture
def dialog(menu: SelfTestMenu, qtbot: QtBot) -> SelfTestDialog:
    """Opened from the menu."""
    menu.open.trigger()
    qtbot.waitExposed(menu.dialog)
    return menu.dialog


def click(qtbot: QtBot, button: object) -> None:
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)


def test_it_stands_in_the_tools_menu(window: MainWindow, menu: SelfTestMenu) -> None:
    assert menu.open in window.menus.tools.actions()
    assert menu.open.text() == "&Self-test…"


def test_the_dialog_says_what_it_will_do_and_what_it_needs(dialog: SelfTestDialog) -> None:
    assert "Loads starter again" in dialog.words
    assert "4 slots and 4,096 cells" in dialog.words
    assert "8.0 GiB free" in dialog.words
    assert not dialog.isModal()
    assert not dialog._warning.isVisible()
    assert [dialog.rows[name].text for name in "ab"] == [f"{name} | {TITLES[name]}" for name in "ab"]
    assert not dialog.save_button.isEnabled()


def test_too_little_memory_is_warned_of_but_does_not_forbid(
    menu: SelfTestMenu, engine: FakeEngine, qtbot: QtBot
) -> None:
    engine.model = model_info(name="large", size_bytes=9 << 30)
    menu.show_dialog()
    assert "up to 9.2 GiB of memory while it runs, but only 8.0 GiB free. Close other" in menu.dialog.words
    assert menu.dialog._warning.isVisible()
    assert menu.dialog.start_button.isEnabled()


def test_a_model_that_a_server_runs_is_not_tested_here(menu: SelfTestMenu, engine: FakeEngine) -> None:
    engine.model = model_info(server="http://gpu-box:8000", n_seq_max=0)
    menu.show_dialog()
    assert not menu.dialog.start_button.isEnabled()


def test_without_a_model_there_is_nothing_to_test(menu: SelfTestMenu, engine: FakeEngine) -> None:
    engine.model = None
    menu.show_dialog()
    assert "Choose one above the chat" in menu.dialog.words
    assert not menu.dialog.start_button.isEnabled()
    engine.finish_load(model_info(name="new"))
    assert "Loads new" in menu.dialog.words
    assert menu.dialog.start_button.isEnabled()


def test_busy_chats_are_told_of(window: MainWindow, dialog: SelfTestDialog) -> None:
    assert "longer" not in dialog.words
    window.tabs.num_busy_changed.emit(2)
    assert "Chats are being answered, so the test may take longer." in dialog.words
    window.tabs.num_busy_changed.emit(0)
    assert "longer" not in dialog.words


def test_a_run_shows_each_line_as_it_comes(
    dialog: SelfTestDialog, test: FakeTest, engine: FakeEngine, qtbot: QtBot
) -> None:
    click(qtbot, dialog.start_button)
    assert test.starts == [(engine.model, 0)]
    assert dialog.cancel_button.isVisible()
    assert not dialog.start_button.isVisible()
    test.checked.emit(LINES[0])
    test.progressed.emit(0.25, TITLES["b"])
    assert dialog.rows["a"].text == f"a | {TITLES['a']} | passed, 0.5 s | Done: asked. | Seen: the same"
    assert dialog.rows["b"].is_running
    assert (dialog.state, dialog.bar.value()) == (TITLES["b"], 25)
    test.end(REPORT)
    assert dialog.state == "7 passed in 3.5 s."
    assert all("passed" in row.text for row in dialog.rows.values())
    assert dialog.start_button.text() == "Start again"


def test_enter_starts_it_but_throws_no_result_away(
    dialog: SelfTestDialog, test: FakeTest, qtbot: QtBot
) -> None:
    qtbot.keyClick(dialog, Qt.Key.Key_Return)
    assert len(test.starts) == 1
    test.end(REPORT)
    qtbot.keyClick(dialog, Qt.Key.Key_Return)
    assert len(test.starts) == 1


def test_failed_and_skipped_lines_say_so_in_words_icons_and_colour(
    dialog: SelfTestDialog, test: FakeTest, qtbot: QtBot
) -> None:
    click(qtbot, dialog.start_button)
    test.end(replace(REPORT, lines=(*LINES[:3], FAILED, SKIPPED, *LINES[5:])))
    assert dialog.state == "5 passed, 1 failed, 1 skipped in 3.5 s."
    failed, skipped = dialog.rows["d"], dialog.rows["e"]
    assert "failed, 0.5 s" in failed.text
    assert "Seen: it was in 7 more batches" in failed.text
    assert (failed._mark.state, failed._state.property("tone")) == ("failed", "danger")
    assert "skipped, 0.5 s" in skipped.text
    assert (skipped._mark.state, skipped._state.property("tone")) == ("skipped", "muted")


def test_cancel_waits_for_the_test_and_keeps_what_it_has_found(
    dialog: SelfTestDialog, test: FakeTest, qtbot: QtBot
) -> None:
    click(qtbot, dialog.start_button)
    test.checked.emit(LINES[0])
    test.progressed.emit(0.3, TITLES["b"])
    click(qtbot, dialog.cancel_button)
    assert test.num_cancels == 1
    test.progressed.emit(0.4, TITLES["b"])
    assert dialog.state == "Cancelling"
    assert not dialog.cancel_button.isEnabled()
    test.end(replace(REPORT, lines=LINES[:1], was_cancelled=True))
    assert dialog.state == "Cancelled."
    assert "passed" in dialog.rows["a"].text
    assert not dialog.rows["b"].is_running
    assert dialog.save_button.isEnabled()
    click(qtbot, dialog.start_button)
    assert len(test.starts) == 2
    assert dialog.rows["a"].text == f"a | {TITLES['a']}"


def test_what_could_not_be_tested_says_why(dialog: SelfTestDialog, test: FakeTest, qtbot: QtBot) -> None:
    click(qtbot, dialog.start_button)
    test.end("starter.gguf cannot be read: no such file.")
    assert dialog.state == "starter.gguf cannot be read: no such file."
    assert dialog._state.property("tone") == "danger"
    assert not dialog.save_button.isEnabled()
    assert dialog.start_button.isVisible()


def test_a_closed_dialog_lets_the_test_go_on_and_forgets_a_result_that_was_seen(
    window: MainWindow, menu: SelfTestMenu, dialog: SelfTestDialog, test: FakeTest, qtbot: QtBot
) -> None:
    click(qtbot, dialog.start_button)
    qtbot.keyClick(dialog, Qt.Key.Key_Escape)
    assert not dialog.isVisible()
    test.end(REPORT)
    assert window.status.currentMessage() == "Self-test: 7 passed in 3.5 s."
    menu.open.trigger()
    assert dialog.state == "7 passed in 3.5 s."
    click(qtbot, dialog.close_button)
    menu.open.trigger()
    assert dialog.state == ""
    assert dialog.report is None


def test_another_model_changes_nothing_in_a_test_that_runs(
    dialog: SelfTestDialog, test: FakeTest, engine: FakeEngine, qtbot: QtBot
) -> None:
    click(qtbot, dialog.start_button)
    engine.finish_load(model_info(name="other"))
    assert "Loads starter" in dialog.words
    test.end(REPORT)
    assert "Loads other" in dialog.words


def test_the_report_is_copied_as_text(dialog: SelfTestDialog, test: FakeTest, qtbot: QtBot) -> None:
    click(qtbot, dialog.start_button)
    test.end(REPORT)
    click(qtbot, dialog.copy_button)
    assert QApplication.clipboard().text() == REPORT.as_text()


async def test_a_report_is_saved_or_says_why_not(
    qloop: object, menu: SelfTestMenu, dialog: SelfTestDialog, tmp_path: Path
) -> None:
    menu.save(REPORT, tmp_path / "report.txt")
    await tasks.finish_all()
    assert (tmp_path / "report.txt").read_text() == f"{REPORT.as_text()}\n"
    assert dialog.note.text() == "Saved in report.txt."
    menu.save(REPORT, tmp_path / "none" / "report.txt")
    await tasks.finish_all()
    assert dialog.note.text().startswith("report.txt could not be written: No such file")
    assert dialog.note.property("tone") == "danger"


def test_the_words() -> None:
    one = intro_text(model_info(name="m\n", n_seq_max=1, is_unified=False))
    assert "Loads m again" in one
    assert "1 slot and 512 cells, isolated," in one
    assert memory_text(1 << 30, 1 << 30) == (
        "Needs up to 1.0 GiB of memory while it runs; 1.0 GiB free. Your chats continue."
    )
