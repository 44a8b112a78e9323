"""Owns every engine from its start to the end of its thread. GUI thread.

One is loaded at a time. A native load cannot be interrupted, so a cancelled one ends in its own time; the
next waits for the memory it frees, as it may for that of a stopped engine. Knows no requests.
"""

import asyncio
import contextlib
from collections.abc import Callable, Iterable, Mapping
from typing import cast

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from app.bridge.engine_thread import EngineThread
from app.protocol.load import LoadParams
from app.protocol.model import ModelInfo
from app.system.freed_memory import give_back

PATIENCE_MS = 5_000  # the longest wait for an engine that ends
CLOSING_S = 1.5  # the same at the end of the program

NOTHING: Mapping[str, int] = {}
StartThread = Callable[[LoadParams, QObject], EngineThread]


class EngineThreads(QObject):
    """Holds each until it has ended: a running QThread must not be deleted."""

    progressed = Signal(float)  # 0..1 of the running load
    loaded = Signal(object, object)  # EngineThread, ModelInfo: the load has ended
    load_failed = Signal(object, object)  # LoadParams, message: the load has failed
    room_missed = Signal(object)  # LoadParams: too little memory until the former engine has ended
    failed = Signal(object, object)  # EngineThread, message: it had loaded
    ended = Signal(object)  # EngineThread; its last reports must be taken now

    def __init__(self, make_thread: StartThread, on_reported: Callable[[], None], parent: QObject) -> None:
        """`on_reported`, a slot, receives the `reported` of every thread."""
        super().__init__(parent)
        self._make_thread = make_thread
        self._receive_reported = on_reported
        self._threads: list[EngineThread] = []
        self._loading: EngineThread | None = None
        self._wanted: LoadParams | None = None  # waits for the memory of those that end
        self._ending: set[EngineThread] = set()
        self._reclaimable_bytes: Mapping[str, int] = {}
        self._all_ended = asyncio.Event()
        self._patience = QTimer(self, singleShot=True, interval=PATIENCE_MS)
        self._patience.timeout.connect(self._start_wanted)
        self.is_closing = False

    def __len__(self) -> int:
        return len(self._threads)

    @property
    def ending(self) -> frozenset[EngineThread]:
        """Loads that were called off, and engines that make room for another."""
        return frozenset(self._ending)

    @property
    def load(self) -> LoadParams | None:
        """What is being loaded, or will be next."""
        return self._wanted or (self._loading.params if self._loading else None)

    def start(
        self,
        params: LoadParams,
        reclaimable_bytes: Mapping[str, int] = NOTHING,
        after: Iterable[EngineThread] = (),
    ) -> None:
        """Loads once the engines `after`, ours or not, have ended. `reclaimable_bytes` are held by such that
        end later.
        """
        assert not self.load, "it must be called off first"
        self._wanted, self._reclaimable_bytes = params, reclaimable_bytes
        for thread in after:
            if thread not in self._threads:
                if thread.isFinished():
                    continue
                thread.finished.connect(self._on_other_finished)
            self._ending.add(thread)
        if self._ending:
            self._patience.start()
        else:
            self._start_wanted()

    def call_off(self) -> LoadParams | None:
        """Cancels the load and returns its parameters, if there was one. Its thread ends later."""
        params = self.load
        if self._loading:
            self._loading.stop()
            self._ending.add(self._loading)
        self._loading = self._wanted = None
        self._patience.stop()
        return params

    async def close(self) -> bool:
        """Stops all and returns when the last has ended. Never blocks the GUI's loop.

        False: one is still inside a native call. It must not be deleted then.
        """
        self.is_closing = True
        self._wanted = None
        self._patience.stop()
        for thread in self._threads:
            thread.stop()
        if self._threads:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._all_ended.wait(), CLOSING_S)
        return not self._threads

    @Slot()
    def _start_wanted(self) -> None:
        self._patience.stop()
        if not self._wanted:
            return
        params, self._wanted = self._wanted, None
        thread = self._make_thread(params, self)
        thread.reclaimable_bytes = self._reclaimable_bytes
        thread.progressed.connect(self._on_progressed)
        thread.loaded.connect(self._on_loaded)
        thread.reported.connect(self._receive_reported)
        thread.failed.connect(self._on_failed)
        thread.finished.connect(self._on_finished)
        self._threads.append(thread)
        self._loading = thread
        thread.start()

    # A queued signal may arrive after its load was cancelled, so each slot checks the sender.

    def _sending(self) -> EngineThread:
        return cast(EngineThread, self.sender())

    @Slot(float)
    def _on_progressed(self, fraction: float) -> None:
        if self._sending() is self._loading:
            self.progressed.emit(fraction)

    @Slot(object)
    def _on_loaded(self, model: ModelInfo) -> None:
        thread = self._sending()
        if thread is self._loading and not self.is_closing:
            self._loading = None
            self.loaded.emit(thread, model)

    @Slot(object)
    def _on_failed(self, message: str) -> None:
        thread = self._sending()
        if thread is self._loading:
            self._loading = None
            if thread.needs_room:
                self.room_missed.emit(thread.params)
            else:
                self.load_failed.emit(thread.params, message)
        else:
            self.failed.emit(thread, message)

    @Slot()
    def _on_other_finished(self) -> None:
        self._ending.discard(self._sending())
        if not self._ending:
            self._start_wanted()

    @Slot()
    def _on_finished(self) -> None:
        thread = self._sending()
        thread.wait()  # `finished` is emitted by the thread itself, in its last microseconds
        self.ended.emit(thread)
        self._threads.remove(thread)
        self._ending.discard(thread)
        thread.let_go()
        thread.deleteLater()
        give_back()
        if not self._ending:
            self._start_wanted()
        if not self._threads and self.is_closing:
            self._all_ended.set()
