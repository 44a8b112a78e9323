"""Whether animations are allowed. Every animation asks here. GUI thread."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QStyle

_CHOICE, _FLASH = "skein.motion", "skein.flash-time"  # stated in one place: on the application


def choose_motion(app: QApplication, choice: str) -> None:
    """`choice` is system, full or reduced. From now on menus fade in and cursors blink, or they do not."""
    app.setProperty(_CHOICE, choice)
    if app.property(_FLASH) is None:
        app.setProperty(_FLASH, app.cursorFlashTime())
    app.setCursorFlashTime(0 if is_reduced() else app.property(_FLASH))
    app.setEffectEnabled(Qt.UIEffect.UI_General, not is_reduced())


def is_reduced() -> bool:
    """Animations are off: things appear in their end state at once."""
    app = QApplication.instance()
    choice = app.property(_CHOICE) if app else None
    if choice in ("full", "reduced"):
        return bool(choice == "reduced")
    # Where the desktop has its effects switched off, Qt's styles do not animate either.
    return QApplication.style().styleHint(QStyle.StyleHint.SH_Widget_Animation_Duration) == 0
