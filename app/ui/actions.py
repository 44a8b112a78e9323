"""Every command of the window as a QAction, and the menus they stand in. GUI thread."""

from collections.abc import Callable

from PySide6.QtCore import QObject
from PySide6.QtGui import QAction, QActionGroup, QKeySequence
from PySide6.QtWidgets import QMenu, QMenuBar

Shortcut = QKeySequence.StandardKey | str
THEMES = (("system", "&System"), ("light", "&Light"), ("dark", "&Dark"))


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


def theme_menu(parent: QMenuBar, chosen: str, on_chosen: Callable[[str], None]) -> QMenu:
    menu = QMenu("&Theme", parent)
    group = QActionGroup(menu)
    for name, label in THEMES:
        action = group.addAction(menu.addAction(label))
        action.setCheckable(True)
        action.setChecked(name == chosen)
        action.setStatusTip(f"Use the {name} colours")
        action.triggered.connect(lambda _checked, name=name: on_chosen(name))
    return menu
