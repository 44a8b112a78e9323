from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QApplication, QFileDialog, QLabel, QMainWindow, QRadioButton, QWidget
from pytestqt.qtbot import QtBot

from app.protocol.load import USUAL_DRAFTED_TOKENS
from app.services.preferences import Preferences
from app.settings.settings import Settings
from app.system import paths
from app.ui.base.actions import add_menu, make_action
from app.ui.base.long_text_box import LongTextBox
from app.ui.base.setting import Facts
from app.ui.base.setting_controls import DecimalNumber, NamedControl, ShortText, Switch, WholeNumber
from app.ui.base.setting_list import PAGES
from app.ui.engine.model_loading import ModelLoading
from app.ui.settings.settings_window import SettingsWindow, TokenRow
from app.ui.settings.shortcuts import Shortcuts
from tests.fakes import model_info
from tests.ui.fakes import FakeEngine
from tests.ui.models.hub_fakes import FakeModelHub
from tests.ui.tool_fakes import FakeToolService

NONE = Qt.KeyboardModifier.NoModifier


@pytest.fixture
def engine() -> FakeEngine:
    return FakeEngine(model_info(name="starter", n_ctx=8192, path=Path("/m/starter.gguf")))


@pytest.fixture
def parent(qtbot: QtBot) -> QMainWindow:
    parent = QMainWindow()
    qtbot.addWidget(parent)
    opened: list[str] = []
    parent.opened = opened  # type: ignore[attr-defined]
    action = make_action(
        parent, "help.data-folder", "Open &data folder", "Show it", lambda: opened.append("data"), "F7"
    )
    add_menu(parent.menuBar(), "&Help", action)
    return parent


@pytest.fixture
def preferences(parent) -> Preferences:
    return Preferences(Settings(), parent)


@pytest.fixture
def window(new_window) -> SettingsWindow:
    """With all pages."""
    assert new_window.sections
    return new_window


@pytest.fixture
def new_window(qtbot: QtBot, parent, preferences, engine) -> Iterator[SettingsWindow]:
    models = ModelLoading(engine, preferences, parent)
    hub = FakeModelHub()
    parent.hub = hub
    shortcuts = Shortcuts(parent.menuBar(), preferences, parent)
    shortcuts.apply()
    facts = Facts(preferences.settings, engine.model, 4)
    tools: Any = FakeToolService()
    window = SettingsWindow(preferences, models, shortcuts, lambda: facts, hub, tools, parent)
    window.come_up()
    qtbot.waitExposed(window)
    yield window
    window.hide()


def control(window: SettingsWindow, name: str) -> QWidget:
    return window.rows[name].widget


def test_a_page_is_made_when_it_is_shown_and_stands_in_its_place(new_window) -> None:
    names = [page.name for page in PAGES]
    assert list(new_window._sections) == names[:1]
    for number in (3, 1):
        new_window.show_page(names[number])
        assert [name for name, one in new_window._sections.items() if one.isVisible()] == [names[number]]
    assert set(new_window._sections) == {names[number] for number in (0, 1, 3)}
    places = [new_window._column.indexOf(section) for section in new_window.sections.values()]
    assert places == sorted(places)


def shown_rows(window: SettingsWindow) -> set[str]:
    return {name for name, row in window.rows.items() if row.isVisible()}


def names_on(page: str) -> set[str]:
    rows = next(each.rows for each in PAGES if each.name == page)
    return {row.name for row in rows if hasattr(row, "sentence")}


class TestPages:
    def test_each_page_shows_its_settings_and_no_others(self, window) -> None:
        for row, page in enumerate(PAGES):
            window.nav.setCurrentRow(row)
            assert shown_rows(window) == names_on(page.name)

    def test_every_row_says_what_it_is_and_can_be_reset(self, window) -> None:
        for row in window.rows.values():
            assert row.title.text()
            assert row.sentence.isHidden() is not bool(row.sentence.text())
            assert row.sentence.text().rstrip(".") != row.title.text()
            assert row.reset.accessibleName().startswith("Back to the default: ")
            assert row.widget.accessibleName() == row.title.text()

    def test_the_default_is_told_where_it_was_changed_and_only_there(self, window, preferences) -> None:
        row = window.rows["n_seq_max"]
        assert row.note.text() == ""
        assert row.note.isHidden()
        assert row.reset.isHidden()
        preferences.set("n_seq_max", 2)
        assert row.note.text() == "Default: 8."
        assert not row.note.isHidden()
        assert not row.reset.isHidden()
        others = [each for name, each in window.rows.items() if name != "n_seq_max"]
        assert not any("Default" in each.note.text() for each in others)
        row.reset.click()
        assert preferences.settings.n_seq_max == 8
        assert row.reset.isHidden()

    def test_nothing_moves_when_a_setting_is_changed(self, window, preferences) -> None:
        window.show_page("look")
        before = control(window, "zoom").geometry()
        preferences.set("zoom", 2)
        assert control(window, "zoom").geometry() == before

    def test_the_controls_end_where_the_page_does(self, window) -> None:
        rows = [row for row in window.rows.values() if row.isVisible()]
        assert {row.widget.geometry().right() for row in rows} == {rows[0].rect().right()}

    def test_the_first_page_is_worth_opening(self, window) -> None:
        window.nav.setCurrentRow(0)
        assert {"language", "enter_sends", "automatic_titles"} <= shown_rows(window)

    def test_it_is_not_modal_and_fits_a_small_screen(self, window) -> None:
        assert not window.isModal()
        assert QApplication.activeModalWidget() is None
        assert window.minimumSizeHint().height() <= 600
        window.resize(640, 420)
        assert window.width() == 640

    def test_a_setting_can_be_gone_to_at_once(self, window, qtbot: QtBot) -> None:
        window.show_setting("min_p")
        assert shown_rows(window) == names_on("sampling")
        qtbot.waitUntil(control(window, "min_p").hasFocus)

    def test_a_command_among_the_settings_does_what_it_does_in_its_menu(self, window, parent) -> None:
        window.show_page("privacy")
        window.sections["privacy"].rows[-1].button.click()
        assert parent.opened == ["data"]


class TestChanges:
    def test_a_choice_counts_at_once_and_goes_back(self, window, preferences) -> None:
        window.show_page("look")
        row = window.rows["theme"]
        next(each for each in row.findChildren(QRadioButton) if each.text() == "Dark").click()
        assert preferences.settings.theme == "dark"
        assert row.reset.isVisible()
        row.reset.click()
        assert preferences.settings.theme == "system"
        assert not row.reset.isVisible()
        assert row.control.value == "system"

    def test_a_switch_is_switched_by_mouse_and_by_the_space_bar(
        self, window, preferences, qtbot: QtBot
    ) -> None:
        window.show_page("general")
        switch = control(window, "enter_sends")
        assert isinstance(switch, Switch)
        qtbot.mouseClick(switch, Qt.MouseButton.LeftButton)
        assert preferences.settings.enter_sends is False
        qtbot.keyClick(switch, Qt.Key.Key_Space)
        assert preferences.settings.enter_sends is True

    def test_draft_tokens_are_one_switch_and_their_number_is_nobodys_to_know(
        self, window, preferences, qtbot: QtBot
    ) -> None:
        window.show_page("engine")
        row = window.rows["num_drafted_tokens"]
        assert row.widget.isChecked()
        qtbot.mouseClick(row.widget, Qt.MouseButton.LeftButton)
        assert preferences.settings.num_drafted_tokens == 0
        assert row.note.text() == "Default: on."
        qtbot.mouseClick(row.widget, Qt.MouseButton.LeftButton)
        assert preferences.settings.num_drafted_tokens == USUAL_DRAFTED_TOKENS
        preferences.set("num_drafted_tokens", 16)  # from the file or the command line
        assert row.widget.isChecked()

    def test_a_number_counts_when_it_is_entered_and_not_while_it_is_typed(
        self, window, preferences, qtbot: QtBot
    ) -> None:
        window.show_page("context")
        field = control(window, "n_ctx")
        assert isinstance(field, WholeNumber)
        assert field.text() == "Automatic"
        field.setFocus()
        field.selectAll()
        qtbot.keyClicks(field, "4096")
        assert preferences.settings.n_ctx == 0
        qtbot.keyClick(field, Qt.Key.Key_Return)
        assert preferences.settings.n_ctx == 4096
        assert window.isVisible()
        assert field.text() == "4,096"

    def test_what_is_half_typed_stays_when_something_else_changes(
        self, window, preferences, qtbot: QtBot
    ) -> None:
        window.show_page("context")
        field = control(window, "n_ctx")
        field.setFocus()
        field.selectAll()
        qtbot.keyClicks(field, "40")
        preferences.set("speed", "balanced")
        assert field.text() == "40"

    def test_what_was_typed_last_counts_when_the_window_is_closed(
        self, window, preferences, qtbot: QtBot
    ) -> None:
        window.show_page("context")
        field = control(window, "n_ctx")
        window.activateWindow()
        field.setFocus()
        qtbot.waitUntil(field.hasFocus)
        field.selectAll()
        qtbot.keyClicks(field, "2048")
        window.close()
        assert preferences.settings.n_ctx == 2048

    def test_a_number_that_may_be_none_has_a_word_for_it_below_its_lowest(self, window, preferences) -> None:
        top_k, temperature = control(window, "top_k"), control(window, "temperature")
        assert isinstance(top_k, WholeNumber)
        assert isinstance(temperature, DecimalNumber)
        assert (top_k.text(), temperature.text()) == ("Recommended", "Recommended")
        top_k.stepUp()
        temperature.stepUp()
        assert (preferences.settings.top_k, preferences.settings.temperature) == (0, 0.0)
        temperature.stepUp()
        assert preferences.settings.temperature == 0.05
        assert temperature.text() == "0.05"
        for _ in range(2):
            temperature.stepDown()
        top_k.stepDown()
        assert (preferences.settings.top_k, preferences.settings.temperature) == (None, None)

    def test_a_number_that_cannot_go_to_zero_goes_from_its_lowest_to_the_word(
        self, window, preferences
    ) -> None:
        penalty = control(window, "repeat_penalty")
        assert isinstance(penalty, DecimalNumber)
        penalty.stepUp()
        assert preferences.settings.repeat_penalty == 0.01
        penalty.stepDown()
        assert preferences.settings.repeat_penalty is None

    def test_a_text_is_taken_as_it_is_written(self, window, preferences, qtbot: QtBot) -> None:
        window.show_page("chats")
        text = control(window, "system_prompt")
        assert isinstance(text, LongTextBox)
        qtbot.keyClicks(text, "Be brief.")
        assert preferences.settings.system_prompt == "Be brief."
        assert text.textCursor().atEnd()

    def test_one_of_many_is_chosen_from_a_list(self, window, preferences) -> None:
        size = control(window, "zoom")
        assert isinstance(size, NamedControl)
        index = size.findData(3)
        size.setCurrentIndex(index)
        size.activated.emit(index)
        assert preferences.settings.zoom == 3

    def test_what_is_changed_elsewhere_is_shown(self, window, preferences) -> None:
        preferences.set("zoom", -2)
        preferences.set("code_font", "A font that is not here")
        size, font = control(window, "zoom"), control(window, "code_font")
        assert isinstance(size, NamedControl)
        assert isinstance(font, NamedControl)
        assert size.currentData() == -2
        assert font.currentText() == "A font that is not here"

    def test_the_wheel_changes_nothing_that_has_not_the_focus(
        self, window, preferences, qtbot: QtBot
    ) -> None:
        window.show_page("context")
        field = control(window, "n_seq_max")
        window.search.setFocus()
        event = QWheelEvent(
            QPointF(5, 5), QPointF(5, 5), QPoint(), QPoint(0, 120), Qt.MouseButton.NoButton, NONE,
            Qt.ScrollPhase.NoScrollPhase, False,
        )  # fmt: skip
        QApplication.sendEvent(field, event)
        assert preferences.settings.n_seq_max == 8


class TestModels:
    def test_another_folder_for_models_is_chosen_and_given_up(
        self, window, preferences, tmp_path: Path
    ) -> None:
        window.show_page("models")
        row = window.rows["download_folder"]
        assert row.widget.toolTip() == str(paths.models_dir())
        row.widget.click()
        (dialog,) = window.findChildren(QFileDialog)
        dialog.fileSelected.emit(str(tmp_path))
        dialog.close()
        assert preferences.settings.download_folder == tmp_path
        assert row.widget.toolTip() == str(tmp_path)
        row.reset.click()
        assert preferences.settings.download_folder is None

    def test_a_mirror_counts_when_it_is_entered_and_must_be_one(
        self, window, preferences, qtbot: QtBot
    ) -> None:
        window.show_page("models")
        field = control(window, "hub_endpoint")
        qtbot.keyClicks(field, "https://hf-mirror.com")
        assert preferences.settings.hub_endpoint == ""
        qtbot.keyClick(field, Qt.Key.Key_Return)
        assert preferences.settings.hub_endpoint == "https://hf-mirror.com"
        field.setText("http://elsewhere.example")
        qtbot.keyClick(field, Qt.Key.Key_Return)
        assert preferences.settings.hub_endpoint == "https://hf-mirror.com"
        assert "https://" in window.rows["hub_endpoint"].problem.text()

    def test_a_token_goes_to_the_keyring_and_is_shown_no_more(self, window, parent, qtbot: QtBot) -> None:
        window.show_page("models")
        row = window.findChild(TokenRow)
        assert row.forget.isHidden()
        qtbot.keyClicks(row.field, "hf_secret")
        qtbot.keyClick(row.field, Qt.Key.Key_Return)
        assert parent.hub.tokens == ["hf_secret"]
        assert row.field.text() == ""
        assert row.field.placeholderText() == "Token saved"
        row.forget.click()
        assert parent.hub.tokens == ["hf_secret", ""]
        assert row.forget.isHidden()


class TestReload:
    @pytest.mark.parametrize(
        ("name", "value"), [("n_ctx", 2048), ("n_seq_max", 2), ("n_threads", 1), ("isolated", True)]
    )
    def test_what_makes_the_context_waits_for_the_model_and_says_so(
        self, window, preferences, engine, name, value
    ) -> None:
        assert window.reload.isHidden()
        preferences.set(name, value)
        assert not window.reload.isHidden()
        assert "reloaded" in window.reload.findChild(QLabel).text()
        assert engine.loads == []
        window.reload.buttons[0].click()
        assert [getattr(params, name) for params in engine.loads] == [value]
        engine.finish_load(engine.model)
        assert window.reload.isHidden()

    def test_taken_back_it_needs_nothing(self, window, preferences) -> None:
        preferences.set("n_ctx", 2048)
        window.rows["n_ctx"].reset.click()
        assert window.reload.isHidden()

    def test_without_a_model_the_next_one_is_loaded_so_anyway(self, window, preferences, engine) -> None:
        engine.model = None
        preferences.set("n_ctx", 2048)
        assert window.reload.isHidden()


class TestSearch:
    def test_it_looks_on_all_pages_and_marks_what_it_has_found(self, window, qtbot: QtBot) -> None:
        qtbot.keyClicks(window.search, "enter new line")
        assert shown_rows(window) == {"enter_sends"}
        assert window.sections["general"].isVisible()
        assert "<span" in window.rows["enter_sends"].sentence.text()
        assert not window.sections["look"].isVisible()

    def test_choices_and_the_names_in_the_file_are_found_too(self, window) -> None:
        window.search.setText("rolling")
        assert shown_rows(window) == {"overflow"}
        window.search.setText("n_ctx")
        assert shown_rows(window) == {"n_ctx"}

    def test_commands_are_found_with_their_keys(self, window) -> None:
        window.search.setText("data folder")
        assert window.sections["shortcuts"].isVisible()
        assert [command.name for command in window.shortcuts.rows] == ["help.data-folder"]

    def test_the_title_of_a_page_finds_all_of_it(self, window) -> None:
        window.search.setText("sampling")
        assert shown_rows(window) == names_on("sampling")
        window.search.setText("shortcuts")
        assert len(window.shortcuts.rows) == 1
        assert window.shortcuts.isVisible()

    def test_that_nothing_was_found_is_told(self, window) -> None:
        window.search.setText("qqq")
        told = [label.text() for label in window.findChildren(QLabel) if label.isVisible()]
        assert "No setting matches." in told
        assert shown_rows(window) == set()

    def test_escape_ends_the_search_first_and_closes_then(self, window, qtbot: QtBot) -> None:
        window.show_page("look")
        window.search.setText("token")
        qtbot.keyClick(window.search, Qt.Key.Key_Escape)
        assert window.isVisible()
        assert shown_rows(window) == names_on("look")
        assert "<span" not in "".join(row.title.text() for row in window.rows.values())
        qtbot.keyClick(window.search, Qt.Key.Key_Escape)
        assert not window.isVisible()

    def test_escape_does_not_use_what_is_half_typed(self, window, preferences, qtbot: QtBot) -> None:
        row = next(row for row in window.rows.values() if isinstance(row.widget, ShortText))
        window.show_setting(row.setting.name)
        before = preferences.value(row.setting.name)
        row.widget.setFocus()
        row.widget.setText("half")
        qtbot.keyClick(row.widget, Qt.Key.Key_Escape)
        assert not window.isVisible()
        assert preferences.value(row.setting.name) == before

    def test_a_page_that_is_clicked_ends_it(self, window) -> None:
        window.search.setText("token")
        window.nav.setCurrentRow(1)
        assert window.search.text() == ""
        assert shown_rows(window) == names_on("look")
