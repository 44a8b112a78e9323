"""Why one request computed what it did, in sentences, and its prompt as pictures.

GUI thread.
"""

from collections.abc import Sequence

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QBrush, QColor, QPainter, QPainterPath, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.inspector.recording import LeasedPrompt
from app.look.figures import count, percent, percents, seconds, tokens
from app.look.fonts import code_font, small_font, tabular
from app.look.painted import flowed, paint_rounded
from app.look.tokens import Tokens, current
from app.look.words import mark, sentences, tr
from app.protocol.model import ModelInfo
from app.protocol.output import CHANGES, PrefixEnd
from app.protocol.report import Lease

BAR_HEIGHT = 14
LEGEND_HEIGHT = 22
LEGEND_SPACE = 14
SWATCH = 9
CHIP_HEIGHT = 20
LINE_HEIGHT = 26
NAME_WIDTH = 56
GAP = 3
HELD, WANTED = mark("cached"), mark("wanted")
READ_AHEAD, NOT_COMPUTED = mark("read ahead"), mark("not computed")
HEADS = {
    PrefixEnd.NEW_CHAT: mark("Nothing of this chat was cached"),
    PrefixEnd.NEW_TEXT: mark("All that was cached was reused"),
    PrefixEnd.SAME: mark("The whole prompt was cached"),
    PrefixEnd.RESUMED: mark("A paused answer went on"),
    PrefixEnd.SUMMED_UP: mark("Earlier messages were summed up, or their summary was removed"),
    PrefixEnd.EDITED: mark("An earlier message was edited, removed or exchanged"),
    PrefixEnd.ANSWER: mark("The last answer was edited, exchanged, or sent without its reasoning"),
    PrefixEnd.SYSTEM: mark("The system prompt changed"),
    PrefixEnd.TOOLS: mark("Other tools are offered"),
    PrefixEnd.OPTIONS: mark("The template was given other options"),
    PrefixEnd.TEMPLATE: mark("The chat template rewrote the history"),
    PrefixEnd.DIFFERENT: mark("Another prompt"),
    PrefixEnd.REPLACED: mark("Cells had been given up while reading ahead"),
    PrefixEnd.DROPPED: mark("Turns were left out"),
    PrefixEnd.NOT_USED: mark("Some of what was cached could not be used"),
    PrefixEnd.NO_ROLLBACK: mark("The model cannot remove a tail"),
    PrefixEnd.CHECKPOINT: mark("Went back to a checkpoint"),
    PrefixEnd.EVICTED: mark("Its cells were freed, and its state was not saved"),
    PrefixEnd.LOST: mark("Its saved state was dropped: there was no room"),
    PrefixEnd.CLEARED: mark("Its cells were cleared"),
    PrefixEnd.DOUBTED: mark("Its saved state could not be used"),
}
_PARTED = mark("The prompts differ after {tokens}.")
_HAPPENED = {
    PrefixEnd.NEW_TEXT: mark("The rest was not cached."),
    PrefixEnd.SAME: mark("Its last token is computed all the same: sampling needs its logits."),
    **dict.fromkeys(CHANGES, _PARTED),
    PrefixEnd.REPLACED: mark("What was read ahead differed after {tokens}."),
    PrefixEnd.DROPPED: mark(
        "The chat no longer fits its context, so turns after the first {tokens} were left out."
    ),
    PrefixEnd.NOT_USED: mark("The first {tokens} are the same."),
    PrefixEnd.NO_ROLLBACK: mark("The first {tokens} are the same, but {memory} cannot be cut back to them."),
    PrefixEnd.CHECKPOINT: mark(
        "The first {tokens} are the same, but {memory} can be cut back to checkpoints only, and the nearest "
        "is after {kept}."
    ),
}
_REMEDIES = {
    PrefixEnd.EDITED: mark("Fork the chat before editing it: both versions then keep their cells."),
    PrefixEnd.TEMPLATE: mark(
        "Nothing is wrong with the chat. A chat template that leaves earlier turns unchanged avoids this."
    ),
    PrefixEnd.DROPPED: mark(
        "A larger context (Context settings, --ctx) or a higher limit for this chat delays this."
    ),
    PrefixEnd.NO_ROLLBACK: mark(
        "Continue at the end of such a chat: editing or forking it recomputes the whole prompt."
    ),
    PrefixEnd.EVICTED: mark("Pin the chat, or use a larger context (Context settings, --ctx)."),
    PrefixEnd.DOUBTED: mark("Nothing to do: the answer is right, it only took longer."),
}


def num_prompt_tokens(lease: Lease) -> int:
    return num_had(lease) + lease.num_tokens_to_compute


def num_had(lease: Lease) -> int:
    """Tokens that needed no computing."""
    return lease.num_reused_tokens + lease.num_shared_tokens + lease.num_restored_tokens


def share_text(lease: Lease) -> str:
    return percent(num_had(lease), num_prompt_tokens(lease))


def head_of(prefix_end: PrefixEnd, *, is_ahead: bool, num_ahead: int, num_cached: int) -> str:
    """Why so much of a prompt was computed, or that it was not sent yet."""
    if is_ahead:
        return tr("Read ahead")
    if prefix_end is PrefixEnd.NEW_CHAT and num_ahead == num_cached > 0:
        return tr("Only what had been read ahead was cached")
    return tr(HEADS[prefix_end])


def head_of_lease(lease: Lease) -> str:
    is_ahead, num_ahead = lease.is_ahead, lease.num_ahead_tokens
    return head_of(lease.prefix_end, is_ahead=is_ahead, num_ahead=num_ahead, num_cached=num_had(lease))


def what_happened(lease: Lease, model: ModelInfo | None) -> str:
    """What the head does not say."""
    ahead = had = ""
    if lease.is_ahead:
        told = tr("What the next message begins with was computed before it was sent.")
        ahead = sentences(told, tr("{text}.", text=tr(HEADS[lease.prefix_end])))
    if lease.num_ahead_tokens:
        had = tr("{tokens} had been read ahead.", tokens=tokens(lease.num_ahead_tokens))
    if lease.prefix_end is PrefixEnd.NEW_CHAT:
        return sentences(ahead, _from_others(lease), had)
    figures = {"tokens": tokens(lease.num_common_tokens), "kept": tokens(num_had(lease))}
    why = tr(_HAPPENED.get(lease.prefix_end, ""), memory=_memory(model), **figures)
    return sentences(ahead, why, had)


def _from_others(lease: Lease) -> str:
    if lease.num_shared_tokens:
        return tr("Another chat begins the same way.")
    if lease.num_restored_tokens and not lease.num_ahead_tokens:
        return tr("The state of its shelf was saved.")
    return tr("Nothing of another chat was used.")


def what_to_do(lease: Lease, model: ModelInfo | None) -> str:
    if lease.prefix_end is PrefixEnd.NO_ROLLBACK and model and model.takes_checkpoints:
        return tr("Nothing to do.")
    return tr(_REMEDIES.get(lease.prefix_end, mark("Nothing to do.")))


def what_it_cost(prompt: LeasedPrompt, *, is_running: bool = False) -> str:
    lease, had = prompt.lease, num_had(prompt.lease)
    computed, time = count(prompt.num_computed), seconds(prompt.decode_ms / 1000)
    if prompt.num_computed < num_prompt_tokens(lease):
        computed = tr("{part} of {whole}", part=computed, whole=count(num_prompt_tokens(lease)))
    told = mark("{computed} prompt tokens computed in {time}.")
    parts = [
        tr(
            told if prompt.num_computed else "{computed} prompt tokens computed.",
            computed=computed,
            time=time,
        )
    ]
    if prompt.num_missing and not is_running:
        parts.append(tr("It was broken off before the other {tokens}.", tokens=tokens(prompt.num_missing)))
    if lease.is_from_checkpoint and prompt.num_computed:
        saved = seconds(prompt.decode_ms / 1000 * had / prompt.num_computed)
        parts.append(tr("A checkpoint saved {tokens}, about {time}.", tokens=tokens(had), time=saved))
    return " ".join(parts)


def _memory(model: ModelInfo | None) -> str:
    if model and model.n_swa:
        return tr("the memory of a model with a sliding window")
    return tr("the running state of a recurrent model") if model else tr("this model's memory")


def parts_of(prompt: LeasedPrompt) -> tuple[tuple[str, int], ...]:
    """All of the prompt, without what is nothing: its parts add up to it."""
    lease = prompt.lease
    # A prompt has one source, beside which may be read ahead: that is in the chat's own cells, or saved.
    parts = (
        (mark("reused"), lease.num_reused_tokens and lease.num_reused_tokens - lease.num_ahead_tokens),
        (mark("shared"), lease.num_shared_tokens),
        (mark("restored"), lease.num_restored_tokens and lease.num_restored_tokens - lease.num_ahead_tokens),
        (READ_AHEAD, lease.num_ahead_tokens),
        (mark("computed"), prompt.num_computed),
        (NOT_COMPUTED, prompt.num_missing),
    )
    return tuple((name, number) for name, number in parts if number)


class SourceBar(QWidget):
    """The prompt as one bar: tokens reused, shared, restored and computed, with their numbers."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._parts: tuple[tuple[str, int], ...] = ()
        self.setFont(tabular(small_font()))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(tr("Source of the prompt's tokens"))

    def apply(self, prompt: LeasedPrompt) -> None:
        parts = parts_of(prompt)
        if parts != self._parts:
            self._parts = parts
            self.setAccessibleDescription(self.text)
            self.updateGeometry()
            self.update()

    @property
    def text(self) -> str:
        return ", ".join(f"{tr(name)} {count(number)}" for name, number in self._parts)

    def sizeHint(self) -> QSize:
        return QSize(200, self.heightForWidth(self.width()))

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        """Its legend has as many lines as it takes."""
        lines = (place.bottom() for _, _, place in self._legend(width))
        return round(max(lines, default=BAR_HEIGHT + LEGEND_HEIGHT))

    def _legend(self, width: int) -> list[tuple[str, str, QRectF]]:
        """Name and figure of each part, and its place."""
        shares = percents(*(number for _, number in self._parts))
        told = [
            (name, f"{count(number)}  {share}")
            for (name, number), share in zip(self._parts, shares, strict=True)
        ]
        metrics = self.fontMetrics()
        widths = [SWATCH + 6 + metrics.horizontalAdvance(f"{tr(name)}  {figure}") for name, figure in told]
        places = flowed(widths, width, LEGEND_SPACE, LEGEND_HEIGHT)
        return [
            (name, figure, place.translated(0, BAR_HEIGHT))
            for (name, figure), place in zip(told, places, strict=True)
        ]

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
        self._paint_legend(painter, tokens)

    def _paint_legend(self, painter: QPainter, tokens: Tokens) -> None:
        for name, figure, place in self._legend(self.width()):
            swatch = QRectF(place.left() + 0.5, place.top() + 7.5, SWATCH, SWATCH)
            _fill(painter, swatch, name, tokens)
            painter.setPen(QColor(tokens.hairline))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(swatch)
            text = place.adjusted(SWATCH + 6, 2, 0, 0)
            painter.setPen(QColor(tokens.muted))
            painter.drawText(text, Qt.AlignmentFlag.AlignVCenter, tr(name))
            painter.setPen(QColor(tokens.text))
            painter.drawText(text, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, figure)


def _fill(painter: QPainter, rect: QRectF, name: str, tokens: Tokens) -> None:
    """Shared is hatched, here as everywhere. What was not computed is the page."""
    colour = QColor(tokens.warning if name == "computed" else tokens.accent)
    tint = QColor(colour)
    tint.setAlphaF({"shared": 0.18, "restored": 0.5, READ_AHEAD: 0.18, NOT_COMPUTED: 0}.get(name, 1))
    painter.fillRect(rect, tint)
    patterns = {"shared": Qt.BrushStyle.BDiagPattern, READ_AHEAD: Qt.BrushStyle.Dense5Pattern}
    if pattern := patterns.get(name):
        painter.fillRect(rect, QBrush(colour, pattern))


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
