from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication, QFileDialog

from app.models.model_file import ModelSource
from app.ui.main_window import MainWindow
from app.ui.transcript.empty_chat import EmptyChat
from tests.fakes import model_info
from tests.ui.fakes import FakeEngine, FakeWorkspace
from tests.ui.models.library_fakes import FakeModelLibrary, model_file

THEIRS = model_file("Theirs", source=ModelSource.JAN)


@pytest.fixture
def engine(qapp: QApplication) -> FakeEngine:
    return FakeEngine()


def page(window: MainWindow) -> EmptyChat:
    assert window.tabs.current
    return window.tabs.current.empty


def test_every_empty_chat_says_who_answers(
    window: MainWindow, engine: FakeEngine, workspace: FakeWorkspace
) -> None:
    assert page(window).title.text() == "No model"
    engine.finish_load(model_info(name="big"))
    assert page(window).title.text() == "big"
    workspace.new_chat()
    assert page(window).title.text() == "big"
    page(window).buttons[0].click()
    assert workspace.sessions[1].sent == [page(window).greeting.prompts[0]]


def test_the_progress_of_a_load_draws_no_page_again(
    window: MainWindow, engine: FakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine.loading.emit(Path("big.gguf"))
    assert page(window).title.text() == "Loading big…"
    drawn: list[object] = []
    monkeypatch.setattr(EmptyChat, "apply", lambda _page, *shown: drawn.append(shown))
    for fraction in (0.1, 0.2, 0.3):
        engine.load_progressed.emit(fraction)
    assert drawn == []
    engine.finish_load(model_info(name="big"))
    assert len(drawn) == 1


def test_without_a_model_it_offers_what_there_is(
    window: MainWindow, library: FakeModelLibrary, workspace: FakeWorkspace
) -> None:
    offers = page(window).offers
    assert [button.isHidden() for button in offers.buttons] == [False, True]
    library.become(THEIRS, THEIRS)
    assert offers.others_button.text() == "Use 2 models from other programs"
    workspace.new_chat()
    assert not page(window).offers.others_button.isHidden()
    offers.others_button.click()
    assert window.model_commands.window.isVisible()
    window.model_commands.window.close()

    offers.open_button.click()
    (dialog,) = window.frame.findChildren(QFileDialog)
    dialog.close()


def test_a_real_model_is_one_click_away(window: MainWindow) -> None:
    assert page(window).primary.isVisible()
    page(window).primary.click()
    assert window.model_commands.shows_hub
    window.model_commands.window.close()
