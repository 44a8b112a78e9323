"""A rough estimate of the memory of a model and its context, on one machine or spread over several.

From the header alone, so also for models that are not downloaded yet. What a context takes exactly, the
library plans when the model is loaded. Layers are split as llama.cpp does it (llama_model::load_tensors): the
last ones go to devices, in proportion to their free memory, and the output counts as one more. Any thread.
"""

import contextlib
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

from app.models.gguf_header import TENSOR_TYPES, GgufHeader, LongArray
from app.models.layers import Hyperparameters, Layer, layers_of, most_draft_tokens
from app.protocol.load import DEFAULT_N_CTX, DEFAULT_N_UBATCH, FlashAttention, KvType, LoadParams
from app.protocol.model import Device, DeviceKind, MemoryNeed
from app.protocol.states import FLOAT_BYTES

HERE = 0  # the number of the first device is 1
N_CTX_STEP = 256  # llama.cpp rounds up to it
NUM_WIDTHS = 20  # what a row computes in, in widths of the model: at most 13 of llama's, 23 of gemma's
MASK_BYTES = 2  # of each cell that a row may see

# For each type, the numbers per block and its bytes.
_BLOCKS = {name: (length, size) for name, length, size in TENSOR_TYPES.values()}


@dataclass(frozen=True, slots=True)
class Room:
    """Free memory: of this machine, its GPUs, and workers."""

    here_bytes: int
    gpus: tuple[Device, ...] = ()
    workers: tuple[Device, ...] = ()  # each is named by its address

    @property
    def devices(self) -> tuple[Device, ...]:
        """In the order in which they are given to the library."""
        return self.workers + self.gpus

    @property
    def total_bytes(self) -> int:
        return self.here_bytes + sum(
            device.free_bytes for device in self.devices if device.kind is not DeviceKind.INTEGRATED
        )

    def free_bytes(self, place: int) -> int:
        return self.devices[place - 1].free_bytes if place else self.here_bytes

    def is_known(self, place: int) -> bool:
        """False if a device does not report its memory."""
        return not place or self.devices[place - 1].total_bytes > 0


def places(num_layers: int, num_there: int, room: Room) -> list[int]:
    """For each layer, then the output: HERE, or the number of a device. `num_there` are on devices."""
    # A device that does not report its memory counts as large as this machine.
    shares = [device.free_bytes or room.here_bytes or 1 for device in room.devices]
    num_there = min(num_there, num_layers + 1) if shares else 0
    ends = [end / sum(shares) for end in accumulate(shares)]
    there = [1 + bisect_right(ends, index / num_there) for index in range(num_there)]
    return [HERE] * (num_layers + 1 - num_there) + there


def usual_num_there(num_layers: int, room: Room) -> int:
    """How many layers go to devices that have room: all if there is a GPU.

    Workers alone get a share in proportion to all free memory, and one each at least.
    """
    if room.gpus or not room.workers:
        return num_layers + 1
    elsewhere = sum(worker.free_bytes for worker in room.workers)
    share = round((num_layers + 1) * elsewhere / max(elsewhere + room.here_bytes, 1))
    return min(max(share, len(room.workers)), num_layers + 1)


def nums_to_try(usual: int, least: int, most: int) -> Sequence[int]:
    """From `least` to `most`, those next to `usual` first."""
    return sorted(range(least, most + 1), key=lambda number: abs(number - usual))


class ContextNeed:
    """What llama.cpp would make of a model and the parameters of its load."""

    def __init__(self, header: GgufHeader, params: LoadParams) -> None:
        self._header, self._params = header, params
        self._layers = layers_of(header)
        self._n_seq_max = max(params.n_seq_max, 1)
        n_ctx = max(params.n_ctx or DEFAULT_N_CTX, N_CTX_STEP)
        self._num_drafted = min(params.num_drafted_tokens, most_draft_tokens(header, self._n_seq_max))
        num_streams = self._n_seq_max if params.isolated else 1
        self._n_ctx_seq = max(-(-(n_ctx // num_streams) // N_CTX_STEP), 1) * N_CTX_STEP
        self._num_streams = num_streams
        n_batch = min(max(params.n_batch, self._n_seq_max, 32), n_ctx)
        self._n_ubatch = min(n_batch, max(params.n_ubatch or DEFAULT_N_UBATCH, self._n_seq_max))

    @property
    def num_layers(self) -> int:
        return len(self._layers)

    @cached_property
    def need(self) -> MemoryNeed:
        """On one machine."""
        n_vocab = _n_vocab(self._header)
        return MemoryNeed(
            weights_bytes=self._header.weights_bytes + self._adapters_bytes(),
            kv_bytes=sum(self._caches),
            compute_bytes=self._compute_bytes,
            output_bytes=(self._n_seq_max + self._num_drafted) * n_vocab * FLOAT_BYTES,
        )

    @property
    def heads(self) -> MemoryNeed:
        """Of heads that draft, in a context of their own. Their weights are among the others."""
        number = Hyperparameters(self._header).number("nextn_predict_layers")
        cache = max(self._caches, default=0)  # as that of a layer with all cells
        return MemoryNeed(kv_bytes=number * cache, compute_bytes=self._compute_bytes * (number > 0))

    def needs(self, num_there: int, room: Room) -> tuple[MemoryNeed, ...]:
        """The need of this machine, and of each device of `room`."""
        where = places(self.num_layers, num_there, room)
        weights, caches = Counter[int](), Counter[int]()
        for layer, place in enumerate(where[:-1]):
            weights[place] += self._layers[layer].weights_bytes
            caches[place] += self._caches[layer]
        whole = self.need
        weights[HERE] += whole.weights_bytes - weights.total()
        if where[-1] != HERE:
            output, copied = self._output_weights
            weights[HERE] -= output
            weights[where[-1]] += output + copied
        return tuple(
            MemoryNeed(
                weights[place],
                caches[place],
                whole.compute_bytes if place in (HERE, *where) else 0,
                whole.output_bytes if place == HERE else 0,
            )
            for place in range(1 + len(room.devices))
        )

    @cached_property
    def _caches(self) -> list[int]:
        return [self._cache_bytes(layer) for layer in self._layers]

    @cached_property
    def _output_weights(self) -> tuple[int, int]:
        """Output and input weights; without own output weights, it gets a copy of the input's."""
        sizes = {tensor.name: tensor.size_bytes for tensor in self._header.tensors}
        own = sizes.get("output.weight", 0)
        copied = 0 if own else sizes.get("token_embd.weight", 0)
        return own + sizes.get("output_norm.weight", 0), copied

    def _cache_bytes(self, layer: Layer) -> int:
        num_cells = (self._num_window_cells if layer.has_window else self._n_ctx_seq) * self._num_streams
        cell = _row_bytes(self._params.type_k, layer.keys) + _row_bytes(self._params.type_v, layer.values)
        return num_cells * cell + self._n_seq_max * (1 + self._num_drafted) * layer.state * FLOAT_BYTES

    @property
    def _num_window_cells(self) -> int:
        """0: no layer has a window."""
        if not any(layer.has_window for layer in self._layers):
            return 0
        if self._params.swa_full:
            return self._n_ctx_seq
        windows = 1 if self._params.isolated else self._n_seq_max
        needed = Hyperparameters(self._header).number("attention.sliding_window") * windows + self._n_ubatch
        return -(-min(self._n_ctx_seq, needed) // N_CTX_STEP) * N_CTX_STEP

    @property
    def _compute_bytes(self) -> int:
        hyper = Hyperparameters(self._header)
        cell = MASK_BYTES
        if self._params.flash_attention is FlashAttention.OFF:
            cell = FLOAT_BYTES * (1 + hyper.number("attention.head_count"))
        row = FLOAT_BYTES * NUM_WIDTHS * hyper.number("embedding_length") + cell * self._n_ctx_seq
        snapshots = self._n_seq_max * self._num_drafted * max((one.state for one in self._layers), default=0)
        return self._n_ubatch * row + snapshots * FLOAT_BYTES  # those of one layer at a time

    def _adapters_bytes(self) -> int:
        total = 0
        for adapter in self._params.adapters:
            with contextlib.suppress(OSError):
                total += adapter.path.stat().st_size
        return total


def _n_vocab(header: GgufHeader) -> int:
    for tensor in header.tensors:
        if tensor.name == "token_embd.weight" and len(tensor.shape) > 1:
            return tensor.shape[1]
    tokens = header.values.get("tokenizer.ggml.tokens")
    return len(tokens) if isinstance(tokens, tuple | LongArray) else 0


def _row_bytes(kind: KvType, length: int) -> int:
    block_length, block_bytes = _BLOCKS[kind.name]
    return -(-length // block_length) * block_bytes
