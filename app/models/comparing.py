"""What must be known before two models are compared, by their headers: no model is loaded. Any thread."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from app.models.gguf_header import GgufHeader, HeaderError
from app.models.layers import Hyperparameters
from app.models.load_limits import why_not_compared
from app.models.memory_fit import fit_together, fitted
from app.models.model_file import open_header, why_unusable
from app.protocol.comparison import Compare
from app.protocol.errors import ModelLoadError
from app.protocol.model import Device
from app.system.said import said, together

USUAL_WINDOW, LEAST_WINDOW = 4096, 8  # tokens


def prepared(question: Compare, gpus: Sequence[Device] = ()) -> Compare:
    """With a window that both were trained for, and whether there is room for both.

    Raises ModelLoadError where these two cannot be compared.
    """
    base, other = (_header(load.path) for load in (question.base, question.other))
    _check_vocabularies(question, other, base)
    trained = (Hyperparameters(header).number("context_length", USUAL_WINDOW) for header in (base, other))
    n_ctx = max(min(question.n_ctx or USUAL_WINDOW, *trained), LEAST_WINDOW) // 2 * 2
    one, two = (
        fitted(replace(load, n_ctx=n_ctx, n_seq_max=1, num_drafted_tokens=0), gpus)
        for load in (question.base, question.other)
    )
    are_together = fit_together(one, two, gpus)
    return replace(question, base=one, other=two, n_ctx=n_ctx, are_together=are_together)


def _header(path: Path) -> GgufHeader:
    try:
        return open_header(path)
    except (HeaderError, OSError) as error:
        raise ModelLoadError(why_unusable(path, error)) from error


def _check_vocabularies(question: Compare, theirs: GgufHeader, ours: GgufHeader) -> None:
    other, base = question.other.path, question.base.path
    try:
        reason = why_not_compared(other, theirs, base, ours)
    except (HeaderError, OSError) as error:
        raise ModelLoadError(why_unusable(other, error)) from error
    if reason:
        refusal = said("{other} cannot be compared with {base}.", other=other.name, base=base.name)
        what_to_do = said("Choose another file of the same model, or one of its family.")
        raise ModelLoadError(together(refusal, reason, what_to_do))
