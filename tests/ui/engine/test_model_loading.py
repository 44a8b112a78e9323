from pathlib import Path

import pytest
from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QApplication, QFileDialog, QWidget

from app.chats.chat import Chat
from app.protocol.load import LoadParams, Server, ServerKind
from app.services.preferences import Preferences
from app.settings.settings import ModelSettings, Settings
from app.ui.engine.model_loading import ModelLoading
from tests.fakes import model_info
from tests.ui.fakes import FakeEngine

PATH = Path("/m/starter.gguf")


@pytest.fixture
def engine(qapp) -> FakeEngine:
    return FakeEngine(model_info(path=PATH))


@pytest.fixture
def preferences(qapp) -> Preferences:
    return Preferences(Settings())


@pytest.fixture
def window(qtbot) -> QWidget:
    window = QWidget()
    qtbot.addWidget(window)
    return window


@pytest.fixture
def models(engine, preferences, window) -> ModelLoading:
    return ModelLoading(engine, preferences, window)


def test_the_same_file_is_loaded_again_as_the_settings_are_now(models, engine, preferences) -> None:
    preferences.set("n_ctx", 2048)
    preferences.set("isolated", True)
    models.reload()
    assert engine.loads == [LoadParams(PATH, n_ctx=2048, isolated=True)]


def test_the_file_that_was_opened_last_is_the_one_to_reload(models, engine) -> None:
    other = Path("/m/other.gguf")
    models.load(other)
    engine.finish_load(model_info(path=other))
    models.reload()
    assert [params.path for params in engine.loads] == [other, other]


def test_without_any_model_there_is_nothing_to_reload(engine, preferences, window) -> None:
    engine.model, engine.default = None, ""
    models = ModelLoading(engine, preferences, window)
    assert not models.can_reload
    models.reload()
    assert engine.loads == []
    engine.finish_load(model_info())
    assert models.can_reload


def test_settings_that_make_the_context_wait_for_a_reload_and_others_do_not(models, preferences) -> None:
    preferences.set("speed", "balanced")
    assert not models.needs_reload
    preferences.set("n_seq_max", 2)
    assert models.needs_reload
    preferences.reset("n_seq_max")
    assert not models.needs_reload


def test_that_it_needs_a_reload_is_told_when_it_begins_and_when_it_ends(models, preferences, engine) -> None:
    told: list[bool] = []
    models.changed.connect(lambda: told.append(models.needs_reload))
    preferences.set("n_ctx", 2048)
    models.reload()
    engine.finish_load(model_info(n_ctx=2048))
    assert told == [True, False]


def test_a_setting_changed_while_the_model_loads_waits_for_the_next_time(models, preferences, engine) -> None:
    preferences.set("n_ctx", 2048)
    models.reload()
    preferences.set("n_ctx", 4096)
    engine.finish_load(model_info(n_ctx=2048))
    assert models.needs_reload


def test_settings_that_no_model_could_be_loaded_with_are_taken_back(models, preferences, engine) -> None:
    preferences.set("n_ctx", 65_536)
    preferences.set("speed", "balanced")
    models.reload()
    engine.load_failed.emit(PATH, "A context of 65,536 tokens needs 7 GiB.")
    assert (preferences.settings.n_ctx, preferences.settings.speed) == (0, "balanced")
    assert not models.needs_reload


def test_settings_that_have_proved_themselves_stay_when_a_later_load_fails(
    models, preferences, engine
) -> None:
    preferences.set("n_ctx", 65_536)
    models.reload()
    engine.finish_load(model_info(path=PATH, n_ctx=65_536))
    models.load(Path("/m/broken.gguf"))
    engine.load_failed.emit(Path("/m/broken.gguf"), "It is not a GGUF file.")
    assert preferences.settings.n_ctx == 65_536


def test_a_first_model_that_fails_takes_no_settings_back(engine, window) -> None:
    engine.model = None
    preferences = Preferences(Settings(n_ctx=2048))
    models = ModelLoading(engine, preferences, window)
    models.load(PATH)
    engine.load_failed.emit(PATH, "It is not a GGUF file.")
    assert preferences.settings.n_ctx == 2048


def test_own_settings_of_the_model_wait_for_a_reload_and_those_of_others_do_not(
    models, preferences, engine
) -> None:
    preferences.set_of_model(Path("/m/other.gguf"), ModelSettings(n_ctx=512))
    assert not models.needs_reload
    preferences.set_of_model(PATH, ModelSettings(n_ctx=2048))
    assert models.needs_reload
    models.reload()
    assert engine.loads == [LoadParams(PATH, n_ctx=2048)]
    engine.finish_load(model_info(path=PATH))
    preferences.set("n_ctx", 4096)
    assert not models.needs_reload, "it has a context of its own"
    preferences.set_of_model(PATH, ModelSettings())
    assert preferences.settings.models.keys() == {"/m/other.gguf"}
    assert models.needs_reload


def test_own_settings_that_the_model_does_not_load_with_are_taken_back(models, preferences, engine) -> None:
    proven = ModelSettings(type_k="q8_0")
    preferences.set_of_model(PATH, proven)
    models.reload()
    engine.finish_load(model_info(path=PATH))
    preferences.set_of_model(PATH, ModelSettings(n_ctx=2**24))
    models.reload()
    engine.load_failed.emit(PATH, "too large")
    assert preferences.of_model(PATH) == proven
    other = Path("/m/other.gguf")
    preferences.set_of_model(other, ModelSettings(n_ctx=2**24))
    models.load(other)
    engine.load_failed.emit(other, "too large")
    assert preferences.of_model(other) == ModelSettings(n_ctx=2**24), "it was never loaded otherwise"


def test_what_was_asked_for_on_the_command_line_is_above_a_model_s_own(models, preferences, engine) -> None:
    preferences.set_of_model(PATH, ModelSettings(n_ctx=2048, n_threads=1))
    preferences.settings.override(n_ctx=512)
    models.reload()
    assert engine.loads == [LoadParams(PATH, n_ctx=512, n_threads=1)]


def test_a_model_is_looked_for_where_the_last_one_came_from_or_at_home(
    models, preferences, window, tmp_path, monkeypatch
) -> None:
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    assert begun_in(models, window) == tmp_path, "the starter's own folder is no place to look"
    (tmp_path / "models").mkdir()
    preferences.set("recent_models", [tmp_path / "models" / "a.gguf", tmp_path / "b.gguf"])
    assert begun_in(models, window) == tmp_path / "models"
    preferences.set("recent_models", [tmp_path / "gone" / "a.gguf"])
    assert begun_in(models, window) == tmp_path


def begun_in(models: ModelLoading, window: QWidget) -> Path:
    models.choose()
    (dialog,) = window.findChildren(QFileDialog)
    folder = Path(dialog.directory().path())
    dialog.deleteLater()
    QApplication.sendPostedEvents(dialog, QEvent.Type.DeferredDelete)
    return folder


def test_a_model_whose_draft_model_is_gone_can_be_opened_without_it(
    models, preferences, tmp_path, engine
) -> None:
    path = tmp_path / "model.gguf"
    path.touch()
    preferences.set_of_model(path, ModelSettings(n_ctx=512, draft_model=tmp_path / "gone.gguf"))
    without = models.remedies(path)[0]
    assert without.label == "Open without its draft model"
    without.act()
    assert preferences.of_model(path) == ModelSettings(n_ctx=512)
    assert engine.loads == [LoadParams(path, n_ctx=512)]
    assert models.remedies(path)[0].label == "Locate…"
    preferences.set_of_model(path, ModelSettings(draft_model=tmp_path / "gone.gguf"))
    path.unlink()
    assert models.remedies(path)[0].label == "Locate…"


def test_what_a_server_runs_is_asked_for_there_again(models, engine) -> None:
    server = Server("http://gpu-box:8000", ServerKind.OPENAI)
    engine.params_of = lambda _address: LoadParams(Path("big"), server=server)
    engine.default = "http://gpu-box:8000#big"
    (again,) = models.remedies(Path("big"))
    again.act()
    assert [params.address for params in engine.loads] == [engine.default]


def test_the_model_in_front_is_loaded_for_all_open_chats(models, engine) -> None:
    chats = [Chat(model_path=str(PATH)), Chat()]
    engine.chats = lambda: chats
    assert not models.can_load_for_all, "all have it"
    chats.append(Chat(model_path="/m/other.gguf"))
    assert models.can_load_for_all
    models.load_for_all()
    assert ([params.path for params in engine.loads], engine.loaded_for) == ([PATH], [chats])


def test_a_model_is_pinned_and_not(models, preferences) -> None:
    models.pin(True)
    assert (models.is_pinned, preferences.settings.pinned_models) == (True, [str(PATH)])
    models.pin(False)
    assert (models.is_pinned, preferences.settings.pinned_models) == (False, [])


def test_what_a_server_runs_has_no_file_to_reload(models, engine) -> None:
    engine.default = "https://gpu-box:8000#qwen"
    assert not models.can_reload
