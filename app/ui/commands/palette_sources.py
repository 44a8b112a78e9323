"""Entries of the command palette: all commands, the chats, the settings. GUI thread."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QMenuBar

from app.look.language import in_all_languages
from app.look.plain_text import one_line
from app.look.words import tr
from app.ui.base.actions import MenuCommand, commands_of, plain
from app.ui.base.command_list import COMMANDS
from app.ui.commands.palette import PaletteEntry
from app.ui.tabs.chat_tabs import ChatTabs

if TYPE_CHECKING:
    from app.ui.base.setting import Setting, SettingPage

COMMAND, CHAT, SAVED, SETTING, TOOLS, SHELF = "command", "chat", "saved", "setting", "tools", "shelf"
MAX_SAVED = 2_000  # so many can be searched between two keystrokes

# A name that is the same in every run, a title, whether it is on, and what switches that.
Switch = tuple[str, str, bool, Callable[[], object]]
SavedChats = Callable[[], Iterable[tuple[str, str]]]  # chat_id and title of each, the newest first


def command_entries(bar: QMenuBar) -> list[PaletteEntry]:
    return [_of_command(command) for command in commands_of(bar)]


def _of_command(command: MenuCommand) -> PaletteEntry:
    action, words = command.action, COMMANDS.get(command.name)
    text = plain(in_all_languages(words.text)) if words else ""
    return PaletteEntry(
        name=f"{COMMAND} {command.name}",
        text=command.text,
        run=action.trigger,
        detail=" › ".join(command.path),
        keys=command.keys,
        keywords=f"{command.name} {command.tip} {text}",
        is_enabled=action.isEnabled(),
        why_disabled=command.why_disabled,
        is_on=action.isCheckable() and action.isChecked(),
    )


def open_chat_entries(tabs: ChatTabs) -> list[PaletteEntry]:
    return [
        PaletteEntry(
            name=f"{CHAT} {tab.session.chat.id}",
            text=one_line(tab.title),
            run=partial(tabs.show_chat, tab.session.chat.id),
            detail=tr("Open chat"),
        )
        for tab in tabs.tabs
    ]


def saved_chat_entries(
    saved: SavedChats, tabs: ChatTabs, open_chat: Callable[[str], object]
) -> list[PaletteEntry]:
    """The newest chats without a tab; the search over all chats finds the others."""
    open_ids = {tab.session.chat.id for tab in tabs.tabs}
    return [
        PaletteEntry(
            name=f"{SAVED} {chat_id}",
            text=one_line(title),
            run=partial(open_chat, chat_id),
            detail=tr("Saved chat"),
            only_when_asked=True,
        )
        for chat_id, title in islice(saved(), MAX_SAVED)
        if chat_id not in open_ids
    ]


def switch_entries(
    kind: str, text_of: Callable[[str], str], switches: Callable[[], Iterable[Switch]]
) -> list[PaletteEntry]:
    """What can be on or off in the current chat: tools, shelves."""
    return [
        PaletteEntry(
            name=f"{kind} {name}",
            text=text_of(one_line(title)),
            run=switch,
            detail=tr("On or off in this chat"),
            is_on=is_on,
            only_when_asked=True,
        )
        for name, title, is_on, switch in switches()
    ]


def setting_entries(show: Callable[[str], object]) -> list[PaletteEntry]:
    """`show` takes the name of the setting."""
    from app.ui.base.setting import Setting
    from app.ui.base.setting_list import PAGES

    return [
        _of_setting(setting, page, show)
        for page in PAGES
        for setting in page.rows
        if isinstance(setting, Setting)
    ]


def _of_setting(setting: Setting, page: SettingPage, show: Callable[[str], object]) -> PaletteEntry:
    return PaletteEntry(
        name=f"{SETTING} {setting.name}",
        text=tr(setting.label),
        run=partial(show, setting.name),
        detail=tr("Setting › {page}", page=tr(page.title)),
        keywords=f"{setting.name} {in_all_languages(setting.label)} {in_all_languages(setting.sentence)}",
        only_when_asked=True,
    )
