"""How a prompt's progress is followed through the engine's reports."""

import numpy as np

from app.api.metrics import PromptProgress
from app.protocol.output import PrefixEnd, Usage
from app.protocol.report import CellUsage, Lease, SlotSnapshot, SlotState, Span, StepReport

LEASE = Lease("mine", "c", 0, 20, 10, 6, 4, 80, PrefixEnd.NEW_TEXT)


def step(num_rows: int = 0, *leases: Lease, seconds: float = 0.0, request: str = "mine") -> StepReport:
    tokens = np.zeros(num_rows, np.int32).tobytes()
    span = Span(0, "c", request, 0, num_rows, False, 0, None, is_prefill=True, token_bytes=tokens)
    slot = SlotSnapshot(0, SlotState.PREFILL, usage=Usage(prompt_s=seconds))
    return StepReport(1, (), (span,) if num_rows else (), (slot,), CellUsage(512), leases=leases)


def told(*reports: StepReport) -> list[tuple[int, int, int, int]]:
    progress = PromptProgress()
    updates = [one.json for report in reports for one in progress.updates(report, "mine")]
    return [(one["total"], one["cache"], one["processed"], one["time_ms"]) for one in updates]


def test_it_begins_with_what_was_cached_and_goes_on_with_each_step():
    steps = told(step(32, LEASE, seconds=0.1), step(48, seconds=0.2))
    assert steps == [(100, 20, 20, 0), (100, 20, 52, 100), (100, 20, 100, 200)]


def test_others_have_no_part_in_it():
    assert told(step(32), step(32, request="another")) == []


def test_a_prompt_that_was_paused_and_is_computed_again_never_goes_back_or_beyond_its_end():
    steps = told(step(60, LEASE, seconds=0.2), step(60, LEASE, seconds=0.1))
    assert [processed for _total, _cache, processed, _ms in steps] == [20, 80, 100]
    assert [ms for _total, _cache, _processed, ms in steps] == [0, 200, 200]
