"""The sampler chain in C against the same arithmetic in numpy, and answers that follow a grammar."""

import json
import os
import re
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pytest

from app.engine.batch import Batch, BatchSpan
from app.engine.engine import Engine
from app.engine.llama import sampler as sampler_module
from app.engine.llama.loading import open_llama_backend
from app.engine.llama.native_library import native_objects
from app.engine.prompt import Guide, Reasoning
from app.engine.prompts.chat_worker import ChatWorker
from app.engine.prompts.message_reader import AnswerReader
from app.protocol.commands import ReadAhead
from app.protocol.errors import GrammarError, InvalidRequestError
from app.protocol.load import LoadParams
from app.protocol.output import FinishReason
from app.protocol.sampling import NEVER, SamplingParams
from app.system import paths
from tests.driver import ask, request, run
from tests.native.tiny_ggufs import write_tiny_gguf
from tests.protocol.test_grammar import READABLE

pytestmark = pytest.mark.native

# Nothing is cut and nothing is warmed or cooled.
PLAIN = SamplingParams(temperature=1.0, top_k=0, top_p=1.0, min_p=0.0, seed=1)
LETTERS = b"abcdefgh"


@pytest.fixture
def backend(tiny_gguf):
    params = LoadParams(tiny_gguf("qwen3"), n_ctx=256, n_seq_max=4, n_batch=64, n_threads=1)
    with open_llama_backend(params) as llama:
        yield llama


@pytest.fixture
def logits(backend):
    """The logits of row 0, after a decode. What is written into them is sampled."""
    backend.decode(one_row(backend))
    view = backend.logits[0]
    view[:] = np.random.default_rng(7).normal(0.0, 2.0, len(view))
    return view


def one_row(backend):
    batch = Batch(backend.model.n_batch)
    batch.token_ids[0], batch.positions[0], batch.seq_ids[0], batch.wants_logits[0] = 1, 0, 0, 1
    batch.spans.append(BatchSpan(None, 0, 0, 0, 1, True, True))
    batch.num_rows = 1
    return batch


def drawn_from(backend, params, prompt=(), num_tokens=1):
    """What the chain chose among for the last of `num_tokens` tokens: probabilities by token id."""
    sampler = backend.new_sampler(params, list(prompt))
    for _ in range(num_tokens):
        sampled = sampler.sample_with_logprobs(0, 1)
    sampler.close()
    left = backend.logits.candidates.left
    assert sampled.chosen.token_id in left["id"]
    return {int(token_id): float(p) for token_id, p in zip(left["id"], left["p"], strict=True) if p > 0}


def softmax(values):
    exponents = np.exp(np.asarray(values, np.float64) - np.max(values))
    return exponents / exponents.sum()


def assert_drawn(drawn, allowed, logits):
    """Of all tokens the `allowed` ones are left, as likely beside each other as their `logits` say."""
    allowed = sorted(int(token_id) for token_id in allowed)
    assert sorted(drawn) == allowed
    expected = softmax(logits[allowed])
    assert [drawn[token_id] for token_id in allowed] == pytest.approx(list(expected), rel=1e-3, abs=1e-6)


# Each sampler does what its definition says


def test_with_everything_off_all_tokens_are_drawn_from(backend, logits):
    assert_drawn(drawn_from(backend, PLAIN), range(len(logits)), logits)


def test_temperature_divides(backend, logits):
    drawn = drawn_from(backend, replace(PLAIN, temperature=0.5))
    assert_drawn(drawn, range(len(logits)), logits / 0.5)


def test_top_k(backend, logits):
    assert_drawn(drawn_from(backend, replace(PLAIN, top_k=5)), np.argsort(-logits)[:5], logits)


@pytest.mark.parametrize("top_p", [0.0, 0.5, 0.95])
def test_top_p(backend, logits, top_p):
    order = np.argsort(-logits)
    num = int(np.searchsorted(np.cumsum(softmax(logits)[order]), top_p)) + 1
    assert_drawn(drawn_from(backend, replace(PLAIN, top_p=top_p)), order[:num], logits)


@pytest.mark.parametrize("min_p", [0.05, 0.5, 1.0])
def test_min_p(backend, logits, min_p):
    allowed = np.flatnonzero(logits >= logits.max() + np.log(min_p))
    assert_drawn(drawn_from(backend, replace(PLAIN, min_p=min_p)), allowed, logits)


@pytest.mark.parametrize("top_n_sigma", [0.5, 1.0, 2.0])
def test_top_n_sigma(backend, logits, top_n_sigma):
    allowed = np.flatnonzero(logits >= logits.max() - top_n_sigma * logits.std())
    assert_drawn(drawn_from(backend, replace(PLAIN, top_n_sigma=top_n_sigma)), allowed, logits)


def typical(logits, typical_p):
    """The tokens whose surprise is nearest to the mean one, until they make up `typical_p`."""
    p = softmax(logits)
    entropy = -(p * np.log(p)).sum()
    order = np.argsort(np.abs(-np.log(p) - entropy), kind="stable")
    return order[: int(np.searchsorted(np.cumsum(p[order]), typical_p, side="right")) + 1]


@pytest.mark.parametrize("typical_p", [0.0, 0.3, 0.9])
def test_typical_p(backend, logits, typical_p):
    drawn = drawn_from(backend, replace(PLAIN, typical_p=typical_p))
    assert_drawn(drawn, typical(logits, typical_p), logits)


def test_typical_p_looks_past_tokens_that_are_ruled_out(backend, logits):
    """llama.cpp alone would take the logarithm of 0, and then cut by likelihood instead."""
    banned = np.argsort(-logits)[:3]
    drawn = drawn_from(
        backend,
        replace(PLAIN, typical_p=0.3, logit_bias=tuple((int(token_id), NEVER) for token_id in banned)),
    )
    rest = np.setdiff1d(np.arange(len(logits)), banned)
    assert_drawn(drawn, rest[typical(logits[rest], 0.3)], logits)


def test_xtc_leaves_out_all_likely_tokens_but_the_last(backend, logits):
    logits[:4] = logits.max() + np.array([3.0, 2.8, 2.6, 2.4])
    likely = np.flatnonzero(softmax(logits) >= 0.1)
    assert len(likely) > 2
    keep = likely[np.argmin(logits[likely])]
    allowed = np.setdiff1d(np.arange(len(logits)), likely[likely != keep])
    assert_drawn(drawn_from(backend, replace(PLAIN, xtc_probability=1.0)), allowed, logits)


def test_xtc_over_a_half_does_nothing(backend, logits):
    drawn = drawn_from(backend, replace(PLAIN, xtc_probability=1.0, xtc_threshold=0.51))
    assert_drawn(drawn, range(len(logits)), logits)


@pytest.mark.parametrize("dynatemp_exponent", [0.5, 1.0, 3.0])
@pytest.mark.parametrize(("temperature", "dynatemp_range"), [(1.0, 0.5), (0.8, 0.8)])
def test_dynamic_temperature_rises_with_entropy(
    backend, logits, temperature, dynatemp_range, dynatemp_exponent
):
    p = softmax(logits)
    entropy = -(p * np.log(p)).sum() / np.log(len(logits))
    low = temperature - dynatemp_range
    expected = low + 2 * dynatemp_range * entropy**dynatemp_exponent
    drawn = drawn_from(
        backend,
        replace(
            PLAIN,
            temperature=temperature,
            dynatemp_range=dynatemp_range,
            dynatemp_exponent=dynatemp_exponent,
        ),
    )
    first, second = np.argsort(-logits)[:2]
    measured = (logits[first] - logits[second]) / np.log(drawn[first] / drawn[second])
    assert measured == pytest.approx(expected, rel=0.01)


def test_dynamic_temperature_of_one_sure_token_stays_a_number(backend, logits):
    """Near a temperature of zero the quotients would be infinite, and the last token chosen."""
    logits[:] = 984.0
    logits[3] = 1000.0
    params = replace(PLAIN, temperature=1.0, dynatemp_range=1.0, dynatemp_exponent=10.0)
    assert drawn_from(backend, params) == {3: pytest.approx(1.0)}


def test_dry_lowers_what_would_go_on_with_a_repetition(backend, logits):
    logits[:] = 1.0
    a, b, c, d = backend.tokenize("abcd", parse_special=False)
    params = replace(PLAIN, dry_multiplier=0.5, dry_base=2.0, dry_allowed_length=2)
    drawn = drawn_from(backend, params, prompt=[a, b, c, d, a, b, c])
    logits[d] -= 0.5 * 2.0 ** (3 - 2)  # three tokens come again, one more than allowed
    assert_drawn(drawn, range(len(logits)), logits)


def test_dry_forgets_at_a_sequence_breaker(backend, logits):
    logits[:] = 1.0
    a, colon, b, c = backend.tokenize("a:bc", parse_special=False)
    params = replace(PLAIN, dry_multiplier=0.5, dry_base=2.0, dry_allowed_length=2)
    prompt = [a, colon, b, c, a, colon, b]
    assert_drawn(drawn_from(backend, params, prompt), range(len(logits)), logits)
    drawn = drawn_from(backend, replace(params, dry_sequence_breakers=()), prompt)
    logits[c] -= 0.5 * 2.0 ** (3 - 2)
    assert_drawn(drawn, range(len(logits)), logits)


@pytest.mark.parametrize("breaker", ["🙂", "ä:", "x" * 40, "\ufdd0", "\x01", "<|im_end|>"])
def test_dry_takes_any_sequence_breaker(backend, logits, breaker):
    params = replace(PLAIN, dry_multiplier=0.8, dry_sequence_breakers=(breaker,))
    assert_drawn(drawn_from(backend, params), range(len(logits)), logits)


def test_logit_bias_is_added(backend, logits):
    drawn = drawn_from(backend, replace(PLAIN, logit_bias=((3, 2.5), (4, -1.0), (5, NEVER))))
    logits[3] += 2.5
    logits[4] -= 1.0
    assert_drawn(drawn, np.setdiff1d(np.arange(len(logits)), [5]), logits)


def test_penalties_count_what_came(backend, logits):
    drawn = drawn_from(
        backend,
        replace(PLAIN, repeat_penalty=1.5, frequency_penalty=0.25, presence_penalty=0.5),
        prompt=[3, 3, 4],
    )
    for token_id, count in ((3, 2), (4, 1)):
        logits[token_id] = logits[token_id] * 1.5 if logits[token_id] <= 0 else logits[token_id] / 1.5
        logits[token_id] -= 0.25 * count + 0.5
    assert_drawn(drawn, range(len(logits)), logits)


@pytest.mark.parametrize("grammar", ["", "root ::= [a-z]*"])
@pytest.mark.parametrize("with_logprobs", [False, True])
def test_penalties_count_what_was_drawn(backend, logits, grammar, with_logprobs):
    params = SamplingParams(temperature=0.0, frequency_penalty=100.0, grammar=grammar)
    sampler = backend.new_sampler(params, [])
    tokens = [
        sampler.sample_with_logprobs(0, 1).chosen.token_id if with_logprobs else sampler.sample(0)
        for _ in range(5)
    ]
    sampler.close()
    assert len(set(tokens)) == 5


def test_mirostat_2_cuts_what_would_surprise_too_much_and_learns(backend, logits):
    tau, eta = 2.0, 0.3
    params = replace(PLAIN, mirostat=2, mirostat_tau=tau, mirostat_eta=eta)
    surprise = -np.log2(softmax(logits))
    sampler = backend.new_sampler(params, [])
    limit = 2 * tau
    for _ in range(3):
        chosen = sampler.sample_with_logprobs(0, 1).chosen
        drawn = {int(token_id): float(p) for token_id, _logit, p in backend.logits.candidates.left}
        assert_drawn(drawn, np.flatnonzero(surprise <= limit), logits)
        limit -= eta * (-np.log2(chosen.probability) - tau)
    sampler.close()


def test_mirostat_1_estimates_how_many_tokens_to_keep(backend, logits):
    tau = 3.0
    p = np.sort(softmax(logits))[::-1][:100]
    t = np.log(np.arange(2, 101) / np.arange(1, 100))
    b = np.log(p[:-1] / p[1:])
    s = (t * b).sum() / (t * t).sum()
    epsilon = s - 1
    k = ((epsilon * 2 ** (2 * tau)) / (1 - float(len(logits)) ** -epsilon)) ** (1 / s)
    drawn = drawn_from(backend, replace(PLAIN, mirostat=1, mirostat_tau=tau))
    assert_drawn(drawn, np.argsort(-logits)[: max(int(k), 1)], logits)


def test_samplers_come_in_llama_servers_order(backend, logits):
    """Temperature last: it does not change what the others cut."""
    params = replace(PLAIN, top_k=20, typical_p=0.8, top_p=0.9, min_p=0.1)
    cold, hot = (drawn_from(backend, replace(params, temperature=temperature)) for temperature in (0.1, 10.0))
    assert set(cold) <= set(hot)
    top = np.argsort(-logits)[:20]
    kept = top[typical(logits[top], 0.8)]
    order = kept[np.argsort(-logits[kept])]
    kept = order[: int(np.searchsorted(np.cumsum(softmax(logits[order])), 0.9)) + 1]
    assert set(hot) == {
        int(token_id) for token_id in kept if logits[token_id] >= logits[kept].max() + np.log(0.1)
    }


# Greedy, seeds


def test_greedy_is_not_touched_by_what_draws(backend, logits):
    params = SamplingParams(
        temperature=0.0, top_k=3, typical_p=0.1, xtc_probability=1.0, top_n_sigma=0.1, mirostat=2, seed=3
    )
    assert drawn_from(backend, params) == {int(logits.argmax()): 1.0}
    sampler = backend.new_sampler(params, [])
    assert sampler.sample(0) == logits.argmax()
    sampler.close()


@pytest.mark.parametrize("temperature", [1e-300, 1e-38, 1e-30, 0.0009])
def test_a_temperature_near_zero_is_greedy(backend, logits, temperature):
    """llama.cpp alone would divide to infinity and choose the last token."""
    sampler = backend.new_sampler(SamplingParams(temperature=temperature), [])
    assert {sampler.sample(0) for _ in range(5)} == {int(logits.argmax())}
    sampler.close()


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"xtc_probability": 0.5, "xtc_threshold": 0.01},
        {"mirostat": 1},
        {"mirostat": 2},
        {"grammar": "root ::= [a-z]*"},
    ],
    ids=str,
)
def test_a_seed_repeats_what_is_drawn(backend, logits, changes):
    def draw(seed):
        sampler = backend.new_sampler(replace(PLAIN, seed=seed, **changes), [])
        tokens = [sampler.sample(0) for _ in range(20)]
        sampler.close()
        return tokens

    assert draw(1) == draw(1) != draw(2)


# Logprobs


def test_logprobs_are_those_of_the_raw_logits(backend, logits):
    sampler = backend.new_sampler(SamplingParams(top_k=3, seed=5), [])
    sampled = sampler.sample_with_logprobs(0, 20)
    sampler.close()
    expected = np.log(softmax(logits))
    order = np.argsort(-logits)[:20]
    assert [one.token_id for one in sampled.likeliest] == list(order)
    assert [one.logprob for one in sampled.likeliest] == pytest.approx(list(expected[order]))
    assert sampled.chosen.logprob == pytest.approx(expected[sampled.chosen.token_id])
    assert sum(one.probability for one in sampled.likeliest) == pytest.approx(1.0)
    assert [one.probability > 0 for one in sampled.likeliest] == [True] * 3 + [False] * 17
    assert sampled.chosen in sampled.likeliest


def test_logprobs_name_control_tokens(backend, logits):
    (end,) = backend.tokenize("<|im_end|>", parse_special=True)
    logits[end] = 50.0
    sampler = backend.new_sampler(SamplingParams(temperature=0.0), [])
    assert sampler.sample_with_logprobs(0, 1).chosen.text == b"<|im_end|>"
    sampler.close()


def test_asking_for_logprobs_changes_no_answer(backend):
    engine = Engine(backend)
    sampling = SamplingParams(seed=11)
    plain, told = (
        run(engine, request("hello", sampling=sampling, num_logprobs=n, keep_cells=False)) for n in (0, 5)
    )
    engine.close()
    (plain_answer,), (told_answer,) = plain.answers.values(), told.answers.values()
    assert plain_answer.text == told_answer.text
    outputs = [output for report in told.reports for output in report.outputs]
    tokens = [sampled for output in outputs for sampled in output.logprobs]
    assert len(tokens) == told_answer.usage.num_generated_tokens
    assert all(len(sampled.likeliest) == 5 for sampled in tokens)


def test_who_asks_for_neither_pays_for_neither(tiny_gguf):
    with open_llama_backend(LoadParams(tiny_gguf("qwen3"), n_ctx=256, n_threads=1)) as backend:
        engine = Engine(backend)
        ask(engine, request("hello", sampling=SamplingParams()))
        assert "candidates" not in vars(backend)
        engine.close()


# Grammars


def test_answers_in_one_batch_follow_their_own_grammars(backend):
    engine = Engine(backend)
    grammars = ['root ::= "yes" | "no"', "root ::= [0-9]{3}", 'root ::= ("ab")+ "!"', "root ::= [A-Z]{4}"]
    requests = [
        request(f"q{n}", sampling=SamplingParams(grammar=text, temperature=2.0, seed=n), max_tokens=60)
        for n, text in enumerate(grammars)
    ]
    result = run(engine, *requests)
    engine.close()
    answers = [result.answers[one.request_id] for one in requests]
    assert max(len(report.spans) for report in result.reports) > 1
    for answer, pattern in zip(answers, ["yes|no", "[0-9]{3}", "(ab)+!", "[A-Z]{4}"], strict=True):
        assert re.fullmatch(pattern, answer.text, re.DOTALL) or answer.finish_reason is FinishReason.LENGTH
    assert [answer.finish_reason for answer in answers[:2]] == [FinishReason.STOP] * 2


def test_the_answer_ends_only_where_the_grammar_does(backend, logits):
    """However sure the model is that it should end."""
    (end,) = backend.tokenize("<|im_end|>", parse_special=True)
    logits[end] = 100.0
    sampler = backend.new_sampler(SamplingParams(temperature=0.0, grammar='root ::= "abc"'), [])
    tokens = [sampler.sample(0) for _ in range(4)]
    sampler.close()
    assert b"".join(map(backend.token_piece, tokens[:3])) == b"abc"
    assert tokens[3] == end


def spoken(backend, guide, tokens):
    """What is sampled where the model is sure of `tokens` one after the other, and says "z" for ever then."""
    logits = backend.logits[0]
    sampler = backend.new_sampler(SamplingParams(temperature=0.0), [1], 0, guide)
    (other,) = backend.tokenize("z", parse_special=False)
    sampled = []
    for token_id in [*tokens, *[other] * 3]:
        logits[:] = 0.0
        logits[token_id] = 50.0
        sampled.append(sampler.sample(0))
    sampler.close()
    return b"".join(map(backend.written_piece, sampled))


CALL_GRAMMAR = 'root ::= "<a>" [0-9]+ "!"'


def test_a_grammar_with_a_trigger_holds_from_there_on(backend, logits):
    guide = Guide(CALL_GRAMMAR, (re.compile(b"<a>"),))
    text = backend.tokenize("so <", parse_special=False)
    assert spoken(backend, guide, text) == b"so <zzz"
    text = backend.tokenize("so <a>", parse_special=False)
    said = spoken(backend, guide, text)
    assert said.startswith(b"so <a>")
    assert re.fullmatch(rb"so <a>[0-9]+(!(<\|\w+\|>)*)?", said)


def test_a_trigger_does_not_count_in_the_reasoning_but_its_end_may_be_one(backend, logits):
    def written(text):
        return tuple(backend.tokenize(text, parse_special=False))

    marks = Reasoning(written("("), (written(")"), written("<a>")))
    guide = Guide(CALL_GRAMMAR, (re.compile(b"<a>"),), opening=written("("), reasoning=marks)
    said = spoken(backend, guide, [*written("x<a>7"), *written("z")])
    assert said.startswith(b"x<a>7")
    assert b"z" not in said
    marks = Reasoning(written("("), (written(")"),))
    guide = Guide(CALL_GRAMMAR, (re.compile(b"<a>"),), opening=written("("), reasoning=marks)
    assert spoken(backend, guide, written("x<a>")) == b"x<a>zzz"
    assert b"z" not in spoken(backend, guide, written("x)<a>"))


@pytest.mark.parametrize("begun", ["so <", "so <a>", "so <a>1", "(<a>) <a>12"])
def test_a_grammar_holds_from_a_trigger_in_what_the_caller_has_begun(backend, logits, begun):
    def written(text):
        return tuple(backend.tokenize(text, parse_special=False))

    marks = Reasoning(written("("), (written(")"),))
    guide = Guide(CALL_GRAMMAR, (re.compile(b"<a>"),), opening=written(begun), is_begun=True, reasoning=marks)
    said = spoken(backend, guide, written("a>" if begun.endswith("<") else "7"))
    assert b"z" not in said
    whole = (begun + said.decode()).rpartition("<a>")[2]
    assert re.fullmatch(r"[0-9]+(!(<\|\w+\|>)*)?", whole)


def test_what_the_caller_has_begun_may_go_against_the_grammar_of_a_trigger_in_it(backend, logits):
    opening = tuple(backend.tokenize("<a> is a link, ", parse_special=False))
    guide = Guide(CALL_GRAMMAR, (re.compile(b"<a>"),), opening=opening, is_begun=True)
    assert spoken(backend, guide, ()) == b"zzz"
    assert b"z" not in spoken(backend, guide, backend.tokenize("<a>", parse_special=False))[3:]


def test_what_goes_on_against_the_grammar_is_no_trigger(backend, logits):
    """In llama.cpp itself that would end the process."""
    guide = Guide('root ::= "<b>" [0-9]+', (re.compile(b"<a>"),))
    text = backend.tokenize("<a>", parse_special=False)
    assert spoken(backend, guide, text) == b"<a>zzz"


def test_the_reasoning_ends_when_its_budget_is_used_up(backend, logits):
    def written(text):
        return tuple(backend.tokenize(text, parse_special=False))

    marks = Reasoning(written("("), (written(")"),), budget=2, forced=written("enough)"))
    guide = Guide(opening=written("("), reasoning=marks)
    assert spoken(backend, guide, written("abcdefghi")) == b"abenough)zzz"


def test_a_grammar_may_begin_in_the_prompt(backend, logits):
    opening = tuple(backend.tokenize("bot: ", parse_special=False))
    guide = Guide('root ::= "bot: " [ab]+', opening=opening, is_in_grammar=True)
    assert set(spoken(backend, guide, backend.tokenize("x", parse_special=False))) <= set(b"ab")


def test_a_grammar_leaves_a_token_that_fits_as_it_is(backend, logits):
    """Though the other one that it was drawn from would not fit."""
    a, digit = backend.tokenize("a5", parse_special=False)
    logits[a], logits[digit] = 25.0, 15.0
    drawn = drawn_from(backend, replace(PLAIN, top_k=2, grammar="root ::= [a-z]"))
    assert_drawn(drawn, [a, digit], logits)


def test_a_grammar_that_refuses_draws_again_among_what_it_allows(backend, logits):
    ids = [backend.tokenize(chr(letter), parse_special=False)[0] for letter in LETTERS]
    logits[ids] = -10.0 - np.arange(len(ids))
    drawn = drawn_from(backend, replace(PLAIN, top_k=3, grammar="root ::= [a-h]"))
    assert_drawn(drawn, ids[:3], logits)


def test_penalties_cannot_force_a_token_that_the_grammar_forbids(backend, logits):
    """They can leave nothing at all of the only token that it allows; the process would end with another."""
    (a,) = backend.tokenize("a", parse_special=False)
    params = SamplingParams(
        grammar="root ::= [a]+", dry_multiplier=100.0, dry_base=100.0, dry_allowed_length=0, temperature=0.7
    )
    sampler = backend.new_sampler(params, [a] * 200)
    tokens = {sampler.sample(0) for _ in range(20)}
    sampler.close()
    assert all(token == a or backend.is_end_of_generation(token) for token in tokens)


@pytest.mark.parametrize(
    "sampling",
    [
        SamplingParams(grammar="root ::= [z-a]"),
        SamplingParams(grammar='root ::= "\\U0010FFFF" [\\x80-\\x7F]'),
    ],
    ids=["no character", "no character later"],
)
def test_a_grammar_that_no_token_fits_ends_the_answer_with_a_clear_error(backend, sampling):
    engine = Engine(backend)
    answer = ask(engine, request("hello", sampling=sampling))
    engine.close()
    assert answer.finish_reason is FinishReason.ERROR
    assert "allows none of this model's tokens" in answer.notice


def test_a_ban_holds_against_a_grammar(backend, logits):
    (a,) = backend.tokenize("a", parse_special=False)
    sampler = backend.new_sampler(SamplingParams(grammar='root ::= "a"', logit_bias=((a, NEVER),)), [])
    with pytest.raises(GrammarError, match="allows none of this model's tokens"):
        sampler.sample(0)
    sampler.close()


@pytest.mark.parametrize(("start", "rest"), [("ab", "c"), ("", "abc"), ("abc", "")], ids=repr)
def test_a_grammar_goes_on_behind_the_beginning_of_the_answer(backend, logits, start, rest):
    token_ids = backend.tokenize(start, parse_special=False)
    params = SamplingParams(temperature=0.0, grammar='root ::= "abc"')
    sampler = backend.new_sampler(params, [1, 2, *token_ids], len(token_ids))
    tokens = [sampler.sample(0) for _ in range(len(rest) + 1)]
    sampler.close()
    assert b"".join(map(backend.token_piece, tokens[:-1])).decode() == rest
    assert backend.is_end_of_generation(tokens[-1])


def test_a_beginning_within_a_character_is_followed(backend, logits):
    first, second = backend.tokenize("ä", parse_special=False)
    sampler = backend.new_sampler(SamplingParams(temperature=0.0, grammar='root ::= "ä"'), [first], 1)
    assert sampler.sample(0) == second
    sampler.close()


@pytest.mark.parametrize("start", ["x", "abcd", "ab<", "<|im_end|>"])
def test_a_beginning_that_the_grammar_refuses_ends_that_answer_only(backend, start):
    before = dict(native_objects)
    engine = Engine(backend)
    params = SamplingParams(temperature=0.0, grammar='root ::= "abc"')
    tokens = tuple(backend.tokenize(start, parse_special=True))
    answer = ask(engine, request("hello", sampling=params, answer_start=tokens))
    assert answer.finish_reason is FinishReason.ERROR
    assert "does not follow the grammar" in answer.notice
    assert ask(engine, request("hello", sampling=params, answer_start="ab")).text == "c"
    engine.close()
    assert dict(native_objects) == before


def test_a_beginning_that_takes_the_grammar_too_long_is_refused(backend, monkeypatch):
    monkeypatch.setattr(sampler_module, "MAX_GRAMMAR_S", 0.0)
    monkeypatch.setattr(time, "thread_time", iter(range(10)).__next__)
    with pytest.raises(GrammarError, match="for the beginning of the answer"):
        backend.new_sampler(SamplingParams(grammar="root ::= [a-z]*"), [97], 1)


def test_ignore_eos_rules_out_all_ends(backend, logits):
    ends = np.array(sorted(backend.end_tokens))
    assert len(ends) == 2
    logits[ends] = 30.0
    bias = ((int(ends[0]), 5.0),)  # a wish for one of them does not bring it back
    drawn = drawn_from(backend, replace(PLAIN, ignore_eos=True, logit_bias=bias))
    assert_drawn(drawn, np.setdiff1d(np.arange(len(logits)), ends), logits)


def test_ignore_eos_ends_where_nothing_may_follow(backend, logits):
    params = SamplingParams(temperature=0.0, ignore_eos=True, grammar='root ::= "a" "b"?')
    sampler = backend.new_sampler(params, [])
    tokens = [sampler.sample(0) for _ in range(3)]
    sampler.close()
    assert b"".join(map(backend.token_piece, tokens[:2])) == b"ab"
    assert backend.is_end_of_generation(tokens[2])


def test_ignore_eos_must_leave_a_token(backend):
    banned = tuple((token_id, NEVER) for token_id in range(backend.model.n_vocab))
    most = [pair for pair in banned if pair[0] not in backend.end_tokens]
    backend.check_sampling(SamplingParams(ignore_eos=True, logit_bias=tuple(most[1:])))
    with pytest.raises(InvalidRequestError, match="rule out every token"):
        backend.check_sampling(SamplingParams(ignore_eos=True, logit_bias=tuple(most)))


@pytest.mark.parametrize("cut", [{"top_p": 0.0}, {"min_p": 1.0}, {"typical_p": 0.0}], ids=repr)
def test_min_keep_tokens_are_left_by_what_cuts(backend, logits, cut):
    assert len(drawn_from(backend, replace(PLAIN, min_keep=5, **cut))) == 5


def test_a_slow_grammar_is_noticed_before_it_has_been_asked_about_all_tokens(backend, logits, monkeypatch):
    """11 characters that may come or not take ten seconds for one token in a vocabulary of 152,000."""
    clock = [0.0]
    apply = sampler_module.lib.llama_sampler_apply

    def apply_slowly(sampler: object, array: object) -> None:
        clock[0] += 0.01 * array._obj.size
        apply(sampler, array)

    sampler = backend.new_sampler(SamplingParams(temperature=0.0, grammar='root ::= "a"'), [])
    monkeypatch.setattr(sampler_module, "TOKENS_AT_ONCE", 10, raising=False)
    monkeypatch.setattr(sampler_module, "MAX_GRAMMAR_S", 0.5)
    monkeypatch.setattr(time, "thread_time", lambda: clock[0])
    monkeypatch.setattr(time, "perf_counter", lambda: clock[0])
    monkeypatch.setattr(sampler_module.lib, "llama_sampler_apply", apply_slowly)
    logits[:] = 0.0
    logits[-1] = 9.0
    with pytest.raises(GrammarError, match="seconds for one token"):
        sampler.sample(0)
    assert clock[0] < 0.01 * (backend.model.n_vocab + 100), "of the chain's tokens, of one, and of 50 or 60"
    sampler.close()


def test_a_grammar_that_is_slow_for_each_token_ends_the_answer_before_long(backend, logits, monkeypatch):
    clock = [0.0]
    apply = sampler_module.lib.llama_sampler_apply

    def apply_slowly(sampler: object, array: object) -> None:
        clock[0] += sampler_module.MAX_GRAMMAR_S / 2
        apply(sampler, array)

    sampler = backend.new_sampler(SamplingParams(temperature=0.0, grammar="root ::= [a-z]*"), [])
    monkeypatch.setattr(time, "thread_time", lambda: clock[0])
    monkeypatch.setattr(sampler_module.lib, "llama_sampler_apply", apply_slowly)
    logits[:] = 0.0
    logits[backend.tokenize("a", parse_special=False)] = 9.0
    with pytest.raises(GrammarError, match=r"seconds for \d+ tokens"):
        list(map(sampler.sample, [0] * 100))
    sampler.close()


def test_an_interrupt_ends_what_a_grammar_computes(backend, monkeypatch):
    """Of a slow one that is half a second for each answer, and many times that on a busy machine."""
    engine = Engine(backend)
    engine.add_request(request("hello", sampling=SamplingParams(grammar='root ::= "qqqq"')))
    apply = sampler_module.lib.llama_sampler_apply
    asked = []

    def apply_and_interrupt(sampler: object, array: object) -> None:
        asked.append(array._obj.size)
        if array._obj.size == 10:
            backend.interrupt()
        apply(sampler, array)

    monkeypatch.setattr(sampler_module, "TOKENS_AT_ONCE", 10)
    monkeypatch.setattr(sampler_module.lib, "llama_sampler_apply", apply_and_interrupt)
    outputs = []
    while not outputs:
        outputs += engine.step().outputs
    assert [output.finish_reason for output in outputs] == [FinishReason.ABORT]
    assert asked.count(10) == 1
    backend.resume()
    monkeypatch.undo()
    assert ask(engine, request("hello", sampling=SamplingParams(grammar='root ::= "b"'))).text == "b"
    engine.close()


@pytest.mark.parametrize("text", READABLE.values(), ids=READABLE)
def test_readable_grammars_can_be_followed(backend, logits, text):
    (end,) = backend.tokenize("<|im_end|>", parse_special=True)
    sampler = backend.new_sampler(replace(PLAIN, temperature=100.0, grammar=text), [])
    for _ in range(30):
        if sampler.sample(0) == end:
            break
    sampler.close()


def test_random_grammars_that_pass_do_no_harm(tiny_gguf):
    command = [sys.executable, "-m", "tests.native.random_grammars", str(tiny_gguf("qwen3")), "0", "600"]
    environment = os.environ | {"GGML_NO_BACKTRACE": "1"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 100


def test_a_grammar_that_only_llama_cpp_refuses_is_refused_with_a_reason(backend):
    before = dict(native_objects)
    engine = Engine(backend)
    answer = ask(engine, request("hello", sampling=SamplingParams(grammar='root ::= a+\na ::= | "x"')))
    engine.close()
    assert answer.finish_reason is FinishReason.ERROR
    assert "llama.cpp rejected the grammar" in answer.notice
    assert dict(native_objects) == before


def test_a_grammar_that_llama_cpp_refuses_does_not_end_the_engine_while_the_message_is_typed(backend):
    engine = Engine(backend)
    engine.obey(ReadAhead(request("hello", sampling=SamplingParams(grammar='root ::= a+\na ::= | "x"'))))
    typed = request("hello", sampling=SamplingParams(grammar='root ::= a+\na ::= | "x"'))
    engine.read_ahead(typed, engine.prompts.build_ahead(typed))
    assert not engine.has_work
    assert ask(engine, request("hello", sampling=SamplingParams(grammar='root ::= "b"'))).text == "b"
    engine.close()


def test_grammars_are_freed_with_their_answers(backend):
    before = dict(+native_objects)
    engine = Engine(backend)
    engine.add_request(
        request("left open", sampling=SamplingParams(grammar="root ::= [a-z]{50}"), max_tokens=None)
    )
    engine.step()
    assert native_objects["grammar"] == before.get("grammar", 0) + 1
    engine.close()
    assert dict(+native_objects) == before


# JSON

ANSWER_SCHEMA = {
    "type": "object",
    "properties": {
        "sum": {"type": "integer"},
        "kind": {"enum": ["even", "odd", 'neither "é"\n🙂']},
        "steps": {
            "type": "array",
            "items": {"type": "string", "maxLength": 12},
            "minItems": 1,
            "maxItems": 2,
        },
    },
    "required": ["sum", "kind", "steps"],
}


def answers_of_starter_model(*requests):
    with open_llama_backend(LoadParams(paths.starter_model(), n_ctx=1024, n_threads=1)) as backend:
        engine = Engine(backend)
        result = run(engine, *requests)
        engine.close()
    return [result.answers[one.request_id] for one in requests]


def test_the_starter_model_answers_in_json_when_it_has_to():
    requests = [
        request(
            "What is 3 + 4?",
            sampling=SamplingParams(json_schema=json.dumps(ANSWER_SCHEMA), temperature=temperature, seed=1),
            max_tokens=300,
        )
        for temperature in (0.0, 0.8, 1.5)
    ]
    chat_layer = ChatWorker()
    for answer in answers_of_starter_model(*requests):
        assert answer.finish_reason is FinishReason.STOP, answer.notice
        # What is written may stand in a fence, which the chat layer takes away.
        content = AnswerReader(chat_layer, answer.format.parser).read(answer.text, is_last=True).content
        values = json.loads(content)
        assert list(values) == ["sum", "kind", "steps"]
        assert isinstance(values["sum"], int)
        assert values["kind"] in ANSWER_SCHEMA["properties"]["kind"]["enum"]
        assert all(len(step) <= 12 for step in values["steps"])
        assert 1 <= len(values["steps"]) <= 2
    chat_layer.close()


def test_what_a_grammar_asks_for_is_what_the_starter_model_would_have_said():
    free, bound = answers_of_starter_model(
        request("What is 3 + 4?"),
        request("What is 3 + 4?", sampling=SamplingParams(temperature=0.0, grammar="root ::= [^\\n]+")),
    )
    assert bound.text == free.text


def test_a_schema_that_cannot_be_followed_ends_the_request(backend):
    engine = Engine(backend)
    answer = ask(
        engine, request("hello", sampling=SamplingParams(json_schema='{"$ref": "http://localhost/x"}'))
    )
    engine.close()
    assert answer.finish_reason is FinishReason.ERROR
    assert "only references into the same document" in answer.notice


# The file's own numbers


def test_all_that_a_file_recommends_is_taken(tmp_path):
    metadata = {
        "temp": 0.25,
        "top_k": 7,
        "top_p": 0.5,
        "min_p": 0.25,
        "xtc_probability": 0.5,
        "xtc_threshold": 0.125,
        "penalty_repeat": 1.5,
        "penalty_last_n": 9,
        "mirostat": 2,
        "mirostat_tau": 3.5,
        "mirostat_eta": 0.25,
    }
    path = write_tiny_gguf(
        tmp_path / "cool.gguf",
        "qwen3",
        metadata={f"general.sampling.{key}": value for key, value in metadata.items()},
    )
    with open_llama_backend(LoadParams(path, n_ctx=256, n_threads=1)) as backend:
        assert backend.model.sampling == SamplingParams(
            temperature=0.25,
            top_k=7,
            top_p=0.5,
            min_p=0.25,
            xtc_probability=0.5,
            xtc_threshold=0.125,
            repeat_penalty=1.5,
            penalty_last_n=9,
            mirostat=2,
            mirostat_tau=3.5,
            mirostat_eta=0.25,
        )


@pytest.mark.parametrize(
    ("key", "value"), [("top_k", float("nan")), ("top_k", float("inf")), ("top_k", 1e30), ("temp", -3.0)]
)
def test_what_a_file_recommends_may_be_nonsense(tmp_path, key, value):
    path = write_tiny_gguf(tmp_path / "odd.gguf", "qwen3", metadata={f"general.sampling.{key}": value})
    with open_llama_backend(LoadParams(path, n_ctx=256, n_threads=1)) as backend:
        assert backend.model.sampling == SamplingParams()
