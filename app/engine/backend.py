"""What the engine needs from the native library: `LlamaBackend` is real, the tests have a strict fake.

The tokenizer half may be called from any thread, the memory half from the engine's thread only.
"""

from collections.abc import Sequence
from typing import Protocol

from app.engine.batch import Batch
from app.engine.types import ModelInfo, SamplingParams


class Sampler(Protocol):
    """Chooses the next tokens of one sequence and owns the native memory that takes. Engine thread only."""

    def sample(self, row: int) -> int:
        """Choose from the logits of batch row `row` of the last decode, and remember the choice.

        Raises BadLogitsError when there is nothing sane to choose from.
        """

    def close(self) -> None:
        """Free it. A second call does nothing."""


class Backend(Protocol):
    """One model in one context of `model.n_seq_max` sequences over `model.n_ctx` shared KV cells."""

    model: ModelInfo
    chat_template: str | None  # Jinja source from the model file
    bos_text: str
    eos_text: str

    # Any thread.

    def tokenize(self, text: str, *, parse_special: bool) -> list[int]:
        """Token ids of `text`; control tokens written out in it count only with `parse_special`."""

    def token_piece(self, token_id: int) -> bytes:
        """The bytes a token stands for; none for a control token."""

    def is_end_of_generation(self, token_id: int) -> bool: ...

    def control_texts(self) -> frozenset[str]:
        """How the control tokens are written, such as `<|im_end|>`."""

    def leading_tokens(self) -> list[int]:
        """What every prompt must begin with (the BOS token, where the model wants one)."""

    def interrupt(self) -> None:
        """Make a running decode return at once with DecodeInterruptedError, and every later one too."""

    # The engine thread only.

    def decode(self, batch: Batch) -> None:
        """Compute all rows of `batch` in one `llama_decode`.

        Raises NoKvCellsError (nothing changed), DecodeInterruptedError or DecodeError (read the positions
        back), PositionMismatchError (refused before the call).
        """

    def new_sampler(self, params: SamplingParams, prompt_token_ids: Sequence[int]) -> Sampler: ...

    def truncate(self, seq_id: int, num_tokens: int) -> bool:
        """Drop every cell of `seq_id` from position `num_tokens` on; 0 clears it.

        False: the model cannot go on from there (a sliding window has moved past it, a recurrent state
        cannot step back). The sequence must then be cleared. Clearing always succeeds.
        """

    def share_prefix(self, source: int, target: int, num_tokens: int) -> None:
        """Let the empty `target` hold the first `num_tokens` cells of `source` too, without a copy."""

    def pos_min(self, seq_id: int) -> int: ...

    def pos_max(self, seq_id: int) -> int: ...
