"""Images of formulas, rendered on a separate thread and cached. GUI thread."""

from collections import OrderedDict
from contextlib import suppress
from functools import cache

from PySide6.QtCore import QCoreApplication, QObject, QThreadPool, Signal, Slot

from app.ui.message.math_image import Drawn, Formula, draw_formula

MAX_KEPT = 1_000
MAX_KEPT_BYTES = 16_000_000
MAX_WAITING = 200


class Formulas(QObject):
    """Renders a missing one on request, and gives it away by `drawn`: it may not be kept."""

    drawn = Signal(object, object)  # the Formula, what is Drawn of it
    _finished = Signal(object, object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._kept: OrderedDict[Formula, Drawn | None] = OrderedDict()
        self._kept_bytes = 0
        self._waiting: set[Formula] = set()
        self._thread = QThreadPool(self)
        self._thread.setMaxThreadCount(1)
        self._finished.connect(self._on_finished)
        if app := QCoreApplication.instance():
            app.aboutToQuit.connect(self._thread.clear)

    def find(self, formula: Formula) -> Drawn | None:
        """None: not ready, or it cannot be rendered. Its source is shown then.

        If too many are waiting, it is rendered when it is requested again.
        """
        if formula in self._kept:
            self._kept.move_to_end(formula)
            return self._kept[formula]
        if formula not in self._waiting and len(self._waiting) < MAX_WAITING:
            self._waiting.add(formula)
            self._thread.start(lambda: self._draw(formula))
        return None

    def _draw(self, formula: Formula) -> None:
        """The drawing thread."""
        drawn = draw_formula(formula)
        with suppress(RuntimeError):  # the program has ended meanwhile, and this object with it
            self._finished.emit(formula, drawn)

    @property
    def num_waiting(self) -> int:
        return len(self._waiting)

    @Slot(object, object)
    def _on_finished(self, formula: Formula, drawn: Drawn | None) -> None:
        self._waiting.discard(formula)
        self._kept[formula] = drawn
        self._kept_bytes += _size_bytes(drawn)
        while len(self._kept) > MAX_KEPT or self._kept_bytes > MAX_KEPT_BYTES:
            self._kept_bytes -= _size_bytes(self._kept.popitem(last=False)[1])
        if drawn is not None:
            self.drawn.emit(formula, drawn)


def _size_bytes(drawn: Drawn | None) -> int:
    return drawn.image.sizeInBytes() if drawn else 0


@cache
def formulas() -> Formulas:
    """The shared instance for all chats."""
    return Formulas(QCoreApplication.instance())
