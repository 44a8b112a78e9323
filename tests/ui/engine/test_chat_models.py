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


async def test_in_a_chat_of_another_model_both_are_offered_and_nothing_is_switched(
    qloop: asyncio.AbstractEventLoop,
    window: MainWindow,
    workspace: FakeWorkspace,
    engine: FakeEngine,
    other: Path,
) -> None:
    assert line_of(window).isHidden()
    session = workspace.open(chat_of(other), 1)
    await finish_all()
    line = line_of(window)
    assert line.isVisible()
    assert line.text == "The other has answered so far."
    assert [button.text() for button in line.buttons] == ["Keep this model", "Switch back"]
    assert engine.loads == []
    line.buttons[0].click()
    assert (session.num_kept_models, line.isHidden()) == (1, True)


async def test_the_former_model_comes_back_when_that_is_wanted(
    qloop, window: MainWindow, workspace: FakeWorkspace, engine: FakeEngine, other: Path
) -> None:
    workspace.open(chat_of(other), 1)
    await finish_all()
    line_of(window).buttons[1].click()
    assert [params.path for params in engine.loads] == [other]
    engine.finish_load(model_info(path=other, name="The other"))
    await finish_all()
    assert line_of(window).isHidden()


async def test_whoever_opens_another_model_in_a_chat_means_it_there_and_is_asked_in_other_chats(
    qloop, window: MainWindow, workspace: FakeWorkspace, engine: FakeEngine, other: Path
) -> None:
    engine.load(LoadParams(other))
    engine.finish_load(model_info(path=other, name="The other"))
    for index in (1, 2):
        workspace.open(chat_of(other), index)
    engine.load(LoadParams(Path("/m/new.gguf")))
    engine.finish_load(model_info(path=Path("/m/new.gguf"), name="New"))
    await finish_all()
    assert line_of(window).isHidden()
    window.tabs.show_index(1)
    await finish_all()
    assert line_of(window).isVisible()


async def test_a_model_that_is_gone_is_not_offered(
    qloop, window: MainWindow, workspace: FakeWorkspace, tmp_path: Path
) -> None:
    workspace.open(chat_of(tmp_path / "gone.gguf"), 1)
    await finish_all()
    assert line_of(window).isHidden()


async def test_the_same_model_at_another_place_is_no_other_model(
    qloop, window: MainWindow, workspace: FakeWorkspace, engine: FakeEngine, other: Path, tmp_path: Path
) -> None:
    """As the starter's is, wherever the program itself has moved."""
    (tmp_path / "elsewhere").mkdir()
    engine.load(LoadParams(tmp_path / "elsewhere" / other.name))
    engine.finish_load(model_info(path=tmp_path / "elsewhere" / other.name, name="The other"))
    other.touch()
    workspace.open(chat_of(other), 1)
    await finish_all()
    assert line_of(window).isHidden()
    engine.load(LoadParams(tmp_path / "elsewhere" / other.name))
    engine.finish_load(model_info(path=tmp_path / "elsewhere" / other.name, name="A namesake"))
    workspace.open(chat_of(other), 2)
    await finish_all()
    assert line_of(window).isVisible()


async def test_what_it_says_is_seen_as_a_whole_in_half_a_narrow_window(
    qloop, window: MainWindow, workspace: FakeWorkspace, other: Path
) -> None:
    workspace.open(chat_of(other), 1)
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
    workspace.open(chat_of(Path(__file__)), 2)
    await finish_all()
    assert line_of(window).text == f"The other has answered so far. {words}"
    line_of(window).buttons[0].click()
    assert line_of(window).text == words
    workspace.new_chat()
    assert line_of(window).isHidden(), "its empty page says so"
    engine.load(LoadParams(Path("/m/new.gguf")))
    engine.finish_load(model_info(path=Path("/m/new.gguf"), name="New"))
    await finish_all()
    assert all(words not in view.model_line.text for view in window.tabs.views)
