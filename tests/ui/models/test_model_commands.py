from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication, QWidget

from app.ui.main_window import MainWindow
from tests.ui.fakes import FakeEngine
from tests.ui.models.library_fakes import FakeModelFits, FakeModelLibrary, model_file
from tests.ui.test_accessibility import nameless


@pytest.fixture
def library(qapp: QApplication) -> FakeModelLibrary:
    return FakeModelLibrary(model_file("Mine"))


@pytest.fixture
def services(library: FakeModelLibrary) -> dict[str, object]:
    return {"model_library": library, "model_fits": FakeModelFits()}


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


def test_more_models_can_be_got_where_there_is_a_page_for_it(
    window: MainWindow, library: FakeModelLibrary
) -> None:
    pages: list[QWidget] = []

    def make(parent: QWidget) -> QWidget:
        pages.append(QWidget(parent))
        return pages[-1]

    window.model_commands.offer_hub(make)
    assert pages == []
    window.model_commands.get_more.trigger()
    assert pages[0].isVisible()
    window.model_commands.show_library()
    assert not pages[0].isVisible()
    window.model_commands.window.close()
