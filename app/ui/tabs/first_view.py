"""What the window shows while most of Skein is still being imported: backgrounds of its parts, and an editor
for a message, all in their final places. GUI thread.

Imports next to nothing: it is painted before the engine, the storage and the settings are known.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtCore import QEvent, QMargins, QRect, Signal, SignalInstance
from PySide6.QtGui import QColor, QPainter
from PySide6.QtWidgets import QWidget

from app.look.fonts import reading_font
from app.look.tokens import current
from app.settings.appearance import AppearanceSettings
from app.ui.base.proportions import (
    COMPOSER_PADDING,
    COMPOSER_TOP,
    LIST_WIDTH,
    PICKER_HEIGHT,
    STRIP_HEIGHT,
    TEXT_INSET,
    composer_rect,
    has_list,
    status_height,
)
from app.ui.composer.message_editor import MessageEditor, paint_frame

if TYPE_CHECKING:
    from PySide6.QtGui import QPaintEvent, QResizeEvent

    from app.ui.composer.composer import Composer

LINE = 1  # between the list and the tabs


class FirstLayout(NamedTuple):
    """The layout when the window was closed last."""

    list_choice: bool | None = None  # whether the list of chats is shown; None: depends on the width
    list_width: int = LIST_WIDTH
    around: QMargins = QMargins()  # the space of the inspector


USUAL_LAYOUT = FirstLayout()


class FirstPage(QWidget):
    """The page of a chat that is not loaded yet. Actions in its editor are recorded, and replayed then."""

    def __init__(self, appearance: AppearanceSettings, parent: QWidget) -> None:
        super().__init__(parent)
        self._zoom = appearance.zoom
        self._pending: list[tuple[SignalInstance | None, tuple[object, ...]]] = []  # None: it was submitted
        self.editor = MessageEditor(self)
        self.editor.setFont(reading_font(appearance.zoom))
        self.editor.fit()
        self.editor.enter_sends = appearance.enter_sends
        self.editor.focus_changed.connect(self.update)
        self.editor.submitted.connect(self._on_submitted)
        self._gifts = (self.editor.files_given, self.editor.picture_given, self.editor.long_text_given)
        for signal in self._gifts:
            signal.connect(partial(self._keep, signal))
        self.setFocusProxy(self.editor)

    def hand_over(self) -> MessageEditor:
        """Gives the editor to the composer of a chat. Call `replay` once that is connected."""
        for signal in (self.editor.focus_changed, self.editor.submitted, *self._gifts):
            signal.disconnect()
        self.setFocusProxy(None)  # type: ignore[arg-type]  # else it would take the focus along when it goes
        return self.editor

    def replay(self, composer: Composer) -> None:
        for signal, values in self._pending:
            (signal or composer.submitted).emit(*values)

    def _keep(self, signal: SignalInstance | None, *values: object) -> None:
        self._pending.append((signal, values))

    def _on_submitted(self) -> None:
        text = self.editor.toPlainText()
        if text.strip():
            self._keep(None, text, ())
            self.editor.clear()

    @property
    def _frame(self) -> QRect:
        return composer_rect(self.rect(), self.editor.height(), self._zoom)

    def _place(self) -> None:
        frame = self._frame
        left = frame.left() + COMPOSER_PADDING + TEXT_INSET
        width = frame.right() + 1 - COMPOSER_PADDING - left
        self.editor.setGeometry(left, frame.top() + COMPOSER_TOP, width, self.editor.height())
        self.update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place()

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.LayoutRequest and self.editor.parent() is self:  # a line was begun
            self._place()
        return super().event(event)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), QColor(current().window))
        paint_frame(painter, self._frame, self.editor.hasFocus())


class FirstView(QWidget):
    """The whole window except its menu bar."""

    painted = Signal()

    def __init__(self, appearance: AppearanceSettings, layout: FirstLayout, parent: QWidget) -> None:
        super().__init__(parent)
        self._layout = layout
        self.page = FirstPage(appearance, self)

    @property
    def _middle(self) -> QRect:
        """Between the inspector's panels and above the status bar: the list of chats, and the tabs."""
        return self.rect().marginsRemoved(self._layout.around).adjusted(0, 0, 0, -status_height())

    def _list_width(self) -> int:
        is_there = has_list(self._layout.list_choice, self.width(), self._middle.width())
        return self._layout.list_width if is_there else 0

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        width = self._list_width()
        left = width + LINE if width else 0
        self.page.setGeometry(self._middle.adjusted(left, STRIP_HEIGHT + PICKER_HEIGHT, 0, 0))

    def paintEvent(self, _event: QPaintEvent) -> None:
        tokens, middle = current(), self._middle
        painter = QPainter(self)
        painter.fillRect(self.rect(), QColor(tokens.surface))
        painter.fillRect(self.page.geometry().adjusted(0, -PICKER_HEIGHT, 0, 0), QColor(tokens.window))
        painter.setPen(QColor(tokens.hairline))
        if width := self._list_width():
            painter.drawLine(
                middle.left() + width - 1, middle.top(), middle.left() + width - 1, middle.bottom()
            )
        painter.drawLine(0, self.height() - status_height(), self.width(), self.height() - status_height())
        for x in (middle.left() - 1, middle.right() + 1):  # outside of the window where no panel is
            painter.drawLine(x, middle.top(), x, middle.bottom())
        self.painted.emit()
