"""Where servers that run models are added and removed, once it was asked what is there. GUI thread."""

from contextlib import suppress
from dataclasses import replace
from functools import partial

from PySide6.QtCore import Qt, Slot
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QDialog, QGridLayout, QLineEdit, QListWidget, QListWidgetItem, QWidget
from shiboken6 import isValid

from app.bridge.tasks import spawn
from app.look.buttons import IconButton, dialog_button
from app.look.layouts import STRETCH, drop, hbox, vbox
from app.look.plain_text import PlainLabel, heading
from app.look.strip import Offer, Strip, StripLook
from app.look.words import tr, tr_n, tr_said
from app.models.off_loop import off_loop
from app.protocol.errors import InvalidRequestError
from app.protocol.load import Server
from app.protocol.model_names import title_of
from app.remote.introduction import Introduction
from app.remote.web import ServerError, UntrustedError, fingerprint_of
from app.services.servers import Servers, pasted
from app.settings.settings import ServerSettings
from app.ui.settings.server_dialog import line, named

WIDTH, LIST_HEIGHT, BUTTON_SIDE = 560, 132, 28
NAME = Qt.ItemDataRole.UserRole
MAX_CHOSEN_AT_ONCE = 8  # a router may list hundreds


class EnginesDialog(QDialog):
    """Not modal. A server is asked by Check alone."""

    def __init__(self, servers: Servers, parent: QWidget) -> None:
        super().__init__(parent)
        self._servers = servers
        self._asked: Server | None = None  # what is shown is what this one told, or will tell
        self.setWindowTitle(tr("Add an engine"))
        self.address = line("https://gpu-box:8000", tr("Address, or a pasted link"), self)
        self.key = line("", tr("Key"), self)
        self.key.setEchoMode(QLineEdit.EchoMode.Password)
        self.key.setInputMethodHints(Qt.InputMethodHint.ImhSensitiveData)
        self.check = dialog_button(tr("&Check"), self._on_check, self, is_default=True)
        self.verdict = Strip(StripLook((0, 0, 0, 0), wraps=True), self)
        self.models = QListWidget(self)
        self.models.setFixedHeight(LIST_HEIGHT)
        self.models.setAccessibleName(tr("Models to list above the chat"))
        self.add = dialog_button(tr("&Add"), self._on_add, self)
        self._known_heading = heading(tr("Engines"), self)
        self._grid, self._rows = QGridLayout(), list[QWidget]()
        self._grid.setColumnStretch(1, 1)
        self._lay_out()
        self.address.textEdited.connect(self._forget)
        self.key.textEdited.connect(self._forget)
        self.models.itemChanged.connect(self._show_add)
        servers.changed.connect(self._show_known)
        self._forget()
        self._show_known()

    def _lay_out(self) -> None:
        words = tr(
            "Any server with OpenAI's API: llama-server, vLLM, SGLang, another Skein. Its chats run there. "
            "Nothing is sent before you check it or use one of its models."
        )
        vbox(
            PlainLabel(words, self, tone="muted", wraps=True),
            *named(self.address, "", self),
            *named(self.key, tr("If the server wants one. It is kept in the keyring."), self),
            hbox(self.check, STRETCH),
            self.verdict,
            self.models,
            hbox(STRETCH, dialog_button(tr("Close"), self.close, self), self.add),
            self._known_heading,
            self._grid,
            STRETCH,
            on=self,
            margins=20,
        )
        self.setFixedWidth(WIDTH)

    def showEvent(self, event: QShowEvent) -> None:
        """What an earlier try came to is old by now; what was typed stays."""
        super().showEvent(event)
        if not event.spontaneous():
            self._forget()

    # One that may be added

    def _on_check(self) -> None:
        try:
            self._ask(pasted(self.address.text(), self.key.text()))
        except InvalidRequestError as error:
            self._say(tr_said(str(error)), tone="danger")

    def _ask(self, server: Server) -> None:
        self._forget()
        self._asked = server
        self._say(tr("Asking {url}…", url=server.url))
        spawn(self._show_what_is_there(server))

    async def _show_what_is_there(self, server: Server) -> None:
        told: Introduction | None = None
        shown = problem = ""
        try:
            found, told = await self._servers.check(server)
        except ServerError as error:
            problem = tr_said(str(error))
            if isinstance(error, UntrustedError):
                with suppress(OSError, ValueError):  # it is gone meanwhile
                    shown = await off_loop(fingerprint_of, server.url)
        if not isValid(self) or self._asked is not server:
            return
        if told:
            self._show_models(found, told)
        elif shown:
            self._show_certificate(server, shown)
        else:
            self._say(problem, tone="danger")

    def _show_certificate(self, server: Server, shown: str) -> None:
        """It may be that of a machine in the same room, which nobody else vouches for."""
        text = tr(
            "Nobody known vouches for the certificate of {url}. Trust it if the server shows the same "
            "fingerprint (SHA-256): {fingerprint}",
            url=server.url,
            fingerprint=shown.replace(":", " "),
        )
        trust = partial(self._ask, replace(server, fingerprint=shown))
        self._say(text, Offer(tr("Trust it"), trust), tone="warning")

    def _show_models(self, server: Server, told: Introduction) -> None:
        self._asked, number = server, len(told.names)
        program = told.title or tr("A server with OpenAI's API")
        self._say(tr_n("{program}, {n} model", "{program}, {n} models", number, program=program))
        is_chosen = number <= MAX_CHOSEN_AT_ONCE
        for name in told.names:
            item = QListWidgetItem(title_of(name), self.models)
            item.setData(NAME, name)
            item.setCheckState(Qt.CheckState.Checked if is_chosen else Qt.CheckState.Unchecked)
        self.models.show()
        self.adjustSize()

    def _say(self, text: str, *offers: Offer, tone: str = "") -> None:
        self.verdict.say(text, *offers, tone=tone)
        self.adjustSize()

    @property
    def _chosen(self) -> tuple[str, ...]:
        items = map(self.models.item, range(self.models.count()))
        return tuple(item.data(NAME) for item in items if item.checkState() is Qt.CheckState.Checked)

    @Slot()
    def _show_add(self) -> None:
        self.add.setEnabled(bool(self._chosen))

    def _on_add(self) -> None:
        assert self._asked
        url = self._asked.url
        self._servers.add(self._asked, self._chosen)
        self.address.clear()
        self.key.clear()
        self.address.setFocus()
        self._forget()
        self._say(tr("{url} is added. Choose its models above the chat.", url=url))

    @Slot()
    def _forget(self) -> None:
        self._asked = None
        self.models.clear()
        self.models.hide()
        self.verdict.clear()
        self._show_add()
        self.adjustSize()

    # Those that were added

    @Slot()
    def _show_known(self) -> None:
        drop(*self._rows)
        self._rows, known = [], self._servers.known
        self._known_heading.setVisible(bool(known))
        for row, one in enumerate(known):
            number = PlainLabel(tr_n("{n} model", "{n} models", len(one.models)), self, tone="muted")
            remove = IconButton("x", tr("Remove {address}", address=one.url), BUTTON_SIDE, self)
            remove.clicked.connect(partial(self._remove, one))
            for column, widget in enumerate((PlainLabel(one.url, self), number, remove)):
                self._grid.addWidget(widget, row, column)
                self._rows.append(widget)
        self.adjustSize()

    def _remove(self, one: ServerSettings, _is_checked: bool = False) -> None:
        self._servers.remove(one)
        undo = Offer(tr("Undo"), partial(self._servers.undo_removal, one))
        self._say(tr("{url} is removed.", url=one.url), undo)
