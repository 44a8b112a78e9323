"""The settings window: pages of rows made from a list, and a search over all. Not modal. GUI thread.

Choices apply at once. Knows the settings' names and values, not their effects.
"""

from collections.abc import Callable, Sequence

from pydantic import ValidationError
from PySide6.QtCore import QEvent, QSize, Qt, QTimer, Slot
from PySide6.QtGui import QFont, QHideEvent, QKeyEvent, QKeySequence, QPaintEvent, QShortcut
from PySide6.QtWidgets import QDialog, QListWidget, QListWidgetItem, QPushButton, QScrollArea, QWidget

from app.look.bars import Foot, paint_lines_between
from app.look.icons import icon
from app.look.layouts import hbox, vbox
from app.look.plain_text import PlainLabel, search_field
from app.look.windows import come_up, resize_to_fit
from app.look.words import tr
from app.services.model_hub import ModelHub
from app.services.preferences import Preferences
from app.services.tools import ToolService
from app.ui.base.fuzzy import fold
from app.ui.base.menu_commands import MenuCommand
from app.ui.base.setting_kinds import CommandRow, Facts, HubToken, Page, Remark, Setting
from app.ui.base.setting_list import PAGES
from app.ui.base.setting_row import ActionRow, RemarkRow, Row, SettingRow
from app.ui.engine.model_loading import ModelLoading
from app.ui.settings.shortcut_table import ShortcutTable
from app.ui.settings.shortcuts import Shortcuts
from app.ui.settings.token_row import TokenRow
from app.ui.settings.tools_page import ToolsPage

SIZE, MIN_SIZE = QSize(900, 680), QSize(640, 420)
NAV_WIDTH, PAGE_WIDTH, MARGIN = 190, 640, 24
SHORTCUTS, TOOLS = "shortcuts", "tools"


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
        self.shortcuts = ShortcutTable(shortcuts, self)
        self.tools = ToolsPage(tools, preferences, self)
        commands = {command.name: command for command in shortcuts.commands()}
        self.sections = {page.name: self._section(page, commands) for page in PAGES}
        self.reload = _ReloadStrip(self)
        self._scroll = QScrollArea(self)
        self.setWindowTitle(tr("Settings"))
        self.setMinimumSize(MIN_SIZE)
        resize_to_fit(self, SIZE)
        self._lay_out()
        self._connect()
        self._show_values()
        self.show_page(PAGES[0].name)

    @property
    def rows(self) -> dict[str, SettingRow]:
        """By the names of the settings."""
        rows = (row for section in self.sections.values() for row in section.rows)
        return {row.setting.name: row for row in rows if isinstance(row, SettingRow)}

    def show_page(self, name: str) -> None:
        self.search.clear()
        self.nav.setCurrentRow([page.name for page in PAGES].index(name))

    def show_setting(self, name: str) -> None:
        """Its page, scrolled to it, with the focus on its control."""
        page = next(
            page for page in PAGES for row in page.rows if isinstance(row, Setting) and row.name == name
        )
        self.show_page(page.name)
        row = self.rows[name]
        row.widget.setFocus(Qt.FocusReason.ShortcutFocusReason)
        QTimer.singleShot(0, row, lambda: self._scroll.ensureWidgetVisible(row))  # once it has its place

    def come_up(self) -> None:
        self._show_values()
        come_up(self)

    @Slot(str, object)
    def _on_chosen(self, name: str, value: object) -> None:
        check = self.rows[name].setting.check
        if check and (problem := check(value)):
            self.rows[name].show_problem(problem)
            return
        try:
            self._preferences.set(name, value)
        except ValidationError as error:
            self.rows[name].show_problem(error.errors()[0]["msg"])

    @Slot()
    def _show_values(self) -> None:
        """All of them: one may be mentioned in another's note."""
        facts = self._facts()
        for name, row in self.rows.items():
            note = row.setting.note(facts) if row.setting.note else ""
            row.apply(self._preferences.value(name), note)
        self.reload.setVisible(self._models.needs_reload)

    # Pages and search

    @Slot()
    def _show_page(self) -> None:
        if self.nav.currentRow() < 0:
            return
        self._page = self.nav.currentRow()
        self.search.clear()
        chosen = PAGES[self._page].name
        for name, section in self.sections.items():
            section.search(())
            section.setVisible(name == chosen)
        self.shortcuts.filter("")
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
        found = [section.search(words) for section in self.sections.values()]
        for section, is_found in zip(self.sections.values(), found, strict=True):
            section.setVisible(is_found)
        self.tools.setVisible(self.sections[TOOLS].is_called(words))
        is_page = self.sections[SHORTCUTS].is_called(words)
        if self.shortcuts.filter("" if is_page else self.search.text()):
            self.sections[SHORTCUTS].show()
        elif not any(found):
            self._nothing.show()

    def _section(self, page: Page, commands: dict[str, MenuCommand]) -> "_Section":
        section = _Section(tr(page.title), self)
        if page.name == TOOLS:
            section.add_first(self.tools)
        for row in page.rows:
            section.add(self._row(row, commands, section))
        if page.name == SHORTCUTS:
            section.add_rest(self.shortcuts)
        return section

    def _row(
        self, row: Setting | Remark | CommandRow | HubToken, commands: dict[str, MenuCommand], parent: QWidget
    ) -> Row | None:
        if isinstance(row, Remark):
            return RemarkRow(row.text, parent)
        if isinstance(row, HubToken):
            return TokenRow(self._hub, parent)
        if isinstance(row, CommandRow):
            return ActionRow(commands[row.name].action, parent) if row.name in commands else None
        made = SettingRow(row, parent)
        made.chosen.connect(self._on_chosen)
        made.reset_requested.connect(self._preferences.reset)
        return made

    def _lay_out(self) -> None:
        self._nothing = PlainLabel(tr("No setting matches."), self, tone="muted")
        self._nothing.hide()
        self._dress_nav()
        page = QWidget()
        column = vbox(self._nothing, on=page, margins=(MARGIN, 16, MARGIN, MARGIN), spacing=16)
        for name, section in self.sections.items():
            section.setMaximumWidth(PAGE_WIDTH if name != SHORTCUTS else 16_777_215)
            column.addWidget(section, 1 if name == SHORTCUTS else 0)
        column.addStretch(1 if SHORTCUTS not in self.sections else 0)
        page.setAutoFillBackground(False)
        self._scroll.setWidget(page)
        self._scroll.setWidgetResizable(True)
        self._scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        hbox(
            vbox(self.search, (self.nav, 1), margins=12),
            (vbox((self._scroll, 1), self.reload, spacing=0), 1),
            on=self,
            spacing=0,
        )

    def _dress_nav(self) -> None:
        self.search.setFixedWidth(NAV_WIDTH)
        self.nav.setFixedWidth(NAV_WIDTH)
        self.nav.setObjectName("nav")
        self.nav.setAccessibleName(tr("Pages"))
        for page in PAGES:
            self.nav.addItem(QListWidgetItem(tr(page.title)))
        self._show_icons()

    def _show_icons(self) -> None:
        for index, page in enumerate(PAGES):
            self.nav.item(index).setIcon(icon(page.icon))

    def _connect(self) -> None:
        self.search.textChanged.connect(self._search)
        self.nav.currentRowChanged.connect(self._show_page)
        self._preferences.changed.connect(self._show_values)
        self._models.changed.connect(self._show_values)
        self.reload.button.clicked.connect(self._models.reload)
        QShortcut(QKeySequence(QKeySequence.StandardKey.Find), self, self.search.setFocus)

    def hideEvent(self, event: QHideEvent) -> None:
        """Commits what was typed last."""
        focused: QWidget | None = self.focusWidget()
        if focused is not None:
            focused.clearFocus()
        super().hideEvent(event)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and self.nav.count():
            self._show_icons()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape ends the search first, then closes."""
        if event.key() == Qt.Key.Key_Escape and self.search.text():
            self.search.clear()
            self.search.setFocus()
        else:
            super().keyPressEvent(event)


class _Section(QWidget):
    """A page: its title, and its rows with lines between them."""

    def __init__(self, title: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.rows: list[Row] = []
        self._title = fold(title)
        head = PlainLabel(title, self)
        font = QFont(head.font())
        font.setPointSizeF(font.pointSizeF() + 5)
        font.setWeight(QFont.Weight.DemiBold)
        head.setFont(font)
        head.setContentsMargins(0, 0, 0, 8)
        self._column = vbox(head, on=self, spacing=0)

    def add(self, row: Row | None) -> None:
        if row:
            self.rows.append(row)
            self._column.addWidget(row)

    def add_first(self, widget: QWidget) -> None:
        self._column.addWidget(widget)

    def add_rest(self, widget: QWidget) -> None:
        """It gets all the remaining room."""
        self._column.addWidget(widget, 1)

    def is_called(self, words: Sequence[str]) -> bool:
        return bool(words) and all(word in self._title for word in words)

    def search(self, words: Sequence[str]) -> bool:
        """Shows the rows with these words, or all rows if the page's title matches."""
        found = [row.search(() if self.is_called(words) else words) for row in self.rows]
        return any(found)

    def paintEvent(self, _event: QPaintEvent) -> None:
        paint_lines_between(self.rows, self)


class _ReloadStrip(Foot):
    """Some settings require a new context: offers to reload."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        words = PlainLabel(
            tr("Changes take effect when the model is reloaded. Running answers continue afterwards."),
            self,
            wraps=True,
        )
        self.button = QPushButton(tr("Reload model"), self)
        self.button.setAutoDefault(False)
        hbox((words, 1), self.button, on=self, margins=(MARGIN, 10, MARGIN, 10), spacing=12)
