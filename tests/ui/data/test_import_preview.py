from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from app.chats.chat import Chat, Turn
from app.chats.imports.entries import Problem
from app.chats.imports.read import FoundChats
from app.protocol.request import Role
from app.services.chat_transfer import ImportPlan
from app.ui.data.import_preview import MAX_LINES, MAX_NAMES, ImportPreview


def found(title: str, num_messages: int = 2, left_out: int = 0, source: str = "ChatGPT") -> FoundChats:
    return FoundChats(
        Chat(title=title, turns=[Turn(Role.USER, "x") for _ in range(num_messages)]), source, left_out
    )


BAD = (
    Problem("a.json", 12, "Trip\nto Rome", "It contains no messages."),
    Problem("a.json", 13, "", "It contains no messages."),
    Problem("b.json", 0, "", "The file is empty. Export it again."),
)


@pytest.fixture
def preview(qtbot: QtBot) -> Iterator[ImportPreview]:
    window = QWidget()
    qtbot.addWidget(window)
    window.show()
    preview = ImportPreview(window)
    preview.show()
    yield preview


def test_nothing_can_be_imported_before_it_is_read(preview: ImportPreview) -> None:
    preview.show_progress(0.5)
    assert preview.bar.value() == 500
    assert not preview.import_button.isEnabled()
    assert not preview.isModal()


def test_the_plan_is_told_before_anything_changes(preview: ImportPreview, qtbot: QtBot) -> None:
    plan = ImportPlan((found("A <b>"), found("B", 1, 3, "Jan")), (found("C"),), BAD)
    preview.show_plan(plan)
    assert preview.summary.text() == "2 new chats with 3 messages, from ChatGPT, Jan. 1 already exists."
    assert preview.chats.lines == ["A <b> · 2 messages", "B · 1 message"]
    assert preview.problems.lines == [
        "Chat 12, “Trip to Rome”: It contains no messages.",
        "Chat 13: It contains no messages.",
        "b.json: The file is empty. Export it again.",
    ]
    assert preview.left_out.text() == "3 pictures and other files without text are left out."
    assert preview.import_button.text() == "Import 2 chats"
    with qtbot.waitSignal(preview.accepted_plan) as accepted:
        preview.import_button.click()
    assert accepted.args == [plan, False]


def test_those_that_are_here_already_come_only_when_wanted(preview: ImportPreview, qtbot: QtBot) -> None:
    plan = ImportPlan((), (found("A"), found("B")))
    preview.show_plan(plan)
    assert preview.summary.text() == "All chats in this export (ChatGPT) already exist."
    assert not preview.import_button.isEnabled()
    assert preview.known_words.text() == "Import 2 chats that already exist again, as copies"
    preview.with_known.click()
    assert preview.import_button.text() == "Import 2 chats"
    with qtbot.waitSignal(preview.accepted_plan) as accepted:
        preview.import_button.click()
    assert accepted.args == [plan, True]


def test_those_that_went_on_elsewhere_are_told(preview: ImportPreview) -> None:
    preview.show_plan(ImportPlan((), (found("A"), found("B")), num_changed=1))
    assert preview.summary.text().endswith(
        "already exist. 1 of these has a different number of messages here."
    )


def test_an_export_with_nothing_in_it_says_so(preview: ImportPreview) -> None:
    preview.show_plan(ImportPlan(problems=BAD))
    assert preview.summary.text() == "There is nothing to import."
    assert not preview.import_button.isEnabled()
    assert not preview.known_words.isVisible()
    assert preview.problems.isVisible()


def test_of_thousands_of_chats_the_first_are_listed(preview: ImportPreview) -> None:
    preview.show_plan(ImportPlan(tuple(found(f"{number}") for number in range(MAX_LINES + 5))))
    assert len(preview.chats.lines) == MAX_LINES + 1
    assert preview.chats.lines[-1] == "and 5 more"


def test_closing_it_while_a_file_is_read_stops_that(preview: ImportPreview, qtbot: QtBot) -> None:
    with qtbot.waitSignal(preview.stopped):
        preview.cancel_button.click()


def test_closing_it_afterwards_stops_nothing(preview: ImportPreview, qtbot: QtBot) -> None:
    preview.show_plan(ImportPlan((found("A"),)))
    with qtbot.assertNotEmitted(preview.stopped):
        preview.close()


def test_while_it_is_imported_nothing_can_be_clicked(preview: ImportPreview) -> None:
    preview.show_plan(ImportPlan((found("A"),), (found("B"),)))
    preview.show_importing()
    assert not preview.import_button.isEnabled()
    assert not preview.with_known.isEnabled()
    assert str(Path("a.json")) == BAD[0].file


def test_what_else_is_left_out_is_named(preview: ImportPreview) -> None:
    one = FoundChats(
        Chat(title="A", turns=[Turn(Role.USER, "x")]), "ChatGPT", 0, Counter({"tether_quote": 2, "poll": 1})
    )
    other = FoundChats(
        Chat(title="B", turns=[Turn(Role.USER, "x")]), "ChatGPT", 1, Counter({"tether_quote": 1})
    )
    preview.show_plan(ImportPlan((one,), (other,)))
    assert preview.left_out.text() == (
        "1 picture or other file without text is left out. "
        "Also left out, by its names in the file: tether_quote (3), poll (1)."
    )
    many = Counter({f"kind {number}": 100 - number for number in range(MAX_NAMES + 2)})
    preview.show_plan(ImportPlan((replace(one, unread=many),)))
    assert preview.left_out.text().endswith(f"kind {MAX_NAMES - 1} ({101 - MAX_NAMES}), and 2 more.")
    assert "picture" not in preview.left_out.text()
