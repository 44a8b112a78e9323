"""What the engine promises, on the strict fake and on llama.cpp alike."""

import logging
import re

import pytest

from app.engine.batch import Batch
from app.engine.cells.hibernation import HibernatedChats
from app.engine.engine import Engine
from app.engine.prompt import Prompt
from app.protocol.errors import DecodeError, DecodeInterruptedError, NoKvCellsError
from app.protocol.events import EventKind
from app.protocol.output import FinishReason
from app.protocol.request import Message, Role
from tests.driver import Run, ask, next_turn, request, run
from tests.fakes import CountingBackend, bad_logits, endless_token

QUESTIONS = ["one", "two plus two", "three is a crowd in here", "4", "five gold rings"]


# Answers


def test_together_each_answers_as_it_does_alone(engine):
    alone = [ask(engine, request(text, keep_cells=False)).text for text in QUESTIONS]
    asked = [request(text, keep_cells=False) for text in QUESTIONS]
    together = run(engine, *asked)
    assert [together.answers[one.request_id].text for one in asked] == alone


@pytest.mark.parametrize("beside", [0, 2])
def test_an_answer_without_anything_to_compute_is_ended_and_the_others_go_on(beside):
    engine = Engine(CountingBackend())
    stuck = request("x")
    engine.add_request(stuck, Prompt(()))
    others = [request(text) for text in QUESTIONS[:beside]]
    answers = run(engine, *others, max_steps=200).answers
    assert answers[stuck.request_id].finish_reason is FinishReason.ERROR
    assert "nothing to compute" in answers[stuck.request_id].notice
    assert all(answers[one.request_id].finish_reason is not FinishReason.ERROR for one in others)


def test_a_limit_the_caller_set_needs_no_notice():
    answer = ask(Engine(CountingBackend(endless_token)), request("x", max_tokens=5))
    assert (answer.finish_reason, answer.notice, answer.found_no_room) == (FinishReason.LENGTH, "", False)


def test_an_answer_that_fills_the_context_ends_with_a_notice():
    engine = Engine(CountingBackend(endless_token, n_ctx=256))
    answer = ask(engine, request("x", max_tokens=None))
    assert answer.finish_reason is FinishReason.LENGTH
    assert "context of 256 tokens" in answer.notice
    assert answer.found_no_room
    assert answer.usage.num_prompt_tokens + answer.usage.num_generated_tokens == 256


def test_a_stop_string_ends_the_answer_and_is_not_shown():
    text = ask(Engine(CountingBackend(endless_token)), request("x", max_tokens=30)).text
    answer = ask(Engine(CountingBackend(endless_token)), request("x", stop=(text[4:7],), max_tokens=30))
    assert answer.finish_reason is FinishReason.STOP
    assert answer.text == text[: text.find(text[4:7])]
    assert answer.stopping_word == text[4:7]


def test_no_text_is_held_back_when_an_answer_is_aborted():
    engine = Engine(CountingBackend(endless_token))
    one = request("x", stop=("zzzz",), max_tokens=None)
    engine.add_request(one)
    result = run_steps(engine, 6)
    engine.abort(one.request_id)
    result.add(engine.step())
    answer = result.answers[one.request_id]
    assert answer.finish_reason is FinishReason.ABORT
    assert len(answer.text) == 6


# One ends, the others go on


def test_a_waiting_request_can_be_aborted():
    engine = Engine(CountingBackend(endless_token, n_seq_max=1))
    first, second = request("a", max_tokens=5), request("b", max_tokens=5)
    engine.add_request(first)
    engine.add_request(second)
    engine.step()
    engine.abort(second.request_id)
    result = run(engine)
    assert result.answers[second.request_id].finish_reason is FinishReason.ABORT
    assert result.answers[second.request_id].usage.num_computed_tokens == 0


def test_bad_logits_end_that_answer_only():
    backend = CountingBackend(
        lambda tokens: bad_logits(tokens) if ord("!") in tokens else endless_token(tokens)
    )
    bad, good = request("bad!"), request("good")
    result = run(Engine(backend), bad, good)
    assert result.answers[bad.request_id].finish_reason is FinishReason.ERROR
    assert "only zeros" in result.answers[bad.request_id].notice
    assert result.answers[good.request_id].finish_reason is FinishReason.LENGTH


def test_a_prompt_that_does_not_fit_is_refused_alone(engine):
    long, short = request("word " * 200), request("short")
    result = run(engine, long, short)
    assert result.answers[long.request_id].finish_reason is FinishReason.ERROR
    assert "the context holds 512" in result.answers[long.request_id].notice
    assert result.answers[long.request_id].found_no_room
    assert result.answers[long.request_id].usage.num_prompt_tokens > 512
    outputs = [output for report in result.reports for output in report.outputs]
    assert {output.request_id for output in outputs if output.is_refused} == {long.request_id}
    assert result.answers[short.request_id].finish_reason is not FinishReason.ERROR


# Cells


def test_a_second_turn_answers_as_a_fresh_engine_does(engine):
    first = request("first")
    answer = ask(engine, first)
    second = next_turn(first, answer.text, "second")
    warm = ask(engine, second)
    engine.forget(first.chat_id)
    assert ask(engine, next_turn(first, answer.text, "second")).text == warm.text


def test_asking_the_same_again_recomputes_one_token(engine):
    one = request("the same words", "chat")
    first = ask(engine, one)
    again = ask(engine, request("the same words", "chat"))
    assert again.usage.num_reused_tokens == first.usage.num_prompt_tokens - 1
    assert again.text == first.text


def test_a_shared_prefix_is_computed_once(engine):
    document = "All of this text is the same for both of the chats. "
    first = ask(engine, request(document + "one?"))
    second_request = request(document + "two?")
    second = ask(engine, second_request)
    assert first.usage.num_shared_tokens == 0
    assert second.usage.num_shared_tokens > 40
    assert engine.slots.cells.usage.num_shared == second.usage.num_shared_tokens
    for slot in engine.slots.slots:
        if slot.chat_id:
            engine.forget(slot.chat_id)
    assert ask(engine, request(document + "two?")).text == second.text


def test_more_chats_than_slots_wait_and_are_all_answered(engine):
    asked = [request(f"number {index}", max_tokens=6) for index in range(15)]
    result = run(engine, *asked)
    assert len(result.answers) == 15
    assert max(report.num_waiting for report in result.reports) == 11
    assert all(answer.finish_reason is not FinishReason.ERROR for answer in result.answers.values())


def test_when_cells_run_out_the_youngest_is_paused_and_nobody_fails():
    texts = [f"chat number {index}" for index in range(4)]
    alone = [ask(Engine(CountingBackend(endless_token)), request(t, max_tokens=120)).text for t in texts]
    engine = Engine(CountingBackend(endless_token, n_ctx=256))
    asked = [request(text, max_tokens=120) for text in texts]
    result = run(engine, *asked)
    assert [result.answers[one.request_id].text for one in asked] == alone
    events = [event for report in result.reports for event in report.events]
    assert any(event.kind is EventKind.PAUSE for event in events)


def test_an_idle_chat_gives_way_to_a_running_one():
    engine = Engine(CountingBackend(endless_token, n_ctx=128, n_seq_max=2))
    idle = request("x" * 20, max_tokens=20)
    ask(engine, idle)
    result = run(engine, request("y" * 20, max_tokens=50))
    assert any(event.kind is EventKind.HIBERNATE for report in result.reports for event in report.events)
    assert idle.chat_id not in [slot.chat_id for slot in engine.slots.slots]


def test_a_short_question_does_not_wait_behind_a_long_document():
    engine = Engine(CountingBackend(endless_token, n_ctx=2048))
    talking, long, short = request("hi", max_tokens=200), request("x" * 900), request("brief?")
    engine.add_request(talking)
    engine.step()
    result = run(engine, long, short)
    order = [out.request_id for report in result.reports for out in report.outputs if out.text]
    assert order.index(short.request_id) < order.index(long.request_id)


def test_running_answers_get_a_token_in_every_step_while_a_prompt_arrives():
    engine = Engine(CountingBackend(endless_token, n_ctx=2048))
    talking = request("hi", max_tokens=200)
    engine.add_request(talking)
    engine.step()
    long = request("x" * 900, max_tokens=2)
    engine.add_request(long)
    result = run(engine)
    steps = [report for report in result.reports if len(report.spans) == 2]
    assert len(steps) > 3
    assert all(span.num_rows == 1 for r in steps for span in r.spans if span.request_id == talking.request_id)


# Decodes that fail


def fails_once(error: Exception):
    """The second decode raises."""
    calls = iter([False, True])

    def before_decode(_batch):
        if next(calls, False):
            raise error

    return before_decode


def test_a_paused_answer_that_shares_its_beginning_is_computed_once():
    """It is let in again where its whole state has room, however much of it another answer holds."""
    engine = Engine(CountingBackend(endless_token, n_ctx=1100), HibernatedChats(2**24), verify=True)
    beginning = "x" * 400
    first, other = request(beginning + "a", max_tokens=600), request("c" * 150, max_tokens=200)
    paused = request(beginning + "b" * 144, max_tokens=300)
    result = run(engine, first, other, paused)
    events = [event for report in result.reports for event in report.events]
    assert [event.chat_id for event in events if event.kind is EventKind.PAUSE] == [paused.chat_id]
    usage = result.answers[paused.request_id].usage
    assert usage.num_shared_tokens >= len(beginning)
    num_tokens = usage.num_prompt_tokens + usage.num_generated_tokens
    assert usage.num_computed_tokens <= num_tokens - usage.num_shared_tokens


@pytest.mark.parametrize("has_fork", [False, True])
def test_cells_that_only_idle_chats_share_make_way_for_a_question(has_fork):
    engine = Engine(CountingBackend(endless_token))
    idle = request("x" * 300)
    ask(engine, idle)
    if has_fork:
        assert engine.slots.fork(idle.chat_id, "fork")
    running, asked = request("running", max_tokens=200), request("y" * 60)
    engine.add_request(running)
    engine.step()
    engine.add_request(asked)
    engine.step()
    leased = {slot.request_id for slot in engine.report().slots}
    assert leased >= {running.request_id, asked.request_id}


def test_answers_that_fit_only_one_after_another_all_end():
    """As with a sliding window, where the library may find no room although our books show some."""

    def holds_one(batch: Batch) -> None:
        if len(batch.spans) > 1:
            raise NoKvCellsError("no room")

    backend = CountingBackend(endless_token, holds_one)
    asked = [request(text, max_tokens=20) for text in QUESTIONS]
    result = run(Engine(backend), *asked, max_steps=200)
    assert {result.answers[one.request_id].finish_reason for one in asked} == {FinishReason.LENGTH}
    num_failed = sum(report.return_code != 0 for report in result.reports)
    assert num_failed <= len(asked) ** 2


def test_no_room_in_the_library_costs_nobody_their_answer():
    texts = ["one", "two", "three"]
    alone = [ask(Engine(CountingBackend()), request(text)).text for text in texts]
    engine = Engine(CountingBackend(before_decode=fails_once(NoKvCellsError("no room"))))
    asked = [request(text) for text in texts]
    result = run(engine, *asked)
    assert [result.answers[one.request_id].text for one in asked] == alone


def test_an_interrupted_decode_is_computed_again():
    alone = ask(Engine(CountingBackend()), request("one")).text
    engine = Engine(CountingBackend(before_decode=fails_once(DecodeInterruptedError("stopped"))))
    assert ask(engine, request("one")).text == alone


def test_a_decode_that_fails_for_good_ends_the_engine():
    engine = Engine(CountingBackend(before_decode=fails_once(DecodeError("code -3"))))
    with pytest.raises(DecodeError, match="code -3"):
        ask(engine, request("one"))


# What it tells


def test_reports_add_up(engine):
    asked = [request(text, max_tokens=12) for text in QUESTIONS]
    result = run(engine, *asked)
    for report in result.reports:
        assert report.cells.num_used + report.cells.num_free == report.cells.num_total
        for slot in report.slots:
            assert slot.pos_max + 1 == slot.num_cells
            assert slot.pos_min == (0 if slot.num_cells else -1)
    computed = sum(answer.usage.num_computed_tokens for answer in result.answers.values())
    assert computed == sum(report.num_rows for report in result.reports)


def test_every_step_is_one_line_in_the_debug_log(caplog):
    engine = Engine(CountingBackend(endless_token))
    with caplog.at_level(logging.DEBUG, logger="app.engine.engine"):
        run(engine, request("ab", max_tokens=2), request("cd", max_tokens=3))
    lines = [record.getMessage() for record in caplog.records]
    assert len(lines) == 3
    assert re.fullmatch(
        r"step 2 \| seq 0 decode rows=1 pos=(\d+)\.\.\1 tokens=2/2 request=r\d+ "
        r"\| seq 1 decode rows=1 pos=(\d+)\.\.\2 tokens=2/3 request=r\d+ "
        r"\| end r\d+ length \| Released\(seq_id=0, chat_id='[^']+', num_tokens=22, is_kept=True\) "
        r"\| 2 rows, \d+/512 cells, 0 waiting, [\d.]+ ms",
        lines[1],
    )


def test_samplers_are_freed_however_an_answer_ends():
    backend = CountingBackend()
    engine = Engine(backend)
    one, two = request("a", max_tokens=None), request("b")
    run(engine, one, two)
    engine.add_request(request("c", max_tokens=None))
    engine.step()
    assert backend.num_samplers == 1
    engine.close()
    assert backend.num_samplers == 0


def test_the_history_is_what_the_model_is_shown(engine):
    history = (Message(Role.SYSTEM, "sys"), Message(Role.USER, "q"), Message(Role.ASSISTANT, "a"))
    usage = ask(engine, request("now", history=history)).usage
    prompt = engine.prompts.build(request("now", history=history))
    text = "".join(f"<|im_start|>{turn.role}\n{turn.content}<|im_end|>\n" for turn in history)
    told = engine._backend.tokenize(text, parse_special=True)
    assert usage.num_prompt_tokens == len(prompt.token_ids)
    assert prompt.token_ids[: len(told)] == tuple(told)


def run_steps(engine: Engine, num_steps: int) -> Run:
    result = Run()
    for _ in range(num_steps):
        result.add(engine.step())
    return result
