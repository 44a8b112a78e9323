"""What all panels of the inspector have in common. GUI thread."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from PySide6.QtCore import QByteArray, QObject, QSize, Signal, Slot
from PySide6.QtGui import QPixmap, QShowEvent
from PySide6.QtWidgets import QWidget

from app.bridge.media_files import MediaFiles
from app.inspector.recording import Recording
from app.look.pixels import image_of
from app.look.words import tr
from app.protocol.media import Media, MediaKind, MediaSpan

MAX_HELD = 60


class Pictures(QObject):
    """Those of chats of this program; a caller's of the API are not kept."""

    loaded = Signal()  # another one can be shown

    def __init__(self, files: MediaFiles | None, parent: QObject) -> None:
        super().__init__(parent)
        self._files = files
        self._held: dict[str, QPixmap] = {}  # by SHA-256
        if files:
            files.thumbnail_loaded.connect(self._on_loaded)

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

    @Slot(str)
    def _on_loaded(self, _sha256: str) -> None:
        self.loaded.emit()


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
        self.pictures = Pictures(None, self)
        self.tabs: Collection[str] = ()  # chat_ids of chats with a tab; chats of the API have none

    def draw(self) -> None:
        """Draw what is new in the recording."""

    def set_pictures(self, pictures: Pictures) -> None:
        """Where small copies of pictures come from."""
        self.pictures = pictures

    def reset(self) -> None:
        """Another recording, or another model: discard what was drawn."""

    def _no_model(self, words: str) -> str:
        """What an empty panel says: `words`, marked, unless a model is on its way."""
        return tr("Loading the model…") if self.recording.is_loading else tr(words)

    def show_recording(self, recording: Recording) -> None:
        """Switch to a recorded file, or back to the live recording."""
        self.recording = recording
        self.reset()
        if self.isVisible():
            self.draw()

    def set_titles(self, titles: Mapping[str, str]) -> None:
        """The tabs' titles by chat_id."""
        self.titles = titles

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
        self.draw()
