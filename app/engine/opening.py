"""Opens an engine for the given load parameters: in this process, or in a child."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Protocol

from app.engine.backend import Backend
from app.engine.cells.hibernation import HibernatedChats
from app.engine.children.engine_process import EngineProcess
from app.engine.children.probe import OnProgress, open_probed_backend, open_probed_embedder
from app.engine.embedding import Embedder, EmbeddingLoop
from app.engine.engine import Engine
from app.engine.loop import EngineLoop
from app.engine.running import RunningEngine
from app.protocol.load import LoadParams
from app.protocol.model import Device, ModelInfo

OpenBackend = Callable[
    [LoadParams, OnProgress, Callable[[LoadParams, Sequence[Device]], LoadParams]],
    AbstractContextManager[Backend],
]
OpenEmbedder = Callable[[LoadParams, OnProgress], AbstractContextManager[Embedder]]


class Fitter(Protocol):
    """Fits the parameters to these devices. Raises ModelLoadError if they would exhaust the memory."""

    def __call__(
        self, params: LoadParams, gpus: Sequence[Device], *, workers: Sequence[Device] = ()
    ) -> LoadParams: ...


@contextlib.contextmanager
def open_engine(
    params: LoadParams,
    on_progress: OnProgress,
    on_reports_ready: Callable[[], None],
    fit: Fitter,
    hibernated: HibernatedChats | None = None,
    open_backend: OpenBackend = open_probed_backend,
    turn: Callable[[], AbstractContextManager[bool | None]] = nullcontext,
) -> Iterator[tuple[ModelInfo, RunningEngine]]:
    """With workers it gets a process of its own, since losing one may crash it. Call `run` on this thread.

    `on_progress` gets 0 … 1 and cancels by returning False. Each step of one in this process is computed
    inside of a `turn`. Raises EngineError.
    """
    if not params.workers and not params.own_process:
        with open_backend(params, on_progress, fit) as backend:
            engine = Engine(backend, hibernated, verify=params.verify, is_recorded=params.is_recorded)
            yield backend.model, EngineLoop(engine, on_reports_ready, turn)
        return

    def fit_with(params: LoadParams, workers: Sequence[Device]) -> LoadParams:
        from app.engine.llama.native_library import gpus, library

        library()
        return fit(params, gpus(), workers=workers)

    process = EngineProcess(params, on_progress, on_reports_ready, fit_with)
    with process.loaded() as model:
        yield model, process


@contextlib.contextmanager
def open_embedding_engine(
    params: LoadParams,
    on_progress: OnProgress,
    on_reports_ready: Callable[[], None],
    open_embedder: OpenEmbedder | None = None,
    turn: Callable[[], AbstractContextManager[bool | None]] = nullcontext,
) -> Iterator[tuple[ModelInfo, EmbeddingLoop]]:
    """As `open_engine`, for a model that turns texts into vectors."""
    with (open_embedder or open_probed_embedder)(params, on_progress) as embedder:
        yield embedder.model, EmbeddingLoop(embedder, on_reports_ready, turn)
