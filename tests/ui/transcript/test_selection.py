from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations

import pytest
from PySide6.QtCore import QEvent, QMimeData, QPoint, QPointF, Qt
from PySide6.QtGui import QClipboard, QContextMenuEvent, QGuiApplication, QMouseEvent, QTextCursor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QLineEdit, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from app.bridge.tasks import finish_all
from app.chats.chat import Chat, Turn, TurnState
from app.chats.tool_use import ToolRound, ToolState, ToolUse
from app.protocol.request import Role
from app.ui.base.frame_budget import frame_budget
from app.ui.message.math_image import formulas
from app.ui.message.text_part import SelectedText
from app.ui.transcript.answer_view import AnswerView
from app.ui.transcript.selecting import SelectionMenu
from app.ui.transcript.selection import LAST, Point
from app.ui.transcript.transcript import Transcript
from app.ui.transcript.turn_actions import TurnAction, TurnMenu
from tests.ui.pictures import a_picture

ANSWER = """\
## The alpha head

A paragraph with beta **bold** and $x^2$ in it.

- item gamma one
- item delta two
  1. inner epsilon here

| Name | Size zeta big |
| --- | --- |
| row tau one | 1 |

> quoted theta words

```py
code iota = 1
more = 2
```

- code in a list:
  ```sh
  ls kappa now
  ```

$$
E = mc^2
$$

The end lambda of it.
"""
PLAIN = """\
What is mu and nu?

The alpha head

A paragraph with beta bold and $x^2$ in it.

- item gamma one
- item delta two
   1. inner epsilon here

Name\tSize zeta big
row tau one\t1

> quoted theta words

code iota = 1
more = 2

- code in a list:

ls kappa now

$$
E = mc^2
$$

The end lambda of it.

Second xi question

A short omicron answer."""
STOPS = "mu nu alpha beta gamma delta epsilon zeta tau theta iota kappa lambda xi omicron"
DRAGS = list(combinations(STOPS.split(), 2))[::3]


@pytest.fixture(autouse=True)
def emptied_clipboard(qapp: QApplication) -> Iterator[None]:
    """What Python made and Qt still holds when the process ends would be freed after Python: a crash."""
    yield
    for mode in (QClipboard.Mode.Clipboard, QClipboard.Mode.Selection):
        QGuiApplication.clipboard().clear(mode)


@pytest.fixture
def chat() -> Chat:
    chat = Chat()
    chat.add(
        Turn(Role.USER, "What is mu and nu?"),
        Turn(Role.ASSISTANT, ANSWER, TurnState.DONE, model="starter"),
        Turn(Role.USER, "Second xi question"),
        Turn(Role.ASSISTANT, "A short omicron answer.", TurnState.DONE, model="starter"),
    )
    return chat


@pytest.fixture
def page(qtbot: QtBot, chat: Chat) -> Transcript:
    return shown(qtbot, chat, height=1200)


def shown(qtbot: QtBot, chat: Chat, height: int) -> Transcript:
    page = Transcript(chat)
    qtbot.addWidget(page)
    page.resize(800, height)
    page.show()
    qtbot.waitExposed(page)
    page.activateWindow()
    page.setFocus()
    settle(page, qtbot)
    return page


def settle(page: Transcript, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: formulas().num_waiting == 0 and frame_budget().num_waiting == 0)
    QTest.qWait(60)  # formulas that are drawn are taken in after a pause


def place_of(page: Transcript, word: str, at: int = 0) -> tuple[SelectedText, QPoint]:
    """The text view with that word, and where its letter begins there."""
    for view in page.live_views:
        for pane in view.text_panes():
            found = pane.document().find(word, 0)
            if not found.isNull():
                cursor = QTextCursor(pane.document())
                cursor.setPosition(found.selectionStart() + at)
                return pane, pane.cursorRect(cursor).center()
    raise AssertionError(f"{word} is not on the page")


def send(
    page: Transcript, kind: QEvent.Type, pane: QWidget, place: QPoint, modifiers: Qt.KeyboardModifier
) -> None:
    button = Qt.MouseButton.NoButton if kind is QEvent.Type.MouseMove else Qt.MouseButton.LeftButton
    buttons = Qt.MouseButton.NoButton if kind is QEvent.Type.MouseButtonRelease else Qt.MouseButton.LeftButton
    on_screen = QPointF(pane.mapToGlobal(place))
    QApplication.sendEvent(pane, QMouseEvent(kind, QPointF(place), on_screen, button, buttons, modifiers))


def mouse(
    page: Transcript,
    kind: QEvent.Type,
    where: tuple[SelectedText, QPoint],
    modifiers: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier,
) -> None:
    send(page, kind, where[0].viewport(), where[1], modifiers)


def drag(page: Transcript, begin: tuple[SelectedText, QPoint], end: tuple[SelectedText, QPoint]) -> None:
    mouse(page, QEvent.Type.MouseButtonPress, begin)
    mouse(page, QEvent.Type.MouseMove, end)
    mouse(page, QEvent.Type.MouseButtonRelease, end)


def redraw(page: Transcript) -> None:
    page.mark_dirty()
    page._draw()


async def copied(page: Transcript) -> QMimeData:
    QGuiApplication.clipboard().clear()
    page.selection.copy()
    await finish_all()
    return QGuiApplication.clipboard().mimeData()


def lit(page: Transcript) -> list[str]:
    """What is shown as selected, text by text."""
    panes = [pane for view in page.live_views for pane in view.text_panes()]
    texts = ["".join(mark.cursor.selectedText() for mark in pane.extraSelections()) for pane in panes]
    return [text for text in texts if text]


@pytest.mark.parametrize("is_backwards", [False, True])
@pytest.mark.parametrize(("first", "last"), DRAGS)
async def test_a_drag_selects_from_word_to_word(
    page: Transcript, qtbot: QtBot, first: str, last: str, is_backwards: bool
) -> None:
    ends = place_of(page, first), place_of(page, last, len(last))
    drag(page, *(reversed(ends) if is_backwards else ends))
    expected = PLAIN[PLAIN.index(first) : PLAIN.index(last) + len(last)]
    assert (await copied(page)).text().removeprefix("> ") == expected


WHOLE_ANSWER = Turn(
    Role.ASSISTANT,
    "<think>\nFirst a pi thought.\n\n- then rho, too\n</think>\n\nThe sigma answer, and its **upsilon** end.",
    TurnState.DONE,
    rounds=[
        ToolRound(
            content="I look phi up.",
            reasoning="A chi idea.",
            uses=[ToolUse("1", "time", '{"psi": "omega"}', ToolState.DONE, "aleph o'clock\nbeth minutes")],
        )
    ],
)
SHOWN = """\
What says gimel here?

A chi idea.

I look phi up.

{
  "psi": "omega"
}

aleph o'clock
beth minutes

First a pi thought.

- then rho, too

The sigma answer, and its upsilon end."""
WORDS = ["gimel", "chi", "phi", "psi", "omega", "aleph", "beth", "pi", "rho", "sigma", "upsilon"]


@pytest.fixture
def opened(qtbot: QtBot) -> Transcript:
    """A page with a picture, and an answer whose tool card and thinking were opened."""
    chat = Chat()
    chat.add(
        Turn(Role.USER, "What says gimel here?", attachments=(a_picture("cat.png"),)),
        replace(WHOLE_ANSWER, rounds=[each.copied() for each in WHOLE_ANSWER.rounds]),
    )
    page = shown(qtbot, chat, height=1200)
    (answer,) = (view for view in page.live_views if isinstance(view, AnswerView))
    (card,) = answer.rounds.cards
    card.set_open(True)
    for body in (answer.body, *(part.body for part in answer.rounds._parts)):
        body.thinking.toggle()
    settle(page, qtbot)
    return page


@pytest.mark.parametrize("is_backwards", [False, True])
@pytest.mark.parametrize(("first", "last"), list(combinations(WORDS, 2))[::3])
async def test_a_drag_takes_calls_of_tools_and_thinking_that_are_open(
    opened: Transcript, first: str, last: str, is_backwards: bool
) -> None:
    ends = place_of(opened, first), place_of(opened, last, len(last))
    drag(opened, *(reversed(ends) if is_backwards else ends))
    expected = SHOWN[SHOWN.index(first) : SHOWN.index(last) + len(last)]
    assert (await copied(opened)).text() == expected


async def test_what_is_lit_is_copied_whole_messages_too(opened: Transcript, qtbot: QtBot) -> None:
    qtbot.keyClick(opened, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    assert (await copied(opened)).text() == SHOWN


async def test_one_selection_follows_the_other(page: Transcript) -> None:
    drag(page, place_of(page, "alpha"), place_of(page, "beta", 4))
    assert lit(page) == ["alpha head\u2029A paragraph with beta"]
    drag(page, place_of(page, "iota"), place_of(page, "iota", 4))
    assert lit(page) == ["iota"]
    drag(page, place_of(page, "xi"), place_of(page, "omicron", 3))
    assert lit(page) == ["xi question", "A short omi"]
    assert (await copied(page)).text() == "xi question\n\nA short omi"


def test_a_click_ends_it(page: Transcript) -> None:
    drag(page, place_of(page, "alpha"), place_of(page, "omicron"))
    assert lit(page)
    drag(page, place_of(page, "theta"), place_of(page, "theta"))
    assert not page.selection
    assert lit(page) == []


def test_double_and_triple_clicks_select_words_and_paragraphs(page: Transcript) -> None:
    where = place_of(page, "beta", 2)
    mouse(page, QEvent.Type.MouseButtonPress, where)
    mouse(page, QEvent.Type.MouseButtonRelease, where)
    mouse(page, QEvent.Type.MouseButtonDblClick, where)
    assert lit(page) == ["beta"]
    mouse(page, QEvent.Type.MouseMove, place_of(page, "gamma", 1))
    assert lit(page)[0].startswith("beta bold")
    assert lit(page)[0].endswith("item gamma")
    mouse(page, QEvent.Type.MouseMove, place_of(page, "paragraph", 1))
    assert lit(page) == ["paragraph with beta"]
    mouse(page, QEvent.Type.MouseButtonRelease, where)
    mouse(page, QEvent.Type.MouseButtonPress, where)
    assert lit(page) == ["A paragraph with beta bold and \ufffc in it."]
    mouse(page, QEvent.Type.MouseButtonRelease, where)


def test_shift_and_a_click_take_it_further(page: Transcript) -> None:
    drag(page, place_of(page, "theta"), place_of(page, "theta", 5))
    end = place_of(page, "omicron", 7)
    mouse(page, QEvent.Type.MouseButtonPress, end, Qt.KeyboardModifier.ShiftModifier)
    mouse(page, QEvent.Type.MouseButtonRelease, end, Qt.KeyboardModifier.ShiftModifier)
    assert lit(page)[0] == "theta words"
    assert lit(page)[-1] == "A short omicron"


def test_keys_move_its_end(page: Transcript, qtbot: QtBot) -> None:
    drag(page, place_of(page, "omicron"), place_of(page, "omicron", 1))
    shift, control = Qt.KeyboardModifier.ShiftModifier, Qt.KeyboardModifier.ControlModifier
    qtbot.keyClick(page, Qt.Key.Key_Right, shift)
    assert lit(page) == ["om"]
    qtbot.keyClick(page, Qt.Key.Key_End, shift)
    assert lit(page) == ["omicron answer."]
    qtbot.keyClick(page, Qt.Key.Key_Left, shift | control)
    qtbot.keyClick(page, Qt.Key.Key_Left, shift | control)
    assert lit(page) == ["omicron "]
    for _ in range(3):
        qtbot.keyClick(page, Qt.Key.Key_Home, shift)
        qtbot.keyClick(page, Qt.Key.Key_Left, shift)
    assert lit(page)[-1] == "A short "
    assert lit(page)[-2].endswith("question")
    qtbot.keyClick(page, Qt.Key.Key_Escape)
    assert lit(page) == []


async def test_everything_is_copied_as_it_was_written_too(page: Transcript, chat: Chat, qtbot: QtBot) -> None:
    qtbot.keyClick(page, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    data = await copied(page)
    assert data.text() == PLAIN
    assert data.data("text/markdown").data().decode() == "\n\n".join(turn.text for turn in chat.turns)
    assert "<table><tr><th>Name</th>" in data.html()
    assert "<pre><code>code iota = 1\nmore = 2</code></pre>" in data.html()


async def test_it_is_copied_by_its_key_wherever_the_page_has_the_focus(
    page: Transcript, qtbot: QtBot
) -> None:
    drag(page, place_of(page, "xi"), place_of(page, "omicron", 7))
    for widget in (page, place_of(page, "xi")[0], place_of(page, "iota")[0]):
        QGuiApplication.clipboard().clear()
        qtbot.keyClick(widget, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
        await finish_all()
        assert QGuiApplication.clipboard().text() == "xi question\n\nA short omicron"


async def test_what_left_the_screen_stays_selected(qtbot: QtBot) -> None:
    chat = Chat()
    for n in range(200):
        chat.add(
            Turn(Role.USER, f"Question {n}?"), Turn(Role.ASSISTANT, f"- answer {n}\n- again", TurnState.DONE)
        )
    page = shown(qtbot, chat, height=500)
    page.verticalScrollBar().setValue(0)
    settle(page, qtbot)
    begin = place_of(page, "answer 0", 7)
    mouse(page, QEvent.Type.MouseButtonPress, begin)
    mouse(page, QEvent.Type.MouseMove, place_of(page, "Question 1?", 3))
    for value in range(0, page.verticalScrollBar().maximum(), 300):
        page.verticalScrollBar().setValue(value)
    page.jump_to_end()
    settle(page, qtbot)
    end = place_of(page, "answer 199", 10)
    mouse(page, QEvent.Type.MouseMove, end)
    mouse(page, QEvent.Type.MouseButtonRelease, end)
    expected = ["0\n- again"]
    for n in range(1, 199):
        expected += [f"Question {n}?", f"- answer {n}\n- again"]
    assert (await copied(page)).text() == "\n\n".join([*expected, "Question 199?", "- answer 199"])
    page.verticalScrollBar().setValue(0)
    settle(page, qtbot)
    assert lit(page)[0] == "0\u2029again"
    assert "Question 3?" in lit(page)


def test_beyond_the_edge_the_page_scrolls(qtbot: QtBot) -> None:
    chat = Chat()
    for n in range(40):
        chat.add(Turn(Role.USER, f"Question {n}?"), Turn(Role.ASSISTANT, f"Answer {n}", TurnState.DONE))
    page = shown(qtbot, chat, height=400)
    begin = place_of(page, "Answer 39")
    mouse(page, QEvent.Type.MouseButtonPress, begin)
    above = begin[0], begin[0].viewport().mapFromGlobal(page.viewport().mapToGlobal(QPoint(100, -200)))
    mouse(page, QEvent.Type.MouseMove, above)
    qtbot.waitUntil(lambda: page.verticalScrollBar().value() == 0)
    qtbot.waitUntil(lambda: lit(page)[:1] == ["Question 0?"])
    mouse(page, QEvent.Type.MouseButtonRelease, above)
    assert not page._selecting._scrolls.isActive()


async def test_it_stays_where_it_is_while_an_answer_grows(page: Transcript, chat: Chat, qtbot: QtBot) -> None:
    answer = Turn(Role.ASSISTANT, "Uno dos", TurnState.STREAMING)
    chat.add(Turn(Role.USER, "Go"), answer)
    redraw(page)
    drag(page, place_of(page, "xi"), place_of(page, "dos"))
    for text in ("Uno dos tres", "Uno dos tres\n\n- cuatro", "Uno dos tres\n\n- cuatro\n\n```py\nx\n```"):
        answer.text = text
        redraw(page)
        assert lit(page)[-1] == "Uno "
    assert (await copied(page)).text() == "xi question\n\nA short omicron answer.\n\nGo\n\nUno"
    page.selection.select(page.selection.anchor, Point(answer.id, LAST))
    answer.text += "\n\nMore"
    redraw(page)
    settle(page, qtbot)
    assert lit(page)[-1] == "More"


def test_it_ends_with_its_message(page: Transcript, chat: Chat) -> None:
    drag(page, place_of(page, "xi"), place_of(page, "omicron"))
    chat.remove(chat.turns[2])
    redraw(page)
    assert not page.selection
    assert lit(page) == []


def test_only_where_the_focus_is_it_is_lit(qtbot: QtBot, chat: Chat) -> None:
    both, field = QWidget(), QLineEdit("words")
    page = Transcript(chat)
    layout = QVBoxLayout(both)
    layout.addWidget(page)
    layout.addWidget(field)
    qtbot.addWidget(both)
    both.resize(800, 900)
    both.show()
    qtbot.waitExposed(both)
    both.activateWindow()
    settle(page, qtbot)
    drag(page, place_of(page, "xi"), place_of(page, "xi", 2))
    page.setFocus()
    pane = place_of(page, "xi")[0]
    strong = pane.selection_colour()
    field.setFocus()
    assert pane.selection_colour() != strong
    assert lit(page) == ["xi"]
    page.setFocus()
    assert pane.selection_colour() == strong


def test_while_a_message_is_edited_it_is_not_lit(page: Transcript) -> None:
    drag(page, place_of(page, "xi"), place_of(page, "xi", 2))
    pane = place_of(page, "xi")[0]
    strong = pane.selection_colour()
    page.live_views[0].act(TurnAction.EDIT)
    assert page.live_views[0].editor
    assert page.live_views[0].editor.text.hasFocus()
    assert pane.selection_colour() != strong


def test_a_label_that_is_selected_ends_it(page: Transcript, chat: Chat, qtbot: QtBot) -> None:
    chat.turns[-1].state, chat.turns[-1].notice = TurnState.FAILED, "out of memory"
    redraw(page)
    drag(page, place_of(page, "xi"), place_of(page, "omicron"))
    (label,) = [
        label for label in page.live_views[-1].findChildren(QLabel) if "out of memory" in label.text()
    ]
    qtbot.mouseDClick(label, Qt.MouseButton.LeftButton, pos=QPoint(30, 8))
    assert label.hasSelectedText()
    assert not page.selection
    where = place_of(page, "xi")
    qtbot.mouseClick(where[0].viewport(), Qt.MouseButton.LeftButton, pos=where[1])
    assert not label.hasSelectedText()


def test_links_are_followed_by_a_click_and_selected_by_a_drag(qtbot: QtBot) -> None:
    chat = Chat()
    chat.add(
        Turn(Role.USER, "?"), Turn(Role.ASSISTANT, "a [linked word](https://a.example) b", TurnState.DONE)
    )
    page = shown(qtbot, chat, height=400)
    pane, place = place_of(page, "linked", 2)
    followed: list[str] = []
    pane.anchorClicked.disconnect()  # type: ignore[attr-defined]
    pane.anchorClicked.connect(lambda url: followed.append(url.toString()))  # type: ignore[attr-defined]
    drag(page, (pane, place), (pane, place))
    assert followed == ["https://a.example"]
    drag(page, (pane, place), place_of(page, "word", 4))
    assert followed == ["https://a.example"]
    assert lit(page) == ["nked word"]


def menu_at(where: tuple[SelectedText, QPoint]) -> QWidget:
    pane, place = where
    on_screen = pane.viewport().mapToGlobal(place)
    QApplication.sendEvent(
        pane.viewport(), QContextMenuEvent(QContextMenuEvent.Reason.Mouse, place, on_screen)
    )
    menu = QApplication.activePopupWidget()
    assert menu
    return menu


async def test_it_has_a_menu_of_its_own(page: Transcript) -> None:
    drag(page, place_of(page, "gamma"), place_of(page, "delta", 5))
    menu = menu_at(place_of(page, "delta", 2))
    assert isinstance(menu, SelectionMenu)
    copy, markdown, everything, lens = [action for action in menu.actions() if not action.isSeparator()]
    acted: list[tuple[object, Turn]] = []
    page.acted.connect(lambda action, turn: acted.append((action, turn)))
    lens.trigger()
    [(action, turn)] = acted
    assert action is TurnAction.LENS
    assert page.pointed_sentence(turn) == "item delta two"
    copy.trigger()
    await finish_all()
    assert QGuiApplication.clipboard().text() == "gamma one\n- item delta"
    markdown.trigger()
    await finish_all()
    assert QGuiApplication.clipboard().mimeData().formats() == ["text/plain"]
    everything.trigger()
    assert lit(page)[0] == "What is mu and nu?"
    menu.close()
    page.selection.clear()
    other = menu_at(place_of(page, "delta", 2))
    assert isinstance(other, TurnMenu)
    other.close()
