"""The status bar: which model answers, and whether it is at work. The inspector has the rest, one click away.

GUI thread.
"""

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QPushButton, QSizePolicy, QStatusBar, QWidget

from app.look.buttons import quiet_button
from app.look.figures import count, rate
from app.look.fonts import small_font, tabular
from app.look.plain_text import as_tab_text, as_tooltip
from app.look.words import mark, tr, tr_said
from app.protocol.report import SlotState, StepReport
from app.services.model_state import ModelState
from app.ui.base.proportions import status_height

SAID_FOR_MS = 8_000
ASLEEP = mark("Its memory is freed; the next message loads it again.")


class StatusBar(QStatusBar):
    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._state = ModelState()
        self._report: StepReport | None = None
        self.setSizeGripEnabled(False)
        # A menu that is left by a key may not take its tip back.
        self._forgets = QTimer(self, singleShot=True, interval=SAID_FOR_MS)
        self._forgets.timeout.connect(self.clearMessage)
        self.messageChanged.connect(self._forgets.start)
        self.model = self._part(tr("Show the inspector"))
        self.api = self._part(tr("Local API"))
        self.api.hide()
        self.stop_all = self._stop_all_button()
        self.setContentsMargins(8, 0, 8, 0)
        self.setFixedHeight(status_height())
        self.show_state(ModelState())
        self.set_num_busy(0)

    def show_state(self, state: ModelState) -> None:
        self.clearMessage()  # it hides the parts, and those that are shown here would stand in it
        self._state = state
        self._show()

    def apply(self, report: StepReport | None) -> None:
        """What the engine is at; None for one that has not begun."""
        self._report = report
        self._show()

    def _show(self) -> None:
        state, report = self._state, self._report
        text = as_tab_text(model_text(state, report))
        if self.model.text() != text:
            self.model.setText(text)
            # The size is fixed, else Qt would lay out and paint the whole window for each text.
            self.model.setFixedSize(self.model.sizeHint())
        tip = "\n".join((*detail_texts(state, report), tr("Show the inspector")))
        self.model.setToolTip(as_tooltip(tip))
        self.model.setAccessibleDescription(tip)

    def say(self, text: str) -> None:
        """Shown for a moment."""
        self.showMessage(text)

    def set_api(self, text: str) -> None:
        self.api.setText(text)
        self.api.show()

    def set_num_busy(self, num_busy: int) -> None:
        """One answer has its own Stop button."""
        self.stop_all.setText(tr("Stop all {number}", number=num_busy))
        self.stop_all.setVisible(num_busy > 1)

    def _stop_all_button(self) -> QPushButton:
        """At the right end, so that showing it moves nothing."""
        button = self._button("bar")
        button.setToolTip(tr("Stop the answers of all chats (Shift+Esc)"))
        button.setProperty("command", "engine.stop-all")
        self.addPermanentWidget(button)
        return button

    def _part(self, tip: str) -> QPushButton:
        button = self._button("status")
        button.setToolTip(tip)
        button.setAccessibleDescription(tip)
        button.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.addWidget(button)
        return button

    def _button(self, place: str) -> QPushButton:
        button = quiet_button("", self, place)
        button.setFont(tabular(small_font()))
        return button


def model_text(state: ModelState, report: StepReport | None) -> str:
    """The model and what it does, as a person would say it."""
    if not state.model:
        return loading_text(state) if state.loading else tr("No model")
    doing = loading_text(state) if state.loading else tr("asleep") if state.is_asleep else work_text(report)
    return f"{state.model.name} · {doing}"


def loading_text(state: ModelState) -> str:
    name = state.loading.stem if state.loading else ""
    return tr("loading {name}", name=name)


def work_text(report: StepReport | None) -> str:
    running = sum(slot.is_running for slot in report.slots) if report else 0
    waiting = report.num_waiting if report else 0
    if report and report.trouble:
        return tr("connecting again")
    if report and report.pause:
        return tr("paused")
    if not running and not waiting:
        is_ahead = report and any(slot.state is SlotState.AHEAD for slot in report.slots)
        return tr("reading ahead") if is_ahead else tr("idle")
    doing = tr("answering {number}", number=running) if running else tr("waiting")
    return " · ".join(filter(None, (doing, speed_text(report))))


def detail_texts(state: ModelState, report: StepReport | None) -> tuple[str, ...]:
    """For the tooltip. A sleeping model has no cells to count."""
    if state.model is None:
        return ()
    if state.is_asleep:
        return (tr(ASLEEP),)
    if report and report.trouble:
        return (tr_said(report.trouble),)
    if state.model.is_foreign:
        return (tr("runs on {host}", host=state.model.host),)
    return cells_text(report, state.model.n_ctx), queue_text(report)


def cells_text(report: StepReport | None, n_ctx: int) -> str:
    if not n_ctx:
        return ""
    used = report.cells.num_used if report else 0
    shared = report.cells.num_shared if report else 0
    return tr(
        "{used} / {total} cells, {shared} shared, {free} free",
        used=count(used),
        total=count(n_ctx),
        shared=count(shared),
        free=count(n_ctx - used),
    )


def queue_text(report: StepReport | None) -> str:
    running = sum(slot.is_running for slot in report.slots) if report else 0
    waiting = report.num_waiting if report else 0
    if report and report.pause:
        return tr("{paused} paused, {waiting} waiting", paused=running, waiting=waiting)
    return tr("{running} running, {waiting} waiting", running=running, waiting=waiting)


def speed_text(report: StepReport | None) -> str:
    """All answers together; empty while none has a second token."""
    slots = report.slots if report else ()
    speed = sum(slot.usage.tokens_per_s for slot in slots if slot.state is SlotState.DECODE)
    return rate(speed) if speed else ""
