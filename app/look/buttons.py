"""Buttons of dialogs, quiet ones, and those with an icon. GUI thread."""

from collections.abc import Callable

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QKeyEvent, QPaintEvent
from PySide6.QtWidgets import QApplication, QLabel, QPushButton, QToolButton, QWidget

from app.look.icons import icon
from app.look.plain_text import heading_font


class IconLabel(QLabel):
    """`colour` is the name of a token."""

    def __init__(self, side: int, parent: QWidget, name: str = "", colour: str = "") -> None:
        super().__init__(parent)
        self._side = side
        if name:
            self.show_icon(name, colour)

    def show_icon(self, name: str, colour: str) -> None:
        self._icon = name, colour
        self.setPixmap(icon(name, colour).pixmap(QSize(self._side, self._side)))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and not self.pixmap().isNull():
            self.show_icon(*self._icon)


class IconButton(QToolButton):
    """A quiet one always takes its place, but is seen only while revealed or while its parent has focus."""

    def __init__(
        self, name: str, label: str, side: int, parent: QWidget, is_quiet: bool = False, icon_side: int = 16
    ) -> None:
        super().__init__(parent)
        self._is_quiet = is_quiet
        self._is_revealed = False
        self.setIcon(icon(name))
        self.setIconSize(QSize(icon_side, icon_side))
        self.setFixedSize(side, side)
        self.set_label(label)

    def set_label(self, label: str) -> None:
        self.setToolTip(label)
        self.setAccessibleName(label)

    def reveal(self, is_revealed: bool) -> None:
        self._is_revealed = is_revealed
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        if not self._is_quiet or self._is_revealed or self._family_has_focus():
            super().paintEvent(event)

    def _family_has_focus(self) -> bool:
        focused, parent = QApplication.focusWidget(), self.parentWidget()
        return focused is not None and parent is not None and parent.isAncestorOf(focused)


class FoldButton(QToolButton):
    """The title of what it unfolds, and of what it folds up while it is checked."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setIcon(icon("chevron-right", on="chevron-down"))
        self.setIconSize(QSize(14, 14))
        self.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCheckable(True)
        self.setFont(heading_font(self.font()))


class PlainButton(QPushButton):
    """Does not look like the default one of its dialog, but Enter clicks it while it has the focus."""

    def __init__(self, label: str, parent: QWidget) -> None:
        super().__init__(label, parent)
        self.setAutoDefault(False)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.click()
        else:
            super().keyPressEvent(event)


def dialog_button(
    label: str, on_clicked: Callable[[], object], parent: QWidget, *, is_default: bool = False
) -> QPushButton:
    """The default one is clicked by Enter where no button has the focus."""
    button = PlainButton(label, parent)
    button.setDefault(is_default)
    button.clicked.connect(lambda _checked=False: on_clicked())
    return button


def quiet_button(label: str, parent: QWidget, place: str = "") -> QPushButton:
    """In a `place` such as "bar" or "status" it is lower than elsewhere, as the style sheet says."""
    button = PlainButton(label, parent)
    button.setProperty("kind", "quiet")
    if place:
        button.setProperty("place", place)
    return button
