from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from app.chats.tasks import MAX_CHARS, MAX_TASKS
from app.ui.tabs.tasks_dialog import TasksDialog


def test_each_line_is_a_task_and_too_many_cannot_be_started(qtbot: QtBot) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    dialog = TasksDialog("", window)
    dialog.open()
    assert not dialog.start.isEnabled()
    for text, is_possible in (("x\n" * (MAX_TASKS + 1), False), ("x" * (MAX_CHARS + 1), False), ("a", True)):
        dialog.text.setPlainText(text)
        assert dialog.start.isEnabled() is is_possible
        assert dialog.note.text()
    dialog.text.setPlainText(" For it \n\nAgainst it")
    with qtbot.waitSignal(dialog.chosen) as chosen:
        dialog.start.click()
    assert chosen.args == [["For it", "Against it"]]
