"""Keeps the keys in tooltips up to date when shortcuts change. GUI thread.

A widget that triggers a command has the command's name as its property "command", and the default key in
brackets at the end of its tooltip.
"""

import re

from PySide6.QtCore import QObject, Slot
from PySide6.QtWidgets import QWidget

from app.look.buttons import IconButton
from app.ui.settings.shortcuts import Shortcuts

_KEYS_AT_END = re.compile(r"\s*[(（][^()（）]*[)）]\s*$")


class KeyHints(QObject):
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
