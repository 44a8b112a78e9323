"""One call of a tool, folded to a line: the tool, what it was called with, its state. GUI thread."""

import time
from collections.abc import Callable
from functools import partial
from typing import cast

from PySide6.QtCore import QEvent, QRect, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QAccessible,
    QAccessibleAnnouncementEvent,
    QColor,
    QFont,
    QHideEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QShowEvent,
)
from PySide6.QtWidgets import QAbstractButton, QApplication, QPushButton, QWidget

from app.chats.tool_use import Decision, ToolState, ToolUse
from app.look.fonts import small_font, tabular
from app.look.icons import icon
from app.look.layouts import drop
from app.look.painted import paint_rounded
from app.look.plain_text import PlainLabel
from app.look.tokens import current
from app.look.words import mark, tr, tr_said
from app.ui.message.text_part import TextPart
from app.ui.message.tool_text import ToolText
from app.ui.message.tool_words import (
    ToolLabel,
    has_arguments,
    pretty,
    server_text,
    spoken_state,
    state_text,
    summary,
)

HEADER = 34
PADDING = 12
GAP = 8
RADIUS = 8
ICON = 16
TURN_MS, TURN_STEP = 80, 30  # of the spinner: so many degrees at once
MIN_SUMMARY = 40

_ICONS = {
    ToolState.ASKING: ("circle-help", "accent"),
    ToolState.FAILED: ("triangle-alert", "danger"),
    ToolState.REFUSED: ("ban", "muted"),
    ToolState.STOPPED: ("stop", "muted"),
    ToolState.WRITING: ("pencil", "muted"),
    ToolState.DONE: ("check", "ok"),
}
_TITLES = {
    ToolState.FAILED: mark("Error"),
    ToolState.REFUSED: mark("The model was told"),
    ToolState.STOPPED: mark("Result so far"),
}
# In the order of reading; the first is the primary one.
_BUTTONS = (
    (Decision.ONCE, mark("Allow once"), mark("Run this call")),
    (Decision.THIS_CHAT, mark("Allow in this chat"), mark("Run this tool in this chat without asking")),
    (Decision.ALWAYS, mark("Always allow"), mark("Run this tool in every chat without asking")),
    (Decision.REFUSE, mark("Refuse"), mark("Tell the model that you refused this call")),
)
_TEXT_BUTTONS = (
    (Decision.ONCE, mark("Run it"), mark("Run this call")),
    (
        Decision.THIS_MODEL,
        mark("Always for this model"),
        mark("Run this call, and treat calls that this model writes as text like all others"),
    ),
    (Decision.REFUSE, mark("Leave it as text"), mark("It is the answer, not a call")),
)
_RISK = mark("This tool can make changes. If always allowed, it runs in every chat without asking.")
_IS_TEXT = mark("The model wrote this call as text. Run it?")


class CallDetails(QWidget):
    """What an open card shows of its call in the place of arguments and result."""

    height_changed = Signal()

    @property
    def is_empty(self) -> bool:
        """There is nothing of it yet."""
        raise NotImplementedError

    def apply(self) -> bool:
        """Whether its height may have changed."""
        raise NotImplementedError

    def set_zoom(self, zoom: int) -> None:
        raise NotImplementedError

    def arrange(self, width: int) -> int:
        raise NotImplementedError

    def text_parts(self) -> list[TextPart]:
        raise NotImplementedError


# What shows more of a call in its card, if anything does.
DetailsOf = Callable[[ToolUse, QWidget], CallDetails | None]


class ToolCard(QWidget):
    """Open while it asks, or runs with details; else as the user left it."""

    height_changed = Signal()
    decided = Signal(object, object)  # the ToolUse, a Decision

    def __init__(self, parent: QWidget, details_of: DetailsOf = lambda _use, _card: None) -> None:
        super().__init__(parent)
        self.use = ToolUse("", "")
        self._details_of, self.details = details_of, cast(CallDetails | None, None)
        self._label = ToolLabel("")
        self._zoom = 0
        self._is_open: bool | None = None  # what the user chose; None: nothing yet
        self._shown: tuple[object, ...] | None = None
        self.header = CardHeader(self)
        self.header.clicked.connect(self.toggle)
        self._arguments: ToolText | None = None
        self._result: ToolText | None = None
        self.warning: PlainLabel | None = None
        self.buttons: dict[Decision, QPushButton] = {}

    @property
    def is_open(self) -> bool:
        if self._is_open is not None:
            return self._is_open
        is_running = self.use.state is ToolState.RUNNING
        return self.use.state is ToolState.ASKING or (is_running and self._has_details)

    @property
    def _has_details(self) -> bool:
        return self.details is not None and not self.details.is_empty

    def apply(self, use: ToolUse, label: ToolLabel) -> bool:
        """Whether something has changed."""
        if use is not self.use:
            self.use, self._is_open = use, None
            self._drop_details()
        self._make_details()
        has_grown = self.details is not None and self.details.apply()
        shown = (use, label, len(use.arguments), use.state, len(use.result), self._has_details)
        if shown == self._shown:
            return has_grown and self.is_open
        was_asking = bool(self._shown) and self._shown[3] is ToolState.ASKING  # type: ignore[index]
        if was_asking and use.state is not ToolState.ASKING:
            self._is_open = None
        self._shown, self._label = shown, label
        self._show_state()
        return True

    def _make_details(self) -> None:
        if self.details is None and (details := self._details_of(self.use, self)):
            self.details = details
            details.height_changed.connect(self.height_changed)

    def _drop_details(self) -> None:
        if self.details:
            drop(self.details)
            self.details = None

    def toggle(self) -> None:
        self.set_open(not self.is_open)

    def set_open(self, is_open: bool) -> None:
        if is_open != self.is_open:
            self._is_open = is_open
            self._show_state()
            self.height_changed.emit()

    def text_parts(self) -> list[TextPart]:
        if not self.is_open:
            return []
        if self.details and not self.details.isHidden():
            return self.details.text_parts()
        views = [view for view in (self._arguments, self._result) if view and not view.isHidden()]
        return [part.under(number) for number, view in enumerate(views) for part in view.text_parts()]

    def show_match(self, query: str) -> None:
        """Opens, if a folded part has it."""
        texts = (self.use.arguments, self.use.result)
        if any(query.lower() in text.lower() for text in texts):
            self.set_open(True)

    def set_zoom(self, zoom: int) -> None:
        self._zoom = zoom
        for view in (self._arguments, self._result, self.details):
            if view:
                view.set_zoom(zoom)

    def arrange(self, width: int) -> int:
        self.header.setGeometry(0, 0, width, HEADER)
        y, inner = HEADER, width - 2 * PADDING
        if self.is_open:
            for view in (self._arguments, self._result):
                if view and not view.isHidden():
                    view.move(PADDING, y)
                    y += view.arrange(inner) + GAP
            if self.details and not self.details.isHidden():
                self.details.move(PADDING, y)
                y += self.details.arrange(inner) + GAP
            y = self._arrange_question(y, inner) + 2
        self.setFixedSize(width, y)
        return y

    def _arrange_question(self, y: int, inner: int) -> int:
        """The warning, and the buttons, in as many rows as they need."""
        if self.warning and not self.warning.isHidden():
            height = self.warning.heightForWidth(inner)
            self.warning.setGeometry(PADDING, y, inner, height)
            y += height + GAP
        shown = [button for button in self.buttons.values() if not button.isHidden()]
        x, height = PADDING, 0
        for button in shown:
            size = button.sizeHint()
            if x > PADDING and x + size.width() > PADDING + inner:
                x, y = PADDING, y + size.height() + GAP
            button.setGeometry(x, y, size.width(), size.height())
            x, height = x + size.width() + GAP, size.height()
        return y + height + GAP if shown else y

    # What it shows

    def _show_state(self) -> None:
        use, is_open = self.use, self.is_open
        is_asking = use.state is ToolState.ASKING
        self.header.apply(use, self._label, is_open)
        has_details = self._has_details
        if self.details:
            self.details.setVisible(is_open and has_details)
        self._show_arguments(is_open and not has_details and (has_arguments(use) or is_asking))
        self._show_result(is_open and not has_details and bool(use.result))
        if is_asking:
            self._make_question()
        if is_asking and self.isVisible() and QAccessible.isActive():
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, self.header.accessibleName()))
        for decision, button in self.buttons.items():
            is_lasting = decision in (Decision.THIS_CHAT, Decision.ALWAYS)
            button.setVisible(is_asking and is_open and not (is_lasting and self._label.always_asks))
        if self.warning:
            is_risky = self._label.writes and not self._label.always_asks
            self.warning.setText(tr(_IS_TEXT if use.is_text else _RISK))
            self.warning.setVisible(is_asking and is_open and (use.is_text or is_risky))
        self.update()

    def _show_arguments(self, is_shown: bool) -> None:
        use = self.use
        if is_shown and self._arguments is None:
            self._arguments = self._new_text(tr("Copy arguments"))
        if self._arguments:
            self._arguments.setVisible(is_shown)
            if is_shown:
                is_closed = use.state is not ToolState.WRITING
                text = pretty(use.arguments) if is_closed else use.arguments
                title = tr("Arguments") if has_arguments(use) else tr("No arguments")
                self._arguments.copy.setVisible(has_arguments(use))
                self._arguments.show_text(title, text if has_arguments(use) else "", is_closed=is_closed)

    def _show_result(self, is_shown: bool) -> None:
        if is_shown and self._result is None:
            self._result = self._new_text(tr("Copy result"))
        if self._result:
            self._result.setVisible(is_shown)
            if is_shown:
                title = tr(_TITLES.get(self.use.state, mark("Result")))
                self._result.show_text(title, pretty(tr_said(self.use.result)))

    def _new_text(self, copy_label: str) -> ToolText:
        """Created on first use: most cards are never opened."""
        text = ToolText(copy_label, self)
        text.set_zoom(self._zoom)
        text.height_changed.connect(self.height_changed)
        return text

    def _make_question(self) -> None:
        """Other buttons may be there, of another call."""
        wanted = _TEXT_BUTTONS if self.use.is_text else _BUTTONS
        if [button.text() for button in self.buttons.values()] == [tr(label) for _, label, _ in wanted]:
            return
        for button in self.buttons.values():
            drop(button)
        self.buttons = {}
        if self.warning is None:
            self.warning = PlainLabel(parent=self, tone="warning", wraps=True)
            self.warning.setFont(small_font())
        for decision, label, tip in wanted:
            button = QPushButton(tr(label), self)
            button.setAutoDefault(False)
            button.setToolTip(tr(tip))
            button.clicked.connect(partial(self._decide, decision))
            self.buttons[decision] = button
        self.buttons[Decision.ONCE].setProperty("kind", "first")

    def _decide(self, decision: Decision, _checked: bool = False) -> None:
        if self.use.state is ToolState.ASKING:
            self.header.setFocus()  # the buttons go
            self.decided.emit(self.use, decision)

    def paintEvent(self, _event: QPaintEvent) -> None:
        edge = current().accent if self.use.state is ToolState.ASKING else current().hairline
        paint_rounded(QPainter(self), self.rect(), RADIUS, 0.5, edge=edge)


class CardHeader(QAbstractButton):
    """The line of a folded card: unfolds it, and folds it again."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._use = ToolUse("", "")
        self._label = ToolLabel("")
        self._is_open = False
        self._began = 0.0
        self._angle = 0
        self._state = ""
        self._turns: QTimer | None = None  # made for the first turn: most cards are of calls that are done
        self.setFont(tabular(small_font()))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setCursor(Qt.CursorShape.PointingHandCursor)

    @property
    def words(self) -> str:
        """What can be read on it."""
        parts = (self._label.title, server_text(self._label.server), summary(self._use), self._state)
        return " ".join(part for part in parts if part)

    def apply(self, use: ToolUse, label: ToolLabel, is_open: bool) -> None:
        is_running = use.state is ToolState.RUNNING
        if is_running and not (self._use is use and self._turns and self._turns.isActive()):
            self._began = time.monotonic()
        self._use, self._label, self._is_open = use, label, is_open
        self._show_turning()
        self._state = state_text(use, time.monotonic() - self._began)
        name = tr("Tool {name}: {state}", name=label.title, state=spoken_state(use))
        self.setAccessibleName(name)
        self.setAccessibleDescription(tr("Expanded") if is_open else tr("Collapsed"))
        self.update()

    @property
    def _is_turning(self) -> bool:
        return self._use.state is ToolState.RUNNING

    def _show_turning(self) -> None:
        """Nothing moves that cannot be seen, or where motion is reduced: then no cursor blinks, either."""
        if self._is_turning and self.isVisible():
            if self._turns is None:
                self._turns = QTimer(self)
                self._turns.timeout.connect(self._turn)
            is_still = QApplication.cursorFlashTime() == 0
            self._turns.start(1_000 if is_still else TURN_MS)
        elif not self._is_turning and self._turns:
            self._turns.stop()

    def _turn(self) -> None:
        self._angle = (self._angle - TURN_STEP) % 360
        before, self._state = self._state, state_text(self._use, time.monotonic() - self._began)
        if self._state != before:
            self.update()
        else:
            self.update(self._mark_rect())

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._show_turning()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        if not self._is_turning and self._turns:
            self._turns.stop()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self.update()

    def sizeHint(self) -> QSize:
        return QSize(200, HEADER)

    # Painting, from the edges to the middle

    def paintEvent(self, _event: QPaintEvent) -> None:
        tokens, painter = current(), QPainter(self)
        if self.underMouse():
            paint_rounded(painter, self.rect(), RADIUS, 1, fill=tokens.surface)
        if self.hasFocus():
            paint_rounded(painter, self.rect(), RADIUS, 1, edge=tokens.accent, width=1.5)
        top = (HEADER - ICON) // 2
        icon("wrench").paint(painter, QRect(PADDING, top, ICON, ICON))
        chevron = "chevron-down" if self._is_open else "chevron-right"
        icon(chevron).paint(painter, QRect(self.width() - PADDING - ICON, top, ICON, ICON))
        self._paint_mark(painter)
        self._paint_words(painter, PADDING + ICON + GAP, self._paint_state(painter, tokens.muted))

    def _mark_rect(self) -> QRect:
        return QRect(self.width() - PADDING - 2 * ICON - GAP, (HEADER - ICON) // 2, ICON, ICON)

    def _paint_mark(self, painter: QPainter) -> None:
        rect, tokens = self._mark_rect(), current()
        if not self._is_turning:
            name, colour = _ICONS[self._use.state]
            icon(name, getattr(tokens, colour)).paint(painter, rect)
            return
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        ring = QRectF(rect).adjusted(2, 2, -2, -2)
        painter.setPen(QPen(QColor(tokens.hairline), 2))
        painter.drawEllipse(ring)
        painter.setPen(QPen(QColor(tokens.accent), 2, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
        painter.drawArc(ring, self._angle * 16, 90 * 16)

    def _paint_state(self, painter: QPainter, colour: str) -> int:
        """Where it begins."""
        width = painter.fontMetrics().horizontalAdvance(self._state)
        right = self._mark_rect().left() - 6
        painter.setPen(QColor(current().danger if self._use.state is ToolState.FAILED else colour))
        place = QRect(right - width - 2, 0, width + 2, HEADER)
        painter.drawText(place, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, self._state)
        return place.left() if width else right

    def _paint_words(self, painter: QPainter, left: int, right: int) -> None:
        tokens = current()
        bold = QFont(self.font())
        bold.setWeight(QFont.Weight.DemiBold)
        left = self._paint_text(painter, bold, tokens.text, self._label.title, left, right)
        server = server_text(self._label.server)
        if server and right - left > painter.fontMetrics().horizontalAdvance(server) + MIN_SUMMARY:
            left = self._paint_text(painter, self.font(), tokens.muted, server, left, right)
        self._paint_text(painter, self.font(), tokens.muted, summary(self._use), left + 4, right - GAP)

    def _paint_text(
        self, painter: QPainter, font: QFont, colour: str, text: str, left: int, right: int
    ) -> int:
        """Elided where there is no room; returns where the next one may begin."""
        if not text or right - left < MIN_SUMMARY:
            return left
        painter.setFont(font)
        painter.setPen(QColor(colour))
        shown = painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, right - left)
        painter.drawText(QRect(left, 0, right - left, HEADER), Qt.AlignmentFlag.AlignVCenter, shown)
        return left + painter.fontMetrics().horizontalAdvance(shown) + GAP
