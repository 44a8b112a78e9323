"""The settings window: pages of rows made from a list, and a search over all. Not modal. GUI thread.

Choices apply at once. Knows the settings' names and values, not their effects.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any

from pydantic import ValidationError
from PySide6.QtCore import QSize, Qt, QTimer, Slot
from PySide6.QtGui import QAction, QHideEvent, QKeyEvent, QKeySequence, QShortcut, QShowEvent
from PySide6.QtWidgets import (
    QDialog,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QWidget,
)

from app.look.buttons import dialog_button
from app.look.icons import icon
from app.look.layouts import hbox, vbox
from app.look.plain_text import PlainLabel, search_field, short_path
from app.look.popups import come_up, resize_to_fit
from app.look.strip import Offer, Strip, StripLook
from app.look.words import locale, sentences, tr, tr_said
from app.models.hub_address import TOKEN_BEGINS
from app.services.model_hub import ModelHub
from app.services.preferences import Preferences
from app.services.tools import ToolService
from app.ui.base.actions import plain
from app.ui.base.fuzzy import fold
from app.ui.base.notices import ERROR
from app.ui.base.option_row import OptionRow, Row, Section
from app.ui.base.page_panel import scrolled
from app.ui.base.setting import CommandRow, Facts, HubToken, Remark, Setting, SettingPage, field_of
from app.ui.base.setting_controls import COMBO_WIDTH
from app.ui.base.setting_list import PAGES
from app.ui.engine.model_loading import ModelLoading
from app.ui.settings.shortcut_table import ShortcutTable
from app.ui.settings.shortcuts import Shortcuts
from app.ui.settings.tools_page import ToolsPage


class RemarkRow(Row):
    def __init__(self, text: str, parent: QWidget) -> None:
        super().__init__("", tr(text), parent)
        vbox(self.sentence, on=self, margins=(0, 6, 0, 10))


class ActionRow(Row):
    """A command of the menus, to be found among the settings, too."""

    def __init__(self, action: QAction, parent: QWidget) -> None:
        super().__init__(plain(action.text()), tr("{words}.", words=action.statusTip()), parent)
        self.button = dialog_button(tr("Open"), action.trigger, self)
        self.button.setAccessibleName(plain(action.text()))
        hbox(
            (vbox(self.title, self.sentence, spacing=2), 1),
            (self.button, 0, Qt.AlignmentFlag.AlignVCenter),
            on=self,
            margins=(0, 10, 0, 10),
            spacing=12,
        )


class TokenRow(Row):
    """The token goes to the keyring and is not shown again."""

    def __init__(self, hub: ModelHub, parent: QWidget) -> None:
        sentence = tr("For models whose terms must be accepted. Stored in the system's keyring.")
        super().__init__(tr("Hugging Face token"), sentence, parent)
        self._hub = hub
        self.field = QLineEdit(self)
        self.field.setFixedWidth(COMBO_WIDTH)
        self.field.setEchoMode(QLineEdit.EchoMode.Password)
        self.field.setInputMethodHints(Qt.InputMethodHint.ImhSensitiveData)
        self.field.setAccessibleName(tr("Hugging Face token"))
        self.forget = dialog_button(tr("Forget"), self._on_forget, self)
        self.note = PlainLabel(parent=self, tone="muted", wraps=True)
        self.note.hide()
        self._lay_out()
        self.field.editingFinished.connect(self._on_entered)
        hub.token_changed.connect(self._show_state)
        hub.token_noted.connect(self._show_note)
        self._show_state()

    def _on_entered(self) -> None:
        if token := self.field.text().strip():
            self.field.clear()
            self._hub.set_token(token)

    def _on_forget(self) -> None:
        self.field.setFocus()  # the button goes
        self._hub.set_token("")

    @Slot()
    def _show_state(self) -> None:
        has_token = self._hub.has_token
        self.field.setPlaceholderText(tr("Token saved") if has_token else TOKEN_BEGINS)
        self.forget.setVisible(has_token)

    @Slot(object)
    def _show_note(self, text: str) -> None:
        self.note.say(tr_said(text))

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._hub.look_for_token()

    def _lay_out(self) -> None:
        top = Qt.AlignmentFlag.AlignTop
        hbox(
            (vbox(self.title, self.sentence, self.note, spacing=2), 1),
            (self.forget, 0, top),
            (self.field, 0, top),
            on=self,
            margins=(0, 10, 0, 10),
            spacing=12,
        )


def default_text(setting: Setting, default: Any) -> str:
    return tr("Default: {value}.", value=_in_words(setting, default))


def _in_words(setting: Setting, value: Any) -> str:
    if choice := next((choice for choice in setting.choices if choice.value == value), None):
        return tr(choice.label)
    if setting.named:
        return setting.named()[value]
    if setting.folder:
        return short_path(setting.folder())
    if isinstance(value, bool) or setting.on:
        return tr("on") if value else tr("off")
    if not value and setting.word:
        return tr(setting.word).lower()
    if isinstance(value, int) and setting.is_grouped:
        return locale().toString(value)
    return str(value)


SIZE, MIN_SIZE = QSize(900, 680), QSize(640, 420)
NAV_WIDTH, PAGE_WIDTH, MARGIN = 190, 640, 24
SHORTCUTS, TOOLS = "shortcuts", "tools"
RELOAD = StripLook((MARGIN, 10, MARGIN, 10), spacing=12, wraps=True, is_foot=True, has_quiet_buttons=False)


class SettingsWindow(QDialog):
    def __init__(
        self,
        preferences: Preferences,
        models: ModelLoading,
        shortcuts: Shortcuts,
        facts: Callable[[], Facts],
        hub: ModelHub,
        tools: ToolService,
        parent: QWidget,
    ) -> None:
        super().__init__(parent)
        self._preferences = preferences
        self._models = models
        self._facts = facts
        self._hub = hub
        self._page = 0  # the page selected last
        self.search = search_field(tr("Search settings"), self)
        self.nav = QListWidget(self)
        self._shortcuts = shortcuts
        self._tools = tools
        self._commands = {command.name: command for command in shortcuts.commands()}
        self._sections: dict[str, _Section] = {}  # by the names of their pages, those that are made
        self.reload, self.problem = Strip(RELOAD, self), Strip(ERROR, self)
        self.setWindowTitle(tr("Settings"))
        self.setMinimumSize(MIN_SIZE)
        resize_to_fit(self, SIZE)
        self._lay_out()
        self._connect()
        self._show_values()
        self.show_page(PAGES[0].name)

    @cached_property
    def shortcuts(self) -> ShortcutTable:
        return ShortcutTable(self._shortcuts, self)

    @cached_property
    def tools(self) -> ToolsPage:
        return ToolsPage(self._tools, self._preferences, self)

    @property
    def sections(self) -> "dict[str, _Section]":
        """All of them, in the order of their pages. A page that was never shown is made."""
        for page in PAGES:
            self._make(page)
        return {page.name: self._sections[page.name] for page in PAGES}

    @property
    def rows(self) -> dict[str, OptionRow]:
        """All of them, by the names of the settings."""
        return _setting_rows(self.sections.values())

    def _make(self, page: SettingPage) -> None:
        """When it is first shown: to make all takes longer than a window may stand still."""
        if page.name in self._sections:
            return
        before = [other for other in PAGES[: PAGES.index(page)] if other.name in self._sections]
        self._sections[page.name] = section = self._section(page)
        section.hide()
        section.setMaximumWidth(PAGE_WIDTH if page.name != SHORTCUTS else 16_777_215)
        self._column.insertWidget(1 + len(before), section, 1 if page.name == SHORTCUTS else 0)
        self._show_values_of(section)

    def show_page(self, name: str) -> None:
        self.search.clear()
        self.nav.setCurrentRow([page.name for page in PAGES].index(name))

    def show_setting(self, name: str) -> None:
        """Its page, scrolled to it, with the focus on its control."""
        page = next(
            page for page in PAGES for row in page.rows if isinstance(row, Setting) and row.name == name
        )
        self.show_page(page.name)
        row = _setting_rows(self._sections.values())[name]
        row.widget.setFocus(Qt.FocusReason.ShortcutFocusReason)
        QTimer.singleShot(0, row, lambda: self._scroll.ensureWidgetVisible(row))  # once it has its place

    def come_up(self) -> None:
        self._show_values()
        come_up(self)

    @Slot(str, object)
    def _on_chosen(self, name: str, value: object) -> None:
        row = _setting_rows(self._sections.values())[name]
        if row.setting.check and (problem := row.setting.check(value)):
            row.show_problem(problem)
            return
        try:
            self._preferences.set(name, value)
        except ValidationError as error:
            row.show_problem(error.errors()[0]["msg"])

    @Slot()
    def _show_values(self) -> None:
        """All of them: one may be mentioned in another's note."""
        self._show_values_of(*self._sections.values())
        if self._models.needs_reload:
            text = tr("Changes take effect when the model is reloaded. Running answers continue afterwards.")
            self.reload.say(text, Offer(tr("Reload model"), self._models.reload, can_be_left=True))
        else:
            self.reload.clear()

    def _show_values_of(self, *sections: "_Section") -> None:
        facts = self._facts()
        for name, row in _setting_rows(sections).items():
            value, default = self._preferences.value(name), field_of(name).default
            note = row.setting.note(facts) if row.setting.note else ""
            told = (default_text(row.setting, default), note) if value != default else (note,)
            row.apply(value, sentences(*filter(None, told)), is_own=value != default)
            row.show_problem("")

    # Pages and search

    @Slot()
    def _show_page(self) -> None:
        if self.nav.currentRow() < 0:
            return
        self._page = self.nav.currentRow()
        self.search.clear()
        chosen = PAGES[self._page]
        self._make(chosen)
        for name, section in self._sections.items():
            section.search(())
            section.setVisible(name == chosen.name)
        if SHORTCUTS in self._sections:
            self.shortcuts.filter("")
        if TOOLS in self._sections:
            self.tools.show()
        self._scroll.verticalScrollBar().setValue(0)

    @Slot()
    def _search(self) -> None:
        words = fold(self.search.text()).split()
        self._nothing.hide()
        if not words:
            self.nav.setCurrentRow(self._page)
            self._show_page()
            return
        self.nav.setCurrentRow(-1)
        sections, has_found = self.sections, False
        for section in sections.values():
            is_found = section.search(words)
            section.setVisible(is_found)
            has_found |= is_found
        self.tools.setVisible(sections[TOOLS].is_called(words))
        is_page = sections[SHORTCUTS].is_called(words)
        if self.shortcuts.filter("" if is_page else self.search.text()):
            sections[SHORTCUTS].show()
        elif not has_found:
            self._nothing.show()

    def _section(self, page: SettingPage) -> "_Section":
        section = _Section(tr(page.title), self)
        if page.name == TOOLS:
            section.column.addWidget(self.tools)
        for row in page.rows:
            if made := self._row(row, section):
                section.add(made)
        if page.name == SHORTCUTS:
            section.column.addWidget(self.shortcuts, 1)  # all the remaining room
        return section

    def _row(self, row: Setting | Remark | CommandRow | HubToken, parent: QWidget) -> Row | None:
        if isinstance(row, Remark):
            return RemarkRow(row.text, parent)
        if isinstance(row, HubToken):
            return TokenRow(self._hub, parent)
        if isinstance(row, CommandRow):
            command = self._commands.get(row.name)
            return ActionRow(command.action, parent) if command else None
        made = OptionRow(row, field_of(row.name), parent)
        made.chosen.connect(self._on_chosen)
        made.reset_requested.connect(self._preferences.reset)
        return made

    def _lay_out(self) -> None:
        self._nothing = PlainLabel(tr("No setting matches."), self, tone="muted")
        self._nothing.hide()
        self._dress_nav()
        page = QWidget()
        self._column = vbox(self._nothing, on=page, margins=(MARGIN, 16, MARGIN, MARGIN), spacing=16)
        self._column.addStretch()
        self._scroll = scrolled(page, self)
        hbox(
            vbox(self.search, (self.nav, 1), margins=12),
            (vbox(self.problem, (self._scroll, 1), self.reload, spacing=0), 1),
            on=self,
            spacing=0,
        )

    def _dress_nav(self) -> None:
        self.search.setFixedWidth(NAV_WIDTH)
        self.nav.setFixedWidth(NAV_WIDTH)
        self.nav.setObjectName("nav")
        self.nav.setAccessibleName(tr("Pages"))
        for page in PAGES:
            self.nav.addItem(QListWidgetItem(icon(page.icon), tr(page.title)))

    def _connect(self) -> None:
        self.search.textChanged.connect(self._search)
        self.nav.currentRowChanged.connect(self._show_page)
        self._preferences.changed.connect(self._show_values)
        self._models.changed.connect(self._show_values)
        QShortcut(QKeySequence(QKeySequence.StandardKey.Find), self, self.search.setFocus)

    def hideEvent(self, event: QHideEvent) -> None:
        """Commits what was typed last."""
        focused: QWidget | None = self.focusWidget()
        if focused is not None:
            focused.clearFocus()
        self.problem.clear()
        super().hideEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape ends the search first, then closes; what is half typed in a field is not used."""
        is_escape = event.key() == Qt.Key.Key_Escape
        if is_escape and self.search.text():
            self.search.clear()
            self.search.setFocus()
            return
        if is_escape:
            self._show_values()
        super().keyPressEvent(event)


class _Section(Section):
    """A page, which the search looks through."""

    def __init__(self, title: str, parent: QWidget) -> None:
        super().__init__(title, (), parent, points=5, gap=8)
        self._title = fold(title)

    def is_called(self, words: Sequence[str]) -> bool:
        return bool(words) and all(word in self._title for word in words)

    def search(self, words: Sequence[str]) -> bool:
        """Shows the rows with these words, or all rows if the page's title matches."""
        wanted = () if self.is_called(words) else words
        found = [row.search(wanted) for row in self.rows if isinstance(row, Row)]
        return any(found)


def _setting_rows(sections: "Iterable[_Section]") -> dict[str, OptionRow]:
    rows = (row for section in sections for row in section.rows)
    return {row.setting.name: row for row in rows if isinstance(row, OptionRow)}
