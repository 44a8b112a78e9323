"""Small buttons of the panels, and what they do. GUI thread."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QPushButton, QToolButton, QWidget

from app.look.buttons import quiet_button
from app.look.fonts import small_font
from app.look.plain_text import as_tab_text
from app.look.popups import Menu
from app.look.words import tr

MAX_CHARS = 36
Choice = tuple[object, str]  # a value and its label


class SelectButton(QToolButton):
    """Opens a list of choices and shows the chosen one: kept as long as it is available, else the first."""

    changed = Signal()
    picked = Signal()  # by the user

    def __init__(self, name: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._name = name
        self._choices: tuple[Choice, ...] = ()
        self._chosen: Choice | None = None
        self._menu = Menu(self)
        self._group = QActionGroup(self)
        self.setMenu(self._menu)
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.setAccessibleName(name)
        self.setProperty("kind", "choice")
        self.setFont(small_font())
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    @property
    def value(self) -> object:
        return self._chosen[0] if self._chosen else None

    @property
    def label(self) -> str:
        """What was chosen, in words."""
        return self._chosen[1] if self._chosen else ""

    def set_choices(self, choices: Sequence[Choice]) -> None:
        if tuple(choices) == self._choices:
            return
        self._choices = tuple(choices)
        self._menu.clear()
        for value, label in choices:
            action = self._group.addAction(self._menu.addAction(as_tab_text(label)))
            action.setCheckable(True)
            action.setData(value)
            action.triggered.connect(lambda _checked=False, value=value: self._pick(value))
        self.choose(self.value)

    def _pick(self, value: object) -> None:
        self.choose(value)
        self.picked.emit()

    def choose(self, value: object) -> None:
        first = self._choices[0] if self._choices else None
        chosen = next((choice for choice in self._choices if choice[0] == value), first)
        is_another = chosen is None or self._chosen is None or chosen[0] != self._chosen[0]
        self._chosen = chosen
        label = self.label if len(self.label) <= MAX_CHARS else f"{self.label[: MAX_CHARS - 1]}…"
        self.setText(as_tab_text(label))
        self.setAccessibleName(tr("{name}: {value}", name=self._name, value=self.label))
        for action in self._menu.actions():
            action.setChecked(chosen is not None and action.data() == chosen[0])
        if is_another:
            self.changed.emit()


class ChipButton(QToolButton):
    def __init__(self, text: str, tip: str, parent: QWidget, *, is_checkable: bool = False) -> None:
        super().__init__(parent)
        self.setText(text)
        self.setToolTip(tip)
        self.setCheckable(is_checkable)
        self.setProperty("kind", "chip")
        self.setFont(small_font())


class ActionButton(QToolButton):
    """`kind` is one of the style sheet's."""

    def __init__(self, action: QAction, kind: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.setDefaultAction(action)
        self.setProperty("kind", kind)
        self.setFont(small_font())
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)


def bar_button(text: str, tip: str, parent: QWidget, on_clicked: Callable[[], object]) -> QPushButton:
    button = quiet_button(text, parent, "bar")
    button.setFont(small_font())
    button.setToolTip(tip)
    button.clicked.connect(lambda _checked=False: on_clicked())
    return button


def new_action(
    name: str, text: str, tip: str, on_triggered: Callable[[], object], parent: QObject
) -> QAction:
    action = QAction(text, parent)
    action.setObjectName(name)
    action.setStatusTip(tip)
    action.triggered.connect(lambda _checked=False: on_triggered())
    return action
