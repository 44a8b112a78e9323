"""The context menu of a tab. GUI thread."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QWidget

from app.look.popups import Menu
from app.look.words import tr


class TabMenu(Menu):
    """Lives as long as it is open. Use `popup`: `exec` would stop every coroutine."""

    rename_requested = Signal()
    pin_requested = Signal()  # or the opposite
    beside_requested = Signal()
    fork_requested = Signal()
    settings_requested = Signal()
    close_requested = Signal()
    close_others_requested = Signal()
    close_right_requested = Signal()

    def __init__(self, parent: QWidget, *, is_pinned: bool, has_others: bool, has_right: bool) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.addAction(tr("&Rename…")).triggered.connect(self.rename_requested)
        pin = self.addAction(tr("Un&pin tab") if is_pinned else tr("&Pin tab"))
        pin.triggered.connect(self.pin_requested)
        self.addAction(tr("Show &beside")).triggered.connect(self.beside_requested)
        self.addSeparator()
        self.addAction(tr("&Fork chat")).triggered.connect(self.fork_requested)
        self.addAction(tr("Chat &settings…")).triggered.connect(self.settings_requested)
        self.addSeparator()
        self.addAction(tr("&Close chat")).triggered.connect(self.close_requested)
        others = self.addAction(tr("Close &others"))
        others.setEnabled(has_others)
        others.triggered.connect(self.close_others_requested)
        right = self.addAction(tr("Close to the ri&ght"))
        right.setEnabled(has_right)
        right.triggered.connect(self.close_right_requested)
