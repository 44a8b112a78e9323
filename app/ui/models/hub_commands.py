"""The page of models to download, and notices about downloads elsewhere in the window. GUI thread."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot
from PySide6.QtWidgets import QWidget

from app.look.words import tr, tr_n
from app.services.downloads import Download, Downloads, State
from app.services.model_hub import ModelHub
from app.services.preferences import Preferences
from app.ui.base.notices import Notices
from app.ui.engine.model_loading import ModelLoading
from app.ui.models.model_commands import ModelCommands

if TYPE_CHECKING:
    from app.ui.models.hub_page import HubPage


class HubCommands(QObject):
    def __init__(
        self,
        hub: ModelHub,
        downloads: Downloads,
        preferences: Preferences,
        models: ModelLoading,
        commands: ModelCommands,
        notices: Notices,
        parent: QWidget,
    ) -> None:
        super().__init__(parent)
        self._hub = hub
        self._downloads = downloads
        self._preferences = preferences
        self._models = models
        self._commands = commands
        self._notices = notices
        self._unfinished = ""  # the notice about downloads that an earlier run began
        self.page: HubPage | None = None
        downloads.finished.connect(self._on_finished)
        downloads.failed.connect(self._on_failed)
        downloads.restored.connect(self._on_restored)
        downloads.changed.connect(self._on_changed)
        commands.offer_hub(self._make_page)

    def _make_page(self, window: QWidget) -> QWidget:
        from app.ui.models.hub_page import HubPage  # imported only when needed

        self.page = HubPage(self._hub, self._downloads, self._preferences, window)
        self.page.open_requested.connect(self._open)
        return self.page

    @Slot(object)
    def _open(self, path: Path) -> None:
        """Opens it: the chat is in the main window."""
        self._models.load(path)
        self._commands.window.close()

    @Slot(object)
    def _on_finished(self, download: Download) -> None:
        from app.ui.models.download_rows import notice_text

        if download.path and not self._is_seen:
            open_it = partial(self._models.load, download.path)
            self._notices.show_offer(notice_text(download), tr("Open"), open_it)

    @Slot(object)
    def _on_failed(self, download: Download) -> None:
        from app.ui.models.download_rows import notice_text

        if not self._is_seen:
            self._notices.show_error(notice_text(download))

    @Slot()
    def _on_restored(self) -> None:
        """Does not replace a notice about an earlier crash."""
        if not self._notices.banners():
            number = self._num_paused
            self._unfinished = tr_n(
                "{n} download is not finished.", "{n} downloads are not finished.", number
            )
            self._notices.show_offer(self._unfinished, tr("Show"), self._commands.show_hub)

    @Slot()
    def _on_changed(self) -> None:
        """Withdraws the notice once the user has dealt with them."""
        if self._unfinished and (self._is_seen or not self._num_paused):
            self._notices.withdraw(self._unfinished)
            self._unfinished = ""

    @property
    def _num_paused(self) -> int:
        return sum(item.state is State.PAUSED for item in self._downloads.items)

    @property
    def _is_seen(self) -> bool:
        return self.page is not None and self.page.isVisible()
