"""Why one request computed what it did, in sentences, and its prompt as pictures.

GUI thread.
"""

from collections.abc import Sequence

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QBrush, QColor, QPainter, QPainterPath, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.look.figures import count, percent, seconds, tokens
from app.look.fonts import code_font, small_font, tabular
from app.look.painted import paint_rounded
from app.look.tokens import Tokens, current
from app.look.words import mark, tr
from app.protocol.model import ModelInfo
from app.protocol.output import PrefixEnd
from app.protocol.report import Lease

BAR_HEIGHT = 14
LEGEND_HEIGHT = 22
SWATCH = 9
CHIP_HEIGHT = 20
LINE_HEIGHT = 26
NAME_WIDTH = 56
GAP = 3
HELD, WANTED = mark("cached"), mark("wanted")
HEADS = {
    PrefixEnd.NEW_CHAT: mark("A new chat"),
    PrefixEnd.NEW_TEXT: mark("Only new text was computed"),
    PrefixEnd.EDITED: mark("An earlier message was edited"),
    PrefixEnd.TEMPLATE: mark("The chat template rewrote the history"),
    PrefixEnd.DROPPED: mark("Turns were left out"),
    PrefixEnd.NO_ROLLBACK: mark("The model cannot remove a tail"),
    PrefixEnd.CHECKPOINT: mark("Went back to a checkpoint"),
    PrefixEnd.EVICTED: mark("Its cells were evicted"),
    PrefixEnd.DOUBTED: mark("The saved state failed its checks"),
}
# The same, short.
REASONS = {
    PrefixEnd.NEW_CHAT: mark("new chat"),
    PrefixEnd.NEW_TEXT: mark("new text"),
    PrefixEnd.EDITED: mark("edited message"),
    PrefixEnd.TEMPLATE: mark("template changed the history"),
    PrefixEnd.DROPPED: mark("turns left out"),
    PrefixEnd.NO_ROLLBACK: mark("model cannot remove a tail"),
    PrefixEnd.CHECKPOINT: mark("went back to a checkpoint"),
    PrefixEnd.EVICTED: mark("evicted"),
    PrefixEnd.DOUBTED: mark("saved state failed its checks"),
}


def num_prompt_tokens(lease: Lease) -> int:
    return num_had(lease) + lease.num_tokens_to_compute


def num_had(lease: Lease) -> int:
    """Tokens that needed no computing."""
    return lease.num_reused_tokens + lease.num_shared_tokens + lease.num_restored_tokens


def share_text(lease: Lease) -> str:
    return percent(num_had(lease), num_prompt_tokens(lease))


def what_happened(lease: Lease, model: ModelInfo | None) -> str:
    match lease.prefix_end:
        case PrefixEnd.NEW_CHAT:
            if lease.num_shared_tokens:
                return tr("Nothing of this chat was cached, but another chat begins the same way.")
            return tr("Nothing of this chat was cached, and no other chat begins the same way.")
        case PrefixEnd.NEW_TEXT:
            return tr("Everything cached is part of the prompt; only the new text after it was computed.")
        case PrefixEnd.EDITED:
            return tr(
                "The prompt differs from the cached one after {tokens}, so everything after that was "
                "recomputed.",
                tokens=tokens(lease.num_common_tokens),
            )
        case PrefixEnd.TEMPLATE:
            return tr(
                "The messages are the same, but the chat template renders them differently: the prompts "
                "differ after {tokens}.",
                tokens=tokens(lease.num_common_tokens),
            )
        case PrefixEnd.DROPPED:
            return tr(
                "The chat no longer fits its context, so turns after the first {tokens} were left out.",
                tokens=tokens(lease.num_common_tokens),
            )
        case PrefixEnd.NO_ROLLBACK:
            return tr(
                "The first {tokens} are the same, but {memory} cannot be cut back to them.",
                tokens=tokens(lease.num_common_tokens),
                memory=_memory(model),
            )
        case PrefixEnd.CHECKPOINT:
            return tr(
                "The first {tokens} are the same, but {memory} can be cut back to checkpoints only, and the "
                "nearest is after {kept}.",
                tokens=tokens(lease.num_common_tokens),
                memory=_memory(model),
                kept=tokens(num_had(lease)),
            )
        case PrefixEnd.EVICTED:
            return tr("Other chats needed its cells, and its state was not saved.")
        case PrefixEnd.DOUBTED:
            return tr("Its saved state failed its checks and was not used.")


def what_to_do(lease: Lease, model: ModelInfo | None) -> str:
    match lease.prefix_end:
        case PrefixEnd.EDITED:
            return tr("Fork the chat before editing it: both versions then keep their cells.")
        case PrefixEnd.TEMPLATE:
            return tr(
                "Nothing is wrong with the chat. A chat template that leaves earlier turns unchanged "
                "avoids this."
            )
        case PrefixEnd.DROPPED:
            return tr(
                "A larger context (Context settings, --ctx) or a higher limit for this chat delays this."
            )
        case PrefixEnd.NO_ROLLBACK if not (model and model.takes_checkpoints):
            return tr(
                "Continue at the end of such a chat: editing or forking it recomputes the whole prompt."
            )
        case PrefixEnd.EVICTED:
            return tr("Pin the chat, or use a larger context (Context settings, --ctx).")
        case PrefixEnd.DOUBTED:
            return tr("Nothing to do: the answer is right, it only took longer.")
        case _:
            return tr("Nothing to do.")


def what_it_cost(lease: Lease, prompt_s: float) -> str:
    """`prompt_s` 0: not known, or not over."""
    computed = count(lease.num_tokens_to_compute)
    if had := num_had(lease):
        computed = tr("{part} of {whole}", part=computed, whole=count(num_prompt_tokens(lease)))
    if not prompt_s:
        return tr("{computed} prompt tokens computed.", computed=computed)
    text = tr("{computed} prompt tokens computed in {time}.", computed=computed, time=seconds(prompt_s))
    if not lease.is_from_checkpoint or not lease.num_tokens_to_compute:
        return text
    saved_s = prompt_s * had / lease.num_tokens_to_compute
    return " ".join(
        (text, tr("A checkpoint saved {tokens}, about {time}.", tokens=tokens(had), time=seconds(saved_s)))
    )


def _memory(model: ModelInfo | None) -> str:
    if model and model.n_swa:
        return tr("the memory of a model with a sliding window")
    return tr("the running state of a recurrent model") if model else tr("this model's memory")


def parts_of(lease: Lease) -> tuple[tuple[str, int], ...]:
    return (
        (mark("reused"), lease.num_reused_tokens),
        (mark("shared"), lease.num_shared_tokens),
        (mark("restored"), lease.num_restored_tokens),
        (mark("computed"), lease.num_tokens_to_compute),
    )


class SourceBar(QWidget):
    """The prompt as one bar: tokens reused, shared, restored and computed, with their numbers."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._parts: tuple[tuple[str, int], ...] = ()
        self.setFont(tabular(small_font()))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(tr("Source of the prompt's tokens"))

    def apply(self, lease: Lease) -> None:
        parts = parts_of(lease)
        if parts != self._parts:
            self._parts = parts
            self.setAccessibleDescription(self.text)
            self.update()

    @property
    def text(self) -> str:
        return ", ".join(f"{tr(name)} {count(number)}" for name, number in self._parts)

    def sizeHint(self) -> QSize:
        return QSize(200, BAR_HEIGHT + LEGEND_HEIGHT)

    def paintEvent(self, _event: QPaintEvent) -> None:
        total = sum(number for _, number in self._parts)
        if not total:
            return
        tokens = current()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        outline = QPainterPath()
        bar = QRectF(0.5, 0.5, self.width() - 1, BAR_HEIGHT - 1)
        outline.addRoundedRect(bar, 4, 4)
        painter.save()
        painter.setClipPath(outline)
        left = bar.left()
        for name, number in self._parts:
            width = bar.width() * number / total
            _fill(painter, QRectF(left, bar.top(), width, bar.height()), name, tokens)
            left += width
        painter.restore()
        painter.setPen(QColor(tokens.hairline))
        painter.drawPath(outline)
        self._paint_legend(painter, total, tokens)

    def _paint_legend(self, painter: QPainter, total: int, tokens: Tokens) -> None:
        column = self.width() / len(self._parts)
        for index, (name, number) in enumerate(self._parts):
            left = index * column
            swatch = QRectF(left + 0.5, BAR_HEIGHT + 7.5, SWATCH, SWATCH)
            _fill(painter, swatch, name, tokens)
            painter.setPen(QColor(tokens.hairline))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(swatch)
            place = QRectF(left + SWATCH + 6, BAR_HEIGHT + 2, column - SWATCH - 6, LEGEND_HEIGHT - 2)
            painter.setPen(QColor(tokens.muted))
            shown = tr(name)
            painter.drawText(place, Qt.AlignmentFlag.AlignVCenter, shown)
            painter.setPen(QColor(tokens.text))
            after = place.adjusted(painter.fontMetrics().horizontalAdvance(shown + "  "), 0, 0, 0)
            text = f"{count(number)}  {percent(number, total)}" if number else "0"
            painter.drawText(after, Qt.AlignmentFlag.AlignVCenter, text)


def _fill(painter: QPainter, rect: QRectF, name: str, tokens: Tokens) -> None:
    """Shared is hatched, here as everywhere."""
    colour = QColor(tokens.warning if name == "computed" else tokens.accent)
    if name in ("shared", "restored"):
        tint = QColor(colour)
        tint.setAlphaF(0.18 if name == "shared" else 0.5)
        painter.fillRect(rect, tint)
        if name == "shared":
            painter.fillRect(rect, QBrush(colour, Qt.BrushStyle.BDiagPattern))
    else:
        painter.fillRect(rect, colour)


class PartingView(QWidget):
    """Two rows of tokens, held and wanted: equal up to a vertical line, different after it."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._common: Sequence[str] = ()
        self._lines: tuple[tuple[str, Sequence[str]], ...] = ()
        self.setFont(code_font())
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(tr("Where the prompt differs from the cached one"))

    def apply(self, common: Sequence[str], held: Sequence[str], wanted: Sequence[str]) -> None:
        lines = ((HELD, held), (WANTED, wanted))
        if (common, lines) != (self._common, self._lines):
            self._common, self._lines = common, lines
            self.setAccessibleDescription(self.text)
            self.update()

    @property
    def text(self) -> str:
        start = " ".join(self._common)
        return "\n".join(f"{tr(name)}: {start} | {' '.join(tokens)}" for name, tokens in self._lines)

    def sizeHint(self) -> QSize:
        return QSize(200, 2 * LINE_HEIGHT)

    def paintEvent(self, _event: QPaintEvent) -> None:
        tokens = current()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        parting = self._parting()
        for number, (name, line) in enumerate(self._lines):
            top = number * LINE_HEIGHT + (LINE_HEIGHT - CHIP_HEIGHT) / 2
            painter.setFont(small_font())
            painter.setPen(QColor(tokens.muted))
            place = QRectF(0, top, NAME_WIDTH, CHIP_HEIGHT)
            painter.drawText(place, Qt.AlignmentFlag.AlignVCenter, tr(name))
            painter.setFont(self.font())
            self._paint_common(painter, top, parting, tokens)
            self._paint_rest(painter, line, top, parting, name == WANTED, tokens)
        if self._lines:
            painter.fillRect(round(parting), 2, 1, 2 * LINE_HEIGHT - 4, QColor(tokens.text))

    def _parting(self) -> float:
        """Where the line stands: as far right as the common tokens need, but not beyond the middle."""
        needed = sum(self._chip_width(text) + GAP for text in self._common) + NAME_WIDTH + GAP
        return min(needed, max(self.width() * 0.5, NAME_WIDTH + GAP))

    def _paint_common(self, painter: QPainter, top: float, parting: float, tokens: Tokens) -> None:
        """From the line to the left, as many as there is room for."""
        right = parting - GAP - 2
        for text in reversed(self._common):
            width = self._chip_width(text)
            if right - width < NAME_WIDTH:
                return
            _paint_chip(painter, QRectF(right - width, top, width, CHIP_HEIGHT), text, tokens.muted, tokens)
            right -= width + GAP

    def _paint_rest(
        self,
        painter: QPainter,
        line: Sequence[str],
        top: float,
        parting: float,
        is_wanted: bool,
        tokens: Tokens,
    ) -> None:
        left = parting + GAP + 2
        if not line:
            painter.setPen(QColor(tokens.muted))
            rest = QRectF(left, top, self.width() - left, CHIP_HEIGHT)
            painter.drawText(rest, Qt.AlignmentFlag.AlignVCenter, tr("end"))
        for text in line:
            width = self._chip_width(text)
            if left + width > self.width():
                return
            colour = tokens.accent if is_wanted else tokens.text
            _paint_chip(painter, QRectF(left, top, width, CHIP_HEIGHT), text, colour, tokens)
            left += width + GAP

    def _chip_width(self, text: str) -> float:
        return self.fontMetrics().horizontalAdvance(text) + 10


def _paint_chip(painter: QPainter, rect: QRectF, text: str, colour: str, tokens: Tokens) -> None:
    paint_rounded(painter, rect, 4, fill=tokens.raised)
    painter.setPen(QColor(colour))
    painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, text)
