from datetime import UTC, datetime
from pathlib import Path

import pytest
from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.storage.backups import Backup, BackupReason
from app.system.said import said
from app.ui.base.notices import Notices
from app.ui.data.backups import ARE_YOU_SURE, NONE_YET, BackupsDialog, BackupsMenu
from app.ui.main_window import MainWindow
from tests.ui.fakes import FakeWorkspace


def backup(hour: int, reason: BackupReason = BackupReason.REGULAR, size: int = 3_145_728) -> Backup:
    made_at = datetime(2026, 11, 21, hour, tzinfo=UTC)
    return Backup(Path(f"/b/chats-20261121-{hour:02}0000-{reason}.db"), made_at, reason, size)


BACKUPS = (backup(14, BackupReason.ASKED), backup(13), backup(9, BackupReason.UPDATE))


class FakeBackups(QObject):
    listed = Signal(object)
    made = Signal(object)
    failed = Signal(object)

    folder = Path("/b")

    def __init__(self) -> None:
        super().__init__()
        self.num_refreshes = self.num_makes = 0
        self.restores: list[Backup] = []

    def refresh(self) -> None:
        self.num_refreshes += 1

    def make(self) -> None:
        self.num_makes += 1

    def restore(self, wanted: Backup) -> None:
        self.restores.append(wanted)


@pytest.fixture
def backups(qapp: QApplication) -> FakeBackups:
    return FakeBackups()


@pytest.fixture
def notices(qtbot: QtBot) -> Notices:
    notices = Notices()
    qtbot.addWidget(notices)
    return notices


@pytest.fixture
def menu(notices: Notices, backups: FakeBackups) -> BackupsMenu:
    return BackupsMenu(backups, notices, notices)  # type: ignore[arg-type]


@pytest.fixture
def dialog(menu: BackupsMenu, backups: FakeBackups) -> BackupsDialog:
    menu.open.trigger()
    backups.listed.emit(BACKUPS)
    return menu.dialog


def rows(dialog: BackupsDialog) -> list[list[str]]:
    table = dialog.table
    cells = [[table.item(row, column) for column in range(3)] for row in range(table.rowCount())]
    return [[cell.text() for cell in row if cell] for row in cells]


def test_each_backup_says_when_and_why_it_was_made_and_how_large_it_is(
    dialog: BackupsDialog, backups: FakeBackups
) -> None:
    assert backups.num_refreshes == 1
    assert dialog.isVisible()
    assert not dialog.isModal()
    whys = [why for _, why, _ in rows(dialog)]
    assert whys == ["Manual", "Automatic", "Before a database upgrade"]
    assert [size for _, _, size in rows(dialog)] == ["3.0 MiB"] * 3
    assert all("26" in made for made, _, _ in rows(dialog))


def test_without_any_it_says_so(menu: BackupsMenu, backups: FakeBackups) -> None:
    menu.open.trigger()
    assert menu.dialog.note.text() == NONE_YET
    assert not menu.dialog.restore_button.isEnabled()
    backups.listed.emit(BACKUPS)
    assert menu.dialog.note.text() == ""


def test_back_up_now(dialog: BackupsDialog, backups: FakeBackups) -> None:
    dialog.make_button.click()
    assert backups.num_makes == 1
    assert not dialog.make_button.isEnabled()
    backups.made.emit(BACKUPS[0])
    backups.listed.emit(BACKUPS)
    assert dialog.make_button.isEnabled()
    assert dialog.note.text().startswith("Backup created at")


def test_a_restore_says_what_it_does_before_it_is_done(dialog: BackupsDialog, backups: FakeBackups) -> None:
    assert not dialog.restore_button.isEnabled()
    dialog.table.selectRow(1)
    dialog.restore_button.click()
    assert backups.restores == []
    assert dialog.note.text() == ARE_YOU_SURE
    assert dialog.cancel_button.isVisible()
    dialog.restore_button.click()
    assert backups.restores == [BACKUPS[1]]
    assert not dialog.restore_button.isEnabled()


@pytest.mark.parametrize("way", ["cancel", "another row", "close"])
def test_a_restore_that_is_not_meant_is_not_done(
    dialog: BackupsDialog, backups: FakeBackups, way: str
) -> None:
    dialog.table.selectRow(1)
    dialog.restore_button.click()
    if way == "cancel":
        dialog.cancel_button.click()
    elif way == "another row":
        dialog.table.selectRow(2)
    else:
        dialog.close()
    assert dialog.note.text() == ""
    dialog.restore_button.click()
    assert backups.restores == []


def test_a_new_backup_in_the_list_leaves_the_question_as_it_is(
    dialog: BackupsDialog, backups: FakeBackups
) -> None:
    dialog.table.selectRow(1)
    dialog.restore_button.click()
    backups.listed.emit((backup(15), *BACKUPS))
    assert dialog.note.text() == ARE_YOU_SURE
    dialog.restore_button.click()
    assert backups.restores == [BACKUPS[1]]


def test_a_failure_is_told_where_it_was_asked_for(dialog: BackupsDialog, backups: FakeBackups) -> None:
    dialog.table.selectRow(0)
    dialog.restore_button.click()
    dialog.restore_button.click()
    backups.failed.emit(said("The disk is full."))
    assert dialog.note.text() == "The disk is full."
    assert dialog.restore_button.isEnabled()


def test_a_failure_that_nobody_waits_for_is_a_banner(
    notices: Notices, menu: BackupsMenu, backups: FakeBackups
) -> None:
    backups.failed.emit(said("The disk is full."))
    assert [banner.text for banner in notices.banners()] == ["The disk is full."]


def test_in_the_window_it_stands_in_the_tools_menu(window: MainWindow) -> None:
    assert window.backups_menu.open in window.menus.tools.actions()


def test_what_could_not_be_saved_is_told_until_it_is(window: MainWindow, workspace: FakeWorkspace) -> None:
    workspace.save_failed.emit(said("Chats are not being saved: {reason}.", reason="no room"))
    assert [one.text for one in window.notices.banners()] == ["Chats are not being saved: no room."]
    workspace.save_recovered.emit()
    assert window.notices.banners() == []
    assert window.status.currentMessage() == "All chats are saved again."


def test_the_folder_can_be_opened(dialog: BackupsDialog, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: opened.append(url.toLocalFile()))
    dialog.folder_button.click()
    assert opened == ["/b"]


def test_all_can_be_done_with_the_keyboard(dialog: BackupsDialog, qtbot: QtBot) -> None:
    for button in (dialog.make_button, dialog.folder_button, dialog.restore_button, dialog.close_button):
        assert button.focusPolicy() & button.focusPolicy().TabFocus
