"""Chat > Tabs: switch, move, pin and close tabs. GUI thread."""

from functools import partial

from PySide6.QtWidgets import QMenu, QWidget

from app.look.words import tr
from app.ui.base.actions import command, make_action, submenu
from app.ui.tabs.tab_commands import TabCommands

NUM_NUMBERED = 9


def tabs_menu(commands: TabCommands, window: QWidget) -> QMenu:
    new, of_current = partial(command, window), partial(partial, commands.on_current)
    return submenu(
        window,
        tr("&Tabs"),
        new("tab.next", of_current(partial(commands.show_next, 1))),
        new("tab.previous", of_current(partial(commands.show_next, -1))),
        new("tab.move-right", of_current(partial(commands.move, 1))),
        new("tab.move-left", of_current(partial(commands.move, -1))),
        None,
        new("tab.pin", of_current(commands.toggle_pin)),
        new("tab.rename", of_current(commands.rename)),
        new("tab.close-others", of_current(commands.close_others)),
        new("tab.close-right", of_current(commands.close_right_of)),
        None,
        *(
            make_action(
                window,
                f"tab.{number}",
                tr("Tab &{number}", number=number),
                tr("Show tab {number}", number=number),
                partial(commands.show_number, number),
                f"Alt+{number}",
            )
            for number in range(1, NUM_NUMBERED + 1)
        ),
    )
