"""One model in one llama.cpp context, behind the checks that the library leaves to its caller.

Everything that would abort the process or silently corrupt the cache is checked before the call, and return
codes become named errors.
"""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Sequence

import llama_cpp as lib
import numpy as np
import numpy.typing as npt

from app.engine.backend import UsedCells
from app.engine.batch import Batch, MediaRows
from app.engine.llama.cell_reader import M_ROPE_TYPES, CellReader
from app.engine.llama.heads import LlamaHeads
from app.engine.llama.lens import LlamaLens
from app.engine.llama.logits import Logits
from app.engine.llama.mapped_files import MappedFiles
from app.engine.llama.native_batch import NativeBatch
from app.engine.llama.native_library import (
    AbortFlag,
    Native,
    OwningThread,
    array_pointer,
    failed_step,
    library,
)
from app.engine.llama.sampler import LlamaSampler, grammar_of
from app.engine.llama.vocabulary import Vocabulary, chat_template
from app.engine.media.encoder import MediaEncoder
from app.engine.media.rows import MAX_POSITIONS
from app.engine.prompt import NO_GUIDE, Guide
from app.protocol.errors import (
    DecodeInterruptedError,
    EngineError,
    InvalidRequestError,
    NoKvCellsError,
    PositionMismatchError,
)
from app.protocol.model import ModelInfo
from app.protocol.sampling import SamplingParams
from app.system.said import said


class LlamaBackend(Vocabulary):
    """One model in one context. Made by `open_llama_backend`."""

    def __init__(
        self, model: Native, context: Native, info: ModelInfo, fingerprint: str, files: MappedFiles
    ) -> None:
        super().__init__(model)
        self._model, self._context, self._files = model, context, files
        self._memory = lib.llama_get_memory(context.pointer)
        self._native_batch: NativeBatch | None = None  # of the last decode
        self._abort_flag = AbortFlag(context)
        self._check_thread = OwningThread().check
        self.logits = Logits(context, self.n_vocab, self._check_thread)
        self._unrotated: set[int] = set()  # sequences with shifted positions but unrotated keys
        self._num_drafted: dict[int, int] = {}  # rows of the last decode that may be rejected, by sequence
        self._cell_reader = CellReader(model, context, info)
        self.model = info
        self.fingerprint = fingerprint
        self.n_embd_inp = int(lib.llama_model_n_embd_inp(model.pointer))
        self.has_planes = lib.llama_model_rope_type(model.pointer) in M_ROPE_TYPES
        self.media_encoder: MediaEncoder | None = None  # who opened this one closes it
        self.draft: LlamaBackend | None = None
        self.heads: LlamaHeads | None = None
        self.lens: LlamaLens | None = None
        self.tool_template = chat_template(model, "tool_use")
        self.chat_template = chat_template(model) or self.tool_template

    # Any thread.

    def take_log_lines(self) -> list[str]:
        return library().take_lines()

    def check_sampling(self, params: SamplingParams) -> None:
        params.check_vocabulary(self.model.n_vocab)
        if params.ignore_eos and len(params.banned_tokens | self.end_tokens) == self.model.n_vocab:
            raise InvalidRequestError(
                said("ignore_eos and logit_bias rule out every token. Leave at least one.")
            )
        grammar_of(params)

    def interrupt(self) -> None:
        self._abort_flag.set()
        if self.draft:
            self.draft.interrupt()
        if self.heads:
            self.heads.interrupt()

    def resume(self) -> None:
        self._abort_flag.clear()
        if self.draft:
            self.draft.resume()
        if self.heads:
            self.heads.resume()

    # The engine thread only.

    def decode(self, batch: Batch) -> None:
        self._check_thread()
        self.logits.forget()
        logit_rows = self._checked_rows(batch)
        if self._abort_flag.is_set:
            raise DecodeInterruptedError("the step was interrupted before it began")
        # A rotation that was interrupted would be repeated: keys would silently be rotated twice.
        with self._abort_flag.ignored() if self._unrotated else contextlib.nullcontext():
            code = self._decode(batch)
        if code >= 0:
            self._unrotated.clear()
        if self.heads and code != 1:
            self.heads.note_decoded(batch, code)
        if code == 0:
            self.logits.note_decoded(logit_rows)
            self._num_drafted = {span.seq_id: span.num_drafted for span in batch.spans}
        elif code == 1:
            raise NoKvCellsError(f"no room for {batch.num_rows} rows in {self.model.n_ctx} cells")
        elif code == 2:
            raise DecodeInterruptedError("the step was interrupted", has_begun=True)
        else:
            raise failed_step(code)

    def refusal_of(self, seq_id: int, first_pos: int, token_ids: Sequence[int]) -> str:
        self._check_thread()
        self._check_seq_id(seq_id)
        self.logits.forget()
        batch = Batch(len(token_ids))
        for row, token_id in enumerate(token_ids):
            batch.token_ids[row], batch.positions[row] = token_id, first_pos + row
            batch.seq_ids[row] = seq_id
        batch.num_rows = len(token_ids)
        library().recent.clear()
        code = self._decode(batch)
        return " ".join(library().recent) or f"code {code}" if code else ""

    def likeliest(self, row: int) -> tuple[int, float]:
        return self.logits.likeliest(row)

    def logits_hash(self, row: int) -> int:
        return self.logits.hash_of(row)

    def new_sampler(
        self,
        params: SamplingParams,
        prompt_token_ids: Sequence[int],
        num_start_tokens: int = 0,
        guide: Guide = NO_GUIDE,
    ) -> LlamaSampler:
        self._check_thread()
        self.check_sampling(params)
        return LlamaSampler(
            self,
            self.logits,
            params,
            prompt_token_ids,
            num_start_tokens,
            guide,
            lambda: self._abort_flag.is_set,
        )

    def truncate(self, seq_id: int, end: int, last: int | None = None) -> bool:
        self._check_thread()
        self._check_seq_id(seq_id)
        num_cut, num_drafted = self.pos_max(seq_id) + 1 - end, self._num_drafted.pop(seq_id, 0)
        if end == 0:
            self._remove(seq_id, -1)
            self._unrotated.discard(seq_id)
            return True
        # The library would also step back to snapshots of an earlier decode, which are not of these tokens.
        if self.model.has_states and num_cut > num_drafted:
            return False
        if not self._remove(seq_id, end):
            return False
        return self._goes_on_at(seq_id, end, last, are_drafted=0 < num_cut <= num_drafted)

    def _remove(self, seq_id: int, start: int, before: int | None = None) -> bool:
        """`before` was the last position, if that has changed meanwhile."""
        before = self.pos_max(seq_id) if before is None else before
        is_removed = bool(lib.llama_memory_seq_rm(self._memory, seq_id, start, -1))
        if self.heads:
            self.heads.note_cut(seq_id, before)
        return is_removed

    def _goes_on_at(self, seq_id: int, end: int, last: int | None, *, are_drafted: bool = False) -> bool:
        """Whether the window's cells are there: a state is only where its window is, too.

        Cutting succeeds even where they are gone: only pos_min shows it. `are_drafted`: rows of the last
        decode were cut, and not its first. It took only cells that its first row and all later ones do not
        see (find_slot and apply_ubatch in llama-kv-cache.cpp).
        """
        window_start = max(0, end - self.model.n_swa + 1)  # the next token is in the window, too
        has_window = self.model.n_swa and not self.model.has_states and not are_drafted
        window_kept = not has_window or 0 <= self.pos_min(seq_id) <= window_start
        return window_kept and self.pos_max(seq_id) == (end - 1 if last is None else last)

    def share_prefix(self, source: int, target: int, end: int) -> None:
        self._check_thread()
        self._check_seq_id(source)
        self._check_seq_id(target)
        assert self.model.can_share_cells, "part of a stream cannot be copied: the process would end"
        assert self.pos_max(target) == -1, "seq_cp into a sequence that holds cells would merge the two"
        assert 0 < end <= self.pos_max(source) + 1
        if self.model.has_states and self.model.num_drafted_tokens:
            # It may be at a snapshot until its next decode. seq_cp would share the state before that.
            self.roll_back(source, self.save_checkpoint(source), self.pos_max(source) + 1)
        lib.llama_memory_seq_cp(self._memory, source, target, 0, end)
        if self.heads:
            self.heads.note_shared(source, target, end)
        if source in self._unrotated:
            self._unrotated.add(target)

    def remove_and_shift(self, seq_id: int, start: int, end: int) -> None:
        self._check_thread()
        self._check_seq_id(seq_id)
        assert self.model.can_shift, "this model's positions cannot be moved: the process would end"
        assert 0 <= start < end <= self.pos_max(seq_id) + 1, f"no positions {start} … {end - 1} to remove"
        assert not self._shares_from(seq_id, start), "the cells of others would move, too"
        lib.llama_memory_seq_rm(self._memory, seq_id, start, end)
        lib.llama_memory_seq_add(self._memory, seq_id, end, -1, start - end)
        if self.heads:
            self.heads.forget(seq_id)
        self._unrotated.add(seq_id)

    def save_state(self, seq_id: int) -> npt.NDArray[np.uint8]:
        return self._saved(seq_id, flags=0)

    def save_checkpoint(self, seq_id: int) -> npt.NDArray[np.uint8]:
        assert self.model.takes_checkpoints
        return self._saved(seq_id, lib.LLAMA_STATE_SEQ_FLAGS_PARTIAL_ONLY)

    def _saved(self, seq_id: int, flags: int) -> npt.NDArray[np.uint8]:
        self._check_thread()
        self._check_seq_id(seq_id)
        assert seq_id not in self._unrotated, "its keys are rotated by the next decode"
        context = self._context.pointer
        state = np.empty(lib.llama_state_seq_get_size_ext(context, seq_id, flags), np.uint8)
        pointer = array_pointer(state, ctypes.c_uint8)
        num_bytes = lib.llama_state_seq_get_data_ext(context, pointer, state.size, seq_id, flags)
        if num_bytes != state.size:
            raise EngineError(
                said(
                    "llama.cpp saved {saved} of {bytes} bytes. {reason}",
                    saved=num_bytes,
                    bytes=state.size,
                    reason=library().reason(),
                )
            )
        return state

    def restore_state(self, seq_id: int, state: npt.NDArray[np.uint8]) -> bool:
        self._check_thread()
        self._check_seq_id(seq_id)
        assert state.dtype == np.uint8
        assert state.flags.c_contiguous
        self.truncate(seq_id, 0)
        if not self._cell_reader.is_plausible(state):
            return False
        pointer = array_pointer(state, ctypes.c_uint8)
        num_bytes = lib.llama_state_seq_set_data(self._context.pointer, pointer, state.size, seq_id)
        is_restored: bool = 0 < num_bytes == state.size
        if not is_restored:
            self.truncate(seq_id, 0)
        return is_restored

    def roll_back(
        self, seq_id: int, checkpoint: npt.NDArray[np.uint8], end: int, last: int | None = None
    ) -> bool:
        self._check_thread()
        self._check_seq_id(seq_id)
        assert end > 0
        before = self.pos_max(seq_id)
        self._num_drafted.pop(seq_id, 0)
        pointer = array_pointer(checkpoint, ctypes.c_uint8)
        num_bytes = lib.llama_state_seq_set_data_ext(
            self._context.pointer,
            pointer,
            checkpoint.size,
            seq_id,
            lib.LLAMA_STATE_SEQ_FLAGS_PARTIAL_ONLY,
        )
        # The rest is cut only now: a recurrent state refuses to be.
        is_cut = num_bytes == checkpoint.size and self._remove(seq_id, end, before)
        return is_cut and self._goes_on_at(seq_id, end, last)

    def forget_all(self) -> None:
        self._check_thread()
        lib.llama_memory_clear(self._memory, False)
        self._unrotated.clear()
        if self.heads:
            for seq_id in range(self.model.n_seq_max):
                self.heads.forget(seq_id)

    def positions_in(self, state: npt.NDArray[np.uint8]) -> npt.NDArray[np.int32] | None:
        return self._cell_reader.positions_in(state)

    def used_cells(self) -> UsedCells | None:
        self._check_thread()
        return self._cell_reader.read()

    def pos_min(self, seq_id: int) -> int:
        return int(lib.llama_memory_seq_pos_min(self._memory, seq_id))

    def pos_max(self, seq_id: int) -> int:
        return int(lib.llama_memory_seq_pos_max(self._memory, seq_id))

    def _decode(self, batch: Batch) -> int:
        self._files.hold()
        self._num_drafted = {}
        if batch.media:
            code = self._decode_media(batch, batch.media)
        else:
            code = lib.llama_decode(self._context.pointer, self._native(batch))
        self._files.let_go()
        return code

    def _decode_media(self, batch: Batch, media: MediaRows) -> int:
        """Rows of embeddings instead of tokens. The library takes either, and not both."""
        native = lib.llama_batch.from_buffer_copy(self._native(batch))
        embeddings = np.ascontiguousarray(media.embeddings, np.float32)
        places = np.ascontiguousarray(media.places)
        native.token = None
        native.embd = embeddings.ctypes.data_as(ctypes.POINTER(ctypes.c_float))
        if self.has_planes:
            native.pos = array_pointer(places, ctypes.c_int32)
        pointer = self._context.pointer
        if media.is_whole:
            lib.llama_set_causal_attn(pointer, False)
        code: int = lib.llama_decode(pointer, native)
        if media.is_whole:
            lib.llama_set_causal_attn(pointer, True)
        return code

    # What the library does not check itself.

    def _check_seq_id(self, seq_id: int) -> None:
        assert 0 <= seq_id < self.model.n_seq_max, f"seq_id {seq_id} is out of range"

    def _shares_from(self, seq_id: int, start: int) -> bool:
        cells = self._cell_reader.read()
        if cells is None:
            return False
        return any(seq_id in holders and len(holders) > 1 for pos, holders in cells.listed() if pos >= start)

    def _checked_rows(self, batch: Batch) -> list[int]:
        """Check the rows; returns those with logits.

        Positions must continue each sequence in the library; the rest must be within the context's limits.
        """
        assert 0 < batch.num_rows <= self.model.n_batch, f"{batch.num_rows} rows in one batch"
        if batch.media:
            self._check_media(batch, batch.media)
        n_vocab, end, logit_rows = self.model.n_vocab, 0, list[int]()
        for span in batch.spans:
            assert span.first_row == end, "every row belongs to one sequence"
            end += span.num_rows
            self._check_seq_id(span.seq_id)
            pos_max = self.pos_max(span.seq_id)
            goes_on = self._follows if self.has_planes else _is_next
            for row in range(span.first_row, end):
                assert batch.media or 0 <= batch.token_ids[row] < n_vocab, "token id out of range"
                before = pos_max if row == span.first_row else batch.positions[row - 1]
                if not goes_on(before, batch.positions[row]):
                    raise PositionMismatchError(
                        f"sequence {span.seq_id} is at position {pos_max} in the library, but the batch "
                        f"wants to go on at {batch.positions[span.first_row]}"
                    )
            logit_rows += span.sampled_rows
        assert end == batch.num_rows, "every row belongs to one sequence"
        if self.model.n_swa:
            self._check_is_computed_at_once(batch)
        assert len(logit_rows) <= self.model.n_outputs_max, f"logits for {len(logit_rows)} rows"
        return logit_rows

    def _follows(self, before: int, position: int) -> bool:
        """Rows of a picture may share a position, and take fewer positions than rows."""
        return before <= position <= before + MAX_POSITIONS

    def _check_media(self, batch: Batch, media: MediaRows) -> None:
        """The library would end the process, or read what is not there."""
        assert len(batch.spans) == 1
        assert media.embeddings.shape == (batch.num_rows, self.n_embd_inp)
        assert media.places.shape == (4, batch.num_rows)
        assert batch.num_rows <= self.model.n_ubatch, f"{batch.num_rows} rows that are computed at once"

    def _check_is_computed_at_once(self, batch: Batch) -> None:
        """Cells of a window that another micro-batch drops are missed without a trace: see `loading`."""
        assert batch.num_rows <= self.model.n_ubatch, f"{batch.num_rows} rows for one micro-batch"
        if self.model.takes_one_prompt_a_step:
            num_prompts = sum(span.num_rows > 1 for span in batch.spans)
            assert num_prompts < 2, f"{num_prompts} prompts for one micro-batch"

    def _native(self, batch: Batch) -> lib.llama_batch:
        """The batch as the library takes it. Cached, since the same batch is reused in every step."""
        if self._native_batch is None or self._native_batch.batch is not batch:
            self._native_batch = NativeBatch(batch)
        native = self._native_batch.native
        native.n_tokens = batch.num_rows
        return native


def _is_next(before: int, position: int) -> bool:
    return position == before + 1
