"""Cut, copy, paste and the like, for whatever has the focus and can do it: texts, tables. GUI thread."""

from PySide6.QtCore import QMetaObject, QObject
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QApplication

from app.ui.actions import make_action

Key = QKeySequence.StandardKey


def edit_actions(parent: QObject) -> tuple[QAction | None, ...]:
    return (
        make_action(
            parent, "&Undo", "Take back the last change to the message", lambda: _call("undo"), Key.Undo
        ),
        make_action(parent, "&Redo", "Make it again", lambda: _call("redo"), Key.Redo),
        None,
        make_action(parent, "Cu&t", "Cut the selected text", lambda: _call("cut"), Key.Cut),
        make_action(parent, "&Copy", "Copy the selected text", lambda: _call("copy"), Key.Copy),
        make_action(parent, "&Paste", "Paste text", lambda: _call("paste"), Key.Paste),
        None,
        make_action(
            parent, "Select &all", "Select all of this text", lambda: _call("selectAll"), Key.SelectAll
        ),
    )


def _call(slot: str) -> None:
    widget = QApplication.focusWidget()
    if widget and widget.metaObject().indexOfMethod(f"{slot}()") >= 0:
        QMetaObject.invokeMethod(widget, slot)
