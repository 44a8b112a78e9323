"""A button that is a word until the pointer is over it. GUI thread."""

from PySide6.QtWidgets import QPushButton, QWidget


def quiet_button(label: str, parent: QWidget, place: str = "") -> QPushButton:
    """In a `place` such as "bar" or "status" it is lower than elsewhere, as the style sheet says."""
    button = QPushButton(label, parent)
    button.setProperty("kind", "quiet")
    if place:
        button.setProperty("place", place)
    return button
