"""Models to download: recommended ones, a search on the hub, files of a repository, and running downloads.

Shows the state of hub and downloads, and forwards the user's requests. GUI thread.
"""

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QModelIndex, Qt, QTimer, QUrl, Signal, Slot
from PySide6.QtGui import (
    QColor,
    QDesktopServices,
    QHideEvent,
    QKeySequence,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QShortcut,
    QShowEvent,
)
from PySide6.QtWidgets import QBoxLayout, QDialog, QFrame, QLabel, QLineEdit, QListView, QVBoxLayout, QWidget

from app.look.buttons import IconButton, dialog_button
from app.look.file_dialog import choose_folder
from app.look.layouts import STRETCH, TOP, hbox, vbox
from app.look.plain_text import PlainLabel, search_field
from app.look.tokens import current
from app.look.words import mark, tr, tr_n, tr_said
from app.models.hub import HubModel, RepoContents
from app.models.hub_address import (
    DEFAULT_ENDPOINT,
    TOKEN_BEGINS,
    DownloadError,
    HubError,
    endpoint_of,
    web_page,
)
from app.models.order import order_of
from app.models.recommended import RECOMMENDED
from app.services.downloads import Downloads
from app.services.model_hub import FoundRepos, ModelHub, Trouble
from app.services.preferences import Preferences
from app.ui.models.download_rows import DownloadRows
from app.ui.models.hub_details import HubDetails
from app.ui.models.hub_rows import HubDelegate, HubRow, HubRows, found_row, recommended_row

SEARCH_AFTER_MS = 500  # after typing: the hub limits the rate of requests
DETAILS_WIDTH, WIDE = 380, 820
SIDE = 32
RECOMMENDED_WORDS = mark("Recommended models")
SEARCHING = mark("Searching…")
NOTHING_FOUND = mark("No GGUF with that name. Try fewer words.")


class HubPage(QWidget):
    open_requested = Signal(object)  # Path

    def __init__(
        self, hub: ModelHub, downloads: Downloads, preferences: Preferences, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._hub = hub
        self._downloads = downloads
        self._preferences = preferences
        self._found: FoundRepos | None = None  # None: the recommended ones are shown
        self._contents: RepoContents | None = None
        self._starting = ""  # the repository whose model is to be downloaded once its files are known
        self._beside_bytes = 0  # what its models take beside their weights; 0: unknown
        self.access = HubAccess(hub, preferences, self)
        self.search = search_field(tr("Search Hugging Face"), self)
        self.access_button = IconButton("settings", tr("Token and mirror"), SIDE, self)
        self.state = PlainLabel(parent=self, tone="muted", wraps=True)
        self.trouble = PlainLabel(parent=self, tone="danger", wraps=True)
        self.again_button = dialog_button(tr("Try &again"), lambda: self._again(), self)
        self.token_button = dialog_button(tr("Enter &token…"), self.access.ask, self)
        self.terms_button = dialog_button(tr("Open &web page"), lambda: self._open_page(self._terms), self)
        self.rows = HubRows(self)
        self.list = QListView(self)
        self.details = HubDetails(self)
        self.downloads = DownloadRows(downloads, self)
        self._typing = QTimer(self, singleShot=True, interval=SEARCH_AFTER_MS)
        self._terms = ""  # a web page
        self._again: Callable[[], object] = self._search  # what to retry
        self._line = _Hairline(self)
        self._dress()
        self._lay_out()
        self._connect()
        self._show_trouble(None)
        self._show_recommended()
        self._show_downloads()

    @property
    def chosen(self) -> HubRow | None:
        return self.rows.row_at(self.list.currentIndex())

    # The list

    @Slot()
    def _search(self) -> None:
        """At once, or after a pause in typing."""
        self._typing.stop()
        self._show_trouble(None)
        self._again = self._search
        if words := self.search.text().strip():
            self.state.setText(tr(SEARCHING))
            self._hub.search(words)
        else:
            self._hub.stop()
            self._show_recommended()

    @Slot(object)
    def _on_found(self, found: FoundRepos) -> None:
        if not self.search.text().strip():
            return
        self._found = found
        num_found = len(found.repos)
        self.state.setText(
            tr_n("{n} found, most downloaded first", "{n} found, most downloaded first", num_found)
            if num_found
            else tr(NOTHING_FOUND)
        )
        self.rows.apply([found_row(repo) for repo in found.repos])
        self._choose_none()

    def _show_recommended(self) -> None:
        self._found = None
        self.state.setText(tr(RECOMMENDED_WORDS))
        self._show_recommended_rows()
        self._choose_none()

    def _show_recommended_rows(self) -> None:
        """The one to begin with comes first, with a button."""
        rows = [recommended_row(one, self._hub.free_bytes) for one in RECOMMENDED]
        rows.sort(key=lambda row: not row.is_start)
        self.rows.apply(rows)
        first = self.rows.index(0)
        if rows[0].is_start != (self.list.indexWidget(first) is not None):
            button = dialog_button(tr("Download"), self._start, self.list) if rows[0].is_start else None
            self.list.setIndexWidget(first, button)  # type: ignore[arg-type] # None takes it away
            self.list.updateGeometries()

    def _start(self) -> None:
        """Downloads the recommended file of the first one, as soon as its files are known."""
        self.list.setCurrentIndex(self.rows.index(0))
        if row := self.chosen:
            self._ask_for(row)
            self._starting = row.repo_id

    def _choose_none(self) -> None:
        self.list.setCurrentIndex(QModelIndex())
        self.list.scrollToTop()
        self._contents = None
        self.details.begin(None)
        if not self.rows.rowCount():
            self.details.show_note("")  # there is none to choose

    @Slot()
    def _on_chosen(self) -> None:
        if (row := self.chosen) and row.repo_id != self.details.repo_id:
            self._ask_for(row)

    def _ask_for(self, row: HubRow) -> None:
        self._show_trouble(None)
        self._again = partial(self._ask_for, row)
        self._contents, self._starting = None, ""
        self.details.begin(row)
        self._hub.open(row.repo_id)

    @Slot(object)
    def _on_opened(self, contents: RepoContents) -> None:
        if contents.repo.id.casefold() == self.details.repo_id.casefold():
            self._contents, self._beside_bytes = contents, 0
            self._show_contents()
            if self._starting == self.details.repo_id:
                self._starting = ""
                self.details.download_button.click()

    @Slot(str, int)
    def _on_estimated(self, repo_id: str, beside_bytes: int) -> None:
        if self._contents and self._contents.repo.id == repo_id:
            self._beside_bytes = beside_bytes
            self._show_contents()

    @Slot()
    def _on_measured(self) -> None:
        if self._found is None:
            self._show_recommended_rows()
        self._show_contents()

    def _show_contents(self) -> None:
        if self._contents:
            self.details.apply(self._contents, self._hub.free_bytes, self._beside_bytes)

    # Trouble

    @Slot(object)
    def _on_failed(self, trouble: Trouble) -> None:
        if self._again == self._search:
            self.state.setText("")
            self.rows.apply(())
            self._choose_none()
        elif self._contents is None:
            self.details.show_note("")
        self._show_trouble(trouble)

    def _show_trouble(self, trouble: Trouble | None) -> None:
        self.trouble.setText(tr_said(trouble.text) if trouble else "")
        self._terms = trouble.page if trouble else ""
        for part in (self.trouble, self.again_button):
            part.setVisible(trouble is not None)
        for button in (self.token_button, self.terms_button):
            button.setVisible(bool(self._terms))

    # What is loaded

    @Slot(object)
    def _on_download_requested(self, model: HubModel) -> None:
        if not self._contents:
            return
        try:
            self._downloads.start(order_of(self._contents, model, self._hub.endpoint))
        except DownloadError as error:
            self.details.show_note(tr_said(error.args[0]), "danger")

    @Slot()
    def _show_downloads(self) -> None:
        items = self._downloads.items
        self.downloads.apply(items)
        self._line.setVisible(bool(items))
        self.details.show_folder(self._downloads.folder)

    @Slot()
    def _choose_folder(self) -> None:
        choose = partial(self._preferences.set, "download_folder")
        choose_folder(self, tr("Folder for downloads"), choose, self._downloads.folder)

    @Slot()
    def _on_token_given(self) -> None:
        if self._terms:
            self._again()

    @Slot(str)
    def _open_page(self, address: str) -> None:
        QDesktopServices.openUrl(QUrl(address))

    @Slot(str)
    def _on_setting_changed(self, name: str) -> None:
        if name == "download_folder":
            self.details.show_folder(self._downloads.folder)

    def _dress(self) -> None:
        self.list.setModel(self.rows)
        self.list.setItemDelegate(HubDelegate(self.list))
        self.list.setMouseTracking(True)
        self.list.setFrameShape(QFrame.Shape.NoFrame)
        self.list.setUniformItemSizes(True)
        self.list.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.list.setAccessibleName(tr("Models on the hub"))
        self.list.viewport().setAutoFillBackground(False)

    def _lay_out(self) -> None:
        top = hbox((self.search, 1), self.access_button)
        offers = [(button, 0, TOP) for button in (self.terms_button, self.token_button, self.again_button)]
        self._told = hbox((self.trouble, 1), hbox(*offers, STRETCH))
        self._middle = hbox((vbox(self.state, (self.list, 1), spacing=6), 1), self.details, spacing=16)
        parts = (top, self._told, (self._middle, 1), self._line, self.downloads)
        vbox(*parts, on=self, margins=(16, 12, 16, 12), spacing=12)

    def _connect(self) -> None:
        self.search.textChanged.connect(self._typing.start)
        self.search.returnPressed.connect(self._search)
        self._typing.timeout.connect(self._search)
        self.list.selectionModel().currentChanged.connect(self._on_chosen)
        self.access_button.clicked.connect(self.access.ask)
        self.details.download_requested.connect(self._on_download_requested)
        self.details.folder_requested.connect(self._choose_folder)
        self.details.page_requested.connect(
            lambda repo_id: self._open_page(web_page(self._hub.endpoint, repo_id))
        )
        self._connect_hub()
        self._downloads.changed.connect(self._show_downloads)
        self._downloads.progressed.connect(self._show_downloads)
        self.downloads.open_requested.connect(self.open_requested)
        self.downloads.page_requested.connect(self._open_page)
        self.downloads.token_requested.connect(self.access.ask)
        self._preferences.changed.connect(self._on_setting_changed)
        QShortcut(QKeySequence(QKeySequence.StandardKey.Find), self, self.search.setFocus)

    def _connect_hub(self) -> None:
        self._hub.found.connect(self._on_found)
        self._hub.opened.connect(self._on_opened)
        self._hub.failed.connect(self._on_failed)
        self._hub.estimated.connect(self._on_estimated)
        self._hub.measured.connect(self._on_measured)
        self._hub.endpoint_changed.connect(self._search)  # results of the former hub do not apply
        self.access.token_given.connect(self._on_token_given)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._hub.measure()

    def hideEvent(self, event: QHideEvent) -> None:
        self._typing.stop()
        super().hideEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Details beside the list where there is room, else below it; the same for offers on errors."""
        super().resizeEvent(event)
        is_wide = event.size().width() >= WIDE
        direction = QBoxLayout.Direction.LeftToRight if is_wide else QBoxLayout.Direction.TopToBottom
        for layout in (self._middle, self._told):
            layout.setDirection(direction)
        self.details.setFixedWidth(DETAILS_WIDTH if is_wide else event.size().width() - 32)


class _Hairline(QWidget):
    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setFixedHeight(1)

    def paintEvent(self, _event: QPaintEvent) -> None:
        QPainter(self).fillRect(self.rect(), QColor(current().hairline))


FIELD_WIDTH = 472
WHY_TOKEN = mark(
    "Some models require that you accept their terms. Create a read token on the hub's web page under "
    "Settings, Access Tokens. It is stored in the system's keyring and sent only to this hub."
)
WHY_MIRROR = mark("For networks that cannot reach Hugging Face. Leave empty to use the hub itself.")


class HubAccess(QDialog):
    """The hub's address and token. The token goes to the keyring and is not shown again."""

    token_given = Signal()

    def __init__(self, hub: ModelHub, preferences: Preferences, parent: QWidget) -> None:
        super().__init__(parent)
        self._hub = hub
        self._preferences = preferences
        self.setWindowTitle(tr("Access to the hub"))
        self.endpoint = QLineEdit(self)
        self.endpoint.setPlaceholderText(DEFAULT_ENDPOINT)
        self.token = QLineEdit(self)
        self.token.setEchoMode(QLineEdit.EchoMode.Password)
        self.token.setInputMethodHints(Qt.InputMethodHint.ImhSensitiveData)
        self.note = PlainLabel(parent=self, tone="muted", wraps=True)
        self.forget_button = dialog_button(tr("&Forget the token"), self._forget, self)
        self.page_button = dialog_button(tr("&Create a token…"), self._open_page, self)
        self.page_button.setProperty("kind", "quiet")
        self.close_button = dialog_button(tr("Close"), self.close, self)
        self.save_button = dialog_button(tr("&Save"), self._save, self, is_default=True)
        self._lay_out()
        self.finished.connect(self.token.clear)
        hub.token_changed.connect(self._show_values)
        hub.token_noted.connect(self.show_note)
        hub.endpoint_changed.connect(self._show_values)

    @Slot()
    def ask(self) -> None:
        self._show_values()
        self.show_note("")
        self.open()
        self.token.setFocus()

    @Slot()
    def _show_values(self) -> None:
        has_token = self._hub.has_token
        if not self.endpoint.hasFocus():
            self.endpoint.setText(self._preferences.settings.hub_endpoint)
        self.token.setPlaceholderText(tr("Token saved") if has_token else TOKEN_BEGINS)
        self.forget_button.setVisible(has_token)

    @Slot(object)
    def show_note(self, text: str, tone: str = "muted") -> None:
        self.note.say(tr_said(text))
        self.note.set_tone(tone)

    def _save(self) -> None:
        self.show_note("")
        self._save_endpoint(self.endpoint.text().strip())
        if token := self.token.text().strip():
            self.token.clear()
            self._hub.set_token(token)
            self.token_given.emit()

    def _save_endpoint(self, endpoint: str) -> None:
        try:
            endpoint_of(endpoint)
        except HubError as error:
            self.show_note(error.args[0], "danger")
        else:
            self._preferences.set("hub_endpoint", endpoint)

    def _forget(self) -> None:
        self.token.clear()
        self._hub.set_token("")

    def _open_page(self) -> None:
        QDesktopServices.openUrl(QUrl(f"{self._hub.endpoint}/settings/tokens"))

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
