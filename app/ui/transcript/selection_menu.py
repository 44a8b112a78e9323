"""The menu of what is selected on the page. GUI thread."""

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QWidget

from app.look.icons import icon
from app.look.popups import Menu
from app.look.words import tr
from app.ui.transcript.selection import PageSelection
from app.ui.transcript.turn_actions import TurnAction, menu_label


class SelectionMenu(Menu):
    """Lives as long as it is open."""

    def __init__(self, selection: PageSelection, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        copy = self.addAction(icon("copy"), tr("&Copy"))
        copy.setShortcut(QKeySequence.StandardKey.Copy)  # shown; the page has the key
        copy.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
        copy.triggered.connect(lambda: selection.copy())
        markdown = self.addAction(tr("Copy as &Markdown"))
        markdown.triggered.connect(lambda: selection.copy(is_markdown=True))
        self.addSeparator()
        everything = self.addAction(tr("Select &all messages"))
        everything.setShortcut(QKeySequence.StandardKey.SelectAll)
        everything.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
        everything.triggered.connect(selection.select_all)

    def add_lens(self, show: Callable[[], None]) -> None:
        """For what is selected in an answer."""
        self.addSeparator()
        self.addAction(icon("search"), menu_label(TurnAction.LENS)).triggered.connect(lambda: show())
