"""Projects in the main window: their page, the line about proposed facts, what a chat was told.

GUI thread.
"""

from __future__ import annotations

from functools import cached_property, partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QSize, Signal, Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QDialog, QWidget

from app.bridge.chat_session import ChatSession
from app.bridge.token_counter import TokenCounter
from app.chats.project import BETWEEN, Fact, Project
from app.look.buttons import dialog_button
from app.look.figures import tokens
from app.look.layouts import STRETCH, hbox, vbox
from app.look.plain_text import PlainLabel, one_line
from app.look.popups import come_up, resize_to_fit
from app.look.strip import Offer
from app.look.words import tr, tr_n
from app.services.services import Services
from app.shelves.documents import with_text_before
from app.ui.base.actions import command
from app.ui.base.long_text_box import LongTextBox
from app.ui.base.notices import UndoToast
from app.ui.base.proportions import MAX_WIDTH
from app.ui.base.setting import Setting
from app.ui.base.titles import shown_title
from app.ui.tabs.chat_tabs import ChatTabs

if TYPE_CHECKING:
    from app.ui.projects.project_window import ProjectWindow
    from app.ui.tabs.chat_view import ChatView


class ChatProjects(QObject):
    source_opened = Signal(str, str)  # ids of a chat and a turn
    shelves_requested = Signal()

    def __init__(self, tabs: ChatTabs, services: Services, undo: UndoToast, parent: QWidget) -> None:
        super().__init__(parent)
        self._tabs, self._services, self._projects = tabs, services, services.projects
        self._undo, self._parent = undo, parent
        self._hidden: set[str] = set()  # ids of proposed facts whose line was dismissed
        self.told = command(parent, "chat.told", self.show_told)
        tabs.view_made.connect(self._on_view_made)
        tabs.current_state_changed.connect(self._show_told)
        self._projects.changed.connect(self._on_changed)

    @cached_property
    def window(self) -> ProjectWindow:
        """Made when it is first asked for."""
        from app.ui.projects.project_window import ProjectWindow

        window = ProjectWindow(self._services, self._parent)
        window.source_opened.connect(self._on_source_opened)
        window.shelves_requested.connect(self.shelves_requested)
        window.removed.connect(self._on_removed)
        return window

    @cached_property
    def told_window(self) -> ToldWindow:
        return ToldWindow(self._services.prompt_tokens, self._parent)

    @property
    def is_page_open(self) -> bool:
        return "window" in self.__dict__ and self.window.isVisible()

    @Slot(str)
    def show_project(self, folder: str) -> None:
        """A plain folder becomes a project."""
        if not self._projects.of(folder):
            self._projects.set(Project(folder))
        if project := self._projects.of(folder):
            self.window.show_project(project)

    def show_told(self) -> None:
        come_up(self.told_window)
        self._show_told()

    @Slot()
    def _show_told(self) -> None:
        if "told_window" in self.__dict__ and self.told_window.isVisible() and self._tabs.current:
            self.told_window.apply(self._tabs.current.session)

    @Slot()
    def _on_changed(self) -> None:
        self._show_told()
        for view in self._tabs.views:
            self._show_proposed(view)

    @Slot(object)
    def _on_view_made(self, view: ChatView) -> None:
        view.changed.connect(self._show_proposed)
        view.facts_line.dismissed.connect(partial(self._dismiss, view))
        view.facts_line.left.connect(view.setFocus)
        self._show_proposed(view)

    @Slot(object)
    def _show_proposed(self, view: ChatView) -> None:
        """Above the composer, in a line that all chats of a project have room for: the text never moves."""
        project, line = view.session.shelf.project, view.facts_line
        line.keep_room(project is not None)
        proposed = project.proposed if project else ()
        if not project or self._hidden.issuperset(one.id for one in proposed):
            line.clear()
            return
        words = tr_n("{n} fact proposed", "{n} facts proposed", len(proposed))
        if words != line.text:
            line.say(words, Offer(tr("Show"), partial(self._show_of, view), can_be_left=True))

    def _show_of(self, view: ChatView) -> None:
        self.show_project(view.session.chat.folder)

    def _dismiss(self, view: ChatView) -> None:
        if project := view.session.shelf.project:
            self._hidden.update(one.id for one in project.proposed)
            self._on_changed()

    @Slot(object)
    def _on_source_opened(self, fact: Fact) -> None:
        self._parent.activateWindow()
        self.source_opened.emit(fact.chat_id, fact.turn_id)

    @Slot(object)
    def _on_removed(self, project: Project) -> None:
        told = tr("“{name}” is a plain folder now. Its chats are kept.", name=one_line(project.folder))
        self._undo.offer(told, partial(self._projects.set, project))


def told_text(session: ChatSession) -> str:
    """What the next prompt has before the chat's first message that is not summed up."""
    chat, text = session.chat, session.shelf.text
    head = chat.messages(chat.num_summed_up())
    return BETWEEN.join(one.content for one in (with_text_before(text, head) if text else head))


class ToldWindow(QDialog):
    def __init__(self, counter: TokenCounter, parent: QWidget) -> None:
        super().__init__(parent)
        self._counter = counter
        self._text = ""
        self.text = LongTextBox(
            Setting("told", "", "", tr("This chat is told nothing before its messages.")), self
        )
        self.text.setReadOnly(True)
        self.text.setMaximumHeight(MAX_WIDTH)
        self.text.setAccessibleName(tr("What this chat was told"))
        self.tokens = PlainLabel(parent=self, tone="muted")
        self.copy = dialog_button(tr("&Copy"), lambda: QGuiApplication.clipboard().setText(self._text), self)
        close = dialog_button(tr("Close"), self.close, self)
        words = tr("The next message begins with this text.")
        vbox(
            PlainLabel(words, self, "muted", wraps=True),
            (self.text, 1),
            hbox(self.tokens, STRETCH, self.copy, close),
            on=self,
            margins=16,
        )
        resize_to_fit(self, QSize(640, 520))
        counter.counted.connect(self._show_tokens)

    def apply(self, session: ChatSession) -> None:
        self._text = told_text(session)
        self.setWindowTitle(tr("What “{title}” was told", title=shown_title(session.chat.display_title)))
        self.text.show_value(self._text)
        self.copy.setEnabled(bool(self._text))
        self._counter.count([self._text])
        self._show_tokens()

    @Slot()
    def _show_tokens(self) -> None:
        count = self._counter.num_tokens(self._text)
        self.tokens.setText(tokens(count.number) if count and count.number else "")
