"""The rows of the table of sequences: slots, waiting requests and hibernated chats.

Pure functions; knows no widget.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from app.inspector.chat_names import chat_name
from app.look import marks
from app.look.figures import count, decimal, mebibytes, percent, prefilled, seconds, tokens
from app.look.marks import Mark
from app.look.table import Column
from app.look.words import mark, tr
from app.protocol.model import ModelInfo
from app.protocol.output import Usage
from app.protocol.report import (
    HibernatedChat,
    SlotSnapshot,
    SlotState,
    StepReport,
    WaitingRequest,
    WaitReason,
)

_MARK_OF_SLOT = {
    SlotState.PREFILL: marks.COMPUTING,
    SlotState.DECODE: marks.COMPUTING,
    SlotState.AHEAD: marks.COMPUTING,
    SlotState.WARM: marks.WARM,
    SlotState.EMPTY: marks.IDLE,
}
SLOT_STATES = {
    SlotState.EMPTY: mark("empty"),
    SlotState.WARM: mark("warm"),
    SlotState.PREFILL: mark("prefill"),
    SlotState.DECODE: mark("decode"),
    SlotState.AHEAD: mark("reading ahead"),
}
_SLOT_TIPS = {
    SlotState.EMPTY: mark("Free slot: the next chat that has none gets it"),
    SlotState.WARM: mark("Released, cells kept: the chat's next turn computes only what is new"),
    SlotState.PREFILL: mark("In use: computing the prompt (prefill)"),
    SlotState.DECODE: mark("In use: generating the answer (decode)"),
    SlotState.AHEAD: mark("Computing what the next message begins with, before it is sent"),
}
_WAITING_TEXTS = {
    WaitReason.QUEUED: mark("waiting"),
    WaitReason.SHARES_PREFIX: mark("waiting for prefix"),
    WaitReason.PAUSED: mark("paused"),
    WaitReason.REFITTING: mark("shortening prompt"),
    WaitReason.ENCODING: mark("encoding"),
}
_WAITING_TIPS = {
    WaitReason.QUEUED: mark("Waiting for a slot or free cells"),
    WaitReason.SHARES_PREFIX: mark("Waiting for a running prompt to compute the prefix they share"),
    WaitReason.PAUSED: mark("Other answers needed its cells; it continues when there is room"),
    WaitReason.REFITTING: mark("Its context is full; the prompt is being shortened"),
    WaitReason.ENCODING: mark("Its pictures or sounds are being encoded while other chats go on"),
}
# In sorting order: running ones first, empty ones last.
_ORDER = ("decode", "prefill", "ahead", "wait", "warm", "hibernated", "empty")


@dataclass(frozen=True, slots=True)
class SequenceRow:
    """A slot, a waiting request, a hibernated chat, or the latter two together."""

    title: str = ""
    slot: SlotSnapshot | None = None
    waiting: WaitingRequest | None = None
    saved: HibernatedChat | None = None
    cell_bytes: int = 0
    is_held: bool = False  # it is running, and all chats are paused

    @property
    def key(self) -> str:
        """Identifies the row across updates."""
        if self.slot:
            return f"slot {self.slot.seq_id}"
        return f"request {self.waiting.request_id}" if self.waiting else f"saved {self.chat_id}"

    @property
    def seq_id(self) -> int | None:
        return self.slot.seq_id if self.slot else None

    @property
    def chat_id(self) -> str | None:
        holder = self.slot or self.waiting or self.saved
        return holder.chat_id if holder else None

    @property
    def request_id(self) -> str | None:
        """The answer that is being made or waits."""
        if self.slot:
            return self.slot.request_id if self.slot.is_running else None
        return self.waiting.request_id if self.waiting else None

    @property
    def held(self) -> SlotSnapshot | None:
        """Its slot, unless that is empty."""
        return None if self.is_empty else self.slot

    @property
    def usage(self) -> Usage | None:
        return self.held.usage if self.held else None

    @property
    def drafts(self) -> Usage | None:
        """None where nothing was drafted."""
        return self.usage if self.usage and self.usage.num_drafted_tokens else None

    @property
    def is_empty(self) -> bool:
        return self.slot is not None and self.slot.state is SlotState.EMPTY

    @property
    def is_warm(self) -> bool:
        return self.slot is not None and self.slot.state is SlotState.WARM and self.chat_id is not None

    @property
    def is_pinned(self) -> bool:
        return self.slot is not None and self.slot.is_pinned

    @property
    def phase(self) -> str:
        if self.slot:
            return self.slot.state.value
        return "wait" if self.waiting else "hibernated"

    @property
    def mark(self) -> Mark:
        if self.is_held:
            return marks.PAUSED
        if self.slot:
            return _MARK_OF_SLOT[self.slot.state]
        if self.waiting:
            return marks.PAUSED if self.waiting.reason is WaitReason.PAUSED else marks.WAITING
        return marks.HIBERNATED

    @property
    def size_bytes(self) -> int:
        """The size of its keys and values, shared ones among them, in cells or saved."""
        if self.slot:
            return self.slot.num_cells * self.cell_bytes
        return self.saved.size_bytes if self.saved else 0


def rows_of(
    report: StepReport | None, model: ModelInfo | None, titles: Mapping[str, str]
) -> tuple[SequenceRow, ...]:
    """Slots by `seq_id`, then waiting requests in order of admission, then hibernated chats."""
    if report is None:
        empty = (SlotSnapshot(seq_id, SlotState.EMPTY) for seq_id in range(model.n_seq_max if model else 0))
        return tuple(SequenceRow(slot=slot) for slot in empty)
    cell_bytes = model.cell_bytes if model else 0
    saved = {chat.chat_id: chat for chat in report.hibernated}

    def title(chat_id: str | None) -> str:
        return chat_name(chat_id, titles) if chat_id else ""

    slots = [
        SequenceRow(
            title(slot.chat_id),
            slot=slot,
            cell_bytes=cell_bytes,
            is_held=report.pause is not None and slot.is_running,
        )
        for slot in report.slots
    ]
    waiting = [
        SequenceRow(title(request.chat_id), waiting=request, saved=saved.pop(request.chat_id, None))
        for request in report.waiting
    ]
    hibernated = [SequenceRow(title(chat.chat_id), saved=chat) for chat in saved.values()]
    return (*slots, *waiting, *hibernated)


@dataclass(frozen=True, slots=True, kw_only=True)
class SequenceColumn(Column):
    """`value` is for sorting, or None; `text` formats it.

    `widest` sets the width; without one that is up to how many tokens the context holds.
    """

    value: Callable[[SequenceRow], Any]
    text: Callable[[Any], str] = str

    def text_of(self, row: SequenceRow) -> str:
        value = self.value(row)
        return "" if value is None else self.text(value)


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _lookup_share(row: SequenceRow) -> float | None:
    """The draft tokens that no draft model proposed."""
    if (usage := row.drafts) is None:
        return None
    num_drafted = usage.num_drafted_tokens - usage.num_model_drafted_tokens
    return _share(usage.num_kept_tokens - usage.num_model_kept_tokens, num_drafted)


def _share_text(share: float) -> str:
    return percent(share, 1)


def _state(row: SequenceRow) -> str:
    if row.is_held:
        return tr("paused")
    if row.slot:
        if row.slot.state is SlotState.PREFILL:
            return tr("prefill {percent}", percent=prefilled(row.slot))
        return tr(SLOT_STATES[row.slot.state])
    if row.waiting:
        return tr(_WAITING_TEXTS[row.waiting.reason])
    return tr("hibernated, disk") if row.saved and row.saved.is_on_disk else tr("hibernated, RAM")


def _position(position: int) -> int | None:
    return position if position >= 0 else None


def _queue_s(row: SequenceRow) -> float | None:
    if row.waiting:
        return row.waiting.waiting_s
    return row.usage.queue_s if row.usage and row.usage.num_prompt_tokens else None


def _speed_text(tokens_per_s: float) -> str:
    return decimal(tokens_per_s, 1 if tokens_per_s < 100 else 0)


def _size_text(size_bytes: int) -> str:
    return decimal(size_bytes / 2**20, 1)


def _figure(
    head: str,
    tip: str,
    value: Callable[[SequenceRow], Any],
    text: Callable[[Any], str] = count,
    widest: str = "",
) -> SequenceColumn:
    return SequenceColumn(head, tip, widest, is_number=True, value=value, text=text)


_TIME = mark("9,999 s")
SEQ, TAB, STATE = range(3)  # the first columns
COLUMNS = (
    SequenceColumn(
        "seq",
        "A chat's place in the shared context (llama.cpp's seq_id)",
        "00",
        value=lambda row: row.seq_id,
    ),
    SequenceColumn("tab", "The chat it belongs to", width=120, value=lambda row: row.title or None),
    SequenceColumn("state", "What it is doing", mark("hibernated, disk"), value=_state),
    _figure(
        "pos\nmin",
        "Lowest position in memory, from llama.cpp",
        lambda row: row.slot and _position(row.slot.pos_min),
    ),
    _figure(
        "pos\nmax",
        "Highest position in memory, from llama.cpp",
        lambda row: row.slot and _position(row.slot.pos_max),
    ),
    _figure(
        "cells\nown",
        "KV cells held by this sequence only; what was read ahead counts, too",
        lambda row: row.held and row.held.num_cells - row.held.num_shared_cells,
    ),
    _figure(
        "cells\nshared",
        "KV cells shared with other sequences",
        lambda row: row.held and row.held.num_shared_cells,
    ),
    _figure(
        "speed\ntok/s",
        "Tokens generated per second",
        lambda row: (row.usage and row.usage.tokens_per_s) or None,
        _speed_text,
        "99,999",
    ),
    _figure(
        "tokens\nreused",
        "Prompt tokens of the last answer found in the chat's own cells",
        lambda row: row.usage and row.usage.num_reused_tokens,
    ),
    _figure(
        "tokens\nshared",
        "Prompt tokens of the last answer found in another chat's cells",
        lambda row: row.usage and row.usage.num_shared_tokens,
    ),
    _figure(
        "tokens\nrestored",
        "Prompt tokens of the last answer restored from a saved state",
        lambda row: row.usage and row.usage.num_restored_tokens,
    ),
    _figure(
        "tokens\ncomputed",
        "Tokens computed for the last answer, including its own",
        lambda row: row.usage and row.usage.num_computed_tokens,
    ),
    _figure(
        "context\ncap",
        "Most tokens this chat may have",
        lambda row: (row.slot and row.slot.max_context_tokens) or None,
    ),
    _figure(
        "first\ntoken",
        "Time to first token of the last answer, including the wait for a slot",
        lambda row: (row.usage and row.usage.time_to_first_token_s) or None,
        seconds,
        _TIME,
    ),
    _figure("queue\nwait", "Time the request waited for a slot", _queue_s, seconds, _TIME),
    _figure(
        "KV\nMiB",
        "Memory of its keys and values, including shared cells; if hibernated, of the saved state",
        lambda row: row.size_bytes or None,
        _size_text,
        "99,999.9",
    ),
    _figure(
        "check-\npoints",
        "Positions the chat can be rolled back to, on models that cannot remove an arbitrary tail",
        lambda row: (row.held and len(row.held.checkpoints)) or None,
    ),
    _figure(
        "check-\npoints MiB",
        "Memory of its checkpoints, including shared ones",
        lambda row: (row.slot and row.slot.checkpoint_bytes) or None,
        _size_text,
        "99,999.9",
    ),
    _figure(
        "draft\ntokens",
        "Draft tokens checked for the last answer",
        lambda row: row.drafts and row.drafts.num_drafted_tokens,
    ),
    _figure(
        "draft\naccepted",
        "Draft tokens accepted: each saved a step",
        lambda row: row.drafts and row.drafts.num_kept_tokens,
    ),
    _figure(
        "accept\nrate",
        "Share of draft tokens that were accepted",
        lambda row: row.drafts and _share(row.drafts.num_kept_tokens, row.drafts.num_drafted_tokens),
        _share_text,
        "100%",
    ),
    _figure(
        "lookup\naccepted",
        "Share of the draft tokens from the chat's own text that were accepted",
        _lookup_share,
        _share_text,
        "100%",
    ),
    _figure(
        "model\naccepted",
        "Share of the draft model's tokens that were accepted",
        lambda row: (
            row.drafts and _share(row.drafts.num_model_kept_tokens, row.drafts.num_model_drafted_tokens)
        ),
        _share_text,
        "100%",
    ),
)


def widest_text(column: SequenceColumn, n_ctx: int) -> str:
    return str(column.widest) or re.sub("[0-9]", "9", count(max(n_ctx, 9_999)))


def sort_key(number: int) -> Callable[[SequenceRow], Any]:
    """None sorts below everything."""
    if number == STATE:
        return lambda row: _ORDER.index(row.phase)
    value = COLUMNS[number].value
    if number == TAB:
        return lambda row: (value(row) is not None, (value(row) or "").casefold())
    return lambda row: (value(row) is not None, value(row) or 0)


def row_tip(row: SequenceRow) -> str:
    """Its state as a sentence."""
    parts = []
    if row.is_held:
        parts.append(tr("All chats are paused"))
    elif row.slot:
        parts.append(tr(_SLOT_TIPS[row.slot.state]))
    if row.waiting:
        parts.append(tr(_WAITING_TIPS[row.waiting.reason]))
    if row.saved:
        held, size = tokens(row.saved.num_tokens), mebibytes(row.saved.size_bytes)
        if row.saved.is_on_disk:
            parts.append(tr("{tokens} saved on disk, {size}", tokens=held, size=size))
        else:
            parts.append(tr("{tokens} saved in RAM, {size}", tokens=held, size=size))
    if row.slot and row.slot.checkpoints:
        places = ", ".join(map(count, row.slot.checkpoints))
        parts.append(tr("can be rolled back to its first {places} tokens", places=places))
    if row.is_pinned:
        parts.append(tr("pinned: hibernated or evicted last"))
    return " · ".join(parts)
