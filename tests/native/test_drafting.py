"""Guesses checked by llama.cpp: the same words with them and without, and the books as true as ever."""

from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from unittest import mock

import numpy as np
import pytest

from app.engine.engine import Engine
from app.engine.llama.loading import open_llama_backend
from app.engine.llama.logits import Candidates
from app.engine.llama.sampler import LlamaSampler
from app.protocol.load import LoadParams
from app.protocol.output import FinishReason
from app.protocol.sampling import SamplingParams
from app.system import paths
from tests.driver import GREEDY, all_guesses_checked, ask, next_turn, request, run
from tests.native.oracle import NOISE

pytestmark = pytest.mark.native

PLAIN = ["llama", "qwen3", "qwen2vl"]
WINDOWS = ["gemma2", "gemma3", "gemma4", "gpt-oss"]
STATES = ["lfm2", "qwen35", "nemotron_h"]
DRAFTING = [*PLAIN, *WINDOWS, *STATES]
CANNOT_TAKE_BACK = ["falcon-h1", "qwen3next", "mamba", "mamba2"]
COUNTING = "Count from 3 to 32"


@pytest.fixture(autouse=True)
def checked():
    with all_guesses_checked():
        yield


@contextmanager
def engines(backend):
    """One with draft tokens, and one on the same context without."""
    with mock.patch.object(backend, "model", replace(backend.model, num_drafted_tokens=0)):
        plain = Engine(backend, verify=True)
    engine = Engine(backend, verify=True)
    try:
        yield engine, plain
    finally:
        engine.close()
        plain.close()


@contextmanager
def opened_engines(loaded):
    """The same, on a context of their own."""
    with open_llama_backend(loaded) as backend, engines(backend) as both:
        yield both


@dataclass
class Watched:
    """The logits of each row that a sampler was given, and what it chose."""

    waits_for_trigger = False
    sampler: LlamaSampler
    logits: list[np.ndarray] = field(default_factory=list)
    token_ids: list[int] = field(default_factory=list)

    def sample(self, row):
        self.logits.append(self.sampler._logits[row].copy())
        self.token_ids.append(self.sampler.sample(row))
        return self.token_ids[-1]

    def sample_with_logprobs(self, row, num_logprobs):
        self.logits.append(self.sampler._logits[row].copy())
        sampled = self.sampler.sample_with_logprobs(row, num_logprobs)
        self.token_ids.append(sampled.chosen.token_id)
        return sampled

    def close(self):
        self.sampler.close()


def watched_answer(backend, engine, one):
    samplers = []
    new = backend.new_sampler
    watch = mock.Mock(side_effect=lambda *values: samplers.append(Watched(new(*values))) or samplers[-1])
    with mock.patch.object(backend, "new_sampler", watch):
        answer = ask(engine, one)
    [sampler] = samplers
    return answer, sampler


def assert_same_but_for_ties(ours, expected, noise=NOISE, *, is_drawn=False):
    """The logits are the same up to rounding; words part only where that decides, which a drawn one can."""
    for at, (found, wanted) in enumerate(zip(ours.logits, expected.logits, strict=False)):
        assert np.abs(found - wanted).max() <= noise, f"row {at} of {len(expected.logits)}"
        if ours.token_ids[at] != expected.token_ids[at]:
            second, first = np.sort(wanted)[-2:]
            assert is_drawn or first - second <= noise, f"token {at}: {first} against {second}"
            return
    assert ours.token_ids == expected.token_ids


@pytest.mark.parametrize("is_isolated", [False, True], ids=["unified", "isolated"])
@pytest.mark.parametrize("family", [*DRAFTING, *CANNOT_TAKE_BACK])
def test_every_family_answers_as_without_guesses(family, is_isolated, tiny_gguf):
    params = LoadParams(
        tiny_gguf(family),
        n_ctx=1024,
        n_seq_max=4,
        n_batch=64,
        n_threads=1,
        isolated=is_isolated,
        num_drafted_tokens=5,
    )
    # Of two tokens none is said that was not said before.
    sampling = replace(GREEDY, logit_bias=((97, 100.0), (98, 100.0)))
    one = request("abcabcabcabcabcabc", max_tokens=60, keep_cells=False, sampling=sampling)
    with open_llama_backend(params) as backend, engines(backend) as (engine, plain):
        assert backend.model.num_drafted_tokens == (5 if family in DRAFTING else 0)
        expected_answer, expected = watched_answer(backend, plain, one)
        answer, ours = watched_answer(backend, engine, one)
        assert_same_but_for_ties(ours, expected)
        assert answer.finish_reason is expected_answer.finish_reason
        assert (answer.usage.num_drafted_tokens > 0) is (family in DRAFTING)
        assert engine.slots.cells.num_used == 0


@pytest.fixture(scope="module")
def starter():
    params = LoadParams(paths.starter_model(), n_ctx=1024, n_seq_max=4, num_drafted_tokens=6)
    with open_llama_backend(params) as backend:
        yield backend


@pytest.fixture
def both(starter):
    """An engine with draft tokens, and one without."""
    with engines(starter) as pair:
        yield pair


def counted(engine, chat, **options):
    """A chat that has counted once and is asked to count again, from its answer."""
    first = request(COUNTING, chat, max_tokens=200)
    told = ask(engine, first)
    return replace(next_turn(first, told.text, COUNTING), **({"max_tokens": 200} | options))


@pytest.mark.parametrize("is_isolated", [False, True], ids=["unified", "isolated"])
def test_chats_that_repeat_themselves_answer_the_same_together_forked_and_hibernated(is_isolated):
    """The starter model is sure of these. Most of each second answer is in the chat already."""
    texts = [(COUNTING, COUNTING), ("What is a KV cache?",) * 2, ("Count from 5 to 34", "Count from 5 to 28")]

    def play(engine):
        first = [request(text, f"chat {number}", max_tokens=200) for number, (text, _) in enumerate(texts)]
        told = run(engine, *first).answers
        engine.slots.fork("chat 0", "fork")
        engine.slots.hibernate_chat("chat 1")
        second = [
            replace(next_turn(one, told[one.request_id].text, text), max_tokens=200)
            for one, (_, text) in zip(first, texts, strict=True)
        ]
        second.append(replace(second[0], request_id="fork", chat_id="fork"))
        answers = run(engine, *second).answers
        for one in second:
            engine.forget(one.chat_id)
        assert engine.slots.cells.num_used == 0
        return [answers[one.request_id] for one in second]

    params = LoadParams(
        paths.starter_model(), n_ctx=2048, n_seq_max=4, num_drafted_tokens=6, isolated=is_isolated
    )
    with open_llama_backend(params) as backend, engines(backend) as both:
        answers, expected = map(play, both)
    assert [one.text for one in answers] == [one.text for one in expected]
    assert {one.finish_reason for one in answers} == {FinishReason.STOP}
    num_kept = sum(one.usage.num_kept_tokens for one in answers)
    assert 200 < num_kept < sum(one.usage.num_drafted_tokens for one in answers)


def test_an_answer_broken_off_among_guesses_leaves_its_chat_usable(both):
    engine, plain = both
    second = counted(engine, "chat")
    engine.add_request(second)
    while not any(span.num_kept for span in engine.step().spans):
        pass
    engine.abort(second.request_id)
    answer = ask(engine, replace(second, request_id="again"))
    assert answer.text == ask(plain, replace(second, chat_id="other", keep_cells=False)).text
    assert answer.usage.num_kept_tokens > 0
    engine.forget("chat")


SAMPLING = {
    "greedy": {"temperature": 0.0},
    "seeded": {"temperature": 0.9, "top_k": 20},
    "penalties": {"repeat_penalty": 1.1, "presence_penalty": 0.2, "frequency_penalty": 0.1},
    "dry": {"dry_multiplier": 0.5},
    "mirostat": {"mirostat": 2},
    "xtc": {"xtc_probability": 0.5, "temperature": 1.0},
    "grammar": {"grammar": 'root ::= [0-9]+ (", " [0-9]+)* "."?', "temperature": 0.7},
}


@dataclass
class OneRow:
    """Of logits, whichever is asked for."""

    logits: np.ndarray
    candidates: Candidates

    def __getitem__(self, _row: int) -> np.ndarray:
        return self.logits


@pytest.mark.parametrize("kind", SAMPLING)
def test_samplers_go_on_with_each_token_of_the_answer_and_with_no_other(starter, both, kind):
    """What one was given, given to a new one token by token, makes that choose the same."""
    engine, plain = both
    params = SamplingParams(**({"seed": 7} | SAMPLING[kind]))
    second = counted(engine, "chat", max_tokens=100, sampling=params, num_logprobs=3)
    answer, ours = watched_answer(starter, engine, second)
    assert answer.usage.num_kept_tokens > 0
    replayed = starter.new_sampler(params, engine.prompts.build(second).token_ids)
    for logits, token_id in zip(ours.logits, ours.token_ids, strict=True):
        replayed._logits = OneRow(logits, Candidates(starter.model.n_vocab))
        assert replayed._draw(0).selected == token_id
    replayed.close()
    _, expected = watched_answer(starter, plain, replace(second, chat_id="other"))
    assert_same_but_for_ties(ours, expected, noise=0.1, is_drawn=True)
    engine.forget("chat")
    plain.forget("other")


def test_guessed_tokens_have_the_probabilities_they_have_without_guesses(both):
    engine, plain = both
    second = counted(plain, "chat", num_logprobs=2, sampling=GREEDY, keep_cells=False)
    wanted, ours = (
        [token for report in run(one, second).reports for out in report.outputs for token in out.logprobs]
        for one in (plain, engine)
    )
    assert len(ours) == len(wanted) > 50
    for token, expected in zip(ours, wanted, strict=True):
        assert token.chosen.token_id == expected.chosen.token_id
        assert token.chosen.logprob == pytest.approx(expected.chosen.logprob, abs=0.02)
        assert len(token.likeliest) == 2
