"""The actions of the File menu with a real database and real files."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QFileDialog, QMainWindow
from pytestqt.qtbot import QtBot

from app.bridge.engines import Engines
from app.bridge.tasks import finish_all
from app.bridge.workspace import Workspace
from app.chats.exports.files import ExportForm
from app.protocol.request import Role
from app.services.chat_library import ChatLibrary
from app.services.chat_transfer import ChatTransfer
from app.settings.settings import Settings
from app.storage.chat_store import ChatStore
from app.ui.base.notices import Notices, UndoToast
from app.ui.data.chat_files import ChatFiles, file_and_form
from tests.bridge.conftest import ScriptedThread
from tests.chats.imports import shapes


class Kit:
    def __init__(self, window: QMainWindow, path: Path, engine: Engines) -> None:
        self.window = window
        self.said: list[str] = []
        self.store = ChatStore(path)
        self.workspace = Workspace(engine, self.store, Settings())
        self.library = ChatLibrary(self.store, self.workspace, self.workspace)
        transfer = ChatTransfer(self.workspace, self.store, self.library, self.workspace)
        self.notices, self.undo = Notices(window), UndoToast(window)
        self.files = ChatFiles(transfer, self.workspace, self.notices, self.undo, self.said.append, window)

    def dialog(self) -> QFileDialog:
        return self.window.findChildren(QFileDialog)[-1]

    async def titles(self) -> list[str]:
        return sorted(summary.title for summary in await self.store.summaries())


@pytest.fixture
def kit(qtbot: QtBot, qloop: asyncio.AbstractEventLoop, tmp_path: Path) -> Iterator[Kit]:
    window = QMainWindow()
    qtbot.addWidget(window)
    window.resize(800, 600)
    window.show()
    engine = Engines(make_thread=ScriptedThread)  # type: ignore[arg-type]
    kit = Kit(window, tmp_path / "chats.db", engine)
    qloop.run_until_complete(kit.store.open())
    yield kit
    qloop.run_until_complete(finish_all())
    qloop.run_until_complete(kit.workspace.shut_down())
    qloop.run_until_complete(kit.store.close())
    kit.workspace.deleteLater()
    engine.deleteLater()


def write(path: Path, *entries: object) -> Path:
    path.write_text(json.dumps(list(entries)), encoding="utf-8")
    return path


async def test_an_import_is_seen_made_and_undone(
    qloop: asyncio.AbstractEventLoop, kit: Kit, tmp_path: Path
) -> None:
    path = write(tmp_path / "conversations.json", shapes.CHATGPT, shapes.LLAMA_UI)
    kit.files.import_files()
    dialog = kit.dialog()
    assert not dialog.isModal() or dialog.windowModality().name == "WindowModal"
    dialog.filesSelected.emit([str(path)])
    dialog.close()
    await finish_all()
    preview = kit.files.preview
    assert preview
    assert preview.summary.text() == "2 new chats with 6 messages, from ChatGPT, llama.cpp."
    assert await kit.titles() == []
    preview.import_button.click()
    await finish_all()
    assert await kit.titles() == ["Cats and <b>dogs</b>", "Trees"]
    assert kit.said[-1] == "Imported 2 chats."
    assert kit.files.preview is None
    assert kit.undo.text == "Imported 2 chats."
    kit.undo.button.click()
    await finish_all()
    assert await kit.titles() == []


async def test_a_folder_is_imported_as_a_whole(
    qloop: asyncio.AbstractEventLoop, kit: Kit, tmp_path: Path
) -> None:
    folder = tmp_path / "conversations"
    folder.mkdir()
    (folder / "1.conversation.json").write_text(json.dumps(shapes.LM_STUDIO))
    kit.files.import_folder()
    kit.dialog().fileSelected.emit(str(folder))
    await finish_all()
    assert kit.files.preview
    assert kit.files.preview.chats.lines == ["Qwen chat · 3 messages"]
    kit.files.preview.close()
    assert kit.files.preview is None


async def test_a_chat_is_exported_in_the_form_that_was_chosen_and_shown_in_its_folder(
    qloop: asyncio.AbstractEventLoop, kit: Kit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = kit.workspace.new_chat()
    session.insert(Role.USER, "What is 34 + 21?")
    kit.files.export_current()
    dialog = kit.dialog()
    assert dialog.nameFilters() == ["Markdown (*.md)", "Web page (*.html)", "Skein, complete (*.json)"]
    assert dialog.defaultSuffix() == "md"
    dialog.selectNameFilter("Web page (*.html)")
    dialog.filterSelected.emit("Web page (*.html)")
    assert dialog.defaultSuffix() == "html"
    dialog.fileSelected.emit(str(tmp_path / "sums.html"))
    dialog.close()
    await finish_all()
    assert "<!DOCTYPE html>" in (tmp_path / "sums.html").read_text()
    shown: list[Path] = []
    monkeypatch.setattr("app.ui.base.help_commands.command_for", lambda _path: [])
    monkeypatch.setattr("app.ui.base.help_commands.open_folder", shown.append)
    (banner,) = kit.notices.banners()
    assert banner.text == kit.said[-1] == f"Exported to {tmp_path / 'sums.html'}."
    banner.buttons[0].click()
    assert shown == [tmp_path]


async def test_all_chats_are_exported_to_one_file_or_to_a_folder(
    qloop: asyncio.AbstractEventLoop, kit: Kit, tmp_path: Path
) -> None:
    for text in ("One", "Two"):
        kit.workspace.new_chat().insert(Role.USER, text)
    kit.files.export_all()
    kit.dialog().fileSelected.emit(str(tmp_path / "all.json"))
    kit.dialog().close()
    await finish_all()
    assert len(json.loads((tmp_path / "all.json").read_text())) == 2
    assert [banner.text for banner in kit.notices.banners()] == [
        f"Exported 2 chats to {tmp_path / 'all.json'}."
    ]
    kit.files.export_chats([session.chat.id for session in kit.workspace.sessions])
    dialog = kit.dialog()
    dialog.selectNameFilter("Folder of Markdown files (*)")
    dialog.fileSelected.emit(str(tmp_path / "chats"))
    await finish_all()
    assert sorted(path.name for path in (tmp_path / "chats").iterdir()) == ["One.md", "Two.md"]


async def test_what_cannot_be_written_is_told_and_the_next_can_be(
    qloop: asyncio.AbstractEventLoop, kit: Kit, tmp_path: Path
) -> None:
    session = kit.workspace.new_chat()
    session.insert(Role.USER, "Hello")
    for name in ("none/a.md", "a.md"):
        kit.files.export_chats([session.chat.id])
        kit.dialog().fileSelected.emit(str(tmp_path / name))
        kit.dialog().close()
        await finish_all()
    banner, _exported = kit.notices.banners()
    assert banner.text.startswith("a.md could not be saved: No such file or directory.")
    assert (tmp_path / "a.md").exists()


async def test_one_thing_at_a_time(qloop: asyncio.AbstractEventLoop, kit: Kit, tmp_path: Path) -> None:
    path = write(tmp_path / "a.json", shapes.LLAMA_UI)
    kit.files.import_paths([path])
    first = kit.files.preview
    kit.files.import_paths([path])
    assert kit.files.preview is first
    assert kit.said == ["Another export or import is running. Try again when it has finished."]
    await finish_all()


async def test_closing_the_preview_while_it_reads_stops_that(
    qloop: asyncio.AbstractEventLoop, kit: Kit, tmp_path: Path
) -> None:
    kit.files.import_paths([write(tmp_path / "a.json", shapes.LLAMA_UI)])
    assert kit.files.preview
    kit.files.preview.close()
    await finish_all()
    assert await kit.titles() == []
    assert kit.files.preview is None


def test_what_was_typed_wins_over_the_filter() -> None:
    assert file_and_form(Path("a.json"), ExportForm.MARKDOWN) == (Path("a.json"), ExportForm.JSON)
    assert file_and_form(Path("a.HTML"), ExportForm.MARKDOWN) == (Path("a.HTML"), ExportForm.HTML)
    assert file_and_form(Path("a.txt"), ExportForm.MARKDOWN) == (Path("a.txt"), ExportForm.MARKDOWN)
