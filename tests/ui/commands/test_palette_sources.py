import pytest
from PySide6.QtCore import QTranslator
from PySide6.QtWidgets import QApplication

from app.look.language import TRANSLATIONS_DIR
from app.ui.commands.palette import hits
from app.ui.commands.palette_sources import (
    MAX_SAVED,
    command_entries,
    open_chat_entries,
    saved_chat_entries,
    setting_entries,
)
from app.ui.main_window import MainWindow
from tests.ui.fakes import FakeWorkspace


@pytest.fixture
def two_chats(window: MainWindow, workspace: FakeWorkspace) -> FakeWorkspace:
    workspace.sessions[0].chat.title = "Sums\nof the year"
    workspace.new_chat()
    return workspace


def test_a_command_comes_with_all_its_menu_tells(window: MainWindow) -> None:
    entries = {entry.name: entry for entry in command_entries(window.frame.menuBar())}
    new, light, stop = (entries[f"command {name}"] for name in ("chat.new", "theme.light", "chat.stop"))
    assert (new.text, new.detail, new.keys) == ("New chat", "File", "Ctrl+T")
    assert (light.text, light.detail, light.is_on) == ("Theme: Light", "View › Theme", True)
    assert (stop.is_enabled, stop.why_disabled) == (False, "No answer is being written in this tab.")


def test_every_tab_is_offered_by_its_title_and_shown(window: MainWindow, two_chats: FakeWorkspace) -> None:
    first, second = open_chat_entries(window.tabs)
    assert first.text == "Sums of the year"
    first.run()
    assert two_chats.current is two_chats.sessions[0]
    second.run()
    assert two_chats.current is two_chats.sessions[1]


def test_saved_chats_are_offered_where_they_have_no_tab(window: MainWindow, two_chats: FakeWorkspace) -> None:
    opened: list[str] = []
    saved = [(two_chats.sessions[0].chat.id, "Sums"), ("other", "Trip")]
    (entry,) = saved_chat_entries(lambda: saved, window.tabs, opened.append)
    assert (entry.text, entry.only_when_asked) == ("Trip", True)
    entry.run()
    assert opened == ["other"]


def test_of_very_many_chats_the_newest_are_offered(window: MainWindow) -> None:
    saved = [(str(number), f"Chat {number}") for number in range(MAX_SAVED + 10)]
    entries = saved_chat_entries(lambda: saved, window.tabs, lambda _id: None)
    assert [entry.text for entry in (entries[0], entries[-1])] == ["Chat 0", f"Chat {MAX_SAVED - 1}"]


def test_every_setting_is_offered_with_its_page() -> None:
    shown: list[str] = []
    entries = {entry.name: entry for entry in setting_entries(shown.append)}
    entry = entries["setting min_p"]
    assert (entry.text, entry.detail) == ("Min-p", "Setting › Sampling")
    entry.run()
    assert shown == ["min_p"]


@pytest.mark.parametrize("is_chinese", [False, True])
def test_settings_and_commands_are_found_by_their_words_in_every_language(
    window: MainWindow, qapp: QApplication, is_chinese: bool
) -> None:
    translator = QTranslator()
    if is_chinese:
        assert translator.load("skein_zh_CN", str(TRANSLATIONS_DIR))
        qapp.installTranslator(translator)
    try:
        entries = [*command_entries(window.frame.menuBar()), *setting_entries(lambda _name: None)]
        for name, queries in {
            "setting temperature": ("temperature", "温度"),
            "command chat.new": ("new chat", "新建对话"),
        }.items():
            for query in queries:
                assert name in [hit.entry.name for hit in hits(query, entries, ())]
    finally:
        qapp.removeTranslator(translator)
