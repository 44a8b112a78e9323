"""Notices about downloads, for those who look elsewhere than at the models window. GUI thread."""

from functools import partial

from PySide6.QtCore import QObject, Slot

from app.look.plain_text import one_line
from app.look.words import sentences, tr, tr_n, tr_said
from app.services.downloads import Download, Downloads, State
from app.ui.base.notices import Notices
from app.ui.engine.model_loading import ModelLoading
from app.ui.models.model_commands import ModelCommands


class DownloadNotices(QObject):
    def __init__(
        self,
        downloads: Downloads,
        models: ModelLoading,
        commands: ModelCommands,
        notices: Notices,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._downloads = downloads
        self._models = models
        self._commands = commands
        self._notices = notices
        self._unfinished = ""  # the notice about downloads that an earlier run began
        downloads.finished.connect(self._on_finished)
        downloads.failed.connect(self._on_failed)
        downloads.restored.connect(self._on_restored)
        downloads.changed.connect(self._on_changed)

    @Slot(object)
    def _on_finished(self, download: Download) -> None:
        if download.path and not self._commands.shows_hub:
            text = tr("{name} has been downloaded.", name=one_line(download.name))
            self._notices.show_offer(text, tr("Open"), partial(self._models.load, download.path))

    @Slot(object)
    def _on_failed(self, download: Download) -> None:
        if not self._commands.shows_hub:
            text = tr("{name} could not be downloaded.", name=one_line(download.name))
            self._notices.show_error(sentences(text, tr_said(download.trouble)))

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
        if self._unfinished and (self._commands.shows_hub or not self._num_paused):
            self._notices.withdraw(self._unfinished)
            self._unfinished = ""

    @property
    def _num_paused(self) -> int:
        return sum(item.state is State.PAUSED for item in self._downloads.items)
