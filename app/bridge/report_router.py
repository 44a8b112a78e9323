"""Brings each output to the session that asked for it. GUI thread."""

from PySide6.QtCore import QObject, Slot

from app.bridge.engines import Engines
from app.bridge.workspace import Workspace
from app.protocol.output import Output
from app.protocol.report import StepReport


class ReportRouter(QObject):
    """Outputs of chats that are closed and no longer at work go nowhere."""

    def __init__(self, engine: Engines, workspace: Workspace, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._workspace = workspace
        engine.reported.connect(self.on_reported)
        engine.ended.connect(self.on_output)

    @Slot(object)
    def on_reported(self, reports: tuple[StepReport, ...]) -> None:
        """Outputs of several steps for one request are delivered together."""
        outputs_of: dict[str, list[Output]] = {}
        for report in reports:
            for output in report.outputs:
                outputs_of.setdefault(output.request_id, []).append(output)
        for outputs in outputs_of.values():
            self._bring(*outputs)

    @Slot(object)
    def on_output(self, output: Output) -> None:
        self._bring(output)

    def _bring(self, *outputs: Output) -> None:
        if session := self._workspace.any_session_of(outputs[0].chat_id):
            session.apply(*outputs)
