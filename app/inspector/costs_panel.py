"""What did it cost? The requests of one program or chat in their order, by section, with one piece of advice.

GUI thread.
"""

import asyncio
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from PySide6.QtCore import QModelIndex, Slot
from PySide6.QtWidgets import QWidget

from app.bridge.tasks import spawn
from app.inspector.chat_names import chat_name
from app.inspector.dock_panel import DockPanel
from app.inspector.panel_buttons import SelectButton, bar_button
from app.inspector.prefix_view import num_had, num_prompt_tokens
from app.inspector.recording import Recording
from app.inspector.session_costs import (
    SECTIONS,
    Cost,
    Part,
    advice_on,
    as_json,
    costs_of,
    never_called,
    session_of,
)
from app.look.figures import count, percent, seconds
from app.look.file_dialog import SAVED, file_dialog
from app.look.layouts import STRETCH, hbox, vbox
from app.look.plain_text import PlainLabel
from app.look.table import Column, RowModel, RowTable
from app.look.words import mark, tr
from app.protocol.report import SectionKind
from app.protocol.request import ROWS
from app.system.files import replacing

NOTHING = mark("No request yet. What chats and programs ask, and what that costs, is shown here.")
NOT_TOLD = mark("The prompts are not in this recording, or not told by this engine.")
REQUESTS = (
    Column("step", widest="9,999,999", is_number=True, is_muted=True),
    Column("prompt", widest="9,999,999", is_number=True),
    Column("cached", widest="100%", is_number=True),
    Column("computed", widest="9,999,999", is_number=True),
    Column("time", widest="99.99 s", is_number=True),
    Column("compared with the one before", stretches=True),
)
PARTS = (
    Column("section", widest=tuple(SECTIONS.values())),
    Column("tokens", widest="9,999,999", is_number=True),
    Column("computed", widest="9,999,999", is_number=True),
    Column("name", stretches=True),
)
COMPUTED, TIME = 3, 4
MAX_SESSIONS = 30  # the newest, in the menu
JSON = mark("JSON (*.json)")


class CostsPanel(DockPanel):
    NAME = "costs"
    TITLE = mark("What did it cost?")

    def __init__(self, recording: Recording, parent: QWidget | None = None) -> None:
        super().__init__(recording, parent)
        self.sessions = SelectButton(tr("Program or chat"), self)
        self.sessions.changed.connect(self._show)
        self.sessions.picked.connect(self._on_picked)
        self.export = bar_button(tr("Export…"), tr("Save all this as JSON"), self, self._choose_file)
        self.advice = PlainLabel(parent=self, wraps=True)
        self.requests = _Requests(REQUESTS, self)
        self.table = RowTable(tr("Requests"), self.requests, self)
        self.parts = _Parts(PARTS, self)
        sections = RowTable(tr("Sections of the prompt"), self.parts, self)
        bar = hbox(self.sessions, STRETCH, self.export, margins=(8, 4, 8, 0))
        told = vbox(self.advice, self.message, margins=(12, 4, 12, 4))
        vbox(bar, told, (self.table, 3), (sections, 2), on=self, spacing=4)
        self._num_seen, self._num_asked = (0, 0), 0
        self._wanted = ""  # the session that was chosen here or in another panel
        self.setFocusProxy(self.table)
        self.table.selectionModel().currentRowChanged.connect(self._on_current_changed)
        self.reset()

    def draw(self) -> None:
        """The newest request is chosen until the user chooses another one."""
        seen = self.recording.leases.num_seen, len(self.recording.token_texts)
        if seen != self._num_seen:
            self._num_seen = seen
            new = self.recording.leases.new_since(self._num_asked)
            self._num_asked = self.recording.leases.num_seen
            self.ask_for_texts(set().union(*(entry.what.lease.prompt_ids for entry in new)))
            titles = dict(self.recording.titles) | dict(self.titles)
            leases = (entry.what.lease for entry in self.recording.leases.entries)
            told = {session: one.chat_id for one in leases if (session := session_of(one))}
            sessions = dict([*told.items()][-MAX_SESSIONS:])
            chosen = (self._wanted, self.sessions.value, self.front())
            self.sessions.set_choices(
                [
                    (session, chat_name(chat_id, titles) if session in (chat_id, ROWS) else session)
                    for session, chat_id in sessions.items()
                ]
            )
            self.sessions.choose(next((one for one in chosen if one in sessions), None))
            self._show()
        self.requests.redraw(COMPUTED, TIME)

    def reset(self) -> None:
        self._num_seen, self._num_asked = (0, 0), 0
        self.sessions.set_choices(())
        self._show()

    def set_titles(self, titles: Mapping[str, str]) -> None:
        self._num_seen = (0, 0)
        super().set_titles(titles)

    def select_sequence(self, seq_id: int) -> None:
        """Its newest request."""
        leases = [one.what.lease for one in self.recording.leases.entries if one.what.lease.seq_id == seq_id]
        if sessions := [session for one in leases if (session := session_of(one))]:
            self.sessions.choose(sessions[-1])
            self._wanted = sessions[-1]

    @Slot()
    def _on_picked(self) -> None:
        self._wanted = str(self.sessions.value)

    @Slot()
    def _show(self) -> None:
        key = str(self.sessions.value or "")
        costs = costs_of(self.recording.leases.entries, key, self.recording.token_texts)
        follows = self.table.currentIndex().row() >= self.requests.num_rows() - 1
        self.advice.setText(advice_on(costs))
        self.advice.setVisible(bool(self.advice.text()))
        leases = (entry.what.lease for entry in self.recording.leases.entries)
        self.message.setText(tr(NOT_TOLD if any(not one.prompt_bytes for one in leases) else NOTHING))
        for part, is_shown in ((self.message, not costs), (self.sessions, costs), (self.export, costs)):
            part.setVisible(bool(is_shown))
        row = self.table.currentIndex().row()
        self.requests.apply(costs)
        self.parts.apply((), {})
        if costs:
            self.table.setCurrentIndex(self.requests.index(len(costs) - 1 if follows else row, 0))

    @Slot(QModelIndex)
    def _on_current_changed(self, current: QModelIndex) -> None:
        costs = self.requests.costs
        self.parts.apply(costs[current.row()].parts if current.isValid() else (), never_called(costs))

    def _choose_file(self) -> None:
        dialog = file_dialog(self, tr("Export what it cost"), SAVED, tr(JSON))
        dialog.selectFile("skein-costs.json")
        dialog.setDefaultSuffix(".json")
        dialog.fileSelected.connect(lambda name: spawn(self.save(Path(name))))
        dialog.open()

    async def save(self, path: Path) -> None:
        text = json.dumps(as_json(self.sessions.label, self.requests.costs), indent=2, ensure_ascii=False)
        try:
            await asyncio.to_thread(_write, path, text)
        except OSError as error:
            reason = error.strerror or str(error)
            self.advice.setText(tr("{name} could not be written: {reason}.", name=path.name, reason=reason))
            self.advice.show()


def _write(path: Path, text: str) -> None:
    with replacing(path) as file:
        file.write(text)


class _Requests(RowModel):
    costs: Sequence[Cost] = ()

    def apply(self, costs: Sequence[Cost]) -> None:
        self.beginResetModel()
        self.costs = costs
        self.endResetModel()

    def num_rows(self) -> int:
        return len(self.costs)

    def tip_at(self, row: int, column: int) -> str:
        return self.text_at(row, column) if column == len(REQUESTS) - 1 else ""

    def text_at(self, row: int, column: int) -> str:
        cost = self.costs[row]
        lease = cost.prompt.lease
        whole = num_prompt_tokens(lease)
        texts = (
            count(cost.step),
            count(whole),
            percent(num_had(lease), whole),
            count(cost.prompt.num_computed),
            seconds(cost.prompt.decode_ms / 1000),
            cost.head,
        )
        return texts[column]


class _Parts(RowModel):
    _parts: Sequence[Part] = ()
    _unused: Mapping[str, int] = {}

    def apply(self, parts: Sequence[Part], unused: Mapping[str, int]) -> None:
        self.beginResetModel()
        self._parts, self._unused = parts, unused
        self.endResetModel()

    def num_rows(self) -> int:
        return len(self._parts)

    def text_at(self, row: int, column: int) -> str:
        part = self._parts[row]
        name = part.section.name
        if part.section.kind is SectionKind.TOOL and name in self._unused:
            name = tr("{tool}, never called", tool=name)
        elif part.section.kind is SectionKind.ANSWER and name:
            name = tr("calls {tools}", tools=name)
        kind = tr(SECTIONS[part.section.kind])
        return (kind, count(part.num_tokens), count(part.num_computed), name)[column]
