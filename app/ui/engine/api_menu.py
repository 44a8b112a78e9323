"""The local API in the window: its place in the Tools menu and the status bar, and its dialog. GUI thread."""

from __future__ import annotations

import shlex
from functools import cached_property

from PySide6.QtCore import QObject, Qt, Signal, Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QDialog, QGridLayout, QWidget

from app.look.buttons import dialog_button
from app.look.fonts import code_font
from app.look.layouts import Part, hbox, vbox
from app.look.plain_text import PlainLabel
from app.look.popups import come_up
from app.look.words import mark, tr, tr_n
from app.services.local_api import LocalApi
from app.settings.settings import Settings
from app.system import paths
from app.ui.base.actions import command
from app.ui.base.choice_list import ChoiceList
from app.ui.base.copy_button import CopyButton
from app.ui.base.setting import Choice
from app.ui.base.setting_controls import NumberField


class ApiMenu(QObject):
    state_changed = Signal(str)  # for the status bar

    def __init__(self, api: LocalApi, settings: Settings, parent: QWidget) -> None:
        super().__init__(parent)
        self._api = api
        self._settings = settings
        copy = QGuiApplication.clipboard().setText
        self.switch = command(parent, "api.switch", lambda: api.switch(not api.is_on))
        self.switch.setCheckable(True)
        self.copy_address = command(parent, "api.copy-address", lambda: copy(f"{api.address}/v1"))
        self.copy_key = command(parent, "api.copy-key", lambda: copy(settings.api_key))
        self.open = command(parent, "api.open", self.show_panel)
        self.actions = (self.switch, self.copy_address, self.copy_key, self.open)
        self._parent = parent
        api.changed.connect(self._on_changed)

    @cached_property
    def panel(self) -> ApiPanel:
        return ApiPanel(self._api, self._parent)

    def show_panel(self) -> None:
        self._show_state()
        come_up(self.panel)

    @Slot()
    def _on_changed(self) -> None:
        api, key = self._api, self._settings.api_key
        self.switch.setChecked(api.is_on)
        self.copy_address.setEnabled(api.is_on)
        self.copy_key.setEnabled(bool(key))
        if "panel" in self.__dict__ and self.panel.isVisible():
            self._show_state()
        self.state_changed.emit(state_text(api.is_on, api.address, api.num_requests))

    def _show_state(self) -> None:
        api = self._api
        self.panel.apply(api.is_on, api.address, self._settings.api_key, api.num_requests, api.fingerprint)


def state_text(is_on: bool, address: str, num_requests: int) -> str:
    if not is_on:
        return tr("API off")
    state = tr("API on {address}", address=address.partition("://")[2])
    return f"{state} · {requests_text(num_requests)}" if num_requests else state


WIDTH = 640
LABEL_WIDTH = 96
FIRST_LINE = 3  # what a radio button has above its text
MIN_PORT, MAX_PORT = 1024, 65_535
ON, OFF = "on", "off"
TOP, MIDDLE = Qt.AlignmentFlag.AlignTop, Qt.AlignmentFlag.AlignVCenter
CHOICES = (
    Choice(OFF, mark("Off"), mark("Only this window uses the model.")),
    Choice(ON, mark("On"), mark("Programs on this computer that have the key can use it, too.")),
)
NOT_ENCRYPTED = mark("Not encrypted")
NO_KEY = mark("Created when the API is first turned on")


class ApiPanel(QDialog):
    def __init__(self, api: LocalApi, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._address = self._key = self._fingerprint = ""
        self.switch = ChoiceList(tr("Local API"), CHOICES, parent=self)
        self.switch.chosen.connect(lambda value: api.switch(value == ON))
        self.port = NumberField(tr("Port"), MIN_PORT, MAX_PORT, 1, self)
        self.port.setGroupSeparatorShown(False)
        self.port.setKeyboardTracking(False)  # each digit would be another port
        self.port.valueChanged.connect(api.set_port)
        self.address, self.key, self.certificate = self._value(), self._value(), self._value()
        self.copy_address = CopyButton(tr("Copy the address"), self.address.text, self)
        self.copy_key = CopyButton(tr("Copy the key"), lambda: self._key, self)
        self.copy_fingerprint = CopyButton(tr("Copy the fingerprint"), lambda: self._fingerprint, self)
        self.copy_example = CopyButton(
            tr("Copy the command"), lambda: example(self._address, self._key), self
        )
        self.new_key = dialog_button(tr("New key"), api.renew_key, self)
        self.new_key.setToolTip(tr("Programs with the old key lose access"))
        self.state = PlainLabel(parent=self, tone="muted")
        self.close_button = dialog_button(tr("Close"), self.close, self)
        self.setWindowTitle(tr("Local API"))
        self._lay_out()

    def apply(self, is_on: bool, address: str, key: str, num_requests: int, fingerprint: str = "") -> None:
        """Shows the current state. The fingerprint is that of the certificate, if there is one."""
        self._fingerprint = fingerprint
        self.certificate.setText(in_two_lines(fingerprint) if fingerprint else tr(NOT_ENCRYPTED))
        self.certificate.setFont(code_font() if fingerprint else self.font())
        self.copy_fingerprint.setEnabled(bool(fingerprint))
        self._address, self._key = address, key
        self.switch.choose(ON if is_on else OFF)
        self.address.setText(f"{address}/v1")
        self.key.setText(masked(key) if key else tr(NO_KEY))
        self.key.setFont(code_font() if key else self.font())
        for button in (self.copy_key, self.copy_example, self.new_key):
            button.setEnabled(bool(key))
        self.state.setText(requests_text(num_requests) if is_on else "")
        self._show_port(int(address.rpartition(":")[2]))

    def _show_port(self, port: int) -> None:
        if not self.port.hasFocus() and self.port.value() != port:
            self.port.blockSignals(True)
            self.port.setValue(port)
            self.port.blockSignals(False)

    def _value(self) -> PlainLabel:
        label = PlainLabel(parent=self)
        label.setFont(code_font())
        return label

    def _lay_out(self) -> None:
        grid = QGridLayout()
        grid.setHorizontalSpacing(16)
        grid.setVerticalSpacing(12)
        grid.setColumnMinimumWidth(0, LABEL_WIDTH)
        grid.setColumnStretch(1, 1)
        self._add_row(grid, tr("Server"), self.switch)
        self._add_row(grid, tr("Port"), self.port)
        self._add_row(grid, tr("Address"), self.address, self.copy_address)
        self._add_row(grid, tr("Key"), self.key, self.copy_key, self.new_key)
        self._add_row(grid, tr("SHA-256"), self.certificate, self.copy_fingerprint)
        note = PlainLabel(
            tr("A curl command with address and key, to try in a terminal."), self, tone="muted", wraps=True
        )
        note.setMaximumWidth(note.fontMetrics().horizontalAdvance(note.text()) + 1)
        self._add_row(grid, tr("Example"), (note, 100), self.copy_example)
        vbox(
            grid,
            hbox((self.state, 1), self.close_button, spacing=None),
            on=self,
            margins=(24, 16, 24, 16),
            spacing=16,
        )
        self.setFixedWidth(WIDTH)

    def _add_row(self, grid: QGridLayout, name: str, *parts: Part) -> None:
        row = grid.rowCount()
        line = hbox(*parts)
        if not isinstance(parts[0], ChoiceList):
            line.addStretch(1)
        label = PlainLabel(name, self)
        has_lines = isinstance(parts[0], ChoiceList)
        label.setContentsMargins(0, FIRST_LINE if has_lines else 0, 0, 0)
        grid.addWidget(label, row, 0, TOP if has_lines else MIDDLE)
        grid.addLayout(line, row, 1)


def masked(key: str) -> str:
    """Enough to distinguish two keys, on a screen that others may see."""
    return f"{'•' * 12}{key[-4:]}"


def in_two_lines(fingerprint: str) -> str:
    middle = len(fingerprint) // 2
    return f"{fingerprint[:middle]}\n{fingerprint[middle:].removeprefix(':')}"


def requests_text(num_requests: int) -> str:
    return tr_n("{n} request running", "{n} requests running", num_requests)


def example(address: str, key: str) -> str:
    return (
        f"curl {_trust(address)}{address}/v1/chat/completions \\\n"
        f"  -H 'Authorization: Bearer {key}' \\\n"
        "  -H 'Content-Type: application/json' \\\n"
        """  -d '{"messages": [{"role": "user", "content": "What is 2 + 2?"}]}'"""
    )


def _trust(address: str) -> str:
    is_encrypted = address.startswith("https")
    return f"--cacert {shlex.quote(str(paths.certificate_file()))} " if is_encrypted else ""
