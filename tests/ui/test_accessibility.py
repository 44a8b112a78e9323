"""Screen readers get names for everything in the window; without a mouse, the focus is visible."""

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractScrollArea,
    QAbstractSlider,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QFrame,
    QLineEdit,
    QTabBar,
    QToolButton,
    QWidget,
)
from pytestqt.qtbot import QtBot

from app.ui.main_window import MainWindow
from app.ui.settings.settings_window import SettingsWindow
from tests.ui.fakes import FakeWorkspace

# What a screen reader stops at. Of a scroll bar and the line of a spin box it says what they belong to.
HEARD = (QAbstractButton, QAbstractScrollArea, QAbstractSpinBox, QComboBox, QLineEdit, QTabBar)


def nameless(window: QWidget) -> list[str]:
    return [
        f"{type(widget).__name__} in {type(widget.parentWidget()).__name__}"
        for widget in window.findChildren(QWidget)
        if isinstance(widget, HEARD)
        and not (_is_qts_own(widget) or _has_no_words_yet(widget))
        and not _name_of(widget)
    ]


def _has_no_words_yet(widget: QWidget) -> bool:
    """What is hidden gets its words when it is shown; a row of tabs is called as the one in front."""
    if isinstance(widget, QTabBar) and widget.count() == 0:
        return True
    return isinstance(widget, QAbstractButton | QTabBar) and not widget.isVisibleTo(widget.window())


def _is_qts_own(widget: QWidget) -> bool:
    """Parts of other widgets, and scroll areas that cannot be focused."""
    parent = widget.parentWidget()
    if widget.objectName().startswith("qt_") or isinstance(parent, QAbstractSpinBox | QComboBox):
        return True
    if isinstance(parent, QTabBar | QLineEdit) and isinstance(widget, QToolButton):
        return True  # its arrows to scroll, its cross to clear
    if isinstance(widget.window(), QFrame) and widget.window().inherits("QComboBoxPrivateContainer"):
        return True  # the list that it drops
    if isinstance(widget, QAbstractScrollArea):
        return widget.focusPolicy() == Qt.FocusPolicy.NoFocus
    return isinstance(widget, QAbstractSlider)


def _name_of(widget: QWidget) -> str:
    interface = QAccessible.queryAccessibleInterface(widget)
    return interface.text(QAccessible.Text.Name) if interface else ""


def test_everything_in_the_window_has_a_name(whole_window: MainWindow) -> None:
    assert nameless(whole_window.frame) == [], nameless(whole_window.frame)


def test_everything_in_a_chat_has_a_name(window: MainWindow, workspace: FakeWorkspace, qtbot: QtBot) -> None:
    session = workspace.sessions[0]
    session.send("Show me")
    session.say("Here: [a link](https://example.org)\n\n```py\nx = 1\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |")
    session.finish()
    qtbot.waitUntil(lambda: "link" in window.tabs.views[0].transcript.plain_text())
    QApplication.processEvents()  # docks settle
    assert nameless(window.frame) == []


@pytest.fixture
def settings_window(window: MainWindow) -> Iterator[SettingsWindow]:
    assert window.settings_window.sections  # all are made
    window.settings_window.come_up()
    yield window.settings_window
    window.settings_window.hide()


def test_everything_in_the_settings_has_a_name(settings_window: SettingsWindow) -> None:
    assert nameless(settings_window) == []


def test_the_tab_key_reaches_every_control_of_a_page_and_is_seen_there(
    settings_window: SettingsWindow, qtbot: QtBot
) -> None:
    settings_window.show_page("look")
    settings_window.activateWindow()
    qtbot.waitUntil(settings_window.isActiveWindow)
    settings_window.search.setFocus()
    reached: list[QWidget] = []
    for _ in range(40):
        qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Tab)
        reached.append(QApplication.focusWidget())
    for name in ("theme", "zoom", "reading_font", "code_font", "motion"):
        control = settings_window.rows[name].widget
        assert any(widget is control or control.isAncestorOf(widget) for widget in reached), name
    buttons = [widget for widget in reached if isinstance(widget, QAbstractButton)]
    assert buttons
    for widget in {*reached}:
        assert _looks_different_with_focus(widget), type(widget).__name__


def _looks_different_with_focus(widget: QWidget) -> bool:
    widget.setFocus(Qt.FocusReason.TabFocusReason)
    QApplication.processEvents()
    with_focus = widget.grab().toImage()
    widget.clearFocus()
    QApplication.processEvents()
    return with_focus != widget.grab().toImage()
