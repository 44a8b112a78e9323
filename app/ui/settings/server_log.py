"""What an MCP server has written to its log, as it writes. GUI thread."""

from collections.abc import Callable

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QDialog, QPlainTextEdit, QWidget

from app.look.buttons import dialog_button
from app.look.fonts import code_font
from app.look.layouts import STRETCH, hbox, vbox
from app.look.plain_text import PlainLabel, one_line
from app.look.windows import resize_to_fit
from app.look.words import tr
from app.services.tools import ServerState, ToolService
from app.ui.base.hidden_characters import mark_hidden

SIZE = QSize(760, 480)


class ServerLog(QDialog):
    """Made anew each time it is opened."""

    def __init__(
        self, name: str, state: Callable[[], ServerState], service: ToolService, parent: QWidget
    ) -> None:
        super().__init__(parent)
        self._state = state
        self._shown: tuple[str, ...] | None = None
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(tr("Log of {name}", name=one_line(name)))
        self.setModal(False)
        resize_to_fit(self, SIZE)
        self.text = QPlainTextEdit(self)
        self.text.setReadOnly(True)
        self.text.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.text.setFont(code_font(-1))
        self.text.setAccessibleName(tr("Log"))
        self._nothing = PlainLabel(tr("It has written nothing yet."), self, tone="muted")
        foot = hbox(STRETCH, dialog_button(tr("Copy"), self._copy, self))
        vbox(self._nothing, (self.text, 1), foot, on=self, margins=16, spacing=12)
        service.changed.connect(self._show)
        self._show()

    def _show(self) -> None:
        """One that is scrolled up stays where it is."""
        try:
            lines = self._state().log
        except StopIteration:  # it was removed
            return
        if lines == self._shown:
            return
        self._shown = lines
        bar = self.text.verticalScrollBar()
        place, is_at_end = bar.value(), bar.value() >= bar.maximum()
        self.text.setPlainText(mark_hidden("\n".join(lines)))
        bar.setValue(bar.maximum() if is_at_end else place)
        self._nothing.setVisible(not lines)

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText("\n".join(self._shown or ()))
