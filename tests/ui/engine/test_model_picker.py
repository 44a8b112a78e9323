from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.services.model_state import ModelState
from app.system import paths
from app.ui.engine.model_picker import ModelPicker, state_texts
from app.ui.main_window import MainWindow
from tests.fakes import model_info
from tests.ui.fakes import FakeEngine
from tests.ui.models.library_fakes import FakeModelLibrary, model_file
from tests.ui.test_accessibility import nameless

BIG = Path("/models/big.gguf")


@pytest.fixture
def services() -> dict[str, object]:
    return {"model_library": FakeModelLibrary(model_file("big", size_gib=2.0))}


@pytest.fixture
def picker(window: MainWindow) -> ModelPicker:
    """The starter answers; two other models were opened before, of which one is not there any more."""
    window.preferences.set("recent_models", [BIG, Path("/models/gone.gguf")])
    return window.picker


def opened(picker: ModelPicker) -> list[str]:
    picker.button.click()
    texts = [action.text() for action in picker.menu.actions() if not action.isSeparator()]
    picker.menu.close()
    return texts


def action(picker: ModelPicker, text: str) -> QAction:
    return next(one for one in picker.menu.actions() if one.text().startswith(text))


def test_it_stands_above_every_chat_and_names_what_answers(picker: ModelPicker, window: MainWindow) -> None:
    assert picker.isVisible()
    assert picker.y() < window.tabs.pages.y()
    assert picker.button.name == "starter"
    assert picker.button.accessibleName() == "Model: starter"
    assert nameless(picker) == []


def test_its_menu_has_recent_models_and_all_that_is_done_with_models(picker: ModelPicker) -> None:
    assert opened(picker) == [
        "starter\tloaded",
        "big · Q8_0\t2.0 GiB",
        "gone",
        "Skein starter",
        "&Open model…",
        "&Models…",
        "&Get more models…",
        "Add an e&ngine…",
        "&Use in all open chats",
        "Model load &settings…",
        "&Keep loaded",
        "E&ject",
    ]
    assert [one.text() for one in picker.menu.actions() if one.isChecked()] == ["starter\tloaded"]


def test_a_model_is_chosen_by_keys_alone(
    picker: ModelPicker, window: MainWindow, engine: FakeEngine, qtbot: QtBot
) -> None:
    picker.switch.trigger()
    assert picker.menu.isVisible()
    qtbot.keyClick(picker.menu, Qt.Key.Key_Down)
    qtbot.keyClick(picker.menu, Qt.Key.Key_Return)
    assert [params.path for params in engine.loads] == [BIG]
    assert (picker.button.name, picker.button.state) == ("starter", "loading big")


def test_the_model_that_answers_is_not_loaded_again(picker: ModelPicker, engine: FakeEngine) -> None:
    picker.button.click()
    action(picker, "starter").trigger()
    picker.menu.close()
    assert engine.loads == []
    engine.sleep()
    picker.button.click()
    action(picker, "starter").trigger()
    picker.menu.close()
    assert len(engine.loads) == 1, "it was asleep"


def test_a_long_name_leaves_room_and_its_path_is_told(picker: ModelPicker, window: MainWindow) -> None:
    picker.button.apply("A model with a very long name " * 8, "asleep")
    QApplication.processEvents()
    assert picker.button.width() <= window.tabs.width()


def test_the_state_is_told_unless_the_model_is_simply_there() -> None:
    starter = model_info(name="starter")
    assert state_texts(ModelState(starter)) == ("starter", "")
    assert state_texts(ModelState(starter, is_asleep=True)) == ("starter", "asleep")
    assert state_texts(ModelState(starter, loading=BIG)) == ("starter", "loading big")
    assert state_texts(ModelState(loading=BIG)) == ("big", "loading")
    assert state_texts(ModelState(absent=BIG)) == ("big", "not loaded")
    assert state_texts(ModelState()) == ("No model", "")
    assert state_texts(ModelState(absent=paths.starter_model())) == ("Skein starter", "not loaded")
