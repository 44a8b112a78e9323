"""Chat > Tabs: switch, move, pin and close tabs, and split the view. GUI thread."""

from collections.abc import Callable
from functools import partial

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QWidget

from app.look.words import tr
from app.ui.base.actions import Shortcut, make_action, submenu
from app.ui.tabs.chat_tabs import ChatTabs

NUM_NUMBERED = 9


def tabs_menu(tabs: ChatTabs, window: QWidget) -> QMenu:
    def new(name: str, text: str, tip: str, act: Callable[[], object], *keys: Shortcut) -> QAction:
        return make_action(window, f"tab.{name}", text, tip, act, *keys)

    return submenu(
        window,
        tr("&Tabs"),
        new(
            "next",
            tr("&Next tab"),
            tr("Show the next tab"),
            partial(tabs.show_next, 1),
            "Ctrl+Tab",
            "Ctrl+PgDown",
        ),
        new(
            "previous",
            tr("&Previous tab"),
            tr("Show the previous tab"),
            partial(tabs.show_next, -1),
            "Ctrl+Shift+Tab",
            "Ctrl+PgUp",
        ),
        new(
            "move-right",
            tr("Move tab &right"),
            tr("Move this tab one place to the right"),
            partial(tabs.move_current, 1),
            "Ctrl+Shift+PgDown",
        ),
        new(
            "move-left",
            tr("Move tab &left"),
            tr("Move this tab one place to the left"),
            partial(tabs.move_current, -1),
            "Ctrl+Shift+PgUp",
        ),
        None,
        new("pin", tr("P&in tab"), tr("Keep this tab at the left, or let it go again"), tabs.pin_current),
        new("rename", tr("R&ename chat…"), tr("Give this chat another title"), tabs.rename_current),
        new(
            "close-others",
            tr("Close &others"),
            tr("Close all tabs but this one"),
            tabs.close_others_of_current,
        ),
        new(
            "close-right",
            tr("Close to the ri&ght"),
            tr("Close all tabs to the right of this one"),
            tabs.close_right_of_current,
        ),
        None,
        new(
            "split",
            tr("&Split view"),
            tr("Show two chats side by side, or one again"),
            tabs.toggle_split,
            "Ctrl+Alt+\\",
        ),
        new(
            "other-side",
            tr("Ot&her side"),
            tr("Go to the other one of two chats side by side, or show two"),
            tabs.show_other_side,
            "Ctrl+\\",
        ),
        None,
        *(
            new(
                str(number),
                tr("Tab &{number}", number=number),
                tr("Show tab {number}", number=number),
                partial(tabs.show_index, number - 1),
                f"Alt+{number}",
            )
            for number in range(1, NUM_NUMBERED + 1)
        ),
    )
