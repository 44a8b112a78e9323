"""What each model would take of the memory that is free, worked out one after the other in a thread.

An estimate reads the header of the file again, so it is made only for what somebody asks about. GUI thread.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot

from app.bridge.parameters import load_params
from app.bridge.preferences import Preferences
from app.bridge.tasks import spawn
from app.engine.types import LoadParams
from app.free_memory import free_memory_bytes
from app.models.gguf_header import HeaderError
from app.models.model_file import ModelFile, read_whole_header

if TYPE_CHECKING:
    from app.models.memory_fit import Fit

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Fitting:
    """Of a model that would be loaded now, as its settings are."""

    needed_bytes: int
    free_bytes: int
    advice: str = ""  # what would fit, where this does not

    @property
    def fit(self) -> Fit:
        from app.models.memory_fit import fit_of

        return fit_of(self.needed_bytes, self.free_bytes)


@dataclass(frozen=True, slots=True)
class _Load:
    """What an estimate is of. A file that has become another one has another size, too."""

    params: LoadParams
    size_bytes: int


class ModelFits(QObject):
    changed = Signal()  # of all models
    estimated = Signal(object)  # Path of the one that is known now

    def __init__(self, preferences: Preferences, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._preferences = preferences
        self._free_bytes = 0
        self._needed_bytes: dict[_Load, int] = {}
        self._advice: dict[_Load, str] = {}
        self._models: tuple[ModelFile, ...] = ()  # that somebody asks about
        self._asked: dict[_Load, None] = {}  # in their order
        self._is_working = False
        self._is_closing = False
        preferences.changed.connect(self._on_setting_changed)

    def fitting(self, model: ModelFile) -> Fitting | None:
        """None: it is no chat model, or nobody knows yet."""
        load = self._load(model)
        if not model.can_chat or load not in self._needed_bytes:
            return None
        return Fitting(self._needed_bytes[load], self._free_bytes, self._advice.get(load, ""))

    def ask(self, models: Iterable[ModelFile]) -> None:
        """About these, and about no others any more. `changed` and `estimated` follow."""
        self._models = tuple(model for model in models if model.can_chat)
        self._asked = dict.fromkeys(map(self._load, self._models))
        if self._asked and not self._is_working and not self._is_closing:
            self._is_working = True
            spawn(self._work())

    def close(self) -> None:
        self._is_closing = True
        self._asked.clear()

    async def _work(self) -> None:
        """For a model that is known to fit, its file is not read again."""
        from app.models.memory_fit import Fit, fit_of

        try:
            self._free_bytes = await asyncio.to_thread(free_memory_bytes)
            self.changed.emit()
            while self._asked:
                load = next(iter(self._asked))
                del self._asked[load]
                known = self._needed_bytes.get(load)
                if known is None or fit_of(known, self._free_bytes) is not Fit.FITS:
                    await asyncio.to_thread(self._estimate, load, self._free_bytes)
                    self.estimated.emit(load.params.path)
                else:
                    self._advice.pop(load, None)
        finally:
            self._is_working = False

    def _estimate(self, load: _Load, free_bytes: int) -> None:
        """In a thread."""
        from app.models.memory_fit import advice, estimate

        try:
            header = read_whole_header(load.params.path)
        except (OSError, HeaderError) as error:
            log.info("What %s needs is not known: %s", load.params.path, error)
            return
        self._advice[load] = advice(header, load.params, free_bytes)
        self._needed_bytes[load] = estimate(header, load.params).total_bytes

    def _load(self, model: ModelFile) -> _Load:
        return _Load(load_params(self._preferences.settings, model.path), model.size_bytes)

    @Slot(str)
    def _on_setting_changed(self, _name: str) -> None:
        """Nearly any may change how a model is loaded."""
        if self._models:
            self.ask(self._models)
