"""The sequences panel: slots, waiting requests and hibernated chats, with actions on each.

A badge shows whether the library's cells agree with our books. GUI thread.
"""

import json
from collections.abc import Callable
from dataclasses import asdict

from PySide6.QtCore import QByteArray, QPoint, Qt, Signal, Slot
from PySide6.QtGui import QAction, QGuiApplication
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.inspector.dock_panel import DockPanel
from app.inspector.panel_buttons import ActionButton, bar_button, new_action
from app.inspector.recording import Recording
from app.inspector.sequence_rows import SequenceRow, rows_of
from app.inspector.sequence_table import SequenceTable
from app.look.buttons import IconLabel
from app.look.figures import count
from app.look.fonts import small_font, tabular
from app.look.layouts import STRETCH, hbox, vbox
from app.look.plain_text import PlainLabel, as_tooltip
from app.look.popups import Menu
from app.look.words import mark, tr, tr_n
from app.protocol.commands import CheckCells, ClearCells, Hibernate, Pin, Restore
from app.protocol.model import ModelInfo
from app.protocol.output import Usage
from app.protocol.report import CellCheck

WHY_CHECK = mark(
    "Skein keeps its own record of which cell holds which token. This compares it with llama.cpp's record."
)
NO_MODEL = mark("No model is loaded. Choose one above the chat to see its sequences here.")
ENGINE_GONE = mark("The engine has stopped. This is its last known state.")


class SequencesPanel(DockPanel):
    NAME = "sequences"
    TITLE = mark("Sequences")

    def __init__(self, recording: Recording, parent: QWidget | None = None) -> None:
        super().__init__(recording, parent)
        self.badge = CheckBadge(self)
        self.table = SequenceTable(self)
        self._fits: dict[QAction, Callable[[SequenceRow], bool]] = {}  # where each makes sense
        self.row_actions = self._new_actions()
        self._buttons = QWidget(self)
        buttons = (ActionButton(action, "action", self._buttons) for action in self.row_actions)
        hbox(*buttons, STRETCH, on=self._buttons, margins=(8, 2, 8, 2), spacing=0)
        self._over = PlainLabel(tr(ENGINE_GONE), self, "danger")
        self._over.setContentsMargins(12, 4, 12, 4)
        vbox(self._over, self.badge, (self.table, 1), self._buttons, (self.message, 1), on=self, spacing=0)
        self.setFocusProxy(self.table)
        self.badge.check_requested.connect(lambda: self.commanded.emit(CheckCells()))
        self.table.chosen.connect(self._on_chosen)
        self.table.chat_activated.connect(self.chat_activated)
        self.table.menu_requested.connect(self._on_menu_requested)
        self.reset()

    def draw(self) -> None:
        newest = self.recording.newest
        self.table.apply(rows_of(newest, self.recording.model, self.titles))
        self.badge.apply(newest.last_check if newest else None, self.recording.disagreement)
        self.badge.set_live(self._can_steer)
        self._over.setVisible(self.recording.is_over)
        self._show_actions()

    def reset(self) -> None:
        model = self.recording.model
        has_model = model is not None
        self.table.fit_columns(model.n_ctx if model else 0)
        self.message.setText(self._no_model(NO_MODEL))
        self.message.setVisible(not has_model)
        for part in (self.badge, self.table, self._buttons):
            part.setVisible(has_model)

    def select_sequence(self, seq_id: int) -> None:
        self.table.choose(f"slot {seq_id}")

    def save_layout(self) -> QByteArray:
        return self.table.save_columns()

    def restore_layout(self, layout: QByteArray) -> None:
        self.table.restore_columns(layout)

    @Slot(object)
    def _on_chosen(self, row: SequenceRow | None) -> None:
        self._show_actions()
        if row and row.seq_id is not None:
            self.sequence_selected.emit(row.seq_id)

    @Slot(QPoint)
    def _on_menu_requested(self, place: QPoint) -> None:
        menu = Menu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addActions(list(self.row_actions))
        menu.addSeparator()
        menu.addMenu(self.table.column_menu(menu))
        menu.popup(place)

    def _show_actions(self) -> None:
        row = self.table.chosen_row
        for action, fits in self._fits.items():
            can_act = self._can_steer or action is self._copy
            action.setEnabled(row is not None and can_act and fits(row))
        self._pin.setText(tr("Unpin") if row and row.is_pinned else tr("Pin"))

    # What can be done with a row.

    def _new_actions(self) -> tuple[QAction, ...]:
        self._pin = self._action(
            "pin",
            tr("Pin"),
            tr("Hibernate or evict these cells last"),
            lambda row: row.slot is not None and row.chat_id is not None,
            lambda row, chat_id: self.commanded.emit(Pin(chat_id, not row.is_pinned)),
        )
        self._copy = self._action(
            "copy-json",
            tr("Copy JSON"),
            tr("Copy this row as JSON, in the form of llama-server's /slots"),
            lambda _row: True,
            lambda row, _: QGuiApplication.clipboard().setText(as_json(row, self.recording.model)),
        )
        self._copy.setIconText(tr("JSON"))  # on its button
        return (
            self._action(
                "stop",
                tr("Stop"),
                tr("Stop this answer and keep what it has so far"),
                lambda row: row.request_id is not None,
                lambda row, _: self.stop_requested.emit(row.request_id),
            ),
            self._action(
                "hibernate",
                tr("Hibernate"),
                tr("Save this idle chat's cells and free them"),
                lambda row: row.is_warm,
                lambda _, chat_id: self.commanded.emit(Hibernate(chat_id)),
            ),
            self._action(
                "restore",
                tr("Restore"),
                tr("Load the saved cells back into a slot, ahead of the next message"),
                lambda row: row.saved is not None and row.waiting is None,
                lambda _, chat_id: self.commanded.emit(Restore(chat_id)),
            ),
            self._action(
                "clear",
                tr("Clear"),
                tr("Free the cells without saving them: the next turn recomputes everything"),
                lambda row: row.is_warm,
                lambda _, chat_id: self.commanded.emit(ClearCells(chat_id)),
            ),
            self._action(
                "fork",
                tr("Fork"),
                tr("Continue in a copy of this chat that shares its cells"),
                lambda row: row.chat_id in self.tabs,
                lambda _, chat_id: self.fork_requested.emit(chat_id),
            ),
            self._pin,
            self._copy,
        )

    def _action(
        self,
        name: str,
        text: str,
        tip: str,
        fits: Callable[[SequenceRow], bool],
        act: Callable[[SequenceRow, str], None],
    ) -> QAction:
        def on_triggered() -> None:
            if row := self.table.chosen_row:
                act(row, row.chat_id or "")

        action = new_action(f"sequence.{name}", text, tip, on_triggered, self)
        action.setToolTip(tip)
        self._fits[action] = fits
        return action

    @property
    def _can_steer(self) -> bool:
        """Not a recorded file, nor an engine that is gone."""
        return self.recording.is_live and not self.recording.is_over


def evidence_text(disagreement: CellCheck) -> str:
    return tr(
        "step {step}: {number} cells compared, {difference}",
        step=disagreement.step,
        number=disagreement.num_cells,
        difference=disagreement.difference,
    )


def check_text(last: CellCheck | None, disagreement: CellCheck | None) -> str:
    """A disagreement stays, whatever later checks say."""
    if disagreement:
        return tr("Disagreed with llama.cpp at step {step}", step=count(disagreement.step))
    if last is None:
        return tr("Not yet compared with llama.cpp")
    if not last.can_compare:
        return tr(
            "Positions agree with llama.cpp at step {step}; this model's cells cannot be listed",
            step=count(last.step),
        )
    return tr_n(
        "Agrees with llama.cpp: {n} cell, step {step}",
        "Agrees with llama.cpp: {n} cells, step {step}",
        last.num_cells,
        step=count(last.step),
    )


class CheckBadge(QWidget):
    """An icon, a sentence, a button to ask the library now; and if there is evidence, one to copy it."""

    check_requested = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._last: CellCheck | None = None
        self._disagreement: CellCheck | None = None
        self._icon = IconLabel(15, self)
        self._words = PlainLabel(parent=self, tone="muted")
        self._words.setFont(tabular(small_font()))
        self._words.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.copy = bar_button(tr("Copy evidence"), tr("Copy the differences"), self, self._copy_evidence)
        check_tip = tr("Compare every cell with llama.cpp's own records now")
        self.check = bar_button(tr("Check now"), check_tip, self, self.check_requested.emit)
        hbox(self._icon, (self._words, 1), self.copy, self.check, on=self, margins=(12, 2, 8, 2), spacing=6)
        self._show()

    @property
    def text(self) -> str:
        return self._words.text()

    def set_live(self, is_live: bool) -> None:
        """A recorded file has no engine to ask."""
        self.check.setEnabled(is_live)

    def apply(self, last: CellCheck | None, disagreement: CellCheck | None) -> None:
        if (last, disagreement) != (self._last, self._disagreement):
            self._last, self._disagreement = last, disagreement
            self._show()

    def _show(self) -> None:
        text = check_text(self._last, self._disagreement)
        self._words.setText(text)
        told = evidence_text(self._disagreement) if self._disagreement else f"{text}\n{tr(WHY_CHECK)}"
        self._words.setToolTip(as_tooltip(told))
        self._words.set_tone("danger" if self._disagreement else "muted")
        self._icon.show_icon(*self._look())
        self.copy.setVisible(self._disagreement is not None)

    def _look(self) -> tuple[str, str]:
        if self._disagreement:
            return "triangle-alert", "danger"
        return ("circle-check", "ok") if self._last else ("info", "muted")

    def _copy_evidence(self) -> None:
        if self._disagreement:
            QGuiApplication.clipboard().setText(evidence_text(self._disagreement))


def as_json(row: SequenceRow, model: ModelInfo | None) -> str:
    """Like an entry of llama-server's /slots, with our own fields under `skein`."""
    usage = row.usage or Usage()
    prompt_tokens = row.waiting.num_prompt_tokens if row.waiting else usage.num_prompt_tokens
    decoded = row.waiting.num_generated_tokens if row.waiting else usage.num_generated_tokens
    shown = {
        "id": -1 if row.seq_id is None else row.seq_id,
        "id_task": row.request_id or -1,
        "n_ctx": row.slot.max_context_tokens if row.slot else 0,
        "speculative": bool(model and model.num_drafted_tokens),
        "is_processing": bool(row.slot and row.slot.is_running),
        "n_prompt_tokens": prompt_tokens,
        "n_prompt_tokens_cache": usage.num_cached_tokens,
        "next_token": [{"has_next_token": row.request_id is not None, "n_decoded": decoded}],
        "skein": {
            "model": model.name if model else None,
            "tab": row.title,
            "chat_id": row.chat_id,
            "state": row.phase,
            "size_bytes": row.size_bytes,
            "slot": asdict(row.slot) if row.slot else None,
            "waiting": asdict(row.waiting) if row.waiting else None,
            "hibernated": asdict(row.saved) if row.saved else None,
        },
    }
    return json.dumps(shown, indent=2, ensure_ascii=False)
