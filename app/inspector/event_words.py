"""A sentence for each event of the engine. Knows no widget. Any thread."""

from __future__ import annotations

from typing import assert_never

from app.protocol import events
from app.protocol.events import Event
from app.system.said import said


def words(event: Event) -> str:
    """In English; `tr_said` translates it."""
    at = event.seq_id
    match event:
        case events.Told():
            return event.text
        case events.Leased(_, _, there, missing):
            return said(
                "leased sequence {seq_id}: {there} tokens cached, {missing} to compute",
                seq_id=at,
                there=there,
                missing=missing,
            )
        case events.Resumed(_, _, there, missing):
            return said(
                "resumed sequence {seq_id}: {there} tokens cached, {missing} to compute",
                seq_id=at,
                there=there,
                missing=missing,
            )
        case events.Released(_, _, num, is_kept):
            if is_kept:
                return said("released sequence {seq_id}, kept {tokens} tokens", seq_id=at, tokens=num)
            return said("released sequence {seq_id}, freed {tokens} tokens", seq_id=at, tokens=num)
        case events.Shared(_, _, donor, num, is_copied):
            cells = {"cells": num, "donor": donor, "seq_id": at}
            if is_copied:
                return said("copied {cells} cells of sequence {donor} to sequence {seq_id}", **cells)
            return said("shared {cells} cells of sequence {donor} with sequence {seq_id}", **cells)
        case events.Forked(_, _, source, num):
            return said(
                "forked sequence {source} to {target}, sharing {cells} cells",
                source=source,
                target=at,
                cells=num,
            )
        case events.Hibernated(_, _, num):
            return said("hibernated sequence {seq_id}: {tokens} tokens", seq_id=at, tokens=num)
        case events.NotHibernated(_, _, is_answering):
            if at is not None:
                return said(
                    "not hibernated: the state of sequence {seq_id} cannot be saved right now", seq_id=at
                )
            if is_answering:
                return said("not hibernated: this chat is answering")
            return said("not hibernated: this chat holds no cells")
        case events.Evicted(_, _, num):
            return said("evicted sequence {seq_id}: {tokens} tokens", seq_id=at, tokens=num)
        case events.StateLost(_, _, num):
            return said("dropped a saved state of {tokens} tokens: no room", tokens=num)
        case events.Restored(_, _, num):
            return said("restored sequence {seq_id}: {tokens} tokens", seq_id=at, tokens=num)
        case events.NotRestored(_, _, is_saved):
            if is_saved:
                return said("not restored: running answers leave no room")
            return said("not restored: this chat has no saved cells")
        case events.StateUnusable():
            return said("the saved state of sequence {seq_id} could not be used; recomputing", seq_id=at)
        case events.Cleared(_, _, num):
            return said("cleared sequence {seq_id}: {tokens} tokens", seq_id=at, tokens=num)
        case events.StateDropped(_, _, num):
            return said("dropped a saved state of {tokens} tokens", tokens=num)
        case events.NotCleared(_, _, is_answering):
            if is_answering:
                return said("not cleared: this chat is answering")
            return said("not cleared: this chat holds no cells")
        case events.Shifted(_, _, num, num_positions):
            return said(
                "shifted {cells} cells of sequence {seq_id} down by {positions}",
                cells=num,
                seq_id=at,
                positions=num_positions,
            )
        case events.Pinned(_, _, is_pinned):
            if at is None:
                is_in_no_slot = said("pinned a chat without a slot"), said("unpinned a chat without a slot")
                return is_in_no_slot[0] if is_pinned else is_in_no_slot[1]
            if is_pinned:
                return said("pinned sequence {seq_id}", seq_id=at)
            return said("unpinned sequence {seq_id}", seq_id=at)
        case events.Paused(_, _, events.PauseReason.FRONT):
            return said("paused the answer in sequence {seq_id}: the current tab goes first", seq_id=at)
        case events.Paused(_, _, events.PauseReason.TURNS):
            return said("paused the answer in sequence {seq_id}: another program takes its turn", seq_id=at)
        case events.Paused(_, _, events.PauseReason.ENCODING):
            return said("paused the answer in sequence {seq_id}: its picture is encoded again", seq_id=at)
        case events.Paused():
            return said("paused the answer in sequence {seq_id}: no free cells", seq_id=at)
        case events.BrokenOff(_, _, num):
            if at is None:
                return said("aborted an answer without a slot after {tokens} tokens", tokens=num)
            return said(
                "aborted the answer in sequence {seq_id} after {tokens} tokens", seq_id=at, tokens=num
            )
        case events.Shortened(_, _, notice):
            return said("shortened a prompt: {notice}", notice=notice)
        case events.Triggered(_, _, num):
            return said(
                "the grammar applies to the answer in sequence {seq_id} from token {number} on",
                seq_id=at,
                number=num,
            )
        case events.ToolRan(_, _, tool, seconds):
            return said("the tool {tool} ran for {seconds:,.2f} s", tool=tool, seconds=seconds)
        case events.Encoded(_, _, _, num, 0.0):
            return said("reused the encoding of a picture or sound of {number} cells", number=num)
        case events.Encoded(_, _, _, num, ms):
            return said("encoded a picture or sound of {number} cells in {ms:,.0f} ms", number=num, ms=ms)
        case events.Verified(_, _, num):
            if num is None:
                return said("llama.cpp agrees: compared positions; this model has no KV cells")
            return said("llama.cpp agrees: compared {cells} cells", cells=num)
        case events.Disagreed(_, _, difference):
            return said("llama.cpp disagrees: {difference}", difference=difference)
        case _:
            assert_never(event)
