"""The share of the context used by this chat and its draft, as a bar and numbers. GUI thread."""

import math
from dataclasses import dataclass

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.bridge.chat_shelf import ChatShelf
from app.chats.chat import Chat
from app.look.figures import count
from app.look.fonts import small_font, tabular
from app.look.plain_text import as_table
from app.look.tokens import current
from app.look.words import mark, tr
from app.protocol.output import NO_USAGE
from app.protocol.report import SlotSnapshot
from app.protocol.request import Overflow

_FORECASTS = {
    Overflow.SUM_UP: mark("Earlier messages will be summed up to make room for this message."),
    Overflow.STOP: mark(
        "Too long for this chat: about {total} tokens, and {limit} fit. In the chat settings, "
        "choose what to leave out, or start a new chat."
    ),
    Overflow.ROLLING_WINDOW: mark("The oldest turns will be left out to make room for this message."),
    Overflow.TRUNCATE_MIDDLE: mark("Turns in the middle will be left out to make room for this message."),
}
_MIDDLE_ALONE = mark("The middle of this message will be left out: about {draft} tokens, and {limit} fit.")
_TOO_LONG_ALONE = mark(
    "This message alone is too long: about {draft} tokens, and {limit} fit. Shorten it, or choose "
    "“Truncate the middle” in the chat settings."
)


@dataclass(frozen=True, slots=True)
class ContextFigures:
    """Tokens. `cached` is the part of `used` that the next answer does not compute again."""

    used: int = 0
    cached: int = 0
    draft: int = 0
    limit: int = 0  # 0: no model
    tools: int = 0  # of each prompt: what describes the tools that are on
    are_tools_listed: bool = False  # by name: their descriptions need too much
    is_estimated: bool = False  # the draft, for a model on another machine, or a very long one
    is_used_estimated: bool = False  # some of it no prompt has had so far

    @property
    def total(self) -> int:
        return self.used + self.draft


def num_used(chat: Chat, slot: SlotSnapshot | None) -> int:
    """While it is answered, what its slot will hold, else the total of its last answer.

    What was read ahead is the draft's, or of a text that is erased by now.
    """
    if slot is not None and slot.is_running:
        return num_held(slot) + slot.num_pending_tokens
    num_measured = _num_measured(chat)
    usage = chat.turns[num_measured - 1].usage if num_measured else NO_USAGE
    return usage.num_prompt_tokens + usage.num_generated_tokens


def _num_measured(chat: Chat) -> int:
    """The turns up to the last answer whose prompt began as the next one will, if there is such an answer."""
    begin = chat.num_summed_up()
    summary = chat.turns[begin - 1].used_summary if begin else None
    since = summary.created_at if summary else -math.inf
    for index in range(len(chat.turns), begin, -1):
        turn = chat.turns[index - 1]
        if turn.usage.num_prompt_tokens and turn.usage.num_summed_up == begin and turn.created_at > since:
            return index
    return 0


def num_held(slot: SlotSnapshot | None) -> int:
    """Its tokens. A picture may take fewer positions than cells, a sliding window fewer cells."""
    return max(slot.pos_max + 1, slot.num_cells) if slot else 0


def never_computed(chat: Chat, shelf: ChatShelf) -> str:
    """What no prompt has had so far: the last turns, where they were inserted, edited or imported; or all."""
    if begin := _num_measured(chat):
        texts = [turn.message_text for turn in chat.turns[begin:]]
    else:
        texts = [shelf.text, *(message.content for message in chat.messages())]
    return "\n\n".join(filter(None, texts))


def figures_text(figures: ContextFigures) -> str:
    if not figures.limit:
        return ""
    used, draft, limit = count(figures.used), count(figures.draft), count(figures.limit)
    if figures.draft:
        return tr("{used} + {draft} / {limit}", used=used, draft=draft, limit=limit)
    return tr("{used} / {limit}", used=used, limit=limit)


def rows(figures: ContextFigures) -> tuple[tuple[str, str, str], ...]:
    """Each figure: its name, its number, and what it means."""
    does = tr("tokens of each prompt describe tools")
    if figures.are_tools_listed:
        does = tr(
            "tokens of each prompt list the tools by name: their descriptions need too much of the context"
        )
    draft = _about(figures.draft, is_estimated=figures.is_estimated)
    tools = ((tr("Tools"), count(figures.tools), does),)
    return (
        (
            tr("Used"),
            _about(figures.used, is_estimated=figures.is_used_estimated),
            tr("tokens of the last prompt, its answer, and what was added since"),
        ),
        (tr("cached"), count(figures.cached), tr("of them are cached")),
        (tr("Draft"), draft, tr("tokens this message and its files will add")),
        *(tools if figures.tools else ()),
        (tr("Limit"), count(figures.limit), tr("tokens this chat can have")),
    )


def _about(num_tokens: int, *, is_estimated: bool) -> str:
    return tr("about {tokens}", tokens=count(num_tokens)) if is_estimated else count(num_tokens)


def forecast(figures: ContextFigures, overflow: Overflow) -> str:
    """The effect of sending the draft; empty if it fits."""
    if not figures.limit or not figures.draft or figures.total < figures.limit:
        return ""
    text = _FORECASTS[overflow]
    if figures.draft >= figures.limit:
        text = _MIDDLE_ALONE if overflow is Overflow.TRUNCATE_MIDDLE else _TOO_LONG_ALONE
    total, draft, limit = count(figures.total), count(figures.draft), count(figures.limit)
    return tr(text, total=total, draft=draft, limit=limit)


BAR_WIDTH, MIN_BAR_WIDTH, BAR_HEIGHT = 72, 24, 6
GAP = 10
TONES = (1.0, 0.6, 0.3)  # cached, used, draft
NEARLY_FULL = 0.9


class ContextMeter(QWidget):
    """Three tones: cached, used but to be computed again, and what the draft will add."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.figures = ContextFigures()
        self.setFont(tabular(small_font()))
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(tr("Context used"))

    @property
    def text(self) -> str:
        return figures_text(self.figures)

    def apply(self, figures: ContextFigures) -> None:
        if figures == self.figures:
            return
        size = self.sizeHint()
        self.figures = figures
        told = rows(figures) if figures.limit else ()
        self.setToolTip(as_table(told) if told else "")
        self.setAccessibleDescription(", ".join(" ".join(row) for row in told))
        if self.sizeHint() != size:  # else Qt would lay out the whole window for each token
            self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        """The width of the fullest meter, so that it never changes."""
        limit = self.figures.limit
        if not limit:
            return QSize(0, 0)
        metrics = self.fontMetrics()
        widest = figures_text(ContextFigures(limit, limit, limit if self.figures.draft else 0, limit))
        return QSize(BAR_WIDTH + GAP + metrics.horizontalAdvance(widest) + 2, metrics.height() + 4)

    def minimumSizeHint(self) -> QSize:
        """Without the bar, where there is no room for both."""
        size = self.sizeHint()
        return QSize(max(0, size.width() - BAR_WIDTH - GAP), size.height())

    def paintEvent(self, _event: QPaintEvent) -> None:
        if not self.figures.limit:
            return
        text_width = self.fontMetrics().horizontalAdvance(self.text)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QColor(current().muted))
        painter.drawText(self.rect(), Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, self.text)
        width = min(BAR_WIDTH, self.width() - text_width - GAP)
        if width >= MIN_BAR_WIDTH:
            left = self.width() - text_width - GAP - width
            self._paint_bar(painter, QRectF(left, (self.height() - BAR_HEIGHT) / 2, width, BAR_HEIGHT))

    def _paint_bar(self, painter: QPainter, bar: QRectF) -> None:
        tokens, figures = current(), self.figures
        shape = QPainterPath()
        shape.addRoundedRect(bar, BAR_HEIGHT / 2, BAR_HEIGHT / 2)
        painter.setClipPath(shape)
        painter.fillRect(bar, QColor(tokens.hairline))
        is_nearly_full = figures.total >= NEARLY_FULL * figures.limit
        colour = QColor(tokens.warning if is_nearly_full else tokens.accent)
        ends = (figures.cached, figures.used, figures.total)
        for start, end, strength in zip((0, *ends), ends, TONES, strict=False):
            colour.setAlphaF(strength)
            self._paint_part(painter, bar, start, end, colour)

    def _paint_part(self, painter: QPainter, bar: QRectF, start: int, end: int, colour: QColor) -> None:
        if end > start:
            scale = bar.width() / self.figures.limit
            left = bar.left() + min(start * scale, bar.width())
            right = bar.left() + min(max(end * scale, start * scale + 2), bar.width())
            painter.fillRect(QRectF(left, bar.top(), right - left, bar.height()), colour)
