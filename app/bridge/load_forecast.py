"""What comes of loading one model in some way, before it is loaded: its memory, what cannot be. GUI thread.

Reads its header once, and works the memory out in a thread: of several wishes only the newest.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from shiboken6 import isValid

from app.bridge.tasks import spawn
from app.engine.types import LoadParams, MemoryNeed
from app.free_memory import free_memory_bytes
from app.said import said

if TYPE_CHECKING:
    from app.models.gguf_header import GgufHeader
    from app.models.memory_fit import Fit


@dataclass(frozen=True, slots=True)
class Forecast:
    need: MemoryNeed
    free_bytes: int
    fit: Fit
    advice: str = ""  # what would fit, where this does not
    smaller_n_ctx: int = 0  # a context that would; 0: this one fits, or none does


class LoadForecast(QObject):
    changed = Signal()

    def __init__(self, path: Path, parent: QObject) -> None:
        super().__init__(parent)
        self._path = path
        self._header: GgufHeader | None = None
        self._wanted: LoadParams | None = None
        self._is_working = False
        self.forecast: Forecast | None = None  # of what was asked last; None: not known yet
        self.problem = ""  # why nothing can be known: the file cannot be read

    def ask(self, params: LoadParams) -> None:
        """`changed` follows."""
        self._wanted = params
        if not self._is_working:
            self._is_working = True
            spawn(self._work())

    def refusals(self, params: LoadParams) -> dict[str, str]:
        """By the name of the setting. Nothing is known before the header has been read."""
        from app.models.load_limits import refusals

        return refusals(self._header, params) if self._header else {}

    def remarks(self, params: LoadParams) -> dict[str, str]:
        from app.models.load_limits import remarks

        return remarks(self._header, params) if self._header else {}

    async def why_not_adapter(self, path: Path) -> str:
        """Empty if it can be used with this model."""
        return await asyncio.to_thread(self._why_not_adapter, path)

    async def _work(self) -> None:
        try:
            while (params := self._wanted) is not None:
                self._wanted = None
                forecast = await asyncio.to_thread(self._forecast, params)
                if not isValid(self):  # whoever wanted to know has closed
                    return
                if self._wanted is None:
                    self.forecast = forecast
                    self.changed.emit()
        finally:
            self._is_working = False

    # In a thread.

    def _forecast(self, params: LoadParams) -> Forecast | None:
        from app.models.gguf_header import HeaderError
        from app.models.memory_fit import Fit, advice, estimate, fit_of, largest_n_ctx
        from app.models.model_file import read_whole_header

        try:
            header = self._header = self._header or read_whole_header(self._path)
        except HeaderError as error:
            self.problem = said("{name} cannot be used: {reason}.", name=self._path.name, reason=str(error))
            return None
        except OSError as error:
            reason = error.strerror or str(error)
            self.problem = said("{name} cannot be read: {reason}.", name=self._path.name, reason=reason)
            return None
        need, free_bytes = estimate(header, params), free_memory_bytes()
        fit = fit_of(need.total_bytes, free_bytes)
        if fit is Fit.FITS:
            return Forecast(need, free_bytes, fit)
        smaller = largest_n_ctx(header, params, free_bytes)
        advised = advice(header, params, free_bytes)
        return Forecast(need, free_bytes, fit, advised, smaller if smaller < params.n_ctx else 0)

    def _why_not_adapter(self, path: Path) -> str:
        from app.models.gguf_header import HeaderError
        from app.models.load_limits import adapter_refusal
        from app.models.model_file import open_header

        try:
            adapter = open_header(path)
        except HeaderError as error:
            return said("{name} cannot be used: {reason}.", name=path.name, reason=str(error))
        except OSError as error:
            reason = error.strerror or str(error)
            return said("{name} cannot be read: {reason}.", name=path.name, reason=reason)
        return adapter_refusal(adapter, self._header) if self._header else ""
