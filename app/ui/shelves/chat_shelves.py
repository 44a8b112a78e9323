"""Shelves in the main window: that of all, the shelf of each chat, entries of the palette. GUI thread."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QPoint
from PySide6.QtWidgets import QWidget

from app.look.plain_text import as_tab_text
from app.look.popups import Menu
from app.look.words import tr
from app.services.services import Services
from app.shelves.shelf import Shelf
from app.ui.base.actions import command
from app.ui.shelves.shelf_words import contents_text, use_text
from app.ui.tabs.chat_tabs import ChatTabs

if TYPE_CHECKING:
    from collections.abc import Callable

    from app.ui.shelves.shelves_window import ShelvesWindow
    from app.ui.tabs.chat_view import ChatView


class ChatShelves(QObject):
    def __init__(self, tabs: ChatTabs, services: Services, parent: QWidget) -> None:
        super().__init__(parent)
        self._tabs = tabs
        self._services = services
        self._shelves, self._reader = services.shelves, services.shelf_reader
        self._parent = parent
        self._window: ShelvesWindow | None = None
        self.show = command(parent, "tools.shelves", self.show_window)
        self.choose = command(parent, "chat.shelf", self.open_for_current)
        tabs.view_made.connect(self._on_view_made)
        self._shelves.changed.connect(self._show_all)
        self._reader.changed.connect(self._show_all)
        services.engine.loaded.connect(self._show_all)

    @property
    def window(self) -> ShelvesWindow:
        """Made when it is first asked for."""
        if self._window is None:
            from app.ui.shelves.shelves_window import ShelvesWindow

            self._window = ShelvesWindow(
                self._shelves,
                self._reader.reading,
                self._room,
                self._kept_bytes,
                self._is_kept,
                self._parent,
            )
            self._reader.changed.connect(self._window.apply)
        return self._window

    def show_window(self) -> None:
        self.window.come_up()
        self.window.apply()

    def open_for_current(self) -> None:
        if view := self._tabs.current:
            self._open_menu(view)

    def palette_entries(self) -> Iterator[tuple[str, str, bool, Callable[[], object]]]:
        """Of each shelf: its id, its name, whether this chat has it, what switches that."""
        view = self._tabs.current
        if view is None or view.notebook or not view.session.is_loaded:
            return
        chosen = view.session.chat.shelf_id
        for state in self._shelves.states:
            shelf, is_on = state.shelf, state.shelf.id == chosen
            yield shelf.id, shelf.name, is_on, partial(view.session.set_shelf, "" if is_on else shelf.id)

    # What is shown

    def _show_all(self) -> None:
        for view in self._tabs.views:
            self._show(view)

    def _show(self, view: ChatView) -> None:
        state = self._shelves.state(view.session.chat.shelf_id)
        if state is None:
            view.composer.shelf.apply("", "")
            return
        shelf, room = state.shelf, self._room()
        is_whole = self._shelves.is_whole(shelf.id, room)
        reading = self._reader.reading(shelf.id)
        use = use_text(state, reading, room, is_whole=is_whole, is_kept=self._is_kept())
        view.composer.shelf.apply(shelf.name, "\n".join((contents_text(state, 0), use)))

    def _room(self) -> int:
        model = self._services.engine.model
        return model.max_sequence_tokens if model else 0

    def _is_kept(self) -> bool:
        return self._services.preferences.settings.keeps_cells

    def _kept_bytes(self, shelf: Shelf) -> int:
        return self._services.cells.size_of(shelf.chat_id)

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
