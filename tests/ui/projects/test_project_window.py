"""The page of a project, with projects, chats and models that are made up."""

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QApplication, QLineEdit, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from app.chats.project import MAX_TOLD_CHARS, Fact, Project
from app.ui.base.long_text_box import LongTextBox
from app.ui.base.setting_controls import NamedControl
from app.ui.projects.project_window import ProjectWindow, facts_text
from tests.fakes import model_info
from tests.ui.fakes import FakeEngine, FakeProjects

Key = Qt.Key
LONG = "x" * 500
FACTS = (Fact("It is 9 m long.", "length"), Fact("Ann steers.", "ann", chat_id="sums", turn_id="turn"))
PROPOSED = (Fact("Bob cooks.", "bob"), Fact("Eve swims.", "eve"))
BOAT = Project("Boat", "boat", instructions="Be brief.", facts=FACTS, proposed=PROPOSED)


class Part(QObject):
    changed = Signal()

    def __init__(self, **values: Any) -> None:
        super().__init__()
        for name, value in values.items():
            setattr(self, name, value)


@pytest.fixture
def projects() -> FakeProjects:
    return FakeProjects(BOAT)


@pytest.fixture
def page(projects: FakeProjects, qtbot: QtBot) -> Iterator[ProjectWindow]:
    titles = {"sums": SimpleNamespace(title="Sums")}
    shelf = SimpleNamespace(id="docs", name="Docs")
    file = SimpleNamespace(path=Path("/models/other.gguf"), title="Other", can_chat=True)
    services: Any = SimpleNamespace(
        projects=projects,
        engine=FakeEngine(model_info(name="starter", n_ctx=4096)),
        chat_library=Part(chat=titles.get),
        shelves=Part(states=(SimpleNamespace(shelf=shelf),)),
        model_library=Part(models=(file,)),
        tools=Part(servers=(SimpleNamespace(name="git", is_enabled=True),)),
    )
    page = ProjectWindow(services, None)  # type: ignore[arg-type]
    qtbot.addWidget(page)
    page.show_project(BOAT)
    qtbot.waitExposed(page)
    page.activateWindow()
    yield page
    page.hide()


def boat(projects: FakeProjects) -> Project:
    return projects.all[0]


def texts(facts: tuple[Fact, ...]) -> list[str]:
    return [fact.text for fact in facts]


def names(combo: QWidget) -> list[str]:
    assert isinstance(combo, NamedControl)
    return [combo.itemText(row) for row in range(combo.count())]


def test_what_the_facts_are_used_for_is_said() -> None:
    assert facts_text(Project("Boat"), 0).startswith("None yet.")
    assert facts_text(BOAT, 0) == "The model is told 2 facts."
    many = Project("Boat", facts=tuple(Fact(LONG) for _ in range(40)))
    told = MAX_TOLD_CHARS // 500
    assert facts_text(many, 0) == f"The model is told {told} facts. {40 - told} older facts do not fit."


def test_facts_are_switched_edited_and_deleted_by_keyboard(page, projects, qtbot: QtBot) -> None:
    facts = page.facts
    assert texts(facts.facts) == ["Ann steers.", "It is 9 m long."], "the newest one first"
    facts.setFocus()
    qtbot.keyClick(facts, Key.Key_Space)
    assert [fact.is_on for fact in boat(projects).facts] == [True, False]
    assert page.note.text() == "The model is told 1 fact."
    qtbot.keyClick(facts, Key.Key_Return)
    edit = QApplication.focusWidget()
    assert isinstance(edit, QLineEdit)
    qtbot.keyClicks(edit, "Ann cooks.")
    qtbot.keyClick(edit, Key.Key_Return)
    qtbot.waitUntil(facts.hasFocus)
    assert texts(boat(projects).facts) == ["It is 9 m long.", "Ann cooks."]
    facts.choose(1)
    qtbot.keyClick(facts, Key.Key_Delete)
    assert texts(boat(projects).facts) == ["Ann cooks."]
    page.undo.undo()
    assert texts(boat(projects).facts) == ["It is 9 m long.", "Ann cooks."], "in its place"


def test_a_fact_is_added_by_enter(page, projects, qtbot: QtBot) -> None:
    page.new.setFocus()
    qtbot.keyClicks(page.new, "Eve swims.")
    qtbot.keyClick(page.new, Key.Key_Return)
    assert texts(boat(projects).facts)[-1] == "Eve swims."
    assert page.new.text() == ""
    assert page.isVisible(), "Enter did not close the page"


def button(page: ProjectWindow, text: str) -> QPushButton:
    return next(one for one in page.findChildren(QPushButton) if one.text() == text)


def test_proposals_are_accepted_in_other_words_or_dropped(page, projects, qtbot: QtBot) -> None:
    proposed = page.proposed
    assert proposed.hasFocus(), "they are why the page was opened"
    qtbot.keyClick(proposed, Key.Key_Return)
    edit = QApplication.focusWidget()
    qtbot.keyClicks(edit, "Bob cooks on Fridays.")
    qtbot.keyClick(edit, Key.Key_Return)
    qtbot.waitUntil(proposed.hasFocus)
    assert texts(boat(projects).proposed)[0] == "Bob cooks on Fridays.", "it still waits"
    qtbot.keyClick(proposed, Key.Key_Space)
    assert len(boat(projects).proposed) == 2, "typing accepts nothing"
    button(page, "&Accept").click()
    assert texts(boat(projects).facts)[-1] == "Bob cooks on Fridays."
    qtbot.keyClick(proposed, Key.Key_Delete)
    assert boat(projects).proposed == ()
    assert boat(projects).dropped == ("Eve swims.",)
    assert proposed.isHidden() or not proposed.isVisible()
    page.undo.undo()
    assert texts(boat(projects).proposed) == ["Eve swims."]
    assert boat(projects).dropped == ()
    button(page, "&Accept").click()
    assert texts(boat(projects).facts)[-1] == "Eve swims."


def test_instructions_are_saved_after_a_pause_and_before_anybody_looks_elsewhere(
    page, projects, qtbot: QtBot
) -> None:
    box = page.options["instructions"].widget
    assert isinstance(box, LongTextBox)
    box.selectAll()
    qtbot.keyClicks(box, "Be long.")
    assert boat(projects).instructions == "Be brief."
    qtbot.waitUntil(lambda: boat(projects).instructions == "Be long.")
    qtbot.keyClicks(box, " Please.")
    page.hide()
    assert boat(projects).instructions == "Be long. Please."


def test_what_new_chats_have_is_chosen_among_what_there_is(page, projects, qtbot: QtBot) -> None:
    options = page.options
    asked: list[None] = []
    page.shelves_requested.connect(lambda: asked.append(None))
    assert names(options["shelf_id"].widget) == ["None", "Docs", "Manage shelves…"]
    assert names(options["model_path"].widget) == ["As in other chats", "Other", "starter"]
    assert names(options["tools"].widget)[0] == "As in other chats"
    for name in ("shelf_id", "model_path", "tools"):
        options[name].widget.setFocus()
        qtbot.keyClick(options[name].widget, Key.Key_Down)
    now = boat(projects)
    assert (now.shelf_id, now.model_path, now.tools) == ("docs", "/models/other.gguf", ("skein/*",))
    qtbot.keyClick(options["shelf_id"].widget, Key.Key_Down)
    assert len(asked) == 1
    assert boat(projects).shelf_id == "docs"
    options["tools"].reset.click()
    assert boat(projects).tools == ()
    qtbot.keyClick(options["proposes"].widget, Key.Key_Space)
    assert not boat(projects).proposes


def test_a_shelf_that_is_gone_is_not_offered(page, projects) -> None:
    projects.change("Boat", lambda project: Project(project.folder, project.id, shelf_id="gone"))
    combo = page.options["shelf_id"].widget
    assert combo.currentText() == "None"
    assert "gone" not in names(combo)


def test_the_message_that_a_fact_comes_from_can_be_opened(page, qtbot: QtBot) -> None:
    opened: list[Fact] = []
    page.source_opened.connect(opened.append)
    show = button(page, "&Show message")
    page.facts.choose(1)
    assert not show.isEnabled()
    page.facts.choose(0)
    show.click()
    assert opened == [FACTS[1]], "the other one was written by hand"


def test_a_page_follows_its_folder_and_goes_with_the_project(page, projects, qtbot: QtBot) -> None:
    projects._projects = {"Ship": Project("Ship", "boat")}
    projects.changed.emit()
    assert page.windowTitle() == "Project: Ship"
    gone: list[Project] = []
    page.removed.connect(gone.append)
    page._remove()
    assert [project.folder for project in gone] == ["Ship"]
    assert not page.isVisible()


def test_what_failed_is_said_on_the_page(page, projects) -> None:
    projects.failed.emit("The disk is full.")
    assert page.trouble.text() == "The disk is full."


def test_tab_goes_through_the_page_in_reading_order(page, qtbot: QtBot) -> None:
    page.options["instructions"].widget.setFocus()
    seen: list[str] = []
    while len(seen) < 24:
        widget = QApplication.focusWidget()
        seen.append(widget.accessibleName() or widget.property("text").replace("&", ""))
        qtbot.keyClick(widget, Key.Key_Tab)
        if QApplication.focusWidget() is page.options["instructions"].widget:
            break
    assert seen == [
        *("Instructions", "Documents", "Model", "Tools", "Turn into a plain folder"),
        *("Proposed facts", "Accept", "Edit", "Drop", "Let the model propose facts"),
        *("Facts", "Another fact", "Add", "Edit", "Delete", "Show message", "Import…", "Export…"),
    ]


def test_a_thousand_facts_are_rows_and_not_widgets(page, projects) -> None:
    before = len(page.findChildren(QWidget))
    projects.set(Project("Boat", "boat", facts=tuple(Fact(f"Fact {number}") for number in range(1_000))))
    assert page.facts.model().rowCount() == 1_000
    assert len(page.findChildren(QWidget)) == before


def test_a_fact_without_words_is_deleted_and_can_be_brought_back(page, projects, qtbot: QtBot) -> None:
    before = boat(projects).facts
    page.facts.setFocus()
    page.facts.choose(0)
    qtbot.keyClick(page.facts, Key.Key_Return)
    edit = QApplication.focusWidget()
    assert isinstance(edit, QLineEdit)
    edit.clear()
    qtbot.keyClick(edit, Key.Key_Return)
    qtbot.waitUntil(lambda: len(boat(projects).facts) == len(before) - 1)
    qtbot.keyClick(page, Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert boat(projects).facts == before


def test_a_proposal_that_comes_while_one_is_edited_waits(page, projects, qtbot: QtBot) -> None:
    qtbot.keyClick(page.proposed, Key.Key_Return)
    edit = QApplication.focusWidget()
    assert isinstance(edit, QLineEdit)
    qtbot.keyClicks(edit, "Bob")
    projects.change("Boat", Project.with_proposed, [Fact("Ann rows.")])
    assert edit.text() == "Bob"
    qtbot.keyClick(edit, Key.Key_Return)
    qtbot.waitUntil(lambda: texts(page.proposed.facts) == texts(boat(projects).proposed))
    assert {"Bob", "Ann rows."} <= set(texts(boat(projects).proposed))
