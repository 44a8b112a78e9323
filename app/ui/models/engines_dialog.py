"""Where servers that run models are added and removed, once it was asked what is there. GUI thread."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QDialog, QGridLayout, QLineEdit, QListWidget, QListWidgetItem, QWidget
from shiboken6 import isValid

from app.bridge.tasks import spawn
from app.look.buttons import IconButton, dialog_button
from app.look.layouts import STRETCH, drop, hbox, vbox
from app.look.plain_text import PlainLabel, heading
from app.look.strip import Offer, Strip, StripLook
from app.look.words import tr, tr_n, tr_said
from app.protocol.errors import InvalidRequestError
from app.protocol.load import Server
from app.remote.introduction import title_of
from app.remote.web import ServerError, UntrustedError, fingerprint_of
from app.services.servers import Checked, Servers, pasted
from app.settings.settings import ServerSettings

WIDTH, LIST_HEIGHT, BUTTON_SIDE = 560, 132, 28
CHOSEN, NOT_CHOSEN = Qt.CheckState.Checked, Qt.CheckState.Unchecked
MAX_CHOSEN_AT_ONCE = 8  # a router may list hundreds


class EnginesDialog(QDialog):
    """Not modal. A server is asked by Check alone."""

    def __init__(self, servers: Servers, parent: QWidget) -> None:
        super().__init__(parent)
        self._servers = servers
        self._checked: Checked | None = None
        self._checking: asyncio.Task[None] | None = None
        self.setWindowTitle(tr("Add an engine"))
        self.address = _line("https://gpu-box:8000", tr("Address, or a pasted link"), self)
        self.key = _line(tr("if the server wants one"), tr("Key"), self)
        self.key.setEchoMode(QLineEdit.EchoMode.Password)
        self.key.setInputMethodHints(Qt.InputMethodHint.ImhSensitiveData)
        self.check = dialog_button(tr("&Check"), self._on_check, self, is_default=True)
        self.verdict = Strip(StripLook((0, 0, 0, 0), wraps=True), self)
        self.models = QListWidget(self)
        self.models.setFixedHeight(LIST_HEIGHT)
        self.models.setAccessibleName(tr("Models to list above the chat"))
        self.add = dialog_button(tr("&Add"), self._on_add, self)
        self._rows: list[QWidget] = []
        self._grid = QGridLayout()
        self._grid.setColumnStretch(1, 1)
        self._lay_out()
        for field in (self.address, self.key):
            field.textEdited.connect(self._forget_check)
        self.models.itemChanged.connect(self._show_add)
        servers.changed.connect(self._show_known)
        self._forget_check()
        self._show_known()

    def _lay_out(self) -> None:
        words = tr(
            "Any server with OpenAI's API: llama-server, vLLM, SGLang, another Skein. Its chats run there. "
            "Nothing is sent before you check it or use one of its models; the key is kept in the keyring."
        )
        fields = [part for field in (self.address, self.key) for part in (_label(field, self), field)]
        self._known_heading = heading(tr("Engines"), self)
        vbox(
            PlainLabel(words, self, tone="muted", wraps=True),
            *fields,
            hbox(self.check, STRETCH),
            self.verdict,
            self.models,
            hbox(STRETCH, dialog_button(tr("Close"), self.close, self), self.add),
            self._known_heading,
            self._grid,
            on=self,
            margins=20,
            spacing=8,
        )
        self.setFixedWidth(WIDTH)

    # One that may be added

    def _on_check(self) -> None:
        try:
            self._ask(pasted(self.address.text(), self.key.text()))
        except InvalidRequestError as error:
            self.verdict.say(tr_said(str(error)), tone="danger")

    def _ask(self, server: Server) -> None:
        self._forget_check()
        self.verdict.say(tr("Asking {url}…", url=server.url))
        self._checking = spawn(self._show_what_is_there(server))

    async def _show_what_is_there(self, server: Server) -> None:
        try:
            checked = await self._servers.check(server)
        except UntrustedError as error:
            await self._show_certificate(server, error)
        except ServerError as error:
            if isValid(self):
                self.verdict.say(tr_said(str(error)), tone="danger")
        else:
            if isValid(self):
                self._show_checked(checked)

    async def _show_certificate(self, server: Server, error: ServerError) -> None:
        """It may be that of a machine in the same room, which nobody else vouches for."""
        shown = ""
        with suppress(OSError):  # also TimeoutError
            shown = await fingerprint_of(server.url)
        if not isValid(self):
            return
        if not shown:
            self.verdict.say(tr_said(str(error)), tone="danger")
            return
        text = tr(
            "Nobody known vouches for the certificate of {url}. Trust it if the server shows the same "
            "fingerprint (SHA-256): {fingerprint}",
            url=server.url,
            fingerprint=shown.replace(":", " "),
        )
        trust = partial(self._ask, replace(server, fingerprint=shown))
        self.verdict.say(text, Offer(tr("Trust it"), trust), tone="warning")

    def _show_checked(self, checked: Checked) -> None:
        self._checked = checked
        found = checked.introduction
        program = " ".join(filter(None, (found.program, found.version))) or tr("A server with OpenAI's API")
        number = len(found.names)
        self.verdict.say(tr_n("{program}, {n} model", "{program}, {n} models", number, program=program))
        for name in found.names:
            item = QListWidgetItem(title_of(name), self.models)
            item.setData(Qt.ItemDataRole.UserRole, name)
            item.setCheckState(CHOSEN if number <= MAX_CHOSEN_AT_ONCE else NOT_CHOSEN)
        self.models.show()
        self._show_add()

    @property
    def _chosen(self) -> tuple[str, ...]:
        items = (self.models.item(row) for row in range(self.models.count()))
        return tuple(item.data(Qt.ItemDataRole.UserRole) for item in items if item.checkState() is CHOSEN)

    @Slot()
    def _show_add(self) -> None:
        self.add.setEnabled(bool(self._checked and self._chosen))

    def _on_add(self) -> None:
        assert self._checked
        server = self._checked.server
        self._servers.add(server, self._chosen)
        self.address.clear()
        self.key.clear()
        self._forget_check()
        self.verdict.say(tr("{url} is added. Choose its models above the chat.", url=server.url))

    @Slot()
    def _forget_check(self) -> None:
        if self._checking:
            self._checking.cancel()
        self._checked = None
        self.models.clear()
        self.models.hide()
        self.verdict.clear()
        self._show_add()

    # Those that were added

    @Slot()
    def _show_known(self) -> None:
        drop(*self._rows)
        self._rows = []
        known = self._servers.known
        self._known_heading.setVisible(bool(known))
        for row, one in enumerate(known):
            self._rows += self._row(row, one)
        self.adjustSize()

    def _row(self, row: int, one: ServerSettings) -> Sequence[QWidget]:
        url = PlainLabel(one.url, self)
        number = PlainLabel(tr_n("{n} model", "{n} models", len(one.models)), self, tone="muted")
        remove = IconButton("x", tr("Remove {address}", address=one.url), BUTTON_SIDE, self)
        remove.clicked.connect(lambda: self._remove(one))
        widgets = url, number, remove
        for column, widget in enumerate(widgets):
            self._grid.addWidget(widget, row, column)
        return widgets

    def _remove(self, one: ServerSettings) -> None:
        self._servers.remove(one)
        undo = Offer(tr("Undo"), partial(self._servers.undo_removal, one))
        self.verdict.say(tr("{url} is removed.", url=one.url), undo)


def _line(placeholder: str, name: str, parent: QWidget) -> QLineEdit:
    line = QLineEdit(parent)
    line.setPlaceholderText(placeholder)
    line.setAccessibleName(name)
    return line


def _label(field: QLineEdit, parent: QWidget) -> PlainLabel:
    label = PlainLabel(field.accessibleName(), parent)
    label.setBuddy(field)
    return label
