"""What all panels of the inspector have in common. GUI thread."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QWidget

from app.inspector.recording import Recording


class DockPanel(QWidget):
    """One dock. It is drawn at most ten times a second, only while it can be seen, and when it appears.

    Reads the recording and changes nothing: what the user wants of the engine leaves as a Command.
    """

    NAME = ""  # of the dock, for saved layouts
    TITLE = ""  # for the user

    chat_activated = Signal(str)  # chat_id: show its tab
    sequence_selected = Signal(int)  # seq_id: every panel marks it
    step_selected = Signal(int)  # number of a step: every panel that shows one shows this one
    commanded = Signal(object)  # Command

    def __init__(self, recording: Recording, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.recording = recording
        self.titles: Mapping[str, str] = {}

    def draw(self) -> None:
        """Something is new in the recording."""

    def reset(self) -> None:
        """Another model, or none: the recording begins anew."""

    def set_titles(self, titles: Mapping[str, str]) -> None:
        """The tabs' titles by chat_id."""
        self.titles = titles

    def select_sequence(self, seq_id: int) -> None:
        """Somebody chose this sequence, here or in another panel."""

    def select_step(self, step: int) -> None:
        """Somebody chose this step, here or in another panel."""

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.draw()
