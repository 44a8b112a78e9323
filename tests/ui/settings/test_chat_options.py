"""The panel on the window: it changes the chat it was opened for, and presets do, too."""

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QFileDialog
from pytestqt.qtbot import QtBot

from app.chats.options import ChatOptions
from app.chats.presets import Preset
from app.protocol.request import Overflow
from app.protocol.sampling import SamplingParams
from app.ui.main_window import MainWindow
from app.ui.settings.chat_options import ChatOptionsPanel
from app.ui.settings.chat_settings import ChatSettings
from app.ui.settings.preset_bar import PresetBar
from tests.fakes import model_info
from tests.ui.fakes import FakeEngine, FakePresets, FakeWorkspace

STORY = Preset("Story & <b>tale</b>", ChatOptions("Tell stories.", {"temperature": 0.25}))


def opened(window: MainWindow) -> ChatSettings:
    window.tab_commands.on_current(window.tab_commands.open_settings)
    return window.chat_options.panel


def presets_of(window: MainWindow) -> FakePresets:
    presets: FakePresets = window.chat_options._presets  # type: ignore[assignment]
    return presets


def menu_of(bar: PresetBar) -> dict[str, "object"]:
    bar.menu.aboutToShow.emit()
    return {action.text(): action for action in bar.menu.actions() if action.text()}


def choose(bar: PresetBar, text: str) -> None:
    menu_of(bar)[text].trigger()  # type: ignore[attr-defined]


def test_what_is_chosen_is_the_chats_from_now_on(window: MainWindow, workspace: FakeWorkspace) -> None:
    session = workspace.sessions[0]
    session.n_ctx = 4096
    window.tabs.show_contexts()
    panel = opened(window)
    panel.prompt.setPlainText("Be short.")
    panel.rows["temperature"].control.setValue(0.25)
    panel.overflow.chosen.emit("rolling_window")
    panel.max_context.setValue(1024)
    assert ChatOptions.of(session.chat) == ChatOptions(
        "Be short.", {"temperature": 0.25}, None, Overflow.ROLLING_WINDOW, 1024
    )
    assert panel.prompt_tokens.text() == "2 tokens"
    assert panel.limit.text().endswith(" Now 1,024 tokens.")
    button = window.tabs.views[0].composer.settings
    assert (button.text().strip(), "Rolling window" in button.accessibleName()) == ("Be short.", True)


def test_what_nobody_chose_is_decided_by_the_server_of_another_program(
    window: MainWindow, workspace: FakeWorkspace, engine: FakeEngine
) -> None:
    session = workspace.sessions[0]
    session.chat.sampling = {"top_k": 5}
    session.chat.model_path = "http://gpu-box:8000#Qwen"
    foreign = model_info(name="Qwen", server="http://gpu-box:8000", n_seq_max=0)
    for model, by_server in ((foreign, True), (None, True), (model_info(name="starter"), False)):
        engine.model = model
        rows = opened(window).rows
        notes = (rows["temperature"].note.text(), rows["top_k"].note.text())
        assert ["server" in note for note in notes] == [by_server] * 2
        assert ["llama.cpp's default." in note for note in notes] == [True, False], "the box shows that"
        window.chat_options.panel.close_up()


def test_each_tab_has_its_own(window: MainWindow, workspace: FakeWorkspace) -> None:
    panel = opened(window)
    panel.prompt.setPlainText("First")
    second = workspace.new_chat()
    assert not panel.isVisible(), "another chat is in front"
    assert opened(window).prompt.toPlainText() == ""
    panel.prompt.setPlainText("Second")
    assert [session.chat.system_prompt for session in workspace.sessions] == ["First", "Second"]
    workspace.close(second)
    assert not panel.isVisible()


def test_asking_twice_closes_it_and_the_keyboard_goes_back(window: MainWindow) -> None:
    panel = opened(window)
    assert panel.isVisible()
    opened(window)
    assert not panel.isVisible()
    focused = QApplication.focusWidget()
    assert focused is not None
    assert window.tabs.views[0].composer.isAncestorOf(focused)


def test_it_stays_in_the_window_when_that_shrinks(window: MainWindow) -> None:
    panel = opened(window)
    window.frame.resize(700, 420)
    QApplication.processEvents()
    composer = window.tabs.views[0].composer
    assert window.frame.rect().contains(panel.geometry())
    assert panel.geometry().bottom() <= composer.mapTo(window.frame, composer.rect().topLeft()).y()


def test_another_model_recommends_something_else(window: MainWindow, engine: FakeEngine) -> None:
    panel = opened(window)
    engine.finish_load(model_info(name="warm", sampling=SamplingParams(temperature=1.5)))
    assert panel.rows["temperature"].note.text().endswith("Recommended for warm.")
    assert panel.rows["temperature"].control.value() == 1.5  # type: ignore[attr-defined]


def test_what_is_set_for_all_chats_is_followed(window: MainWindow) -> None:
    panel = opened(window)
    window.preferences.set("temperature", 0.3)
    assert panel.rows["temperature"].note.text().endswith("Same as in Settings.")
    assert panel.rows["temperature"].control.value() == 0.3  # type: ignore[attr-defined]


def test_a_chat_that_is_still_being_read_is_not_changed(window: MainWindow, workspace: FakeWorkspace) -> None:
    workspace.sessions[0].is_loaded = False
    assert not opened(window).isVisible()


def test_a_preset_is_applied_changed_updated_and_found_again(
    window: MainWindow, workspace: FakeWorkspace
) -> None:
    chat, presets = workspace.sessions[0].chat, presets_of(window)
    chat.max_context_tokens = 777
    presets.save(STORY, "story.json")
    panel = opened(window)
    assert panel.presets.button.text() == "No preset"
    choose(panel.presets, "Story && <b>tale</b>")
    assert (chat.system_prompt, chat.sampling, chat.max_context_tokens) == (
        "Tell stories.",
        {"temperature": 0.25},
        777,
    )
    assert panel.presets.button.text() == "Story && <b>tale</b>"
    assert not menu_of(panel.presets)["Update “Story && <b>tale</b>”"].isEnabled()  # type: ignore[attr-defined]
    panel.rows["temperature"].control.setValue(0.5)  # type: ignore[attr-defined]
    assert panel.presets.button.text() == "Story && <b>tale</b> (changed)"
    choose(panel.presets, "Update “Story && <b>tale</b>”")
    assert presets.all["story.json"].options.sampling == {"temperature": 0.5}
    assert panel.presets.button.text() == "Story && <b>tale</b>"


def test_presets_are_saved_and_renamed_by_a_name(window: MainWindow, qtbot: QtBot) -> None:
    presets, panel = presets_of(window), opened(window)
    panel.prompt.setPlainText("Be short.")
    choose(panel.presets, "Save as a new preset…")
    entry = panel.presets.entry
    assert entry.line.hasFocus()
    assert not entry.save_button.isEnabled()
    qtbot.keyClicks(entry.line, "Short")
    qtbot.keyClick(entry.line, Qt.Key.Key_Return)
    assert presets.all["Short.json"] == Preset("Short", ChatOptions("Be short."))
    assert panel.presets.button.text() == "Short"
    choose(panel.presets, "Rename…")
    assert entry.line.text() == "Short"
    entry.line.setText("Shorter")
    entry.save_button.click()
    assert panel.presets.button.text() == "Shorter"
    choose(panel.presets, "Rename…")
    qtbot.keyClick(entry.line, Qt.Key.Key_Escape)
    assert not entry.isVisible()
    assert panel.isVisible(), "escape left the name only"


def test_a_deleted_preset_comes_back_by_undo(window: MainWindow) -> None:
    presets = presets_of(window)
    presets.save(STORY, "story.json")
    panel = opened(window)
    choose(panel.presets, "Story && <b>tale</b>")
    choose(panel.presets, "Delete")
    assert presets.all == {}
    assert panel.presets.button.text() == "No preset"
    assert window.undo.text == "Deleted the preset “Story & <b>tale</b>”."
    window.undo.button.click()
    assert presets.all == {"story.json": STORY}


def test_new_chats_can_begin_with_a_preset(window: MainWindow) -> None:
    presets = presets_of(window)
    presets.save(STORY, "story.json")
    panel = opened(window)
    choose(panel.presets, "Story && <b>tale</b>")
    choose(panel.presets, "Use for new chats")
    assert presets.default_file == "story.json"
    choose(panel.presets, "Use for new chats")
    assert presets.default_file == ""


def test_presets_go_out_and_come_in_as_files(window: MainWindow, tmp_path: Path) -> None:
    presets = presets_of(window)
    presets.save(STORY, "story.json")
    panel = opened(window)
    choose(panel.presets, "Story && <b>tale</b>")
    choose(panel.presets, "Export…")
    (dialog,) = window.frame.findChildren(QFileDialog)
    dialog.fileSelected.emit(str(tmp_path / "out.json"))
    dialog.close()
    choose(panel.presets, "Import a preset…")
    dialog = next(
        each for each in window.frame.findChildren(QFileDialog) if each.windowTitle() == "Import a preset"
    )
    dialog.filesSelected.emit([str(tmp_path / "in.json")])
    dialog.close()
    assert presets.exported == [("story.json", tmp_path / "out.json")]
    assert presets.imported == [tmp_path / "in.json"]


def test_trouble_with_presets_is_told(window: MainWindow) -> None:
    presets_of(window).failed.emit("bad.json is no preset.")
    assert [banner.text for banner in window.notices.banners()] == ["bad.json is no preset."]
    assert isinstance(window.chat_options, ChatOptionsPanel)
