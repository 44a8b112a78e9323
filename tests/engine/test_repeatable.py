"""Repeatable answers: the same, whatever else is computed, before them and beside them."""

from dataclasses import replace
from functools import cache
from itertools import pairwise
from unittest import mock

from hypothesis import given, settings
from hypothesis import strategies as st

from app.engine.engine import Engine
from app.engine.repeatable import CHUNK_ROWS
from app.engine.step_budget import StepBudget
from app.protocol.commands import Hibernate, Pause, Restore, Resume, StepOnce
from app.protocol.errors import DecodeInterruptedError, ModelLoadError
from app.protocol.output import FinishReason, PrefixEnd
from app.protocol.request import Overflow
from tests.driver import GREEDY, Run, ask, next_turn, request, run
from tests.effort import EFFORT
from tests.fakes import CountingBackend, endless_token

QUESTION = "Which of these words is repeated, and how often is it? " * 2
REPEATABLE = replace(GREEDY, repeatable=True)
OTHERS = ["hi", "what is the common prefix of all these chats?", "tell me more", "1+1="]


class RoundingBackend(CountingBackend):
    """Each next token depends on all that the last bits of llama.cpp's logits depend on.

    These are the rows of a step, the place of a row among them, the highest cell, where the cells lie that
    the row sees, and how each of those was computed.
    """

    def __init__(self, *values, **model):
        super().__init__(*values, **model)
        self.bits = {}  # by cell
        self.chosen = {}  # by row of the last decode
        self.saved = {}  # by state

    def _new_private(self, **model):
        return RoundingBackend(**model)

    def _note_computed(self, batch, row):
        super()._note_computed(batch, row)
        seq_id, position = batch.seq_ids[row], batch.positions[row]
        seen = [
            (index, cell)
            for index, cell in sorted(self.memory.cells.items())
            if seq_id in cell.seq_ids and cell.pos <= position
        ]
        computed = next(cell for _, cell in seen if cell.pos == position)
        before = tuple((index, self.bits[cell]) for index, cell in seen if cell is not computed)
        self.bits[computed] = hash((batch.num_rows, row, max(self.memory.cells), computed.token_id, before))
        self.chosen[row] = ord("a") + self.bits[computed] % 26

    def choose(self, row):
        super().choose(row)
        return self.chosen[row]

    def save_state(self, seq_id):
        state = super().save_state(seq_id)
        self.saved[state.tobytes()] = [self.bits[cell] for cell in self._cells_of(seq_id)]
        return state

    def restore_state(self, seq_id, state):
        is_restored = super().restore_state(seq_id, state)
        if is_restored:
            self.bits |= zip(self._cells_of(seq_id), self.saved[state.tobytes()], strict=True)
        return is_restored


def new_engine(**model):
    return Engine(RoundingBackend(**({"n_ctx": 1024, "n_seq_max": 4} | model)), verify=True)


def repeatable(text=QUESTION, chat=None, **options):
    return request(text, chat, **({"sampling": REPEATABLE} | options))


def answer_alone(one):
    return text_alone(replace(one, request_id="alone"))


@cache
def text_alone(one):
    return ask(new_engine(), one).text


def steps_of(run):
    """The chats with rows in each step."""
    return [{span.chat_id for span in report.spans} for report in run.reports if report.spans]


def test_without_it_company_changes_an_answer():
    one, others = request(QUESTION), [request(text) for text in OTHERS]
    assert run(new_engine(), one, *others).answers[one.request_id].text != answer_alone(one)


def test_company_does_not_change_it():
    one, others = repeatable(), [request(text) for text in OTHERS]
    engine = new_engine()
    before = run(engine, *others).answers
    beside = [next_turn(other, before[other.request_id].text, "and now?") for other in others]
    assert run(engine, one, *beside).answers[one.request_id].text == answer_alone(one)


def test_its_prompt_is_cut_at_the_same_positions_and_its_answer_after_each_token():
    engine = new_engine()
    run(engine, repeatable("a" * 60, max_tokens=4), *[request(text) for text in OTHERS])
    rows = [row for batch in engine._backend.private.batches for row in batch.values()]
    assert [row[0] for row in rows] == [0, 32, 64, *range(rows[3][0], rows[3][0] + 3)]
    assert [len(row) for row in rows] == [32, 32, rows[3][0] - 64, 1, 1, 1]


def test_it_and_the_others_take_turns():
    one, others = repeatable("hi"), [request("hi"), request("ho")]
    steps = steps_of(run(new_engine(), one, *others))
    mine = [step == {one.chat_id} for step in steps]
    assert all(step == {one.chat_id} or one.chat_id not in step for step in steps)
    both = mine[: 2 * min(mine.count(True), mine.count(False)) - 2]
    assert both == [number % 2 == both.index(True) for number in range(len(both))]


def test_the_others_wait_for_one_chunk_of_its_prompt_at_most():
    engine = Engine(CountingBackend(endless_token, n_ctx=2048))
    talking, long = request("hi", max_tokens=60), repeatable("a" * 900)
    result = run(engine, talking, long)
    steps = steps_of(result)
    until = max(number for number, step in enumerate(steps) if talking.chat_id in step)
    assert all(talking.chat_id in a | b for a, b in pairwise(steps[:until]))
    assert max(span.num_rows for report in result.reports for span in report.spans if span.seq_id == 4) == 32


def test_two_of_them_follow_each_other():
    one, two = repeatable("hi"), repeatable("ho")
    run_of_both = run(new_engine(), one, two)
    assert [run_of_both.answers[r.request_id].text for r in (one, two)] == [*map(answer_alone, (one, two))]
    order = [step for step, *_ in steps_of(run_of_both)]
    assert order == sorted(order, key=lambda chat: chat != one.chat_id)


def test_the_next_turn_reuses_whole_chunks_of_the_last_prompt_and_no_answer():
    engine = new_engine()
    first = repeatable("a" * 60, max_tokens=60)
    second = replace(next_turn(first, ask(engine, first).text, "more"), sampling=REPEATABLE)
    answer = ask(engine, second)
    assert answer.usage.num_reused_tokens == 2 * CHUNK_ROWS
    assert answer.usage.prefix_end == PrefixEnd.WHOLE_CHUNKS
    assert answer.text == answer_alone(second)


def test_a_beginning_that_another_one_computed_is_shared_in_whole_chunks():
    engine = new_engine()
    ask(engine, repeatable("a" * 60 + "b"))
    one = repeatable("a" * 60 + "c" * 40)
    answer = ask(engine, one)
    assert answer.usage.num_shared_tokens == 2 * CHUNK_ROWS
    assert answer.text == answer_alone(one)


def test_it_is_the_same_after_hibernation():
    engine = new_engine()
    first = repeatable("a" * 60)
    text = ask(engine, first).text
    engine.obey(Hibernate(first.chat_id))
    ask(engine, repeatable("something else"))
    second = replace(next_turn(first, text, "more"), sampling=REPEATABLE)
    answer = ask(engine, second)
    assert answer.usage.num_restored_tokens == 2 * CHUNK_ROWS
    assert answer.text == answer_alone(second)


def test_its_cells_are_not_kept_for_the_next_start():
    engine = new_engine()
    ask(engine, request("hi", "ann", is_saved=True))
    assert engine.slots.hibernated.saved_chat_ids == {"ann"}
    ask(engine, repeatable("hi", "ann", is_saved=True))
    assert engine.slots.hibernated.saved_chat_ids == set()


def test_nothing_is_taken_from_what_was_computed_in_company_nor_the_other_way_round():
    engine = new_engine()
    first = request(QUESTION)
    text = ask(engine, first).text
    second = replace(next_turn(first, text, "more"), sampling=REPEATABLE)
    answer = ask(engine, second)
    assert answer.usage.num_cached_tokens == 0
    assert answer.text == answer_alone(second)
    assert engine.slots.cells.num_used == 0
    third = ask(engine, next_turn(first, text, "more"))
    assert third.usage.num_cached_tokens == 0
    assert engine._backend.private.cells == []


def test_a_state_of_the_shared_context_is_not_restored_for_it():
    engine = new_engine()
    first = request(QUESTION)
    text = ask(engine, first).text
    engine.hibernate(first.chat_id)
    second = replace(next_turn(first, text, "more"), sampling=REPEATABLE)
    assert ask(engine, second).text == answer_alone(second)
    assert first.chat_id not in engine.slots.hibernated or engine._lanes.private.has(first.chat_id)


def test_an_interrupted_step_is_computed_again_in_the_same_shape():
    engine, one = new_engine(), repeatable()
    engine.add_request(one)
    engine.step()
    with mock.patch.object(engine._backend.private, "decode", side_effect=DecodeInterruptedError("stop")):
        engine.step()
    assert run(engine).answers[one.request_id].text == answer_alone(one)


def test_an_answer_whose_cells_were_lost_is_computed_again_in_the_same_shapes():
    model = {"is_recurrent": True}
    engine, one = new_engine(**model), repeatable(max_tokens=40)
    engine.add_request(one)
    result = Run()
    for _ in range(15):
        result.add(engine.step())
    broken = DecodeInterruptedError("stop", has_begun=True)
    with mock.patch.object(engine._backend.private, "decode", side_effect=broken):
        result.add(engine.step())
    assert engine._backend.private.cells == []
    while engine.has_work:
        result.add(engine.step())
    assert result.answers[one.request_id].text == ask(new_engine(**model), one).text


def pause(engine, one):
    """As for the chat in front."""
    lane = engine._lanes.private
    [seq] = [seq for seq in lane.scheduler.running if seq.request is one]
    lane.slots.suspend(seq.slot)
    seq.paused_at = 1.0
    lane.scheduler.running.remove(seq)
    lane.scheduler.waiting.append(seq)


def test_a_paused_one_goes_on_where_it_was():
    engine, one, other = new_engine(), repeatable(max_tokens=40), repeatable("something else")
    engine.add_request(one)
    result = Run()
    for _ in range(20):
        result.add(engine.step())
    pause(engine, one)
    result.add(engine.step())
    engine.add_request(other)
    while engine.has_work:
        result.add(engine.step())
    answer = result.answers[one.request_id]
    assert answer.text == answer_alone(one)
    assert answer.usage.num_computed_tokens == answer.usage.num_prompt_tokens + 39


def test_of_a_paused_one_that_was_broken_off_nothing_is_a_beginning_of_the_next_prompt():
    engine, one = new_engine(), repeatable("a" * 60, max_tokens=80)
    engine.add_request(one)
    result = Run()
    for _ in range(70):
        result.add(engine.step())
    pause(engine, one)
    engine.abort(one.request_id)
    text = result.answers[one.request_id].text
    second = replace(next_turn(one, text, "more"), sampling=REPEATABLE)
    assert ask(engine, second).text == answer_alone(second)


def test_a_chat_that_rolls_is_the_same_in_company():
    model = {"n_ctx": 256, "n_seq_max": 2}
    options = {"overflow": Overflow.ROLLING_WINDOW, "max_tokens": 200}
    first = repeatable("a" * 100, **options)
    alone = ask(new_engine(**model), first)
    beside = run(new_engine(**model), first, request("hi"), request("ho"))
    assert beside.answers[first.request_id].text == alone.text


def test_what_is_planned_in_a_pause_is_what_is_computed():
    engine, one, other = new_engine(), repeatable("hi", max_tokens=4), request("hi", max_tokens=4)
    engine.add_request(one)
    engine.add_request(other)
    engine.obey(Pause())
    taken = []
    while engine.has_work:
        plans = [engine.plan().pause.planned for _ in range(2)]
        assert plans[0] == plans[1]
        engine.obey(StepOnce())
        report = engine.step()
        assert [span.seq_id for span in report.spans] == [span.seq_id for span in plans[0]]
        taken.append([span.chat_id for span in report.spans])
    engine.obey(Resume())
    assert (
        taken[:4] == [[other.chat_id], [one.chat_id]] * 2 or taken[:4] == [[one.chat_id], [other.chat_id]] * 2
    )


def test_the_budget_of_other_prompts_learns_nothing_from_its_steps():
    with mock.patch.object(StepBudget, "learn") as learn:
        ask(new_engine(), repeatable())
    learn.assert_not_called()


def test_without_room_for_its_context_it_is_refused_and_the_others_go_on():
    engine, one, other = new_engine(), repeatable(), request("hi")
    with mock.patch.object(engine._backend, "open_private", side_effect=ModelLoadError("8 GiB are missing.")):
        answers = run(engine, one, other).answers
    assert answers[one.request_id].finish_reason is FinishReason.ERROR
    assert "8 GiB are missing." in answers[one.request_id].notice
    assert answers[other.request_id].finish_reason is FinishReason.LENGTH


def test_a_closed_chat_leaves_nothing_behind():
    engine, one = new_engine(), repeatable()
    ask(engine, one)
    engine.forget(one.chat_id)
    assert engine._backend.private.cells == []
    assert engine._backend.num_samplers == engine._backend.private.num_samplers == 0


happenings = st.lists(
    st.tuples(
        st.sampled_from(["ask"] * 3 + ["company"] * 3 + ["step"] * 6 + ["abort", "hibernate", "restore"]),
        st.sampled_from(["ann", "bob", "cat"]),
        st.sampled_from([QUESTION, "hi", "a" * 70]),
    ),
    min_size=5,
    max_size=40,
)


@settings(max_examples=30 * EFFORT)
@given(happenings)
def test_whatever_happens_each_of_them_is_as_it_is_alone(happenings):
    engine, asked, result = new_engine(n_seq_max=3), [], Run()
    for what, chat, text in happenings:
        match what:
            case "ask":
                asked.append(repeatable(text, chat))
                engine.add_request(asked[-1])
            case "company":
                engine.add_request(request(text, chat))
            case "abort" if asked:
                engine.abort(asked[0].request_id)
            case "hibernate":
                engine.obey(Hibernate(chat))
            case "restore":
                engine.obey(Restore(chat))
            case _ if engine.has_work:
                result.add(engine.step())
    while engine.has_work:
        result.add(engine.step())
    for one in asked:
        answer = result.answers[one.request_id]
        if answer.finish_reason is not FinishReason.ABORT:
            assert answer.text == answer_alone(one)
