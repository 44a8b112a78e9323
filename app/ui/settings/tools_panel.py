"""The tools of one chat: servers and their tools, each with a switch and what it costs. GUI thread.

Knows no server: it shows values, and tells what was switched.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.look.buttons import FoldButton, quiet_button
from app.look.figures import tokens
from app.look.fonts import small_font, tabular
from app.look.layouts import STRETCH, drop, hbox, vbox
from app.look.painted import paint_rounded
from app.look.plain_text import ElidedLabel, PlainLabel, as_tooltip, heading, one_line, search_field
from app.look.tokens import current
from app.look.words import tr, tr_n
from app.ui.base.fuzzy import fold
from app.ui.base.keyboard import chain_down
from app.ui.base.page_panel import PagePanel, scrolled
from app.ui.base.setting_controls import Switch
from app.ui.settings.tool_choice import Keys, has_all, is_chosen, with_all, with_tool

WIDTH, MAX_HEIGHT = 480, 560
MARGIN = 16
SEARCHED_FROM = 8  # so many tools get a search field
FOLDED_FROM = 12  # the tools of a server that has so many are folded, as long as none is on
MAX_TIP_CHARS = 1_000


@dataclass(frozen=True, slots=True)
class ToolLine:
    key: str
    title: str
    description: str = ""
    writes: bool = False
    num_tokens: int | None = None  # of its schema; None: not known, or no model


@dataclass(frozen=True, slots=True)
class ToolGroup:
    """A server. `state` is a sentence, empty for one that works."""

    server: str
    title: str
    tools: tuple[ToolLine, ...] = ()
    state: str = ""
    is_failed: bool = False


class ToolsPanel(PagePanel):
    """Choices apply from the next message on."""

    chosen = Signal(object)  # the keys of what is on

    def __init__(self, parent: QWidget) -> None:
        super().__init__(tr("Tools of this chat"), (WIDTH, MAX_HEIGHT), parent)
        self._groups: tuple[ToolGroup, ...] = ()
        self.sections: list[GroupSection] = []
        self.total = PlainLabel(parent=self, tone="muted")
        self.total.setFont(tabular(small_font()))
        self.search = search_field(tr("Search tools"), self)
        self.search.textChanged.connect(self._filter)
        self._nothing = PlainLabel(tr("No tool matches."), self, tone="muted")
        self.manage = quiet_button(tr("Manage tools…"), self, "bar")
        self._inner = QWidget(self)
        self._column = vbox(on=self._inner, margins=(MARGIN - 8, 4, MARGIN - 8, 8), spacing=4)
        self._column.addStretch(1)
        note = PlainLabel(
            tr("The model can call the tools that are on, from the next message on."),
            self,
            tone="muted",
            wraps=True,
        )
        note.setFont(small_font())
        self._head = vbox(
            hbox(heading(tr("Tools of this chat"), self), STRETCH, self.total),
            note,
            self.search,
            self._nothing,
            margins=(MARGIN, 0, MARGIN, 0),
            spacing=6,
        )
        foot = hbox(self.manage, STRETCH, margins=(MARGIN - 8, 0, MARGIN, 0))
        self._scroll = scrolled(self._inner, self)
        vbox(self._head, (self._scroll, 1), foot, on=self, margins=(1, 12, 1, 8), spacing=6)
        self.hide()

    def apply(
        self,
        groups: Sequence[ToolGroup],
        keys: Keys,
        offered: Sequence[ToolLine],
        *,
        are_listed: bool = False,
    ) -> None:
        """`offered` are those of which the model is told, by name alone if they `are_listed`."""
        if [group.server for group in groups] != [group.server for group in self._groups]:
            self._make_sections(groups)
        self._groups = tuple(groups)
        for section, group in zip(self.sections, groups, strict=True):
            section.apply(group, keys)
        num_on, costs = len(offered), [tool.num_tokens for tool in offered]
        words = [tr_n("{n} tool", "{n} tools", num_on)] if num_on else []
        words += [tokens(sum(filter(None, costs)))] if num_on and None not in costs else []
        words += [tr("too much for this context: listed by name")] if num_on and are_listed else []
        self.total.setText(" · ".join(words))
        num_tools = sum(len(group.tools) for group in groups)
        self.search.setVisible(num_tools >= SEARCHED_FROM or bool(self.search.text()))
        self._filter()

    def open_above(self, widget: QWidget) -> None:
        self.search.clear()
        super().open_above(widget)
        first = next((section.switch for section in self.sections if section.switch.isEnabled()), self.manage)
        (first if self.search.isHidden() else self.search).setFocus()

    def focusNextPrevChild(self, forward: bool) -> bool:
        """Tab goes down the panel, whatever the order in which tools came."""
        chain_down(self)
        return super().focusNextPrevChild(forward)

    def wanted_height(self, _width: int) -> int:
        around = self.sizeHint().height() - self._scroll.sizeHint().height()
        return min(MAX_HEIGHT, around + self._inner.sizeHint().height())

    def _make_sections(self, groups: Sequence[ToolGroup]) -> None:
        drop(*self.sections)
        self.sections = [GroupSection(self._inner) for _ in groups]
        for number, section in enumerate(self.sections):
            section.chosen.connect(self.chosen)
            self._column.insertWidget(number, section)

    def _filter(self) -> None:
        words = fold(self.search.text()).split()
        found = [section.search(words) for section in self.sections]
        self._nothing.setVisible(bool(words) and not any(found))


class GroupSection(QWidget):
    """A server: its name, its state and a switch for all; below it its tools."""

    chosen = Signal(object)  # the keys of what is on in the chat

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._group = ToolGroup("", "")
        self._keys: Keys = ()
        self._is_open: bool | None = None  # None: the user has not chosen
        self._has_chosen = False
        self._is_searching = False
        self.rows: list[ToolRow] = []
        self.fold = FoldButton(self)
        self.fold.clicked.connect(self._on_fold)
        self._state = PlainLabel(parent=self, tone="muted", wraps=True)
        self._state.setFont(small_font())
        self._state.setContentsMargins(26, 0, 8, 4)
        self._count = PlainLabel(parent=self, tone="muted")
        self._count.setFont(tabular(small_font()))
        self.switch = Switch(self)
        self.switch.value_chosen.connect(self._switch_all)
        head = hbox(self.fold, STRETCH, self._count, self.switch, margins=(0, 4, 8, 0))
        self._column = vbox(head, self._state, on=self, spacing=0)

    @property
    def is_open(self) -> bool:
        if self._is_open is not None:
            return self._is_open
        return self._has_chosen or len(self._group.tools) < FOLDED_FROM

    def apply(self, group: ToolGroup, keys: Keys) -> None:
        if [tool.key for tool in group.tools] != [tool.key for tool in self._group.tools]:
            self._make_rows(group)
        self._group, self._keys = group, keys
        on = [is_chosen(keys, tool.key) for tool in group.tools]
        self._has_chosen |= any(on) and not has_all(keys, group.server)
        self.fold.setText(one_line(group.title).replace("&", "&&"))
        self._state.setText(group.state)
        self._state.set_tone("danger" if group.is_failed else "muted")
        self._state.setVisible(bool(group.state))
        self._count.setText(f"{sum(on)}/{len(on)}" if on else "")
        self.switch.setChecked(has_all(keys, group.server) or (bool(on) and all(on)))
        self.switch.setAccessibleName(tr("All tools of {server}", server=group.title))
        self.switch.setToolTip(tr("All tools of {server}, also later ones", server=as_tooltip(group.title)))
        for row, tool, is_on in zip(self.rows, group.tools, on, strict=True):
            row.apply(tool, is_on)
        self._show_rows()

    def search(self, words: Sequence[str]) -> bool:
        """Shows what has these words; without words all, as it was folded."""
        is_called = bool(words) and all(word in fold(self._group.title) for word in words)
        for row in self.rows:
            row.is_found = is_called or row.has(words)
        is_found = any(row.is_found for row in self.rows) or (not self.rows and (not words or is_called))
        self._is_searching = bool(words)
        self._show_rows()
        self.setVisible(is_found)
        return is_found

    def _show_rows(self) -> None:
        is_open = self._is_searching or self.is_open
        for row in self.rows:
            row.setVisible(is_open and row.is_found)
        self.updateGeometry()  # while the panel is hidden nothing else says so
        self.fold.setChecked(self.is_open)
        self.fold.setAccessibleDescription(tr("Expanded") if self.is_open else tr("Collapsed"))

    def _on_fold(self) -> None:
        self._is_open = not self.is_open
        self._show_rows()

    def _switch_all(self, is_on: bool) -> None:
        self.chosen.emit(with_all(self._keys, self._group.server, is_on=is_on))

    def _switch(self, key: str, is_on: bool) -> None:
        tools = [tool.key for tool in self._group.tools]
        self.chosen.emit(with_tool(self._keys, key, tools, is_on=is_on))

    def _make_rows(self, group: ToolGroup) -> None:
        drop(*self.rows)
        self.rows = [ToolRow(self) for _ in group.tools]
        for row in self.rows:
            row.switched.connect(self._switch)
            self._column.addWidget(row)


class ToolRow(QWidget):
    """A click anywhere on it is one on its switch."""

    switched = Signal(str, bool)  # the key

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._tool = ToolLine("", "")
        self.is_found = True
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self._title = ElidedLabel(parent=self)
        self._description = ElidedLabel(parent=self, tone="muted", elide=Qt.TextElideMode.ElideRight)
        self._cost = PlainLabel(parent=self, tone="muted")
        for label in (self._description, self._cost):
            label.setFont(tabular(small_font()))
        self.switch = Switch(self)
        self.switch.value_chosen.connect(lambda is_on: self.switched.emit(self._tool.key, is_on))
        words = vbox(self._title, self._description, spacing=1)
        hbox((words, 1), self._cost, self.switch, on=self, margins=(26, 4, 8, 4), spacing=12)

    def apply(self, tool: ToolLine, is_on: bool) -> None:
        self._tool = tool
        self._title.setText(one_line(tool.title))
        self._description.setText(one_line(tool.description))
        self._description.setVisible(bool(tool.description))
        self._cost.setText("" if tool.num_tokens is None else tokens(tool.num_tokens))
        self.switch.setChecked(is_on)
        self.switch.setAccessibleName(one_line(tool.title))
        self.switch.setAccessibleDescription(one_line(tool.description))
        warning = tr("It can make changes.") if tool.writes else ""
        self.setToolTip(as_tooltip("\n".join((tool.description[:MAX_TIP_CHARS], warning)).strip()))

    def has(self, words: Sequence[str]) -> bool:
        text = fold(f"{self._tool.title} {self._tool.key} {self._tool.description}")
        return all(word in text for word in words)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton and self.rect().contains(event.position().toPoint()):
            self.switch.click()

    def paintEvent(self, _event: QPaintEvent) -> None:
        if self.underMouse():
            paint_rounded(QPainter(self), self.rect(), 6, fill=current().chosen)
