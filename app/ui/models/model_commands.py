"""Models in the main window: commands, window, notices about downloads, offers in empty chats. GUI thread."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QSize, Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import QDialog, QLineEdit, QStackedWidget, QTabBar, QWidget

from app.look.figures import data_size, decimal
from app.look.layouts import hbox, vbox
from app.look.plain_text import one_line
from app.look.popups import come_up, resize_to_fit
from app.look.strip import Offer
from app.look.words import sentences, tr, tr_n, tr_said
from app.services.downloads import Download, Downloads, State
from app.services.draft_offers import DraftOffer
from app.services.model_state import ModelWatch
from app.services.services import Services
from app.ui.base.actions import command
from app.ui.base.notices import Notices
from app.ui.engine.model_loading import ModelLoading
from app.ui.tabs.chat_tabs import ChatTabs
from app.ui.transcript.empty_chat import EmptyChat
from app.ui.transcript.greeting import Greeting, Primary, greeting

if TYPE_CHECKING:
    from app.ui.models.engines_dialog import EnginesDialog
    from app.ui.tabs.chat_view import ChatView


SIZE, MIN_SIZE = QSize(1120, 700), QSize(560, 440)


class ModelCommands(QObject):
    def __init__(
        self,
        services: Services,
        models: ModelLoading,
        show_load_settings: Callable[[Path], object],
        parent: QWidget,
    ) -> None:
        super().__init__(parent)
        self._services = services
        self._models = models
        self._show_load_settings = show_load_settings
        self._parent = parent
        self.show = command(parent, "model.library", self.show_library)
        self.get_more = command(parent, "model.hub", self.show_hub)
        self.add_engine = command(parent, "model.engine", self.show_engines)

    @cached_property
    def window(self) -> ModelsWindow:
        window = ModelsWindow(self._services, self._parent)
        window.open_requested.connect(self._models.load)
        window.library.settings_requested.connect(self._show_load_settings)
        return window

    @property
    def shows_hub(self) -> bool:
        return "window" in self.__dict__ and self.window.hub.isVisible()

    @cached_property
    def engines(self) -> EnginesDialog:
        from app.ui.models.engines_dialog import EnginesDialog

        return EnginesDialog(self._services.servers, self._parent)

    def show_engines(self) -> None:
        come_up(self.engines)

    def show_library(self) -> None:
        self.window.show_page(self.window.library)

    def show_hub(self) -> None:
        self.window.show_page(self.window.hub)


class ModelsWindow(QDialog):
    """Local models, and models to download. Not modal."""

    open_requested = Signal(object)  # Path

    def __init__(self, services: Services, parent: QWidget) -> None:
        from app.ui.models.hub_page import HubPage
        from app.ui.models.library_page import LibraryPage

        super().__init__(parent)
        preferences = services.preferences
        self.library = LibraryPage(services.model_library, services.model_fits, preferences, self)
        self.hub = HubPage(services.hub, services.downloads, preferences, self)
        self._tabs = QTabBar(self)
        self._pages = QStackedWidget(self)
        self.setWindowTitle(tr("Models"))
        self.setMinimumSize(MIN_SIZE)
        resize_to_fit(self, SIZE)
        self._tabs.setDrawBase(False)
        self._tabs.setExpanding(False)
        self._tabs.setAccessibleName(tr("Pages"))
        self._tabs.currentChanged.connect(self._pages.setCurrentIndex)
        for keys in (QKeySequence.StandardKey.NextChild, QKeySequence.StandardKey.PreviousChild):
            QShortcut(keys, self, self._show_other_page)  # there are two
        tabs = hbox(self._tabs, margins=(12, 0, 12, 0))
        vbox(tabs, (self._pages, 1), on=self, margins=(0, 8, 0, 0), spacing=0)
        for page, title in ((self.library, tr("On this machine")), (self.hub, tr("Get more"))):
            self._tabs.addTab(title)
            self._pages.addWidget(page)
            page.open_requested.connect(self._on_open_requested)

    def show_page(self, page: QWidget) -> None:
        self._tabs.setCurrentIndex(self._pages.indexOf(page))
        come_up(self)

    def _show_other_page(self) -> None:
        self._tabs.setCurrentIndex((self._tabs.currentIndex() + 1) % self._tabs.count())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape ends a search first, then closes."""
        page = self._pages.currentWidget()
        search = page.findChild(QLineEdit) if page else None
        if event.key() == Qt.Key.Key_Escape and search and search.text():
            search.clear()
            search.setFocus()
        else:
            super().keyPressEvent(event)

    @Slot(object)
    def _on_open_requested(self, path: Path) -> None:
        """Closes: the chat is in the main window."""
        self.open_requested.emit(path)
        self.close()


class DownloadNotices(QObject):
    """For those who look elsewhere than at the models window."""

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


class DraftNotice(QObject):
    """Offers a draft model that was measured to be worth it."""

    def __init__(self, services: Services, models: ModelLoading, notices: Notices, parent: QObject) -> None:
        super().__init__(parent)
        self._offers, self._preferences = services.draft_offers, services.preferences
        self._models, self._notices = models, notices
        self._text = ""
        self._offers.offered.connect(self._show)
        services.engine.loading.connect(self._withdraw)

    @Slot(object)
    def _show(self, offer: DraftOffer) -> None:
        self._text = tr(
            "{draft} could draft for this model: on this machine answers come {edit} times as fast when it "
            "edits code, {free} times in free text. It takes {size} of memory.",
            draft=offer.draft.title,
            edit=decimal(offer.edit, 1),
            free=decimal(offer.free, 1),
            size=data_size(offer.draft.size_bytes),
        )
        use = Offer(tr("Use it"), partial(self._use, offer))
        refuse = Offer(tr("No"), partial(self._offers.refuse, offer))
        self._notices.show_note(self._text, use, refuse)

    def _use(self, offer: DraftOffer) -> None:
        own = self._preferences.of_model(offer.model)
        self._preferences.set_of_model(offer.model, own.model_copy(update={"draft_model": offer.draft.path}))
        self._models.load(offer.model)

    @Slot()
    def _withdraw(self) -> None:
        self._notices.withdraw(self._text)


class Greetings(QObject):
    """Shows in every empty chat who answers, and what can be done about it."""

    def __init__(
        self,
        services: Services,
        watch: ModelWatch,
        models: ModelLoading,
        commands: ModelCommands,
        tabs: ChatTabs,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._watch = watch
        self._library = services.model_library
        self._hub = services.hub
        self._models = models
        self._commands = commands
        self._tabs = tabs
        self._shown = self._now()
        watch.changed.connect(self._on_changed)
        self._library.changed.connect(self._show)
        self._hub.measured.connect(self._show)
        tabs.view_made.connect(self._on_view_made)

    @Slot()
    def _on_changed(self) -> None:
        greeting, _ = self._now()
        if self._watch.state.model and greeting.primary is Primary.GET_MODEL and not self._hub.free_bytes:
            self._hub.measure()
        self._show()

    @Slot(object)
    def _on_view_made(self, view: ChatView) -> None:
        view.composer.get_model.clicked.connect(self._commands.show_hub)
        view.empty_made.connect(self._on_empty_made)
        if view.made_empty:
            self._on_empty_made(view.made_empty)

    @Slot(object)
    def _on_empty_made(self, empty: EmptyChat) -> None:
        empty.model_requested.connect(self._commands.show_hub)
        empty.offers.open_requested.connect(self._models.choose)
        empty.offers.library_requested.connect(self._commands.show_library)
        self._greet_in(empty)

    @Slot()
    def _show(self) -> None:
        """In all views, if anything is new: the progress of a load is not."""
        before, self._shown = self._shown, self._now()
        if self._shown != before:
            for view in self._tabs.views:
                if view.made_empty:
                    self._greet_in(view.made_empty)

    def _greet_in(self, empty: EmptyChat) -> None:
        empty.apply(*self._shown)

    def _now(self) -> tuple[Greeting, int]:
        return greeting(self._watch.state, self._hub.free_bytes), self._library.num_of_others
