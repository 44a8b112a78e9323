"""The local API in the window, on a scripted server."""

import pytest
from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QApplication, QLabel, QRadioButton
from pytestqt.qtbot import QtBot

from app.ui.base.setting_notes import why_no_hosts, why_no_origins
from app.ui.engine.api_menu import ApiPanel, example, masked, state_text
from app.ui.main_window import MainWindow
from tests.ui.fakes import FakeEngine

KEY = "k" * 39 + "1234"


class FakeApi(QObject):
    changed = Signal()
    titles_changed = Signal(object)
    failed = Signal(str)
    settings_changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.is_on = False
        self.address = "http://127.0.0.1:8808"
        self.num_requests = 0
        self.fingerprint = ""
        self.ports: list[int] = []
        self.num_new_keys = 0
        self.num_applies = 0

    def apply(self) -> None:
        self.num_applies += 1

    def switch(self, is_on: bool) -> None:
        self.is_on = is_on
        self.changed.emit()

    def set_port(self, port: int) -> None:
        self.ports.append(port)

    def renew_key(self) -> None:
        self.num_new_keys += 1


@pytest.fixture
def api(qapp: QApplication) -> FakeApi:
    return FakeApi()


@pytest.fixture
def services(api: FakeApi) -> dict[str, object]:
    return {"api": api}


@pytest.fixture
def window_with_api(window: MainWindow, api: FakeApi) -> MainWindow:
    window.preferences.settings.api_key = KEY
    api.changed.emit()
    return window


def shown_panel(window: MainWindow) -> ApiPanel:
    window.api_menu.show_panel()
    return window.api_menu.panel


def clipboard() -> str:
    return QApplication.clipboard().text()


def test_the_status_bar_tells_the_state_and_opens_the_dialog(
    window_with_api: MainWindow, api: FakeApi, qtbot: QtBot
) -> None:
    part = window_with_api.status.api
    assert part.text() == "API off"
    api.num_requests = 2
    api.switch(True)
    assert part.text() == "API on 127.0.0.1:8808 · 2 requests running"
    qtbot.mouseClick(part, Qt.MouseButton.LeftButton)
    assert window_with_api.api_menu.panel.isVisible()
    assert window_with_api.api_menu.panel.state.text() == "2 requests running"


def test_the_menu_switches_it_and_copies_address_and_key(window_with_api: MainWindow, api: FakeApi) -> None:
    menu = window_with_api.api_menu
    assert not menu.copy_address.isEnabled()
    menu.switch.trigger()
    assert api.is_on
    assert menu.switch.isChecked()
    menu.copy_address.trigger()
    assert clipboard() == "http://127.0.0.1:8808/v1"
    menu.copy_key.trigger()
    assert clipboard() == KEY
    menu.switch.trigger()
    assert not api.is_on


def test_the_dialog_asks_for_what_was_chosen(window_with_api: MainWindow, api: FakeApi, qtbot: QtBot) -> None:
    panel = shown_panel(window_with_api)
    on = next(button for button in panel.findChildren(QRadioButton) if button.text() == "On")
    on.click()
    assert api.is_on
    panel.port.setFocus()
    panel.port.selectAll()
    qtbot.keyClicks(panel.port, "9100")
    assert api.ports == []  # not each digit is a port
    qtbot.keyClick(panel.port, Qt.Key.Key_Return)
    assert api.ports == [9100]
    panel.new_key.click()
    assert api.num_new_keys == 1


def test_the_dialog_shows_only_the_end_of_the_key_and_copies_all_of_it(
    window_with_api: MainWindow, api: FakeApi
) -> None:
    panel = shown_panel(window_with_api)
    api.switch(True)
    shown = "\n".join(label.text() for label in panel.findChildren(QLabel))
    assert KEY not in shown
    assert masked(KEY) in shown
    panel.copy_key.click()
    assert clipboard() == KEY
    panel.copy_address.click()
    assert clipboard() == "http://127.0.0.1:8808/v1"
    panel.copy_example.click()
    assert clipboard() == example("http://127.0.0.1:8808", KEY)


def test_before_the_first_time_there_is_no_key_to_copy(api: FakeApi, qtbot: QtBot) -> None:
    panel = ApiPanel(api)  # type: ignore[arg-type]
    qtbot.addWidget(panel)
    panel.apply(False, "http://127.0.0.1:8808", "", 0)
    assert not panel.copy_key.isEnabled()
    assert not panel.copy_example.isEnabled()


def test_callers_chats_have_names_in_the_inspector(window_with_api: MainWindow, api: FakeApi) -> None:
    api.titles_changed.emit({"api-1": "API: Hello"})
    assert window_with_api.inspector.recording.titles["api-1"] == "API: Hello"


def test_a_failure_is_told_in_the_window(
    window_with_api: MainWindow, api: FakeApi, engine: FakeEngine
) -> None:
    api.failed.emit("The API could not start: port 8808 is used by another program.")
    texts = [label.text() for label in window_with_api.notices.findChildren(QLabel)]
    assert any("port 8808" in text for text in texts)


def test_what_is_set_on_the_page_of_the_settings_counts_at_once(
    window_with_api: MainWindow, api: FakeApi
) -> None:
    window_with_api.preferences.set("api_enabled", True)
    window_with_api.preferences.set("api_port", 9100)
    assert api.num_applies == 2


def test_what_the_api_itself_has_set_is_shown_on_the_page_and_saved(
    window_with_api: MainWindow, api: FakeApi
) -> None:
    row = window_with_api.settings_window.rows["api_port"]
    window_with_api.preferences.settings.api_port = 9200
    api.settings_changed.emit()
    assert row.widget.text() == "9200"  # type: ignore[attr-defined]


def test_what_the_status_bar_says() -> None:
    assert state_text(False, "http://127.0.0.1:1", 3) == "API off"
    assert state_text(True, "http://127.0.0.1:1", 0) == "API on 127.0.0.1:1"
    assert state_text(True, "http://127.0.0.1:1", 1) == "API on 127.0.0.1:1 · 1 request running"


def test_an_encrypted_api_shows_the_fingerprint_of_its_certificate(
    window_with_api: MainWindow, api: FakeApi
) -> None:
    panel = shown_panel(window_with_api)
    api.switch(True)
    assert panel.certificate.text() == "Not encrypted"
    assert not panel.copy_fingerprint.isEnabled()
    api.address, api.fingerprint = "https://127.0.0.1:8808", ":".join(["AB"] * 32)
    api.switch(True)
    assert panel.certificate.text().replace("\n", ":") == api.fingerprint
    panel.copy_fingerprint.click()
    assert clipboard() == api.fingerprint
    panel.copy_address.click()
    assert clipboard() == "https://127.0.0.1:8808/v1"
    assert "curl --cacert " in example(api.address, KEY)
    assert state_text(True, api.address, 0) == "API on 127.0.0.1:8808"


def test_web_pages_and_names_that_cannot_be_allowed_are_told_on_the_page_of_the_settings(
    window_with_api: MainWindow, api: FakeApi
) -> None:
    assert "is not an origin" in why_no_origins("example.com")
    assert "is not a host name" in why_no_hosts("*")
    assert why_no_origins("app://obsidian.md") == why_no_hosts("*.lan") == ""
    window_with_api.preferences.set("api_origins", "app://obsidian.md")
    assert api.num_applies == 1
