"""Pausing all chats: its actions in the menu, its strip, and the engine. GUI thread."""

from PySide6.QtCore import QObject

from app.inspector.docks import InspectorDocks
from app.inspector.stepper_panel import StepperPanel
from app.look.strip import Offer, Strip
from app.look.words import mark, sentences, tr, tr_said
from app.protocol.model import ModelInfo
from app.protocol.report import PauseState, StepReport

HIDE_AFTER_MS = 250  # a step between two pauses is no reason to jump
PAUSED = mark("All chats are paused.")


class Pausing(QObject):
    """A pause is visible and can be resumed while the inspector is hidden, too."""

    def __init__(self, docks: InspectorDocks, strip: Strip, parent: QObject) -> None:
        super().__init__(parent)
        stepper = docks.panel(StepperPanel.NAME)
        assert isinstance(stepper, StepperPanel)
        self._strip = strip
        self._has_engine = False
        self.actions = stepper.actions_of_step
        self.actions.commanded.connect(docks.commanded)
        step_tip, resume_tip = tr("Run one step, then pause again (F10)"), tr("Resume computing (F5)")
        self._offers = (
            Offer(tr("Step"), self.actions.step.trigger, True, step_tip, "engine.step"),
            Offer(tr("Resume"), self.actions.resume.trigger, True, resume_tip, "engine.resume"),
        )

    def set_model(self, model: ModelInfo | None) -> None:
        """A new engine runs."""
        self._has_engine = model is not None and not model.is_foreign
        self._show(None)

    def apply(self, report: StepReport) -> None:
        self._show(report.pause)

    def _show(self, pause: PauseState | None) -> None:
        self.actions.apply(is_paused=pause is not None, has_engine=self._has_engine)
        if pause:
            self._strip.say(sentences(tr(PAUSED), tr_said(pause.reason)), *self._offers)
        else:
            self._strip.clear(HIDE_AFTER_MS)
