"""The page of one project: what its chats begin with, what new ones have, and its facts. GUI thread.

What is chosen applies at once; instructions are saved after a pause.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

from PySide6.QtCore import QEvent, QSize, QTimer, Signal, Slot
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QDialog, QLineEdit, QListView, QWidget

from app.bridge.tasks import spawn
from app.chats.project import MAX_FACT_CHARS, Fact, Project
from app.look.buttons import dialog_button
from app.look.file_dialog import SAVED, choose_file, file_dialog
from app.look.layouts import STRETCH, hbox, vbox
from app.look.plain_text import PlainLabel, heading, heading_font, one_line
from app.look.popups import come_up, resize_to_fit
from app.look.words import mark, sentences, tr, tr_n, tr_said
from app.services.services import Services
from app.tools.server_config import BUILT_IN
from app.ui.base.notices import UndoToast
from app.ui.base.option_row import RESET_SIDE, OptionRow
from app.ui.base.proportions import MAX_WIDTH
from app.ui.base.setting import Field, Setting
from app.ui.base.setting_controls import NamedControl
from app.ui.base.titles import shown_title
from app.ui.projects.fact_list import FactList
from app.ui.settings.tool_choice import ALL, chosen_text, key_of

SIZE, MIN_SIZE, LEFT = QSize(980, 660), QSize(800, 520), 340
MIN_PROPOSED_HEIGHT, MAX_PROPOSED_HEIGHT = 56, 170
SAVED_AFTER_MS = 600
OTHER_SHELF = "…"
OPTIONS = (
    Setting("instructions", mark("Instructions"), "", mark("What every chat here begins with"), is_long=True),
    Setting("shelf_id", mark("Documents"), "", named=dict),
    Setting("model_path", mark("Model"), "", named=dict),
    Setting("tools", mark("Tools"), "", named=dict),
    Setting("proposes", mark("Let the model propose facts"), ""),
)


def facts_text(project: Project, room: int) -> str:
    if not project.facts:
        return tr("None yet. Write one below, or accept what the model proposes.")
    told, left_out = len(project.told(room)), project.num_left_out(room)
    words = tr_n("The model is told {n} fact.", "The model is told {n} facts.", told)
    older = tr_n("{n} older fact does not fit.", "{n} older facts do not fit.", left_out) if left_out else ""
    return sentences(words, older)


def with_fact_at(project: Project, name: str, place: int, fact: Fact) -> Project:
    """Undoes that it was deleted from `facts`, or dropped from `proposed`."""
    facts, dropped = getattr(project, name), tuple(one for one in project.dropped if one != fact.text)
    return _with(_with(project, name, (*facts[:place], fact, *facts[place:])), "dropped", dropped)


class ProjectWindow(QDialog):
    source_opened = Signal(object)  # a Fact
    shelves_requested = Signal()
    removed = Signal(object)  # the Project that it was

    def __init__(self, services: Services, parent: QWidget) -> None:
        super().__init__(parent)
        self._services, self._projects = services, services.projects
        self._project = Project("")
        self._written: str | None = None  # instructions that are not saved yet
        self._pause = QTimer(self, singleShot=True, interval=SAVED_AFTER_MS)
        kinds = {"proposes": Field(bool, True)}
        self.options = {
            one.name: OptionRow(one, kinds.get(one.name, Field(str, "")), self, is_compact=True)
            for one in OPTIONS
        }
        self.proposed = FactList(tr("Proposed facts"), self, has_switches=False)
        self.facts = FactList(tr("Facts"), self, has_switches=True)
        self.new = QLineEdit(self)
        self.note = PlainLabel(parent=self, tone="muted", wraps=True)
        self.trouble = PlainLabel(parent=self, tone="danger", wraps=True)
        self.undo = UndoToast(self)
        self._lay_out()
        self._connect()

    def show_project(self, project: Project) -> None:
        self._save_instructions()
        self._project = project
        self.trouble.hide()
        self.options["instructions"].apply(project.instructions, "", is_own=False)
        self._show()
        come_up(self)
        (self.proposed if project.proposed else self.options["instructions"].widget).setFocus()

    # What is shown

    @Slot()
    def apply(self) -> None:
        """Something has changed. The folder may have another name."""
        now = next((one for one in self._projects.all if one.id == self._project.id), None)
        if now is None:
            self.close()
        elif self.isVisible():
            self._project = now
            self._show()

    def _show(self) -> None:
        project, services = self._project, self._services
        self.setWindowTitle(tr("Project: {name}", name=one_line(project.folder)))
        for name, named in self._named().items():
            row, value = self.options[name], _as_chosen(getattr(project, name))
            assert isinstance(row.widget, NamedControl)
            row.widget.show_value("")  # else one that is gone would stay among the others
            row.widget.offer({"": tr("None") if name == "shelf_id" else tr("As in other chats")} | named)
            row.apply(value if name != "shelf_id" or value in named else "", "", is_own=bool(value))
        self.options["proposes"].apply(project.proposes, "", is_own=False)
        self._proposals.setVisible(bool(project.proposed))
        self.proposed.apply(project.proposed, self._title_of)
        self.facts.apply(project.facts[::-1], self._title_of)
        model = services.engine.model
        self.note.setText(facts_text(project, model.max_sequence_tokens if model else 0))
        self._show_buttons()

    @Slot()
    def _show_buttons(self) -> None:
        chosen = self.facts.chosen
        edit, delete, show = self._of_fact
        for button in (edit, delete):
            button.setEnabled(chosen is not None)
        show.setEnabled(chosen is not None and bool(chosen.chat_id))

    def _named(self) -> dict[str, dict[str, str]]:
        """What there is to choose from, with its names."""
        services, tools = self._services, self._project.tools
        shelves = {one.shelf.id: one_line(one.shelf.name) for one in services.shelves.states}
        models = {str(one.path): one_line(one.title) for one in services.model_library.models if one.can_chat}
        models |= {one.model.address: one_line(one.model.title) for one in services.engine if one.model}
        servers = [BUILT_IN, *(one.name for one in services.tools.servers if one.is_enabled)]
        ways = [tools, *((key_of(one, ALL),) for one in servers), tuple(key_of(one, ALL) for one in servers)]
        return {
            "shelf_id": shelves | {OTHER_SHELF: tr("Manage shelves…")},
            "model_path": models,
            "tools": {_as_chosen(keys): one_line(chosen_text(keys)) for keys in ways if keys},
        }

    def _title_of(self, chat_id: str) -> str | None:
        chat = self._services.chat_library.chat(chat_id)
        return shown_title(chat.title) if chat else None

    # What is done

    def _change(self, change: Callable[..., Project], *args: Any, **named: Any) -> None:
        self._projects.change(self._project.folder, change, *args, **named)

    def _choose(self, name: str, value: str | bool = "") -> None:
        if name == "instructions":
            self._written = str(value)
            self._pause.start()
            return
        if value == OTHER_SHELF:
            self._show()
            self.shelves_requested.emit()
            return
        chosen = (
            tuple(str(value).split("\n")) if name == "tools" and value else () if name == "tools" else value
        )
        self._change(_with, name, chosen)

    def _save_instructions(self) -> None:
        written, self._written = self._written, None
        self._pause.stop()
        if written is not None:
            self._change(_with, "instructions", written)

    def _add(self) -> None:
        if text := self.new.text().strip():
            self._change(Project.with_facts, [Fact(text)])
            self.new.clear()

    def _accept(self, fact: Fact | None) -> None:
        if fact:
            self._change(Project.with_accepted, fact.id)

    def _edit(self, name: str, fact: Fact, text: str) -> None:
        if text.strip():
            self._change(Project.with_changed, fact.id, text=text)
        else:
            self._delete(name, fact)

    def _delete(self, name: str, fact: Fact | None) -> None:
        if not fact:
            return
        is_proposed = name == "proposed"
        place = getattr(self._project, name).index(fact)
        if is_proposed:
            self._change(Project.with_dropped, fact.id)
        else:
            self._change(Project.with_changed, fact.id, text="")
        told = tr("Dropped a proposed fact.") if is_proposed else tr("Deleted a fact.")
        self.undo.offer(told, partial(self._change, with_fact_at, name, place, fact))

    def _open_source(self, fact: Fact | None) -> None:
        if fact and fact.chat_id:
            self.source_opened.emit(fact)

    def _import(self) -> None:
        choose_file(self, tr("Import facts"), lambda path: spawn(self._read(path)))

    async def _read(self, path: Path) -> None:
        self.trouble.hide()
        before = self._project.facts
        if num_new := await self._projects.import_facts(self._project.folder, path):
            told = tr_n("Imported {n} fact.", "Imported {n} facts.", num_new)
            self.undo.offer(told, partial(self._change, _with, "facts", before))

    def _export(self) -> None:
        dialog = file_dialog(self, tr("Export facts"), SAVED, "Markdown (*.md)", "JSON (*.json)")
        dialog.setDefaultSuffix("md")
        dialog.selectFile(f"{one_line(self._project.folder)}.md")
        write = partial(self._projects.export_facts, self._project.folder)
        dialog.fileSelected.connect(lambda name: spawn(write(Path(name))))
        dialog.open()

    def _remove(self) -> None:
        self._save_instructions()
        project = self._projects.of(self._project.folder)
        self._projects.remove(self._project.folder)
        self.removed.emit(project)

    def event(self, event: QEvent) -> bool:
        """What was written is saved before anybody looks elsewhere."""
        if event.type() in (QEvent.Type.WindowDeactivate, QEvent.Type.Hide):
            self._save_instructions()
        return super().event(event)

    # Building

    def _lay_out(self) -> None:
        proposed, facts, button = self.proposed, self.facts, partial(dialog_button, parent=self)
        self.setMinimumSize(MIN_SIZE)
        resize_to_fit(self, SIZE)
        self.options["instructions"].widget.setMaximumHeight(MAX_WIDTH)
        proposed.setSizeAdjustPolicy(QListView.SizeAdjustPolicy.AdjustToContents)
        proposed.setMinimumHeight(MIN_PROPOSED_HEIGHT)
        proposed.setMaximumHeight(MAX_PROPOSED_HEIGHT)
        self.new.setPlaceholderText(tr("Another fact"))
        self.new.setAccessibleName(tr("Another fact"))
        self.new.setMaxLength(MAX_FACT_CHARS)
        self.trouble.hide()
        of_proposed = (
            button(tr("&Accept"), lambda: self._accept(proposed.chosen)),
            button(tr("Edi&t"), proposed.edit_chosen),
            button(tr("D&rop"), lambda: self._delete("proposed", proposed.chosen)),
        )
        self._of_fact = (
            button(tr("&Edit"), facts.edit_chosen),
            button(tr("&Delete"), lambda: self._delete("facts", facts.chosen)),
            button(tr("&Show message"), lambda: self._open_source(facts.chosen)),
        )
        add, import_, export = (
            button(tr("Add"), self._add),
            button(tr("&Import…"), self._import),
            button(tr("E&xport…"), self._export),
        )
        remove = button(tr("Turn into a plain &folder"), self._remove)
        self._proposals, left = QWidget(self), QWidget(self)
        of_proposed[0].setProperty("kind", "first")
        title = heading(tr("Proposed facts"), self)
        title.setMinimumHeight(RESET_SIDE)  # as high as the line beside it
        unseen = PlainLabel(tr("No chat is told them before you accept them."), self, "muted", wraps=True)
        vbox(
            title,
            unseen,
            proposed,
            hbox(*of_proposed, STRETCH),
            8,
            on=self._proposals,
        )
        text, shelf, model, tools, proposes = self.options.values()
        proposes.title.setWordWrap(False)
        new = heading(tr("New chats"), self)
        vbox((text, 1), shelf, 4, new, model, tools, 8, hbox(remove, STRETCH), on=left, spacing=10)
        left.setFixedWidth(LEFT)
        head = hbox(heading(tr("Facts"), self), STRETCH, proposes)
        bottom = hbox(*self._of_fact, STRETCH, import_, export)
        right = vbox(self._proposals, head, self.note, (facts, 1), hbox((self.new, 1), add), bottom)
        vbox((hbox(left, (right, 1), spacing=24), 1), self.trouble, on=self, margins=16)
        text.title.setFont(heading_font(self.font()))  # once it has its place: moving it would undo this
        before = [row.widget for row in (text, shelf, model, tools)]
        order = [*before, remove, proposed, *of_proposed, proposes.widget, facts, self.new, add]
        for one, other in pairwise([*order, *self._of_fact, import_, export]):
            QWidget.setTabOrder(one, other)

    def _connect(self) -> None:
        services, proposed, facts = self._services, self.proposed, self.facts
        self._projects.failed.connect(lambda message: self.trouble.say(tr_said(message)))
        for part in (
            self._projects,
            services.shelves,
            services.model_library,
            services.chat_library,
            services.tools,
        ):
            part.changed.connect(self.apply)
        services.engine.loaded.connect(self.apply)
        self._pause.timeout.connect(self._save_instructions)
        for row in self.options.values():
            row.chosen.connect(self._choose)
            row.reset_requested.connect(self._choose)
        self.new.returnPressed.connect(self._add)
        proposed.edited.connect(partial(self._edit, "proposed"))
        proposed.deleted.connect(partial(self._delete, "proposed"))
        facts.switched.connect(lambda fact: self._change(Project.with_changed, fact.id, is_on=not fact.is_on))
        facts.edited.connect(partial(self._edit, "facts"))
        facts.moved.connect(self._show_buttons)
        QShortcut(QKeySequence(QKeySequence.StandardKey.Undo), self, self.undo.undo)
        facts.deleted.connect(partial(self._delete, "facts"))
        for each in (proposed, facts):
            each.source_opened.connect(self._open_source)


def _with(project: Project, name: str, value: Any) -> Project:
    return replace(project, **{name: value})


def _as_chosen(value: str | tuple[str, ...]) -> str:
    """Keys of tools as one value of a choice."""
    return value if isinstance(value, str) else "\n".join(value)
