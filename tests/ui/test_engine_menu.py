from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QMenu, QWidget
from pytestqt.qtbot import QtBot

from app.engine.types import Speed
from app.settings import Settings
from app.ui.engine_menu import EngineMenu
from tests.fakes import model_info
from tests.ui.fakes import FakeEngine

BIG = {"n_ctx": 65_536}


@pytest.fixture
def engine() -> FakeEngine:
    return FakeEngine(model_info(n_ctx=8192))


@pytest.fixture
def settings() -> Settings:
    return Settings()


@pytest.fixture
def menu(qtbot: QtBot, engine: FakeEngine, settings: Settings) -> Iterator[EngineMenu]:
    window = QWidget()
    qtbot.addWidget(window)
    yield EngineMenu(engine, settings, window)  # type: ignore[arg-type]


@pytest.fixture
def heard(menu: EngineMenu) -> list[str]:
    heard: list[str] = []
    menu.settings_changed.connect(lambda: heard.append("changed"))
    menu.reload_requested.connect(lambda: heard.append("reload"))
    return heard


def ticked(menu: QMenu) -> list[str]:
    return [action.data() for action in menu.actions() if action.isChecked()]


def apply(menu: EngineMenu, **changes: object) -> None:
    menu.dialog.applied.emit(menu.dialog.values() | changes)


def test_the_speed_can_be_chosen_at_once(menu, engine, settings, heard) -> None:
    assert ticked(menu.speeds) == ["responsive"]
    menu.speeds.actions()[2].trigger()
    assert engine.speeds == [Speed.THROUGHPUT]
    assert settings.speed == "throughput"
    assert ticked(menu.speeds) == ["throughput"]
    assert menu.dialog.values()["speed"] == "throughput"
    assert heard == ["changed"]


def test_what_the_dialog_applies_is_kept_and_told_to_the_engine(menu, engine, settings, heard) -> None:
    apply(menu, speed="balanced", max_chat_tokens=512, overflow="rolling_window")
    assert (settings.speed, settings.max_chat_tokens, settings.overflow) == (
        "balanced",
        512,
        "rolling_window",
    )
    assert engine.speeds == [Speed.BALANCED]
    assert ticked(menu.speeds) == ["balanced"]
    assert heard == ["changed"]


@pytest.mark.parametrize("change", [{"n_ctx": 2048}, {"n_seq_max": 2}, {"n_threads": 1}, {"isolated": True}])
def test_another_context_needs_the_model_again(menu, settings, heard, change) -> None:
    apply(menu, **change)
    assert settings.model_dump(include=set(change)) == change
    assert heard == ["changed", "reload"]


def test_without_a_model_nothing_is_loaded(menu, engine, settings, heard) -> None:
    engine.model = None
    apply(menu, **BIG)
    assert settings.n_ctx == 65_536
    assert heard == ["changed"]


def test_settings_that_no_model_could_be_loaded_with_are_taken_back(menu, engine, settings, heard) -> None:
    menu.show_dialog()
    apply(menu, **BIG, speed="balanced")
    engine.load_failed.emit(Path("a.gguf"), "A context of 65,536 tokens needs 7 GiB.")
    assert settings.n_ctx == 0
    assert settings.speed == "balanced"
    assert menu.dialog.values()["n_ctx"] == 0
    assert heard == ["changed", "reload", "changed"]


def test_settings_that_have_proved_themselves_stay_when_a_later_load_fails(menu, engine, settings) -> None:
    apply(menu, **BIG)
    engine.finish_load(model_info(n_ctx=65_536))
    engine.load_failed.emit(Path("other.gguf"), "It is not a GGUF file.")
    assert settings.n_ctx == 65_536


def test_the_dialog_shows_what_a_load_has_brought(menu, engine) -> None:
    menu.show_dialog()
    assert menu.dialog.numbers["n_ctx"].text() == "Automatic (8,192)"
    engine.finish_load(model_info(n_ctx=4096))
    assert menu.dialog.numbers["n_ctx"].text() == "Automatic (4,096)"


def test_asked_for_twice_the_dialog_keeps_what_stands_in_it(menu) -> None:
    menu.show_dialog()
    menu.dialog.numbers["n_seq_max"].setValue(3)
    menu.show_dialog()
    assert menu.dialog.values()["n_seq_max"] == 3
    menu.dialog.close()
    menu.show_dialog()
    assert menu.dialog.values()["n_seq_max"] == 8


def test_stopping_all_is_the_engines_business(menu, engine) -> None:
    menu.stop_all.trigger()
    assert engine.num_abort_alls == 1
