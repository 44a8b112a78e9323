"""A prompt that was not sent yet is computed while there is nothing else to do, and nobody notices."""

from dataclasses import replace

import pytest

from app.engine.engine import Engine
from app.engine.loop import EngineLoop
from app.engine.prompts.prompt_builder import PromptBuilder
from app.protocol.commands import ClearCells, Hibernate, Pause, ReadAhead, SetFront, Submit, TokensOf
from app.protocol.events import Leased
from app.protocol.output import FinishReason, PrefixEnd
from app.protocol.report import ChatTokens, Lease, SlotState, StepReport
from app.protocol.request import Message, Request, Role
from tests.driver import ask, next_turn, request, run
from tests.fakes import CountingBackend, endless_token

DRAFT = "what is typed so far, word by word"


@pytest.fixture
def engine():
    engine = Engine(CountingBackend(endless_token, n_ctx=1024), verify=True)
    yield engine
    engine.close()


def ahead(engine: Engine, one: Request) -> None:
    one = replace(one, max_tokens=0)
    engine.read_ahead(one, engine.prompts.build_ahead(one))


def after(first: Request, answer: str, text: str = DRAFT) -> Request:
    return next_turn(first, answer, text)


def num_held(engine: Engine, chat_id: str) -> int:
    return next((len(slot.token_ids) for slot in engine.slots.slots if slot.chat_id == chat_id), 0)


def test_what_is_typed_is_computed_before_it_is_sent(engine):
    first = request("hello", "a")
    answer = ask(engine, first)
    second = after(first, answer.text)
    ahead(engine, second)
    assert run(engine).answers == {}
    usage = ask(engine, second).usage
    assert usage.num_prompt_tokens - usage.num_reused_tokens < 40
    assert usage.prefix_end is PrefixEnd.NEW_TEXT


def test_the_first_message_of_a_chat_is_read_ahead_too_and_still_new(engine):
    one = request(DRAFT, "a")
    ahead(engine, one)
    run(engine)
    usage = ask(engine, one).usage
    assert usage.num_reused_tokens == usage.num_ahead_tokens > len(DRAFT)
    assert usage.prefix_end is PrefixEnd.NEW_CHAT


def test_a_lease_tells_what_was_read_ahead_for_it_and_whether_it_reads_ahead_itself(engine):
    first = request("hello", "a")
    second = after(first, ask(engine, first).text)
    ahead(engine, second)
    [lease] = leases_in(run(engine).reports)
    assert lease.is_ahead
    assert lease.num_ahead_tokens == 0
    [lease] = leases_in(run(engine, second).reports)
    assert not lease.is_ahead
    assert lease.num_ahead_tokens == lease.num_reused_tokens - lease.num_common_tokens > len(DRAFT)


def test_what_another_chat_had_when_it_was_read_ahead_is_told_as_shared(engine):
    ask(engine, request("a" * 40, "other"))
    one = request("a" * 40 + DRAFT, "a")
    ahead(engine, one)
    [first] = leases_in(run(engine).reports)
    assert first.num_shared_tokens >= 40
    longer = request("a" * 40 + DRAFT * 2, "a")
    ahead(engine, longer)
    run(engine)
    [lease] = leases_in(run(engine, longer).reports)
    assert lease.num_shared_tokens == first.num_shared_tokens
    assert lease.num_ahead_tokens == lease.num_reused_tokens > len(DRAFT)
    [after_it] = leases_in(run(engine, after(longer, "x")).reports)
    assert (after_it.num_shared_tokens, after_it.num_ahead_tokens) == (0, 0)


def test_a_copy_of_what_was_read_ahead_has_shared_as_much(engine):
    ask(engine, request("a" * 40, "other"))
    one = request("a" * 40 + DRAFT, "a")
    ahead(engine, one)
    [first] = leases_in(run(engine).reports)
    engine.slots.fork("a", "b")
    [lease] = leases_in(run(engine, replace(one, chat_id="b")).reports)
    assert lease.num_shared_tokens == first.num_shared_tokens


def leases_in(reports: list[StepReport]) -> list[Lease]:
    return [lease for report in reports for lease in report.leases]


def test_while_it_is_read_ahead_no_answer_is_running(engine):
    ahead(engine, request(DRAFT * 20, "a"))
    report = engine.step()
    [slot] = [slot for slot in report.slots if slot.chat_id]
    assert slot.state is SlotState.AHEAD
    assert not slot.is_running
    assert [span.is_ahead for span in report.spans] == [True]
    assert [event.is_ahead for event in report.events if isinstance(event, Leased)] == [True]


def test_a_draft_that_changed_is_no_edited_message_whatever_became_of_the_last_answer(engine):
    first = request("hello", "a")
    answer = ask(engine, first)
    engine.obey(ClearCells("a"))
    ahead(engine, after(first, answer.text, "what is typed first"))
    run(engine)
    usage = ask(engine, after(first, answer.text, "another one")).usage
    assert usage.prefix_end is PrefixEnd.CLEARED
    assert 0 < usage.num_ahead_tokens == usage.num_reused_tokens


def test_the_copy_of_a_chat_that_was_only_read_ahead_is_new_too(engine):
    ahead(engine, request(DRAFT, "a"))
    run(engine)
    engine.slots.fork("a", "b")
    assert ask(engine, request("another", "b")).usage.prefix_end is PrefixEnd.NEW_CHAT


def test_the_answer_is_that_without_reading_ahead(engine):
    one = request(DRAFT + " and on", "a")
    other = replace(one, request_id="alone", chat_id="b", shares_prefix=False)
    ahead(engine, request(DRAFT, "a"))
    run(engine)
    assert ask(engine, one).text == ask(engine, other).text


def test_a_request_ends_it_in_the_same_step(engine):
    ahead(engine, request(DRAFT * 20, "a"))
    engine.step()
    engine.add_request(one := request("now", "b"))
    report = engine.step()
    assert {span.request_id for span in report.spans} == {one.request_id}
    assert num_held(engine, "a") > 0


def test_it_does_not_begin_beside_an_answer(engine):
    engine.add_request(request("hello", "a"))
    engine.step()
    ahead(engine, request(DRAFT, "b"))
    run(engine)
    assert num_held(engine, "b") == 0


def test_no_chat_loses_its_cells_for_it(engine):
    for name in "abcd":
        ask(engine, request("hello", name))
    before = [slot.token_ids.copy() for slot in engine.slots.slots]
    ahead(engine, request(DRAFT, "e"))
    run(engine)
    assert [slot.token_ids for slot in engine.slots.slots] == before


def test_there_is_no_output_whatever_ends_it(engine):
    for end in (lambda: engine.forget("a"), lambda: engine.abort_all(FinishReason.ABORT, ""), engine.step):
        ahead(engine, request(DRAFT, "a"))
        end()
        assert run(engine).answers == {}
    assert num_held(engine, "a") > 0


def test_any_command_ends_it(engine):
    engine.obey(ReadAhead(request(DRAFT, "a", max_tokens=0)))
    for _ in range(3):
        engine.step()
    engine.obey(Hibernate("a"))
    assert not engine.has_open_answers
    assert "a" in engine.slots.hibernated


def test_while_the_engine_is_paused_it_does_not_begin(engine):
    engine.obey(Pause())
    ahead(engine, request(DRAFT, "a"))
    assert not engine.has_open_answers


def test_the_chats_last_answer_can_still_be_read(engine):
    first = request("hello", "a")
    answer = ask(engine, first)
    engine.obey(TokensOf("a"))
    before = tokens_in(engine)
    ahead(engine, after(first, answer.text))
    run(engine)
    engine.obey(TokensOf("a"))
    assert tokens_in(engine) == before


def tokens_in(engine: Engine) -> ChatTokens:
    answers = engine.report().answers
    assert isinstance(answers[-1], ChatTokens)
    return answers[-1]


def test_the_figures_of_the_last_answer_stay(engine):
    first = request("hello", "a")
    answer = ask(engine, first)
    ahead(engine, after(first, answer.text))
    run(engine)
    [slot] = [slot for slot in engine.report().slots if slot.chat_id == "a"]
    assert slot.usage == answer.usage


def test_where_the_template_leaves_out_the_end_of_the_answer_it_can_not(engine):
    first = request("hello", "a")
    answer = ask(engine, first)
    ahead(engine, after(first, answer.text[:4]))
    run(engine)
    engine.obey(TokensOf("a"))
    assert tokens_in(engine).token_ids == ()


def test_nothing_is_read_ahead_that_the_next_character_could_change():
    prompts = PromptBuilder(CountingBackend())
    one = request(DRAFT, "a")
    beginning = prompts.build_ahead(one).token_ids
    for ending in ("", ".", " more", "\n"):
        message = Message(Role.USER, DRAFT + ending)
        assert prompts.build(replace(one, messages=(message,))).token_ids[: len(beginning)] == beginning


def test_a_loop_takes_it_from_its_mailbox(engine):
    loop = EngineLoop(engine, lambda: None)
    loop._prompt_thread.start()
    one = request(DRAFT, "a")
    loop.post(SetFront("a"))
    loop.post(ReadAhead(replace(one, max_tokens=0)))
    while num_held(engine, "a") < len(DRAFT):
        loop._receive()
        loop._advance()
    loop.post(Submit(one))
    while not any(output.finish_reason for report in loop.take_reports() for output in report.outputs):
        loop._receive()
        loop._advance()
    assert SlotState.WARM in {slot.state for slot in engine.report().slots}
    loop._prompt_thread.stop()
