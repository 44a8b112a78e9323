"""A backend as strict as the real library and far smaller.

It keeps cells the way llama.cpp's unified cache does, refuses what llama.cpp refuses with the same words,
and also refuses what llama.cpp would silently spoil. Each next token depends on every token in the cells of
its sequence, so one wrong cell changes the answer.
"""

from __future__ import annotations

import threading
import time
import zlib
from collections.abc import Callable, Sequence
from itertools import chain
from pathlib import Path

import numpy as np
import numpy.typing as npt

from app.engine.backend import UsedCells
from app.engine.batch import Batch
from app.engine.cells.ledger import num_words
from app.engine.media.encoder import MediaEncoder
from app.engine.prompt import NO_GUIDE, Guide
from app.protocol.errors import (
    BadLogitsError,
    DecodeError,
    DecodeInterruptedError,
    NoKvCellsError,
    PositionMismatchError,
)
from app.protocol.grammar import check_grammar
from app.protocol.model import ModelInfo
from app.protocol.output import SampledToken, TokenLogprob
from app.protocol.sampling import SamplingParams
from tests.fake_cells import Cell, FakeCells, NoRoomError

CONTROL = {"<|endoftext|>": 256, "<|im_start|>": 257, "<|im_end|>": 258}
END = CONTROL["<|im_end|>"]
N_VOCAB = 259
STATE_MAGIC, CHECKPOINT_MAGIC = 0x5EED, 0xC0DE


def model_info(**changes: object) -> ModelInfo:
    values: dict[str, object] = {
        "path": Path("fake.gguf"),
        "name": "fake",
        "description": "fake 0B",
        "architecture": "fake",
        "n_vocab": N_VOCAB,
        "n_params": 0,
        "size_bytes": 0,
        "n_ctx": 512,
        "n_ctx_train": 0,
        "n_seq_max": 4,
        "n_batch": 64,
    }
    return ModelInfo(**(values | changes))  # type: ignore[arg-type]


class CountingBackend:
    """Counts cells and samplers; `batches` remembers what every decode was given."""

    chat_template: str | None = None
    tool_template: str | None = None
    bos_text = ""
    eos_text = "<|im_end|>"
    fingerprint = "fake"

    def __init__(
        self,
        next_token: Callable[[Sequence[int]], int] | None = None,
        before_decode: Callable[[Batch], None] = lambda _batch: None,
        num_snapshots: int = 0,
        **model: object,
    ) -> None:
        """`next_token` chooses from all tokens of a sequence; `before_decode` may raise what a decode can.

        A state steps back over up to `num_snapshots` rows of the last decode, once.
        """
        self.model = model_info(**model)
        self.memory = FakeCells(self.model)
        self.batches: list[dict[int, list[int]]] = []  # seq_id -> positions
        self.num_samplers = 0
        self._next_token = next_token or pseudo_random_token
        self._before_decode = before_decode
        self._rows: dict[int, list[int]] = {}
        self._num_snapshots = num_snapshots
        self._left_behind: dict[int, int] = {}  # snapshots of the last decode, by sequence
        self.media_encoder: MediaEncoder | None = None
        self.draft: CountingBackend | None = None
        self.heads = self.lens = None
        self.is_interrupted = False
        self.log_lines: list[str] = []
        self._unrotated: set[int] = set()  # as in llama.cpp, the next decode rotates moved keys

    # Any thread.

    def tokenize(self, text: str, *, parse_special: bool) -> list[int]:
        tokens: list[int] = []
        while text:
            name = next((name for name in CONTROL if parse_special and text.startswith(name)), None)
            tokens += [CONTROL[name]] if name else text[0].encode("utf-8", "replace")
            text = text[len(name or text[0]) :]
        return tokens

    def token_piece(self, token_id: int) -> bytes:
        return bytes([token_id]) if token_id < 256 else b""

    def written_piece(self, token_id: int) -> bytes:
        name = next((name for name, control in CONTROL.items() if control == token_id), "")
        return name.encode() or self.token_piece(token_id)

    def take_log_lines(self) -> list[str]:
        lines, self.log_lines = self.log_lines, []
        return lines

    def is_end_of_generation(self, token_id: int) -> bool:
        return token_id == END

    @property
    def end_tokens(self) -> frozenset[int]:
        return frozenset({END})

    def control_texts(self) -> frozenset[str]:
        return frozenset(CONTROL)

    @property
    def control_tokens(self) -> frozenset[int]:
        return frozenset(CONTROL.values())

    def leading_tokens(self) -> list[int]:
        return []

    def check_sampling(self, params: SamplingParams) -> None:
        params.check_vocabulary(self.model.n_vocab)
        if params.grammar:
            check_grammar(params.grammar)

    def interrupt(self) -> None:
        self.is_interrupted = True
        if self.draft:
            self.draft.interrupt()

    def resume(self) -> None:
        self.is_interrupted = False
        if self.draft:
            self.draft.resume()

    # The engine thread only.

    def decode(self, batch: Batch) -> None:
        if threading.active_count() > 1:
            time.sleep(0)  # as a call into the library does: other threads get the interpreter
        self._rows = {}
        if self.is_interrupted:
            raise DecodeInterruptedError("the step was interrupted")
        self._before_decode(batch)
        self._check(batch)
        self._unrotated.clear()
        rows = slice(batch.num_rows)
        columns = batch.seq_ids[rows], batch.positions[rows], batch.token_ids[rows]
        try:
            self.memory.decode(list(zip(*(column.tolist() for column in columns), strict=True)))
        except NoRoomError:
            raise NoKvCellsError(f"no room for {batch.num_rows} rows") from None
        self.batches.append({})
        self._left_behind = {}
        for row in range(batch.num_rows):
            self._note_computed(batch, row)

    def refusal_of(self, seq_id: int, first_pos: int, token_ids: Sequence[int]) -> str:
        if first_pos == self.pos_max(seq_id) + 1:
            return ""
        return f"the tokens of sequence {seq_id} in the input batch have inconsistent sequence positions"

    def likeliest(self, row: int) -> tuple[int, float]:
        return self.choose(row), 1.0

    def logits_hash(self, row: int) -> int:
        return zlib.crc32(repr(self._rows[row]).encode())

    def new_sampler(
        self,
        params: SamplingParams,
        prompt_token_ids: Sequence[int],
        num_start_tokens: int = 0,
        guide: Guide = NO_GUIDE,
    ) -> CountingSampler:
        self.check_sampling(params)
        assert 0 <= num_start_tokens < len(prompt_token_ids) or not num_start_tokens
        return CountingSampler(self, params.ignore_eos)

    def truncate(self, seq_id: int, num_tokens: int, last: int | None = None) -> bool:
        self._check_seq_id(seq_id)
        num_cut, num_snapshots = self.pos_max(seq_id) + 1 - num_tokens, self._left_behind.pop(seq_id, 0)
        if num_tokens and self.model.has_states and num_cut > num_snapshots:
            return False
        if num_tokens == 0:
            self._unrotated.discard(seq_id)
        self.memory.seq_rm(seq_id, num_tokens)
        return True

    def share_prefix(self, source: int, target: int, num_tokens: int) -> None:
        self._check_seq_id(source)
        self._check_seq_id(target)
        assert self.model.can_share_cells, "sharing what cannot be shared"
        assert self.pos_max(target) == -1, "merging two sequences"
        assert 0 < num_tokens <= self.pos_max(source) + 1
        self.memory.seq_cp(source, target, num_tokens)
        if source in self._unrotated:
            self._unrotated.add(target)

    def remove_and_shift(self, seq_id: int, start: int, end: int) -> None:
        self._check_seq_id(seq_id)
        assert self.model.can_shift, "shifting what cannot be shifted"
        held = self._cells_of(seq_id)
        assert 0 <= start < end <= len(held), f"no positions {start} … {end - 1} to remove"
        assert all(cell.seq_ids == {seq_id} for cell in held[start:]), "moving the cells of others"
        self.memory.seq_rm(seq_id, start, end)
        self.memory.seq_add(seq_id, end, start - end)
        self._unrotated.add(seq_id)

    def save_state(self, seq_id: int) -> npt.NDArray[np.uint8]:
        """A header of two numbers, then the position and the token of each cell, in order of the cells."""
        self._check_seq_id(seq_id)
        assert seq_id not in self._unrotated, "keys are not rotated yet"
        saved = self.memory.saved(seq_id)
        return np.array([STATE_MAGIC, len(saved), *chain(*saved)], np.int32).view(np.uint8)

    def restore_state(self, seq_id: int, state: npt.NDArray[np.uint8]) -> bool:
        self.truncate(seq_id, 0)
        assert state.dtype == np.uint8
        words = state[: state.size // 4 * 4].view(np.int32).tolist()
        if state.size % 8 or words[:2] != [STATE_MAGIC, len(words) // 2 - 1]:
            return False
        try:
            self.memory.restore(seq_id, list(zip(words[2::2], words[3::2], strict=True)))
        except NoRoomError:
            return False
        return True

    def save_checkpoint(self, seq_id: int) -> npt.NDArray[np.uint8]:
        """How many tokens the sequence holds: all that this fake's states remember."""
        assert self.model.takes_checkpoints
        return np.array([CHECKPOINT_MAGIC, self.pos_max(seq_id) + 1], np.int32).view(np.uint8)

    def roll_back(
        self, seq_id: int, checkpoint: npt.NDArray[np.uint8], num_tokens: int, last: int | None = None
    ) -> bool:
        self._check_seq_id(seq_id)
        assert 0 < num_tokens <= self.pos_max(seq_id) + 1, "a checkpoint without its cells"
        if checkpoint.view(np.int32).tolist() != [CHECKPOINT_MAGIC, num_tokens]:
            return False
        self.memory.seq_rm(seq_id, num_tokens)
        return True

    def forget_all(self) -> None:
        for seq_id in range(self.model.n_seq_max):
            self.memory.seq_rm(seq_id, 0)
        self.memory.heads = [0] * self.memory.num_streams
        self._unrotated.clear()

    def positions_in(self, state: npt.NDArray[np.uint8]) -> npt.NDArray[np.int32] | None:
        return None if self.model.is_recurrent else state.view(np.int32)[2::2]

    def used_cells(self) -> UsedCells | None:
        if self.model.is_recurrent:
            return None
        cells = self.cells
        num_bytes = 8 * num_words(self.model.n_seq_max)
        bits = [sum(1 << seq_id for seq_id in cell.seq_ids).to_bytes(num_bytes, "little") for cell in cells]
        holders = np.frombuffer(b"".join(bits), "<u8").reshape(len(cells), num_bytes // 8)
        return UsedCells(np.array([cell.pos for cell in cells], np.int32), holders)

    def pos_min(self, seq_id: int) -> int:
        return min((cell.pos for cell in self.memory.held(seq_id)), default=-1)

    def pos_max(self, seq_id: int) -> int:
        return max((cell.pos for cell in self.memory.held(seq_id)), default=-1)

    # For tests.

    @property
    def cells(self) -> list[Cell]:
        """The used ones in order of their index."""
        return self.memory.used

    def tokens_of(self, seq_id: int) -> list[int]:
        return [cell.token_id for cell in self._cells_of(seq_id)]

    def choose(self, row: int) -> int:
        assert row in self._rows, f"row {row} has no logits"
        return self._next_token(self._rows[row])

    def _cells_of(self, seq_id: int) -> list[Cell]:
        return self.memory.of(seq_id)

    def _check_seq_id(self, seq_id: int) -> None:
        assert 0 <= seq_id < self.model.n_seq_max, f"seq_id {seq_id} is out of range"

    def _check(self, batch: Batch) -> None:
        if batch.num_rows == 0 or batch.num_rows > self.model.n_batch:
            raise DecodeError(f"n_tokens == {batch.num_rows}")
        assert not self.model.n_swa or batch.num_rows <= self.model.n_ubatch, "a window would be spoilt"
        last_pos: dict[int, int] = {}
        for row in range(batch.num_rows):
            token_id, seq_id = int(batch.token_ids[row]), int(batch.seq_ids[row])
            if not (batch.media or 0 <= token_id < self.model.n_vocab):
                raise DecodeError(f"invalid token[{row}] = {token_id}")
            if not 0 <= seq_id < self.model.n_seq_max:
                raise DecodeError(f"invalid seq_id[{row}][0] = {seq_id} >= {self.model.n_seq_max}")
            before = last_pos[seq_id] if seq_id in last_pos else self.pos_max(seq_id)
            position = int(batch.positions[row])
            if position != before + 1:
                raise PositionMismatchError(
                    f"the tokens of sequence {seq_id} in the input batch have inconsistent sequence "
                    f"positions: X = {before}, Y = {position}: it is required that Y = X + 1"
                )
            last_pos[seq_id] = position
        assert list(last_pos) == sorted(last_pos), "rows are not sorted by seq_id"

    def _note_computed(self, batch: Batch, row: int) -> None:
        seq_id, position = int(batch.seq_ids[row]), int(batch.positions[row])
        positions = self.batches[-1].setdefault(seq_id, [])
        positions.append(position)
        self._left_behind[seq_id] = min(len(positions) - 1, self._num_snapshots)
        if batch.wants_logits[row]:
            self._rows[row] = self.tokens_of(seq_id)[: position + 1]  # draft tokens may follow it
            assert len(self._rows) <= self.model.n_outputs_max, "more rows with logits than the context has"


class CountingSampler:
    waits_for_trigger = False

    def __init__(self, backend: CountingBackend, ignore_eos: bool) -> None:
        self._backend = backend
        self._ignore_eos = ignore_eos
        self._open = True
        backend.num_samplers += 1

    def sample(self, row: int) -> int:
        token_id = self._backend.choose(row)
        return ord("a") if self._ignore_eos and token_id == END else token_id

    def sample_with_logprobs(self, row: int, num_logprobs: int) -> SampledToken:
        token_id = self.sample(row)
        chosen = TokenLogprob(token_id, self._backend.token_piece(token_id), 0.0, 1.0)  # nothing else can be
        return SampledToken(chosen, (chosen,))

    def close(self) -> None:
        self._backend.num_samplers -= self._open
        self._open = False


def pseudo_random_token(token_ids: Sequence[int]) -> int:
    """A letter that depends on every token before it; about one in sixty ends the answer."""
    state = 17
    for token_id in token_ids:
        state = (state * 1_000_003 + token_id + 1) % 2_147_483_647
    return END if state % 60 == 0 else ord("a") + state % 26


def copying_token(token_ids: Sequence[int]) -> int:
    """As `pseudo_random_token`, but mostly what followed the last letter where it came before."""
    state = pseudo_random_token(token_ids)
    if state == END or state % 5 == 0:
        return state
    places = range(len(token_ids) - 2, -1, -1)
    place = next((place for place in places if token_ids[place] == token_ids[-1]), None)
    copied = END if place is None else token_ids[place + 1]
    return copied if copied < 256 else state


def endless_token(token_ids: Sequence[int]) -> int:
    return ord("a") + (sum(token_ids) + len(token_ids)) % 26


def bad_logits(_token_ids: Sequence[int]) -> int:
    raise BadLogitsError("The model computed only zeros logits.")


async def saved() -> None:
    """A session's `save`, where nothing keeps it."""
