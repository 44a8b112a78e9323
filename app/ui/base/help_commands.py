"""The Help menu: the guide, the log, About, and Skein's folders. GUI thread."""

from collections.abc import Callable, Iterable
from pathlib import Path

from PySide6.QtCore import QSize, Qt, QUrl, Slot
from PySide6.QtGui import QDesktopServices, QGuiApplication, QTextDocument
from PySide6.QtWidgets import (
    QDialog,
    QFrame,
    QHBoxLayout,
    QLabel,
    QListWidget,
    QListWidgetItem,
    QPlainTextEdit,
    QTextBrowser,
    QWidget,
)

from app import __version__
from app.look.buttons import dialog_button
from app.look.fonts import code_font, reading_font
from app.look.icons import app_icon
from app.look.layouts import STRETCH, TOP, hbox, vbox
from app.look.plain_text import PlainLabel, heading
from app.look.popups import come_up, resize_to_fit
from app.look.words import tr
from app.services import diagnostics
from app.system import paths
from app.system.log import recent_lines
from app.system.paths import resources_dir
from app.ui.base.log_viewer import LogViewer


class HelpCommands:
    """`diagnose` returns the text to attach to a question."""

    def __init__(self, diagnose: Callable[[], str], window: QWidget) -> None:
        self._diagnose = diagnose
        self._window = window
        self._log: LogViewer | None = None
        self._guide: GuideDialog | None = None

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
            self._guide = GuideDialog(self._window)
        come_up(self._guide)

    def show_log(self) -> None:
        """One window, which stays beside the chats."""
        if self._log is None:
            self._log = LogViewer(recent_lines.since, self.open_log_folder, self._window)
        come_up(self._log)


def open_folder(path: Path) -> None:
    """In the desktop's own file browser."""
    QDesktopServices.openUrl(QUrl.fromLocalFile(str(path)))


WIDTH = 640
ICON = QSize(64, 64)


class About(QDialog):
    """`folders` are what its last buttons open, by label."""

    def __init__(
        self,
        diagnostics: str,
        licences: str,
        folders: Iterable[tuple[str, Callable[[], object]]],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("About Skein"))
        self.setMinimumWidth(WIDTH)
        self.diagnostics = _text(diagnostics, tr("Diagnostics"), self)
        self.licences = _text(licences, tr("Licences"), self)
        column = vbox(self._head(), 8, on=self, margins=(20, 20, 20, 16))
        for name, view in ((tr("Diagnostics"), self.diagnostics), (tr("Licences"), self.licences)):
            column.addWidget(heading(name, self))
            column.addWidget(view)
        column.addSpacing(8)
        column.addLayout(self._foot(folders))

    def copy(self) -> None:
        QGuiApplication.clipboard().setText(self.diagnostics.toPlainText())

    def _head(self) -> QHBoxLayout:
        picture = QLabel(self)
        picture.setPixmap(app_icon().pixmap(ICON))
        picture.setAccessibleName("Skein")
        name = PlainLabel(f"Skein {__version__}", self)
        font = name.font()
        font.setPointSizeF(font.pointSizeF() * 1.4)
        name.setFont(font)
        what = PlainLabel(
            tr("Many chats with local language models in one shared llama.cpp context."), self, wraps=True
        )
        return hbox((picture, 0, TOP), (vbox(name, what, spacing=4), 1), spacing=16)

    def _foot(self, folders: Iterable[tuple[str, Callable[[], object]]]) -> QHBoxLayout:
        offers = ((tr("Copy diagnostics"), self.copy), *folders)
        buttons = [dialog_button(words, on_clicked, self) for words, on_clicked in offers]
        close = dialog_button(tr("Close"), self.accept, self)
        close.setDefault(True)
        return hbox(*buttons, STRETCH, close)


def _text(text: str, name: str, parent: QWidget) -> QPlainTextEdit:
    view = QPlainTextEdit(text, parent)
    view.setReadOnly(True)
    view.setFont(code_font(-1))
    view.setAccessibleName(name)
    view.setTabChangesFocus(True)
    view.setFixedHeight(150)
    return view


HELP_DIR = resources_dir() / "help"
PAGES = ("chats", "models", "tools", "context", "inspector", "api", "files")  # in reading order
SIZE = QSize(900, 640)
LIST_WIDTH = 220
MARGIN = 24


def title_of(page: Path) -> str:
    """Its first heading."""
    with page.open(encoding="utf-8") as file:
        return file.readline().removeprefix("# ").strip()


class GuideDialog(QDialog):
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
