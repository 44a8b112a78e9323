"""Whether anything on the screen may move by itself. Every animation asks here. GUI thread."""

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QApplication, QStyle

_CHOICE = "skein.motion"  # stated in one place: on the application, as its palette is


def choose_motion(app: QObject, choice: str) -> None:
    """`choice` is system, full or reduced."""
    app.setProperty(_CHOICE, choice)


def is_reduced() -> bool:
    """Then a thing appears at its end state, at once."""
    app = QApplication.instance()
    choice = app.property(_CHOICE) if app else None
    if choice in ("full", "reduced"):
        return bool(choice == "reduced")
    # Where the desktop has its effects switched off, Qt's styles do not animate either.
    return QApplication.style().styleHint(QStyle.StyleHint.SH_Widget_Animation_Duration) == 0


def duration_ms(usual_ms: int) -> int:
    return 0 if is_reduced() else usual_ms
