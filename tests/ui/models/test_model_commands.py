from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication

from app.ui.main_window import MainWindow
from tests.ui.fakes import FakeEngine
from tests.ui.models.hub_fakes import FakeDownloads, FakeModelHub
from tests.ui.models.library_fakes import FakeModelFits, FakeModelLibrary, model_file
from tests.ui.test_accessibility import nameless


@pytest.fixture
def library(qapp: QApplication) -> FakeModelLibrary:
    return FakeModelLibrary(model_file("Mine"))


@pytest.fixture
def services(library: FakeModelLibrary) -> dict[str, object]:
    models = {"model_library": library, "model_fits": FakeModelFits()}
    return {"hub": FakeModelHub(), "downloads": FakeDownloads(), **models}


def test_a_model_is_opened_from_the_window_of_models(
    window: MainWindow, library: FakeModelLibrary, engine: FakeEngine
) -> None:
    assert window.model_commands.show in window.menus.model.actions()
    window.model_commands.show.trigger()
    models = window.model_commands.window
    assert models.isVisible()
    assert not models.isModal()
    assert nameless(models) == []
    models.library.details.open_button.click()
    assert engine.loads[-1].path == Path("/models/Mine.gguf")
    assert not models.isVisible()


def test_more_models_can_be_got(window: MainWindow) -> None:
    assert not window.model_commands.shows_hub
    window.model_commands.get_more.trigger()
    assert window.model_commands.window.hub.isVisible()
    assert window.model_commands.shows_hub
    window.model_commands.show_library()
    assert not window.model_commands.window.hub.isVisible()
    window.model_commands.window.close()
