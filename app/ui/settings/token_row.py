"""The settings row for the hub's token, which goes to the keyring and is not shown again. GUI thread."""

from PySide6.QtCore import Qt, Slot
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QLineEdit, QPushButton, QWidget

from app.look.layouts import hbox, vbox
from app.look.plain_text import PlainLabel
from app.look.words import tr, tr_said
from app.models.hub_address import TOKEN_BEGINS
from app.services.model_hub import ModelHub
from app.ui.base.setting_controls import COMBO_WIDTH
from app.ui.base.setting_row import Row


class TokenRow(Row):
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
        self.note.setText(tr_said(text))
        self.note.show()

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
