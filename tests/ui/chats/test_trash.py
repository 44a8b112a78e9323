import pytest
from pytestqt.qtbot import QtBot

from app.storage.list_rows import ChatSummary
from app.ui.chats.navigation import TrashDialog

CHATS = [ChatSummary(one, one.title(), "", False, 0.0, 0.0, 2) for one in ("sums", "haiku")]


@pytest.fixture
def trash(qtbot: QtBot) -> TrashDialog:
    dialog = TrashDialog()
    qtbot.addWidget(dialog)
    dialog.show()
    dialog.apply(CHATS)
    return dialog


def test_what_is_chosen_is_restored_or_deleted_for_good(trash: TrashDialog, qtbot: QtBot) -> None:
    assert not trash.restore.isEnabled()
    trash.list.setCurrentRow(1)
    with qtbot.waitSignal(trash.restore_requested) as restored:
        trash.restore.click()
    assert restored.args == [("haiku",)]
    trash.list.selectAll()
    with qtbot.waitSignal(trash.purge_requested) as purged:
        trash.purge.click()
    assert set(purged.args[0]) == {"sums", "haiku"}


def test_it_says_how_long_and_when_there_is_nothing(trash: TrashDialog) -> None:
    assert "30 days" in trash.note.text()
    assert trash.list.isVisible()
    trash.apply([])
    assert trash.note.text() == "The trash is empty."
    assert trash.list.count() == 0
    assert not trash.list.isVisible(), "a large empty box"


def test_a_closed_trash_keeps_no_row(trash: TrashDialog) -> None:
    trash.close()
    assert trash.list.count() == 0
    trash.apply(CHATS)  # after another chat was restored
    assert trash.list.count() == 0
