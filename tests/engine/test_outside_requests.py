"""What programs ask that no chat window does: raw prompts, answers that have begun, no answer at all."""

import dataclasses

import pytest

from app.protocol.output import FinishReason, PrefixEnd
from app.protocol.request import Request
from tests.driver import GREEDY, ask, next_turn, request, run


def test_every_token_is_told_once_also_where_its_text_is_cut_off(engine, backend):
    one = request("hello", max_tokens=40)
    whole = ask(engine, one)
    assert len(whole.token_ids) == whole.usage.num_generated_tokens
    assert b"".join(map(backend.token_piece, whole.token_ids)).decode("utf-8", "replace") == whole.text
    stop = whole.text[3:6]
    stopped = ask(engine, dataclasses.replace(one, request_id="stopped", stop=(stop,)))
    assert stopped.text == whole.text[: whole.text.find(stop)]
    assert stopped.token_ids == whole.token_ids[: len(stopped.token_ids)]
    assert len(stopped.token_ids) == stopped.usage.num_generated_tokens


def test_a_raw_prompt_is_answered_like_the_chat_it_spells_out(engine):
    chat = request("hello")
    prompt = engine.prompts.build(chat)
    answer = ask(engine, chat)
    by_text = Request(
        "text", "t", prompt=(engine.prompts.render(chat),), sampling=chat.sampling, max_tokens=16
    )
    by_ids = dataclasses.replace(by_text, request_id="ids", chat_id="i", prompt=prompt.token_ids)
    assert [ask(engine, one).text for one in (by_text, by_ids)] == [answer.text] * 2


def test_an_answer_goes_on_where_another_broke_off(engine):
    """By the tokens themselves it is the same answer, and only the last of them is computed again."""
    chat = request("hello", max_tokens=12)
    whole = ask(engine, chat)
    begun, rest = whole.token_ids[:5], whole.token_ids[5:]
    going_on = dataclasses.replace(chat, request_id="on", answer_start=begun, max_tokens=12 - len(begun))
    answer = ask(engine, going_on)
    assert answer.token_ids == rest
    assert answer.usage.num_generated_tokens == len(rest)
    assert answer.usage.num_reused_tokens == answer.usage.num_prompt_tokens - 1
    prompt = engine.prompts.build(chat)
    assert answer.usage.num_prompt_tokens == len(prompt.token_ids) + len(begun)


def test_a_chat_can_be_forked_at_a_token_with_another_one(engine):
    chat = request("hello", max_tokens=12)
    whole = ask(engine, chat)
    assert engine.slots.fork(chat.chat_id, "fork")
    other = ord("!") if whole.token_ids[4] != ord("!") else ord("?")
    start = (*whole.token_ids[:4], other)
    forked = dataclasses.replace(chat, request_id="f", chat_id="fork", answer_start=start)
    fresh = dataclasses.replace(forked, request_id="g", chat_id="fresh", keep_cells=False)
    answer = ask(engine, forked)
    assert answer.usage.num_reused_tokens == answer.usage.num_prompt_tokens - 1
    assert answer.text == ask(engine, fresh).text


def test_the_history_is_the_same_after_an_answer_that_went_on(engine):
    first = request("hello", max_tokens=12)
    begun = "It was "
    answer = ask(engine, dataclasses.replace(first, answer_start=begun))
    usage = ask(engine, next_turn(first, begun + answer.text, "and then?")).usage
    assert usage.prefix_end in (PrefixEnd.NEW_TEXT, PrefixEnd.TEMPLATE)


def test_another_raw_prompt_is_no_edited_message(engine):
    """There are no messages by which a template could be found to have changed anything."""
    first = Request("first", "c", prompt=("one two three",), sampling=GREEDY, max_tokens=4)
    ask(engine, first)
    edited = dataclasses.replace(first, request_id="edited", prompt=("one two four",))
    assert ask(engine, edited).usage.prefix_end == PrefixEnd.DIFFERENT
    chat = request("one two three", "c")
    assert ask(engine, chat).usage.prefix_end == PrefixEnd.DIFFERENT


def test_no_tokens_wanted_computes_the_prompt_and_nothing_more(engine):
    chat = request("hello", max_tokens=0)
    answer = ask(engine, chat)
    assert (answer.text, answer.token_ids, answer.finish_reason) == ("", (), FinishReason.LENGTH)
    assert (answer.notice, answer.found_no_room) == ("", False)
    assert answer.usage.num_computed_tokens == answer.usage.num_prompt_tokens
    again = dataclasses.replace(chat, request_id="again", max_tokens=1)
    assert ask(engine, again).usage.num_computed_tokens == 1


def test_the_time_of_a_prompt_is_part_of_the_time_to_its_first_token(engine):
    usage = ask(engine, request("hello")).usage
    assert 0.0 < usage.prompt_s <= usage.time_to_first_token_s
    rounding = 2e-6  # each to a microsecond
    assert usage.queue_s + usage.prompt_s == pytest.approx(usage.time_to_first_token_s, abs=rounding)


def test_ignore_eos_goes_on_until_a_limit(engine):
    sampling = dataclasses.replace(GREEDY, ignore_eos=True)
    answers = run(
        engine, *[request(text, sampling=sampling, max_tokens=150) for text in ("a", "b", "c")]
    ).answers
    assert {answer.usage.num_generated_tokens for answer in answers.values()} == {150}
    assert {answer.finish_reason for answer in answers.values()} == {FinishReason.LENGTH}
