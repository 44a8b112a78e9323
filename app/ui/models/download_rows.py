"""Downloads, one row each: progress, speed, time left, and actions. GUI thread."""

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QProgressBar, QScrollArea, QSizePolicy, QWidget

from app.look.buttons import IconButton, dialog_button
from app.look.figures import data_size, time_left_text
from app.look.fonts import tabular
from app.look.layouts import STRETCH, TOP, drop, hbox, vbox
from app.look.plain_text import ElidedLabel, PlainLabel, as_tooltip, one_line
from app.look.words import mark, tr, tr_said
from app.services.downloads import Download, Downloads, State

SIDE = 28
MAX_SHOWN = 3  # visible rows; the others are reached by scrolling
STATES = {
    State.WAITING: mark("Waiting"),
    State.CHECKING: mark("Verifying"),
    State.PAUSED: mark("Paused"),
    State.FAILED: mark("Stopped"),
    State.DONE: mark("Done"),
}


class DownloadRow(QWidget):
    """What its buttons open, it asks `rows` for."""

    def __init__(self, download: Download, downloads: Downloads, rows: "DownloadRows") -> None:
        super().__init__(rows.widget())
        self._rows = rows
        self.download = download
        self.name = ElidedLabel(one_line(download.name), self)
        self.figures = PlainLabel(parent=self, tone="muted")
        self.figures.setFont(tabular(self.figures.font()))
        self.trouble = PlainLabel(parent=self, tone="danger", wraps=True)
        self.bar = QProgressBar(self)
        self.bar.setRange(0, 1000)
        self.bar.setTextVisible(False)
        self.open_button = dialog_button(tr("Open"), self._open, self)
        self.page_button = dialog_button(
            tr("Web page"), lambda: rows.page_requested.emit(self.download.page), self
        )
        self.token_button = dialog_button(tr("Enter token…"), rows.token_requested.emit, self)
        self.pause_button = IconButton("pause", tr("Pause"), SIDE, self)
        self.resume_button = IconButton("play", tr("Resume"), SIDE, self)
        self.cancel_button = IconButton("x", tr("Cancel"), SIDE, self)
        self.pause_button.clicked.connect(lambda: downloads.pause(self.download.id))
        self.resume_button.clicked.connect(lambda: downloads.resume(self.download.id))
        self.cancel_button.clicked.connect(lambda: downloads.cancel(self.download.id))
        self._lay_out()
        self.apply(download)

    def apply(self, download: Download) -> None:
        self.download = download
        state = download.state
        is_running = state in (State.WAITING, State.LOADING, State.CHECKING)
        self.figures.setText(figures_text(download))
        self.trouble.setText(trouble_text(download))
        self.trouble.setToolTip(as_tooltip(tr_said(download.trouble)))
        self.trouble.set_tone("danger" if state is State.FAILED else "warning")
        self.trouble.setVisible(bool(download.trouble))
        self.bar.setValue(round(1000 * download.num_bytes / download.size_bytes))
        self.bar.setVisible(state is not State.DONE)
        self.bar.setAccessibleName(tr("Progress of {name}", name=one_line(download.name)))
        self.pause_button.setVisible(is_running)
        self.resume_button.setVisible(state in (State.PAUSED, State.FAILED))
        self.resume_button.set_label(tr("Try again") if state is State.FAILED else tr("Resume"))
        self.cancel_button.set_label(tr("Remove from the list") if state is State.DONE else tr("Cancel"))
        self.open_button.setVisible(state is State.DONE)
        for button in (self.page_button, self.token_button):
            button.setVisible(bool(download.page))

    def _open(self) -> None:
        if self.download.path:
            self._rows.open_requested.emit(self.download.path)

    def _lay_out(self) -> None:
        line = hbox((self.name, 1), self.figures, spacing=12)
        offers = hbox(self.page_button, self.token_button, STRETCH)
        words = vbox(line, self.bar, self.trouble, offers, spacing=4)
        buttons = (self.open_button, self.pause_button, self.resume_button, self.cancel_button)
        at_right = [(button, 0, TOP) for button in buttons]
        hbox((words, 1), 8, *at_right, on=self, margins=(0, 4, 0, 4), spacing=4)


class DownloadRows(QScrollArea):
    """It grows with its rows, up to three."""

    open_requested = Signal(object)  # Path
    page_requested = Signal(str)  # an address
    token_requested = Signal()

    def __init__(self, downloads: Downloads, parent: QWidget) -> None:
        super().__init__(parent)
        self._downloads = downloads
        self.rows: dict[str, DownloadRow] = {}
        self._inside = QWidget()
        self._column = vbox(STRETCH, on=self._inside, spacing=0)
        self._inside.setAutoFillBackground(False)
        self.setWidget(self._inside)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName(tr("Downloads"))
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        self.hide()

    def apply(self, downloads: Sequence[Download]) -> None:
        ids = {download.id for download in downloads}
        for gone in self.rows.keys() - ids:
            drop(self.rows.pop(gone))
        for download in downloads:
            if download.id in self.rows:
                self.rows[download.id].apply(download)
            else:
                self._add(download)
        self.setVisible(bool(downloads))
        self.updateGeometry()

    def sizeHint(self) -> QSize:
        newest, width = list(self.rows.values())[-MAX_SHOWN:], self.viewport().width()
        heights = (
            row.heightForWidth(width) if row.hasHeightForWidth() else row.sizeHint().height()
            for row in newest
        )
        return QSize(super().sizeHint().width(), sum(heights))

    def minimumSizeHint(self) -> QSize:
        return QSize(0, min(len(self.rows), MAX_SHOWN) * (SIDE + 8))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """In a narrower row a text takes more lines."""
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self.updateGeometry()

    def _add(self, download: Download) -> None:
        row = DownloadRow(download, self._downloads, self)
        self.rows[download.id] = row
        self._column.insertWidget(0, row)  # the newest on top


def figures_text(download: Download) -> str:
    here, whole = data_size(download.num_bytes), data_size(download.size_bytes)
    if download.state is State.DONE:
        return tr("{state}, {size}", state=tr(STATES[State.DONE]), size=whole)
    amount = tr("{here} of {whole}", here=here, whole=whole)
    if download.state is not State.LOADING:
        return tr("{state}  ·  {amount}", state=tr(STATES[download.state]), amount=amount)
    speed = tr("{size}/s", size=data_size(download.bytes_per_s)) if download.bytes_per_s >= 1 else ""
    left = "" if download.seconds_left is None else time_left_text(download.seconds_left)
    return "  ·  ".join(text for text in (amount, speed, left) if text)


def trouble_text(download: Download) -> str:
    """Without advice for one that retries by itself."""
    if not download.trouble or download.state is State.FAILED:
        return tr_said(download.trouble)
    return tr("No data at the moment; retrying automatically.")
