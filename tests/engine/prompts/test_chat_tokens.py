"""The tokens of an answer, and what else could have stood in it: what forking at a token rests on."""

import dataclasses

from app.engine.engine import Engine
from app.protocol.commands import Hibernate, Pause, Resume, Tokenize, TokensOf
from app.protocol.output import FinishReason
from app.protocol.report import ChatTokens, TokenizedText
from app.protocol.request import Request
from tests.driver import ask, next_turn, request, run
from tests.fakes import END, CountingBackend


def tokens_of(engine: Engine, chat_id: str) -> ChatTokens:
    engine.obey(TokensOf(chat_id))
    (answer,) = engine.report().answers
    assert isinstance(answer, ChatTokens)
    return answer


def as_text(tokens: ChatTokens) -> str:
    return b"".join(tokens.pieces).decode("utf-8", "replace")


def test_the_tokens_of_an_answer_are_those_that_were_told_also_the_last_one_without_a_cell(engine):
    one = request("hello", max_tokens=8)
    answer = ask(engine, one)
    tokens = tokens_of(engine, one.chat_id)
    assert tokens.num_prompt_tokens == answer.usage.num_prompt_tokens
    assert tokens.token_ids[tokens.num_prompt_tokens :] == answer.token_ids
    assert len(tokens.pieces) == 8
    assert as_text(tokens) == answer.text


def test_the_tokens_are_told_while_the_answer_is_written_and_of_the_next_one_when_that_has_begun(engine):
    first = request("hello", max_tokens=8)
    answer = ask(engine, first)
    second = dataclasses.replace(next_turn(first, answer.text, "and then?"), max_tokens=8)
    engine.add_request(second)
    outputs = [output for _ in range(4) for output in engine.step().outputs]
    told = [token_id for output in outputs for token_id in output.token_ids]
    tokens = tokens_of(engine, first.chat_id)
    assert tokens.num_prompt_tokens > answer.usage.num_prompt_tokens + 8
    assert list(tokens.token_ids[tokens.num_prompt_tokens :])[: len(told)] == told
    assert len(told) >= 3


def test_a_given_beginning_is_part_of_the_answer(engine):
    one = request("hello", max_tokens=4, answer_start="It was ")
    answer = ask(engine, one)
    assert as_text(tokens_of(engine, one.chat_id)) == "It was " + answer.text


def test_a_hibernated_chat_is_known_and_a_forgotten_one_is_not(engine):
    one = request("what is the common prefix of all these chats?", max_tokens=4)
    ask(engine, one)
    known = tokens_of(engine, one.chat_id)
    engine.obey(Hibernate(one.chat_id))
    engine.report()
    assert tokens_of(engine, one.chat_id) == known
    engine.forget(one.chat_id)
    assert tokens_of(engine, one.chat_id) == ChatTokens(one.chat_id)


def test_what_could_have_stood_at_a_token_costs_one_computed_token(engine):
    one = request("what is the common prefix of all these chats?", max_tokens=6)
    answer = ask(engine, one)
    tokens = tokens_of(engine, one.chat_id)
    for place, token_id in enumerate(answer.token_ids):
        question = Request(
            request_id=f"place {place}",
            chat_id="inspector",
            prompt=tokens.token_ids[: tokens.num_prompt_tokens],
            answer_start=answer.token_ids[:place],
            sampling=tokens.sampling,
            max_tokens=1,
            keep_cells=False,
            num_logprobs=5,
        )
        result = run(engine, question)
        (sampled,) = [
            logprobs for report in result.reports for out in report.outputs for logprobs in out.logprobs
        ]
        assert sampled.chosen.token_id == token_id  # greedy, as the answer was
        assert result.answers[question.request_id].usage.num_computed_tokens == 1
    assert tokens_of(engine, one.chat_id) == tokens


def test_the_token_that_ends_an_answer_is_told_to_those_who_ask_for_logprobs():
    backend = CountingBackend(lambda token_ids: END if len(token_ids) > 30 else ord("a"))
    engine = Engine(backend)
    result = run(engine, request("hello", num_logprobs=1, max_tokens=None), request("hello", max_tokens=None))
    ends = [out for report in result.reports for out in report.outputs if out.finish_reason]
    assert [out.finish_reason for out in ends] == [FinishReason.STOP] * 2
    assert ends[0].ended_by is not None
    assert ends[0].ended_by.chosen.token_id == END
    assert not ends[0].logprobs
    assert ends[1].ended_by is None
    engine.close()


def test_a_text_is_cut_into_the_tokens_that_continue_another(engine):
    engine.obey(Tokenize("ab<|im_end|>"))
    (answer,) = engine.report().answers
    assert isinstance(answer, TokenizedText)
    assert answer.text == "ab<|im_end|>"
    assert b"".join(answer.tokens.texts) == b"ab<|im_end|>"
    assert answer.tokens.texts[-1] == b"<|im_end|>"


def test_questions_are_answered_in_a_pause(engine):
    one = request("hello", max_tokens=4)
    ask(engine, one)
    engine.obey(Pause())
    assert len(tokens_of(engine, one.chat_id).pieces) == 4
    engine.obey(Resume())
