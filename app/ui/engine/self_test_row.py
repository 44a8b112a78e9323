"""One check of the self-test: its mark, what was done and seen, and its time. GUI thread."""

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from app.look import marks
from app.look.figures import seconds
from app.look.icons import paint_icon
from app.look.layouts import TOP, hbox, vbox
from app.look.painted import paint_mark
from app.look.plain_text import PlainLabel, heading, one_line
from app.look.tokens import Tokens, current
from app.look.words import mark, tr, tr_said
from app.selftest.report import TITLES, Outcome, ReportLine

NAME_WIDTH = 10
RUNNING, CANCELLED, WARNING = "running", "cancelled", "warning"
OUTCOMES = {Outcome.PASSED: mark("passed"), Outcome.FAILED: mark("failed"), Outcome.SKIPPED: mark("skipped")}


class LineRow(QWidget):
    """One check."""

    def __init__(self, name: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.english_title = TITLES[name]  # as in the progress
        self._mark = ResultMark("", self)
        self._name, self._title = (
            PlainLabel(name, self, tone="muted"),
            heading(tr_said(self.english_title), self),
        )
        self._name.setFixedWidth(NAME_WIDTH)
        self._state = PlainLabel(parent=self, tone="muted")
        self._done, self._seen = PlainLabel(parent=self, tone="muted"), PlainLabel(parent=self)
        for label in (self._name, self._title, self._state):
            label.setAlignment(Qt.AlignmentFlag.AlignTop)
        column = vbox(hbox((self._title, 1), self._state, spacing=None), spacing=2)
        self._title.setWordWrap(True)
        for label in (self._done, self._seen):
            label.setWordWrap(True)
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            column.addWidget(label)
        hbox((self._mark, 0, TOP), (self._name, 0, TOP), (column, 1), on=self, spacing=10)

    @property
    def text(self) -> str:
        parts = (self._name, self._title, self._state, self._done, self._seen)
        return " | ".join(part.text() for part in parts if part.text())

    @property
    def is_running(self) -> bool:
        return self._mark.state == RUNNING

    def show_waiting(self) -> None:
        self._show("", "")

    def show_running(self) -> None:
        self._show(RUNNING, tr("running"))

    def show_line(self, line: ReportLine) -> None:
        done = tr("Done: {what}.", what=tr_said(line.done)) if line.done else ""
        state = tr(OUTCOMES[line.outcome])
        if line.seconds:  # unknown after a crash
            state = tr("{outcome}, {time}", outcome=state, time=seconds(line.seconds))
        self._show(line.outcome, state, done, tr("Seen: {what}", what=tr_said(line.seen)))

    def _show(self, mark: str, state: str, done: str = "", seen: str = "") -> None:
        tone = "danger" if mark == Outcome.FAILED else ""
        self._mark.show_state(mark)
        self._state.setText(state)
        self._state.set_tone(tone or "muted")
        self._title.set_tone(tone or ("" if mark else "muted"))
        self._seen.set_tone(tone)
        for label, text in ((self._done, done), (self._seen, seen)):
            label.setText(one_line(text))
            label.setVisible(bool(text))
        self.setAccessibleName(self.text)


class ResultMark(QWidget):
    """Its state as an icon; the words are beside it."""

    SIDE = 16

    def __init__(self, state: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.state = state
        self.setFixedSize(self.SIDE, self.SIDE)

    def show_state(self, state: str) -> None:
        """An Outcome, one of the above, or nothing yet."""
        self.state = state
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        tokens = current()
        rect = QRectF(self.rect())
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if self.state == RUNNING:
            paint_mark(painter, rect, marks.COMPUTING, tokens)
        elif self.state in (icons := _icons(tokens)):
            name, colour = icons[self.state]
            paint_icon(painter, name, rect, colour)


def _icons(tokens: Tokens) -> dict[str, tuple[str, str]]:
    return {
        Outcome.PASSED: ("circle-check", tokens.ok),
        Outcome.FAILED: ("triangle-alert", tokens.danger),
        Outcome.SKIPPED: ("info", tokens.muted),
        CANCELLED: ("stop", tokens.muted),
        WARNING: ("triangle-alert", tokens.warning),
    }
