"""How a model is loaded, and settings of its engine. Frozen, so any thread may hold it."""

from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path

DEFAULT_N_CTX = 8192  # where there is room for it
DEFAULT_N_UBATCH = 256
MAX_DRAFTED_TOKENS = 64  # in one step; as many rows with logits cost 75 MiB with a vocabulary of 152,000
USUAL_DRAFTED_TOKENS = 16


def model_address(path: Path, server: str) -> str:
    """Which model, as a chat keeps it: a file's path, or "https://host:8712#name" of what a server runs."""
    return f"{server}#{path}" if server else str(path)


def name_at(address: str) -> str:
    """The file's path, or the model's name on its server."""
    return address.partition("#")[2] if is_elsewhere(address) else address


def is_elsewhere(address: str) -> bool:
    """A server runs it."""
    return "://" in address


class Speed(StrEnum):
    """How much of a step prompts may take while answers are running."""

    RESPONSIVE = "responsive"  # running answers hardly slow down
    BALANCED = "balanced"
    THROUGHPUT = "throughput"  # prompts take the fastest chunk, running answers wait for it


class KvType(StrEnum):
    """How a key or a value is kept. Quantised values need flash attention."""

    F16 = "f16"
    BF16 = "bf16"
    Q8_0 = "q8_0"
    Q5_1 = "q5_1"
    Q5_0 = "q5_0"
    Q4_1 = "q4_1"
    Q4_0 = "q4_0"


class FlashAttention(StrEnum):
    AUTO = "auto"
    ON = "on"
    OFF = "off"


class RopeScaling(StrEnum):
    """How positions beyond the training context are scaled."""

    MODEL = "model"  # as its file says
    NONE = "none"
    LINEAR = "linear"
    YARN = "yarn"


class Pooling(StrEnum):
    """How a model's vectors of all tokens of a text become what is asked for."""

    MODEL = "model"  # as its file says
    NONE = "none"  # a vector for each token
    MEAN = "mean"
    CLS = "cls"  # that of the first token
    LAST = "last"
    RANK = "rank"  # a number for how well a document answers a query: by a head of the model's own


@dataclass(frozen=True, slots=True)
class LoraAdapter:
    path: Path
    scale: float = 1.0


@dataclass(frozen=True, slots=True)
class CellStore:
    """Where the cells of saved chats are kept between runs, and their encryption key."""

    folder: Path
    key: bytes = field(repr=False)  # of 32 bytes
    max_bytes: int = 4 * 2**30


class ServerKind(StrEnum):
    SKEIN = "skein"  # `skein serve --engine`: its whole engine, over a WebSocket
    OPENAI = "openai"  # any server with OpenAI's /v1, which tells less


@dataclass(frozen=True, slots=True)
class Server:
    """Another program that runs engines, on this machine or another."""

    url: str  # "https://host:8712", without /v1
    kind: ServerKind
    key: str = field(default="", repr=False)
    fingerprint: str = ""  # SHA-256 of its certificate, where that was pinned: "AB:CD:…"

    @property
    def secret_name(self) -> str:
        """Of its key in the keyring."""
        return f"engine {self.url}"


@dataclass(frozen=True, slots=True)
class LoadParams:
    """How a model is loaded. Zero and None mean "choose for me".

    With a `server`, `path` is the model's name there, and all else is its own business.

    `isolated` gives each sequence cells of its own, `n_ctx` for all of them together.
    """

    path: Path
    n_ctx: int = 0
    n_seq_max: int = 8
    n_batch: int = 512
    n_ubatch: int = 0  # rows that are computed at once
    n_threads: int = 0
    isolated: bool = False
    verify: bool = False  # compare our books with the library after every step
    is_recorded: bool = True  # reports have hashes of logits, for `skein replay`
    type_k: KvType = KvType.F16
    type_v: KvType = KvType.F16
    flash_attention: FlashAttention = FlashAttention.AUTO
    swa_full: bool = False  # keep all cells of a sliding window, so that a tail can be cut anywhere
    checkpoint_mib: int = 0  # memory for checkpoints, of models that take such
    use_mmap: bool = True  # the weights stay in the file's pages, which the system can take back
    n_gpu_layers: int | None = None  # None: as many as fit
    devices: tuple[str, ...] = ()  # by the library's names, such as "CUDA0"; (): all it has
    rope_scaling: RopeScaling = RopeScaling.MODEL
    rope_factor: float = 0.0  # how many times longer; 0: as the model says
    adapters: tuple[LoraAdapter, ...] = ()
    workers: tuple[str, ...] = ()  # "host:port" of other machines that compute some of the layers
    own_process: bool = False  # the engine in a child process, as always with `workers`
    num_drafted_tokens: int = USUAL_DRAFTED_TOKENS  # most draft tokens in one step; 0: off
    draft_model: Path | None = None  # drafts where prompt lookup finds nothing
    embeds: bool = False  # for vectors of texts instead of chats; `n_ctx` is then the longest text
    pooling: Pooling = Pooling.MODEL
    projector: Path | None = None  # for pictures and sounds; None: the model takes text alone
    server: Server | None = None  # None: this program runs it

    @property
    def address(self) -> str:
        return model_address(self.path, self.server.url if self.server else "")

    def without_workers(self, lost: tuple[str, ...]) -> "LoadParams":
        """For a reload after a crash: without workers, but still in a process of its own."""
        left = tuple(worker for worker in self.workers if worker not in lost)
        return replace(self, workers=left, own_process=self.own_process or not left)

    @property
    def of_draft_model(self) -> "LoadParams | None":
        """The draft model's parameters, with as many cells and sequences as this model. None: without."""
        if not (self.draft_model and self.num_drafted_tokens):
            return None
        return replace(
            self,
            path=self.draft_model,
            isolated=False,
            n_gpu_layers=None,
            adapters=(),
            workers=(),  # it is small, and used in every step
            swa_full=True,  # it drafts a token a decode, and must forget all of them
            num_drafted_tokens=0,
            draft_model=None,
            projector=None,
        )
