import asyncio
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication

from app.bridge.tasks import finish_all
from app.chats.chat import Chat, Turn
from app.look.plain_text import PlainLabel
from app.look.strip import Strip
from app.protocol.load import LoadParams
from app.protocol.request import Role
from app.ui.main_window import MainWindow
from tests.fakes import model_info
from tests.ui.fakes import FakeEngine, FakeWorkspace


@pytest.fixture
def other(tmp_path: Path) -> Path:
    path = tmp_path / "other.gguf"
    path.touch()
    return path


def chat_of(path: Path) -> Chat:
    turns = [Turn(Role.USER, "Hi"), Turn(Role.ASSISTANT, "Hello.", model="The other")]
    return Chat(turns=turns, model_path=str(path))


def line_of(window: MainWindow) -> Strip:
    assert window.tabs.current
    return window.tabs.current.model_line


async def test_a_chat_whose_model_is_gone_says_so_and_the_next_best_is_offered(
    qloop: asyncio.AbstractEventLoop,
    window: MainWindow,
    workspace: FakeWorkspace,
    engine: FakeEngine,
    tmp_path: Path,
) -> None:
    assert line_of(window).isHidden()
    session = workspace.open(chat_of(tmp_path / "gone.gguf"), 1)
    await finish_all()
    line = line_of(window)
    assert line.isVisible()
    assert line.text == "The other has answered so far. Its file is gone."
    assert [button.text() for button in line.buttons] == ["Use starter"]
    assert session.chat.model_path == str(tmp_path / "gone.gguf"), "nothing is replaced unasked"
    line.buttons[0].click()
    assert (session.chat.model_path, engine.wanted) == (engine.default, [engine.default])
    await finish_all()
    assert line.isHidden()


async def test_no_other_machine_is_offered_in_the_place_of_a_file(
    qloop, window: MainWindow, workspace: FakeWorkspace, engine: FakeEngine, tmp_path: Path
) -> None:
    engine.default = "https://gpu-box:8000#qwen"
    session = workspace.open(chat_of(tmp_path / "gone.gguf"), 1)
    await finish_all()
    line_of(window).buttons[0].click()
    assert engine.model
    assert session.chat.model_path == str(engine.model.path), "what is loaded here"


async def test_a_chat_keeps_another_model_that_is_there(
    qloop, window: MainWindow, workspace: FakeWorkspace, engine: FakeEngine, other: Path
) -> None:
    session = workspace.open(chat_of(other), 1)
    await finish_all()
    assert line_of(window).isHidden()
    assert (session.chat.model_path, engine.loads) == (str(other), [])


async def test_the_same_model_at_another_place_is_no_other_model(
    qloop, window: MainWindow, workspace: FakeWorkspace, engine: FakeEngine, tmp_path: Path
) -> None:
    """As the starter's is, wherever the program itself has moved."""
    moved, gone = tmp_path / "elsewhere" / "other.gguf", tmp_path / "other.gguf"
    moved.parent.mkdir()
    moved.touch()
    engine.load(LoadParams(moved))
    engine.finish_load(model_info(path=moved, name="The other"))
    session = workspace.open(chat_of(gone), 1)
    await finish_all()
    assert line_of(window).isHidden()
    assert session.chat.model_path == str(moved)
    engine.load(LoadParams(moved))
    engine.finish_load(model_info(path=moved, name="A namesake"))
    session = workspace.open(chat_of(gone), 2)
    await finish_all()
    assert line_of(window).isVisible()
    assert session.chat.model_path == str(gone)


async def test_what_it_says_is_seen_as_a_whole_in_half_a_narrow_window(
    qloop, window: MainWindow, workspace: FakeWorkspace, tmp_path: Path
) -> None:
    workspace.open(chat_of(tmp_path / "gone.gguf"), 1)
    await finish_all()
    line = line_of(window)
    line.setFixedWidth(400)
    QApplication.processEvents()
    words = next(label for label in line.findChildren(PlainLabel) if label.text() == line.text)
    assert words.wordWrap()
    assert words.height() >= words.heightForWidth(words.width())
    assert all(button.geometry().right() < 400 for button in line.buttons)


async def test_a_base_model_says_in_an_old_chat_that_it_continues_text(
    qloop, window: MainWindow, workspace: FakeWorkspace, engine: FakeEngine, other: Path
) -> None:
    workspace.open(chat_of(other), 1)
    base = model_info(path=other, name="The other", has_template=False)
    engine.load(LoadParams(other))
    engine.finish_load(base)
    await finish_all()
    words = "The other is a base model without a chat template: it continues text."
    assert (line_of(window).isVisible(), line_of(window).text) == (True, words)
    workspace.new_chat()
    assert line_of(window).isHidden(), "its empty page says so"
