"""Shows the text that was read from a file, as the model will get it. GUI thread."""

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QPlainTextEdit, QWidget

from app.chats.attachment import Attachment
from app.look.buttons import dialog_button
from app.look.figures import count
from app.look.fonts import code_font
from app.look.layouts import STRETCH, hbox, vbox
from app.look.plain_text import PlainLabel, heading
from app.look.popups import Popover
from app.look.words import tr
from app.ui.base.attachment_words import title

WIDTH, HEIGHT = 560, 360
GAP = 6
SHOWN_CHARS = 12_000  # laying out more would be slow


class AttachmentPreview(Popover):
    """Escape and a click beside it close it."""

    removed = Signal()
    turned_into_text = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setFixedSize(WIDTH, HEIGHT)
        self._title = heading("", self)
        self.figures = PlainLabel(parent=self, tone="muted")
        self.text = QPlainTextEdit(self)
        self.text.setReadOnly(True)
        self.text.setAccessibleName(tr("File content"))
        self.text.setFrameShape(QFrame.Shape.NoFrame)
        self.text.setFont(code_font())
        self.into_text = dialog_button(tr("Insert as text"), self._on_into_text, self)
        self.remove = dialog_button(tr("Remove"), self._on_remove, self)
        self._lay_out()

    def open_above(
        self,
        widget: QWidget,
        attachment: Attachment,
        detail: str,
        *,
        fits_draft: bool = False,
        is_sent: bool = False,
    ) -> None:
        """With `fits_draft`, it can be moved into the message's text. What is sent can only be read."""
        shown = attachment.text[:SHOWN_CHARS]
        name = title(attachment)
        metrics = self._title.fontMetrics()
        self._title.setText(metrics.elidedText(name, Qt.TextElideMode.ElideMiddle, WIDTH - 40))
        self.setAccessibleName(tr("Text of {name}", name=name))
        self.text.setAccessibleName(self.accessibleName())
        left_out = len(attachment.text) - len(shown)
        more = tr("first {number} characters", number=count(SHOWN_CHARS)) if left_out else ""
        self.figures.setText(" · ".join(part for part in (detail, more) if part))
        self.text.setPlainText(shown)
        self.into_text.setVisible(fits_draft)
        self.remove.setVisible(not is_sent)
        self._place_above(widget)
        self.show()
        self.text.setFocus()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.close()
        else:
            super().keyPressEvent(event)

    def _on_into_text(self) -> None:
        self.close()
        self.turned_into_text.emit()

    def _on_remove(self) -> None:
        self.close()
        self.removed.emit()

    def _place_above(self, widget: QWidget) -> None:
        """Or below it, where the window has no room above; and within the window's sides."""
        corner = widget.mapToGlobal(QPoint(0, 0))
        screen = widget.screen().availableGeometry()
        space = widget.window().frameGeometry().intersected(screen)
        above, below = corner.y() - self.height() - GAP, corner.y() + widget.height() + GAP
        has_room = above >= space.top() or below + self.height() > screen.bottom()
        x = max(screen.left(), min(corner.x(), space.right() - self.width() - GAP))
        self.move(x, max(above, screen.top()) if has_room else below)

    def _lay_out(self) -> None:
        foot = hbox(self.into_text, STRETCH, self.remove)
        parts = (self._title, self.figures, (self.text, 1), foot)
        vbox(*parts, on=self, margins=(16, 12, 16, 12), spacing=6)
