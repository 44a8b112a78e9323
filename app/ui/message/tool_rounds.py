"""The parts of an answer before its last one: what the model wrote, and a card for each call. GUI thread."""

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from app.chats.tool_use import ToolRound
from app.ui.message.answer_body import AnswerBody
from app.ui.message.markdown_column import discard
from app.ui.message.text_part import TextPart
from app.ui.message.tool_card import ToolCard
from app.ui.message.tool_words import Naming, label_of

GAP = 10
CARD_GAP = 6


class ToolRounds(QWidget):
    height_changed = Signal()
    decided = Signal(object, object)  # the ToolUse, a Decision

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.naming: Naming = lambda _name: None
        self._zoom = 0
        self._is_plain = False
        self._parts: list[_RoundParts] = []

    @property
    def cards(self) -> list[ToolCard]:
        return [card for part in self._parts for card in part.cards]

    def apply(self, rounds: Sequence[ToolRound], is_growing: bool) -> bool:
        """Whether its height may have changed. The last one may still be written."""
        has_changed = len(rounds) != len(self._parts)
        while len(self._parts) > len(rounds):
            self._parts.pop().discard()
        while len(self._parts) < len(rounds):
            self._parts.append(_RoundParts(self))
        for number, (part, each) in enumerate(zip(self._parts, rounds, strict=True)):
            is_last = number == len(rounds) - 1
            has_changed |= part.apply(each, is_growing and is_last and not each.uses, self.naming)
        return has_changed

    def finish(self) -> None:
        for part in self._parts:
            part.body.column.finish()

    def plain_text(self) -> str:
        return "\n".join(text for part in self._parts if (text := part.body.plain_text()))

    def text_parts(self) -> list[TextPart]:
        return [found.under(number) for number, part in enumerate(self._parts) for found in part.text_parts()]

    def show_match(self, query: str) -> None:
        for card in self.cards:
            card.show_match(query)

    def set_plain(self, is_plain: bool) -> None:
        self._is_plain = is_plain
        for part in self._parts:
            part.body.set_plain(is_plain)
            part.forget()

    def set_zoom(self, zoom: int) -> None:
        self._zoom = zoom
        for part in self._parts:
            part.set_zoom(zoom)

    def arrange(self, width: int) -> int:
        """Returns the height, 0 without rounds."""
        y = 0
        for part in self._parts:
            y += GAP if y else 0
            y = part.arrange(width, y)
        self.setFixedSize(width, y)
        return y

    def new_body(self) -> AnswerBody:
        body = AnswerBody(self)
        body.set_zoom(self._zoom)
        body.set_plain(self._is_plain)
        body.height_changed.connect(self.height_changed)
        body.show()
        return body

    def new_card(self) -> ToolCard:
        card = ToolCard(self)
        card.set_zoom(self._zoom)
        card.height_changed.connect(self.height_changed)
        card.decided.connect(self.decided)
        card.show()
        return card


class _RoundParts:
    """The views of one round."""

    def __init__(self, page: ToolRounds) -> None:
        self._page = page
        self._shown: tuple[object, ...] | None = None
        self.body = page.new_body()
        self.cards: list[ToolCard] = []

    def apply(self, each: ToolRound, is_growing: bool, naming: Naming) -> bool:
        shown = (each, len(each.content), len(each.reasoning), is_growing)
        has_changed = shown != self._shown or len(each.uses) != len(self.cards)
        if shown != self._shown:
            self._shown = shown
            self.body.show_read(each.reasoning, each.content, is_growing)
        while len(self.cards) > len(each.uses):
            discard(self.cards.pop())
        while len(self.cards) < len(each.uses):
            self.cards.append(self._page.new_card())
        for card, use in zip(self.cards, each.uses, strict=True):
            has_changed |= card.apply(use, label_of(use, naming))
        return has_changed

    def forget(self) -> None:
        self._shown = None

    def discard(self) -> None:
        for view in (self.body, *self.cards):
            discard(view)

    def text_parts(self) -> list[TextPart]:
        """What was written, then the cards."""
        cards = [part.under(1, n) for n, card in enumerate(self.cards) for part in card.text_parts()]
        return [*(part.under(0) for part in self.body.text_parts()), *cards]

    def set_zoom(self, zoom: int) -> None:
        self.body.set_zoom(zoom)
        for card in self.cards:
            card.set_zoom(zoom)

    def arrange(self, width: int, y: int) -> int:
        self.body.move(0, y)
        if height := self.body.arrange(width):
            y += height + (GAP if self.cards else 0)
        for number, card in enumerate(self.cards):
            y += CARD_GAP if number else 0
            card.move(0, y)
            y += card.arrange(width)
        return y
