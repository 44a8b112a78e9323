import pytest
from PySide6.QtWidgets import QApplication

from tests.ui.models.hub_fakes import FakeDownloads, FakeModelHub
from tests.ui.models.library_fakes import FakeModelFits, FakeModelLibrary, model_file


@pytest.fixture
def library(qapp: QApplication) -> FakeModelLibrary:
    return FakeModelLibrary(model_file("Mine"))


@pytest.fixture
def services(library: FakeModelLibrary) -> dict[str, object]:
    models = {"model_library": library, "model_fits": FakeModelFits()}
    return {"hub": FakeModelHub(), "downloads": FakeDownloads(), **models}
