"""Which keys the commands have: their own, or those that were chosen instead. GUI thread.

A command has the keys it was made with as its default. The settings hold only what differs from that.
"""

import logging
from collections.abc import Iterable, Sequence

from PySide6.QtCore import QKeyCombination, QObject, Qt, Signal, Slot
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QMenuBar

from app.look.words import tr
from app.services.preferences import Preferences
from app.ui.base.commands import Command, commands_of

logger = logging.getLogger(__name__)

_PORTABLE = QKeySequence.SequenceFormat.PortableText
_NATIVE = QKeySequence.SequenceFormat.NativeText
_PLAIN = (
    Qt.KeyboardModifier.NoModifier,
    Qt.KeyboardModifier.ShiftModifier,
    Qt.KeyboardModifier.KeypadModifier,
)
_OF_TEXT = {  # with Ctrl, too
    Qt.Key.Key_Return,
    Qt.Key.Key_Enter,
    Qt.Key.Key_Backspace,
    Qt.Key.Key_Delete,
    Qt.Key.Key_Left,
    Qt.Key.Key_Right,
}
_MOVING = _OF_TEXT | {
    Qt.Key.Key_Tab,
    Qt.Key.Key_Backtab,
    Qt.Key.Key_Space,
    Qt.Key.Key_Up,
    Qt.Key.Key_Down,
    Qt.Key.Key_Home,
    Qt.Key.Key_End,
    Qt.Key.Key_PageUp,
    Qt.Key.Key_PageDown,
    Qt.Key.Key_Insert,
}
FIRST_SPECIAL = 0x01000000  # Qt's codes of keys that write nothing begin here

Keys = tuple[QKeySequence, ...]


class Shortcuts(QObject):
    changed = Signal()

    def __init__(self, bar: QMenuBar, preferences: Preferences, parent: QObject) -> None:
        super().__init__(parent)
        self._bar = bar
        self._preferences = preferences
        self._defaults: dict[str, Keys] = {}
        self._complained: set[str] = set()
        preferences.changed.connect(self._on_setting_changed)

    def apply(self) -> None:
        """To every command there is now. Call again when menus have grown."""
        chosen = self._preferences.settings.shortcuts
        commands = self.commands()
        taken: set[str] = set()
        for command in sorted(commands, key=lambda command: command.name not in chosen):  # those chosen first
            default = self._defaults.setdefault(command.name, tuple(command.action.shortcuts()))
            keys = self._parsed(command.name, chosen[command.name]) if command.name in chosen else default
            keys = self._free(command.name, keys, taken)
            if tuple(command.action.shortcuts()) != keys:
                command.action.setShortcuts(list(keys))
        for name in chosen.keys() - {command.name for command in commands}:
            if self._is_news(name):
                logger.warning("The settings have a shortcut for %s, which is no command.", name)
        self.changed.emit()

    def commands(self) -> list[Command]:
        return commands_of(self._bar)

    def default(self, name: str) -> Keys:
        return self._defaults.get(name, ())

    def is_default(self, command: Command) -> bool:
        return tuple(command.action.shortcuts()) == self.default(command.name)

    def holder_of(self, key: QKeySequence, other_than: str) -> Command | None:
        """Who has this key now."""
        return next(
            (
                command
                for command in self.commands()
                if command.name != other_than and key in command.action.shortcuts()
            ),
            None,
        )

    def choose(self, name: str, keys: Sequence[QKeySequence]) -> None:
        """Whoever had one of them before loses it."""
        chosen = dict(self._preferences.settings.shortcuts)
        holders = [self.holder_of(key, other_than=name) for key in keys]
        for holder in filter(None, holders):
            left = [key for key in holder.action.shortcuts() if key not in keys]
            self._note(chosen, holder.name, left)
        self._note(chosen, name, keys)
        self._preferences.set("shortcuts", chosen)

    def reset(self, name: str) -> None:
        """Back to its own keys, which whoever has taken them gives back."""
        self.choose(name, self.default(name))

    def reset_all(self) -> None:
        self._preferences.reset("shortcuts")

    def _note(self, chosen: dict[str, list[str]], name: str, keys: Iterable[QKeySequence]) -> None:
        chosen[name] = [key.toString(_PORTABLE) for key in keys]
        if tuple(keys) == self.default(name):
            del chosen[name]

    def _parsed(self, name: str, texts: Sequence[str]) -> Keys:
        """An entry that is no key, or one that nobody could type with, counts as if it were not there."""
        keys = []
        for text in texts:
            key = QKeySequence.fromString(text, _PORTABLE)
            if key.isEmpty() or _first(key).key() == Qt.Key.Key_unknown or why_not(key):
                if self._is_news(name):
                    logger.warning("The shortcut of %s in the settings cannot be one: %r.", name, text)
                return self.default(name)
            keys.append(key)
        return tuple(keys)

    def _free(self, name: str, keys: Keys, taken: set[str]) -> Keys:
        """Those that no other command has yet: with one key for two commands, neither would come."""
        free = tuple(key for key in keys if key.toString(_PORTABLE) not in taken)
        if free != keys and self._is_news(name):
            logger.warning("The shortcut of %s in the settings is that of another command, too.", name)
        taken.update(key.toString(_PORTABLE) for key in free)
        return free

    def _is_news(self, name: str) -> bool:
        """Of each name the log tells once."""
        is_news = name not in self._complained
        self._complained.add(name)
        return is_news

    @Slot(str)
    def _on_setting_changed(self, name: str) -> None:
        if name == "shortcuts":
            self.apply()


def why_not(key: QKeySequence) -> str:
    """Why this key cannot be a shortcut: texts could not be written any more. Empty if it can."""
    first = _first(key)
    writes = first.key() < FIRST_SPECIAL or first.key() in _MOVING
    if first.keyboardModifiers() in _PLAIN and writes:
        return tr("{key} is needed for writing. Take it together with Ctrl or Alt.", key=shown((key,)))
    if first.keyboardModifiers() == Qt.KeyboardModifier.ControlModifier and first.key() in _OF_TEXT:
        return tr("{key} is needed for writing.", key=shown((key,)))
    return ""


def _first(key: QKeySequence) -> QKeyCombination:
    combination = key[0]  # type: ignore[index]
    assert isinstance(combination, QKeyCombination)
    return combination


def shown(keys: Iterable[QKeySequence]) -> str:
    return ", ".join(key.toString(_NATIVE) for key in keys)
