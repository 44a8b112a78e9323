"""Tasks that the user hands out by hand, one on each line. GUI thread."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QDialog, QPlainTextEdit, QPushButton, QWidget

from app.chats.tasks import MAX_CHARS, MAX_TASKS
from app.look.buttons import dialog_button
from app.look.fonts import small_font
from app.look.layouts import STRETCH, hbox, vbox
from app.look.plain_text import PlainLabel, heading
from app.look.words import tr, tr_n

WIDTH, HEIGHT = 480, 160


class TasksDialog(QDialog):
    """Not modal. Tells once what was written."""

    chosen = Signal(object)  # the tasks, a list of texts

    def __init__(self, text: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(tr("Split into parallel tasks"))
        self.setFixedWidth(WIDTH)
        self.text = QPlainTextEdit(text, self)
        self.text.setFixedHeight(HEIGHT)
        self.text.setTabChangesFocus(True)
        self.text.setAccessibleName(tr("Tasks, one on each line"))
        self.text.setPlaceholderText(tr("List the arguments for it\nList the arguments against it"))
        self.note = PlainLabel(parent=self, tone="muted", wraps=True)
        self.note.setFont(small_font())
        self.start = QPushButton(tr("Start"), self)
        self.start.setDefault(True)
        self.start.clicked.connect(self._on_start)
        self.text.textChanged.connect(self._show)
        said = tr(
            "One task on each line. Each is worked on in a fork of this chat, all at the same time; then the "
            "model sums up their answers."
        )
        vbox(
            heading(self.windowTitle(), self),
            PlainLabel(said, self, wraps=True),
            self.text,
            self.note,
            4,
            hbox(STRETCH, dialog_button(tr("Cancel"), self.reject, self), self.start),
            on=self,
            margins=20,
            spacing=10,
        )
        for keys in ("Ctrl+Return", "Ctrl+Enter"):
            QShortcut(QKeySequence(keys), self, self.start.click)
        self._show()

    @property
    def tasks(self) -> list[str]:
        return [line.strip() for line in self.text.toPlainText().splitlines() if line.strip()]

    def _show(self) -> None:
        tasks = self.tasks
        is_long = any(len(task) > MAX_CHARS for task in tasks)
        self.start.setEnabled(0 < len(tasks) <= MAX_TASKS and not is_long)
        if len(tasks) > MAX_TASKS:
            self.note.setText(tr("At most {number} tasks can be worked on at once.", number=MAX_TASKS))
        elif is_long:
            self.note.setText(tr("A task is too long. Paste long texts into the chat first."))
        else:
            self.note.setText(tr_n("{n} task", "{n} tasks", len(tasks)) if tasks else "")

    def _on_start(self) -> None:
        self.chosen.emit(self.tasks)
        self.accept()
