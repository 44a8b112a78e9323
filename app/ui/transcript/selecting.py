"""How the page's selection is made: by mouse and by keys, as in any text. GUI thread."""

from collections.abc import Callable
from dataclasses import replace
from enum import Enum
from itertools import pairwise

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, Qt, QTimer, QUrl, Signal, Slot
from PySide6.QtGui import (
    QClipboard,
    QColor,
    QFocusEvent,
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QTextCursor,
)
from PySide6.QtWidgets import QAbstractScrollArea, QApplication, QWidget
from shiboken6 import isValid

from app.inspector.lens_text import sentences_of
from app.look.icons import icon
from app.look.popups import Menu
from app.look.tokens import current
from app.look.words import tr
from app.ui.message.safe_browser import SafeBrowser
from app.ui.message.text_part import SelectedText, TextPart
from app.ui.transcript.selection import PageSelection, Point
from app.ui.transcript.turn_actions import TurnAction, menu_label
from app.ui.transcript.turn_view import TurnView
from app.ui.transcript.view_pool import ViewPool

SCROLL_MS = 16
MAX_STEP = 60  # pixels at once, when the pointer is far away
_Move = QTextCursor.MoveOperation
_MOVES = {
    Qt.Key.Key_Left: (_Move.Left, _Move.WordLeft),
    Qt.Key.Key_Right: (_Move.Right, _Move.WordRight),
    Qt.Key.Key_Up: (_Move.Up, _Move.StartOfBlock),
    Qt.Key.Key_Down: (_Move.Down, _Move.EndOfBlock),
    Qt.Key.Key_Home: (_Move.StartOfLine, _Move.Start),
    Qt.Key.Key_End: (_Move.EndOfLine, _Move.End),
}
_BACK = (Qt.Key.Key_Left, Qt.Key.Key_Up, Qt.Key.Key_Home)


class Unit(Enum):
    """What a selection grows by: so many clicks began it."""

    CHARACTER = 1
    WORD = 2
    PARAGRAPH = 3


class Selecting(QObject):
    def __init__(
        self,
        area: QAbstractScrollArea,
        views: ViewPool,
        selection: PageSelection,
        scroll_to: Callable[[QWidget, QRect], None],
    ) -> None:
        super().__init__(area)
        self._area = area
        self._views = views
        self._selection = selection
        self._scroll_to = scroll_to
        self._unit = Unit.CHARACTER
        self._is_dragging = False
        self._begun: tuple[Point, Point] | None = None  # what was clicked: its unit's begin and end
        self._pressed_at = self._pointer = QPoint()  # in the viewport
        self._doubled: tuple[int, QPoint] | None = None  # when, in ms, and where the last double click was
        self._scrolls = QTimer(self, interval=SCROLL_MS)
        self._scrolls.timeout.connect(self._scroll_on)
        area.viewport().installEventFilter(self)

    # The mouse

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        """The viewport gets the events that no view has taken."""
        if not isinstance(event, QMouseEvent):
            return False
        kind = event.type()
        if kind == QEvent.Type.MouseMove and self._is_dragging:
            self._drag(self._place_of(event))
        elif event.button() is not Qt.MouseButton.LeftButton:
            return False
        elif kind in (QEvent.Type.MouseButtonPress, QEvent.Type.MouseButtonDblClick):
            self._press(event)
        elif kind == QEvent.Type.MouseButtonRelease and self._is_dragging:
            self._release(event)
        else:
            return False
        event.accept()
        return True

    def _press(self, event: QMouseEvent) -> None:
        self._pressed_at = self._place_of(event)
        self._unit = self._unit_of(event)
        self._is_dragging = True
        if event.modifiers() & Qt.KeyboardModifier.ShiftModifier and self._selection.anchor:
            self._begun = self._begun or (self._selection.anchor, self._selection.anchor)
        else:
            self._begun = self._around(self._pressed_at)
        self._select_to(self._pressed_at)

    def _unit_of(self, event: QMouseEvent) -> Unit:
        at, place = event.timestamp(), self._pressed_at
        if event.type() == QEvent.Type.MouseButtonDblClick:
            self._doubled = (at, place)
            return Unit.WORD
        doubled, self._doubled = self._doubled, None
        is_third = (
            doubled is not None
            and at - doubled[0] <= QApplication.doubleClickInterval()
            and (place - doubled[1]).manhattanLength() <= QApplication.startDragDistance()
        )
        return Unit.PARAGRAPH if is_third else Unit.CHARACTER

    def _drag(self, place: QPoint) -> None:
        self._pointer = place
        height = self._area.viewport().height()
        if 0 <= place.y() < height:
            self._scrolls.stop()
            self._select_to(place)
        elif not self._scrolls.isActive():
            self._scrolls.start()

    def _scroll_on(self) -> None:
        """The pointer is above or below the page: the farther, the faster."""
        place, height = self._pointer, self._area.viewport().height()
        beyond = place.y() if place.y() < 0 else max(0, place.y() - height + 1)
        bar = self._area.verticalScrollBar()
        bar.setValue(bar.value() + max(-MAX_STEP, min(MAX_STEP, beyond)))
        self._select_to(place)

    def _release(self, event: QMouseEvent) -> None:
        self._is_dragging = False
        if self._scrolls.isActive():
            self._scrolls.stop()
            self._select_to(self._place_of(event))
        if self._selection:
            if QGuiApplication.clipboard().supportsSelection():
                self._selection.copy(QClipboard.Mode.Selection)
        elif (self._place_of(event) - self._pressed_at).manhattanLength() < QApplication.startDragDistance():
            self._follow_link(self._place_of(event))

    def _follow_link(self, place: QPoint) -> None:
        pane = self._area.viewport().childAt(place)
        browser = pane.parent() if pane else None
        if isinstance(browser, SafeBrowser):
            target = browser.anchorAt(browser.viewport().mapFrom(self._area.viewport(), place))
            if target:
                browser.anchorClicked.emit(QUrl(target))

    def _place_of(self, event: QMouseEvent) -> QPoint:
        return self._area.viewport().mapFromGlobal(event.globalPosition().toPoint())

    def _select_to(self, place: QPoint) -> None:
        """From what was clicked to the unit at that place, in whole units."""
        here = self._around(place)
        if self._begun is None or here is None:
            self._selection.clear()
            return
        first, begin = self._selection.place_of(self._begun[0]), self._selection.place_of(here[0])
        if first is None or begin is None:
            self._selection.clear()
        elif begin < first:
            self._selection.select(self._begun[1], here[0])
        else:
            self._selection.select(self._begun[0], here[1])

    def is_selected(self, place: QPoint) -> bool:
        """Whether that place in the viewport is."""
        found = self._cursor_at(place)
        if found is None:
            return False
        view, part, cursor = found
        return self._selection.contains(Point(view.turn.id, part.key, cursor.position()))

    def _around(self, place: QPoint) -> tuple[Point, Point] | None:
        """The begin and the end of the unit there."""
        found = self._cursor_at(place)
        if found is None:
            return None
        view, part, cursor = found
        if self._unit is Unit.WORD:
            cursor.select(QTextCursor.SelectionType.WordUnderCursor)
        elif self._unit is Unit.PARAGRAPH:
            cursor.movePosition(_Move.StartOfBlock)
            cursor.movePosition(_Move.EndOfBlock, QTextCursor.MoveMode.KeepAnchor)
        ends = (cursor.selectionStart(), cursor.selectionEnd())
        return Point(view.turn.id, part.key, ends[0]), Point(view.turn.id, part.key, ends[1])

    def sentence_at(self, place: QPoint) -> str:
        """The shown text. Empty between texts."""
        found = self._cursor_at(place)
        if found is None or not self._rect_of(found[1]).contains(place):
            return ""
        block, offset = found[2].block(), found[2].positionInBlock()
        text = block.text()
        spans = (span for span in sentences_of(text) if span[0] <= offset <= span[1])
        return next((text[begin:end].strip() for begin, end in spans), "")

    def _cursor_at(self, place: QPoint) -> tuple[TurnView, TextPart, QTextCursor] | None:
        views = [view for view in self._views.live if not view.editor and _shown(view)]
        if not views:
            return None
        view = next((view for view in reversed(views) if view.y() <= place.y()), views[0])
        part = min(_shown(view), key=lambda part: _distance(self._rect_of(part), place))
        assert part.pane
        return view, part, self._cursor_in(part.pane, place)

    def _rect_of(self, part: TextPart) -> QRect:
        assert part.pane
        return QRect(part.pane.mapTo(self._area.viewport(), QPoint(0, 0)), part.pane.size())

    def _cursor_in(self, pane: SelectedText, place: QPoint) -> QTextCursor:
        inside = pane.viewport().mapFrom(self._area.viewport(), place)
        cursor = QTextCursor(pane.document())
        if inside.y() < 0:
            return cursor
        if inside.y() >= pane.height():
            cursor.movePosition(_Move.End)
            return cursor
        return pane.cursorForPosition(inside)

    # The keys

    def press_key(self, event: QKeyEvent) -> bool:
        """Whether it is about the selection."""
        selection, is_shifted = self._selection, event.modifiers() & Qt.KeyboardModifier.ShiftModifier
        if event.matches(QKeySequence.StandardKey.Copy):
            selection.copy()
        elif event.matches(QKeySequence.StandardKey.SelectAll):
            selection.select_all()
        elif event.key() == Qt.Key.Key_Escape and selection:
            selection.clear()
        elif is_shifted and event.key() in _MOVES and selection.focus:
            is_far = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
            self._move(_MOVES[Qt.Key(event.key())][is_far], event.key() in _BACK)
        else:
            return False
        return True

    def _move(self, move: QTextCursor.MoveOperation, is_back: bool) -> None:
        """The focus, on to the next text where this one ends. It moves only where it can be seen."""
        parts = [(view, part) for view in self._views.live if not view.editor for part in _shown(view)]
        focus = self._selection.focus
        at = next((at for at, (view, part) in enumerate(parts) if focus == _with(focus, view, part)), None)
        if focus is None or at is None:
            return
        view, part = parts[at]
        assert part.pane
        cursor = QTextCursor(part.pane.document())
        cursor.setPosition(min(focus.position, part.pane.length))
        if not cursor.movePosition(move) and 0 <= (at := at + (-1 if is_back else 1)) < len(parts):
            view, part = parts[at]
            assert part.pane
            cursor = QTextCursor(part.pane.document())
            cursor.movePosition(_Move.End if is_back else _Move.Start)
        assert part.pane
        self._selection.select(self._selection.anchor, Point(view.turn.id, part.key, cursor.position()))
        self._scroll_to(part.pane.viewport(), part.pane.cursorRect(cursor))


def _with(point: Point | None, view: TurnView, part: TextPart) -> Point | None:
    return replace(point, turn_id=view.turn.id, key=part.key) if point else None


def _shown(view: TurnView) -> list[TextPart]:
    return [part for part in view.text_parts() if part.pane and part.pane.isVisibleTo(view)]


def _distance(rect: QRect, place: QPoint) -> int:
    """Squared."""
    dx = max(rect.left() - place.x(), 0, place.x() - rect.right())
    dy = max(rect.top() - place.y(), 0, place.y() - rect.bottom())
    return dx * dx + dy * dy


class PageFocus(QObject):
    """Connected only while the page is shown: the application signals every change to all pages."""

    moved = Signal(bool)  # whether the page, or something in it, has the focus now

    def __init__(self, views: ViewPool, page: QWidget) -> None:
        super().__init__(page)
        self._views = views
        self._page = page
        self._listens = False
        self.view: TurnView | None = None  # the one with the focus

    def listen(self) -> None:
        application = QApplication.instance()
        if isinstance(application, QApplication) and not self._listens:
            self._listens = True
            application.focusChanged.connect(self._on_focus_changed)

    def end(self) -> None:
        application = QApplication.instance()
        if isinstance(application, QApplication) and self._listens:
            self._listens = False
            application.focusChanged.disconnect(self._on_focus_changed)
        self._set_view(None)

    def chain(self, first: QWidget, last: QWidget) -> None:
        """Tab goes down the page, whatever the order of creation."""
        chain = [first]
        for view in self._views.live:
            chain += view.focus_chain()
        for before, widget in pairwise([*chain, last]):
            QWidget.setTabOrder(before, widget)

    @Slot("QWidget*", "QWidget*")
    def _on_focus_changed(self, _old: QWidget | None, new: QWidget | None) -> None:
        self._set_view(self._views.with_widget(new) if new else None)
        self.moved.emit(new is not None and (new is self._page or self._page.isAncestorOf(new)))

    def _set_view(self, view: TurnView | None) -> None:
        if view is self.view:
            return
        if self.view:
            self.view.set_has_focus(False)
        self.view = view
        if view:
            view.set_has_focus(True)


LINE_WIDTH = 2
_BY_KEYS = (
    Qt.FocusReason.TabFocusReason,
    Qt.FocusReason.BacktabFocusReason,
    Qt.FocusReason.ShortcutFocusReason,
)


class FocusLine(QWidget):
    """At the left edge of the pane. Not shown for focus by mouse, where the place is obvious."""

    def __init__(self, pane: QWidget) -> None:
        super().__init__(pane)
        self._pane = pane
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.hide()
        pane.installEventFilter(self)

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        if not isValid(self._pane):  # it is being deleted, and so loses the focus
            return False
        if isinstance(event, QFocusEvent):
            self.setGeometry(0, 0, LINE_WIDTH, self._pane.height())
            self.setVisible(event.gotFocus() and event.reason() in _BY_KEYS)
            self.raise_()
        elif event.type() == QEvent.Type.Resize:
            self.resize(LINE_WIDTH, self._pane.height())
        return False

    def paintEvent(self, _event: QPaintEvent) -> None:
        QPainter(self).fillRect(self.rect(), QColor(current().accent))


class SelectionMenu(Menu):
    """Lives as long as it is open."""

    def __init__(self, selection: PageSelection, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        copy = self.addAction(icon("copy"), tr("&Copy"))
        copy.setShortcut(QKeySequence.StandardKey.Copy)  # shown; the page has the key
        copy.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
        copy.triggered.connect(lambda: selection.copy())
        markdown = self.addAction(tr("Copy as &Markdown"))
        markdown.triggered.connect(lambda: selection.copy(is_markdown=True))
        self.addSeparator()
        everything = self.addAction(tr("Select &all messages"))
        everything.setShortcut(QKeySequence.StandardKey.SelectAll)
        everything.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
        everything.triggered.connect(selection.select_all)

    def add_lens(self, show: Callable[[], None]) -> None:
        """For what is selected in an answer."""
        self.addSeparator()
        self.addAction(icon("search"), menu_label(TurnAction.LENS)).triggered.connect(lambda: show())
