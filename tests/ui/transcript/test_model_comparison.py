"""From the panel that compares two models to the process that does, and from there to a fork."""

from pathlib import Path

import pytest

from app.inspector.comparison_panel import ComparisonPanel
from app.models.model_file import FileKind, ModelFile
from app.protocol.comparison import Compare
from app.ui.main_window import MainWindow
from tests.ui.fakes import FakeEngine, FakeSession, FakeWorkspace


def model(name: str, kind: FileKind = FileKind.CHAT) -> ModelFile:
    path = Path(f"/models/{name}.gguf")
    return ModelFile(path, (path,), kind, name, family="fake")


@pytest.fixture
def panel(window: MainWindow, workspace: FakeWorkspace) -> ComparisonPanel:
    session = workspace.sessions[0]
    session.send("2+2=")
    session.say("It is 4.")
    session.finish()
    window.inspector.show_panel("comparison")
    panel = window.inspector.panel("comparison")
    assert isinstance(panel, ComparisonPanel)
    return panel


def test_the_library_is_offered_as_it_changes(window: MainWindow, panel: ComparisonPanel) -> None:
    library = window._services.model_library
    library.models = (model("other"), model("vectors", FileKind.EMBEDDING))
    library.changed.emit()
    assert [action.text() for action in panel.other.menu().actions()] == ["other", "Choose a file…"]


def test_questions_go_to_the_service_and_its_words_come_back(
    window: MainWindow, panel: ComparisonPanel, monkeypatch: pytest.MonkeyPatch
) -> None:
    comparisons = window._services.comparisons
    started: list[Compare] = []
    monkeypatch.setattr(comparisons, "start", lambda question, _gpus: started.append(question))
    window._services.model_library.models = (model("other"),)
    window._services.model_library.changed.emit()
    panel.text.choose("pasted")
    panel.pasted.setPlainText("It is 4.")
    panel.start.click()
    assert [question.text for question in started] == ["It is 4."]
    comparisons.progressed.emit(0.5)
    assert panel.note.text() == "Comparing… 50%"
    comparisons.failed.emit("Its tokens differ.")
    assert panel.note.text() == "Its tokens differ."


def test_a_fork_has_the_model_that_was_chosen(
    panel: ComparisonPanel, engine: FakeEngine, workspace: FakeWorkspace
) -> None:
    session: FakeSession = workspace.sessions[0]
    source = panel.finder.source
    assert source is not None
    assert source.turn is session.chat.turns[1]
    panel.fork_at_requested.emit(source, "It", (7,), "/models/other.gguf")
    assert workspace.forks_at == [(session, session.chat.turns[1], "It", (7,), "/models/other.gguf")]
