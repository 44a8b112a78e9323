"""A table whose rows are chosen as a whole: what the inspector's tables have in common. GUI thread."""

from PySide6.QtWidgets import QTableView, QWidget

from app.look.fonts import small_font, tabular


class RowTable(QTableView):
    def __init__(self, name: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.setFont(tabular(small_font()))
        self.setAccessibleName(name)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setSelectionBehavior(QTableView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QTableView.SelectionMode.SingleSelection)
