"""A sentence for each event of the engine. Knows no widget. Any thread."""

from __future__ import annotations

from dataclasses import fields

from app.look.words import mark
from app.protocol import events
from app.protocol.events import Event, PauseReason
from app.system.said import said

# The `{names}` are fields of the event.
_SENTENCES: dict[type[Event], str] = {
    events.Resumed: mark("resumed sequence {seq_id}: {num_there} tokens cached, {num_missing} to compute"),
    events.Forked: mark("forked sequence {source} to {seq_id}, sharing {num_cells} cells"),
    events.Hibernated: mark("hibernated sequence {seq_id}: {num_tokens} tokens"),
    events.Evicted: mark("evicted sequence {seq_id}: {num_tokens} tokens"),
    events.StateLost: mark("dropped a saved state of {num_tokens} tokens: no room"),
    events.Restored: mark("restored sequence {seq_id}: {num_tokens} tokens"),
    events.StateUnusable: mark("the saved state of sequence {seq_id} could not be used; recomputing"),
    events.Cleared: mark("cleared sequence {seq_id}: {num_tokens} tokens"),
    events.StateDropped: mark("dropped a saved state of {num_tokens} tokens"),
    events.Shifted: mark("shifted {num_cells} cells of sequence {seq_id} down by {num_positions}"),
    events.Shortened: mark("shortened a prompt: {notice}"),
    events.Triggered: mark(
        "the grammar applies to the answer in sequence {seq_id} from token {num_tokens} on"
    ),
    events.ToolRan: mark("the tool {tool} ran for {seconds:,.2f} s"),
    events.Disagreed: mark("llama.cpp disagrees: {difference}"),
}
_PAUSED = {
    PauseReason.NO_CELLS: mark("paused the answer in sequence {seq_id}: no free cells"),
    PauseReason.FRONT: mark("paused the answer in sequence {seq_id}: the current tab goes first"),
    PauseReason.TURNS: mark("paused the answer in sequence {seq_id}: another program takes its turn"),
    PauseReason.ENCODING: mark("paused the answer in sequence {seq_id}: its picture is encoded again"),
}


def words(event: Event) -> str:
    """In English; `tr_said` translates it."""
    if isinstance(event, events.Told):
        return event.text
    sentence = _SENTENCES.get(type(event)) or _sentence_by_case(event)
    return said(sentence, **{field.name: getattr(event, field.name) for field in fields(event)})


def _sentence_by_case(event: Event) -> str:
    """The sentence of an event that has several."""
    match event:
        case events.Leased(is_ahead=True):
            return mark(
                "reads ahead in sequence {seq_id}: {num_there} tokens cached, {num_missing} to compute"
            )
        case events.Leased():
            return mark("began in sequence {seq_id}: {num_there} tokens cached, {num_missing} to compute")
        case events.Released(is_kept=True):
            return mark("released sequence {seq_id}, kept {num_tokens} tokens")
        case events.Released():
            return mark("released sequence {seq_id}, freed {num_tokens} tokens")
        case events.Shared(is_copied=True):
            return mark("copied {num_cells} cells of sequence {donor} to sequence {seq_id}")
        case events.Shared():
            return mark("shared {num_cells} cells of sequence {donor} with sequence {seq_id}")
        case events.NotHibernated(seq_id=int()):
            return mark("not hibernated: the state of sequence {seq_id} cannot be saved right now")
        case events.NotHibernated(is_answering=True):
            return mark("not hibernated: this chat is answering")
        case events.NotHibernated():
            return mark("not hibernated: this chat holds no cells")
        case events.NotRestored(is_saved=True):
            return mark("not restored: running answers leave no room")
        case events.NotRestored():
            return mark("not restored: this chat has no saved cells")
        case events.NotCleared(is_answering=True):
            return mark("not cleared: this chat is answering")
        case events.NotCleared():
            return mark("not cleared: this chat holds no cells")
        case events.Pinned(seq_id=None, is_pinned=True):
            return mark("pinned a chat without a slot")
        case events.Pinned(seq_id=None):
            return mark("unpinned a chat without a slot")
        case events.Pinned(is_pinned=True):
            return mark("pinned sequence {seq_id}")
        case events.Pinned():
            return mark("unpinned sequence {seq_id}")
        case events.Paused():
            return _PAUSED[event.reason]
        case events.BrokenOff(seq_id=None):
            return mark("aborted an answer without a slot after {num_tokens} tokens")
        case events.BrokenOff():
            return mark("aborted the answer in sequence {seq_id} after {num_tokens} tokens")
        case events.Encoded(ms=0.0):
            return mark("reused the encoding of a picture or sound of {num_cells} cells")
        case events.Encoded():
            return mark("encoded a picture or sound of {num_cells} cells in {ms:,.0f} ms")
        case events.Verified(num_cells=None):
            return mark("llama.cpp agrees: compared positions; this model has no KV cells")
        case events.Verified():
            return mark("llama.cpp agrees: compared {num_cells} cells")
    raise AssertionError(f"no sentence for {event}")
