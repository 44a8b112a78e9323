from collections import Counter
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QUrl
from PySide6.QtGui import QFont, QGuiApplication, QImage, QTextFrame, QTextTable
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from app.chats.thinking import split_thinking
from app.look.theme import apply_theme
from app.look.tokens import DARK, LIGHT
from app.ui.base.frame_budget import frame_budget
from app.ui.message.answer_body import AnswerBody
from app.ui.message.markdown import parse_blocks
from app.ui.message.math_image import formulas
from app.ui.message.passages import as_markdown, as_plain
from app.ui.message.prose_pane import BAR, ProsePane, _frames
from app.ui.message.safe_browser import QUOTE_INDENT


@pytest.fixture
def frame(qtbot: QtBot, qapp: QApplication) -> Iterator[QWidget]:
    apply_theme(qapp, "light")
    frame = QWidget()
    qtbot.addWidget(frame)
    frame.show()
    yield frame
    qtbot.waitUntil(lambda: formulas().num_waiting == 0)


def pane_of(frame: QWidget, qtbot: QtBot, source: str) -> ProsePane:
    """With its formulas drawn."""
    pane = ProsePane(frame)
    pane.show_blocks(parse_blocks(source))
    pane.arrange(500)
    pane.show()
    qtbot.waitUntil(
        lambda: (
            formulas().num_waiting == 0 and not pane._redraws.isActive() and frame_budget().num_waiting == 0
        )
    )
    return pane


def test_a_formula_is_its_source_until_it_is_drawn(frame: QWidget, qtbot: QtBot) -> None:
    pane = ProsePane(frame)
    pane.show_blocks(parse_blocks("so $a^2 = 17$ is"))
    assert pane.toPlainText() == "so $a^2 = 17$ is"
    with qtbot.waitSignal(pane.height_changed):
        pass
    assert pane.toPlainText() == "so \ufffc is"
    assert pane.plain_text() == "so $a^2 = 17$ is"


def test_one_that_cannot_be_drawn_stays_as_it_was_written(frame: QWidget, qtbot: QtBot) -> None:
    pane = pane_of(frame, qtbot, r"so $\frac{a$ is")
    assert pane.toPlainText() == r"so $\frac{a$ is"


def test_copying_gives_formulas_as_they_were_written(frame: QWidget, qtbot: QtBot) -> None:
    pane = pane_of(frame, qtbot, "a $x^3$ b \\(y\\) c\n\n$$\nz\n$$")
    copied = pane.copied(0, pane.length)
    assert as_plain(copied) == "a $x^3$ b \\(y\\) c\n\n$$\nz\n$$"
    assert as_markdown(copied) == as_plain(copied)
    assert as_plain(pane.copied(4, 8)) == "b \\(y\\)"


@pytest.mark.parametrize("latex", ["z", r"z_{\frac{a}{\frac{b}{c}}}", r"z^{\frac{a}{b}}", r"z_{y_y}"])
def test_a_formula_stands_on_the_line_of_the_text(frame: QWidget, qtbot: QtBot, latex: str) -> None:
    pane = pane_of(frame, qtbot, f"zz ${latex}$")
    assert pane.toPlainText() == "zz \ufffc"
    image, cursor = pane.grab().toImage(), pane.textCursor()
    cursor.setPosition(3)
    left = pane.cursorRect(cursor).left()

    def bottom(columns: range) -> int:
        return max(
            y for y in range(image.height()) for x in columns if image.pixelColor(x, y).lightness() < 140
        )

    assert abs(bottom(range(left - 5)) - bottom(range(left + 2, left + 7))) <= 1


def test_one_formula_written_in_two_ways_is_copied_in_two_ways(frame: QWidget, qtbot: QtBot) -> None:
    assert pane_of(frame, qtbot, "$g^2$ is \\(g^2\\)").plain_text() == "$g^2$ is \\(g^2\\)"


def test_code_beside_a_formula_is_as_high_as_other_code(frame: QWidget, qtbot: QtBot) -> None:
    pane = pane_of(frame, qtbot, "so `word` is $\\frac{\\frac{a}{b}}{\\frac{c}{d}}$ high")
    (ground,) = pane.grounds_of_words()
    line = pane.document().begin().layout().lineAt(0)
    assert ground.height() < 0.7 * line.height()
    shown = pane.viewport().grab().toImage()
    scale = shown.devicePixelRatio()
    column = [shown.pixelColor(int((ground.left() + 1) * scale), y).name() for y in range(shown.height())]
    assert column.count(LIGHT.raised) == pytest.approx(ground.height() * scale, abs=5)  # less a letter's ink
    assert as_markdown(pane.copied(0, pane.length)).startswith("so `word` is $")


def test_code_beside_a_formula_keeps_its_ground_in_a_narrower_column(frame: QWidget, qtbot: QtBot) -> None:
    source = "some words that fill the line, so `word` is $\\frac{\\frac{a}{b}}{\\frac{c}{d}}$ high"
    pane, other = pane_of(frame, qtbot, source), pane_of(frame, qtbot, source)
    wide = pane.viewport().grab().toImage()
    pane.arrange(150)
    other.arrange(150)  # not painted before
    assert pane.viewport().grab().toImage() == other.viewport().grab().toImage() != wide


def test_hidden_characters_of_a_formula_are_spelled_out(frame: QWidget, qtbot: QtBot) -> None:
    assert pane_of(frame, qtbot, "$a\u202eb$").toPlainText() == "$a⟦U+202E⟧b$"


def inks(pane: ProsePane) -> set[str]:
    found: set[str] = set()
    for image in pane._images.values():
        found |= {image.pixelColor(x, y).name() for x in range(image.width()) for y in range(image.height())}
    return found


def test_formulas_take_the_colours_of_the_theme(frame: QWidget, qtbot: QtBot, qapp: QApplication) -> None:
    body = AnswerBody(frame)
    body.show_whole(split_thinking("a $k^2$ b"))
    (pane,) = body.parts
    assert isinstance(pane, ProsePane)
    qtbot.waitUntil(lambda: "\ufffc" in pane.toPlainText())
    assert LIGHT.text in inks(pane)
    apply_theme(qapp, "dark")
    try:
        qtbot.waitUntil(lambda: DARK.text in inks(pane))
    finally:
        apply_theme(qapp, "light")


def test_a_formula_is_never_its_source_again(frame: QWidget, qtbot: QtBot, qapp: QApplication) -> None:
    """After a change of the theme it has the new colour at once, and is drawn anew behind that."""
    pane = pane_of(frame, qtbot, "a $v^2$ b")
    apply_theme(qapp, "dark")
    try:
        pane.redraw()
        assert formulas().num_waiting == 1
        assert pane.toPlainText() == "a \ufffc b"
        assert LIGHT.text not in inks(pane)
        assert DARK.text in inks(pane)
        assert as_markdown(pane.copied(0, pane.length)) == "a $v^2$ b"
        with qtbot.waitSignal(pane.height_changed):
            pass
        assert pane._former == {}
    finally:
        apply_theme(qapp, "light")


def test_formulas_grow_with_the_text(frame: QWidget, qtbot: QtBot) -> None:
    pane = pane_of(frame, qtbot, "a $m^2$ b")
    before = max(image.height() for image in pane._images.values())
    font = QFont(pane.document().defaultFont())
    font.setPointSizeF(2 * font.pointSizeF())
    pane.set_reading_font(font)
    qtbot.waitUntil(
        lambda: max((image.height() for image in pane._images.values()), default=0) > 1.5 * before
    )


def test_a_formula_asked_for_twice_is_drawn_once(frame: QWidget, qtbot: QtBot) -> None:
    first = pane_of(frame, qtbot, "$q^2$")
    with qtbot.assertNotEmitted(formulas().drawn):
        second = pane_of(frame, qtbot, "$q^2$")
    assert next(iter(first._images.values())) is next(iter(second._images.values()))


def test_a_view_shows_all_its_formulas_however_few_are_kept(
    frame: QWidget, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.ui.message.math_image.MAX_KEPT", 1)
    pane = pane_of(frame, qtbot, "$r^2$ $s^2$ $t^2$")
    assert pane.toPlainText() == "\ufffc \ufffc \ufffc"


def test_a_model_cannot_name_an_image_of_ours(frame: QWidget, qtbot: QtBot) -> None:
    pane = pane_of(frame, qtbot, "$w^2$")
    (name,) = pane._images
    other = pane_of(frame, qtbot, f'<img src="{name}"> ![x]({name})')
    assert "\ufffc" not in other.toPlainText()
    assert isinstance(other.loadResource(2, name), QImage)
    assert other.loadResource(2, name).width() == 1


def test_a_formula_wider_than_the_page_is_drawn_smaller(frame: QWidget, qtbot: QtBot) -> None:
    pane = pane_of(frame, qtbot, r"$$a\hspace{500pt}z$$")
    wide = max(image.width() for image in pane._images.values())
    for width in (300, 200, wide + 100):
        pane.arrange(width)
        assert pane.document().idealWidth() <= width
    high = pane.arrange(wide + 100)
    assert pane.arrange(200) < high


def test_a_long_display_formula_scrolls_sideways(frame: QWidget, qtbot: QtBot) -> None:
    source = "$$\n" + " + ".join(f"a_{{{n}}}" for n in range(24)) + "\n$$"
    pane = pane_of(frame, qtbot, source)
    (image,) = pane._images.values()
    high = pane.arrange(300)
    assert pane.width() == 300
    assert "width=" not in pane.document().toHtml().split("<img")[1].split(">")[0]
    assert pane.horizontalScrollBar().maximum() == pytest.approx(image.width() - 300, abs=8)
    assert not pane.verticalScrollBar().maximum()
    assert pane.arrange(image.width() + 50) < high
    assert pane.horizontalScrollBar().maximum() == 0


def test_code_in_a_list_can_be_copied_by_its_icon(frame: QWidget, qtbot: QtBot) -> None:
    pane = pane_of(frame, qtbot, '1. step\n\n   ```py\n   x = "<a>"\n   ```\n\n2. next')
    assert pane.tip_of("copy:0") == "Copy code"
    pane.anchorClicked.emit(QUrl("copy:0"))
    assert QGuiApplication.clipboard().text() == 'x = "<a>"\n'
    assert "\ufffc" not in pane.plain_text()
    pane.anchorClicked.emit(QUrl("copy:7"))


def test_code_in_a_list_lies_on_a_ground_with_round_corners(frame: QWidget, qtbot: QtBot) -> None:
    pane = pane_of(frame, qtbot, "- step\n\n  ```py\n  x = 1\n  ```\n\n> ```\n> y\n> ```")
    image = pane.grab().toImage()
    grounds = [frame for frame in _frames(pane.document().rootFrame()) if isinstance(frame, QTextTable)]
    assert len(grounds) == 2
    for ground in grounds:
        text = pane.cursorRect(ground.firstCursorPosition())
        left, top = (at - int(ground.format().cellPadding()) for at in (text.left(), text.top()))
        colours = [[image.pixelColor(x, y).name() for x in range(left, pane.width())] for y in (top, top + 9)]
        assert colours[0][12] == colours[1][0] == colours[1][-1] == LIGHT.raised
        assert LIGHT.raised not in (colours[0][0], colours[0][-1])


def test_a_message_cannot_make_such_a_link(frame: QWidget, qtbot: QtBot) -> None:
    pane = pane_of(frame, qtbot, '[x](copy:0) <copy code="y"> <a href="copy:0">z</a>')
    assert pane._codes == []
    assert "<a " not in pane._html


def test_many_formulas_are_put_on_the_line_in_one_change(frame: QWidget, qtbot: QtBot) -> None:
    pane = pane_of(frame, qtbot, "$n$ " * 50)
    changes: list[tuple[int, int, int]] = []
    pane.document().contentsChange.connect(lambda *change: changes.append(change))
    pane.redraw()
    assert pane.toPlainText().count("\ufffc") == 50
    assert len(changes) < 5


def test_in_quotations_no_table_stands_in_another(frame: QWidget, qtbot: QtBot) -> None:
    """Qt lays out what stands in a table twice, and so 16 times what stands in four."""
    pane = pane_of(frame, qtbot, ">>> |a|b|\n>>> |-|-|\n>>> |c|d|")

    def num_tables_deep(within: QTextFrame) -> int:
        deepest = max((num_tables_deep(inner) for inner in within.childFrames()), default=0)
        return deepest + isinstance(within, QTextTable)

    assert num_tables_deep(pane.document().rootFrame()) == 1
    assert pane.plain_text().split() == ["a", "b", "c", "d"]


def test_a_bar_stands_beside_a_quotation(frame: QWidget, qtbot: QtBot) -> None:
    pane = pane_of(frame, qtbot, "said:\n\n> one\n>\n> > two")
    image = pane.grab().toImage()

    def bars(word: str) -> int:
        y = pane.cursorRect(pane.document().find(word)).center().y()
        return sum(image.pixelColor(x, y).name() == LIGHT.hairline for x in range(2 * QUOTE_INDENT))

    assert [bars("said"), bars("one"), bars("two")] == [0, BAR, 2 * BAR]


def test_only_quotations_have_a_bar(frame: QWidget, qtbot: QtBot) -> None:
    pane = pane_of(frame, qtbot, "# Head\n\nso $a^2$ is\n\n> quoted\n\n| a | b |\n| - | - |\n| 1 | 2 |")
    assert "\ufffc" in pane.toPlainText()
    barred = [each.firstCursorPosition().block().text() for each in _frames(pane.document().rootFrame())]
    assert barred == ["quoted"]


def test_a_selection_has_one_colour_over_words_and_formulas(frame: QWidget, qtbot: QtBot) -> None:
    pane = pane_of(frame, qtbot, "so $a^2$ is")
    assert "\ufffc" in pane.toPlainText()
    pane.show_selected(0, pane.length, is_lit=True)
    image = pane.grab().toImage()
    places = ((x, y) for x in range(image.width()) for y in range(image.height()))
    _ground, selected, letters = Counter(image.pixelColor(*place).name() for place in places).most_common(3)
    assert letters[1] < selected[1] / 10
