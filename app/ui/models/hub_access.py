"""The dialog for the hub's address and token. Not modal, closed by Escape. GUI thread.

Shows values and emits choices; the token goes to the keyring and is not shown again.
"""

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QDialog, QLabel, QLineEdit, QVBoxLayout, QWidget

from app.look.buttons import dialog_button
from app.look.layouts import STRETCH, hbox, vbox
from app.look.plain_text import PlainLabel
from app.look.words import mark, tr, tr_said
from app.models.hub_address import DEFAULT_ENDPOINT, TOKEN_BEGINS

FIELD_WIDTH = 472
WHY_TOKEN = mark(
    "Some models require that you accept their terms. Create a read token on the hub's web page under "
    "Settings, Access Tokens. It is stored in the system's keyring and sent only to this hub."
)
WHY_MIRROR = mark("For networks that cannot reach Hugging Face. Leave empty to use the hub itself.")


class HubAccess(QDialog):
    endpoint_chosen = Signal(str)
    token_chosen = Signal(str)  # empty: forget it
    page_requested = Signal()  # where tokens are created

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Access to the hub"))
        self.endpoint = QLineEdit(self)
        self.endpoint.setPlaceholderText(DEFAULT_ENDPOINT)
        self.token = QLineEdit(self)
        self.token.setEchoMode(QLineEdit.EchoMode.Password)
        self.token.setInputMethodHints(Qt.InputMethodHint.ImhSensitiveData)
        self.note = PlainLabel(parent=self, tone="muted", wraps=True)
        self.forget_button = dialog_button(tr("&Forget the token"), self._forget, self)
        self.page_button = dialog_button(tr("&Create a token…"), self.page_requested.emit, self)
        self.page_button.setProperty("kind", "quiet")
        self.close_button = dialog_button(tr("Close"), self.close, self)
        self.save_button = dialog_button(tr("&Save"), self._save, self, is_default=True)
        self._lay_out()
        self.finished.connect(self.token.clear)

    def apply(self, endpoint: str, has_token: bool) -> None:
        """`endpoint` is the chosen one; empty: the default hub."""
        if not self.endpoint.hasFocus():
            self.endpoint.setText(endpoint)
        self.token.setPlaceholderText(tr("Token saved") if has_token else TOKEN_BEGINS)
        self.forget_button.setVisible(has_token)

    @Slot(object)
    def show_note(self, text: str, tone: str = "muted") -> None:
        self.note.say(tr_said(text))
        self.note.set_tone(tone)

    def _save(self) -> None:
        self.show_note("")
        self.endpoint_chosen.emit(self.endpoint.text().strip())
        if token := self.token.text().strip():
            self.token.clear()
            self.token_chosen.emit(token)

    def _forget(self) -> None:
        self.token.clear()
        self.token_chosen.emit("")

    def _field(self, name: str, field: QLineEdit, why: str) -> QVBoxLayout:
        label = QLabel(name, self)
        label.setBuddy(field)
        field.setMinimumWidth(FIELD_WIDTH)  # set here, so that Qt computes the text's height for this width
        return vbox(label, field, PlainLabel(why, self, tone="muted", wraps=True), spacing=6)

    def _lay_out(self) -> None:
        vbox(
            self._field(tr("&Token"), self.token, tr(WHY_TOKEN)),
            self._field(tr("Mi&rror"), self.endpoint, tr(WHY_MIRROR)),
            self.note,
            hbox(self.page_button, self.forget_button, STRETCH, self.close_button, self.save_button),
            on=self,
            margins=(24, 16, 24, 16),
            spacing=16,
        )
