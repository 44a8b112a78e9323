"""A button of a dialog, which Enter in a field does not press. GUI thread."""

from collections.abc import Callable

from PySide6.QtWidgets import QPushButton, QWidget


def dialog_button(label: str, on_clicked: Callable[[], object], parent: QWidget) -> QPushButton:
    button = QPushButton(label, parent)
    button.setAutoDefault(False)
    button.clicked.connect(lambda _checked=False: on_clicked())
    return button
