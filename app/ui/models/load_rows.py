"""A model's load settings, by group, and what is said of their values. GUI thread."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from app.look.figures import count
from app.look.words import mark, sentences, tr
from app.models.model_file import ModelFile
from app.protocol.load import USUAL_DRAFTED_TOKENS, KvType, LoadParams
from app.settings.settings import ModelSettings
from app.ui.base.setting import Field, Setting, field_of
from app.ui.base.setting_list import words_of

AS_FOR_ALL = mark("As in Settings")
AUTOMATIC = mark("Automatic")
_LEAST = {"n_ctx": 256, "n_threads": 1}  # numbers whose zero means "choose for me"
_KV_NAMES = {
    KvType.F16: mark("f16: 16 bits, exact"),
    KvType.BF16: mark("bf16: 16 bits"),
    KvType.Q8_0: mark("q8_0: 8.5 bits, nearly exact"),
    KvType.Q5_1: mark("q5_1: 6 bits"),
    KvType.Q5_0: mark("q5_0: 5.5 bits"),
    KvType.Q4_1: mark("q4_1: 5 bits"),
    KvType.Q4_0: mark("q4_0: 4.5 bits, smallest"),
}


def _choices(none: str, names: Mapping[Any, str]) -> Callable[[], Mapping[Any, str]]:
    def named() -> Mapping[Any, str]:
        return {None: tr(none), **{value: tr(name) for value, name in names.items()}}

    return named


_ON_OFF = {True: mark("On"), False: mark("Off")}


@dataclass(frozen=True, slots=True)
class LoadGroup:
    title: str
    rows: Sequence[Setting]


GROUPS = (
    LoadGroup(
        mark("Context"),
        (
            words_of("n_ctx", word=AS_FOR_ALL, word_for_zero=AUTOMATIC),
            words_of("n_seq_max", word=AS_FOR_ALL),
            words_of("isolated", named=_choices(AS_FOR_ALL, _ON_OFF)),
        ),
    ),
    LoadGroup(
        mark("Speed"),
        (
            words_of("n_threads", word=AS_FOR_ALL, word_for_zero=AUTOMATIC),
            Setting(
                "n_batch",
                mark("Batch"),
                mark("The most tokens computed in one step, for all chats (n_batch)."),
                word=AUTOMATIC,
                step=64,
            ),
            Setting(
                "n_ubatch",
                mark("Micro-batch"),
                mark("Tokens computed at once (n_ubatch). Larger needs more memory."),
                word=AUTOMATIC,
                step=64,
            ),
            Setting(
                "flash_attention",
                mark("Flash attention"),
                mark("Less memory, and usually faster."),
                named=_choices(AUTOMATIC, {"on": mark("On"), "off": mark("Off")}),
            ),
            words_of(
                "num_drafted_tokens",
                sentence=mark(
                    "Proposes tokens from the chat's own text, by the model's heads or by a draft model, and "
                    "checks several in one step, if faster."
                ),
                named=_choices(AS_FOR_ALL, {USUAL_DRAFTED_TOKENS: mark("On"), 0: mark("Off")}),
            ),
        ),
    ),
    LoadGroup(
        mark("Memory"),
        (
            Setting(
                "type_k",
                mark("Key cache type"),
                mark("Fewer bits fit more tokens at slightly lower quality."),
                named=_choices(AUTOMATIC, _KV_NAMES),
            ),
            Setting(
                "type_v",
                mark("Value cache type"),
                mark("Quantised types need flash attention."),
                named=_choices(AUTOMATIC, _KV_NAMES),
            ),
            Setting(
                "use_mmap",
                mark("Memory-map weights (mmap)"),
                mark(
                    "The system can reclaim this memory and read it again from the file; otherwise "
                    "weights are copied."
                ),
                named=_choices(AUTOMATIC, _ON_OFF),
            ),
            Setting(
                "swa_full",
                mark("Whole sliding window"),
                mark(
                    "Keeps all cells of sliding-window layers: a chat can be rolled back anywhere, but "
                    "is slower (--swa-full)."
                ),
                named=_choices(AUTOMATIC, _ON_OFF),
            ),
        ),
    ),
    LoadGroup(
        mark("GPU"),
        (
            Setting(
                "n_gpu_layers",
                mark("GPU layers"),
                mark("The CPU computes the rest; 0 disables the GPU."),
                word=mark("As many as fit"),
            ),
        ),
    ),
    LoadGroup(
        mark("Long texts (RoPE)"),
        (
            Setting(
                "rope_scaling",
                mark("RoPE scaling"),
                mark("Extends the context beyond what the model was trained for, at lower quality."),
                named=_choices(
                    mark("As the model says"),
                    {"none": mark("None"), "linear": mark("Linear"), "yarn": mark("YaRN")},
                ),
            ),
            Setting(
                "rope_factor",
                mark("Factor"),
                mark("How many times longer the context may be."),
                word=mark("As the model says"),
                step=0.5,
            ),
        ),
    ),
)


def load_field(name: str) -> Field:
    """The field of ModelSettings, without a zero that is a word."""
    field = field_of(name, ModelSettings)
    return replace(field, low=_LEAST.get(name, field.low))


NONE, NO_PROJECTOR = mark("None"), mark("None: text alone")
TEXT_ALONE = "text-alone"
DRAFT_MODEL = Setting(
    "draft_model",
    mark("Draft model"),
    mark(
        "A smaller model proposes tokens and this one checks them: the answers are as good, and often faster."
    ),
    named=lambda: {None: tr(NONE)},
)


PROJECTOR = Setting(
    "projector",
    mark("Projector"),
    mark("Lets the model see pictures or hear sound (mmproj). Automatic: the one in the model's folder."),
    named=lambda: {None: tr(AUTOMATIC), TEXT_ALONE: tr(NO_PROJECTOR)},
)


def named_files(setting: Setting, models: Iterable[ModelFile]) -> Mapping[Any, str]:
    """What can be chosen: the words of the setting, then the files by their paths."""
    words = setting.named() if setting.named else {}
    return {**words, **{model.path: model.title for model in models}}


def in_words(setting: Setting, params: LoadParams) -> str:
    """The value in `params`, in words."""
    value = getattr(params, setting.name)
    if setting is PROJECTOR and value is None:
        return tr(NONE)
    if isinstance(value, Path):
        return value.stem
    if setting.named:
        named = setting.named()
        return named.get(value, count(value) if type(value) is int else named[None])
    if value is None or not (value or isinstance(value, bool)):
        return tr(setting.word if setting.word != AS_FOR_ALL else AUTOMATIC).lower()
    if isinstance(value, bool):
        return tr(_ON_OFF[value])
    return count(value) if isinstance(value, int) else str(value)


def note_of(setting: Setting, own: Any, inherited: str, loaded: str, remark: str) -> str:
    """`own` None: nothing is chosen. `inherited` and `loaded` are values in words."""
    word = setting.named()[None] if setting.named else tr(setting.word)
    is_told = own is None and inherited.lower() == word.lower()
    held = "" if is_told else tr("Default: {value}.", value=inherited)
    now = tr("Loaded with: {value}.", value=loaded) if loaded else ""
    return sentences(held, now, remark)
