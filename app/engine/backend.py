"""What the engine needs from the native library. `LlamaBackend` implements it; the tests have a strict fake.

The tokenizer half may be called from any thread, the memory half from the engine's thread only.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from app.engine.batch import Batch
from app.engine.media.encoder import MediaEncoder
from app.engine.prompt import NO_GUIDE, Guide
from app.engine.sequence import Sampler
from app.protocol.lens import Floats, Span
from app.protocol.model import ModelInfo
from app.protocol.report import SavedState
from app.protocol.sampling import SamplingParams

Words = npt.NDArray[np.uint64]  # one bit a sequence
WORD_BITS = 64


@dataclass(frozen=True, slots=True, eq=False)
class UsedCells:
    """All used cells in order of their index: `pos` of shape (n,), `holders` of shape (n, num_words)."""

    pos: npt.NDArray[np.int32]
    holders: Words

    def listed(self) -> list[tuple[int, tuple[int, ...]]]:
        """Position and holders of each, readable."""
        return [(int(pos), _seq_ids(words)) for pos, words in zip(self.pos, self.holders, strict=True)]


class Lens(Protocol):
    """A second context of the model whose inside can be read; `LlamaLens` implements it."""

    num_computed_tokens: int

    @property
    def token_ids(self) -> tuple[int, ...]:
        """What it holds since the last question."""

    # Any thread.

    def interrupt(self) -> None: ...

    def resume(self) -> None: ...

    # One thread.

    def close(self) -> None:
        """It can be used again."""

    def attention(
        self, token_ids: Sequence[int], part: Span, saved: SavedState | None = None
    ) -> tuple[Floats, tuple[int, ...]]: ...

    def logprobs(
        self, token_ids: Sequence[int], first: int, saved: SavedState | None = None
    ) -> tuple[float, ...]: ...

    def layer_logits(self, token_ids: Sequence[int], saved: SavedState | None = None) -> Floats: ...


class Heads(Protocol):
    """Heads that draft for their own model, by seq_id: see `LlamaHeads`."""

    num_in_chain: int  # heads, each for one further token; 1: the same one makes them all

    def num_held(self, seq_id: int) -> int: ...

    def read(self, new: Mapping[int, list[int]]) -> None: ...

    def guess(self, new: Mapping[int, int]) -> dict[int, int]: ...

    def likeliest(self, row: int) -> tuple[int, float]: ...

    def drop_guesses(self, seq_ids: Iterable[int]) -> None: ...


class Backend(Protocol):
    """One model in one context of `model.n_seq_max` sequences over `model.n_ctx` shared KV cells."""

    model: ModelInfo
    chat_template: str | None  # Jinja source from the model file
    tool_template: str | None  # for chats with tools, if that is another one
    bos_text: str
    eos_text: str
    fingerprint: str  # of model file, context settings and library: a saved state is valid where it is equal

    @property
    def draft(self) -> "Backend | None":
        """A small model of the same vocabulary that drafts tokens. Interrupted and resumed with this one."""

    @property
    def heads(self) -> Heads | None:
        """What drafts for this model out of its own hidden rows."""

    @property
    def media_encoder(self) -> "MediaEncoder | None":
        """What encodes pictures and sounds for this model, if anything does."""

    @property
    def lens(self) -> Lens | None:
        """Computes beside it; whoever uses it ends that before this is closed."""

    # Any thread.

    def tokenize(self, text: str, *, parse_special: bool) -> list[int]:
        """Token ids of `text`; control tokens spelled out in it are recognised only with `parse_special`."""

    def token_piece(self, token_id: int) -> bytes:
        """The bytes a token stands for; none for a control token."""

    def written_piece(self, token_id: int) -> bytes:
        """As `token_piece`, but the name of a control token."""

    def take_log_lines(self) -> list[str]:
        """The library's warnings and errors since the last call; if too many, without the oldest."""

    def is_end_of_generation(self, token_id: int) -> bool: ...

    @property
    def end_tokens(self) -> frozenset[int]:
        """All tokens that end an answer."""

    def control_texts(self) -> frozenset[str]:
        """How the control tokens are written, such as `<|im_end|>`."""

    @property
    def control_tokens(self) -> frozenset[int]:
        """Tokens that stand for no text, such as those between turns. Cached; `control_texts` finds them."""

    def leading_tokens(self) -> list[int]:
        """What every prompt must begin with (the BOS token, where the model wants one)."""

    def check_sampling(self, params: SamplingParams) -> None:
        """Raise InvalidRequestError for what `new_sampler` would refuse. Cached."""

    def interrupt(self) -> None:
        """Make a running decode return at once with DecodeInterruptedError, and every later one too."""

    def resume(self) -> None:
        """Undo `interrupt`: the next decode runs."""

    # The engine thread only.

    def decode(self, batch: Batch) -> None:
        """Compute all rows of `batch` in one `llama_decode`.

        Raises NoKvCellsError (nothing changed), DecodeInterruptedError or DecodeError (read the positions
        back), PositionMismatchError (refused before the call).
        """

    def refusal_of(self, seq_id: int, first_pos: int, token_ids: Sequence[int]) -> str:
        """How the library itself refuses tokens at positions that `decode` would not pass on.

        Empty if it accepted them: clear the sequence then. For the self-test.
        """

    def likeliest(self, row: int) -> tuple[int, float]:
        """The likeliest token by the logits of batch row `row` of the last decode, and its probability.

        Raises BadLogitsError.
        """

    def logits_hash(self, row: int) -> int:
        """32 bits that differ where the logits of batch row `row` of the last decode do."""

    def new_sampler(
        self,
        params: SamplingParams,
        prompt_token_ids: Sequence[int],
        num_start_tokens: int = 0,
        guide: Guide = NO_GUIDE,
    ) -> Sampler:
        """The last `num_start_tokens` of the prompt already belong to the answer, which follows `guide`.

        Raises InvalidRequestError for an invalid grammar, or one that these tokens violate, and GrammarError
        for one that takes too long.
        """

    def truncate(self, seq_id: int, end: int, last: int | None = None) -> bool:
        """Drop every cell of `seq_id` from position `end` on; 0 clears it.

        `last` is the position of the last token that stays, where that is not the one before `end`.

        False: the model cannot go on from there (a sliding window has moved past it, a recurrent state steps
        back over draft tokens of the last decode only, and once). The sequence must then be cleared, which
        always succeeds.
        """

    def share_prefix(self, source: int, target: int, end: int) -> None:
        """Make the empty `target` share the cells of `source` before position `end`, without a copy."""

    def remove_and_shift(self, seq_id: int, start: int, end: int) -> None:
        """Drop the cells at positions start … end - 1 and move those behind them down to close the gap.

        Only where `model.can_shift`, and never while other sequences hold cells from `start` on: they would
        move, too. The keys are rotated by the next decode, so no state may be saved before it.
        """

    def save_state(self, seq_id: int) -> npt.NDArray[np.uint8]:
        """A copy of everything `seq_id` holds. Contains neither its tokens nor the model's identity."""

    def restore_state(self, seq_id: int, state: npt.NDArray[np.uint8]) -> bool:
        """Put a saved state into `seq_id`, replacing what it held. False: no room, or not usable; it is empty
        then. Damaged data is not always noticed: check it before.
        """

    def save_checkpoint(self, seq_id: int) -> npt.NDArray[np.uint8]:
        """What `truncate` cannot cut back of `seq_id`: the cells of its window, its recurrent state.

        Only where `model.takes_checkpoints`.
        """

    def roll_back(
        self, seq_id: int, checkpoint: npt.NDArray[np.uint8], end: int, last: int | None = None
    ) -> bool:
        """Put `seq_id` back to where it ended before position `end`, by a checkpoint of that moment.

        It holds the cells of at least so many; `last` as for `truncate`. False: not usable; the sequence must
        then be cleared.
        """

    def forget_all(self) -> None:
        """Clear all sequences, and what an interrupted decode may have left of their states.

        To clear each is not enough: a cell that held none may be noted as the source of the next state.
        """

    def positions_in(self, state: npt.NDArray[np.uint8]) -> npt.NDArray[np.int32] | None:
        """The positions in a saved state, in the order of its cells, which is kept when it is restored.

        None for memory without a cell for each token.
        """

    def used_cells(self) -> UsedCells | None:
        """Every used cell as the library sees it, in its order.

        None for memory without a cell for each token.
        """

    def pos_min(self, seq_id: int) -> int: ...

    def pos_max(self, seq_id: int) -> int: ...


def _seq_ids(words: Words) -> tuple[int, ...]:
    return tuple(
        index * WORD_BITS + bit
        for index, word in enumerate(map(int, words))
        for bit in range(word.bit_length())
        if word >> bit & 1
    )
