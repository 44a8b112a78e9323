"""The Help menu: the guide, the log, About, and Skein's folders. GUI thread."""

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QSize, Qt, QUrl, Slot
from PySide6.QtGui import QDesktopServices, QTextDocument
from PySide6.QtWidgets import QDialog, QFrame, QListWidget, QListWidgetItem, QTextBrowser, QWidget

from app.look.fonts import reading_font
from app.look.layouts import hbox, vbox
from app.look.windows import come_up, resize_to_fit
from app.look.words import tr
from app.services import diagnostics
from app.system import paths
from app.system.log import recent_lines
from app.system.paths import resources_dir
from app.ui.base.about import About
from app.ui.base.log_viewer import LogViewer


class HelpCommands:
    """`diagnose` returns the text to attach to a question."""

    def __init__(self, diagnose: Callable[[], str], window: QWidget) -> None:
        self._diagnose = diagnose
        self._window = window
        self._log: LogViewer | None = None
        self._guide: Guide | None = None

    def open_data_folder(self) -> None:
        open_folder(paths.data_dir())

    def open_log_folder(self) -> None:
        open_folder(paths.log_dir())

    def show_about(self) -> None:
        folders = (
            (tr("Open data folder"), self.open_data_folder),
            (tr("Open log folder"), self.open_log_folder),
        )
        about = About(self._diagnose(), diagnostics.licences(), folders, self._window)
        about.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        about.open()  # never exec: a nested loop would stop every coroutine

    def show_guide(self) -> None:
        if self._guide is None:
            self._guide = Guide(self._window)
        come_up(self._guide)

    def show_log(self) -> None:
        """One window, which stays beside the chats."""
        if self._log is None:
            self._log = LogViewer(recent_lines.since, self.open_log_folder, self._window)
        come_up(self._log)


def open_folder(path: Path) -> None:
    """In the desktop's own file browser."""
    QDesktopServices.openUrl(QUrl.fromLocalFile(str(path)))


HELP_DIR = resources_dir() / "help"
PAGES = ("chats", "models", "tools", "context", "inspector", "api", "files")  # in reading order
SIZE = QSize(900, 640)
LIST_WIDTH = 220
MARGIN = 24


def title_of(page: Path) -> str:
    """Its first heading."""
    with page.open(encoding="utf-8") as file:
        return file.readline().removeprefix("# ").strip()


class Guide(QDialog):
    """Our own text, so links to web pages open in the browser."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Guide"))
        resize_to_fit(self, SIZE)
        self.pages = QListWidget(self)
        self.pages.setAccessibleName(tr("Pages"))
        self.pages.setObjectName("nav")
        self.pages.setFixedWidth(LIST_WIDTH)
        for name in PAGES:
            QListWidgetItem(title_of(HELP_DIR / f"{name}.md"), self.pages)
        self.text = QTextBrowser(self)
        self.text.setAccessibleName(tr("Guide"))
        self.text.setFrameShape(QFrame.Shape.NoFrame)
        self.text.setSearchPaths([str(HELP_DIR)])
        self.text.setOpenExternalLinks(True)
        self.text.setFont(reading_font())
        hbox(vbox(self.pages, margins=12), (self.text, 1), on=self)
        self.pages.currentRowChanged.connect(self._show_page)
        self.text.sourceChanged.connect(self._on_source_changed)
        self.pages.setCurrentRow(0)

    @Slot(int)
    def _show_page(self, row: int) -> None:
        self.text.setSource(QUrl(f"{PAGES[row]}.md"), QTextDocument.ResourceType.MarkdownResource)

    @Slot(QUrl)
    def _on_source_changed(self, source: QUrl) -> None:
        """Also after a click on a link between pages."""
        self.text.document().setDocumentMargin(MARGIN)
        self.pages.setCurrentRow(PAGES.index(source.fileName().removesuffix(".md")))
