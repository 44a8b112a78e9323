from pathlib import Path

import pytest

from app.look.strip import Strip
from app.services.draft_offers import DraftOffer
from app.ui.main_window import MainWindow
from tests.ui.fakes import FakeEngine
from tests.ui.models.library_fakes import FakeModelLibrary, model_file
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


OFFER = DraftOffer(Path("/models/Mine.gguf"), model_file("small", 0.5), 2.64, 1.0)


def offered(window: MainWindow) -> Strip:
    window._services.draft_offers.offered.emit(OFFER)
    [banner] = window.notices.banners()
    assert (
        "2.6 times as fast when it edits code, 1.0 times in free text. It takes 512 MiB of memory"
        in banner.text
    )
    return banner


def test_a_draft_model_that_was_offered_is_used_at_once_and_from_then_on(
    window: MainWindow, engine: FakeEngine
) -> None:
    offered(window).buttons[0].click()
    assert window.preferences.of_model(OFFER.model).draft_model == OFFER.draft.path
    assert engine.loads[-1].draft_model == OFFER.draft.path
    assert window.notices.banners() == []


def test_an_offer_that_is_refused_is_not_made_again_and_one_for_another_model_goes(
    window: MainWindow, engine: FakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused: list[DraftOffer] = []
    monkeypatch.setattr(window._services.draft_offers, "refuse", refused.append)
    offered(window)
    engine.loading.emit(Path("/models/other.gguf"))
    assert window.notices.banners() == []
    assert refused == []
    offered(window).buttons[1].click()
    assert refused == [OFFER]
    assert window.notices.banners() == []
    assert engine.loads == []
