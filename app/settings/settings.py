"""The user's settings: the model, its context, priorities, the theme. Stored as one JSON file.

Knows nothing of the engine or of Qt; its users convert the values to their own types. GUI thread.
"""

import json
import logging
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PrivateAttr, ValidationError

from app.protocol.load import MAX_DRAFTED_TOKENS, USUAL_DRAFTED_TOKENS, ServerKind
from app.protocol.sampling import INTEGERS, NUMBERS
from app.settings.appearance import MAX_ZOOM, MIN_ZOOM, USUAL_APPEARANCE, Column, Motion, Theme
from app.system.files import replacing_private, set_aside

Speed = Literal["responsive", "balanced", "throughput"]
Overflow = Literal["sum_up", "stop", "rolling_window", "truncate_middle"]
KvType = Literal["f16", "bf16", "q8_0", "q5_1", "q5_0", "q4_1", "q4_0"]
Approval = Literal["ask", "always", "never"]
FlashAttention = Literal["auto", "on", "off"]
RopeScaling = Literal["model", "none", "linear", "yarn"]
NumTokens = Annotated[int, Field(ge=0, le=2**24)]
NumSlots = Annotated[int, Field(ge=1, le=64)]
NumThreads = Annotated[int, Field(ge=0, le=512)]
NumDrafted = Annotated[int, Field(ge=0, le=MAX_DRAFTED_TOKENS)]
BatchSize = Annotated[int, Field(ge=32, le=16_384)]

log = logging.getLogger(__name__)


def _only_keys(stored: object) -> object:
    """One bad entry must not lose the other shortcuts."""
    if not isinstance(stored, dict):
        return stored
    good = {
        name: keys
        for name, keys in stored.items()
        if isinstance(keys, list) and all(isinstance(key, str) for key in keys)
    }
    if bad := stored.keys() - good.keys():
        log.warning("Shortcuts that are not lists of keys: %s.", ", ".join(sorted(map(str, bad))))
    return good


def _sampled(name: str) -> Any:
    low, high = NUMBERS[name]
    return Field(ge=low, le=high, allow_inf_nan=False)


class AdapterSettings(BaseModel):
    """A LoRA adapter and how strongly it counts."""

    path: Path
    scale: Annotated[float, Field(ge=-10, le=10, allow_inf_nan=False)] = 1.0


class ModelSettings(BaseModel):
    """How one model is loaded. None: as for all models if there is such a setting, else automatic."""

    model_config = ConfigDict(validate_assignment=True, extra="ignore", frozen=True)

    n_ctx: NumTokens | None = None
    n_seq_max: NumSlots | None = None
    n_threads: NumThreads | None = None
    isolated: bool | None = None
    n_batch: BatchSize | None = None
    n_ubatch: BatchSize | None = None
    type_k: KvType | None = None
    type_v: KvType | None = None
    flash_attention: FlashAttention | None = None
    use_mmap: bool | None = None
    swa_full: bool | None = None
    n_gpu_layers: Annotated[int, Field(ge=0, le=10_000)] | None = None
    devices: tuple[str, ...] | None = None
    rope_scaling: RopeScaling | None = None
    rope_factor: Annotated[float, Field(ge=1, le=64, allow_inf_nan=False)] | None = None
    adapters: tuple[AdapterSettings, ...] = ()
    workers: tuple[str, ...] = ()  # "host:port"; the layers are spread over them and this machine
    num_drafted_tokens: NumDrafted | None = None
    draft_model: Path | None = None
    projector: Path | None = None  # else the one beside the model
    takes_media: bool | None = None  # False: text alone, without a projector


class ServerSettings(BaseModel):
    """A program that runs models, here or elsewhere; its key is in the keyring."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    url: str
    kind: ServerKind = ServerKind.OPENAI
    fingerprint: str = ""
    models: tuple[str, ...] = ()  # that the user has chosen, by their names there


class Settings(BaseModel):
    """Zero for `n_ctx` and `n_threads` means "choose for me"; `model_path` None is the starter model.

    None for a sampling option means what the model's maker recommends.
    """

    model_config = ConfigDict(validate_assignment=True, extra="ignore")

    # Some values of an older file are former defaults and no choice: without a format 0 draft tokens, below 2
    # that full chats stop.
    format: int = 2
    theme: Theme = USUAL_APPEARANCE.theme
    zoom: Annotated[int, Field(ge=MIN_ZOOM, le=MAX_ZOOM)] = USUAL_APPEARANCE.zoom
    interface_font: str = USUAL_APPEARANCE.interface_font
    reading_font: str = USUAL_APPEARANCE.reading_font
    code_font: str = USUAL_APPEARANCE.code_font
    column: Column = USUAL_APPEARANCE.column
    motion: Motion = USUAL_APPEARANCE.motion
    language: str = USUAL_APPEARANCE.language
    enter_sends: bool = USUAL_APPEARANCE.enter_sends
    automatic_titles: bool = True
    model_titles: bool = False  # and a better one from the model, when it has nothing else to do
    # By the names of commands: what differs from the defaults. An empty list: no key.
    shortcuts: Annotated[dict[str, list[str]], BeforeValidator(_only_keys)] = {}
    model_path: Path | None = None
    recent_models: list[Path] = []  # the one that was loaded last comes first; not the starter model
    models: dict[str, ModelSettings] = {}  # by the path of a model's file
    pinned_models: list[str] = []  # addresses of models that stay loaded while others come and go
    model_folders: list[Path] = []  # where models are looked for, beside the folder for downloads
    download_folder: Path | None = None  # None: `paths.models_dir()`
    uses_other_programs_models: bool = True  # those of LM Studio, Jan and others are listed, never changed
    hub_endpoint: str = ""  # a mirror of huggingface.co; "": HF_ENDPOINT, or the hub itself
    workers: list[str] = []  # "host:port" of machines that were used before
    servers: list[ServerSettings] = []
    unload_after_min: Annotated[int, Field(ge=0, le=10_080)] = 0  # of idle time; 0: never
    keeps_cells: bool = False  # of chats, encrypted on disk, between runs
    reads_ahead: bool = True  # computes what is being typed, while there is nothing else to do
    num_drafted_tokens: NumDrafted = USUAL_DRAFTED_TOKENS  # most in one step; 0: off
    n_ctx: NumTokens = 0  # the pool: tokens of all chats together
    n_seq_max: NumSlots = 8
    n_threads: NumThreads = 0
    checkpoint_mib: Annotated[int, Field(ge=0, le=2**20)] = 0  # memory of all of a model's checkpoints
    isolated: bool = False  # each slot has its part of the pool for itself
    speed: Speed = "responsive"
    max_chat_tokens: NumTokens = 0  # the longest one chat may get; 0: what fits
    overflow: Overflow = "sum_up"  # of new chats: what becomes of one that no longer fits
    sum_up_at: Annotated[int, Field(ge=25, le=95)] = 80  # % of its context that such a chat may fill
    verify: bool = False  # after every step, not only when idle
    system_prompt: str = ""
    default_preset: str = ""  # the file of the preset that new chats begin with; "": none
    api_enabled: bool = False  # other programs on this machine may ask, with the key
    api_port: Annotated[int, Field(ge=1024, le=65_535)] = 8808
    api_origins: str = ""  # web pages and apps that may ask besides this machine's; see `api_access`
    api_hosts: str = ""  # names under which other machines and containers may call it
    api_encrypted: bool = False  # by a certificate of its own
    api_key: str = ""  # created when first needed; the file is readable by its owner only
    tool_approvals: dict[str, Approval] = {}  # by "server/tool"; the others ask, or are harmless
    tool_folders: list[Path] = []  # below which the built-in tools may read files
    models_calling_in_text: list[str] = []  # names; a call that they write as text is one
    max_task_depth: Annotated[int, Field(ge=1, le=2)] = 1  # 2: a task may hand out tasks, too
    max_tool_rounds: Annotated[int, Field(ge=1, le=1000)] = 20  # of calls within one answer
    max_shelf_share: Annotated[int, Field(ge=1, le=95)] = 75  # % of the context; a larger shelf is searched
    shelf_embedder: Path | None = None  # a GGUF whose vectors shelves are searched by, besides words
    shelf_reranker: Path | None = None  # a GGUF that sorts what was found
    max_tool_share: Annotated[int, Field(ge=1, le=100)] = 25  # % of the context; more are listed by name only
    # The most of one result, in tokens; the model fetches the rest in parts.
    max_tool_result_tokens: Annotated[int, Field(ge=100, le=2**20)] = 4000
    temperature: Annotated[float, _sampled("temperature")] | None = None
    top_k: Annotated[int, Field(ge=INTEGERS["top_k"][0], le=INTEGERS["top_k"][1])] | None = None
    top_p: Annotated[float, _sampled("top_p")] | None = None
    min_p: Annotated[float, _sampled("min_p")] | None = None
    repeat_penalty: Annotated[float, _sampled("repeat_penalty")] | None = None
    max_tokens: Annotated[int, Field(ge=1)] | None = None  # None: as long as the context allows

    _path: Path | None = PrivateAttr(default=None)
    # Value for this run, value that stays in the file.
    _overridden: dict[str, tuple[Any, Any]] = PrivateAttr(default_factory=dict)

    @classmethod
    def load(cls, path: Path) -> Self:
        """Reads `path`. An invalid value gets its default; an invalid file is kept under another name."""
        try:
            settings = cls._from_stored(json.loads(path.read_text(encoding="utf-8")))
        except FileNotFoundError:
            settings = cls()
        except (OSError, ValueError, RecursionError) as error:
            log.warning("Settings in %s are not readable (%s); starting with the defaults.", path, error)
            set_aside(path)
            settings = cls()
        settings._path = path
        return settings

    @classmethod
    def _from_stored(cls, stored: object) -> Self:
        if not isinstance(stored, dict):
            raise ValueError("not a JSON object")
        if "format" not in stored and stored.get("num_drafted_tokens") == 0:
            del stored["num_drafted_tokens"]
        if stored.get("format", 1) == 1 and stored.get("overflow") == "stop":
            del stored["overflow"]
        stored = stored | {"format": 2}
        try:
            return cls.model_validate(stored)
        except ValidationError as error:
            bad = {str(problem["loc"][0]) for problem in error.errors()}
            log.warning("Settings with values that cannot be used: %s.", ", ".join(sorted(bad)))
            return cls.model_validate({name: value for name, value in stored.items() if name not in bad})

    def override(self, **values: object) -> None:
        """Sets these values for this run only: `save` writes those they override."""
        for name, value in values.items():
            stored = getattr(self, name)
            setattr(self, name, value)
            self._overridden[name] = (getattr(self, name), stored)

    def is_overridden(self, name: str) -> bool:
        """Its value was given for this run only, and was not changed since."""
        return name in self._overridden and self._overridden[name][0] == getattr(self, name)

    def save(self) -> None:
        """Replaces the file atomically: after a crash it is the old one or the new one.

        Settings without a file are not saved. Raises OSError.
        """
        if self._path:
            with replacing_private(self._path) as file:
                file.write(self._to_store().model_dump_json(indent=2))

    def _to_store(self) -> "Settings":
        hidden = {name: stored for name, (_, stored) in self._overridden.items() if self.is_overridden(name)}
        return self.model_copy(update=hidden)
