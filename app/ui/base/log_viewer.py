"""Shows this run's log live: by level, with a search. GUI thread."""

import logging
from collections.abc import Callable

from PySide6.QtCore import QSize, QTimer
from PySide6.QtGui import QGuiApplication, QHideEvent, QShowEvent
from PySide6.QtWidgets import QDialog, QPlainTextEdit, QWidget

from app.look.buttons import dialog_button
from app.look.fonts import code_font
from app.look.layouts import hbox, vbox
from app.look.plain_text import search_field
from app.look.popups import FlatCombo, resize_to_fit
from app.look.words import tr
from app.system.log import MAX_RECENT_LINES, Line

PERIOD_MS = 500
SIZE = QSize(900, 560)
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
        resize_to_fit(self, SIZE)
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
