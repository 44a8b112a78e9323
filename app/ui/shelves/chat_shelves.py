"""Shelves in the main window: that of all, the shelf of each chat, entries of the palette. GUI thread."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QPoint, Qt, QUrl, Signal, Slot
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QSplitter, QWidget

from app.bridge.tasks import spawn
from app.chats.attachment import Attachment
from app.look.plain_text import as_tab_text, one_line
from app.look.popups import Menu
from app.look.words import tr
from app.services.services import Services
from app.shelves.documents import name_of, number_of, sentence_before
from app.shelves.passages import narrowed
from app.shelves.shelf import Shelf, ShelfFile
from app.ui.base.actions import command
from app.ui.base.citations import SCHEME, set_sources
from app.ui.shelves.reader import WIDTH, Reader
from app.ui.shelves.shelf_words import contents_text, use_text, vectors_text
from app.ui.tabs.chat_tabs import ChatTabs

if TYPE_CHECKING:
    from collections.abc import Callable

    from app.ui.shelves.shelves_window import ShelvesWindow
    from app.ui.tabs.chat_view import ChatView


class ChatShelves(QObject):
    titles_changed = Signal(object)  # what the shelves' own sequences are called, by chat id

    def __init__(self, tabs: ChatTabs, services: Services, parent: QWidget) -> None:
        super().__init__(parent)
        self._tabs = tabs
        self._services = services
        self._shelves, self._reader = services.shelves, services.beginnings
        self._parent = parent
        self.shown_window: ShelvesWindow | None = None  # once it was asked for
        self.reader: Reader | None = None
        self.show = command(parent, "tools.shelves", self.show_window)
        self.choose = command(parent, "chat.shelf", self.open_for_current)
        tabs.view_made.connect(self._on_view_made)
        self._shelves.changed.connect(self._show_all)
        self._reader.changed.connect(self._show_all)
        services.shelf_vectors.changed.connect(self._show_all)
        services.projects.changed.connect(self._show_all)
        services.engine.loaded.connect(self._show_all)
        QDesktopServices.setUrlHandler(SCHEME, self, "on_source")  # type: ignore[arg-type]  # not as it says

    @property
    def window(self) -> ShelvesWindow:
        """Made when it is first asked for."""
        if self.shown_window is None:
            from app.ui.shelves.shelves_window import ShelvesWindow

            self.shown_window = ShelvesWindow(
                self._shelves,
                self._reader.reading,
                self._room,
                self._kept_bytes,
                self._is_kept,
                self._services.shelf_vectors,
                self._shelf_of_current,
                self._parent,
            )
            self.shown_window.use_requested.connect(self._on_use_requested)
            self._reader.changed.connect(self.shown_window.apply)
            self.shown_window.file_opened.connect(self._on_file_opened)
        return self.shown_window

    def show_window(self) -> None:
        self.window.come_up()
        self.window.apply()

    def open_for_current(self) -> None:
        if view := self._tabs.current:
            self._open_menu(view)

    def palette_entries(self) -> Iterator[tuple[str, str, bool, Callable[[], object]]]:
        """Each shelf's id and name, whether this chat has it, and what switches that."""
        view = self._tabs.current
        if view is None or view.notebook or not view.session.is_loaded:
            return
        chosen = view.session.chat.shelf_id
        for state in self._shelves.states:
            shelf, is_on = state.shelf, state.shelf.id == chosen
            yield shelf.id, shelf.name, is_on, partial(view.session.set_shelf, "" if is_on else shelf.id)

    # What is shown

    def _show_all(self) -> None:
        states, projects = self._shelves.states, self._services.projects.all
        titles = {one.shelf.chat_id: tr("Shelf: {name}", name=one_line(one.shelf.name)) for one in states}
        titles |= {one.chat_id: tr("Project: {name}", name=one_line(one.folder)) for one in projects}
        self.titles_changed.emit(titles)
        for view in self._tabs.views:
            self._show(view)

    def _show(self, view: ChatView) -> None:
        state = self._shelves.state(view.session.shelf.id)
        set_sources(view, partial(self._is_source, view) if state else None)
        if state is None:
            view.composer.shelf.apply("", "")
            return
        shelf, room = state.shelf, self._room()
        is_whole = self._shelves.is_whole(shelf.id, room)
        reading = self._reader.reading(shelf.chat_id)
        use = use_text(state, reading, room, is_whole=is_whole, is_kept=self._is_kept())
        vectors = self._services.shelf_vectors
        found = "" if is_whole else vectors_text(vectors.progress(shelf.id), vectors.trouble)
        view.composer.shelf.apply(shelf.name, "\n".join(filter(None, (contents_text(state, 0), use, found))))

    def _room(self) -> int:
        model = self._services.engine.model
        return model.max_sequence_tokens if model else 0

    def _is_kept(self) -> bool:
        return self._services.preferences.settings.keeps_cells

    def _kept_bytes(self, shelf: Shelf) -> int:
        return self._services.cells.size_of(shelf.chat_id)

    # Sources

    def _is_source(self, view: ChatView, number: int) -> bool:
        """A passage of this chat has that number, or a file of a shelf that stands before it."""
        chat = view.session.chat
        if any(number_of(one) == number for turn in chat.turns for one in turn.attachments):
            return True
        shelf_id = view.session.shelf.id
        state = self._shelves.state(shelf_id)
        is_whole = state and self._shelves.is_whole(shelf_id, self._room())
        return bool(state and is_whole and any(one.number == number for one in state.files))

    @Slot(QUrl)
    def on_source(self, url: QUrl) -> None:
        """A number in an answer of the current chat was clicked."""
        view = self._tabs.current
        if view and url.path().isdecimal():
            spawn(
                self._open_source(
                    view, int(url.path()), url.fragment(QUrl.ComponentFormattingOption.FullyDecoded)
                )
            )

    async def _open_source(self, view: ChatView, number: int, said: str) -> None:
        """A passage that came with a message; else a document, where it says most of the sentence."""
        chat, shelf_id = view.session.chat, view.session.shelf.id
        sentence = sentence_before(said, number) or said
        attached = (one for turn in chat.turns for one in turn.attachments)
        passage = next((one for one in attached if number_of(one) == number), None)
        if passage:
            await self._open_passage(shelf_id, passage, sentence)
            return
        found = await self._shelves.text_of(shelf_id, number)
        place = await self._shelves.best_passage(shelf_id, number, sentence)
        if found:
            start, end = (place.start, place.end) if place else (0, 0)
            self._show_reader().show_file(*found, *narrowed(found[1], start, end, sentence))

    async def _open_passage(self, shelf_id: str, passage: Attachment, sentence: str) -> None:
        """In its file if that still has it, else alone."""
        name, state = name_of(passage), self._shelves.state(shelf_id)
        number = next((one.number for one in state.files if one.name == name), 0) if state else 0
        found = await self._shelves.text_of(shelf_id, number)
        text = found[1] if found else ""
        start = text.find(passage.text)
        if start < 0:
            text, start = passage.text, 0
        place = narrowed(text, start, start + len(passage.text), sentence)
        self._show_reader().show_file(name, text, *place)

    @Slot(object, object)
    def _on_file_opened(self, shelf: Shelf, file: ShelfFile) -> None:
        spawn(self._open_file(shelf, file))

    async def _open_file(self, shelf: Shelf, file: ShelfFile) -> None:
        if found := await self._shelves.text_of(shelf.id, file.number):
            self._show_reader().show_file(*found)
            self.window.close()  # it would stand over the reader
            self._parent.activateWindow()

    def _shelf_of_current(self) -> str | None:
        view = self._tabs.current
        takes_one = view and view.session.is_loaded and not view.notebook
        return view.session.chat.shelf_id if view and takes_one else None

    @Slot(object)
    def _on_use_requested(self, shelf: Shelf) -> None:
        if view := self._tabs.current:
            view.session.set_shelf(shelf.id)
            self.window.close()
            view.setFocus()

    def _show_reader(self) -> Reader:
        """Beside the chats; made when it is first asked for."""
        if self.reader is None:
            around = self._tabs.parentWidget()
            assert isinstance(around, QSplitter)
            beside = QSplitter(Qt.Orientation.Horizontal)
            beside.setHandleWidth(around.handleWidth())
            beside.setChildrenCollapsible(False)
            place = around.indexOf(self._tabs)
            sizes = around.sizes()
            self.reader = Reader(beside)
            self.reader.closed.connect(self._tabs.focus_current)
            beside.addWidget(self._tabs)
            beside.addWidget(self.reader)
            beside.setStretchFactor(0, 1)
            around.insertWidget(place, beside)
            around.setStretchFactor(place, 1)
            around.setSizes(sizes)
            beside.setSizes([max(1, sizes[place] - WIDTH), WIDTH])
            self._tabs.show()
            beside.show()
        return self.reader

    # What is chosen

    def _open_menu(self, view: ChatView) -> None:
        if view.notebook or not view.session.is_loaded:
            return
        button, chosen = view.composer.shelf, view.session.chat.shelf_id
        menu = Menu(button)
        self._add(menu, view, tr("&No shelf"), "", not self._shelves.state(chosen))
        menu.addSeparator()
        for state in self._shelves.states:
            self._add(menu, view, as_tab_text(state.shelf.name), state.shelf.id, state.shelf.id == chosen)
        menu.addSeparator()
        menu.addAction(tr("&Manage shelves…"), self.show_window)
        menu.aboutToHide.connect(menu.deleteLater)
        height = menu.sizeHint().height()
        menu.popup(button.mapToGlobal(QPoint(0, -height)))

    def _add(self, menu: Menu, view: ChatView, text: str, shelf_id: str, is_chosen: bool) -> None:
        action = menu.addAction(text, partial(view.session.set_shelf, shelf_id))
        action.setCheckable(True)
        action.setChecked(is_chosen)

    def _on_view_made(self, view: ChatView) -> None:
        view.composer.shelf.requested.connect(partial(self._open_menu, view))
        view.settings_shown.connect(self._show)
        self._show(view)
