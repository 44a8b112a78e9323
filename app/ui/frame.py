"""The application, and its window at the first paint: the titles of the menus and the first view. GUI thread.

`MainWindow` puts the parts into it. Nothing is imported here that the first paint does not need.
"""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QSize, Signal
from PySide6.QtGui import QFileOpenEvent
from PySide6.QtWidgets import QApplication, QMainWindow

from app.look.theme import STYLE, STYLE_PROPERTY
from app.look.words import mark, tr
from app.settings.appearance import USUAL_APPEARANCE, AppearanceSettings
from app.ui.tabs.first_view import USUAL_LAYOUT, FirstLayout, FirstView

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from PySide6.QtGui import QCloseEvent


class Application(QApplication):
    """Takes files that the system asks it to open.

    macOS sends an event where others start the program again; the first may come before a slot is connected.
    """

    asked_to_open = Signal()  # there are files to take

    def __init__(self, arguments: Sequence[str]) -> None:
        super().__init__([*arguments, "-style", STYLE])  # faster than by a call
        self.setProperty(STYLE_PROPERTY, STYLE)
        self._asked_files: list[Path] = []

    def take_asked_files(self) -> list[Path]:
        files, self._asked_files = self._asked_files, []
        return files

    def event(self, event: QEvent) -> bool:
        if not isinstance(event, QFileOpenEvent):
            return super().event(event)
        if file := event.file():  # else it is a URL
            self._asked_files.append(Path(file))
            self.asked_to_open.emit()
        return True


WINDOW_SIZE = QSize(1280, 800)
FRAME_SIZE = QSize(8, 40)  # what a window manager may add around it


class Frame(QMainWindow):
    quit_requested = Signal()  # File > Quit or the window's close button

    def __init__(
        self, appearance: AppearanceSettings = USUAL_APPEARANCE, layout: FirstLayout = USUAL_LAYOUT
    ) -> None:
        super().__init__()
        self.was_closed = False  # the user closed it, even before it was connected
        self.setWindowTitle("Skein")
        self.setAcceptDrops(True)
        self.setMinimumSize(560, 400)
        self.resize(WINDOW_SIZE.boundedTo(self.screen().availableSize() - FRAME_SIZE))
        for title in TITLES:
            self.menuBar().addAction(tr(title))
        self.first_view = FirstView(appearance, layout, self)
        self.setCentralWidget(self.first_view)
        self.first_view.page.setFocus()

    @contextmanager
    def held_still(self) -> Iterator[None]:
        """Suspends painting while parts are moved."""
        self.setUpdatesEnabled(False)
        try:
            yield
        finally:
            self.setUpdatesEnabled(True)

    def closeEvent(self, event: QCloseEvent) -> None:
        """Emits `quit_requested`: the program shuts down in order, and closes the window then."""
        event.ignore()
        self.was_closed = True
        self.quit_requested.emit()


FILE, EDIT, VIEW, CHAT = mark("&File"), mark("&Edit"), mark("&View"), mark("&Chat")
MODEL, TOOLS, HELP = mark("&Model"), mark("&Tools"), mark("&Help")
TITLES = (FILE, EDIT, VIEW, CHAT, MODEL, TOOLS, HELP)
