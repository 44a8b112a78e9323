"""The reason why a cached prefix ended says what happened, and no more."""

from dataclasses import replace

import pytest

from app.engine.cells.hibernation import HibernatedChats
from app.engine.engine import Engine
from app.engine.prompt import Prompt
from app.protocol.answer_format import ChatParams
from app.protocol.commands import ClearCells, Hibernate, TokensOf
from app.protocol.output import FinishReason, PrefixEnd
from app.protocol.report import ChatTokens
from app.protocol.request import Message, Request, Role
from tests.driver import Run, ask, next_turn, request, run
from tests.fakes import CountingBackend, endless_token

LONG = "a question that is long enough to be shared"


@pytest.fixture
def engine():
    engine = Engine(CountingBackend(endless_token, n_ctx=1024), HibernatedChats(2**20), verify=True)
    yield engine
    engine.close()


def asked(engine: Engine, one: Request, prompt: str = "") -> PrefixEnd:
    """With a prompt of the test's own, if it has one."""
    engine.add_request(one, Prompt(tuple(prompt.encode()), one.messages) if prompt else None)
    return run(engine).answers[one.request_id].usage.prefix_end


@pytest.fixture
def first(engine):
    return request(LONG, "a", history=(Message(Role.SYSTEM, "Be short."),))


@pytest.fixture
def second(engine, first):
    """The next turn of a chat that was answered."""
    return next_turn(first, ask(engine, first).text, "and then?")


def changed(one: Request, at: int, text: str) -> Request:
    messages = list(one.messages)
    messages[at] = replace(messages[at], content=text)
    return replace(one, messages=tuple(messages))


def test_a_turn_that_follows_changed_nothing(engine, second):
    assert asked(engine, second) is PrefixEnd.NEW_TEXT


def test_an_answer_that_is_asked_for_once_more_finds_all_of_its_prompt(engine, first, second):
    assert asked(engine, replace(first, request_id="again")) is PrefixEnd.SAME


def test_another_question_is_an_edited_one(engine, second):
    assert asked(engine, changed(second, 1, "something else")) is PrefixEnd.EDITED


def test_a_turn_that_is_gone_was_edited(engine, second):
    ask(engine, second)
    rest = replace(second, request_id="rest", messages=(*second.messages[:2], second.messages[-1]))
    assert asked(engine, rest) is PrefixEnd.EDITED


def test_another_system_prompt_is_no_edited_message(engine, second):
    assert asked(engine, changed(second, 0, "Be long.")) is PrefixEnd.SYSTEM
    without = replace(second, request_id="without", messages=second.messages[1:])
    assert asked(engine, without) is PrefixEnd.SYSTEM


def test_a_tool_that_was_switched_is_no_edited_message(engine, second):
    with_tools = replace(second, chat_params=ChatParams(tools="[1]"))
    assert asked(engine, with_tools, "[1]" + LONG) is PrefixEnd.TOOLS


def test_thinking_that_was_switched_is_no_edited_message(engine, second):
    thinking = replace(second, template_variables='{"enable_thinking": false}')
    assert asked(engine, thinking, "no thoughts" + LONG) is PrefixEnd.OPTIONS


def test_the_same_messages_in_other_words_are_the_templates_doing(engine, second):
    assert asked(engine, second, LONG) is PrefixEnd.TEMPLATE


def test_an_answer_that_was_edited_or_sent_without_its_reasoning_is_not_told_as_one_of_them(engine, second):
    assert asked(engine, changed(second, 2, "short")) is PrefixEnd.ANSWER


def test_a_stopped_answer_in_other_words_is_the_templates_doing_too(engine, first):
    """The last of its tokens is in no cell."""
    engine.add_request(first)
    stopped = Run()
    while len(stopped.reports) < 6:
        stopped.add(engine.step())
    engine.abort(first.request_id)
    stopped.add(engine.report())
    text = stopped.answers[first.request_id].text
    turn = next_turn(first, text, "and then?")
    rewritten = (*engine.prompts.build(first).token_ids, *text.upper().encode(), *b"and then?")
    engine.add_request(turn, Prompt(rewritten, turn.messages))
    assert run(engine).answers[turn.request_id].usage.prefix_end is PrefixEnd.TEMPLATE


def test_an_answer_that_is_stopped_while_it_is_paused_is_known_to_its_last_token(engine):
    one = request(LONG, "a", max_tokens=200)
    for each in (one, request("other", "b", max_tokens=20)):
        engine.add_request(each)
        engine.step()
    engine._scheduler._pause(engine._scheduler.running[0])
    generated = engine._scheduler.waiting[0].token_ids[:]
    engine.abort(one.request_id)
    engine.obey(TokensOf("a"))
    [tokens] = [answer for answer in engine.report().answers if isinstance(answer, ChatTokens)]
    assert list(tokens.token_ids) == generated


def test_raw_prompts_have_no_messages_that_could_be_edited(engine):
    one = Request("r", "raw", prompt=(LONG,), max_tokens=4)
    asked(engine, one)
    assert asked(engine, Request("s", "raw", prompt=("b", LONG), max_tokens=4)) is PrefixEnd.DIFFERENT


def test_tools_that_were_switched_are_told_although_the_message_was_read_ahead(engine, second):
    prompts = [Prompt(tuple((text + LONG).encode()), second.messages) for text in ("[1]", "[1]!")]
    with_tools = replace(second, chat_params=ChatParams(tools="[1]"))
    engine.read_ahead(replace(with_tools, request_id="ahead", max_tokens=0), prompts[0])
    run(engine)
    engine.add_request(with_tools, prompts[1])
    usage = run(engine).answers[with_tools.request_id].usage
    assert usage.prefix_end is PrefixEnd.TOOLS


def test_a_history_that_the_template_rewrote_is_told_although_the_message_was_read_ahead(engine, first):
    answer = ask(engine, first).text
    turn = next_turn(first, answer, "and then?")
    asked_for = engine.prompts.build(first).token_ids
    rewritten = (*asked_for, *answer[:5].encode(), *answer[5:].upper().encode())
    one = replace(turn, request_id="ahead", max_tokens=0)
    engine.read_ahead(one, Prompt((*rewritten, *b"and"), turn.messages))
    run(engine)
    engine.add_request(turn, Prompt((*rewritten, *b"and then?"), turn.messages))
    usage = run(engine).answers[turn.request_id].usage
    assert usage.prefix_end is PrefixEnd.TEMPLATE


def test_cells_that_were_given_up_for_other_tools_were_not_evicted(engine, second):
    with_tools = replace(second, request_id="ahead", max_tokens=0, chat_params=ChatParams(tools="[1]"))
    engine.read_ahead(with_tools, Prompt(tuple(f"[1]{LONG}".encode()), second.messages))
    run(engine)
    assert asked(engine, second) is PrefixEnd.REPLACED


def test_cells_that_a_user_cleared_were_not_needed_by_others(engine, second):
    engine.obey(ClearCells("a"))
    assert asked(engine, second) is PrefixEnd.CLEARED


def test_a_saved_state_that_had_to_make_room_had_been_saved():
    engine = Engine(CountingBackend(endless_token, n_ctx=1024), HibernatedChats(1000))
    first = request(LONG, "a")
    answer = ask(engine, first)
    engine.obey(Hibernate("a"))
    ask(engine, request(LONG + "!", "b"))
    engine.obey(Hibernate("b"))
    assert asked(engine, next_turn(first, answer.text, "and then?")) is PrefixEnd.LOST


def test_cells_that_cost_others_too_much_were_there_and_can_be_cut_back():
    """As `test_idle_chats_do_not_make_way_for_a_state_that_is_hardly_used`."""
    engine = Engine(CountingBackend(endless_token, n_seq_max=3, n_ctx=512), HibernatedChats(2**20))
    asked(engine, Request("r1", "a", prompt=(*range(60), *[1] * 300), max_tokens=1))
    engine.obey(Hibernate("a"))
    asked(engine, Request("r2", "b", prompt=(2,) * 200, max_tokens=1))
    asked(engine, Request("r3", "c", prompt=(3,) * 200, max_tokens=1))
    assert asked(engine, Request("r4", "a", prompt=(*range(60), 9), max_tokens=1)) is PrefixEnd.NOT_USED


def test_each_lease_of_a_paused_answer_has_a_reason_of_its_own(engine):
    one, other = request(LONG, "a", max_tokens=200), request("other", "b", max_tokens=20)
    engine.add_request(one)
    engine.step()
    engine.add_request(other)
    engine.step()
    engine._scheduler._pause(engine._scheduler.running[0])
    reports = run(engine).reports
    [lease] = [lease for report in reports for lease in report.leases]
    assert lease.prefix_end is PrefixEnd.RESUMED
    last = next(
        output for report in reports for output in report.outputs if output.request_id == one.request_id
    )
    assert last.usage.prefix_end is PrefixEnd.NEW_CHAT
    assert last.usage.num_cached_tokens == 0  # nothing was there when it was asked
    assert last.finish_reason is not FinishReason.ERROR
