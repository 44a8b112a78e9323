"""A request that an engine is answering, and what is left of it for the next engine. GUI thread.

Its tokens are noted as they are told, so that another context of the same model goes on where it stood. Knows
no threads, and decides nothing.
"""

from dataclasses import dataclass, field, replace

from app.engine.types import FinishReason, ModelInfo, Output, Request

HALF_A_CHARACTER = "\ufffd"  # what is told at last of one whose other bytes have not come


@dataclass(slots=True)
class OpenRequest:
    request: Request
    token_ids: list[int] = field(default_factory=list)  # of the answer, as far as it was told
    text: str = ""  # likewise; kept only where the answer began with text
    is_begun: bool = False  # somebody has read some of it

    def note(self, output: Output) -> None:
        self.is_begun = self.is_begun or bool(output.text or output.token_ids)
        self.token_ids += output.token_ids
        if isinstance(self.request.answer_start, str) and self.request.answer_start:
            self.text += output.text

    def can_move(self, former: ModelInfo, model: ModelInfo) -> bool:
        """A begun answer goes on with the same model only; another, with any that can read the request."""
        if is_same_model(former, model):
            return True
        request = self.request
        has_tokens = not isinstance(request.answer_start, str) and bool(request.answer_start)
        return not (self.is_begun or has_tokens or any(isinstance(piece, int) for piece in request.prompt))

    def rest(self) -> Request:
        """What is left to be asked."""
        request = self.request
        if not self.token_ids:
            return request
        start = request.answer_start
        left = None if request.max_tokens is None else max(request.max_tokens - len(self.token_ids), 0)
        if isinstance(start, str) and start:
            return replace(request, answer_start=start + self.text, max_tokens=left)
        return replace(request, answer_start=(*start, *self.token_ids), max_tokens=left)


def broken_off(last: Output) -> Output:
    """What an answer that goes on elsewhere was told last, without its end."""
    assert last.finish_reason is FinishReason.ABORT
    return replace(last, text=last.text.removesuffix(HALF_A_CHARACTER), finish_reason=None, notice="")


def is_same_model(one: ModelInfo, other: ModelInfo) -> bool:
    """Their tokens mean the same: it is the same file, and was not replaced meanwhile."""
    return (one.path, one.n_vocab, one.n_params, one.size_bytes) == (
        other.path,
        other.n_vocab,
        other.n_params,
        other.size_bytes,
    )
