"""The load parameters of a model: from the settings, and the projector that its folder has. Any thread.

A projector lets a model see or hear; it is found by names.
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

from app.protocol.load import FlashAttention, KvType, LoadParams, LoraAdapter, RopeScaling
from app.settings.settings import ModelSettings, Settings

SUFFIX = ".gguf"
_MARK = re.compile(r"(?:^|(?<=[-._]))mmproj(?=[-._]|$)", re.IGNORECASE)
_SPLIT = re.compile(r"-\d{5}-of-\d{5}$")
_PRECISION = re.compile(
    r"[-._](?:f16|bf16|f32|fp16|(?:ud-)?(?:iq|q|tq)\d[\w]*|mxfp4\w*|gguf)$", re.IGNORECASE
)
# All are exact enough; bfloat16 is slow on many processors, and the others take more memory or were rounded.
_PREFERRED = ("f16", "fp16", "q8_0", "bf16", "f32")
_NO_NAMES = {"", "model"}


def is_projector(name: str) -> bool:
    """All programs name them so: mmproj-….gguf, ….mmproj-f16.gguf."""
    return name.lower().endswith(SUFFIX) and _MARK.search(name[: -len(SUFFIX)]) is not None


def projector_beside(model: Path) -> Path | None:
    """The one that belongs to it, if there is one in its folder."""
    try:
        changed_at = model.parent.stat().st_mtime_ns
    except OSError:
        return None
    return _found(model, changed_at)


@lru_cache(maxsize=256)
def _found(model: Path, _changed_at: int) -> Path | None:
    try:
        names = [file.name for file in model.parent.iterdir() if file.suffix.lower() == SUFFIX]
    except OSError:
        return None
    chosen = projector_among(names, model.name)
    return model.parent / chosen if chosen else None


def projector_among(names: Iterable[str], model: str) -> str | None:
    """The file of a folder with the model's name, else a nameless one beside one model alone."""
    all_names = list(names)
    projectors = [name for name in all_names if is_projector(name)]
    named = [name for name in projectors if _names(name, model)]
    others = {_stem(name) for name in all_names if not is_projector(name)}
    nameless = [name for name in projectors if _own_name(name) in _NO_NAMES] if len(others) <= 1 else []
    return min(named or nameless, key=_rank, default=None)


def _names(projector: str, model: str) -> bool:
    own, stem = _own_name(projector), _stem(model)
    before = _MARK.split(projector[: -len(SUFFIX)])[0].lower()  # as in llama.cpp's cache: of the repository
    if not before:
        return own == stem
    return stem in (own, before + own) or (own in _NO_NAMES and stem.startswith(before))


def _own_name(projector: str) -> str:
    """What else it says than that it is a projector, and of what precision."""
    before, _, after = _MARK.sub("\0", projector[: -len(SUFFIX)], count=1).partition("\0")
    own = _without_precision(f"-{after.strip('-._')}").strip("-._")
    return (own or _without_precision(before.strip("-._"))).lower()


def _stem(model: str) -> str:
    return _without_precision(_SPLIT.sub("", model[: -len(SUFFIX)])).lower()


def _without_precision(name: str) -> str:
    while (shorter := _PRECISION.sub("", name)) != name:
        name = shorter
    return name


def _rank(name: str) -> tuple[int, str]:
    words = re.split(r"[-.]", name.lower())
    return next((rank for rank, one in enumerate(_PREFERRED) if one in words), len(_PREFERRED)), name


FOR_ALL_MODELS = {"n_ctx", "n_seq_max", "n_threads", "isolated", "num_drafted_tokens", "checkpoint_mib"}
_ENUMS = {"type_k": KvType, "type_v": KvType, "flash_attention": FlashAttention, "rope_scaling": RopeScaling}


def load_params(settings: Settings, path: Path) -> LoadParams:
    """Each value is that of this run, else of this model, else of all models, else LoadParams' default."""
    for_all = settings.model_dump(include=FOR_ALL_MODELS)
    own = settings.models.get(str(path), ModelSettings())
    own_values = {name: value for name, value in own if value is not None}
    chosen = for_all | {name: own_values[name] for name in own_values if not settings.is_overridden(name)}
    chosen["adapters"] = tuple(LoraAdapter(adapter.path, adapter.scale) for adapter in own.adapters)
    for name, kind in _ENUMS.items():
        if name in chosen:
            chosen[name] = kind(chosen[name])
    if chosen.pop("takes_media", True):
        chosen["projector"] = own.projector or projector_beside(path)
    return LoadParams(path=path, verify=settings.verify, **chosen)
