"""The shortcuts of commands: their defaults, or the user's choices, and the keys in tooltips. GUI thread.

A command's default are the keys it was created with. The settings hold only deviations.
"""

import logging
import re
from collections.abc import Iterable, Sequence

from PySide6.QtCore import QKeyCombination, QObject, Qt, Signal, Slot
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QMenuBar, QWidget

from app.look.buttons import IconButton
from app.look.words import tr
from app.services.preferences import Preferences
from app.ui.base.actions import MenuCommand, commands_of

logger = logging.getLogger(__name__)

_KEYS_AT_END = re.compile(r"\s*[(（][^()（）]*[)）]\s*$")

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
FIRST_SPECIAL = 0x01000000  # Qt's codes of keys without a character begin here

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
        """Applies to all present commands. Call again when commands were added."""
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
            if self._is_new_complaint(name):
                logger.warning("The settings have a shortcut for %s, which is no command.", name)
        self.changed.emit()

    def commands(self) -> list[MenuCommand]:
        return commands_of(self._bar)

    def default(self, name: str) -> Keys:
        return self._defaults.get(name, ())

    def is_default(self, command: MenuCommand) -> bool:
        return tuple(command.action.shortcuts()) == self.default(command.name)

    def holder_of(self, key: QKeySequence, other_than: str) -> MenuCommand | None:
        """The command that has this key now."""
        return next(
            (
                command
                for command in self.commands()
                if command.name != other_than and key in command.action.shortcuts()
            ),
            None,
        )

    def choose(self, name: str, keys: Sequence[QKeySequence]) -> None:
        """Any other command that has one of them loses it."""
        chosen = dict(self._preferences.settings.shortcuts)
        holders = [self.holder_of(key, other_than=name) for key in keys]
        for holder in filter(None, holders):
            left = [key for key in holder.action.shortcuts() if key not in keys]
            self._note(chosen, holder.name, left)
        self._note(chosen, name, keys)
        self._preferences.set("shortcuts", chosen)

    def reset(self, name: str) -> None:
        """Back to its default keys, which other commands lose."""
        self.choose(name, self.default(name))

    def reset_all(self) -> None:
        self._preferences.reset("shortcuts")

    def _note(self, chosen: dict[str, list[str]], name: str, keys: Iterable[QKeySequence]) -> None:
        chosen[name] = [key.toString(_PORTABLE) for key in keys]
        if tuple(keys) == self.default(name):
            del chosen[name]

    def _parsed(self, name: str, texts: Sequence[str]) -> Keys:
        """The default, if an entry is no key or would block typing."""
        keys = []
        for text in texts:
            key = QKeySequence.fromString(text, _PORTABLE)
            if key.isEmpty() or _first(key).key() == Qt.Key.Key_unknown or why_not(key):
                if self._is_new_complaint(name):
                    logger.warning("The shortcut of %s in the settings cannot be one: %r.", name, text)
                return self.default(name)
            keys.append(key)
        return tuple(keys)

    def _free(self, name: str, keys: Keys, taken: set[str]) -> Keys:
        """The keys no other command has: with one key for two commands, Qt would trigger neither."""
        free = tuple(key for key in keys if key.toString(_PORTABLE) not in taken)
        if free != keys and self._is_new_complaint(name):
            logger.warning("The shortcut of %s in the settings is that of another command, too.", name)
        taken.update(key.toString(_PORTABLE) for key in free)
        return free

    def _is_new_complaint(self, name: str) -> bool:
        """Each name is logged once."""
        is_new = name not in self._complained
        self._complained.add(name)
        return is_new

    @Slot(str)
    def _on_setting_changed(self, name: str) -> None:
        if name == "shortcuts":
            self.apply()


def why_not(key: QKeySequence) -> str:
    """Why this key cannot be a shortcut, because it is needed for typing. Empty if it can."""
    first = _first(key)
    writes = first.key() < FIRST_SPECIAL or first.key() in _MOVING
    if first.keyboardModifiers() in _PLAIN and writes:
        return tr("{key} is needed for typing. Combine it with Ctrl or Alt.", key=shown((key,)))
    if first.keyboardModifiers() == Qt.KeyboardModifier.ControlModifier and first.key() in _OF_TEXT:
        return tr("{key} is needed for typing.", key=shown((key,)))
    return ""


def _first(key: QKeySequence) -> QKeyCombination:
    combination = key[0]  # type: ignore[index]
    assert isinstance(combination, QKeyCombination)
    return combination


def shown(keys: Iterable[QKeySequence]) -> str:
    return ", ".join(key.toString(_NATIVE) for key in keys)


class KeyHints(QObject):
    """Keeps the keys in tooltips up to date.

    A widget that triggers a command has the command's name as its property "command", and the default key in
    brackets at the end of its tooltip.
    """

    def __init__(self, shortcuts: Shortcuts, window: QWidget) -> None:
        super().__init__(window)
        self._shortcuts = shortcuts
        self._window = window
        self._have_changed = False  # else all tooltips are still right
        shortcuts.changed.connect(self._on_shortcuts_changed)

    @Slot()
    def _on_shortcuts_changed(self) -> None:
        commands = self._shortcuts.commands()
        self._have_changed |= not all(map(self._shortcuts.is_default, commands))
        self.correct(self._window)
        for command in commands:
            tip = command.action.toolTip()
            if self._have_changed and _KEYS_AT_END.search(tip):
                command.action.setToolTip(with_keys(tip, command.keys))

    @Slot(object)
    def correct(self, part: QWidget) -> None:
        """Corrects the tooltips in a part of the window, such as a new chat view."""
        if not self._have_changed:
            return
        keys = {command.name: command.keys for command in self._shortcuts.commands()}
        for widget in part.findChildren(QWidget):
            if (name := widget.property("command")) in keys:
                tip = with_keys(widget.toolTip(), keys[name])
                widget.set_label(tip) if isinstance(widget, IconButton) else widget.setToolTip(tip)


def with_keys(tip: str, keys: str) -> str:
    words = _KEYS_AT_END.sub("", tip)
    return f"{words} ({keys})" if keys else words
