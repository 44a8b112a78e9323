"""Cut, copy, paste and the like for the focused widget, if it supports them: texts, tables. GUI thread."""

from PySide6.QtCore import QMetaObject, QObject
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QApplication

from app.look.words import mark, tr
from app.ui.base.actions import make_action

Key = QKeySequence.StandardKey

# Name, text, what it does, the slot of the widget it calls, shortcut.
_ACTIONS = (
    ("edit.undo", mark("&Undo"), mark("Take back the last change to the message"), "undo", Key.Undo),
    ("edit.redo", mark("&Redo"), mark("Make it again"), "redo", Key.Redo),
    None,
    ("edit.cut", mark("Cu&t"), mark("Cut the selected text"), "cut", Key.Cut),
    ("edit.copy", mark("&Copy"), mark("Copy the selected text"), "copy", Key.Copy),
    ("edit.paste", mark("&Paste"), mark("Paste text"), "paste", Key.Paste),
    None,
    ("edit.select-all", mark("Select &all"), mark("Select all of this text"), "selectAll", Key.SelectAll),
)


def edit_actions(parent: QObject) -> list[QAction | None]:
    return [row and _action(parent, *row) for row in _ACTIONS]


def _action(parent: QObject, name: str, text: str, tip: str, slot: str, key: Key) -> QAction:
    return make_action(parent, name, tr(text), tr(tip), lambda: _call(slot), key)


def _call(slot: str) -> None:
    widget = QApplication.focusWidget()
    if widget and widget.metaObject().indexOfMethod(f"{slot}()") >= 0:
        QMetaObject.invokeMethod(widget, slot)
