import json
from dataclasses import replace

import pytest

from app.inspector.sequence_rows import (
    COLUMNS,
    STATE,
    TAB,
    SequenceRow,
    row_tip,
    rows_of,
    sort_key,
    widest_text,
)
from app.inspector.sequences import as_json
from app.look import marks
from app.protocol.output import Usage
from app.protocol.report import (
    HibernatedChat,
    PauseState,
    SlotSnapshot,
    SlotState,
    WaitingRequest,
    WaitReason,
)
from tests.fakes import model_info
from tests.inspector.reports import decoding, report

NUMBER_OF = {column.head.replace("\n", " "): number for number, column in enumerate(COLUMNS)}
MODEL = replace(model_info(n_ctx=4096), cell_bytes=1024)
IN_RAM = HibernatedChat("sums", 1210, 141 * 2**20, is_on_disk=False)
ON_DISK = HibernatedChat("notes", 640, 75 * 2**20 // 2, is_on_disk=True)


def waiting(reason: WaitReason, chat_id: str = "sums") -> WaitingRequest:
    return WaitingRequest(f"of {chat_id}", chat_id, reason, 320, 12, 1.5)


def shown(row: SequenceRow) -> dict[str, str]:
    """What there is of it."""
    texts = {name: COLUMNS[number].text_of(row) for name, number in NUMBER_OF.items()}
    return {name: text for name, text in texts.items() if text}


def test_a_running_slot_shows_all_it_holds() -> None:
    slot = replace(decoding(0, "sums", 2048), max_context_tokens=4096)
    slot = replace(slot, usage=replace(slot.usage, queue_s=0.25))
    assert shown(SequenceRow("Sums", slot=slot, cell_bytes=1024)) == {
        "seq": "0",
        "tab": "Sums",
        "state": "decode",
        "pos min": "0",
        "pos max": "2,047",
        "cells own": "1,852",
        "cells shared": "196",
        "speed tok/s": "41.0",
        "tokens reused": "80",
        "tokens shared": "12",
        "tokens restored": "7",
        "tokens computed": "4",
        "context cap": "4,096",
        "first token": "0.1 s",
        "queue wait": "0.2 s",
        "KV MiB": "2.0",
    }


def test_guesses_are_shown_with_how_many_were_right() -> None:
    slot = decoding(0, "sums", 2048)
    slot = replace(slot, usage=replace(slot.usage, num_drafted_tokens=1800, num_kept_tokens=1200))
    texts = shown(SequenceRow("Sums", slot=slot))
    assert (texts["draft tokens"], texts["draft accepted"], texts["accept rate"]) == ("1,800", "1,200", "67%")
    assert texts["lookup accepted"] == "67%"
    assert "model accepted" not in texts
    usage = replace(slot.usage, num_model_drafted_tokens=800, num_model_kept_tokens=700)
    texts = shown(SequenceRow("Sums", slot=replace(slot, usage=usage)))
    assert (texts["accept rate"], texts["lookup accepted"], texts["model accepted"]) == ("67%", "50%", "88%")


def test_an_empty_slot_shows_only_its_number_and_state() -> None:
    assert shown(SequenceRow(slot=SlotSnapshot(3, SlotState.EMPTY))) == {"seq": "3", "state": "empty"}


def test_positions_that_do_not_exist_are_not_shown() -> None:
    texts = shown(SequenceRow("Sums", slot=SlotSnapshot(0, SlotState.PREFILL, "sums", num_pending_tokens=5)))
    assert "pos min" not in texts
    assert "pos max" not in texts


def test_a_prefill_tells_how_far_it_is() -> None:
    slot = SlotSnapshot(0, SlotState.PREFILL, num_cells=122, num_pending_tokens=78)
    assert shown(SequenceRow(slot=slot))["state"] == "prefill 61%"


def test_an_answer_that_was_paused_shows_how_much_it_holds_again() -> None:
    """It computes its own tokens again, so more is pending than its prompt was long."""
    usage = Usage(num_prompt_tokens=100, num_generated_tokens=30)
    slot = SlotSnapshot(0, SlotState.PREFILL, num_cells=13, num_pending_tokens=117, usage=usage)
    assert shown(SequenceRow(slot=slot))["state"] == "prefill 10%"


@pytest.mark.parametrize(
    ("row", "state", "mark"),
    [
        (SequenceRow(slot=decoding(0, "sums")), "decode", marks.COMPUTING),
        (SequenceRow(slot=SlotSnapshot(0, SlotState.WARM)), "warm", marks.WARM),
        (SequenceRow(slot=SlotSnapshot(0, SlotState.EMPTY)), "empty", marks.IDLE),
        (SequenceRow(waiting=waiting(WaitReason.QUEUED)), "waiting", marks.WAITING),
        (SequenceRow(waiting=waiting(WaitReason.SHARES_PREFIX)), "waiting for prefix", marks.WAITING),
        (SequenceRow(waiting=waiting(WaitReason.REFITTING)), "shortening prompt", marks.WAITING),
        (SequenceRow(waiting=waiting(WaitReason.PAUSED)), "paused", marks.PAUSED),
        (SequenceRow(saved=IN_RAM), "hibernated, RAM", marks.HIBERNATED),
        (SequenceRow(saved=ON_DISK), "hibernated, disk", marks.HIBERNATED),
    ],
)
def test_each_state_has_its_word_and_its_mark(row: SequenceRow, state: str, mark: marks.Mark) -> None:
    assert (shown(row)["state"], row.mark) == (state, mark)


def test_while_all_chats_are_paused_the_running_ones_say_so() -> None:
    step = report(1, decoding(1, "letter"), SlotSnapshot(2, SlotState.WARM, "sums"))
    _, running, idle, *_ = rows_of(replace(step, pause=PauseState("")), MODEL, {})
    assert (shown(running)["state"], running.mark) == ("paused", marks.PAUSED)
    assert (shown(idle)["state"], idle.mark) == ("warm", marks.WARM)
    assert row_tip(running) == "All chats are paused"


def test_rows_are_the_slots_then_who_waits_then_who_is_hibernated() -> None:
    step = replace(
        report(1, decoding(1, "letter"), hibernated=(IN_RAM, ON_DISK)),
        waiting=(waiting(WaitReason.QUEUED, "haiku"), waiting(WaitReason.PAUSED, "sums")),
    )
    rows = rows_of(step, MODEL, {"sums": "Sums", "haiku": "Haiku", "letter": "Letter"})
    assert [row.key for row in rows] == [
        "slot 0",
        "slot 1",
        "slot 2",
        "slot 3",
        "request of haiku",
        "request of sums",
        "saved notes",
    ]
    assert [row.title for row in rows[3:]] == ["", "Haiku", "Sums", "no tab"]
    assert rows[5].saved == IN_RAM  # a paused answer and where its cells are make one row
    assert shown(rows[5])["KV MiB"] == "141.0"
    assert shown(rows[5])["queue wait"] == "1.5 s"


def test_before_the_first_step_all_slots_are_empty() -> None:
    assert [row.key for row in rows_of(None, MODEL, {})] == ["slot 0", "slot 1", "slot 2", "slot 3"]
    assert rows_of(None, None, {}) == ()


def test_what_there_is_none_of_sorts_below_everything() -> None:
    rows = (
        SequenceRow("b", slot=decoding(0, "b", 400)),
        SequenceRow("", slot=SlotSnapshot(1, SlotState.EMPTY)),
        SequenceRow("A", slot=decoding(2, "a", 9)),
        SequenceRow("c", saved=ON_DISK),
    )
    assert [row.key for row in sorted(rows, key=sort_key(NUMBER_OF["pos max"]))][2:] == ["slot 2", "slot 0"]
    assert [row.title for row in sorted(rows, key=sort_key(TAB))] == ["", "A", "b", "c"]
    states = [COLUMNS[STATE].text_of(row) for row in sorted(rows, key=sort_key(STATE))]
    assert states == ["decode", "decode", "hibernated, disk", "empty"]


def test_widths_are_made_for_the_largest_number_this_context_can_show() -> None:
    own = COLUMNS[NUMBER_OF["cells own"]]
    assert widest_text(own, 131_072) == "999,999"
    assert widest_text(own, 512) == "9,999"


def test_the_tip_says_in_words_what_the_marks_say() -> None:
    paused = SequenceRow(waiting=waiting(WaitReason.PAUSED), saved=IN_RAM)
    assert row_tip(paused) == (
        "Other answers needed its cells; it continues when there is room · "
        "1,210 tokens saved in RAM, 141.0 MiB"
    )
    assert "pinned" in row_tip(SequenceRow(slot=SlotSnapshot(0, SlotState.WARM, "sums", is_pinned=True)))


def test_a_row_as_json_has_the_shape_of_llama_servers_slots() -> None:
    slot = replace(decoding(2, "sums"), max_context_tokens=4096)
    entry = json.loads(as_json(SequenceRow("Sums", slot=slot, cell_bytes=1024), MODEL))
    assert (entry["id"], entry["id_task"], entry["n_ctx"]) == (2, "of sums", 4096)
    assert (entry["is_processing"], entry["n_prompt_tokens"], entry["n_prompt_tokens_cache"]) == (
        True,
        96,
        99,
    )
    assert entry["next_token"] == [{"has_next_token": True, "n_decoded": 42}]
    assert entry["skein"]["slot"]["pos_max"] == 411
    assert entry["skein"]["size_bytes"] == 412 * 1024


def test_a_waiting_request_as_json_has_no_slot() -> None:
    entry = json.loads(as_json(SequenceRow("Sums", waiting=waiting(WaitReason.QUEUED)), None))
    assert (entry["id"], entry["id_task"], entry["is_processing"]) == (-1, "of sums", False)
    assert (entry["n_prompt_tokens"], entry["skein"]["slot"]) == (320, None)
