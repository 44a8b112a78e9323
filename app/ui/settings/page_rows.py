"""The rows of a page of the settings that are no options: remarks, commands, the hub's token. GUI thread."""

from typing import Any

from PySide6.QtCore import Qt, Slot
from PySide6.QtGui import QAction, QShowEvent
from PySide6.QtWidgets import QLineEdit, QPushButton, QWidget

from app.look.layouts import hbox, vbox
from app.look.plain_text import PlainLabel, short_path
from app.look.words import locale, tr, tr_said
from app.models.hub_address import TOKEN_BEGINS
from app.services.model_hub import ModelHub
from app.ui.base.actions import plain
from app.ui.base.option_row import Row
from app.ui.base.setting import Setting
from app.ui.base.setting_controls import COMBO_WIDTH


class RemarkRow(Row):
    def __init__(self, text: str, parent: QWidget) -> None:
        super().__init__("", tr(text), parent)
        vbox(self.sentence, on=self, margins=(0, 6, 0, 10))


class ActionRow(Row):
    """A command of the menus, to be found among the settings, too."""

    def __init__(self, action: QAction, parent: QWidget) -> None:
        super().__init__(plain(action.text()), tr("{words}.", words=action.statusTip()), parent)
        self.button = QPushButton(tr("Open"), self)
        self.button.setAutoDefault(False)
        self.button.setAccessibleName(plain(action.text()))
        self.button.clicked.connect(action.trigger)
        hbox(
            (vbox(self.title, self.sentence, spacing=2), 1),
            (self.button, 0, Qt.AlignmentFlag.AlignVCenter),
            on=self,
            margins=(0, 10, 0, 10),
            spacing=12,
        )


class TokenRow(Row):
    """The token goes to the keyring and is not shown again."""

    def __init__(self, hub: ModelHub, parent: QWidget) -> None:
        sentence = tr("For models whose terms must be accepted. Stored in the system's keyring.")
        super().__init__(tr("Hugging Face token"), sentence, parent)
        self._hub = hub
        self.field = QLineEdit(self)
        self.field.setFixedWidth(COMBO_WIDTH)
        self.field.setEchoMode(QLineEdit.EchoMode.Password)
        self.field.setInputMethodHints(Qt.InputMethodHint.ImhSensitiveData)
        self.field.setAccessibleName(tr("Hugging Face token"))
        self.forget = QPushButton(tr("Forget"), self)
        self.forget.setAutoDefault(False)
        self.note = PlainLabel(parent=self, tone="muted", wraps=True)
        self.note.hide()
        self._lay_out()
        self.field.editingFinished.connect(self._on_entered)
        self.forget.clicked.connect(self._on_forget)
        hub.token_changed.connect(self._show_state)
        hub.token_noted.connect(self._show_note)
        self._show_state()

    def _on_entered(self) -> None:
        if token := self.field.text().strip():
            self.field.clear()
            self._hub.set_token(token)

    def _on_forget(self) -> None:
        self.field.setFocus()  # the button goes
        self._hub.set_token("")

    @Slot()
    def _show_state(self) -> None:
        has_token = self._hub.has_token
        self.field.setPlaceholderText(tr("Token saved") if has_token else TOKEN_BEGINS)
        self.forget.setVisible(has_token)

    @Slot(object)
    def _show_note(self, text: str) -> None:
        self.note.say(tr_said(text))

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._hub.look_for_token()

    def _lay_out(self) -> None:
        top = Qt.AlignmentFlag.AlignTop
        hbox(
            (vbox(self.title, self.sentence, self.note, spacing=2), 1),
            (self.forget, 0, top),
            (self.field, 0, top),
            on=self,
            margins=(0, 10, 0, 10),
            spacing=12,
        )


def default_text(setting: Setting, default: Any) -> str:
    return tr("Default: {value}.", value=_in_words(setting, default))


def _in_words(setting: Setting, value: Any) -> str:
    if choice := next((choice for choice in setting.choices if choice.value == value), None):
        return tr(choice.label)
    if setting.named:
        return setting.named()[value]
    if setting.folder:
        return short_path(setting.folder())
    if isinstance(value, bool):
        return tr("on") if value else tr("off")
    if not value and setting.word:
        return tr(setting.word).lower()
    if isinstance(value, int) and setting.is_grouped:
        return locale().toString(value)
    return str(value)
