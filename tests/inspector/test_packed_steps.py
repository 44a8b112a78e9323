from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.inspector.packed_steps import NUM_UNPACKED, PER_PACK, PackedSteps, pack, unpack
from app.protocol.events import EventKind, Told
from app.protocol.output import FinishReason, PrefixEnd, SampledToken, TokenLogprob
from app.protocol.report import CellCheck, HibernatedChat, Lease, PauseState, StepReport, TokenTexts
from tests.inspector.steps import busy_step, idle_step, span, step, waiting

RARE = replace(
    busy_step(3),
    outputs=(
        replace(
            busy_step(3).outputs[0],
            finish_reason=FinishReason.STOP,
            notice="cut",
            logprobs=(SampledToken(TokenLogprob(7, b"\xe2", float("-inf"), 0.0), ()),),
        ),
    ),
    events=(Told(EventKind.HIBERNATE, "hibernated", 2, "chat 2"),),
    leases=(Lease("request 1", "chat 1", 1, 5, 4, 0, 0, 9, PrefixEnd.EDITED, (1, 2), (1, 3)),),
    hibernated=(HibernatedChat("chat 9", 400, 1 << 20, True),),
    waiting=(waiting(),),
    last_check=CellCheck(3, 8192, "cell 4: ours 3, theirs 5"),
    pause=PauseState("", (span(0, 9),)),
    answers=(TokenTexts((7,), (b"\xe2",)),),
    return_code=1,
)


def test_a_report_comes_back_as_it_was() -> None:
    reports = [busy_step(1), step(2), RARE, idle_step(4)]
    assert unpack(pack(reports)) == reports


def test_values_are_of_the_types_they_had() -> None:
    [report] = unpack(pack([RARE]))
    assert type(report.slots[0].state) is type(RARE.slots[0].state)
    assert report.outputs[0].finish_reason is FinishReason.STOP


@given(st.integers(0, 3 * PER_PACK), st.integers(1, 2 * NUM_UNPACKED + PER_PACK))
def test_the_newest_steps_are_kept_whatever_is_packed(more: int, max_steps: int) -> None:
    all_steps = _cheap_steps(NUM_UNPACKED + more)
    kept = PackedSteps(max_steps)
    for report in all_steps:
        kept.append(report)
    expected = all_steps[-max_steps:]
    assert len(kept) == len(expected)
    assert list(kept) == expected
    assert list(kept.so_far) == expected
    assert (kept[0], kept[-1], kept[len(expected) // 2]) == (
        expected[0],
        expected[-1],
        expected[len(expected) // 2],
    )
    for number in (0, 1, len(expected) // 2, len(expected)):
        assert kept.newest(number) == expected[len(expected) - number :]


def test_what_was_kept_at_one_moment_stays_while_steps_go_on() -> None:
    kept = PackedSteps(NUM_UNPACKED)
    for report in _cheap_steps(NUM_UNPACKED):
        kept.append(report)
    before = kept.so_far
    for report in _cheap_steps(3 * PER_PACK):
        kept.append(report)
    assert list(before) == _cheap_steps(NUM_UNPACKED)
    assert len(before) == NUM_UNPACKED


def test_there_is_nothing_beyond_the_ends() -> None:
    kept = PackedSteps(10)
    kept.append(step(1))
    assert kept[0:5] == [step(1)]
    for place in (1, -2):
        with pytest.raises(IndexError):
            kept[place]


def test_ten_thousand_busy_steps_take_little_memory() -> None:
    """Packed, a step of eight sequences is less than a tenth of its objects."""
    packed = pack([busy_step(number) for number in range(PER_PACK)])
    assert len(packed) / PER_PACK < 1_000


def _cheap_steps(number: int) -> list[StepReport]:
    return [step(one) for one in range(number)]
