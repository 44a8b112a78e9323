"""The parts of an answer before its last one: what the model wrote, and a card for each call. GUI thread.

They never hold the window: what takes longer than a frame is made in those that follow.
"""

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from app.chats.thinking import Split
from app.chats.tool_use import ToolRound
from app.ui.base.frame_budget import frame_budget
from app.ui.message.answer_body import AnswerBody
from app.ui.message.markdown_column import discard
from app.ui.message.text_part import TextPart
from app.ui.message.tool_card import DetailsOf, ToolCard
from app.ui.message.tool_words import Naming, label_of

GAP = 10
CARD_GAP = 6


class ToolRoundsView(QWidget):
    height_changed = Signal()
    decided = Signal(object, object)  # the ToolUse, a Decision

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.naming: Naming = lambda _name: None
        self.details_of: DetailsOf = lambda _use, _card: None
        self._zoom = 0
        self._is_plain = False
        self._rounds: Sequence[ToolRound] = ()
        self._is_growing = False
        self._parts: list[_RoundParts] = []  # of the first rounds; the others have to wait

    @property
    def cards(self) -> list[ToolCard]:
        return [card for part in self._parts for card in part.cards]

    def apply(self, rounds: Sequence[ToolRound], is_growing: bool) -> bool:
        """Whether its height may have changed. The last one may still be written."""
        self._rounds, self._is_growing = rounds, is_growing
        return self._go_on()

    def _on_turn(self) -> None:
        self._go_on()
        self.height_changed.emit()

    def _go_on(self, *, is_hurried: bool = False) -> bool:
        """Makes one round at least, and others until the frame is spent. Whether something has changed."""
        num_before, has_changed = len(self._parts), len(self._parts) > len(self._rounds)
        while len(self._parts) > len(self._rounds):
            self._parts.pop().discard()
        for number, each in enumerate(self._rounds):
            if number == len(self._parts):
                if number > num_before and frame_budget().is_spent and not is_hurried:
                    break
                self._parts.append(_RoundParts(self))
            is_growing = self._is_growing and number == len(self._rounds) - 1 and not each.uses
            has_changed |= self._parts[number].apply(each, is_growing, self.naming, is_hurried)
        if not self._is_whole:
            frame_budget().wait(self, self._on_turn)
        return has_changed

    @property
    def _is_whole(self) -> bool:
        return len(self._parts) == len(self._rounds) and all(part.is_whole for part in self._parts)

    def finish(self) -> None:
        """Makes what is left of it, at once."""
        if not self._is_whole:
            self._go_on(is_hurried=True)
        for part in self._parts:
            part.body.column.finish()

    def plain_text(self) -> str:
        self.finish()
        return "\n".join(text for part in self._parts if (text := part.body.plain_text()))

    @property
    def shows_thinking(self) -> bool:
        return any(part.body.shows_thinking for part in self._parts)

    def text_parts(self) -> list[TextPart]:
        return [found.under(number) for number, part in enumerate(self._parts) for found in part.text_parts()]

    def show_match(self, query: str) -> None:
        self.finish()
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
        card = ToolCard(self, self.details_of)
        card.set_zoom(self._zoom)
        card.height_changed.connect(self.height_changed)
        card.decided.connect(self.decided)
        card.show()
        return card


class _RoundParts:
    """The views of one round."""

    def __init__(self, page: ToolRoundsView) -> None:
        self._page = page
        self._shown: tuple[object, ...] | None = None
        self.body = page.new_body()
        self.cards: list[ToolCard] = []
        self.is_whole = False

    def apply(self, each: ToolRound, is_growing: bool, naming: Naming, is_hurried: bool) -> bool:
        """Whether something has changed. Cards that have to wait are not there yet."""
        shown = (each, len(each.content), len(each.reasoning), is_growing)
        has_changed = shown != self._shown or len(each.uses) != len(self.cards)
        if shown != self._shown:
            self._shown = shown
            is_thinking = bool(each.reasoning) and not each.content
            show = self.body.show_growing if is_growing else self.body.show_whole
            show(Split(each.reasoning, each.content, is_thinking))
        while len(self.cards) > len(each.uses):
            discard(self.cards.pop())
        while len(self.cards) < len(each.uses):
            self.cards.append(self._page.new_card())
            if frame_budget().is_spent and not is_hurried:
                break
        self.is_whole = len(self.cards) == len(each.uses)
        for card, use in zip(self.cards, each.uses, strict=False):
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
