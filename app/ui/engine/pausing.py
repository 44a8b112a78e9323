"""Pausing all chats: its actions in the menu, its strip, and the engine. GUI thread."""

from PySide6.QtCore import QObject

from app.bridge.active_engine import ActiveEngine
from app.inspector.docks import InspectorDocks
from app.inspector.stepper_panel import StepperPanel
from app.protocol.model import ModelInfo
from app.protocol.report import PauseState, StepReport
from app.ui.base.pause_strip import PauseStrip


class Pausing(QObject):
    """A pause is visible and can be resumed while the inspector is hidden, too."""

    def __init__(
        self, docks: InspectorDocks, strip: PauseStrip, engine: ActiveEngine, parent: QObject
    ) -> None:
        super().__init__(parent)
        stepper = docks.panel(StepperPanel.NAME)
        assert isinstance(stepper, StepperPanel)
        self._strip = strip
        self._has_engine = False
        self.actions = stepper.actions_of_step
        self.actions.commanded.connect(engine.post)
        strip.step_requested.connect(self.actions.step.trigger)
        strip.resume_requested.connect(self.actions.resume.trigger)

    def set_model(self, model: ModelInfo | None) -> None:
        """A new engine runs."""
        self._has_engine = model is not None
        self._show(None)

    def apply(self, report: StepReport) -> None:
        self._show(report.pause)

    def _show(self, pause: PauseState | None) -> None:
        self.actions.apply(is_paused=pause is not None, has_engine=self._has_engine)
        self._strip.apply(pause)
