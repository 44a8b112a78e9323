"""Tokens at their places in the rendered answer."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtGui import QColor, QPalette
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.inspector.probabilities import COMPUTING, ProbabilitiesPanel
from app.inspector.token_tint import STEPS, tint
from app.look.tokens import ALL, Tokens, current, mixed
from app.protocol.lens import LeaveOut, LensRefusal, Scores
from app.protocol.report import ChatTokens
from app.ui.main_window import MainWindow
from app.ui.message.text_part import SelectedText
from app.ui.transcript.token_lights import places, shown_spans
from tests.inspector.reports import report
from tests.look.test_tokens import contrast
from tests.ui.fakes import FakeEngine, FakeSession, FakeWorkspace

WRITTEN = "**Sums** are [here](https://its.org): `2+2`, *and* 4️⃣ 𝒳. Sums end."
PIECES = tuple(
    piece.encode()
    for piece in (
        *("**", "Sums", "**", " are", " [", "here", "](", "https", "://", "its", ".org", "):", " `", "2"),
        *("+", "2", "`,", " *", "and", "*", " 4️⃣", " 𝒳", ".", " Sums", " end", "."),
    )
)
SHOWN = "Sums are here: 2+2, and 4️⃣ 𝒳. Sums end."


def test_each_token_is_found_where_it_is_shown_and_hidden_ones_are_nowhere() -> None:
    spans = shown_spans(PIECES, WRITTEN, WRITTEN, SHOWN)
    found = [SHOWN[slice(*span)] if span else None for span in spans]
    assert found == [
        *(None, "Sums", None, "are", None, "here", None, None, None, None, None, None, None, "2"),
        *("+", "2", ",", None, "and", None, "4️⃣", "𝒳", ".", "Sums", "end", "."),
    ]
    # “:” is written twice before the next letter, and shown once: which one it is, is not certain.
    begins = [span[0] for span in spans if span]
    assert begins == sorted(begins), "the second “Sums” is another one"


def test_thinking_before_the_answer_is_not_taken_for_it() -> None:
    pieces = (b"<think>", b"Yes", b"</think>", b"Yes")
    assert shown_spans(pieces, "<think>Yes</think>Yes", "Yes", "Yes") == [None, None, None, (0, 3)]


def test_tokens_of_another_text_are_nowhere() -> None:
    """The answer has gone on without them, after it called a tool."""
    assert shown_spans((b"Let me see.",), "Yes", "Yes", "Yes") == []
    assert shown_spans((b"Yes",), "Yes, so it is.", "Yes, so it is.", "Yes, so it is.") == [(0, 3)]


def test_a_token_of_which_a_part_is_hidden_is_not_marked() -> None:
    pieces = (b"x ", b"&amp;", b" b", b"[^1] ", b"c")
    assert shown_spans(pieces, "x &amp; b[^1] c", "x &amp; b[^1] c", "x & b c") == [
        *((0, 1), None, (4, 5), None, (6, 7)),
    ]


def test_list_numbers_formulas_and_table_rules_are_passed_over() -> None:
    written = "1. First\n2. $\\frac{a}{b}$ Second\n\n| A | B |\n|---|---|\n| x1 | y2 |\n"
    shown = "First\n\ufffc Second\nA\nB\nx1\ny2\n"
    found = places(written, shown)
    for word in ("First", "Second", "x1", "y2"):
        assert found[written.index(word)] == shown.index(word)
    assert found[written.index("frac")] is None


# What is written, and the part of it that is shown.
ATOMS = {
    "word": "word",
    "**bold**": "bold",
    "`co de`": "co de",
    "[li](http://a.b/word)": "li",
    "[word](https://word.org/bold 'word')": "word",
    "ß": "ß",
    "你好": "你好",
    "a, b.": "a, b.",
    "$x^2$": "",
    "[^word]": "",
    "[^bold word]": "",
    "&amp;": "&",
    "\n\n1. ": "",
    "\n\n```word\n": "",
}


@given(st.lists(st.sampled_from(sorted(ATOMS))))
def test_no_character_is_placed_where_it_does_not_stand(atoms: list[str]) -> None:
    written, shown, true = "", "", dict[int, int]()
    for atom in atoms:
        begin = len(written) + atom.index(ATOMS[atom])
        true |= {begin + index: len(shown) + index for index in range(len(ATOMS[atom]))}
        written, shown = f"{written}{atom} ", f"{shown}{ATOMS[atom]}{' ' if ATOMS[atom] else chr(10)}"
    placed = {index: place for index, place in enumerate(places(written, shown)) if place is not None}
    assert placed.items() <= true.items()
    if atoms and all(atom in ("word", "**bold**", "`co de`", "ß", "你好") for atom in atoms):
        assert {written[index] for index in true.keys() - placed.keys()} <= {" "}


@pytest.fixture
def panel(window: MainWindow) -> ProbabilitiesPanel:
    panel = window.inspector.panel("probabilities")
    assert isinstance(panel, ProbabilitiesPanel)
    return panel


@pytest.fixture
def session(
    window: MainWindow, workspace: FakeWorkspace, engine: FakeEngine, panel: ProbabilitiesPanel
) -> FakeSession:
    """With an answer that is inspected."""
    session = workspace.sessions[0]
    session.send("2+2=")
    session.say(WRITTEN)
    session.finish()
    window.tabs.views[0].turn_actions.tokens_requested.emit(session, session.chat.turns[1])
    tokens = ChatTokens(session.chat.id, tuple(range(2 + len(PIECES))), 2, PIECES)
    engine.reported.emit((replace(report(1), answers=(tokens,)),))
    panel.draw()
    return session


def marked(window: MainWindow) -> list[tuple[str, str]]:
    """The marked texts of all turns, and the colours behind them."""
    panes: list[SelectedText] = [
        pane for view in window.tabs.views[0].transcript.live_views for pane in view.text_panes()
    ]
    found = [selection for pane in panes for selection in pane.extraSelections()]  # type: ignore[attr-defined]
    return [(one.cursor.selectedText(), one.format.background().color().name()) for one in found]


def test_the_chosen_token_lights_up_in_the_answer_while_the_panel_is_seen(
    window: MainWindow, session: FakeSession, panel: ProbabilitiesPanel, qtbot: QtBot
) -> None:
    assert marked(window) == [], "the first token is hidden: two asterisks"
    panel.token_table.selectRow(23)
    # What takes longer than a frame is laid out in those that follow.
    qtbot.waitUntil(lambda: marked(window) == [("Sums", current().accent)])
    panel.token_table.selectRow(21)
    assert marked(window) == [("𝒳", current().accent)]
    session.send("another")
    session.say("answer")
    window.tabs.views[0].transcript.mark_dirty()
    assert marked(window) == [("𝒳", current().accent)]
    panel.hide()
    assert marked(window) == []
    panel.show()
    assert marked(window) == [("𝒳", current().accent)]
    panel.reset()
    assert marked(window) == []


def test_the_answer_is_coloured_by_how_sure_each_token_was(
    window: MainWindow, engine: FakeEngine, session: FakeSession, panel: ProbabilitiesPanel
) -> None:
    panel.colours.click()
    question = engine.posted[-1]
    assert isinstance(question, LeaveOut)
    assert (question.part, question.spans) == ((2, 2 + len(PIECES)), ())
    assert panel.legend.text() == COMPUTING
    logprobs = (-0.01,) * 23 + (-0.5, -1.5, -5.0)
    scores = Scores(question.query_id, None, logprobs, 0.1, is_last=True)
    engine.reported.emit((replace(report(2), answers=(scores,)),))
    panel.draw()
    assert panel.legend.isVisible()
    assert "≥ 90%" in panel.legend.text()
    names = [name for _least, name, _share in STEPS]
    wanted = [("Sums", names[0]), ("Sums", names[1]), ("end", names[2]), (".", names[3])]
    found = marked(window)
    assert [found[0], *found[-3:]] == [(text, getattr(current(), name)) for text, name in wanted]
    panel.token_table.selectRow(1)
    assert marked(window)[0] == ("Sums", current().accent)
    refusal = LensRefusal(question.query_id, "This model cannot be read.")
    engine.reported.emit((replace(report(3), answers=(refusal,)),))
    panel.draw()
    assert (panel.status.text(), panel.legend.isVisible()) == ("This model cannot be read.", False)


def test_the_colours_go_with_the_panel_and_with_the_answer(
    window: MainWindow, engine: FakeEngine, session: FakeSession, panel: ProbabilitiesPanel, qtbot: QtBot
) -> None:
    inspect = window.tabs.views[0].turn_actions.tokens_requested.emit
    for leave in (panel.hide, lambda: inspect(session, session.chat.turns[3])):
        panel.show()
        panel.colours.setChecked(True)
        question = engine.posted[-1]
        assert isinstance(question, LeaveOut)
        scores = Scores(question.query_id, None, (-0.5,) * len(PIECES), 0.1, is_last=True)
        engine.reported.emit((replace(report(2), answers=(scores,)),))
        panel.draw()
        assert marked(window)
        session.send("and 1?")
        session.say("5")
        session.finish()
        leave()
        assert not panel.colours.isChecked()
        assert marked(window) == []


@pytest.mark.parametrize("tokens", ALL)
def test_text_on_a_tint_is_legible(qapp: QApplication, tokens: Tokens) -> None:
    before = qapp.palette()
    palette = QPalette(QColor(tokens.surface))
    qapp.setPalette(palette)
    try:
        for ground in (current().window, current().raised):
            for logprob in (-0.01, -0.5, -1.5, -5.0):
                colour = tint(logprob)
                seen = mixed(QColor(ground), QColor(colour.name()), colour.alphaF())
                assert contrast(current().text, seen.name()) >= 7
    finally:
        qapp.setPalette(before)
