"""Chats that outgrow their context while they are answered, and chats that outnumber the slots."""

from dataclasses import replace

import pytest

from app.engine.cells.hibernation import HibernatedChats
from app.engine.engine import Engine
from app.inspector.event_words import words
from app.protocol.output import FinishReason, PrefixEnd
from app.protocol.request import Message, Overflow, Role
from tests.driver import Answer, Run, all_guesses_checked, ask, next_turn, request, run
from tests.fakes import CountingBackend, copying_token, endless_token

LIMIT = 240
HISTORY = (
    Message(Role.SYSTEM, "Be kind."),
    *(
        Message(role, f"{role} {turn} says a few words")
        for turn in range(2)
        for role in (Role.USER, Role.ASSISTANT)
    ),
)


@pytest.fixture
def engine(backend):
    engine = Engine(backend, HibernatedChats(ram_bytes=2**24), verify=True)
    yield engine
    engine.close()


def long_answer(engine: Engine, overflow: Overflow, **options: object) -> Run:
    one = request("go on", history=HISTORY, overflow=overflow, max_context_tokens=LIMIT, **options)
    return run(engine, one)


def the_answer(result: Run) -> Answer:
    (answer,) = result.answers.values()
    return answer


def events(result: Run) -> str:
    return "\n".join(words(event) for report in result.reports for event in report.events)


@pytest.mark.parametrize("overflow", [Overflow.ROLLING_WINDOW, Overflow.TRUNCATE_MIDDLE])
def test_an_answer_goes_on_when_old_turns_can_be_left_out(overflow):
    engine = Engine(CountingBackend(endless_token))
    result = long_answer(engine, overflow, max_tokens=115)
    answer = the_answer(result)
    assert (answer.finish_reason, len(answer.text)) == (FinishReason.LENGTH, 115)
    assert "left out" in answer.notice
    assert max(slot.pos_max for report in result.reports for slot in report.slots) < LIMIT


def test_an_answer_ends_when_nothing_more_can_be_left_out():
    engine = Engine(CountingBackend(endless_token))
    answer = the_answer(long_answer(engine, Overflow.ROLLING_WINDOW, max_tokens=None))
    assert answer.finish_reason is FinishReason.LENGTH
    assert f"context of {LIMIT} tokens is full" in answer.notice
    assert answer.usage.num_prompt_tokens + answer.usage.num_generated_tokens == LIMIT


def test_nothing_is_left_out_of_a_chat_that_should_stop():
    engine = Engine(CountingBackend(endless_token))
    result = long_answer(engine, Overflow.STOP, max_tokens=115)
    assert "shortened" not in events(result)
    assert f"context of {LIMIT} tokens is full" in the_answer(result).notice


@pytest.mark.parametrize("can_shift", [True, False])
def test_guesses_change_no_word_of_an_answer_whose_prompt_becomes_shorter(can_shift):
    def answer_with(num_drafted: int) -> Answer:
        backend = CountingBackend(
            lambda token_ids: min(copying_token(token_ids), ord("z")),
            num_drafted_tokens=num_drafted,
            can_shift=can_shift,
        )
        engine = Engine(backend, verify=True)
        return the_answer(long_answer(engine, Overflow.ROLLING_WINDOW, max_tokens=160))

    with all_guesses_checked():
        without, with_guesses = answer_with(0), answer_with(5)
    assert with_guesses == replace(without, usage=with_guesses.usage)
    assert "left out" in without.notice
    assert with_guesses.usage.num_kept_tokens > 20


def test_moved_cells_save_computing_and_change_no_word():
    shifting, computing = (
        long_answer(
            Engine(CountingBackend(endless_token, can_shift=can)), Overflow.ROLLING_WINDOW, max_tokens=160
        )
        for can in (True, False)
    )
    assert "shifted" in events(shifting)
    assert "shifted" not in events(computing)
    assert the_answer(shifting).text == the_answer(computing).text
    saved = the_answer(computing).usage.num_computed_tokens - the_answer(shifting).usage.num_computed_tokens
    assert saved > 40


def test_the_next_turn_of_a_rolling_chat_reuses_what_moved(engine):
    options = {"overflow": Overflow.ROLLING_WINDOW, "max_context_tokens": LIMIT, "max_tokens": 20}
    one = request("first", history=HISTORY, **options)
    answer = ask(engine, one)
    second = request(
        "and the second question?",
        one.chat_id,
        history=(*one.messages, Message(Role.ASSISTANT, answer.text)),
        **options,
    )
    usage = ask(engine, second).usage
    assert usage.prefix_end == PrefixEnd.DROPPED
    assert usage.num_reused_tokens > 60
    engine.slots.memory.verify()


def test_an_answer_that_is_being_shortened_can_be_stopped():
    engine = Engine(CountingBackend(endless_token))
    ordered = []
    engine.answers.build_shorter_prompt = lambda request, count: ordered.append((request.request_id, count))
    one = request(
        "go on", history=HISTORY, overflow=Overflow.ROLLING_WINDOW, max_context_tokens=LIMIT, max_tokens=160
    )
    result = run(engine, one)
    assert not engine.has_work  # it waits for its prompt and computes nothing
    assert ordered == [(one.request_id, len(result.answers[one.request_id].text))]
    engine.abort(one.request_id)
    result.add(engine.step())
    assert result.answers[one.request_id].finish_reason is FinishReason.ABORT
    engine.refit(one.request_id, engine.prompts.build(one))  # comes too late
    assert not engine.has_work


def test_more_chats_than_slots_keep_what_they_computed(engine):
    first = [request(f"this is chat number {index}", max_tokens=6) for index in range(8)]
    answers = run(engine, *first).answers
    turns = [next_turn(one, answers[one.request_id].text, "and now?") for one in first]
    second = run(engine, *turns)
    for one in turns:
        usage = second.answers[one.request_id].usage
        assert usage.num_reused_tokens + usage.num_restored_tokens > 20
    for one in turns:
        engine.forget(one.chat_id)
    for one in turns:
        again = request("and now?", history=one.messages[:-1], keep_cells=False)
        assert ask(engine, again).text == second.answers[one.request_id].text


def test_a_paused_answer_is_restored_and_not_computed_again():
    engine = Engine(CountingBackend(endless_token, n_ctx=256), HibernatedChats(ram_bytes=2**24))
    asked = [request(f"chat number {index}", max_tokens=100) for index in range(4)]
    result = run(engine, *asked)
    assert "paused" in events(result)
    for one in asked:
        usage = result.answers[one.request_id].usage
        assert usage.num_computed_tokens == usage.num_prompt_tokens - usage.num_shared_tokens + 100 - 1


def test_a_paused_one_off_leaves_no_saved_state():
    engine = Engine(CountingBackend(endless_token, n_ctx=256), HibernatedChats(ram_bytes=2**24))
    asked = [request(f"chat number {index}", max_tokens=100, keep_cells=False) for index in range(4)]
    for one in asked:
        engine.add_request(one)
    result = Run()
    while "paused" not in events(result):
        result.add(engine.step())
    for one in asked:
        engine.abort(one.request_id)
    engine.step()
    assert engine.slots.hibernated.chats() == ()
    assert engine.slots.cells.num_used == 0


def test_a_report_tells_who_sleeps():
    engine = Engine(CountingBackend(endless_token, n_seq_max=1))
    one, other = request("this one goes to sleep", max_tokens=4), request("and this one not", max_tokens=4)
    run(engine, one)
    report = run(engine, other).reports[-1]
    assert [chat.chat_id for chat in report.hibernated] == [one.chat_id]


def test_every_lease_is_reported_once(engine):
    first = request("tell me")
    answer = ask(engine, first)
    result = run(engine, next_turn(first, answer.text, "more"))
    (lease,) = [lease for report in result.reports for lease in report.leases]
    usage = the_answer(result).usage
    assert lease.num_reused_tokens == usage.num_reused_tokens
    assert lease.num_reused_tokens + lease.num_tokens_to_compute == usage.num_prompt_tokens
    assert lease.prefix_end == usage.prefix_end == PrefixEnd.NEW_TEXT
