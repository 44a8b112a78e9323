"""What can be done with a tab, at the place that was clicked. GUI thread."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QMenu, QWidget


class TabMenu(QMenu):
    """Lives as long as it is open. Use `popup`: `exec` would stop every coroutine."""

    fork_requested = Signal()
    settings_requested = Signal()
    close_requested = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.addAction("&Fork chat").triggered.connect(self.fork_requested)
        self.addAction("Chat &settings…").triggered.connect(self.settings_requested)
        self.addSeparator()
        self.addAction("&Close chat").triggered.connect(self.close_requested)
