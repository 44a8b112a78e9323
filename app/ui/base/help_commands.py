"""The Help menu: the guide, the log, About; and folders in the desktop's file browser. GUI thread."""

import logging
import re
import sys
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path

from PySide6.QtCore import QObject, QProcess, QSize, Qt, QTimer, QUrl, Slot
from PySide6.QtGui import (
    QDesktopServices,
    QGuiApplication,
    QHideEvent,
    QShowEvent,
    QTextCursor,
    QTextDocument,
)
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
from app.look.plain_text import PlainLabel, heading, search_field
from app.look.popups import FlatCombo, come_up, resize_to_fit
from app.look.words import tr
from app.services import diagnostics
from app.system import paths
from app.system.log import MAX_RECENT_LINES, Line, recent_lines
from app.system.paths import resources_dir


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

    def explain_panel(self, title: str) -> None:
        """A panel of the inspector, by its English title: the guide is in English."""
        self.show_guide()
        assert self._guide
        self._guide.show_words("inspector", title)

    def show_log(self) -> None:
        """One window, which stays beside the chats."""
        if self._log is None:
            self._log = LogViewer(recent_lines.since, self.open_log_folder, self._window)
        come_up(self._log)


def open_folder(path: Path) -> None:
    """In the desktop's own file browser."""
    QDesktopServices.openUrl(QUrl.fromLocalFile(str(path)))


SERVICE = "org.freedesktop.FileManager1"
OBJECT = "/org/freedesktop/FileManager1"


def reveal(path: Path, parent: QObject) -> None:
    """Where the file manager cannot select a file, its folder is opened."""
    command = command_for(path)
    if not command:
        open_folder(path.parent)
        return
    process = QProcess(parent)

    def on_end(code: int) -> None:
        process.deleteLater()
        if code:
            open_folder(path.parent)

    process.finished.connect(lambda code, _status: on_end(code))
    process.errorOccurred.connect(
        lambda error: on_end(1) if error == QProcess.ProcessError.FailedToStart else None
    )
    process.start(command[0], command[1:])


def command_for(path: Path, platform: str = sys.platform) -> list[str]:
    """Empty if no command reports whether it worked."""
    if platform == "darwin":
        return ["open", "-R", str(path)]
    if platform == "win32":
        return []
    # A comma would begin the next element of the array.
    address = bytes(QUrl.fromLocalFile(str(path)).toEncoded().data()).decode().replace(",", "%2C")
    call = f"{SERVICE}.ShowItems"
    options = ["--session", "--print-reply", f"--dest={SERVICE}", OBJECT, call]
    return ["dbus-send", *options, f"array:string:{address}", "string:"]


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
        return hbox(*buttons, STRETCH, dialog_button(tr("Close"), self.accept, self, is_default=True))


def _text(text: str, name: str, parent: QWidget) -> QPlainTextEdit:
    view = QPlainTextEdit(text, parent)
    view.setReadOnly(True)
    view.setFont(code_font(-1))
    view.setAccessibleName(name)
    view.setTabChangesFocus(True)
    view.setFixedHeight(150)
    return view


HELP_DIR = resources_dir() / "help"
# In reading order.
PAGES = ("start", "chats", "rows", "models", "machines", "tools", "context", "inspector", "api", "files")
MARKS = re.compile(r"[*`]")
SIZE = QSize(900, 640)
LIST_WIDTH = 220
MARGIN = 24


def title_of(page: Path) -> str:
    """Its first heading."""
    with page.open(encoding="utf-8") as file:
        return file.readline().removeprefix("# ").strip()


@cache
def text_of(page: str) -> str:
    """Without the marks of words."""
    return MARKS.sub("", (HELP_DIR / f"{page}.md").read_text(encoding="utf-8"))


class GuideDialog(QDialog):
    """Our own text, so links to web pages open in the browser."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Guide"))
        resize_to_fit(self, SIZE)
        self.search = search_field(tr("Search the guide"), self)
        self.search.setFixedWidth(LIST_WIDTH)
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
        hbox(vbox(self.search, self.pages, margins=12), (self.text, 1), on=self)
        self.search.textChanged.connect(self._on_searched)
        self.search.returnPressed.connect(self._find_next)
        self.pages.currentRowChanged.connect(self._show_page)
        self.text.sourceChanged.connect(self._on_source_changed)
        self.pages.setCurrentRow(0)

    @Slot(int)
    def _show_page(self, row: int) -> None:
        self.text.setSource(QUrl(f"{PAGES[row]}.md"), QTextDocument.ResourceType.MarkdownResource)

    @Slot(QUrl)
    def _on_source_changed(self, source: QUrl) -> None:
        """A page was chosen, or a link between pages followed."""
        self.text.document().setDocumentMargin(MARGIN)
        self.pages.setCurrentRow(PAGES.index(source.fileName().removesuffix(".md")))

    def show_words(self, page: str, words: str) -> None:
        """Where they stand first."""
        self.search.clear()
        self.pages.setCurrentRow(PAGES.index(page))
        self._find(words)

    @Slot(str)
    def _on_searched(self, words: str) -> None:
        """Lists the pages that have them, and shows the first place."""
        found = [row for row, name in enumerate(PAGES) if words.casefold() in text_of(name).casefold()]
        for row in range(len(PAGES)):
            self.pages.item(row).setHidden(row not in found)
        if words and found:
            row = self.pages.currentRow()
            self.pages.setCurrentRow(row if row in found else found[0])
            self._find(words)

    def _find(self, words: str) -> None:
        self.text.moveCursor(QTextCursor.MoveOperation.Start)
        if self.text.find(words):
            bar = self.text.verticalScrollBar()
            bar.setValue(bar.value() + self.text.cursorRect().top() - MARGIN)

    @Slot()
    def _find_next(self) -> None:
        """On this page: the list has the others."""
        words = self.search.text()
        if words and not self.text.find(words):
            self._find(words)


PERIOD_MS = 500
LOG_SIZE = QSize(900, 560)
_LEVELS = (logging.DEBUG, logging.INFO, logging.WARNING, logging.ERROR)


class LogViewer(QDialog):
    """Asks for new lines only while it is shown."""

    def __init__(
        self,
        lines_since: Callable[[int], list[Line]],
        open_folder: Callable[[], object],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._lines_since = lines_since
        self._num_seen = 0
        self.setWindowTitle(tr("Log"))
        resize_to_fit(self, LOG_SIZE)
        self.levels = FlatCombo(self)
        self.levels.setAccessibleName(tr("Lowest level shown"))
        names = (tr("Everything"), tr("Information"), tr("Warnings"), tr("Errors"))
        for level, name in zip(_LEVELS, names, strict=True):
            self.levels.addItem(name, level)
        self.levels.setCurrentIndex(1)
        self.search = search_field(tr("Filter lines…"), self, tr("Show only lines with this text"))
        self.text = QPlainTextEdit(self)
        self.text.setReadOnly(True)
        self.text.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.text.setMaximumBlockCount(MAX_RECENT_LINES)
        self.text.setFont(code_font(0))
        self.text.setAccessibleName(tr("Log"))
        self._lay_out(open_folder)
        self._timer = QTimer(self, interval=PERIOD_MS)
        self._timer.timeout.connect(self.refresh)
        self.levels.currentIndexChanged.connect(self._show_anew)
        self.search.textChanged.connect(self._show_anew)

    def refresh(self) -> None:
        """Appends new lines; a view scrolled up stays where it is."""
        new = self._lines_since(self._num_seen)
        if new:
            self._num_seen = new[-1].number
        level, wanted = self.levels.currentData(), self.search.text().casefold()
        for line in new:
            if line.level >= level and wanted in line.text.casefold():
                self.text.appendPlainText(line.text)

    def _show_anew(self) -> None:
        self.text.clear()
        self._num_seen = 0
        self.refresh()

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self.text.toPlainText())

    def _lay_out(self, open_folder: Callable[[], object]) -> None:
        vbox(
            hbox(
                self.levels,
                (self.search, 1),
                dialog_button(tr("Copy"), self._copy, self),
                dialog_button(tr("Open folder"), open_folder, self),
            ),
            (self.text, 1),
            on=self,
            margins=16,
            spacing=12,
        )

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.refresh()
        self._timer.start()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._timer.stop()
