"""What all panels of the inspector have in common. GUI thread."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from PySide6.QtCore import QByteArray, QObject, QSize, Qt, Signal, Slot
from PySide6.QtGui import QColor, QHideEvent, QPainter, QPaintEvent, QPixmap, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QDockWidget, QMainWindow, QWidget

from app.bridge.media_files import MediaFiles
from app.inspector.recording import Recording
from app.look.buttons import IconButton
from app.look.layouts import STRETCH, hbox
from app.look.painted import image_of
from app.look.plain_text import PlainLabel, heading
from app.look.strip import Offer, Strip, StripLook
from app.look.tokens import current
from app.look.words import tr
from app.protocol.commands import DescribeTokens, WatchCells
from app.protocol.media import Media, MediaKind, MediaSpan

MAX_HELD = 60
HEIGHT = 32
BUTTON = 22
USUAL_SIZE, MIN_SIZE = QSize(600, 300), QSize(240, 160)  # of a panel that is not made yet
BANNER = StripLook(margins=(12, 2, 8, 2), tint=0.08, height=30, is_small=True)
OF_A_FILE = replace(BANNER, colour="warning", tint=0.16)


class Pictures(QObject):
    """Pictures in chats of this program; what callers of the API send is not kept."""

    loaded = Signal()  # another one can be shown

    def __init__(self, files: MediaFiles | None, parent: QObject) -> None:
        super().__init__(parent)
        self._files = files
        self._held: dict[str, QPixmap] = {}  # by SHA-256
        if files:
            files.thumbnail_loaded.connect(self.loaded)

    def of(self, span: MediaSpan) -> QPixmap | None:
        """None for a sound, and until it is loaded, which begins with this call."""
        if span.sha256 in self._held:
            return self._held[span.sha256]
        if self._files is None or span.kind is not MediaKind.PICTURE or not span.sha256:
            return None
        pixels = self._files.thumbnail(Media(span.kind, span.sha256, b""))
        if pixels is None:
            return None
        if len(self._held) >= MAX_HELD:
            self._held.clear()
        self._held[span.sha256] = QPixmap.fromImage(image_of(pixels))
        return self._held[span.sha256]


@dataclass(frozen=True, slots=True)
class Later:
    """In place of a panel's class: it is imported and made when it is first seen."""

    NAME: str
    TITLE: str  # marked
    load: Callable[[], type[DockPanel]]


class DockPanel(QWidget):
    """One dock. It is drawn at most ten times a second, only while it can be seen, and when it appears.

    Reads the recording and changes nothing: actions on the engine are emitted as a Command.
    """

    NAME = ""  # of the dock, for saved layouts
    TITLE = ""  # for the user, marked
    SIZE, MIN_SIZE = QSize(600, 300), QSize(240, 120)

    WATCHES_CELLS = False  # it shows cell maps, which the engine makes only while somebody does

    shown = Signal()  # it can be seen now
    chat_activated = Signal(str)  # chat_id: show its tab
    sequence_selected = Signal(int)  # seq_id: every panel marks it
    step_selected = Signal(int)  # number of a step: every panel that shows one shows this one
    commanded = Signal(object)  # Command
    stop_requested = Signal(str)  # request_id: end this answer
    fork_requested = Signal(str)  # chat_id: go on in a copy of this chat

    def __init__(self, recording: Recording, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.recording = recording
        self.titles: Mapping[str, str] = {}
        self.tabs: Collection[str] = ()  # chat_ids of chats with a tab; chats of the API have none
        self.front: Callable[[], str] = str  # the chat_id of the tab in front
        self.message = PlainLabel(parent=self, tone="muted", wraps=True)  # why it is empty
        self.message.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.message.hide()
        self._is_watching = False

    def draw(self) -> None:
        """Draw what is new in the recording."""

    def set_pictures(self, pictures: Pictures) -> None:
        """Where small copies of pictures come from."""

    def reset(self) -> None:
        """Another recording, or another model: discard what was drawn."""

    def _no_model(self, words: str) -> str:
        """What an empty panel says: `words`, marked, unless a model is on its way, or another program's."""
        if self.recording.foreign:
            return tr("Not told by this server. What it tells is in the panel Server.")
        return tr("Loading the model…") if self.recording.is_loading else tr(words)

    def show_recording(self, recording: Recording) -> None:
        """Switch to a recorded file, or back to the live recording."""
        self.recording = recording
        self.reset()
        if self.isVisible():
            self._watch(recording.is_live)
            self.draw()

    def set_titles(self, titles: Mapping[str, str]) -> None:
        """The tabs' titles by chat_id."""
        self.titles = titles
        if self.isVisible():
            self.draw()

    def ask_for_texts(self, token_ids: Iterable[int]) -> None:
        """A recorded file has no engine to ask."""
        if self.recording.is_live and (unknown := self.recording.unknown_tokens(token_ids)):
            self.commanded.emit(DescribeTokens(unknown))

    def select_sequence(self, seq_id: int) -> None:
        """This sequence was chosen, here or in another panel."""

    def select_step(self, step: int) -> None:
        """This step was chosen, here or in another panel."""

    def save_layout(self) -> QByteArray:
        """The panel's own layout, such as columns; saved with the window."""
        return QByteArray()

    def restore_layout(self, layout: QByteArray) -> None:
        """Takes what `save_layout` returned, possibly in an earlier version."""

    def sizeHint(self) -> QSize:
        return self.SIZE

    def minimumSizeHint(self) -> QSize:
        return self.MIN_SIZE

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._watch(self.recording.is_live)
        self.draw()
        self.shown.emit()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._watch(False)

    def _watch(self, is_watching: bool) -> None:
        if self.WATCHES_CELLS and is_watching != self._is_watching:
            self._is_watching = is_watching
            self.commanded.emit(WatchCells(is_watching))


class PanelDock(QDockWidget):
    """Its panel is hidden whenever it cannot be seen, so that `panel.isVisible()` is reliable.

    `make` is called when the panel is first seen, or asked for.
    """

    explained = Signal()  # show it in the guide

    def __init__(
        self, kind: type[DockPanel] | Later, make: Callable[[], DockPanel], window: QMainWindow
    ) -> None:
        title = tr(kind.TITLE)
        super().__init__(title, window)
        self._make = make
        self._panel: DockPanel | None = None
        self._is_shown = False  # as last signalled by Qt
        self.title = DockTitle(self)
        self.setObjectName(f"inspector.{kind.NAME}")
        self.setProperty("is_read", True)  # the focus stays in it: see FocusHome
        self.seat = Seat(self)
        self.setWidget(self.seat)
        self.setTitleBarWidget(self.title)
        self.toggleViewAction().setObjectName(f"inspector.panel.{kind.NAME.replace(' ', '-')}")
        self.toggleViewAction().setStatusTip(tr("Show or hide the panel “{title}”", title=title))
        self.toggleViewAction().triggered.connect(self._on_toggled)
        # For Qt a dock behind another tab counts as visible, and its panel with it.
        self.visibilityChanged.connect(self.show_panel)

    @property
    def panel(self) -> DockPanel:
        return self._panel or self.make_panel()

    def make_panel(self) -> DockPanel:
        self._panel = self._make()
        self.seat.take(self._panel)
        return self._panel

    @property
    def has_panel(self) -> bool:
        return self._panel is not None

    @Slot(bool)
    def show_panel(self, is_shown: bool) -> None:
        """Not while the window is hidden or still being arranged."""
        self._is_shown = is_shown
        if self._panel or (is_shown and self.isVisible() and self.updatesEnabled()):
            self.panel.setVisible(is_shown)

    @Slot(bool)
    def _on_toggled(self, is_shown: bool) -> None:
        """Qt shows it where it was: behind another tab, perhaps."""
        if is_shown:
            self.raise_()

    def settle(self) -> None:
        """The window's layout is complete."""
        # Qt sends no signal for a dock that was behind a tab when it was torn off.
        self.show_panel(self.isVisible() if self.isFloating() else self._is_shown)

    @Slot()
    def switch_floating(self) -> None:
        """Behind a tab it has no place of its own: raised first, it is torn off where it stood."""
        self.raise_()
        self.setFloating(not self.isFloating())
        self.raise_()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self.isFloating():
            painter = QPainter(self)
            painter.setPen(QColor(current().muted))
            painter.drawRect(self.rect().adjusted(0, 0, -1, -1))


class DockTitle(QWidget):
    """Its name, tear off, close. Takes no room where the name stands on a tab."""

    def __init__(self, dock: PanelDock) -> None:
        super().__init__(dock)
        self._is_on_tab = False
        name = heading(dock.windowTitle(), self)
        self._tear_off = IconButton("picture-in-picture-2", tr("Tear off"), BUTTON, self, icon_side=14)
        self._tear_off.clicked.connect(dock.switch_floating)
        explain = IconButton("circle-help", tr("Explain in the guide"), BUTTON, self, icon_side=14)
        explain.clicked.connect(dock.explained)
        close = IconButton("x", tr("Close panel"), BUTTON, self, icon_side=14)
        close.clicked.connect(dock.close)
        dock.topLevelChanged.connect(self._on_torn_off)
        hbox(name, STRETCH, explain, self._tear_off, close, on=self, margins=(12, 0, 8, 0), spacing=2)

    def set_on_tab(self, is_on_tab: bool) -> None:
        if is_on_tab != self._is_on_tab:
            self._is_on_tab = is_on_tab
            for part in self.findChildren(QWidget):
                part.setVisible(not is_on_tab)
            self.updateGeometry()

    def sizeHint(self) -> QSize:
        return QSize(120, 0 if self._is_on_tab else HEIGHT)

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def _on_torn_off(self, is_floating: bool) -> None:
        self._tear_off.set_label(tr("Dock") if is_floating else tr("Tear off"))


class Seat(QWidget):
    """Keeps a panel's place in the layout while the panel itself is hidden. Above it is room for a banner."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._panel: DockPanel | None = None
        self.banner = Strip(BANNER, self)

    def take(self, panel: DockPanel) -> None:
        self._panel = panel
        panel.setParent(self)
        panel.hide()
        self.updateGeometry()
        self._place()

    def tell(self, text: str, *offers: Offer, is_file: bool) -> None:
        """What the panels show: a file, or one of several engines. "" if nobody needs to be told."""
        self.banner.look = OF_A_FILE if is_file else BANNER
        if text:
            self.banner.say(text, *offers)
        else:
            self.banner.clear()
        self._place()

    def sizeHint(self) -> QSize:
        return self._panel.sizeHint() if self._panel else USUAL_SIZE

    def minimumSizeHint(self) -> QSize:
        return self._panel.minimumSizeHint() if self._panel else MIN_SIZE

    def resizeEvent(self, _event: QResizeEvent) -> None:
        self._place()

    def _place(self) -> None:
        top = 0 if self.banner.isHidden() else self.banner.height()
        self.banner.setGeometry(0, 0, self.width(), self.banner.height())
        if self._panel:
            self._panel.setGeometry(self.rect().adjusted(0, top, 0, 0))
