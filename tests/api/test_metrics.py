"""What is counted of the reports. That it agrees with the answers is shown in test_llama_server."""

from dataclasses import replace

import numpy as np

from app.api.metrics import Metrics, PromptProgress
from app.protocol.output import FinishReason, Output, PrefixEnd, Usage
from app.protocol.report import CellUsage, Lease, SlotSnapshot, SlotState, Span, StepReport

ENDED = Usage(
    num_prompt_tokens=10,
    num_reused_tokens=1,
    num_shared_tokens=2,
    num_restored_tokens=3,
    num_computed_tokens=8,
    num_generated_tokens=5,
    prompt_s=2.0,
    decode_s=0.5,
)


def noted(*outputs: Output) -> dict[str, float]:
    metrics = Metrics()
    metrics.note(StepReport(1, outputs, (), (), CellUsage(100, num_used=25)))
    lines = [line.split() for line in metrics.text(num_deferred=2).splitlines() if line[0] != "#"]
    return {name.removeprefix("llamacpp:"): float(value) for name, value in lines}


def test_an_answer_is_counted_when_it_ends():
    running = Output("r", "c", "text", usage=ENDED)
    assert noted(running)["tokens_predicted_total"] == 0
    values = noted(Output("r", "c", "text", FinishReason.STOP, usage=ENDED))
    assert values["prompt_tokens_total"] == 4
    assert values["prompt_tokens_cached_total"] == 6
    assert values["prompt_tokens_seconds"] == 2.0
    assert values["tokens_predicted_total"] == 5
    assert values["predicted_tokens_seconds"] == 8.0  # the first token belongs to the prompt
    assert values["n_tokens_max"] == 15


def test_guesses_are_counted_with_the_step_that_checks_them():
    span = Span(0, "c", "r", 9, 5, True, 3, None, num_drafted=4, num_kept=2)
    metrics = Metrics()
    metrics.note(StepReport(1, (), (span, replace(span, num_drafted=0, num_kept=0)), (), CellUsage(100)))
    counted = [metrics.num_drafts, metrics.num_drafted_tokens, metrics.num_accepted_tokens]
    assert counted == [1, 4, 2]
    for name, number in zip(("drafts", "draft_tokens", "accepted_tokens"), counted, strict=True):
        assert f"llamacpp:spec_decode_num_{name}_total {number}\n" in metrics.text(0)


def test_accepted_guesses_are_counted_by_their_place_once_there_was_one():
    metrics = Metrics()
    name = "llamacpp:spec_decode_num_accepted_tokens_per_pos_total"
    assert name not in metrics.text(0)
    span = Span(0, "c", "r", 9, 5, True, 3, None, num_drafted=4, num_kept=2)
    metrics.note(StepReport(1, (), (span, replace(span, num_kept=1)), (), CellUsage(100)))
    assert [line for line in metrics.text(0).splitlines() if line.startswith(name)] == [
        f'{name}{{position="0"}} 2',
        f'{name}{{position="1"}} 1',
    ]
    assert f"# TYPE {name} counter" in metrics.text(0)


def test_what_never_began_is_not_counted():
    refused = Output("r", "c", "", FinishReason.ERROR, usage=Usage(num_prompt_tokens=600), is_refused=True)
    values = noted(refused)
    assert (values["prompt_tokens_total"], values["n_tokens_max"]) == (0, 0)


def test_cells_and_waiting_requests_are_those_of_now():
    values = noted()
    assert (values["kv_cache_tokens"], values["kv_cache_usage_ratio"]) == (25, 0.25)
    assert values["requests_deferred"] == 2


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
