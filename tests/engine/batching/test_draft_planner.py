"""What is drafted, how many draft tokens a step verifies, and that answers do not depend on it."""

from dataclasses import replace
from random import Random
from unittest import mock

import pytest

from app.engine.batch import Batch
from app.engine.batching.draft_model import Draft
from app.engine.batching.draft_planner import DraftPlanner
from app.engine.batching.sampling import Sampling
from app.engine.drafter import Drafter, PromptLookup
from app.engine.engine import Engine
from app.protocol.commands import Pause, StepOnce
from app.protocol.output import FinishReason
from app.protocol.report import SlotState
from tests.driver import all_guesses_checked, ask, next_turn, request, run
from tests.fakes import END, CountingBackend, copying_token

# What follows a prompt.


@pytest.mark.parametrize(
    ("text", "most", "guessed"),
    [
        ("abcdefgh abc", 3, "def"),
        ("abc", 3, ""),
        ("abcd xyz", 3, ""),
        ("abc1 abc2 abc", 2, "2 "),  # where it came last
        ("abcabcabc", 5, "abcab"),  # it repeats its own end
        ("aaaa", 3, "aaa"),
        ("abcdefgh abc", 0, ""),
    ],
)
def test_what_came_behind_the_same_tokens_before_is_guessed(text, most, guessed):
    assert PromptLookup().propose(list(text), most) == list(guessed)


def test_a_place_is_kept_as_long_as_the_text_goes_on_as_there():
    lookup = PromptLookup()
    assert lookup.propose(list("xab1 abc2 abc3 xab"), 4) == list("1 ab")
    assert lookup.propose(list("xab1 abc2 abc3 xab1 abc"), 1) == list("2")  # though 3 came behind that later
    assert lookup.propose(list("xab1 abc2 abc3 xab1 abc3 "), 2) == list("xa")  # it has left that place


def test_a_long_chat_is_read_in_parts_and_each_token_once(monkeypatch):
    monkeypatch.setattr("app.engine.drafter.MAX_READ", 100)
    lookup, chat = PromptLookup(), [*range(250), 5, 6, 7]
    assert [lookup.propose(chat, 2) for _ in range(4)] == [[], [], [8, 9], [8, 9]]


# How many draft tokens a step verifies.


class Bench:
    """Answers that all have a place to draft from, and steps that take what a test says."""

    def __init__(self, num_drafted: int = 8, num_answers: int = 1, num_repeating: int | None = None) -> None:
        backend = CountingBackend(num_drafted_tokens=num_drafted, n_seq_max=8)
        self.draft_planner = DraftPlanner(backend)
        engine = Engine(backend)
        texts = [list(range(100 + 20 * number, 116 + 20 * number)) for number in range(num_answers)]
        repeats = [text + text[:4] for text in texts[:num_repeating]]
        self.answers = []
        for token_ids in [*repeats, *texts[len(repeats) :]]:
            engine.add_request(request("text", max_tokens=None))
            seq = engine._scheduler.sequences[-1]
            seq.token_ids, seq.max_tokens = token_ids, 400
            self.answers.append(seq)

    def step(self, takes_ms, *, is_right: bool) -> int:
        """How many draft tokens were verified. `takes_ms` gives the time of a step by their number."""
        chosen = self.draft_planner.choose(self.answers, 64)
        numbers = [len(guess) for guess in chosen.values()]
        for seq, guess in chosen.items():
            seq.drafter.note_checked(len(guess))
            for _ in guess if is_right else guess[:1]:
                seq.drafter.learn(is_right)
        self.draft_planner.learn(len(self.answers), sum(numbers), takes_ms(sum(numbers)))
        return sum(numbers)


def test_the_first_two_steps_of_an_answer_have_no_guesses_so_that_there_is_something_to_compare_with():
    bench = Bench()
    assert [bench.step(lambda _: 10.0, is_right=True) for _ in range(2)] == [0, 0]
    assert bench.step(lambda n: 10.0 + n, is_right=True) > 0


def test_guesses_that_are_always_right_and_cheap_become_as_many_as_there_may_be():
    bench = Bench(num_drafted=8)
    assert [bench.step(lambda n: 10.0 + 0.5 * n, is_right=True) for _ in range(6)][-1] == 8


@pytest.mark.parametrize("row_ms", [0.5, 3.0, 10.0])
def test_guesses_that_are_always_wrong_cost_less_than_three_percent(row_ms):
    bench = Bench()
    took = [10.0 + row_ms * bench.step(lambda n: 10.0 + row_ms * n, is_right=False) for _ in range(400)]
    assert sum(took) < 1.03 * 10.0 * len(took)


def takes_ms(first: float, each: float):
    return lambda number: 10.0 + (first if number else 0.0) + each * number


@pytest.mark.parametrize(("first", "each"), [(0.0, 10.0), (5.0, 10.0)])
def test_where_a_guess_takes_as_long_as_a_step_there_are_hardly_any_even_if_all_are_right(first, each):
    bench, time_of = Bench(), takes_ms(first, each)
    steps = [bench.step(time_of, is_right=True) for _ in range(400)]
    assert (len(steps) + sum(steps)) / sum(map(time_of, steps)) > 0.97 / 10.0


@pytest.mark.parametrize(("first", "each"), [(0.0, 0.5), (0.0, 5.0), (8.0, 1.0), (12.0, 3.0)])
def test_the_number_of_guesses_is_found_also_where_the_first_one_costs_most(first, each):
    bench, time_of = Bench(num_drafted=8), takes_ms(first, each)
    steps = [bench.step(time_of, is_right=True) for _ in range(200)]
    best = max((1 + number) / time_of(number) for number in range(9))
    assert (len(steps) + sum(steps)) / sum(map(time_of, steps)) > 0.9 * best


def test_a_busy_machine_does_not_hide_what_pays():
    """One step in ten takes three times as long, and each up to 40% longer."""
    noise, quiet = Random(0), takes_ms(0.0, 2.0)

    def busy(number: int) -> float:
        return quiet(number) * (1 + 0.4 * noise.random()) * (3 if noise.random() < 0.1 else 1)

    bench = Bench(num_drafted=8)
    steps = [bench.step(busy, is_right=True) for _ in range(300)]
    assert (len(steps) + sum(steps)) / sum(map(quiet, steps)) > 0.8 * (1 + 8) / quiet(8)


def test_what_did_not_pay_is_tried_again_and_pays_when_it_has_become_cheap():
    bench = Bench()
    for _ in range(50):
        bench.step(lambda n: 10.0 + 20.0 * n, is_right=True)
    later = [bench.step(lambda n: 10.0 + 0.1 * n, is_right=True) for _ in range(400)]
    assert max(later[-20:]) == 8


def test_answers_without_a_guess_hardly_wait_for_those_of_others():
    bench = Bench(num_answers=2, num_repeating=1)
    steps = [bench.step(lambda n: 10.0 + 1.0 * n, is_right=True) for _ in range(50)]
    assert 0 < max(steps[10:]) <= 3
    together = Bench(num_answers=2)
    # Of 16 rows with logits two are those of the answers themselves.
    assert max(together.step(lambda n: 10.0 + 1.0 * n, is_right=True) for _ in range(50)) == 14


# Where a draft model does not pay it is not asked.


class TimedModel:
    """Writes what is wanted, and takes what a test says."""

    name, most = "timed", 99

    def __init__(self, decode_ms, num_sure=99):
        self.decode_ms, self.num_sure = decode_ms, num_sure
        self.took_ms = 0.0

    def propose(self, wanted, _read_ms):
        numbers = {seq: min(number, self.num_sure) for seq, number in wanted.items() if number}
        num_decodes = min(max(wanted.values()), self.num_sure + 1)
        self.took_ms += num_decodes * self.decode_ms
        return Draft({seq: [1] * number for seq, number in numbers.items()}, num_decodes, self.decode_ms)


def play(model, *, is_right, num_steps=400, row_ms=0.5, num_answers=1):
    """Tokens, and milliseconds."""
    bench = Bench(num_answers=num_answers, num_repeating=0)
    bench.draft_planner._model = model
    num_tokens, took_ms = 0, 0.0
    for _ in range(num_steps):
        number = bench.step(lambda n: 10.0 + row_ms * n, is_right=is_right)
        num_tokens += num_answers + (number if is_right else 0)
        took_ms += 10.0 + row_ms * number
    return num_tokens, took_ms + model.took_ms


@pytest.mark.parametrize("decode_ms", [0.2, 1.0, 5.0, 20.0])
@pytest.mark.parametrize("num_sure", [0, 99])
def test_a_model_that_is_never_right_or_never_sure_costs_less_than_four_percent(decode_ms, num_sure):
    num_tokens, took_ms = play(TimedModel(decode_ms, num_sure), is_right=False)
    assert took_ms < 1.04 * 10.0 * num_tokens


@pytest.mark.parametrize("num_answers", [1, 3])
def test_a_model_that_is_always_right_and_small_makes_more_than_twice_the_tokens(num_answers):
    num_tokens, took_ms = play(TimedModel(1.0), is_right=True, num_answers=num_answers)
    assert num_tokens / took_ms > 2.4 * num_answers / 10.0


@pytest.mark.parametrize("decode_ms", [10.0, 30.0])
def test_a_model_as_slow_as_the_other_is_hardly_used_even_if_it_is_always_right(decode_ms):
    num_tokens, took_ms = play(TimedModel(decode_ms), is_right=True)
    assert num_tokens / took_ms > 0.96 / 10.0


# What the answers show of it: nothing.


@pytest.fixture
def checked():
    with all_guesses_checked():
        yield


def engine_with(num_drafted, next_token=copying_token, **model):
    return Engine(CountingBackend(next_token, num_drafted_tokens=num_drafted, **model), verify=True)


TEXT = "one two three four five six seven eight nine ten"


def editing(token_ids):
    """Says what it was told with one word put in capitals; beside itself if that is not what it has said."""
    chat = "".join(map(chr, token_ids)).rpartition("user\n")[2]
    told, _, rest = chat.partition(chr(END))
    answer, written = told.replace("five", "FIVE"), rest.partition("assistant\n")[2]
    if not answer.startswith(written):
        return ord("!")
    return ord(answer[len(written)]) if written != answer else END


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"max_tokens": 7},
        {"max_tokens": 1},
        {"stop": ("six",)},
        {"num_logprobs": 2},
        {"keep_cells": False, "stop": ("six s",)},
    ],
)
def test_text_end_and_cells_are_as_without_guesses(checked, options):
    answers = []
    for num_drafted in (0, 5):
        engine = engine_with(num_drafted, editing)
        one = request(TEXT, "chat", **({"max_tokens": 30} | options))
        answer = ask(engine, one)
        answers.append(answer)
        if options.get("max_tokens") != 1:
            assert (answer.usage.num_kept_tokens > 0) is (num_drafted > 0)
        second = ask(engine, next_turn(one, answer.text, "more"))
        answers.append(second)
    for without, with_guesses in zip(answers[:2], answers[2:], strict=True):
        assert with_guesses == replace(without, usage=with_guesses.usage)
        assert with_guesses.usage.num_generated_tokens == without.usage.num_generated_tokens
        assert with_guesses.usage.num_prompt_tokens == without.usage.num_prompt_tokens


@pytest.mark.parametrize(("asked", "most"), [(None, 5), (2, 2), (0, 0), (99, 5)])
def test_a_request_can_have_fewer_guesses_than_the_engine_makes_or_none(checked, asked, most):
    engine = engine_with(5, editing)
    result = run(engine, request(TEXT, max_tokens=30, max_drafted_tokens=asked))
    assert max(span.num_drafted for report in result.reports for span in report.spans) == most


def test_one_step_makes_all_tokens_that_were_guessed_right_and_one_more(checked):
    engine = engine_with(4, editing)
    result = run(engine, request(TEXT, max_tokens=27))
    spans = [span for report in result.reports for span in report.spans if not span.is_prefill]
    told = [(span.num_rows, span.num_drafted, span.num_kept) for span in spans]
    # "one" is found; "five" is in capitals; " si" is found, but there is nothing left to draft.
    assert told == [(1, 0, 0)] * 2 + [(5, 4, 4)] * 3 + [(5, 4, 1)] + [(1, 0, 0)] * 7
    [answer] = result.answers.values()
    assert (answer.usage.num_drafted_tokens, answer.usage.num_kept_tokens) == (16, 13)
    assert (answer.text, answer.finish_reason) == ("one two three four FIVE six", FinishReason.LENGTH)


def test_an_end_token_is_never_guessed(checked):
    """Earlier turns are full of them, and behind one stands what belongs to no answer."""
    engine = engine_with(8, editing)
    first = request(TEXT, max_tokens=5)
    answer = ask(engine, first)
    result = run(engine, next_turn(first, answer.text, TEXT))
    drafted = [
        span.token_ids[-span.num_drafted :]
        for report in result.reports
        for span in report.spans
        if span.num_drafted
    ]
    assert drafted
    assert all(END not in token_ids for token_ids in drafted)


def test_guesses_wait_while_a_prompt_is_computed_and_take_no_cells_from_anybody(checked):
    engine = engine_with(8, n_ctx=256, n_batch=32)
    result = run(engine, request(TEXT, max_tokens=60), request(TEXT + TEXT, max_tokens=60), request("?" * 90))
    steps = [report for report in result.reports if any(span.num_drafted for span in report.spans)]
    assert steps
    for report in steps:
        assert not any(span.is_prefill for span in report.spans)
        assert all(slot.state is not SlotState.PREFILL for slot in report.slots)


def test_a_paused_batcher_shows_its_guesses_before_it_checks_them(checked):
    engine = engine_with(4, editing)
    engine.add_request(request(TEXT, max_tokens=30))
    for _ in range(4):
        engine.step()
    engine.obey(Pause())
    [planned] = engine.plan().pause.planned
    assert (planned.num_rows, planned.num_drafted, planned.num_kept) == (5, 4, 0)
    engine.obey(StepOnce())
    [span] = engine.step().spans
    assert (span.token_ids, span.num_kept) == (planned.token_ids, 4)


@pytest.mark.parametrize("num_snapshots", [0, 1, 3])
def test_a_state_steps_back_over_wrong_guesses_or_begins_anew_where_it_cannot(checked, num_snapshots):
    """Loading does not draft more than the state can step back over. Should it, no word is wrong."""

    def answer(num_drafted):
        backend = CountingBackend(
            editing, num_snapshots=num_snapshots, num_drafted_tokens=num_drafted, is_recurrent=True
        )
        told = ask(Engine(backend, verify=True), request(TEXT, max_tokens=60))
        return told, sum(0 in positions for batch in backend.batches for positions in batch.values())

    (without, _), (told, num_beginnings) = answer(0), answer(3)
    assert told.text == without.text
    assert 0 < told.usage.num_kept_tokens < told.usage.num_drafted_tokens
    assert (num_beginnings == 1) is (num_snapshots == 3)


def test_chats_with_states_answer_the_same_when_forked_hibernated_and_broken_off_behind_wrong_guesses(
    checked,
):
    def play(num_drafted):
        backend = CountingBackend(
            copying_token,
            num_snapshots=3,
            num_drafted_tokens=num_drafted,
            n_ctx=1024,
            is_hybrid=True,
            takes_checkpoints=True,
        )
        engine = Engine(backend, verify=True)
        first = [request(TEXT, f"chat {number}", max_tokens=20 + number) for number in range(3)]
        broken_off = request(TEXT + "!", "chat 3", max_tokens=60)
        engine.add_request(broken_off)
        while not any(span.num_drafted for span in engine.step().spans) and num_drafted:
            pass
        engine.abort(broken_off.request_id)
        told = run(engine, *first).answers
        engine.slots.fork("chat 0", "fork")
        engine.slots.hibernate_chat("chat 1")
        second = [next_turn(one, told[one.request_id].text, "And then?") for one in first]
        second.append(replace(second[0], request_id="fork", chat_id="fork"))
        second.append(replace(broken_off, request_id="again", max_tokens=20))
        answers = run(engine, *second).answers
        return [told[one.request_id].text for one in first] + [answers[one.request_id].text for one in second]

    assert play(3) == play(0)


def test_a_wrong_guess_behind_a_picture_is_cut_by_its_number_not_by_its_position():
    """The picture took fewer positions than rows."""
    slots, batch = mock.Mock(), Batch(8)
    slot = mock.Mock(seq_id=0)
    seq = mock.Mock(drafter=Drafter(), slot=slot, is_decoding=True, position_of=lambda number: number - 90)
    batch.add_tokens(seq, 100, [1, 2, 3], wants_logits=True, num_drafted=2)
    [span] = batch.spans
    sampling = Sampling(mock.Mock(), mock.Mock(), slots, mock.Mock())
    assert not sampling._check_draft_token(batch, span, 1, token=9)
    slots.cut_back.assert_called_once_with(slot, 101)


def test_without_guesses_nothing_is_looked_up():
    engine = engine_with(0, editing)
    engine.add_request(request(TEXT, max_tokens=30))
    for _ in range(5):
        engine.step()
    assert engine._scheduler.running[0].drafter is None


def test_what_was_learned_is_forgotten_with_time():
    drafter = Drafter()
    for _ in range(50):
        drafter.learn(is_right=True)
    assert drafter.lookup.chance > 0.85
    for _ in range(8):
        drafter.learn(is_right=False)
    assert drafter.lookup.chance < 0.45
    for _ in range(1000):
        drafter.look_up([1], 1)
    assert drafter.lookup.chance == pytest.approx(0.5, abs=0.01)
