"""What a draft model writes, what it keeps of each chat for that, and that no answer shows it."""

from dataclasses import replace

import pytest

from app.engine.batching.draft_model import FEW, FIRST_READ
from app.engine.engine import Engine
from app.protocol.commands import SetSpeed
from app.protocol.errors import BadLogitsError, DecodeError, DecodeInterruptedError
from app.protocol.events import EventKind
from app.protocol.load import Speed
from app.protocol.output import FinishReason
from tests.driver import all_guesses_checked, ask, next_turn, request, run
from tests.fakes import END, CountingBackend, pseudo_random_token


@pytest.fixture(autouse=True)
def checked():
    with all_guesses_checked():
        yield


def any_letter(token_ids):
    """Depends on every token before it, and does not repeat itself, so that looking it up is no use."""
    token_id = pseudo_random_token(token_ids)
    return ord("a") if token_id == END else token_id


def never_right(token_ids):
    return ord("A") + (sum(token_ids) + len(token_ids)) % 26


def pair(draft_token=any_letter, next_token=any_letter, *, num_drafted=4, draft=None, **model):
    """An engine, its backend, and the draft model's."""
    backend = CountingBackend(next_token, num_drafted_tokens=num_drafted, **model)
    backend.draft = CountingBackend(draft_token, **({"n_ctx": 2048} | model | (draft or {})))
    engine = Engine(backend, verify=True)
    engine.obey(SetSpeed(Speed.THROUGHPUT))  # else measured times decide how long a prompt is read
    return engine, backend, backend.draft


def answers_of(engine, *requests):
    result = run(engine, *requests)
    return [result.answers[one.request_id] for one in requests], result.reports


def plain(requests, next_token=any_letter, **model):
    return answers_of(Engine(CountingBackend(next_token, **model)), *requests)[0]


def test_right_guesses_save_steps_and_all_chats_are_written_on_in_one_decode():
    engine, _, draft = pair(num_drafted=12)
    asked = [request(text, max_tokens=31) for text in ("one", "two", "three")]
    answers, reports = answers_of(engine, *asked)
    assert [one.text for one in answers] == [one.text for one in plain(asked)]
    assert len(reports) < 20
    for one in answers:
        usage = one.usage
        assert usage.num_model_kept_tokens == usage.num_model_drafted_tokens > 10
    assert max(map(len, draft.batches)) == 3
    assert len(draft.batches) < len(reports) * 6
    assert all(report.draft_ms <= report.schedule_ms for report in reports)


@pytest.mark.parametrize(
    "options", [{}, {"max_tokens": 2}, {"stop": ("q",)}, {"num_logprobs": 1}, {"keep_cells": False}]
)
@pytest.mark.parametrize("draft_token", [any_letter, never_right, lambda _: END])
def test_text_and_end_are_as_without(draft_token, options):
    engine, _, _ = pair(draft_token)
    one = request("Hello", "chat", **({"max_tokens": 40} | options))
    answers = [ask(engine, one)]
    answers.append(ask(engine, next_turn(one, answers[0].text, "more")))
    alone = Engine(CountingBackend(any_letter))
    for answer in answers:
        expected = ask(alone, one)
        assert answer == replace(expected, usage=answer.usage)
        one = next_turn(one, expected.text, "more")


def test_what_it_holds_follows_each_slot_through_turns_forks_and_other_chats():
    """The fake refuses positions that are not the next ones, and its drafts depend on every token."""
    engine, _, draft = pair(n_seq_max=2)
    first = request("A chat about this and that", "chat", max_tokens=20)
    told = ask(engine, first)
    assert engine.slots.fork("chat", "fork")
    second = replace(next_turn(first, told.text, "and now?"), max_tokens=20)
    forked = replace(second, request_id="fork", chat_id="fork")
    other = request("Something else, which takes a slot from them", "other", max_tokens=20)
    for asked in ((second, forked), (other,), (replace(second, request_id="again"),)):
        answers, _ = answers_of(engine, *asked)
        for answer, expected in zip(answers, plain(asked), strict=True):
            assert answer.text == expected.text
            assert answer.usage.num_model_kept_tokens == answer.usage.num_model_drafted_tokens > 0
    for slot in engine.slots.slots:
        held = draft.tokens_of(slot.seq_id)
        assert held[: len(slot.token_ids)] == slot.token_ids[: len(held)]


def test_a_long_prompt_is_read_in_parts_while_others_are_written_on():
    engine, _, draft = pair(n_ctx=1024, n_seq_max=2)
    engine._draft_planner._model._read_ms = 0.0
    long, short = request("x" * 300, max_tokens=60), request("Hello", max_tokens=60)
    answers, _ = answers_of(engine, long, short)
    assert all(one.usage.num_model_kept_tokens > 0 for one in answers)
    sizes = [len(positions) for batch in draft.batches for positions in batch.values()]
    assert FEW < max(sizes) < 300
    alone, _, draft = pair(n_ctx=1024)
    ask(alone, long)
    assert len(draft.batches[0][0]) == FIRST_READ


def test_a_chat_without_room_has_no_guesses_and_what_idle_chats_left_gives_way():
    engine, _, draft = pair(draft={"n_ctx": 128}, n_ctx=1024, n_batch=256)
    idle = request("y" * 60, "idle", max_tokens=10)
    assert ask(engine, idle).usage.num_model_kept_tokens > 0
    asked = [request("z" * 60, "fits", max_tokens=30), request("w" * 150, "too long", max_tokens=30)]
    (fits, too_long), _ = answers_of(engine, *asked)
    assert fits.usage.num_model_kept_tokens > 0
    assert too_long.usage.num_model_drafted_tokens == 0
    assert [one.text for one in (fits, too_long)] == [one.text for one in plain(asked, n_ctx=1024)]
    assert len(draft.cells) <= 128


@pytest.mark.parametrize("draft", [{"n_vocab": ord("m")}, {"n_ctx_train": 40}])
def test_what_it_cannot_read_it_does_not_write_on(draft):
    """Vocabularies may end differently, and the draft model may have been trained for shorter texts."""
    engine, _, _ = pair(draft=draft)
    answer = ask(engine, request("a" * 60, max_tokens=20))
    assert answer.usage.num_model_drafted_tokens == 0
    assert answer.usage.num_generated_tokens == 20


def test_a_token_that_only_the_draft_model_has_is_no_guess():
    engine, _, _ = pair(lambda _: 300, draft={"n_vocab": 301})
    answer = ask(engine, request("Hello", max_tokens=20))
    assert answer.usage.num_model_drafted_tokens == 0


@pytest.mark.parametrize("error", [DecodeError("It broke."), BadLogitsError("Only NaN.")])
def test_a_draft_model_that_fails_is_given_up_with_one_sentence_and_no_answer_suffers(error):
    def broken(token_ids):
        if len(token_ids) > 60:
            raise error
        return any_letter(token_ids)

    engine, _, _ = pair(broken)
    asked = [request(text, max_tokens=60) for text in ("Hello" * 4, "World")]
    answers, reports = answers_of(engine, *asked)
    assert [one.text for one in answers] == [one.text for one in plain(asked)]
    told = [event.text for report in reports for event in report.events if event.kind is EventKind.DRAFT]
    assert told == [f"The draft model fake has been switched off. {error}"]
    assert ask(engine, request("again")).finish_reason is FinishReason.LENGTH


def test_an_interrupted_draft_model_goes_on_where_it_was():
    engine, _, draft = pair()
    one = request("Hello", max_tokens=60)
    engine.add_request(one)
    for _ in range(6):
        engine.step()

    def interrupted(_batch):
        raise DecodeInterruptedError("the step was interrupted", has_begun=True)

    draft._before_decode, before = interrupted, draft._before_decode
    engine.step()
    draft._before_decode = before
    result = run(engine)
    [answer] = result.answers.values()
    assert answer.usage.num_model_kept_tokens == answer.usage.num_model_drafted_tokens > 20
    engine.interrupt()
    assert draft.is_interrupted
    engine.resume()
    assert not draft.is_interrupted


def test_a_draft_model_that_cannot_remove_what_it_drafted_reads_the_chat_again():
    """As one whose window has moved past it."""
    engine, _, draft = pair(never_right, draft={"is_recurrent": True})
    asked = [request("one", max_tokens=31)]
    [answer], reports = answers_of(engine, *asked)
    assert answer.text == plain(asked)[0].text
    assert not any(event.kind is EventKind.DRAFT for report in reports for event in report.events)
    num_readings = sum(0 in positions for batch in draft.batches for positions in batch.values())
    assert 1 < num_readings < answer.usage.num_model_drafted_tokens
