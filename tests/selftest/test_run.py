"""The self-test passes on every family, and each fault that is planted makes it fail with the reason."""

import json
from dataclasses import replace

import pytest

from app.engine.engine import Engine
from app.engine.llama.loading import open_llama_backend
from app.protocol.load import LoadParams
from app.selftest.report import Outcome, Report
from app.selftest.run import run_checks, verifying_engine
from tests.effort import EFFORT
from tests.fakes import CountingBackend

FAMILIES = ["qwen2vl", "gemma3", "lfm2"]
if EFFORT > 1:
    FAMILIES += ["llama", "qwen3moe", "mamba"]


class Planted:
    """A backend with a fault: what the subclass does not spoil is the real one's."""

    def __init__(self, backend) -> None:
        self.backend = backend

    def __getattr__(self, name):
        return getattr(self.backend, name)


class CellsNotCleared(Planted):
    def truncate(self, seq_id, num_tokens):
        return True if num_tokens == 0 else self.backend.truncate(seq_id, num_tokens)


class PositionsShared(Planted):
    """One counter for all sequences, as the old server had it."""

    num_positions = 0

    def decode(self, batch):
        for row in range(batch.num_rows):
            batch.positions[row] = self.num_positions + row
        self.num_positions += batch.num_rows
        self.backend.decode(batch)


class WrongStateRestored(Planted):
    """The states of two chats are mixed up; they have as many cells."""

    def restore_state(self, seq_id, state):
        state = state.copy()
        state.view("int32")[3] += 1
        return self.backend.restore_state(seq_id, state)


class ProbabilitiesByCompany(Planted):
    """The last bits of a row depend on what else is in the batch, as in llama.cpp without the patches."""

    def decode(self, batch):
        self.num_rows = batch.num_rows
        self.backend.decode(batch)

    def new_sampler(self, *values):
        sampler = self.backend.new_sampler(*values)
        sample = sampler.sample_with_logprobs

        def sampled(*values):
            token = sample(*values)
            chosen = replace(token.chosen, logprob=token.chosen.logprob - 1e-7 * self.num_rows)
            return replace(token, chosen=chosen)

        sampler.sample_with_logprobs = sampled
        return sampler


class SamplersNotFreed(Planted):
    def new_sampler(self, *values):
        sampler = self.backend.new_sampler(*values)
        sampler.really_close, sampler.close = sampler.close, lambda: None
        self.leaked.append(sampler)
        return sampler


class AbortIgnored(Engine):
    def abort(self, request_id):
        pass


@pytest.fixture
def llama(tiny_gguf):
    params = LoadParams(tiny_gguf("qwen3"), n_ctx=512, n_seq_max=4, n_threads=1, num_drafted_tokens=0)
    with open_llama_backend(params) as backend:
        yield backend


@pytest.fixture(params=["fake", pytest.param("llama", marks=pytest.mark.native)])
def sound(request):
    """A backend without a fault."""
    return CountingBackend() if request.param == "fake" else request.getfixturevalue("llama")


def outcomes(report: Report) -> dict[str, Outcome]:
    return {line.name: line.outcome for line in report.lines}


def failures(report: Report) -> dict[str, str]:
    return {line.name: line.seen for line in report.lines if line.outcome is Outcome.FAILED}


def test_all_lines_pass_on_the_fake_too():
    report = run_checks(CountingBackend())
    assert outcomes(report) == dict.fromkeys("abcdefg", Outcome.PASSED), report.as_text()
    assert report.passed


@pytest.mark.native
@pytest.mark.parametrize(
    ("family", "isolated", "slots"),
    [
        *[(family, False, 5) for family in FAMILIES],
        ("llama", True, 3),
        ("gemma3", True, 2),
        ("mamba", False, 1),
    ],
)
def test_it_passes_on_every_kind_of_memory(tiny_gguf, family, isolated, slots):
    params = LoadParams(
        tiny_gguf(family),
        n_ctx=256,
        n_seq_max=slots,
        n_threads=1,
        isolated=isolated,
        num_drafted_tokens=0,
    )
    with open_llama_backend(params) as backend:
        report = run_checks(backend)
        assert outcomes(report) == dict.fromkeys("abcdefg", Outcome.PASSED), report.as_text()
        assert [backend.pos_max(seq_id) for seq_id in range(slots)] == [-1] * slots


def test_lines_that_need_longer_chats_are_skipped_with_the_reason():
    report = run_checks(CountingBackend(n_ctx_train=64))
    assert report.passed
    assert outcomes(report) == dict.fromkeys("abcdfg", Outcome.PASSED) | {"e": Outcome.SKIPPED}
    assert "only 64 tokens" in report.as_text()


def test_cells_that_are_not_cleared_are_found(sound):
    report = run_checks(CellsNotCleared(sound))
    assert not report.passed
    assert "still holds cells" in failures(report)["a"]


def test_positions_that_chats_share_are_found(sound):
    report = run_checks(PositionsShared(sound))
    assert not report.passed
    assert set("abcd") <= failures(report).keys()
    assert "position" in failures(report)["b"]


def test_an_abort_that_is_ignored_is_found(sound):
    report = run_checks(sound, make_engine=AbortIgnored)
    assert failures(report).keys() == {"d"}
    assert "the aborted answer was still in" in failures(report)["d"]


def test_a_wrong_state_is_found_by_the_text_it_leads_to():
    report = run_checks(WrongStateRestored(CountingBackend()))
    assert failures(report).keys() == {"e"}
    assert "when run alone" in failures(report)["e"]


@pytest.mark.native
def test_the_last_bits_are_compared_with_those_alone():
    def seen(backend):
        return next(line.seen for line in run_checks(backend).lines if line.name == "b")

    alone = "equal those of a run alone"
    assert f"tokens and their probabilities {alone}, to the last bit" in seen(CountingBackend())
    assert f"tokens {alone};" in seen(ProbabilitiesByCompany(CountingBackend()))


def test_samplers_that_are_not_freed_are_found(llama):
    planted = SamplersNotFreed(llama)
    planted.leaked = []
    report = run_checks(planted)
    for sampler in planted.leaked:
        sampler.really_close()
    assert failures(report).keys() == {"g"}
    assert "sampler" in failures(report)["g"]


def test_a_failure_leaves_the_later_lines_a_clean_engine():
    class FailsOnce(Planted):
        """The first request's cells are not cleared."""

        has_failed = False

        def truncate(self, seq_id, *end):
            if not self.has_failed and self.backend.pos_max(seq_id) > -1:
                self.has_failed = True
                return True
            return self.backend.truncate(seq_id, *end)

    report = run_checks(FailsOnce(CountingBackend()))
    assert failures(report).keys() == {"a"}


def test_it_can_be_called_off_at_any_step():
    for num_steps in (0, 1, 40, 150):
        backend, calls = CountingBackend(), iter(range(num_steps))
        report = run_checks(backend, is_cancelled=lambda calls=calls: next(calls, None) is None)
        assert report.was_cancelled
        assert not report.passed
        assert len(report.lines) < 7
        assert (backend.cells, backend.num_samplers) == ([], 0)


def test_progress_goes_from_nothing_to_all():
    told = []
    report = run_checks(CountingBackend(), on_progress=lambda *values: told.append(values))
    fractions = [fraction for fraction, _title in told]
    assert (fractions[0], fractions[-1]) == (0.0, 1.0)
    assert fractions == sorted(fractions)
    assert list(dict.fromkeys(title for _, title in told if title)) == [line.title for line in report.lines]


def test_every_step_is_compared_with_the_library():
    engine = verifying_engine(CountingBackend())
    assert engine._verify
    engine.close()


def test_the_report_is_text_and_json():
    report = run_checks(CountingBackend())
    told = json.loads(json.dumps(report.as_json()))
    assert told["passed"] is True
    assert [line["name"] for line in told["lines"]] == list("abcdefg")
    assert all(line["done"] and line["seen"] and line["seconds"] > 0 for line in told["lines"])
    text = report.as_text()
    assert all(line.title in text for line in report.lines)
    assert "7 passed" in text
