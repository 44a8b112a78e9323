"""The local API in the window: its place in the Tools menu and the status bar, and its dialog. GUI thread."""

from functools import cached_property

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget

from app.look.windows import come_up
from app.look.words import tr
from app.services.local_api import LocalApi
from app.settings.settings import Settings
from app.ui.base.actions import command
from app.ui.engine.api_panel import ApiPanel, requests_text


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
        panel = ApiPanel(self._parent)
        panel.switched.connect(self._api.switch)
        panel.port_chosen.connect(self._api.set_port)
        panel.new_key_requested.connect(self._api.renew_key)
        return panel

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
