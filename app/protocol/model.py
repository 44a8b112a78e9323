"""The loaded model, the library and the devices it runs on. Frozen, so any thread may hold them."""

from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from urllib.parse import urlsplit

from app.protocol.load import LoadParams, LoraAdapter, Pooling, model_address
from app.protocol.media import NO_SENSES, Senses
from app.protocol.model_names import titled
from app.protocol.sampling import SamplingParams
from app.system.said import said


class DeviceKind(StrEnum):
    CPU = "cpu"
    GPU = "gpu"
    INTEGRATED = "integrated"  # a GPU that uses the machine's memory
    ACCELERATOR = "accelerator"  # used together with the CPU


@dataclass(frozen=True, slots=True)
class Device:
    """A device that llama.cpp can compute on."""

    name: str  # the library's, such as "CUDA0"
    description: str  # such as "AMD EPYC"
    kind: DeviceKind = DeviceKind.CPU
    total_bytes: int = 0  # memory; 0: unknown to the library
    free_bytes: int = 0  # at the time of the query


@dataclass(frozen=True, slots=True)
class LibraryInfo:
    """The build and devices of llama.cpp on this machine."""

    version: str = ""  # of ggml, with its commit
    features: tuple[str, ...] = ()  # CPU features and build options: "AVX2", "OPENMP"
    devices: tuple[Device, ...] = ()
    patches: tuple[str, ...] = ()  # of ours, by name

    @property
    def gpus(self) -> tuple[Device, ...]:
        """The GPUs used by default: those with their own memory, if there are any."""
        own = tuple(device for device in self.devices if device.kind is DeviceKind.GPU)
        return own or tuple(device for device in self.devices if device.kind is DeviceKind.INTEGRATED)


@dataclass(frozen=True, slots=True)
class MemoryNeed:
    """Memory of a model and its context, by purpose: estimated before a load, reported by the library after
    it.

    Each weight counts once, wherever it is. Excludes the vocabulary and Python.
    """

    weights_bytes: int = 0  # with those of adapters
    kv_bytes: int = 0  # and recurrent states
    compute_bytes: int = 0
    output_bytes: int = 0
    mapped_bytes: int = 0  # of the weights: pages of the file, which count as free; known after a load

    @property
    def total_bytes(self) -> int:
        return self.weights_bytes + self.kv_bytes + self.compute_bytes + self.output_bytes

    def __add__(self, other: "MemoryNeed") -> "MemoryNeed":
        return MemoryNeed(
            self.weights_bytes + other.weights_bytes,
            self.kv_bytes + other.kv_bytes,
            self.compute_bytes + other.compute_bytes,
            self.output_bytes + other.output_bytes,
            self.mapped_bytes + other.mapped_bytes,
        )


@dataclass(frozen=True, slots=True)
class FimTokens:
    """The vocabulary's tokens for filling a gap in a text ("fill in the middle"). -1: it has none."""

    prefix: int = -1
    suffix: int = -1
    middle: int = -1
    repository: int = -1
    file: int = -1  # between two files

    @property
    def can_fill(self) -> bool:
        return min(self.prefix, self.suffix, self.middle) >= 0


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """The loaded model and its context, as the library reports them."""

    path: Path
    name: str  # as people call it: "Qwen3 0.6B"
    description: str  # such as "qwen3 0.6B Q4_K - Medium"
    architecture: str
    n_vocab: int
    n_params: int
    size_bytes: int
    n_ctx: int
    n_ctx_train: int
    n_seq_max: int
    n_batch: int
    n_swa: int = 0  # > 0: sliding-window attention
    is_recurrent: bool = False
    is_hybrid: bool = False
    # What is left of a sequence when its tail is cut (a window's cells, a state) can be saved by itself.
    takes_checkpoints: bool = False
    max_checkpoint_bytes: int = 2**30  # of all checkpoints together
    is_unified: bool = True  # False: each sequence has cells of its own, `n_ctx / n_seq_max` of them
    can_shift: bool = True  # positions of cells can be moved (RoPE of the plain kind)
    n_ubatch: int = 256  # rows that are computed at once: a longer batch goes through in parts
    num_drafted_tokens: int = 0  # at most in one step; 0: off, or rejected ones could not be removed
    cell_bytes: int = 0  # keys and values of one KV cell; 0 where not every cell is one token's
    library: LibraryInfo = LibraryInfo()
    # Recommended in the file, else llama-server's defaults.
    sampling: SamplingParams = field(default_factory=SamplingParams)
    n_ctx_scaled: int = 0  # `n_ctx_train` extended by the chosen RoPE scaling; 0: not scaled
    memory: MemoryNeed = MemoryNeed()  # as allocated, including a draft model
    # The part of it outside of this machine's memory, by device name or worker address.
    memory_elsewhere: tuple[tuple[str, MemoryNeed], ...] = ()
    workers: tuple[Device, ...] = ()  # named by their addresses, with their memory before the load
    n_gpu_layers: int | None = None  # as it was loaded; None: all, where there is a device for them
    draft_model: str = ""  # the name of its draft model
    has_heads: bool = False  # it drafts by itself, see `LlamaHeads`
    has_template: bool = True  # False: a base model, which only continues text
    takes_tools: bool = False  # its chat template has a place for them
    thinks: bool = False  # its chat template knows of thinking
    is_same_alone: bool = False  # a row's logits are the same, to the last bit, alone and among others
    fim: FimTokens = FimTokens()
    adapters: tuple[LoraAdapter, ...] = ()
    pooling: Pooling | None = None  # of a model that was opened for vectors of texts; None: for chats
    n_embd: int = 0  # numbers in a vector
    senses: Senses = NO_SENSES
    quantisation: str = ""  # "Q4_K_M"; empty: unknown
    server: str = ""  # the URL of the one that runs it; empty: this program. `path` is its name there
    loaded_as: LoadParams | None = None  # what its logits depend on; files by name, without folders
    digest: str = ""  # of its file, whatever its place and time

    @property
    def address(self) -> str:
        return model_address(self.path, self.server)

    @property
    def host(self) -> str:
        """Where it runs: "gpu-box:8712". Empty: here."""
        return urlsplit(self.server).netloc

    @property
    def is_foreign(self) -> bool:
        """Another program's own engine: its server tells of tokens, slots and steps what it likes."""
        return bool(self.server) and not self.n_seq_max

    @property
    def title(self) -> str:
        return " · ".join(filter(None, (titled(self.name, self.quantisation), self.host)))

    @property
    def held_bytes(self) -> dict[str, int]:
        """What unloading it will free, by device name; "" is this machine.

        Pages of its file count as free already.
        """
        if self.server:
            return {}
        held = {"": self.memory.total_bytes - self.memory.mapped_bytes}
        for name, need in self.memory_elsewhere:
            held[name] = held.get(name, 0) + need.total_bytes
            held[""] -= need.total_bytes
        return held

    @property
    def max_positions(self) -> int:
        """The largest context of the model; 0 if unknown."""
        return self.n_ctx_scaled or self.n_ctx_train

    @property
    def max_sequence_tokens(self) -> int:
        """The longest possible chat: positions beyond the training context are not used."""
        return min(self.n_ctx_seq, self.max_positions) if self.max_positions else self.n_ctx_seq

    @property
    def n_ctx_seq(self) -> int:
        """Cells that one sequence can have."""
        return self.n_ctx if self.is_unified else self.n_ctx // self.n_seq_max

    @property
    def n_outputs_max(self) -> int:
        """Rows of one step that can have logits: one a sequence, plus the draft tokens of all together."""
        return self.n_seq_max + self.num_drafted_tokens

    @property
    def longer_chats_need(self) -> str:
        """What the user can do about a chat that does not fit, in one sentence."""
        if self.max_positions and self.n_ctx_seq >= self.max_positions:
            return said(
                "Start a new chat: this one has reached the context length the model was trained for."
            )
        return said("Start a new chat, or choose a larger context in Context settings (--ctx).")

    @property
    def has_plain_attention(self) -> bool:
        """Every cell is one token at one position, so prefixes can be cut and shared anywhere."""
        return not (self.n_swa or self.is_recurrent or self.is_hybrid)

    @property
    def has_states(self) -> bool:
        """What it remembers of a sequence is, at least in part, one state for all of its tokens."""
        return self.is_recurrent or self.is_hybrid

    @property
    def takes_one_prompt_a_step(self) -> bool:
        """With states a micro-batch has equally many rows of each sequence, and with a window there must be
        one: only single rows may stand beside a prompt, for they lose nothing to the second one.
        """
        return self.n_swa > 0 and self.is_hybrid and self.is_unified

    @property
    def can_share_cells(self) -> bool:
        """Several sequences can hold one cell."""
        return self.is_unified and (self.has_plain_attention or self.takes_checkpoints)
