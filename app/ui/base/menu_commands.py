"""Lists the window's commands by reading its menus. GUI thread."""

from collections.abc import Iterator
from dataclasses import dataclass

from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMenu, QMenuBar, QWidget

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
    """In the order of the menus. A command in two menus is listed where it comes first."""
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
