"""What can be done with a chosen row: in a menu, and as buttons below the table. GUI thread."""

from collections.abc import Callable

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QToolButton, QWidget

from app.inspector.sequence_rows import SequenceRow
from app.look.fonts import small_font
from app.look.layouts import hbox
from app.look.popups import Menu


class RowAction(QAction):
    """Enabled where it makes sense for the chosen row."""

    def __init__(
        self,
        name: str,
        text: str,
        tip: str,
        fits: Callable[[SequenceRow], bool],
        act: Callable[[SequenceRow], None],
        parent: QObject,
    ) -> None:
        super().__init__(text, parent)
        self.setObjectName(f"sequence.{name}")
        self.setToolTip(tip)
        self.setStatusTip(tip)
        self._fits = fits
        self._act = act
        self._row: SequenceRow | None = None
        self.triggered.connect(self._on_triggered)
        self.apply(None)

    def apply(self, row: SequenceRow | None) -> None:
        self._row = row
        self.setEnabled(row is not None and self._fits(row))

    def _on_triggered(self) -> None:
        if self._row:
            self._act(self._row)


class RowButtons(QWidget):
    """One for each action, always in its place."""

    def __init__(self, actions: tuple[RowAction, ...], parent: QWidget) -> None:
        super().__init__(parent)
        row = hbox(on=self, margins=(8, 2, 8, 2), spacing=0)
        for action in actions:
            button = QToolButton(self)
            button.setDefaultAction(action)
            button.setProperty("kind", "action")
            button.setFont(small_font())
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            row.addWidget(button)
        row.addStretch(1)


def menu_of(actions: tuple[RowAction, ...], parent: QWidget) -> QMenu:
    """Lives as long as it is open."""
    menu = Menu(parent)
    menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    menu.addActions(list(actions))
    return menu
