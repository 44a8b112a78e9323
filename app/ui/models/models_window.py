"""The models window: local models, and models to download. Not modal. GUI thread."""

from PySide6.QtCore import QSize, Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import QDialog, QLineEdit, QStackedWidget, QTabBar, QWidget

from app.look.layouts import hbox, vbox
from app.look.windows import come_up, resize_to_fit
from app.look.words import tr
from app.services.services import Services
from app.ui.models.hub_page import HubPage
from app.ui.models.library_page import LibraryPage

SIZE, MIN_SIZE = QSize(1120, 700), QSize(560, 440)


class ModelsWindow(QDialog):
    open_requested = Signal(object)  # Path
    settings_requested = Signal(object)  # Path

    def __init__(self, services: Services, parent: QWidget) -> None:
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
        vbox(
            hbox(self._tabs, margins=(12, 0, 12, 0)),
            (self._pages, 1),
            on=self,
            margins=(0, 8, 0, 0),
            spacing=0,
        )
        for page, title in ((self.library, tr("On this machine")), (self.hub, tr("Get more"))):
            self._tabs.addTab(title)
            self._pages.addWidget(page)
            page.open_requested.connect(self._on_open_requested)
        self.library.settings_requested.connect(self.settings_requested)

    def show_page(self, page: QWidget) -> None:
        self._tabs.setCurrentIndex(self._pages.indexOf(page))
        self.come_up()

    def _show_other_page(self) -> None:
        self._tabs.setCurrentIndex((self._tabs.currentIndex() + 1) % self._tabs.count())

    def come_up(self) -> None:
        come_up(self)

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
    def _on_open_requested(self, path: object) -> None:
        """Closes: the chat is in the main window."""
        self.open_requested.emit(path)
        self.close()
