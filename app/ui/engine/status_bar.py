"""The status bar: model, cells, queue, speed. Each part opens the view with its details.

Parts never shrink, so nothing moves. GUI thread.
"""

from PySide6.QtCore import Signal, SignalInstance
from PySide6.QtWidgets import QPushButton, QSizePolicy, QStatusBar, QWidget

from app.look.buttons import quiet_button
from app.look.figures import count, rate
from app.look.fonts import small_font, tabular
from app.look.plain_text import as_tab_text
from app.look.words import mark, tr
from app.protocol.model import ModelInfo
from app.protocol.report import SlotState, StepReport
from app.ui.base.proportions import status_height

SAID_FOR_MS = 8_000
ASLEEP = mark("Its memory is freed; the next message loads it again.")


class StatusBar(QStatusBar):
    stop_all_requested = Signal()
    model_clicked = Signal()
    cells_clicked = Signal()
    queue_clicked = Signal()
    speed_clicked = Signal()
    api_clicked = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._n_ctx = 0
        self.setSizeGripEnabled(False)
        self.model = self._part(tr("Engine settings"), self.model_clicked)
        self.cells = self._part(tr("Show the KV map"), self.cells_clicked)
        self.queue = self._part(tr("Show the sequences"), self.queue_clicked)
        self.speed = self._part(tr("Show the batch timeline"), self.speed_clicked)
        self.api = self._part(tr("Local API"), self.api_clicked)
        self.api.hide()
        self.stop_all = self._stop_all_button()
        self.setContentsMargins(8, 0, 8, 0)
        self.setFixedHeight(status_height())
        self.set_model(None)
        self.set_num_busy(0)

    def set_model(self, model: ModelInfo | None, is_asleep: bool = False) -> None:
        """A sleeping model has no cells to count."""
        self.clearMessage()  # it hides the parts, and those that are shown here would stand in it
        self._n_ctx = model.n_ctx if model and not is_asleep else 0
        self.model.setText(as_tab_text(model_text(model, is_asleep)))
        tip = tr(ASLEEP) if is_asleep else tr("Model load settings") if model else tr("Engine settings")
        self.model.setToolTip(tip)
        self.model.setAccessibleDescription(tip)
        for part in (self.cells, self.queue, self.speed):
            part.setVisible(bool(self._n_ctx))
        self.apply(None)

    def apply(self, report: StepReport | None) -> None:
        for part, text in (
            (self.cells, cells_text(report, self._n_ctx)),
            (self.queue, queue_text(report)),
            (self.speed, speed_text(report)),
        ):
            if part.text() != text:
                part.setText(text)
                hint = part.sizeHint()
                # Of a fixed size: else Qt would lay out and paint the whole window for each text.
                part.setFixedSize(max(part.minimumWidth(), hint.width()), hint.height())

    def say(self, text: str) -> None:
        """Shown for a moment."""
        self.showMessage(text, SAID_FOR_MS)

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
        button.clicked.connect(self.stop_all_requested)
        self.addPermanentWidget(button)
        return button

    def _part(self, tip: str, clicked: SignalInstance) -> QPushButton:
        button = self._button("status")
        button.setToolTip(tip)
        button.setAccessibleDescription(tip)
        button.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        button.clicked.connect(clicked)
        self.addWidget(button)
        return button

    def _button(self, place: str) -> QPushButton:
        button = quiet_button("", self, place)
        button.setFont(tabular(small_font()))
        return button


def model_text(model: ModelInfo | None, is_asleep: bool = False) -> str:
    if model and is_asleep:
        return tr("{name}, asleep", name=model.name)
    return model.name if model else tr("No model")


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
    """All answers together."""
    slots = report.slots if report else ()
    return rate(sum(slot.usage.tokens_per_s for slot in slots if slot.state is SlotState.DECODE))
