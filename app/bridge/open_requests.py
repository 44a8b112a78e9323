"""The open requests, and how an answer continues in another engine. GUI thread.

The tokens of an answer are recorded as they are reported, so that another context of the same model continues
from there. Does not choose the engine.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from PySide6.QtCore import QObject, Signal

from app.bridge.engine_thread import EngineThread
from app.protocol.commands import Submit
from app.protocol.model import ModelInfo
from app.protocol.output import NO_USAGE, FinishReason, Output, Usage
from app.protocol.report import StepReport
from app.protocol.request import Request
from app.system.said import said

MODEL_CHANGED = said("Another model was loaded before this answer finished.")


@dataclass(slots=True, eq=False)
class OpenRequest:
    request: Request
    model: ModelInfo | None  # that it was submitted to; None: not submitted yet
    engine: EngineThread | None = (
        None  # that answers it, or was stopped but may report more; None: it waits for one
    )
    usage: Usage = NO_USAGE  # of `engine`, as reported so far
    usage_before: Usage = NO_USAGE  # of the engines it had before
    token_ids: list[int] = field(default_factory=list)  # of the answer, as reported so far
    text: str = ""  # of the answer so far; kept only where it began with text, or its tokens are not told
    is_begun: bool = False  # some of it was passed on
    is_aborted: bool = False  # its engine was asked to abort it

    def note(self, output: Output) -> Output:
        """The output to pass on: with the usage of all engines that worked on the answer."""
        self.is_begun = self.is_begun or bool(output.text or output.token_ids)
        self.token_ids += output.token_ids
        if output.delta or (isinstance(self.request.answer_start, str) and self.request.answer_start):
            self.text += output.text
        if output.usage == NO_USAGE:  # of an engine that is gone
            return output
        self.usage = output.usage
        if not self.usage_before.num_generated_tokens:
            return output
        return replace(output, usage=self.usage_before.followed_by(output.usage))

    def leave(self) -> None:
        """Its engine will report no more on it: it waits for another."""
        self.engine = None
        self.usage, self.usage_before = NO_USAGE, self.usage_before.followed_by(self.usage)

    def can_move_to(self, model: ModelInfo) -> bool:
        """An answer that has begun needs the same model; others can move to any that fits the request."""
        if self.model is None or is_same_model(self.model, model):
            return True
        request = self.request
        has_tokens = not isinstance(request.answer_start, str) and bool(request.answer_start)
        return not (self.is_begun or has_tokens or any(isinstance(piece, int) for piece in request.prompt))

    def rest(self) -> Request:
        """The request for the rest of the answer."""
        request = self.request
        if not (self.token_ids or self.text):
            return request
        start = request.answer_start or (() if self.token_ids else "")
        left = None if request.max_tokens is None else max(request.max_tokens - len(self.token_ids), 0)
        if isinstance(start, str):
            return replace(request, answer_start=start + self.text, max_tokens=left)
        return replace(request, answer_start=(*start, *self.token_ids), max_tokens=left)


class OpenRequests(QObject):
    """Every request that was added ends: by an Output that was noted, or by one in `reported`."""

    reported = Signal(
        object
    )  # Output of a request that its engine no longer answers, or that no engine answers

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._requests: dict[str, OpenRequest] = {}

    def __iter__(self) -> Iterator[OpenRequest]:
        """Oldest first. What happens meanwhile changes nothing."""
        return iter(tuple(self._requests.values()))

    def __bool__(self) -> bool:
        return bool(self._requests)

    def get(self, request_id: str) -> OpenRequest | None:
        return self._requests.get(request_id)

    def add(self, request: Request, model: ModelInfo | None) -> None:
        """It waits."""
        self._requests[request.request_id] = OpenRequest(request, model)

    def end(self, each: OpenRequest, reason: FinishReason, notice: str = "") -> None:
        request = each.request
        if self._requests.pop(request.request_id, None):
            self.reported.emit(
                Output(request.request_id, request.chat_id, finish_reason=reason, notice=notice)
            )

    def end_waiting(self, reason: FinishReason, notice: str) -> None:
        for each in self:
            if each.engine is None:
                self.end(each, reason, notice)

    def ask(self, engine: EngineThread, model: ModelInfo) -> None:
        """Submits all waiting ones. Those that `model` cannot continue end, even with reports outstanding."""
        for each in self:
            if each.engine is engine:
                continue
            if not each.can_move_to(model):
                self.end(each, FinishReason.ABORT, MODEL_CHANGED)
            elif each.engine is None:
                each.engine, each.model = engine, model
                engine.post(Submit(each.rest()))

    def note(self, report: StepReport) -> StepReport:
        """The report of the active engine as it is passed on."""
        if not report.outputs:
            return report
        return replace(report, outputs=tuple(map(self._note, report.outputs)))

    def note_last_reports(self, engine: EngineThread) -> None:
        """Takes the last reports of a stopped engine, which aborted its answers: they continue elsewhere."""
        for output in [output for report in engine.take_reports() for output in report.outputs]:
            each = self.get(output.request_id)
            if each is None or each.engine is not engine:
                continue
            if output.finish_reason is FinishReason.ABORT and not each.is_aborted:
                passed_on = _broken_off(each.note(output))
                each.leave()
            else:
                passed_on = self._note(output)
            self.reported.emit(passed_on)

    def leave(self, engine: EngineThread) -> None:
        """The engine is gone. Some requests may have ended without a last output."""
        self.note_last_reports(engine)
        for each in self:
            if each.engine is engine:
                each.leave()
                if each.is_aborted:
                    self.end(each, FinishReason.ABORT)

    def _note(self, output: Output) -> Output:
        each = self.get(output.request_id)
        if each is None:
            return output
        if output.finish_reason:
            del self._requests[output.request_id]
        return each.note(output)


def is_same_model(one: ModelInfo, other: ModelInfo) -> bool:
    """Their tokens mean the same: it is the same file, and was not replaced meanwhile."""
    return (one.address, one.n_vocab, one.n_params, one.size_bytes) == (
        other.address,
        other.n_vocab,
        other.n_params,
        other.size_bytes,
    )


def _broken_off(last: Output) -> Output:
    """The last output of an answer that continues elsewhere, without its finish reason."""
    return replace(last, finish_reason=None, notice="")
