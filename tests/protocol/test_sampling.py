"""What sampling takes, and what it refuses before anything native sees it."""

import math
from dataclasses import replace

import pytest

from app.engine.engine import Engine
from app.protocol.errors import InvalidRequestError
from app.protocol.output import FinishReason
from app.protocol.request import Message, Request, Role
from app.protocol.sampling import INTEGERS, NEVER, NUMBERS, SamplingParams
from tests.driver import ask, request, run
from tests.fakes import CountingBackend

NONSENSE = [math.nan, math.inf, -math.inf, 1e300, -1e300, 2**32, 2**40, 2**63, 2**20_000, -(2**20_000)]
NO_NUMBERS = ["x", None, [], {}, True]


@pytest.mark.parametrize("name", [*INTEGERS, *NUMBERS])
def test_the_limits_themselves_are_possible(name):
    for value in {**INTEGERS, **NUMBERS}[name]:
        others = {"temperature": 100.0} if name == "dynatemp_range" else {}
        assert getattr(SamplingParams(**{name: value, **others}), name) == value


@pytest.mark.parametrize("name", [*INTEGERS, *NUMBERS, "seed"])
@pytest.mark.parametrize("value", NONSENSE, ids=range(len(NONSENSE)))
def test_numbers_out_of_range_are_refused(name, value):
    with pytest.raises(InvalidRequestError, match=f"{name} must be between"):
        SamplingParams(**{name: value})


@pytest.mark.parametrize("name", [*INTEGERS, *NUMBERS, "seed"])
@pytest.mark.parametrize("value", NO_NUMBERS, ids=repr)
def test_what_is_no_number_is_refused(name, value):
    if (name, value) == ("seed", None):
        return  # draw one
    with pytest.raises(InvalidRequestError, match=f"{name} must be between"):
        SamplingParams(**{name: value})


@pytest.mark.parametrize("name", [*INTEGERS, "seed"])
def test_a_fraction_is_no_whole_number(name):
    with pytest.raises(InvalidRequestError, match=f"{name} must be a whole number, not 1.0"):
        SamplingParams(**{name: 1.0})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("temperature", -0.1),
        ("top_k", -1),
        ("top_p", 1.5),
        ("min_p", -1e-9),
        ("typical_p", 1.01),
        ("repeat_penalty", 0.0),
        ("dry_base", 0.99),
        ("dry_allowed_length", -1),
        ("mirostat", 3),
        ("mirostat_eta", 1.1),
        ("seed", -1),
        ("seed", 2**32 - 1),
    ],
)
def test_values_that_mean_nothing_are_refused(name, value):
    with pytest.raises(InvalidRequestError, match=f"{name} must be between"):
        SamplingParams(**{name: value})


def test_the_temperature_may_not_swing_below_zero():
    assert SamplingParams(temperature=0.8, dynatemp_range=0.8)
    with pytest.raises(InvalidRequestError, match="dynatemp_range must not be larger than temperature"):
        SamplingParams(temperature=0.0, dynatemp_range=0.5)


@pytest.mark.parametrize(
    ("breakers", "message"),
    [
        (("",), "1 to 40 bytes"),
        (("x" * 41,), "1 to 40 bytes"),
        (("ä" * 21,), "1 to 40 bytes"),
        (("x" * 10**6,), "1 to 40 bytes"),
        (tuple(str(n) for n in range(17)), "can have at most 16 entries"),
        (("a\0b",), "NUL"),
        (("\ud800",), "lone surrogate"),
        ((1,), "must be text"),
        ("abc", "must be a tuple"),
        (None, "must be a tuple"),
    ],
)
def test_sequence_breakers_that_the_library_would_cut_or_die_of_are_refused(breakers, message):
    with pytest.raises(InvalidRequestError, match=message):
        SamplingParams(dry_sequence_breakers=breakers)


def test_dry_works_without_sequence_breakers():
    assert SamplingParams(dry_sequence_breakers=()).dry_sequence_breakers == ()


@pytest.mark.parametrize(
    ("logit_bias", "message"),
    [
        (((-1, 1.0),), "token id of logit_bias must be between"),
        (((2**31, 1.0),), "token id of logit_bias must be between"),
        (((1.5, 1.0),), "token id of logit_bias must be a whole number"),
        ((("1", 1.0),), "token id of logit_bias must be between"),
        (((1, math.nan),), "bias of logit_bias must be between"),
        (((1, math.inf),), "bias of logit_bias must be between"),
        (((1, 1e9),), "bias of logit_bias must be between"),
        (((1, None),), "bias of logit_bias must be between"),
        (((1, 1.0), (1, 2.0)), "lists a token twice"),
        (((1, 1.0, 2.0),), "must be pairs"),
        (((1,),), "must be pairs"),
        (([1, 1.0],), "must be a tuple"),
        ({1: 1.0}, "must be a tuple"),
    ],
)
def test_logit_bias_that_makes_no_sense_is_refused(logit_bias, message):
    with pytest.raises(InvalidRequestError, match=message):
        SamplingParams(logit_bias=logit_bias)


@pytest.mark.parametrize("value", [None, 1, "true"])
def test_ignore_eos_is_true_or_false(value):
    with pytest.raises(InvalidRequestError, match="ignore_eos must be true or false"):
        SamplingParams(ignore_eos=value)


def test_logit_bias_must_name_tokens_of_the_model():
    last = SamplingParams(logit_bias=((258, 1.0),))
    last.check_vocabulary(n_vocab=259)
    with pytest.raises(InvalidRequestError, match="names token 258, but this model has 258 tokens"):
        last.check_vocabulary(n_vocab=258)


def test_logit_bias_must_leave_a_token():
    all_but_one = SamplingParams(logit_bias=((0, NEVER), (1, NEVER), (2, 5.0)))
    all_but_one.check_vocabulary(n_vocab=3)
    with pytest.raises(InvalidRequestError, match="rules out every token"):
        replace(all_but_one, logit_bias=((0, NEVER), (1, NEVER), (2, NEVER))).check_vocabulary(n_vocab=3)


def test_an_answer_follows_one_grammar():
    with pytest.raises(InvalidRequestError, match="not both"):
        SamplingParams(grammar='root ::= "a"', json_schema="{}")


@pytest.mark.parametrize("name", ["grammar", "json_schema"])
@pytest.mark.parametrize("text", [None, 3, b'root ::= "a"', ["root"]], ids=repr)
def test_a_grammar_is_text(name, text):
    with pytest.raises(InvalidRequestError, match=f"{name} must be text"):
        SamplingParams(**{name: text})


@pytest.mark.parametrize("text", ["\0", "\ud800"], ids=repr)
def test_text_that_c_cannot_take_is_refused(text):
    with pytest.raises(InvalidRequestError, match="NUL or a lone surrogate"):
        SamplingParams(json_schema=f'{{"title": "{text}"}}')
    with pytest.raises(InvalidRequestError, match="NUL or a lone surrogate"):
        SamplingParams(grammar=f'root ::= "{text}"')


def test_a_json_schema_and_a_grammar_have_their_limit():
    with pytest.raises(InvalidRequestError, match="A JSON schema can have at most 65,536 characters"):
        SamplingParams(json_schema='{"title": "' + "x" * 70_000 + '"}')
    with pytest.raises(InvalidRequestError, match="A grammar can have at most 65,536 characters"):
        SamplingParams(grammar='root ::= "' + "x" * 70_000 + '"')


def test_a_grammar_is_not_looked_at_where_parameters_are_made():
    """That may be the thread of a window or a server, and it takes time."""
    assert SamplingParams(grammar="root ::= (").grammar == "root ::= ("


@pytest.mark.parametrize("temperature", [0.0, 1e-300, 1e-30, 0.0009])
def test_a_temperature_that_would_overflow_is_greedy(temperature):
    assert SamplingParams(temperature=temperature).is_greedy


# Requests


@pytest.mark.parametrize("num_logprobs", [-1, 101, 2**40])
def test_logprobs_have_their_limit(num_logprobs):
    with pytest.raises(InvalidRequestError, match="num_logprobs must be between 0 and 100"):
        Request("r", "c", (Message(Role.USER, "hello"),), num_logprobs=num_logprobs)


def test_a_request_with_a_token_that_the_model_does_not_have_ends_with_a_clear_error(backend):
    n_vocab = backend.model.n_vocab
    engine = Engine(backend)
    answer = ask(engine, request("hello", sampling=SamplingParams(logit_bias=((n_vocab, 1.0),))))
    assert answer.finish_reason is FinishReason.ERROR
    assert f"logit_bias names token {n_vocab}" in answer.notice
    engine.close()


def test_logprobs_come_with_the_step_that_made_the_token():
    """Even where its text is held back: the first byte of two, or what may become a stop string."""
    text = "aä<end>"
    engine = Engine(CountingBackend(next_token=lambda tokens: text.encode()[len(tokens) - prompt_tokens]))
    one = request("x", num_logprobs=1, stop=("<end>",))
    prompt_tokens = len(engine.prompts.build(one).token_ids)
    result = run(engine, one)
    outputs = [output for report in result.reports for output in report.outputs]
    assert [output.text for output in outputs] == ["a", "", "ä", "", "", "", "", ""]
    assert all(len(output.logprobs) == 1 for output in outputs)
    assert b"".join(output.logprobs[0].chosen.text for output in outputs) == text.encode()
    assert result.answers[one.request_id].usage.num_generated_tokens == len(outputs)
    engine.close()


def test_nobody_gets_logprobs_without_asking():
    engine = Engine(CountingBackend())
    result = run(engine, request("x"))
    assert not any(output.logprobs for report in result.reports for output in report.outputs)
    engine.close()
