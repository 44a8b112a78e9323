from pathlib import Path

from app.ui.main_window import MainWindow
from tests.ui.fakes import FakeEngine
from tests.ui.models.library_fakes import FakeModelLibrary
from tests.ui.test_accessibility import nameless


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
