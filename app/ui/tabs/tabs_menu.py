"""Chat > Tabs: switch, move, pin and close tabs, and split the view. GUI thread."""

from functools import partial

from PySide6.QtWidgets import QMenu, QWidget

from app.look.words import tr
from app.ui.base.actions import command, make_action, submenu
from app.ui.tabs.chat_tabs import ChatTabs

NUM_NUMBERED = 9


def tabs_menu(tabs: ChatTabs, window: QWidget) -> QMenu:
    new = partial(command, window)
    return submenu(
        window,
        tr("&Tabs"),
        new("tab.next", partial(tabs.show_next, 1)),
        new("tab.previous", partial(tabs.show_next, -1)),
        new("tab.move-right", partial(tabs.move_current, 1)),
        new("tab.move-left", partial(tabs.move_current, -1)),
        None,
        new("tab.pin", tabs.pin_current),
        new("tab.rename", tabs.rename_current),
        new("tab.close-others", tabs.close_others_of_current),
        new("tab.close-right", tabs.close_right_of_current),
        None,
        *(
            make_action(
                window,
                f"tab.{number}",
                tr("Tab &{number}", number=number),
                tr("Show tab {number}", number=number),
                partial(tabs.show_index, number - 1),
                f"Alt+{number}",
            )
            for number in range(1, NUM_NUMBERED + 1)
        ),
    )
