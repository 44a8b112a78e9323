"""What is packed comes out the same; what was not packed by us is refused, and runs nothing."""

from __future__ import annotations

import random
import re
import zlib
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.engine.prompts.prompts_elsewhere import CALLS, work_of
from app.protocol import wire
from app.protocol.commands import Command, FillSlot, Pause, RunUntil, Submit, UntilDecodeFails, UntilEnd
from app.protocol.errors import EngineError, InvalidRequestError, PromptTooLongError
from app.protocol.events import Event, Told
from app.protocol.lens import Attention
from app.protocol.model import ModelInfo
from app.protocol.output import Output
from app.protocol.report import Answer, CellMap, CellUsage, SavedState, SlotAnswer, StepReport
from app.protocol.request import Message, Request, Role
from app.protocol.wire import COMMAND, LOAD_PARAMS, MODEL, REPORT, ReportReader, ReportWriter, WireError
from app.system.said import Said, said
from tests.effort import EFFORT
from tests.inspector.reports import decoding, report
from tests.protocol import values

NOT_EQUAL = (CellMap, Attention, SavedState, SlotAnswer, FillSlot)  # they compare by identity


def same(one: Any, other: Any) -> bool:
    """Also of arrays, and with the types of all values in it."""
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and np.array_equal(one, other)
    if isinstance(one, Said):
        return isinstance(other, Said) and one == other
    if type(one) is not type(other) and not isinstance(other, Said):
        return False
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if is_dataclass(one):
        return all(same(getattr(one, each.name), getattr(other, each.name)) for each in fields(one))
    return bool(one == other)


@pytest.mark.parametrize("kind", get_args(Command), ids=lambda kind: kind.__name__)
def test_every_command_comes_back_the_same(kind: type) -> None:
    @settings(max_examples=10 * EFFORT)
    @given(values.of(kind))
    def check(command: Any) -> None:
        assert same(command, COMMAND.unpacked(COMMAND.packed(command)))

    check()


@pytest.mark.parametrize("kind", [*get_args(Event), *get_args(Answer)], ids=lambda kind: kind.__name__)
def test_every_event_and_answer_comes_back_the_same(kind: type) -> None:
    name = "events" if kind in get_args(Event) else "answers"

    @settings(max_examples=10 * EFFORT)
    @given(values.of(kind))
    def check(happened: Any) -> None:
        one: StepReport = replace(report(1), **{name: (happened,)})
        assert same(one, REPORT.unpacked(REPORT.packed(one)))

    check()


@settings(max_examples=40 * EFFORT)
@given(values.of(StepReport))
def test_every_report_comes_back_the_same(one: StepReport) -> None:
    assert same(one, REPORT.unpacked(REPORT.packed(one)))


@settings(max_examples=20 * EFFORT)
@given(values.of(ModelInfo), values.LOAD_PARAMS)
def test_models_and_how_they_are_loaded_come_back_the_same(model: ModelInfo, params: Any) -> None:
    assert same(model, MODEL.unpacked(MODEL.packed(model)))
    assert same(params, LOAD_PARAMS.unpacked(LOAD_PARAMS.packed(params)))


@settings(max_examples=20 * EFFORT)
@given(st.lists(values.of(StepReport), max_size=3), st.lists(values.cell_maps(), max_size=3))
def test_reports_that_are_told_as_changes_come_back_whole(
    reports: list[StepReport], maps: list[CellMap]
) -> None:
    reports += [replace(report(7, decoding(0, "chat")), cell_map=one) for one in maps]
    writer, reader = ReportWriter(), ReportReader()
    for each in reports:
        assert same((each,), tuple(reader.unpacked(writer.packed([each]))))


def test_what_did_not_change_costs_next_to_nothing() -> None:
    writer, reader = ReportWriter(), ReportReader()
    cells = [np.arange(4096, dtype=dtype) for dtype in ("<i4", "<i4", "<u8")]
    first = CellMap(cells[0], cells[1], cells[2].reshape(-1, 1))
    second = CellMap(np.where(cells[0] == 7, -1, cells[0]), *(first.token_ids, first.holders))
    one = replace(report(1, *(decoding(seq_id, "chat") for seq_id in range(4))), cell_map=first)
    other = replace(one, cell_map=second)
    told = [writer.packed([each]) for each in (one, other)]
    sizes = [len(zlib.compress(b"".join(parts))) for parts in told]
    assert sizes[0] > 10_000
    assert sizes[1] < 700
    assert [same(each, reader.unpacked(parts)[0]) for parts, each in zip(told, (one, other), strict=True)]


def test_a_map_of_other_cells_is_told_whole() -> None:
    """Arrays of strange shapes could become as large as the product of their lengths."""

    def cells(*shape: int) -> CellMap:
        zeros = np.zeros(shape, "<i4")
        return CellMap(zeros, zeros, np.zeros((4, 1), "<u8"))

    writer, reader = ReportWriter(), ReportReader()
    for one in (cells(4), cells(4, 1)):
        [read] = reader.unpacked(writer.packed([replace(report(1), cell_map=one)]))
        assert read.cell_map
        assert read.cell_map.pos.shape == one.pos.shape


def test_conditions_without_fields_are_told_apart() -> None:
    for condition in (UntilEnd(), UntilDecodeFails()):
        found = COMMAND.unpacked(COMMAND.packed(RunUntil(condition)))
        assert isinstance(found, RunUntil)
        assert type(found.condition) is type(condition)


def test_a_sentence_can_be_told_in_another_language_where_it_arrives() -> None:
    notice = said("It holds {number:,} tokens.", number=1000)
    one = replace(report(1), outputs=(Output("r", "c", notice=notice),))
    found = REPORT.unpacked(REPORT.packed(one)).outputs[0].notice
    assert isinstance(found, Said)
    assert found.template == notice.template
    assert wire.unpacked_error(wire.packed_error(EngineError(notice))).args[0].template == notice.template


def test_half_a_character_does_not_stop_a_message() -> None:
    submit = Submit(Request("r", "c", (Message(Role.USER, "half \ud800 of it"),)))
    found = COMMAND.unpacked(COMMAND.packed(submit))
    assert isinstance(found, Submit)
    assert found.request.messages[0].content == "half ? of it"


def test_a_long_list_in_a_chat_is_no_flood() -> None:
    submit = Submit(Request("r", "c", (Message(Role.USER, "1," * wire.MAX_VALUES),)))
    assert COMMAND.unpacked(COMMAND.packed(submit)) == submit


def test_errors_cross_by_their_kind() -> None:
    found = wire.unpacked_error(wire.packed_error(PromptTooLongError("It is too long.", 9000)))
    assert isinstance(found, PromptTooLongError)
    assert found.num_prompt_tokens == 9000
    foreign = wire.unpacked_error(wire.packed_error(KeyError("/home/someone")))
    assert type(foreign) is EngineError
    assert "someone" not in str(foreign)
    for bad in (None, ["SystemExit", "x", 0], ["EngineError", 3, 0], ["EngineError"], [["x"], "y", 0]):
        with pytest.raises(WireError):
            wire.unpacked_error(bad)


def ask_to(name: str, *values: Any, **flags: bool) -> list[bytes]:
    arguments, _result = CALLS[name]
    assert arguments
    return arguments.packed((values, flags))


def examples() -> list[bytes]:
    cells = [np.arange(64, dtype=dtype) for dtype in ("<i4", "<i4", "<u8")]
    cell_map = CellMap(cells[0], cells[1], cells[2].reshape(-1, 1))
    happened = replace(report(1, decoding(0, "chat")), cell_map=cell_map)
    state = SavedState((1, 2), np.arange(9, dtype="u1"), "f")
    request = Request("r", "c", (Message(Role.USER, "Hello"),))
    return [
        wire.frame({"do": "post"}, *COMMAND.packed(Submit(request))),
        wire.frame({"do": "post"}, *COMMAND.packed(FillSlot("q", 0, state))),
        wire.frame({"do": "post"}, *COMMAND.packed(Pause())),
        wire.frame({"n": 1}, *ReportWriter().packed([happened, happened])),
        wire.frame({"n": 1}, *ask_to("tokenize", "a", 3, parse_special=True)),
    ]


def mutated(frame: bytes, chance: random.Random) -> bytes:
    data = bytearray(frame)
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(data)) if data else 0
        match chance.randrange(5):
            case 0:
                data[at : at + 1] = bytes([chance.randrange(256)])
            case 1:
                del data[at : at + chance.randint(1, 30)]
            case 2:
                data[at:at] = data[chance.randrange(len(data) + 1) :][:30]
            case 3:
                data[at:at] = chance.choice([b"-1", b"99999999999999999999", b"[[[[", b"null", b'"', b"\xff"])
            case 4:
                data[at : at + 4] = chance.choice([b"true", b"1e99", b"NaN ", b"{}{}"])
    return bytes(data)


def test_damaged_frames_are_refused_by_one_error() -> None:
    chance, good = random.Random(56), examples()
    num_refused = 0
    for _ in range(10_000):
        frame = mutated(chance.choice(good), chance)
        try:
            message, parts = wire.message_in(frame)
            if "n" not in message:
                COMMAND.unpacked(parts)
            else:
                for one in ReportReader().unpacked(parts):
                    wire.check_report(one)
                work_of("tokenize", parts)
        except InvalidRequestError:
            num_refused += 1
        except ValueError:  # WireError is one
            num_refused += 1
    assert num_refused > 5_000


@pytest.mark.parametrize(
    "frame",
    [
        b"",
        b"\n",
        b"[]\n",
        b'{"parts": [-1]}\nabc',
        b'{"parts": [4]}\nabc',
        b'{"parts": [1e400]}\nabc',
        b'{"parts": "abc"}\nabc',
        b'{"parts": {"a": 1}}\nabc',
        b'{"parts": [true, 2]}\nabcd',
        b"[" * 100_000 + b"\n",
        b'{"a": 1}\nmore',
    ],
)
def test_frames_that_are_no_messages_are_refused(frame: bytes) -> None:
    with pytest.raises(WireError):
        wire.message_in(frame)


def test_changes_of_no_report_are_refused() -> None:
    writer = ReportWriter()
    writer.packed([report(1)])
    with pytest.raises(WireError):
        ReportReader().unpacked(writer.packed([report(2)]))
    with pytest.raises(WireError):
        ReportReader().unpacked([])


def test_numbers_that_cannot_be_drawn_are_refused() -> None:
    with pytest.raises(ValueError, match="out of range"):
        wire.check_report(replace(report(1), cells=CellUsage(2**60)))


def test_nothing_but_what_is_listed_can_be_asked_of_prompts() -> None:
    arguments = ask_to("written", (1,))
    for name in ("close", "__class__", "_backend", None, 3):
        with pytest.raises(WireError):
            work_of(name, arguments)
    with pytest.raises(WireError):
        work_of("render", arguments)


def test_an_old_event_in_words_is_an_event_like_any_other() -> None:
    assert Told in get_args(Event)


def test_no_module_runs_what_it_reads() -> None:
    unsafe = re.compile(
        r"^\s*(?:import|from)\s.*\b(?:pickle|marshal|shelve|dill|cloudpickle)\b", re.MULTILINE
    )
    assert unsafe.search("import json\n    from pickle import loads\n")
    for path in Path("app").rglob("*.py"):
        assert not unsafe.search(path.read_text(encoding="utf-8")), path
