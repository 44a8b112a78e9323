"""Whether a model fits into memory before it is loaded, what would fit, and how it is split.

Any thread; `fitted` reads the model's header.
"""

import contextlib
import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache
from pathlib import Path

from app.models.gguf_header import GgufHeader, HeaderError
from app.models.layers import Hyperparameters, layers_of
from app.models.load_limits import can_take_back
from app.models.memory_need import HERE, N_CTX_STEP, ContextNeed, Room, nums_to_try, usual_num_there
from app.models.model_file import read_whole_header
from app.protocol.errors import ModelLoadError, NoRoomYetError
from app.protocol.load import DEFAULT_N_CTX, KvType, LoadParams, RopeScaling
from app.protocol.model import Device, DeviceKind, MemoryNeed
from app.system.machine import free_memory_bytes
from app.system.said import said, together

log = logging.getLogger(__name__)

MAX_N_CTX = 1 << 24
FITS_SHARE = 0.8  # of the free memory: the rest is for other programs, and for what is not estimated
LARGEST_SHARE = 0.95


class Fit(StrEnum):
    FITS = "fits"
    TIGHT = "tight"  # it would run, and other programs would have to make room
    TOO_LARGE = "too large"


def fit_of(needed_bytes: int, free_bytes: int) -> Fit:
    if needed_bytes <= FITS_SHARE * free_bytes:
        return Fit.FITS
    return Fit.TIGHT if needed_bytes <= LARGEST_SHARE * free_bytes else Fit.TOO_LARGE


@dataclass(frozen=True, slots=True)
class Plan:
    """The split of a model: `needs` of this machine, and then of each device of a room."""

    needs: tuple[MemoryNeed, ...]
    fit: Fit  # of the tightest place
    worst: int  # that place
    num_there: int = 0  # layers on devices; the output is one of them

    @property
    def need(self) -> MemoryNeed:
        return sum(self.needs, MemoryNeed())


def estimate(header: GgufHeader, params: LoadParams) -> MemoryNeed:
    """On this machine alone. For a split model, `header` must have the weights of all parts."""
    return plan(header, params, Room(0)).need


def plan(header: GgufHeader, params: LoadParams, room: Room) -> Plan:
    """The plan for a load: as many layers on devices as chosen, or else as are best."""
    context, beside = ContextNeed(header, params), _need_beside(header, params)
    if not room.devices:
        return _plan(context, beside, room, 0)
    if params.n_gpu_layers is not None:
        return _plan(context, beside, room, params.n_gpu_layers)
    usual = usual_num_there(context.num_layers, room)
    plans = []
    for number in nums_to_try(usual, len(room.workers), context.num_layers + 1):
        plans.append(_plan(context, beside, room, number))
        if plans[-1].fit is Fit.FITS:
            return plans[-1]
    return min(plans, key=lambda one: list(Fit).index(one.fit))


def largest_n_ctx(header: GgufHeader, params: LoadParams, room: Room) -> int:
    """The largest context that fits, with everything else as in `params`; 0: none fits.

    Not larger than what was chosen, or all its chats can ever use.
    """
    step = N_CTX_STEP * (params.n_seq_max if params.isolated else 1)
    low, high = 0, max(max(_most_tokens(header, params), params.n_ctx) // step, 1)
    while low < high:
        middle = (low + high + 1) // 2
        found = plan(header, replace(params, n_ctx=middle * step), room).fit
        low, high = (middle, high) if found is Fit.FITS else (low, middle - 1)
    return low * step


def advice(header: GgufHeader, params: LoadParams, room: Room) -> str:
    """What would fit instead, in a sentence or two. Empty if it fits."""
    if plan(header, params, room).fit is Fit.FITS:
        return ""
    wanted = params.n_ctx or DEFAULT_N_CTX
    largest = largest_n_ctx(header, params, room)
    if 0 < largest < wanted:
        return said(
            "A context of {fitting:,} tokens fits, {wanted:,} does not.", fitting=largest, wanted=wanted
        )
    if room.devices and params.n_gpu_layers is not None:
        chosen_for_me = replace(params, n_gpu_layers=None)
        if plan(header, chosen_for_me, room).fit is Fit.FITS:
            return said("It fits if the number of GPU layers is automatic.")
    smaller_cells = replace(params, type_k=KvType.Q8_0, type_v=KvType.Q8_0)
    if params.type_k is KvType.F16 and largest_n_ctx(header, smaller_cells, room):
        return said("It fits with a q8_0 KV cache, which takes about half the memory.")
    return said("Close other programs, or choose a smaller model or quantisation.")


def fitted(
    params: LoadParams,
    gpus: Sequence[Device] = (),
    free_bytes: int | None = None,
    workers: Sequence[Device] = (),
    reclaimable: Mapping[str, int] | None = None,
) -> LoadParams:
    """`params` with a context and a number of layers on devices that fit, where not chosen.

    `reclaimable` is what the former engine will free when it has ended, by device name; "" is this machine.
    Raises ModelLoadError for a load that would exhaust a machine's memory, and NoRoomYetError for one that
    must wait for that end. An unreadable file is left to the library, which reports the error.
    """
    try:
        header = read_whole_header(params.path)
    except (OSError, HeaderError) as error:
        log.info("What %s needs is not known: %s", params.path, error)
        return params
    now = room_for(params, free_memory_bytes() if free_bytes is None else free_bytes, gpus, workers)
    room = later(now, reclaimable or {})
    if not params.n_ctx:
        largest = largest_n_ctx(header, params, room)
        params = replace(params, n_ctx=min(DEFAULT_N_CTX, max(largest, N_CTX_STEP)))
    best = plan(header, params, room)
    if best.fit is Fit.TOO_LARGE:
        raise ModelLoadError(together(_refusal(params, best, room), advice(header, params, room)))
    if reclaimable:
        at_once = plan(header, params, now)
        if at_once.fit is Fit.TOO_LARGE or at_once.num_there < best.num_there:
            raise NoRoomYetError(_refusal(params, at_once, now))
    if room.devices and params.n_gpu_layers is None and best.num_there <= len(layers_of(header)):
        return replace(params, n_gpu_layers=best.num_there)
    return params


def fit_together(one: LoadParams, other: LoadParams, gpus: Sequence[Device]) -> bool:
    """Whether there is room for both, each split as it is alone. Raises HeaderError, OSError."""
    room = room_for(one, free_memory_bytes(), gpus)
    first = plan(read_whole_header(one.path), one, room)
    names = ("", *(gpu.name for gpu in room.gpus))
    taken = {name: -need.total_bytes for name, need in zip(names, first.needs, strict=True)}
    second = plan(read_whole_header(other.path), other, later(room, taken))
    return first.fit is Fit.FITS and second.fit is Fit.FITS


def room_for(
    params: LoadParams, free_bytes: int, gpus: Sequence[Device], workers: Sequence[Device] = ()
) -> Room:
    """The room with the GPUs that `params` would use."""
    used = tuple(gpu for gpu in gpus if not params.devices or gpu.name in params.devices)
    return Room(free_bytes, used, tuple(workers))


def later(room: Room, reclaimable: Mapping[str, int]) -> Room:
    """The room once that memory is free, by device name."""

    def then(device: Device) -> Device:
        return replace(device, free_bytes=device.free_bytes + reclaimable.get(device.name, 0))

    shared = [gpu.name for gpu in room.gpus if gpu.kind is DeviceKind.INTEGRATED]
    here = room.here_bytes + sum(reclaimable.get(name, 0) for name in ("", *shared))
    return Room(here, tuple(map(then, room.gpus)), tuple(map(then, room.workers)))


def _plan(context: ContextNeed, beside: MemoryNeed, room: Room, num_there: int) -> Plan:
    needs = list(context.needs(num_there, room))
    needs[1 + len(room.workers) if room.gpus else HERE] += beside
    pools = Counter[int]()
    for place, need in enumerate(needs):
        pools[_pool(room, place)] += need.total_bytes
    fits = {
        place: fit_of(needed, room.free_bytes(place))
        for place, needed in pools.items()
        if needed and room.is_known(place)
    }
    worst = max(fits, key=lambda place: list(Fit).index(fits[place]), default=HERE)
    return Plan(tuple(needs), fits.get(worst, Fit.FITS), worst, num_there if room.devices else 0)


def _need_beside(header: GgufHeader, params: LoadParams) -> MemoryNeed:
    """The need of what drafts and of the projector, which go to the first GPU if there is one.

    Nothing if unreadable: the library reports the error.
    """
    return _draft_need(header, params) + _projector_need(params)


def _projector_need(params: LoadParams) -> MemoryNeed:
    if params.projector:
        with contextlib.suppress(OSError):
            size_bytes = params.projector.stat().st_size
            return MemoryNeed(weights_bytes=size_bytes, compute_bytes=min(size_bytes // 2, 512 << 20))
    return MemoryNeed()


def _draft_need(header: GgufHeader, params: LoadParams) -> MemoryNeed:
    draft = params.of_draft_model
    if draft and can_take_back(header, params.n_seq_max):
        with contextlib.suppress(OSError, HeaderError):
            size_bytes = draft.path.stat().st_size
            return ContextNeed(_draft_header(draft.path, size_bytes), draft).need
    if draft is None and params.num_drafted_tokens and can_take_back(header, params.n_seq_max):
        return ContextNeed(header, params).heads
    return MemoryNeed()


@lru_cache(maxsize=2)
def _draft_header(path: Path, _size_bytes: int) -> GgufHeader:
    """Cached: needed repeatedly while searching for a context that fits."""
    return read_whole_header(path)


def _pool(room: Room, place: int) -> int:
    """The memory it uses: an integrated GPU has none of its own."""
    return HERE if place and room.devices[place - 1].kind is DeviceKind.INTEGRATED else place


def _refusal(params: LoadParams, planned: Plan, room: Room) -> str:
    place = planned.worst
    needed = sum(
        need.total_bytes for number, need in enumerate(planned.needs) if _pool(room, number) == place
    )
    values = {
        "name": params.path.name,
        "tokens": params.n_ctx,
        "needed": needed / 2**30,
        "available": room.free_bytes(place) / 2**30,
    }
    if place == HERE:
        return said(
            "{name} with a context of {tokens:,} tokens needs {needed:.1f} GiB, but only "
            "{available:.1f} GiB are free.",
            **values,
        )
    return said(
        "{name} with a context of {tokens:,} tokens needs {needed:.1f} GiB on {device}, but only "
        "{available:.1f} GiB are free there.",
        device=room.devices[place - 1].name,
        **values,
    )


def _most_tokens(header: GgufHeader, params: LoadParams) -> int:
    hyper = Hyperparameters(header)
    trained = hyper.number("context_length", DEFAULT_N_CTX)
    if params.rope_scaling in (RopeScaling.LINEAR, RopeScaling.YARN) and params.rope_factor:
        original = hyper.number("rope.scaling.original_context_length", trained)
        trained = int(original * params.rope_factor)
    return min(max(trained, N_CTX_STEP) * max(params.n_seq_max, 1), MAX_N_CTX)
