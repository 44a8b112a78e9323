"""Pause, resume, step: the same three actions in the menu, in the panel and under their keys. GUI thread."""

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QAction

from app.look.icons import icon
from app.look.words import tr
from app.protocol.commands import Command, Pause, Resume, StepOnce


class StepActions(QObject):
    """Each is enabled where it would do something."""

    commanded = Signal(object)  # Command

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.pause = self._new(
            "engine.pause", tr("&Pause all chats"), tr("Compute nothing more; the chats wait"), "F8", Pause()
        )
        self.resume = self._new(
            "engine.resume", tr("&Resume all chats"), tr("Go on computing"), "F5", Resume()
        )
        self.step = self._new(
            "engine.step",
            tr("Run one s&tep"),
            tr("Compute the batch that is planned, then pause again"),
            "F10",
            StepOnce(),
        )
        self.all = (self.pause, self.resume, self.step)
        self.apply(is_paused=False, has_engine=False)
        self.show_icons()

    def apply(self, *, is_paused: bool, has_engine: bool) -> None:
        self.pause.setEnabled(has_engine and not is_paused)
        self.resume.setEnabled(has_engine and is_paused)
        self.step.setEnabled(has_engine and is_paused)

    def show_icons(self) -> None:
        """In the colours of now."""
        for action, name in zip(self.all, ("pause", "play", "step-forward"), strict=True):
            action.setIcon(icon(name))
            action.setIconVisibleInMenu(False)

    def _new(self, name: str, text: str, tip: str, shortcut: str, command: Command) -> QAction:
        action = QAction(text, self)
        action.setObjectName(name)
        action.setStatusTip(tip)
        action.setToolTip(f"{tip} ({shortcut})")
        action.setShortcut(shortcut)
        action.triggered.connect(lambda: self.commanded.emit(command))
        return action
