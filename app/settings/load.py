"""The load parameters of a model, from the settings. Any thread."""

from pathlib import Path

from app.protocol.load import FlashAttention, KvType, LoadParams, LoraAdapter, RopeScaling
from app.settings.projector_file import projector_beside
from app.settings.settings import ModelSettings, Settings

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
