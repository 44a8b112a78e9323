"""Creates the window's commands, which are QActions with a name, and menus. GUI thread.

The words of a command stand in command_list.py.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QObject
from PySide6.QtGui import QAction, QActionGroup, QKeySequence
from PySide6.QtWidgets import QMenu, QMenuBar, QWidget

from app.look.popups import Menu
from app.look.words import tr
from app.ui.base.command_list import COMMANDS, Shortcut
from app.ui.base.setting import Choice


def command(parent: QObject, name: str, on_triggered: Callable[[], object], *keys: Shortcut) -> QAction:
    """A command of the list, with these keys if any are given."""
    words = COMMANDS[name]
    keys = keys or (words.keys if isinstance(words.keys, tuple) else (words.keys,))
    needs = tr(words.needs) if words.needs else ""
    return make_action(parent, name, tr(words.text), tr(words.tip), on_triggered, *keys, needs=needs)


def make_action(
    parent: QObject,
    name: str,
    text: str,
    tip: str,
    on_triggered: Callable[[], object],
    *shortcuts: Shortcut,
    needs: str = "",
) -> QAction:
    """The first shortcut is the one the menu shows. `needs` says what it takes to enable it."""
    action = QAction(text, parent)
    action.setObjectName(name)
    action.setStatusTip(tip)
    action.setProperty("needs", needs)
    action.setMenuRole(QAction.MenuRole.NoRole)  # otherwise macOS derives one from the text
    action.setShortcuts([QKeySequence(shortcut) for shortcut in shortcuts])
    action.triggered.connect(lambda _checked=False: on_triggered())
    return action


def add_menu(bar: QMenuBar, title: str, *actions: QAction | QMenu | None) -> QMenu:
    """None is a separator."""
    menu = submenu(bar, title, *actions)
    bar.addMenu(menu)
    return menu


def submenu(parent: QWidget, title: str, *actions: QAction | QMenu | None) -> QMenu:
    menu = Menu(title, parent)
    fill(menu, *actions)
    return menu


def fill(menu: QMenu, *actions: QAction | QMenu | None) -> None:
    for action in actions:
        if action is None:
            menu.addSeparator()
        elif isinstance(action, QMenu):
            menu.addMenu(action)
        else:
            menu.addAction(action)


def radio_menu(
    parent: QWidget,
    name: str,
    title: str,
    choices: Sequence[Choice],
    chosen: str,
    on_chosen: Callable[[str], object],
) -> QMenu:
    menu = Menu(title, parent)
    group = QActionGroup(menu)
    for choice in choices:
        action = group.addAction(menu.addAction(_with_mnemonic(tr(choice.label))))
        action.setObjectName(f"{name}.{choice.value or 'system'}")
        action.setMenuRole(QAction.MenuRole.NoRole)
        action.setCheckable(True)
        action.setData(choice.value)
        action.setStatusTip(tr(choice.sentence or choice.label))
        action.triggered.connect(lambda _checked, value=choice.value: on_chosen(value))
    tick(menu, chosen)
    return menu


def _with_mnemonic(label: str) -> str:
    """With its first letter as mnemonic, if keyboards have it."""
    return f"&{label}" if label[:1].isascii() else label


def tick(menu: QMenu, value: str) -> None:
    for action in menu.actions():
        action.setChecked(action.data() == value)


_NATIVE = QKeySequence.SequenceFormat.NativeText


@dataclass(frozen=True, slots=True)
class MenuCommand:
    """A QAction, and the titles of the menus above it, outermost first."""

    action: QAction
    path: tuple[str, ...]

    @property
    def name(self) -> str:
        """The same in every language and version."""
        return self.action.objectName()

    @property
    def text(self) -> str:
        """Understandable without its menu: a command in a submenu is prefixed with that."""
        text = plain(self.action.text())
        return f"{self.path[-1]}: {text}" if len(self.path) > 1 else text

    @property
    def full_name(self) -> str:
        """With all its menus."""
        return " › ".join((*self.path, plain(self.action.text())))

    @property
    def keys(self) -> str:
        """The first of its shortcuts as the menu shows it."""
        return self.action.shortcut().toString(_NATIVE)

    @property
    def tip(self) -> str:
        return self.action.statusTip()

    @property
    def why_disabled(self) -> str:
        if self.action.isEnabled():
            return ""
        return self.action.property("needs") or ""


def commands_of(bar: QMenuBar) -> list[MenuCommand]:
    """All commands in the order of the menus. A command in two menus is listed where it comes first."""
    found: dict[QAction, MenuCommand] = {}
    for command in _walk(bar, ()):
        found.setdefault(command.action, command)
    return list(found.values())


def _walk(place: QWidget, path: tuple[str, ...]) -> Iterator[MenuCommand]:
    for action in place.actions():
        menu = action.menu()
        if isinstance(menu, QMenu):
            yield from _walk(menu, (*path, plain(menu.title())))
        elif not action.isSeparator() and action.isVisible():
            yield MenuCommand(action, path)


def plain(text: str) -> str:
    """Without mnemonic and dots; Chinese has its mnemonics in brackets at the end."""
    words = text.replace("&&", "\0")
    if words.rstrip("…").endswith(")") and "(&" in words:
        words = words[: words.rindex("(&")]
    return words.replace("&", "").replace("\0", "&").rstrip("….").strip()
