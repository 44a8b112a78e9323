import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from app.chats.tool_use import Decision, ToolRound, ToolState, ToolUse
from app.ui.base.frame_budget import frame_budget
from app.ui.message.passages import as_plain
from app.ui.message.tool_card import HEADER, ToolCard
from app.ui.message.tool_rounds import ToolRoundsView
from app.ui.message.tool_words import ToolLabel

TIME = ToolLabel("Current time", "skein")
WRITE = ToolLabel("Write a file", "files", writes=True)


@pytest.fixture
def page(qtbot: QtBot) -> QWidget:
    page = QWidget()
    page.resize(700, 600)
    qtbot.addWidget(page)
    page.show()
    qtbot.waitExposed(page)
    return page


def card(page: QWidget, use: ToolUse, label: ToolLabel = TIME) -> ToolCard:
    made = ToolCard(page)
    show(made, use, label)
    made.show()
    return made


def show(made: ToolCard, use: ToolUse, label: ToolLabel = TIME) -> None:
    made.apply(use, label)
    made.arrange(600)


def texts(made: ToolCard) -> list[str]:
    return [part.pane.toPlainText() for part in made.text_parts() if part.pane]


def test_a_call_that_is_done_is_one_line(page: QWidget) -> None:
    use = ToolUse("1", "time", '{"zone": "Asia/Tokyo"}', ToolState.DONE, "12:00", 0.31)
    shown = card(page, use)
    assert not shown.is_open
    assert shown.header.words == "Current time built in Asia/Tokyo 0.3 s"
    assert shown.header.accessibleName() == "Tool Current time: done"
    assert shown.height() == shown.header.height()


def test_it_opens_and_folds_by_click_and_key(page: QWidget, qtbot: QtBot) -> None:
    shown = card(page, ToolUse("1", "time", '{"zone":"UTC"}', ToolState.DONE, "12:00"))
    changes: list[None] = []
    shown.height_changed.connect(lambda: changes.append(None))
    qtbot.mouseClick(shown.header, Qt.MouseButton.LeftButton)
    assert texts(shown) == ['{\n  "zone": "UTC"\n}', "12:00"]
    assert shown.header.accessibleDescription() == "Expanded"
    qtbot.keyClick(shown.header, Qt.Key.Key_Space)
    assert texts(shown) == []
    assert len(changes) == 2


def test_one_that_asks_is_open_and_can_be_answered(page: QWidget, qtbot: QtBot) -> None:
    use = ToolUse("1", "write_file", '{"path": "a.txt", "content": "x"}', ToolState.ASKING)
    shown = card(page, use, WRITE)
    decisions: list[tuple[ToolUse, Decision]] = []
    shown.decided.connect(lambda use, decision: decisions.append((use, decision)))
    assert shown.is_open
    assert '"content": "x"' in texts(shown)[0]
    assert shown.warning
    assert shown.warning.isVisible()
    order = [Decision.ONCE, Decision.THIS_CHAT, Decision.ALWAYS, Decision.REFUSE]
    assert list(shown.buttons) == order
    for decision in order:
        qtbot.mouseClick(shown.buttons[decision], Qt.MouseButton.LeftButton)
    assert decisions == [(use, decision) for decision in order]

    use.state = ToolState.RUNNING
    show(shown, use, WRITE)
    assert not shown.is_open
    assert not any(button.isVisible() for button in shown.buttons.values())


def test_a_call_that_was_written_as_text_asks_whether_it_is_one(page: QWidget, qtbot: QtBot) -> None:
    shown = card(page, ToolUse("1", "time", "{}", ToolState.ASKING))
    use = ToolUse("2", "time", "{}", ToolState.ASKING, is_text=True)
    show(shown, use)
    assert shown.warning
    assert "wrote this call as text" in shown.warning.text()
    assert list(shown.buttons) == [Decision.ONCE, Decision.THIS_MODEL, Decision.REFUSE]
    assert all(button.isVisible() for button in shown.buttons.values())
    assert shown.buttons[Decision.REFUSE].text() == "Leave it as text"
    with qtbot.waitSignal(shown.decided) as decided:
        shown.buttons[Decision.THIS_MODEL].click()
    assert decided.args == [use, Decision.THIS_MODEL]


def test_one_that_only_reads_gives_no_warning(page: QWidget) -> None:
    shown = card(page, ToolUse("1", "time", "{}", ToolState.ASKING))
    assert shown.warning
    assert not shown.warning.isVisible()


def test_the_buttons_wrap_where_it_is_narrow(page: QWidget) -> None:
    shown = card(page, ToolUse("1", "time", "{}", ToolState.ASKING))
    shown.arrange(260)
    assert all(button.geometry().right() < 260 for button in shown.buttons.values())
    assert len({button.y() for button in shown.buttons.values()}) > 1


def test_arguments_grow_as_they_are_written(page: QWidget) -> None:
    use = ToolUse("1", "time", '{"zone": "Eu')
    shown = card(page, use)
    shown.toggle()
    assert texts(shown) == ['{"zone": "Eu']
    use.arguments += 'rope/Rome"}'
    show(shown, use)
    assert texts(shown) == ['{"zone": "Europe/Rome"}']
    use.state = ToolState.RUNNING
    show(shown, use)
    assert texts(shown) == ['{\n  "zone": "Europe/Rome"\n}']


def test_a_failure_says_why_on_its_line(page: QWidget) -> None:
    use = ToolUse("1", "time", '{"zone": "Mars"}', ToolState.FAILED, "no such zone:\nMars", 1.25)
    shown = card(page, use)
    assert shown.header.words == "Current time built in no such zone: Mars failed · 1.2 s"


def test_a_long_result_is_shown_in_pages(page: QWidget) -> None:
    use = ToolUse("1", "time", "{}", ToolState.DONE, "line of text\n" * 20_000)
    shown = card(page, use)
    shown.toggle()
    shown.arrange(600)
    assert len(texts(shown)) == 1
    assert len(texts(shown)[0]) < 13_000
    assert len(shown.text_parts()) > 10


@pytest.mark.parametrize("arguments", ["", "{}", "[1]", '{"a": "\\u202e"}', "{" * 50_000, '"text"'])
def test_any_arguments_can_be_shown(page: QWidget, arguments: str) -> None:
    for state in ToolState:
        shown = card(page, ToolUse("1", "\x00odd\n", arguments, state, "\ufdd0 \x1b[0m"))
        shown.set_open(True)
        shown.arrange(400)
        assert "\n" not in shown.header.words


def test_a_spinner_turns_only_while_it_can_be_seen(page: QWidget) -> None:
    use = ToolUse("1", "time", "{}", ToolState.RUNNING)
    shown = card(page, use)
    assert shown.header._turns.isActive()
    use.state = ToolState.DONE
    show(shown, use)
    assert not shown.header._turns.isActive()


def test_rounds_stand_below_each_other_and_read_in_order(page: QWidget) -> None:
    rounds = ToolRoundsView(page)
    rounds.naming = lambda name: TIME if name == "time" else None
    done = ToolUse("1", "time", '{"zone": "UTC"}', ToolState.DONE, "noon")
    gone = ToolUse("2", "gone", "{}", ToolState.STOPPED)
    first = ToolRound("raw", "Let me see.", "hm", [done, gone])
    assert rounds.apply([first], is_growing=False)
    assert not rounds.apply([first], is_growing=False)
    rounds.apply([first, ToolRound("raw", "And again.", "", [ToolUse("3", "time")])], is_growing=True)
    rounds.arrange(600)
    tops = [card.mapTo(rounds, card.rect().topLeft()).y() for card in rounds.cards]
    assert tops == sorted(tops)
    assert [card.header.words.split()[0] for card in rounds.cards] == ["Current", "gone", "Current"]
    assert rounds.plain_text() == "Let me see.\nAnd again."
    rounds.cards[0].toggle()
    keys = [part.key for part in rounds.text_parts()]
    assert keys == sorted(keys)
    read = [as_plain(part.copied(0, 10_000)) for part in rounds.text_parts()]
    assert [text.strip() for text in read] == ["Let me see.", '{\n  "zone": "UTC"\n}', "noon", "And again."]
    rounds.apply([], is_growing=False)
    assert rounds.arrange(600) == 0


@pytest.mark.usefixtures("short_frames")
def test_a_hundred_calls_are_shown_in_pieces(page: QWidget, qtbot: QtBot) -> None:
    rounds = ToolRoundsView(page)
    rounds.show()
    rounds.height_changed.connect(lambda: rounds.arrange(600))
    uses = [ToolUse(str(number), "time", "{}", ToolState.DONE, "noon") for number in range(100)]
    with frame_budget().shared():
        rounds.apply(
            [ToolRound("", "Let me see.", uses=uses[:50]), ToolRound("", "Again.", uses=uses[50:])], False
        )
    num_cards = len(rounds.cards)
    assert 0 < num_cards < 100
    qtbot.waitUntil(lambda: frame_budget().num_waiting == 0)
    assert [card.use for card in rounds.cards] == uses
    assert rounds.height() > 100 * HEADER

    one = [ToolRound("", "One.", uses=uses[:1])]
    rounds.apply([*one, *one], False)
    one *= 2
    rounds.apply(one, False)
    one.pop()  # the turn's own list may change before the next frame
    rounds._on_turn()
    assert [card.use for card in rounds.cards] == uses[:1]
    qtbot.waitUntil(lambda: frame_budget().num_waiting == 0)
