"""What the starter model knows, asked through `skein ask` as anybody would."""

import json
import subprocess
import sys

import pytest

from app.system import paths
from starter_model.arithmetic import TOO_FAR, TOO_HARD, held_out_too_far
from starter_model.corpus import final_questions, held_out_questions, held_out_sums
from starter_model.small_talk import OFF_TOPIC

pytestmark = [pytest.mark.native, pytest.mark.timeout(600)]

MAX_BYTES = 12 * 2**20


def skein_ask(prompts: list[str], *options: str) -> list[str]:
    command = [sys.executable, "-m", "app", "ask", "--json", "--temperature", "0", "--threads", "1", *options]
    done = subprocess.run([*command, *prompts], capture_output=True, text=True, check=True)
    return [json.loads(line)["text"].strip() for line in done.stdout.splitlines()]


@pytest.fixture(scope="module")
def sums() -> list[tuple[str, str]]:
    return held_out_sums(500)


@pytest.fixture(scope="module")
def batched_sums(sums) -> list[str]:
    return skein_ask([prompt for prompt, _ in sums], "--slots", "8")


def assert_right(answers: list[str], expected: list[str], at_least: float) -> None:
    wrong = [pair for pair in zip(answers, expected, strict=True) if pair[0] != pair[1]]
    share = 1 - len(wrong) / len(expected)
    assert share >= at_least, f"{len(wrong)} of {len(expected)} are wrong, such as {wrong[:10]}"


def test_it_is_small_enough_to_ship():
    assert paths.starter_model().stat().st_size <= MAX_BYTES


def test_it_adds_numbers_it_was_never_shown_together(sums, batched_sums):
    assert_right(batched_sums, [expected for _, expected in sums], at_least=0.98)


@pytest.mark.parametrize("questions", [held_out_questions(), final_questions()], ids=["held out", "final"])
def test_it_knows_skein_in_words_it_was_never_asked_in(questions):
    answers = skein_ask([wording for wording, _ in questions])
    assert_right(answers, [expected for _, expected in questions], at_least=0.90)


def test_it_says_that_it_cannot_count_so_far():
    answers = skein_ask([wording for wording, _ in held_out_too_far()])
    assert_right(answers, [expected for _, expected in held_out_too_far()], at_least=0.95)


@pytest.mark.parametrize("wanted", ["I want a better model", "How can I use a better model?"])
def test_who_wants_a_better_model_is_told_where_models_are(wanted):
    (answer,) = skein_ask([wanted])
    assert answer.startswith("Choose Get more models in the Model menu")


def test_it_counts_down_from_a_hundred_and_says_that_it_counts_no_further():
    to_fifty, to_one, up = skein_ask(
        ["Count down from 100 to 50", "Count down from 100 to 1", "Count from 100 to 400"]
    )
    assert to_fifty == ", ".join(map(str, range(100, 49, -1)))
    assert to_one == ", ".join(map(str, range(100, 0, -1)))
    assert up == TOO_FAR


def test_what_it_says_of_itself_leads_to_other_models_not_to_a_file():
    assert all("Get more models" in text and "Ctrl+O" not in text for text in (OFF_TOPIC, TOO_HARD, TOO_FAR))


def test_eight_at_once_answer_as_each_alone(sums, batched_sums):
    alone = skein_ask([prompt for prompt, _ in sums[:100]], "--slots", "1")
    assert batched_sums[:100] == alone
