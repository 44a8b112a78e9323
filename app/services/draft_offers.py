"""Finds out whether a smaller model of the library makes the open one faster, while the engine is idle.

Measured once for both files, in a process of its own that ends with the next question to the engine, and is
then begun again when all is quiet. GUI thread.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from app.bridge.ahead_reader import is_on_mains
from app.bridge.engines import Engines
from app.bridge.tasks import spawn
from app.engine.children.probe import KnownFile, KnownFiles
from app.models.gguf_header import HeaderError
from app.models.memory_fit import Fit, plan, room_for
from app.models.model_file import ModelFile, read_whole_header
from app.protocol.load import LoadParams
from app.protocol.model import Device
from app.protocol.wire import LOAD_PARAMS
from app.services.model_library import DraftCandidates, ModelLibrary
from app.system import paths
from app.system.machine import free_memory_bytes
from app.system.worker import Worker, WorkerEndedError, WorkerRefusedError

log = logging.getLogger(__name__)

QUIET_MS = 5_000
TRIAL = "app.engine.children.draft_trial_child"
N_CTX = 512  # of the trial
MAX_S = 300.0
WORTH_IT = 1.15
MOST_OF_OTHERS = 0.2  # cores in use by other programs during a trial
REFUSED = "refused"  # by the user


class DraftOffer(NamedTuple):
    model: Path
    draft: ModelFile
    edit: float  # how many times as fast, for an edit of code
    free: float  # for free text


class DraftOffers(QObject):
    offered = Signal(object)  # DraftOffer

    def __init__(self, engine: Engines, library: ModelLibrary, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._engine = engine
        self._library = library
        self._candidates: DraftCandidates | None = None  # None: there is nothing to find out
        self._worker = Worker(TRIAL)
        self._task: asyncio.Task[None] | None = None
        self._quiet = QTimer(self, singleShot=True, interval=QUIET_MS)
        self._quiet.timeout.connect(self._look)
        engine.loaded.connect(self._on_loaded)
        engine.reported.connect(self._wait)
        for busy in (engine.asked, engine.loading):
            busy.connect(self._give_way)

    def refuse(self, offer: DraftOffer) -> None:
        """It is not made again."""
        spawn(asyncio.to_thread(_remember, offer.model, offer.draft.path, REFUSED))

    async def close(self) -> None:
        self._forget()
        self._give_way()
        if self._task:
            await asyncio.wait([self._task])

    @Slot()
    def _on_loaded(self) -> None:
        self._forget()
        params, model = self._engine.front.loaded_params, self._engine.model
        can_draft = params and model and model.num_drafted_tokens
        if params and can_draft and not (params.draft_model or params.workers):
            self._candidates = DraftCandidates(params.path, self._library, self)
            self._candidates.changed.connect(self._wait)
            self._candidates.look()

    def _forget(self) -> None:
        if self._candidates:
            self._candidates.deleteLater()
        self._candidates = None
        self._quiet.stop()

    @Slot()
    def _wait(self) -> None:
        if self._candidates and self._candidates.fitting:
            self._quiet.start()

    @Slot()
    def _give_way(self) -> None:
        self._worker.end()

    @Slot()
    def _look(self) -> None:
        params, model = self._engine.front.loaded_params, self._engine.model
        is_free = self._engine.is_idle and is_on_mains() and not self._task
        if self._candidates and params and model and is_free:
            draft, self._worker = self._candidates.fitting[0], Worker(TRIAL, is_once=True)
            trial = replace(params, draft_model=draft.path, n_ctx=N_CTX, n_seq_max=1, projector=None)
            self._task = spawn(self._try(draft, trial, model.library.gpus))

    async def _try(self, draft: ModelFile, params: LoadParams, gpus: tuple[Device, ...]) -> None:
        candidates = self._candidates
        try:
            found = await asyncio.to_thread(_measured, params, gpus, self._worker)
        finally:
            self._task = None
        if found is None:
            self._wait()
        elif candidates and candidates is self._candidates:  # it is still the same model
            self._forget()
            if found != REFUSED and max(found, default=0.0) >= WORTH_IT:
                self.offered.emit(DraftOffer(params.path, draft, *found))


def _measured(params: LoadParams, gpus: tuple[Device, ...], worker: Worker) -> Any:
    """How many times as fast it is, for each text; [] where that cannot be found out. None: not now.

    In a thread.
    """
    assert params.draft_model
    if (known := _known().get(KnownFile.at(params.path, params.draft_model))) is not None:
        return known
    speedups = []
    try:
        room = room_for(params, free_memory_bytes(), gpus)
        if plan(read_whole_header(params.path), params, room).fit is not Fit.FITS:
            return []
        answer, _ = worker.ask({}, *LOAD_PARAMS.packed(params), max_s=MAX_S)
        if answer["others"] > MOST_OF_OTHERS:
            return []  # the figures would be of other programs: another time
        speedups = answer["speedups"]
    except (WorkerEndedError, WorkerRefusedError, HeaderError, OSError) as error:
        if worker.is_closed:
            return None
        log.info("%s was not tried as a draft model: %r", params.draft_model, error)
    finally:
        worker.close()
    _remember(params.path, params.draft_model, speedups)
    return speedups


def _known() -> KnownFiles:
    from app.engine.llama.loading import LIBRARY_VERSION

    file = paths.cache_dir() / "draft-trials.json"
    return KnownFiles(file, f"draft trial 1, llama-cpp-python {LIBRARY_VERSION}")


def _remember(model: Path, draft: Path, found: Any) -> None:
    _known().add(KnownFile.at(model, draft), found)
