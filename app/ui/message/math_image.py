"""Renders a formula as an image, within limits: it is untrusted, and its cost can double with each brace.

Pure function, made for a worker thread. Knows no widget.
"""

import math
import re
import sys
import time
import weakref
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from types import FrameType

from PySide6.QtCore import (
    QByteArray,
    QCoreApplication,
    QObject,
    QPointF,
    QRectF,
    QSizeF,
    Qt,
    QThreadPool,
    Signal,
    Slot,
)
from PySide6.QtGui import QColor, QImage, QPainter
from PySide6.QtSvg import QSvgRenderer

from app.ui.base.hidden_characters import num_hidden

MAX_CHARS = 2_000
MAX_DEPTH = 40
MAX_SECONDS = 0.8  # most take a hundredth of that
MAX_SIDE = 4_000  # device pixels
_SHAPES = {"svg", "g", "path", "rect", "line", "title"}

_LABELS = re.compile(r"\\(?:label\{[^{}]*\}|nonumber|notag)(?![a-zA-Z])")
_NUMBER = re.compile(r"\\tag\*?\{([^{}]*)\}")
_TAG = re.compile(r"<([A-Za-z]\w*)")
# The font of formulas has Latin, Greek and signs; anything else would be drawn as empty boxes.
_NOT_IN_FONT = re.compile("[^\x00-\u058f\u1e00-\u2bff\U0001d400-\U0001d7ff]")


@dataclass(frozen=True, slots=True)
class Formula:
    """A formula to render: LaTeX, size (pixels of an em), colour, and the screen's resolution.

    `line_descent`: how far the text around it reaches below its line, in pixels.
    """

    latex: str
    is_display: bool
    em: float
    colour: str
    scale: float = 1.0
    line_descent: float = 0.0


@dataclass(frozen=True, slots=True)
class Drawn:
    """An image, padded so that Qt can align it with the text.

    If `is_centred` its middle lies on the line, else it reaches `line_descent` below it.
    """

    image: QImage
    is_centred: bool = False


class _TooSlowError(Exception):
    pass


def draw_formula(formula: Formula) -> Drawn | None:
    """None: invalid or unsupported LaTeX, or too expensive."""
    latex = formula.latex
    if len(latex) > MAX_CHARS or _depth(latex) > MAX_DEPTH:
        return None
    if _NOT_IN_FONT.search(latex) or num_hidden(latex):  # as text they are visible
        return None
    try:
        _load()
        with _time_limit(MAX_SECONDS):
            svg, width, height, descent = _svg(formula)
    except Exception:  # an untrusted formula may raise anything in the parser
        return None
    if not set(_TAG.findall(svg)) <= _SHAPES:
        return None
    if not 0 < width * formula.scale <= MAX_SIDE or not 0 < height * formula.scale <= MAX_SIDE:
        return None
    return _drawn(svg, QSizeF(width, height), descent, formula)


@cache
def _load() -> None:
    """Loads the fonts in advance: 0.2 s that do not count for the first formula."""
    from ziamath.config import config
    from ziamath.nodes.mnode import Mnode
    from ziamath.zmath import Latex

    config.svg2 = False  # Qt draws SVG 1.2
    # Else each drawing would be a cycle, and stay until garbage is collected, on the window's thread.
    Mnode.parent = property(_parent_of, _set_parent)  # type: ignore[assignment]
    Latex("x")


def _parent_of(node: object) -> object:
    return vars(node)["parent"]()


def _set_parent(node: object, parent: object) -> None:
    vars(node)["parent"] = weakref.ref(parent)


def _svg(formula: Formula) -> tuple[str, float, float, float]:
    from ziamath.zmath import Latex

    latex = _NUMBER.sub(r"\\qquad(\\text{\1})", _LABELS.sub("", formula.latex)).strip()
    drawing = Latex(latex, size=formula.em, color=formula.colour, inline=not formula.is_display)
    if "\\" in drawing.mathmlstr():
        raise ValueError("an unknown command")  # which would be drawn as its name
    width, height = drawing.getsize()
    return drawing.svg(), float(width), float(height), max(0.0, -float(drawing.getyofst()))


def _drawn(svg: str, size: QSizeF, descent: float, formula: Formula) -> Drawn:
    """Qt puts the end of an image, or its middle, at fixed places only: padding moves it where it belongs."""
    if formula.is_display:
        return Drawn(_image(svg, size, 0, 0, formula.scale))
    if descent <= formula.line_descent:
        return Drawn(_image(svg, size, 0, formula.line_descent - descent, formula.scale))
    ascent = size.height() - descent
    above, below = max(0, descent - ascent), max(0, ascent - descent)
    return Drawn(_image(svg, size, above, below, formula.scale), is_centred=True)


def _image(svg: str, size: QSizeF, above: float, below: float, scale: float) -> QImage:
    height = size.height() + above + below
    image = QImage(
        max(1, math.ceil(size.width() * scale)),
        max(1, math.ceil(height * scale)),
        QImage.Format.Format_ARGB32_Premultiplied,
    )
    image.fill(QColor(Qt.GlobalColor.transparent))
    image.setDevicePixelRatio(scale)
    painter = QPainter(image)
    QSvgRenderer(QByteArray(svg.encode())).render(painter, QRectF(QPointF(0, above), size))
    painter.end()
    return image.copy()  # without the engine that painted it, which takes 7 to 15 KB


def _depth(latex: str) -> int:
    depth = deepest = 0
    for char in latex:
        depth += (char == "{") - (char == "}")
        deepest = max(deepest, depth)
    return deepest


@contextmanager
def _time_limit(seconds: float) -> Iterator[None]:
    """Raises in this thread when its time is up: threads cannot be killed, but Python checks at each call.

    CPU time of this thread: a busy machine makes no formula invalid.
    """
    end = time.thread_time() + seconds
    before = sys.getprofile()

    def watch(_frame: FrameType, event: str, _argument: object) -> None:
        # Python would swallow it while closing a generator, and print to stderr.
        if event == "c_call" and time.thread_time() > end:
            raise _TooSlowError

    sys.setprofile(watch)
    try:
        yield
    finally:
        sys.setprofile(before)


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
