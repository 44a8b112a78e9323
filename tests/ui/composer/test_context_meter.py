import time
from collections.abc import Iterator

import pytest
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from app.chats.attachment import Attachment
from app.chats.chat import Chat, Turn
from app.chats.summary import ASKED, Summary
from app.look.tokens import current
from app.protocol.output import Usage
from app.protocol.report import SlotSnapshot, SlotState
from app.protocol.request import Overflow, Role
from app.ui.composer.context_meter import (
    BAR_WIDTH,
    GAP,
    ContextFigures,
    ContextMeter,
    figures_text,
    forecast,
    never_computed,
    num_used,
    rows,
)


@pytest.fixture
def meter(qtbot: QtBot) -> Iterator[ContextMeter]:
    parent = QWidget()
    qtbot.addWidget(parent)
    meter = ContextMeter(parent)
    parent.show()
    yield meter


def colours(meter: ContextMeter) -> list[QColor]:
    """Of the bar, from left to right, without its rounded ends."""
    meter.resize(meter.sizeHint())
    image = meter.grab().toImage()
    left = meter.width() - meter.fontMetrics().horizontalAdvance(meter.text) - GAP - BAR_WIDTH
    return [image.pixelColor(left + x, meter.height() // 2) for x in range(4, BAR_WIDTH - 4)]


def test_it_keeps_its_width_while_it_fills(meter: ContextMeter) -> None:
    meter.apply(ContextFigures(412, 400, limit=4096))
    width = meter.sizeHint().width()
    assert meter.text == "412 / 4,096"
    meter.apply(ContextFigures(4096, 400, limit=4096))
    assert meter.sizeHint().width() == width


def test_the_bar_has_three_tones_in_their_order(meter: ContextMeter) -> None:
    meter.apply(ContextFigures(used=200, cached=100, draft=100, limit=400))
    seen = colours(meter)
    tones = [colour for n, colour in enumerate(seen) if colour not in seen[:n] and seen.count(colour) > 8]
    assert len(tones) == 4
    assert seen[0] == QColor(current().accent)
    assert seen[-1] == QColor(current().hairline)


def test_the_bar_warns_when_the_draft_will_fill_it(meter: ContextMeter) -> None:
    meter.apply(ContextFigures(used=200, cached=200, draft=400, limit=400))
    assert colours(meter)[0] == QColor(current().warning)


def test_the_tooltip_says_each_figure_in_words(meter: ContextMeter) -> None:
    meter.apply(ContextFigures(used=200, cached=100, draft=50, limit=400))
    assert "of them are cached" in meter.toolTip()
    assert "Draft 50 tokens this message and its files will add" in meter.accessibleDescription()


def test_without_a_model_it_takes_no_place(meter: ContextMeter) -> None:
    meter.apply(ContextFigures(used=200))
    assert meter.sizeHint().width() == 0


ANSWERED = [
    Turn(Role.USER, "Count"),
    Turn(Role.ASSISTANT, "1, 2", usage=Usage(num_prompt_tokens=100, num_generated_tokens=42)),
]


def chat_of(*more: Turn) -> Chat:
    return Chat(turns=[*ANSWERED, *more])


class Shelf:
    def __init__(self, text: str) -> None:
        self._text, self.num_read = text, 0

    @property
    def text(self) -> str:
        self.num_read += 1
        return self._text


WARM = SlotSnapshot(0, SlotState.WARM, pos_min=0, pos_max=411)


def test_the_last_answer_tells_what_its_chat_uses() -> None:
    assert num_used(chat_of(), None) == 142
    assert num_used(chat_of(), WARM) == 142  # the slot may hold another version
    assert num_used(chat_of(Turn(Role.USER, "And?"), Turn(Role.ASSISTANT, "")), None) == 142


def test_a_slot_at_work_tells_what_it_will_hold() -> None:
    prefill = SlotSnapshot(0, SlotState.PREFILL, pos_min=0, pos_max=99, num_pending_tokens=300)
    assert num_used(chat_of(), prefill) == 400


def test_what_was_read_ahead_is_the_drafts_and_counts_there_alone() -> None:
    for state in (SlotState.WARM, SlotState.AHEAD):
        ahead = SlotSnapshot(0, state, pos_min=0, pos_max=411, num_pending_tokens=30)
        assert num_used(Chat(), ahead) == 0
        assert num_used(Chat(turns=[Turn(Role.USER, "a note")]), ahead) == 0  # it counts as never computed
        assert num_used(chat_of(), ahead) == 142


def test_what_no_answer_has_read_is_still_to_be_computed() -> None:
    inserted = [
        Turn(Role.USER, "a note", attachments=(Attachment("a.txt", "text"),)),
        Turn(Role.ASSISTANT, "mine"),
    ]
    shelf, own = Shelf("From a file."), chat_of(*inserted)
    assert never_computed(own, shelf) == "File: a.txt\n```\ntext\n```\n\na note\n\nmine"
    assert never_computed(chat_of(), shelf) == ""
    assert shelf.num_read == 0  # it may be long
    chat = Chat(turns=inserted[1:], system_prompt="Be short.")
    assert never_computed(chat, shelf) == "From a file.\n\nBe short.\n\nmine"
    assert never_computed(Chat(), Shelf("")) == ""


def answer(text: str, used: int, *, num_summed_up: int = 0) -> list[Turn]:
    usage = Usage(num_prompt_tokens=used, num_summed_up=num_summed_up)
    return [Turn(Role.USER, f"{text}?"), Turn(Role.ASSISTANT, text, usage=usage)]


def test_behind_a_new_summary_all_of_the_next_prompt_is_counted_until_it_was_read() -> None:
    """With the system prompt and the shelf, and again where the summary is edited or taken away."""
    chat = chat_of(*answer("Six", 6_000), *answer("Go", 6_100))
    chat.system_prompt = "Be short."
    six, shelf = chat.turns[3], Shelf("From a file.")
    assert num_used(chat, None) == 6_100
    six.summary = Summary("- six", created_at=time.time())
    assert num_used(chat, None) == 0
    texts = ["From a file.", "Be short.", ASKED, "- six", "Go?", "Go"]
    assert never_computed(chat, shelf) == "\n\n".join(texts)

    chat.add(*answer("Seven", 90, num_summed_up=4))
    assert (num_used(chat, None), never_computed(chat, shelf)) == (90, "")
    chat.turns[-1].created_at = 0.0  # it was asked when the summary was another one
    assert num_used(chat, None) == 0
    assert never_computed(chat, shelf).endswith("- six\n\nGo?\n\nGo\n\nSeven?\n\nSeven")

    six.summary = None
    assert (num_used(chat, None), never_computed(chat, shelf)) == (6_100, "Seven?\n\nSeven")


def test_the_figures_are_told_in_numbers_and_in_words() -> None:
    assert figures_text(ContextFigures(used=412, limit=4096)) == "412 / 4,096"
    assert figures_text(ContextFigures(used=412, draft=37, limit=4096)) == "412 + 37 / 4,096"
    assert figures_text(ContextFigures(used=412)) == ""
    assert [row[1] for row in rows(ContextFigures(1412, 1000, 37, 4096))] == ["1,412", "1,000", "37", "4,096"]
    assert rows(ContextFigures(draft=37, limit=4096, is_estimated=True))[2][1] == "about 37"
    assert rows(ContextFigures(1412, limit=4096, is_used_estimated=True))[0][1] == "about 1,412"
    listed = rows(ContextFigures(limit=1024, tools=90, are_tools_listed=True))
    assert any(row[1] == "90" and "list the tools by name" in row[2] for row in listed)


@pytest.mark.parametrize(
    ("figures", "overflow", "begins"),
    [
        (ContextFigures(4000, 0, 95, 4096), Overflow.STOP, ""),
        (
            ContextFigures(4000, 0, 96, 4096),
            Overflow.STOP,
            "Too long for this chat: about 4,096 tokens, and 4,096",
        ),
        (ContextFigures(5000, 0, 0, 4096), Overflow.STOP, ""),  # nothing is about to be sent
        (ContextFigures(4000, 0, 96, 0), Overflow.STOP, ""),
        (
            ContextFigures(4000, 0, 200, 4096),
            Overflow.ROLLING_WINDOW,
            "The oldest turns will be left out",
        ),
        (
            ContextFigures(4000, 0, 200, 4096),
            Overflow.TRUNCATE_MIDDLE,
            "Turns in the middle will be left out",
        ),
        (
            ContextFigures(0, 0, 4096, 4096),
            Overflow.ROLLING_WINDOW,
            "This message alone is too long: about 4,096 tokens, and 4,096 fit. Shorten it, or choose",
        ),
        (ContextFigures(0, 0, 4096, 4096), Overflow.STOP, "This message alone is too long"),
        (ContextFigures(0, 0, 4096, 4096), Overflow.TRUNCATE_MIDDLE, "The middle of this message"),
    ],
)
def test_what_happens_to_a_full_chat_is_told_before_sending(
    figures: ContextFigures, overflow: Overflow, begins: str
) -> None:
    told = forecast(figures, overflow)
    assert told.startswith(begins)
    assert bool(told) == bool(begins)
