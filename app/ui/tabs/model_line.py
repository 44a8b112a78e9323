"""Says that another model has answered in this chat so far, and offers to switch. GUI thread."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QPushButton, QSizePolicy, QWidget

from app.look.buttons import IconLabel, quiet_button
from app.look.fonts import small_font
from app.look.layouts import hbox
from app.look.plain_text import PlainLabel, as_tab_text, as_tooltip, one_line
from app.look.words import tr

MAX_NAME = 28  # characters on a button


class ModelLine(QWidget):
    """Takes no room while it is empty."""

    kept = Signal()  # keep the current model
    switch_requested = Signal()  # to the former one

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.text = ""
        self.hide()

    def _fill(self) -> None:
        """When there is something to say: in most chats the same model has always answered."""
        self._words = PlainLabel(parent=self, tone="muted")
        self._words.setFont(small_font())
        self._words.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.keep = self._button()
        self.switch = self._button()
        self.keep.clicked.connect(self.kept)
        self.switch.clicked.connect(self.switch_requested)
        hbox(
            IconLabel(14, self, "info", "muted"),
            (self._words, 1),
            self.keep,
            self.switch,
            on=self,
            margins=(8, 0, 0, 4),
        )
        QWidget.setTabOrder(self, self.keep)
        QWidget.setTabOrder(self.keep, self.switch)

    def apply(self, former: str, now: str) -> None:
        if not self.text:
            self._fill()
        self.text = tr("{former} has answered so far.", former=_short(former))
        self._words.setText(self.text)
        self._words.setToolTip(as_tooltip(former))
        self.keep.setText(tr("Answer with {name}", name=as_tab_text(_short(now))))
        self.keep.setToolTip(as_tooltip(tr("{name} answers in this chat from now on", name=now)))
        self.switch.setText(tr("Switch back to {name}", name=as_tab_text(_short(former))))
        self.switch.setToolTip(as_tooltip(tr("Reload {name} for all chats", name=former)))
        self.setAccessibleName(self.text)
        self.show()

    def _button(self) -> QPushButton:
        button = quiet_button("", self, "bar")
        button.setFont(small_font())
        return button


def _short(name: str) -> str:
    name = one_line(name)
    return name if len(name) <= MAX_NAME else f"{name[: MAX_NAME - 1]}…"
