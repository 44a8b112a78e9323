"""What menus and the bar do to tabs: move, pin, rename, fork and close them, split the view. GUI thread."""

from collections.abc import Callable, Iterable
from functools import partial

from PySide6.QtCore import QObject, QPoint, Qt, Slot

from app.bridge.workspace import Workspace
from app.look.popups import Menu
from app.look.words import tr, tr_n
from app.ui.base.notices import UndoToast
from app.ui.tabs.chat_tabs import ChatTabs
from app.ui.tabs.tab import Tab


class TabCommands(QObject):
    """`say` shows one short sentence for a moment."""

    def __init__(
        self,
        tabs: ChatTabs,
        workspace: Workspace,
        undo: UndoToast,
        say: Callable[[str], object],
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._tabs = tabs
        self._workspace = workspace
        self._undo = undo
        self._say = say
        bar = tabs.strip.bar
        bar.close_requested.connect(lambda index: self.close(tabs.tabs[index]))
        bar.keep_requested.connect(lambda index: workspace.keep(tabs.tabs[index].session))
        bar.rename_requested.connect(lambda index: self.rename(tabs.tabs[index]))
        bar.menu_requested.connect(self._on_menu_requested)

    def on_current(self, act: Callable[[Tab], object]) -> None:
        if tab := self._tabs.current_tab:
            act(tab)

    # One tab

    def show_next(self, step: int, tab: Tab) -> None:
        """The one `step` places to the right, wrapping around."""
        tabs = self._tabs.tabs_in_bar
        self._workspace.set_current(tabs[(tabs.index(tab) + step) % len(tabs)].session)

    def show_number(self, number: int) -> None:
        """From the left, beginning with 1."""
        for tab in self._tabs.tabs_in_bar[number - 1 : number]:
            self._workspace.set_current(tab.session)

    def move(self, step: int, tab: Tab) -> None:
        """Itself, `step` places to the right."""
        index = self._workspace.move(tab.session, self._tabs.tabs.index(tab) + step)
        self._tabs.take_place(tab, index)

    def toggle_pin(self, tab: Tab) -> None:
        self._workspace.set_pinned(tab.session, not self._workspace.is_pinned(tab.session))

    def rename(self, tab: Tab) -> None:
        self._workspace.set_current(tab.session)
        edit = self._tabs.strip.bar.edit_title(self._tabs.tabs.index(tab))
        edit.committed.connect(tab.session.rename)
        edit.left_by_key.connect(self._tabs.focus_current)

    def fork(self, tab: Tab) -> None:
        self._workspace.fork(tab.session)

    def open_settings(self, tab: Tab) -> None:
        self._workspace.set_current(tab.session)
        if self._tabs.current:
            self._tabs.current.composer.settings.open_settings()

    def open_tools(self, tab: Tab) -> None:
        self._workspace.set_current(tab.session)
        view = self._tabs.current
        if view and not view.notebook:
            view.composer.tools.open_tools()

    def close(self, tab: Tab) -> None:
        if self._can_close(tab):
            self._workspace.close(tab.session)
        else:
            self._say(tr("Pinned tabs stay open. Unpin this one, or close it from its menu."))

    def close_others(self, tab: Tab) -> None:
        self._close_all(self._others(tab))

    def close_right_of(self, tab: Tab) -> None:
        self._close_all(self._right_of(tab))

    # The view

    def toggle_window(self) -> None:
        """The chat of the active window goes to a window of its own, or back."""
        if view := self._tabs.current:
            is_out, workspace = self._workspace.is_out(view.session), self._workspace
            (workspace.move_back if is_out else workspace.move_out)(view.session)

    def toggle_split(self) -> None:
        if len(self._workspace.shown) > 1:
            self._workspace.end_split()
        else:
            self._workspace.split()

    def show_other_side(self) -> None:
        """Switches to the other of two chats side by side; splits if there is only one."""
        other = next((shown for shown in self._workspace.shown if shown is not self._workspace.current), None)
        if other:
            self._workspace.set_current(other)
        else:
            self._workspace.split()

    # The bar

    @Slot(int, QPoint)
    def _on_menu_requested(self, index: int, place: QPoint) -> None:
        """Use `popup`: `exec` would stop every coroutine."""
        tab, workspace = self._tabs.tabs[index], self._workspace
        menu = Menu(self._tabs)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)

        def add(text: str, act: Callable[[], object], *, is_enabled: bool = True) -> None:
            action = menu.addAction(text)
            action.setEnabled(is_enabled)
            action.triggered.connect(lambda _checked=False: act())

        if tab.session.is_preview:
            add(tr("&Keep tab open"), partial(workspace.keep, tab.session))
        add(tr("&Rename…"), partial(self.rename, tab))
        pin = tr("Un&pin tab") if workspace.is_pinned(tab.session) else tr("&Pin tab")
        add(pin, partial(self.toggle_pin, tab))
        add(tr("Show in split &view"), partial(workspace.show_beside, tab.session))
        add(tr("Move to its own &window"), partial(workspace.move_out, tab.session))
        menu.addSeparator()
        add(tr("&Fork chat"), partial(self.fork, tab))
        add(tr("Chat &settings…"), partial(self.open_settings, tab))
        menu.addSeparator()
        add(tr("&Close chat"), partial(workspace.close, tab.session))
        add(tr("Close &others"), partial(self.close_others, tab), is_enabled=bool(self._others(tab)))
        add(
            tr("Close to the ri&ght"), partial(self.close_right_of, tab), is_enabled=bool(self._right_of(tab))
        )
        workspace.closed.connect(menu.close)
        menu.popup(place)

    # Closing

    def _can_close(self, tab: Tab) -> bool:
        return not self._workspace.is_pinned(tab.session)

    def _others(self, tab: Tab) -> list[Tab]:
        """The other tabs that can be closed."""
        return [other for other in self._tabs.tabs_in_bar if other is not tab and self._can_close(other)]

    def _right_of(self, tab: Tab) -> list[Tab]:
        tabs = self._tabs.tabs
        return [other for other in self._others(tab) if tabs.index(other) > tabs.index(tab)]

    def _close_all(self, tabs: Iterable[Tab]) -> None:
        """Together, so that one undo brings them back."""
        closing = [tab.session for tab in tabs]
        num_kept = sum(not session.is_blank for session in closing)
        with self._tabs.all_at_once():
            for session in closing:
                self._workspace.close(session)
        if num_kept > 1:
            text = tr_n("Closed {n} chat.", "Closed {n} chats.", num_kept)
            self._undo.offer(text, partial(self._reopen, num_kept))

    def _reopen(self, num_chats: int) -> None:
        shown = self._workspace.current
        for _ in range(num_chats):
            self._workspace.reopen()
        if shown:
            self._workspace.set_current(shown)
