"""Projects over a real database: what they change in chats, and what becomes of them with their folders."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest
from PySide6.QtCore import QObject

from app.bridge import tasks
from app.bridge.report_router import ReportRouter
from app.bridge.workspace import Workspace
from app.chats.project import MAX_FACTS, TOLD, Fact, Project
from app.engine.cells.kept_cells import path_of
from app.protocol.request import SHELF, Role
from app.services.chat_library import ChatLibrary
from app.services.preferences import Preferences
from app.services.projects import FULL, MAX_FILE_BYTES, Projects
from app.services.services import Services
from app.storage.chat_store import ChatStore
from app.storage.errors import StorageError
from app.system import paths

BOAT = Project(
    "Boat",
    instructions="Be brief.",
    tools=("maps/*",),
    facts=(Fact("It is 9 m long."), Fact("Ann steers.")),
    proposed=(Fact("Bob cooks."), Fact("Eve swims.")),
)


class Texts:
    """Shelves by their ids; one that does not fit is "large"."""

    def __init__(self) -> None:
        self.texts = {"docs": "[1] a.txt", "large": "Passages may come."}

    def is_ready(self, _shelf_id):
        return True

    def is_whole(self, shelf_id, _room):
        return shelf_id != "large"

    def text_before(self, shelf_id, _room):
        return self.texts.get(shelf_id, "")

    def is_settled(self, shelf_id):
        return shelf_id != "unread"

    async def passages(self, *_asked):
        return ()


class Run(SimpleNamespace):
    workspace: Workspace
    library: ChatLibrary
    projects: Projects
    heard: list[str]


@pytest.fixture
def opened(qloop, engine, settings, tmp_path: Path) -> Callable[..., object]:
    """A run of the program on the same database."""

    @asynccontextmanager
    async def run(*projects: Project) -> AsyncIterator[Run]:
        parent, store, heard = QObject(), ChatStore(tmp_path / "chats.db"), []
        await store.open()
        workspace = Workspace(engine, store, settings, parent)
        ReportRouter(engine, workspace, workspace)
        library = ChatLibrary(store, workspace, parent)
        known = Projects(store, engine, library, Texts(), parent)
        known.failed.connect(heard.append)
        workspace.shelves.source, workspace.shelves.project_of = Texts(), known.of
        await known.load()
        await workspace.restore()
        await library.load()
        for project in projects:
            library.create_folder(project.folder)
            known.set(project)
        yield Run(workspace=workspace, library=library, projects=known, heard=heard, store=store)
        await workspace.shut_down()
        await tasks.finish_all()
        await store.close()
        parent.deleteLater()

    return run


def texts(facts: tuple[Fact, ...]) -> list[str]:
    return [fact.text for fact in facts]


async def test_a_chat_in_a_project_begins_with_it_and_then_its_own_prompt(opened, thread) -> None:
    async with opened(BOAT) as run:
        run.projects.set(Project("Boat", "boat", "Be brief.", "docs", facts=BOAT.facts))
        session = run.workspace.new_chat("Boat")
        session.chat.system_prompt = "Be funny."
        session.send("How long is it?")
        (request,) = thread.submitted
        begun = f"Be brief.\n\n[1] a.txt\n\n{TOLD}\n- It is 9 m long.\n- Ann steers."
        assert request.messages[0].role is Role.SYSTEM
        assert request.messages[0].content == f"{begun}\n\nBe funny."
        assert request.begins_as == "project boat"
        assert list(run.projects.beginnings(4096)) == [("project boat", begun)]
        assert session.shelf.text == begun, "what this chat is told"


async def test_its_own_shelf_stands_in_the_place_of_the_projects(opened, thread) -> None:
    async with opened(BOAT) as run:
        session = run.workspace.new_chat("Boat")
        session.set_shelf("docs")
        assert session.shelf.text.startswith("Be brief.\n\n[1] a.txt\n\n")
        assert session.shelf.begins_as == ""
        session.place(folder="")
        assert (session.shelf.text, session.shelf.begins_as) == ("[1] a.txt", f"{SHELF}docs")


async def test_a_shelf_that_does_not_fit_is_searched_and_the_rest_is_computed_once(opened, thread) -> None:
    async with opened(BOAT) as run:
        run.projects.set(Project("Boat", "boat", "Be brief.", "large"))
        session = run.workspace.new_chat("Boat")
        assert session.shelf.is_searched
        assert session.shelf.begins_as == "project boat"
        assert list(run.projects.beginnings(4096)) == [("project boat", session.shelf.text)]
        run.projects.set(Project("Boat", "boat", "Be brief.", "unread"))
        assert list(run.projects.beginnings(4096)) == [], "not before its files are read"


async def test_a_notebook_has_nothing_before_it(opened, thread) -> None:
    async with opened(BOAT) as run:
        notebook = run.workspace.new_notebook()
        notebook.place(folder="Boat")
        assert (notebook.shelf.text, notebook.shelf.begins_as) == ("", "")


async def test_a_new_chat_has_the_projects_tools_and_model_and_is_still_blank(opened, thread) -> None:
    async with opened(BOAT) as run:
        run.projects.set(Project("Boat", tools=("maps/*",), model_path="/m/b.gguf"))
        session = run.workspace.new_chat("Boat")
        chat = session.chat
        assert (chat.folder, chat.tools, chat.model_path) == ("Boat", ("maps/*",), "/m/b.gguf")
        assert session.is_blank
        other = run.workspace.new_chat("Garden").chat
        assert (other.folder, other.tools, other.model_path) == ("Garden", (), "")


async def test_it_follows_its_folder(opened, thread) -> None:
    async with opened(BOAT) as run:
        run.library.rename_folder("Boat", "Ship")
        assert run.projects.of("Boat") is None
        assert run.projects.of("Ship").chat_id == BOAT.chat_id
    async with opened() as run:
        assert run.library.folders == ("Ship",)
        assert texts(run.projects.of("Ship").facts) == texts(BOAT.facts)
        run.library.delete_folder("Ship")
        assert run.projects.of("Ship") is None
        assert BOAT.chat_id in thread.forgotten
        run.library.create_folder("Ship")
        assert run.projects.of("Ship") is None, "another folder of that name is no project"
        run.library.put_back_folder("Ship", 0, ())
        assert run.library.folders == ("Ship 2", "Ship")
        assert run.projects.of("Ship 2").chat_id == BOAT.chat_id
    async with opened() as run:
        assert [one.folder for one in run.projects.all] == ["Ship 2"]
        run.projects.remove("Ship 2")
        run.library.delete_folder("Ship 2")
        run.library.put_back_folder("Ship 2", 0, ())
        assert run.projects.of("Ship 2") is None, "it was none when it was deleted"


async def test_facts_are_added_edited_switched_and_deleted_and_kept(opened, thread) -> None:
    async with opened(BOAT) as run:
        first, second = BOAT.facts
        run.projects.change("Boat", Project.with_facts, [Fact("It is red."), Fact("ann steers")])
        run.projects.change("Boat", Project.with_changed, first.id, text="It is 10 m long.")
        run.projects.change("Boat", Project.with_changed, second.id, is_on=False)
        assert texts(run.projects.of("Boat").told(0)) == ["It is 10 m long.", "It is red."]
        run.projects.change("Boat", Project.with_changed, first.id, text="")
        run.projects.change("Nowhere", Project.with_facts, [Fact("Lost.")])
    async with opened() as run:
        assert texts(run.projects.of("Boat").facts) == ["Ann steers.", "It is red."]
        assert [one.folder for one in run.projects.all] == ["Boat"]


async def test_proposals_are_accepted_edited_or_dropped(opened, thread) -> None:
    async with opened(BOAT) as run:
        cooks, swims = BOAT.proposed
        run.projects.change("Boat", Project.with_changed, cooks.id, text="Bob cooks well.")
        assert texts(run.projects.of("Boat").facts)[2:] == [], "it still waits"
        run.projects.change("Boat", Project.with_accepted, cooks.id)
        run.projects.change("Boat", Project.with_dropped, swims.id)
        new = [Fact("Eve swims"), Fact("Bob cooks well"), Fact("New.")]
        run.projects.change("Boat", Project.with_proposed, new)
        boat = run.projects.of("Boat")
        assert texts(boat.facts)[2:] == ["Bob cooks well."]
        assert texts(boat.proposed) == ["New."]


async def test_a_full_project_says_so_and_keeps_what_it_has(opened, thread) -> None:
    facts = tuple(Fact(str(number)) for number in range(MAX_FACTS))
    async with opened(Project("Boat", facts=facts, proposed=BOAT.proposed)) as run:
        run.projects.change("Boat", Project.with_facts, [Fact("One more.")])
        run.projects.change("Boat", Project.with_accepted, BOAT.proposed[0].id)
        boat = run.projects.of("Boat")
        assert (boat.facts, boat.proposed) == (facts, BOAT.proposed)
        assert run.heard == [FULL, FULL]


@pytest.mark.parametrize("name", ["facts.json", "facts.md"])
async def test_facts_are_exported_and_imported(opened, thread, tmp_path, name: str) -> None:
    path = tmp_path / name
    async with opened(BOAT, Project("House")) as run:
        run.projects.change("Boat", Project.with_changed, BOAT.facts[0].id, is_on=False)
        await run.projects.export_facts("Boat", path)
        assert await run.projects.import_facts("House", path) == 2
        assert await run.projects.import_facts("House", path) == 0
        house = run.projects.of("House")
        assert [(fact.text, fact.is_on) for fact in house.facts] == [
            ("It is 9 m long.", False),
            ("Ann steers.", True),
        ]
        assert run.heard == []
        await run.projects.import_facts("House", tmp_path / "missing.md")
        await run.projects.export_facts("Boat", tmp_path / "missing" / name)
        assert ["missing.md cannot be used" in run.heard[0], f"{name} cannot be used" in run.heard[1]] == [
            True
        ] * 2


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"Nothing of the kind.", "facts.md has no facts"),
        (b"- \xff\xfe", ""),
        (b"- x\n" * (MAX_FILE_BYTES // 4 + 1), "too large"),
        (b"", "facts.md has no facts"),
    ],
)
async def test_what_cannot_be_imported_is_told(opened, thread, tmp_path, content: bytes, why: str) -> None:
    path = tmp_path / "facts.md"
    path.write_bytes(content)
    async with opened(Project("Boat")) as run:
        num_new = await run.projects.import_facts("Boat", path)
        assert (num_new, [why in one for one in run.heard]) == ((0, [True]) if why else (1, []))


async def test_more_facts_than_there_is_room_for_are_told(opened, thread, tmp_path) -> None:
    path = tmp_path / "facts.md"
    path.write_text("".join(f"- Number {number}.\n" for number in range(10_000)))
    async with opened(BOAT) as run:
        assert await run.projects.import_facts("Boat", path) == MAX_FACTS - 2
        assert run.heard == [FULL]


async def test_an_export_is_whole_or_leaves_what_was_there(opened, thread, tmp_path, monkeypatch) -> None:
    path = tmp_path / "facts.json"
    async with opened(BOAT) as run:
        await run.projects.export_facts("Boat", path)
        before, files = path.read_text(), sorted(tmp_path.iterdir())

        def fail(_handle: int) -> None:
            raise OSError(28, "No space left on device")

        with monkeypatch.context() as patched:
            patched.setattr("os.fsync", fail)
            await run.projects.export_facts("Boat", path)
        assert "No space left on device" in run.heard[0]
        assert (path.read_text(), sorted(tmp_path.iterdir())) == (before, files)


async def test_a_disk_that_fails_is_told_and_the_project_stays_in_use(opened, thread, monkeypatch) -> None:
    async with opened(BOAT) as run:
        await tasks.finish_all()

        async def fail(*_args):
            raise StorageError("The disk is full.")

        monkeypatch.setattr(run.store, "save_project", fail)
        run.projects.change("Boat", Project.with_facts, [Fact("It is red.")])
        await tasks.finish_all()
        assert run.heard == ["The disk is full."]
        assert texts(run.projects.of("Boat").facts)[2:] == ["It is red."]
        monkeypatch.setattr(run.store, "projects", fail)
        await run.projects.load()
        assert run.projects.of("Boat"), "what is known stays"


async def test_what_shelves_and_projects_begin_with_is_kept_when_the_program_ends(
    engine, workspace, store, settings
) -> None:
    settings.keeps_cells = True
    parent = QObject()
    services = Services(engine, workspace, store, Preferences(settings), parent)
    shelf = services.shelves.add("Docs")
    services.projects._projects["Boat"] = BOAT
    folder = paths.private_dir(paths.kept_cells_dir())
    files = [path_of(folder, chat_id, "fake") for chat_id in (shelf.chat_id, BOAT.chat_id, f"{SHELF}gone")]
    for file in files:
        file.touch()
    await services.close()
    await services.cells.close()
    assert [file.exists() for file in files] == [True, True, False]
    parent.deleteLater()
