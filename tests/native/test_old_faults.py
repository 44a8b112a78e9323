"""The faults of the server that Skein replaces, each on llama.cpp with the starter model.

Its sums are right, so a word from another chat would show.
"""

import pytest

from app.engine.engine import Engine
from app.engine.llama.loading import open_llama_backend
from app.engine.llama.native_library import native_objects
from app.protocol.load import LoadParams
from app.protocol.output import FinishReason
from app.protocol.report import SlotState
from app.system import paths
from tests.driver import Run, ask, next_turn, request, run
from tests.effort import EFFORT

pytestmark = pytest.mark.native

SUMS = {"1+1=": "2", "What is 34 + 21?": "55", "add 17 and 5": "22", "2+2=": "4", "40 + 40 =": "80"}
COUNTING = "Count from 1 to 40"


@pytest.fixture
def engine():
    params = LoadParams(paths.starter_model(), n_ctx=2048, n_seq_max=8, n_threads=1, num_drafted_tokens=0)
    with open_llama_backend(params) as backend:
        engine = Engine(backend)
        yield engine
        engine.close()


def sums(**options):
    return [request(text, max_tokens=40, **options) for text in SUMS]


def assert_right(result: Run, asked) -> None:
    for one in asked:
        answer = result.answers[one.request_id]
        assert answer.text.split()[-1] == SUMS[one.messages[-1].content], answer.text
        assert answer.finish_reason is FinishReason.STOP


def test_the_third_request_works_and_the_hundredth_costs_no_more(engine):
    costs = set()
    for _ in range(103):
        one = request("What is 34 + 21?", max_tokens=40, keep_cells=False)
        result = run(engine, one)
        most_cells = max(report.cells.num_used for report in result.reports)
        answer = result.answers[one.request_id]
        costs.add((answer.usage.num_computed_tokens, len(result.reports), most_cells, answer.text))
        assert engine.slots.cells.num_used == 0
        assert {slot.pos_max for slot in engine.slots.snapshots()} == {-1}
    assert len(costs) == 1


def test_five_at_once_get_their_own_right_answers(engine):
    asked = sums()
    result = run(engine, *asked)
    assert_right(result, asked)
    assert max(len(report.spans) for report in result.reports) == 5


def test_an_answer_leaves_when_it_is_done_and_not_with_its_batch(engine):
    long, short = request(COUNTING, max_tokens=400), request("1+1=", max_tokens=40)
    result = run(engine, long, short)
    ends = {out.request_id: r.step for r in result.reports for out in r.outputs if out.finish_reason}
    assert ends[short.request_id] + 20 < ends[long.request_id]


def test_four_go_on_when_one_is_aborted(engine):
    asked = sums()
    counting = request(COUNTING, max_tokens=400)
    engine.add_request(counting)
    engine.step()
    for one in asked:
        engine.add_request(one)
    engine.step()
    engine.abort(counting.request_id)
    result = run(engine)
    assert result.answers[counting.request_id].finish_reason is FinishReason.ABORT
    assert_right(result, asked)
    assert counting.request_id not in [span.request_id for r in result.reports for span in r.spans]


def test_a_closed_tab_is_in_no_later_batch_and_its_cells_come_back(engine):
    closed, other = request(COUNTING, max_tokens=400), request("Count from 3 to 40", max_tokens=400)
    for one in (closed, other):
        engine.add_request(one)
    for _ in range(5):
        engine.step()
    engine.forget(closed.chat_id)
    result = run(engine)
    assert closed.chat_id not in [span.chat_id for r in result.reports for span in r.spans]
    states = {
        slot.seq_id: slot.state for slot in engine.slots.snapshots() if slot.state is not SlotState.EMPTY
    }
    assert list(states.values()) == [SlotState.WARM]
    assert "10, 11, 12, 13, 14, 15, 16" in result.answers[other.request_id].text


def test_a_second_turn_computes_only_its_new_tokens(engine):
    first = request("What is 34 + 21?", max_tokens=40)
    answer = ask(engine, first)
    usage = ask(engine, next_turn(first, answer.text, "1+1=")).usage
    # All of the first turn but the end-of-turn token, which the model chose and never saw.
    assert usage.num_reused_tokens == answer.usage.num_prompt_tokens + answer.usage.num_generated_tokens
    num_new = usage.num_prompt_tokens - usage.num_reused_tokens
    assert usage.num_computed_tokens == num_new + usage.num_generated_tokens


@pytest.mark.parametrize("max_tokens", [1, 2, 3, 17])
def test_max_tokens_is_exact(engine, max_tokens):
    answer = ask(engine, request(COUNTING, max_tokens=max_tokens))
    assert answer.usage.num_generated_tokens == max_tokens
    assert answer.finish_reason is FinishReason.LENGTH


def test_hundreds_of_requests_leave_the_native_objects_as_they_were(engine):
    run(engine, *sums(keep_cells=False))
    before = dict(native_objects)
    for _ in range(40 * EFFORT):
        asked = sums(keep_cells=False)
        assert_right(run(engine, *asked), asked)
    assert dict(native_objects) == before
    assert engine.slots.cells.num_used == 0


@pytest.mark.parametrize("leave", ["abort", "close"])
def test_nothing_of_a_chat_that_comes_and_goes_shows_in_another(engine, leave):
    """Their cells are used again at once, in the middle of the other's answer."""
    expected = ask(engine, request(COUNTING, max_tokens=64, keep_cells=False)).text
    number = 0
    while number < 60 * EFFORT:
        counting = request(COUNTING, max_tokens=64, keep_cells=False)
        engine.add_request(counting)
        result = Run()
        while result.is_open(counting.request_id):
            canary = request(f"The secret word is canary{number}. What is {number} + 1?", f"canary {number}")
            engine.add_request(canary)
            result.add(engine.step())
            if number % 2:
                result.add(engine.step())
            if leave == "abort":
                engine.abort(canary.request_id)
            engine.forget(canary.chat_id)
            number += 1
        result.add(engine.report())
        assert result.answers[counting.request_id].text == expected
        assert {slot.pos_max for slot in engine.slots.snapshots()} == {-1}
    engine.verify()
