"""Gives the panel that compares two models what it asks for. GUI thread."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from PySide6.QtCore import QObject, Slot

from app.bridge.engines import Engines
from app.inspector.docks import COMPARISON, InspectorDocks
from app.protocol.comparison import Compare
from app.services.comparisons import Comparisons
from app.services.model_library import ModelLibrary
from app.ui.transcript.answer_inspection import AnswerInspection

if TYPE_CHECKING:
    from app.inspector.comparison_panel import ComparisonPanel
    from app.inspector.dock_panel import DockPanel


class ModelComparison(QObject):
    def __init__(
        self,
        docks: InspectorDocks,
        comparisons: Comparisons,
        library: ModelLibrary,
        engine: Engines,
        answers: AnswerInspection,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._comparisons, self._library = comparisons, library
        self._engine, self._answers = engine, answers
        self._panel: ComparisonPanel | None = None  # made when it is first seen
        docks.made.connect(self._on_made)
        library.changed.connect(self._offer)

    @Slot(object)
    def _on_made(self, made: DockPanel) -> None:
        if made.NAME != COMPARISON.NAME:
            return
        self._panel = panel = cast("ComparisonPanel", made)
        comparisons = self._comparisons
        comparisons.progressed.connect(panel.note_progress)
        comparisons.ended.connect(panel.take)
        comparisons.failed.connect(panel.refuse)
        panel.compare_requested.connect(self._on_requested)
        panel.stopped.connect(comparisons.stop)
        panel.fork_at_requested.connect(self._answers.fork_at)
        self._offer()

    @Slot()
    def _offer(self) -> None:
        if self._panel:
            models = (model for model in self._library.models if model.can_chat)
            self._panel.offer([(str(model.path), model.title, model.family) for model in models])

    @Slot(object)
    def _on_requested(self, question: Compare) -> None:
        model = self._engine.model
        self._comparisons.start(question, model.library.gpus if model else ())
