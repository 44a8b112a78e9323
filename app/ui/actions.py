"""Every command of the window as a QAction, and the menus they stand in. GUI thread."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject
from PySide6.QtGui import QAction, QActionGroup, QKeySequence
from PySide6.QtWidgets import QMenu, QMenuBar, QWidget

from app.ui.choices import Choice

Shortcut = QKeySequence.StandardKey | str


def make_action(
    parent: QObject, text: str, tip: str, on_triggered: Callable[[], object], *shortcuts: Shortcut
) -> QAction:
    """The first shortcut is the one the menu shows."""
    action = QAction(text, parent)
    action.setStatusTip(tip)
    action.setShortcuts([QKeySequence(shortcut) for shortcut in shortcuts])
    action.triggered.connect(lambda _checked=False: on_triggered())
    return action


def add_menu(bar: QMenuBar, title: str, *actions: QAction | QMenu | None) -> QMenu:
    """None stands for a line between groups."""
    menu = bar.addMenu(title)
    for action in actions:
        if action is None:
            menu.addSeparator()
        elif isinstance(action, QMenu):
            menu.addMenu(action)
        else:
            menu.addAction(action)
    return menu


def radio_menu(
    parent: QWidget, title: str, choices: Sequence[Choice], chosen: str, on_chosen: Callable[[str], None]
) -> QMenu:
    menu = QMenu(title, parent)
    group = QActionGroup(menu)
    for choice in choices:
        action = group.addAction(menu.addAction(f"&{choice.label}"))
        action.setCheckable(True)
        action.setData(choice.value)
        action.setStatusTip(choice.sentence)
        action.triggered.connect(lambda _checked, value=choice.value: on_chosen(value))
    tick(menu, chosen)
    return menu


def tick(menu: QMenu, value: str) -> None:
    for action in menu.actions():
        action.setChecked(action.data() == value)
