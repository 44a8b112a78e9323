"""A second context of a model whose inside can be read: what was attended to, and what each layer says.

It computes beside the engine's own context, on a thread of its own: an eval callback is asked for every node
of every graph, so no answer is ever computed here. The cells of a chat come as a copy of its state.
"""

from __future__ import annotations

import ctypes
import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import llama_cpp as lib
import numpy as np

from app.engine.cells.prefix import common_prefix
from app.engine.comparison import log_softmax
from app.engine.llama.attention import LensCells, attention_weights
from app.engine.llama.cell_reader import CellReader
from app.engine.llama.graph_nodes import FLASH_ATTENTION, SOFT_MAX, EvalCallback, Floats, Node
from app.engine.llama.mapped_files import MappedFiles
from app.engine.llama.native_library import AbortFlag, Native, array_pointer, library
from app.protocol.errors import DecodeError, EngineError, LensInterruptedError, LensRefusedError
from app.protocol.lens import Span
from app.protocol.model import ModelInfo
from app.protocol.report import SavedState
from app.system.said import said

log = logging.getLogger(__name__)

NUM_OUTPUTS = 32  # rows at once whose logits are read
MAX_WEIGHTS = 1 << 24  # of one layer and one decode, to bound the memory
MIN_COPIED_TOKENS = 32  # less is computed sooner than a state is copied
MAIN, ASIDE = 0, 1  # sequences
LAYER_OUTPUT = b"l_out-"

OnNode = Callable[[Node], None]
Wanted = Callable[[Node], bool]


class LlamaLens:
    """One sequence at a time, from one question to the next as far as they begin alike. One thread."""

    def __init__(
        self,
        context_of: Callable[[int, object], tuple[Native, ModelInfo]],
        model: Native,
        files: MappedFiles,
        can_copy: bool,
    ) -> None:
        """`context_of` makes a context of so many cells with an eval callback.

        `files` are held by nobody else. `can_copy`: the engine's states fit it, cell by cell.
        """
        self._context_of, self._model, self._files, self._can_copy = context_of, model, files, can_copy
        self._callback = EvalCallback(self._on_node)
        self._wanted: Wanted | None = None
        self._take: OnNode = lambda _node: None
        self._error: Exception | None = None
        self._context: Native | None = None
        self._flag: AbortFlag | None = None
        self._info: ModelInfo | None = None
        self._reader: CellReader | None = None
        self._token_ids: list[int] = []
        self._cells = LensCells()
        self._is_interrupted = False
        self.num_computed_tokens = 0  # since it was made

    @property
    def num_layers(self) -> int:
        return int(lib.llama_model_n_layer(self._model.pointer))

    @property
    def token_ids(self) -> tuple[int, ...]:
        """What it holds since the last question."""
        return tuple(self._token_ids)

    # Any thread.

    def interrupt(self) -> None:
        """What is computed ends at once with LensInterruptedError, and so does all that follows."""
        self._is_interrupted = True
        if self._flag:
            self._flag.set()

    def resume(self) -> None:
        self._is_interrupted = False
        if self._flag:
            self._flag.clear()

    # Its own thread.

    def close(self) -> None:
        context, self._context, self._flag = self._context, None, None
        self._token_ids, self._cells = [], LensCells()
        if context:
            context.close()

    def attention(
        self, token_ids: Sequence[int], part: Span, saved: SavedState | None = None
    ) -> tuple[Floats, tuple[int, ...]]:
        """The mean weights of the tokens of `part`: (layers, head groups, its end), and the layers' numbers.

        Raises LensRefusedError where the model has no attention, or none that can be read.
        """
        begin, end = part
        assert 0 <= begin < end <= len(token_ids)
        self._fill(token_ids[:begin], len(token_ids), saved)
        sums: dict[int, Floats] = {}
        num_heads = max(int(lib.llama_model_n_head(self._model.pointer)), 1)
        num_groups = max(int(lib.llama_model_n_head_kv(self._model.pointer)), 1)
        at_once = max(1, min(self._n_batch, MAX_WEIGHTS // (num_heads * end)))
        for first in range(begin, end, at_once):
            rows = token_ids[first : min(first + at_once, end)]
            seen: list[tuple[int | None, Floats]] = []
            with self._watching(_is_attention, lambda node: seen.append(_weights_of(node, num_groups))):  # noqa: B023
                self._decode(rows)
            self._check_cells()
            known = self._cells.cells_of(first + len(rows))
            for number, (layer, weights) in enumerate(seen):
                by_token = np.zeros((weights.shape[0], end), np.float32)
                by_token[:, : len(known)] = weights[:, known] * len(rows)
                layer = number if layer is None else layer
                sums[layer] = sums.get(layer, np.float32(0)) + by_token
        if not sums:
            raise LensRefusedError(
                said(
                    "This model has no attention to show: it keeps one running state, in which "
                    "single tokens cannot be told apart."
                )
            )
        most = max(len(weights) for weights in sums.values())
        layers = tuple(sorted(sums))
        stacked = np.stack([_spread(sums[layer], most) for layer in layers]) / np.float32(end - begin)
        return stacked, layers

    def logprobs(
        self, token_ids: Sequence[int], first: int, saved: SavedState | None = None
    ) -> tuple[float, ...]:
        """The natural logarithm of how likely each token from `first` on is, after those before it."""
        logprobs: list[float] = []
        for logits in self.logits(token_ids, first, saved):
            begin = first + len(logprobs)
            nexts = np.array(token_ids[begin : begin + len(logits)])
            logprobs += log_softmax(logits)[np.arange(len(nexts)), nexts].tolist()
        return tuple(logprobs)

    def logits(
        self, token_ids: Sequence[int], first: int, saved: SavedState | None = None
    ) -> Iterator[Floats]:
        """What was expected in the place of each token from `first` on, NUM_OUTPUTS rows at a time."""
        assert 0 < first < len(token_ids)
        self._fill(token_ids[: first - 1], len(token_ids), saved)
        for begin in range(first - 1, len(token_ids) - 1, NUM_OUTPUTS):
            rows = token_ids[begin : min(begin + NUM_OUTPUTS, len(token_ids) - 1)]
            yield self._decode(rows, num_outputs=len(rows))

    def layer_logits(self, token_ids: Sequence[int], saved: SavedState | None = None) -> Floats:
        """What the output norm and the head make of each layer's output after the last token.

        Shape (layers, vocabulary). Raises LensRefusedError where the layers' outputs cannot be found.
        """
        num_layers = self.num_layers
        self._fill(token_ids[:-1], len(token_ids), saved)
        outputs: dict[int, Floats] = {}

        def take(node: Node) -> None:
            if node.layer is not None:
                outputs[node.layer] = node.array().reshape(-1, node.shape[0])[-1].copy()

        with self._watching(_is_layer_output, take):
            self._decode(token_ids[-1:], num_outputs=1)
        if sorted(outputs) != list(range(num_layers)) or num_layers > self._n_outputs:
            raise LensRefusedError(said("The layers of this model's family cannot be read one by one."))
        return self._read_out(np.stack([outputs[layer] for layer in range(num_layers)]), token_ids[-1])

    def _read_out(self, outputs: Floats, token_id: int) -> Floats:
        """The rows take the place of the last layer's output; the model's own graph goes on from there."""
        was_written = False

        def replace(node: Node) -> None:
            nonlocal was_written
            if node.layer == len(outputs) - 1 and node.shape[:2] == outputs.shape[::-1]:
                node.write(outputs)
                was_written = True

        memory = lib.llama_get_memory(self._pointer)
        with self._watching(_is_layer_output, replace):
            logits = self._decode_rows([token_id] * len(outputs), 0, ASIDE, len(outputs))
        lib.llama_memory_seq_rm(memory, ASIDE, -1, -1)
        if not was_written:
            raise LensRefusedError(said("The layers of this model's family cannot be read one by one."))
        return logits

    # The sequence.

    @property
    def _pointer(self) -> object:
        assert self._context
        return self._context.pointer

    @property
    def _n_batch(self) -> int:
        assert self._info
        return self._info.n_ubatch

    @property
    def _n_outputs(self) -> int:
        assert self._info
        return self._info.n_outputs_max

    def _fill(self, token_ids: Sequence[int], num_tokens: int, saved: SavedState | None) -> None:
        """Make it hold exactly these, in a context that has room for `num_tokens`."""
        self._open(num_tokens + self.num_layers + 1)
        wanted = list(token_ids)
        held = _num_common(self._token_ids, wanted)
        if saved and self._can_copy:
            copied = _num_common(list(saved.token_ids), wanted)
            if copied >= held + MIN_COPIED_TOKENS and len(saved.token_ids) <= self._n_ctx:
                self._restore(saved)
        held = self._cut_back(_num_common(self._token_ids, wanted))
        for begin in range(held, len(wanted), self._n_batch):
            self._decode(wanted[begin : begin + self._n_batch])

    @property
    def _n_ctx(self) -> int:
        assert self._info
        return self._info.n_ctx

    def _open(self, num_tokens: int) -> None:
        if self._is_interrupted:
            raise LensInterruptedError
        if self._info is None or self._context is None or self._info.n_ctx < num_tokens:
            self.close()
            self._context, self._info = self._context_of(num_tokens, self._callback)
            self._flag = AbortFlag(self._context)
            self._reader = CellReader(self._model, self._context, self._info)

    def _restore(self, saved: SavedState) -> None:
        assert self._reader
        self._clear()
        pointer = array_pointer(saved.state, ctypes.c_uint8)
        if lib.llama_state_seq_set_data(self._pointer, pointer, saved.state.size, MAIN) != saved.state.size:
            log.warning("The lens could not take over a chat's state: it is computed again.")
            self._clear()
            return
        positions = self._reader.positions_in(saved.state)
        assert positions is not None, "only states of cells are copied"
        self._cells.hold(positions)
        self._token_ids = list(saved.token_ids)

    def _cut_back(self, num_tokens: int) -> int:
        """How many tokens it still holds: none where the model cannot go back."""
        memory = lib.llama_get_memory(self._pointer)
        if num_tokens == len(self._token_ids):
            return num_tokens
        is_cut = num_tokens > 0 and lib.llama_memory_seq_rm(memory, MAIN, num_tokens, -1)
        if not is_cut or lib.llama_memory_seq_pos_max(memory, MAIN) != num_tokens - 1:
            self._clear()
            return 0
        del self._token_ids[num_tokens:]
        self._cells.truncate(num_tokens)
        return num_tokens

    def _clear(self) -> None:
        lib.llama_memory_clear(lib.llama_get_memory(self._pointer), False)
        self._token_ids, self._cells = [], LensCells()

    def _check_cells(self) -> None:
        """The weights are told by cell: in another order they would be those of other tokens."""
        assert self._reader
        cells = self._reader.read()
        if cells is not None and not np.array_equal(cells.pos, self._cells.in_order):
            raise LensRefusedError(said("llama.cpp does not report the order of this chat's cells."))

    # Computing.

    def _decode(self, token_ids: Sequence[int], num_outputs: int = 0) -> Floats:
        """Behind what it holds. The logits of the last rows, if wanted."""
        begin = len(self._token_ids)
        logits = self._decode_rows(token_ids, begin, MAIN, num_outputs)
        self._cells.add(begin, len(token_ids))
        self._token_ids += token_ids
        return logits

    def _decode_rows(self, token_ids: Sequence[int], first_pos: int, seq_id: int, num_outputs: int) -> Floats:
        num_rows = len(token_ids)
        batch = lib.llama_batch_init(num_rows, 0, 1)
        try:
            batch.n_tokens = num_rows
            for row, token_id in enumerate(token_ids):
                batch.token[row], batch.pos[row] = token_id, first_pos + row
                batch.n_seq_id[row], batch.seq_id[row][0] = 1, seq_id
                batch.logits[row] = row >= num_rows - num_outputs
            self._files.hold()
            code = lib.llama_decode(self._pointer, batch)
        finally:
            self._files.let_go()
            lib.llama_batch_free(batch)
        error, self._error = self._error, None
        if code or error or self._is_interrupted:
            self._clear()
            raise self._reason(code, error)
        self.num_computed_tokens += num_rows
        n_vocab = self._info.n_vocab if self._info else 0
        rows = [
            np.ctypeslib.as_array(lib.llama_get_logits_ith(self._pointer, row), (n_vocab,)).copy()
            for row in range(num_rows - num_outputs, num_rows)
        ]
        return np.stack(rows) if rows else np.zeros((0, n_vocab), np.float32)

    def _reason(self, code: int, error: Exception | None) -> Exception:
        if self._is_interrupted or code == 2:
            return LensInterruptedError()
        if isinstance(error, EngineError | LensRefusedError):
            return error
        if error:
            log.error("reading a graph failed", exc_info=error)
            return LensRefusedError(said("This model's graph cannot be read: {reason}.", reason=str(error)))
        return DecodeError(
            said(
                "llama.cpp failed to compute a step (code {code}). {reason}",
                code=code,
                reason=library().reason(),
            ),
            code,
        )

    @contextmanager
    def _watching(self, wanted: Wanted, take: OnNode) -> Iterator[None]:
        self._wanted, self._take = wanted, take
        try:
            yield
        finally:
            self._wanted = None

    def _on_node(self, pointer: int, is_question: bool, _user_data: object) -> bool:
        """Asked before each node is computed, and again after those that are wanted. True goes on."""
        if self._wanted is None or self._error:
            return not is_question
        try:
            node = Node(pointer)
            if is_question:
                return self._wanted(node)
            self._take(node)
        except Exception as error:  # it must not fly through C; `_decode_rows` raises it
            self._error = error
        return not is_question


def _is_attention(node: Node) -> bool:
    return node.op == FLASH_ATTENTION or (node.op == SOFT_MAX and node.name.startswith(b"kq_soft_max"))


def _is_layer_output(node: Node) -> bool:
    return node.name.startswith(LAYER_OUTPUT)


def _weights_of(node: Node, num_groups: int) -> tuple[int | None, Floats]:
    """The layer, and the mean over the rows: shape (head groups, cells)."""
    if node.op == SOFT_MAX:
        return node.layer, _grouped(node.array(), num_groups)
    queries, keys, mask, sinks = (node.source(number) for number in (0, 1, 3, 4))
    assert queries
    assert keys
    scale, max_bias, softcap = node.float_params[:3]
    key_values = keys.array()
    weights = attention_weights(
        queries.array(),
        key_values,
        mask.array()[0, : queries.shape[1]] if mask else None,
        sinks.array().reshape(-1) if sinks else None,
        scale=scale,
        max_bias=max_bias,
        softcap=softcap,
    )
    layer = keys.layer if queries.layer is None else queries.layer
    return layer, _grouped(weights, len(key_values))


def _grouped(weights: Floats, num_groups: int) -> Floats:
    num_heads, _, num_cells = weights.shape
    num_groups = num_groups if num_heads % num_groups == 0 else num_heads
    heads = weights.mean(axis=1).reshape(num_groups, num_heads // num_groups, num_cells)
    return np.asarray(heads.mean(axis=1), np.float32)


def _spread(groups: Floats, num_groups: int) -> Floats:
    """Layers with fewer key heads have each of their groups several times."""
    return np.repeat(groups, num_groups // len(groups), axis=0) if len(groups) < num_groups else groups


def _num_common(one: list[int], other: list[int]) -> int:
    """As `common_prefix`, but it may be all of them."""
    return common_prefix(one, [*other, -1])
