"""What the starter model knows, asked through `skein ask` as anybody would."""

import json
import subprocess
import sys
from collections.abc import Iterator

import pytest

from app.protocol.answer_format import ChatParams
from app.protocol.request import Message, Role
from app.system import paths
from app.tools.calculator import calculator_tool
from app.tools.clock import clock_tool
from starter_model import evaluate, tools
from starter_model.arithmetic import TOO_FAR, TOO_HARD, held_out_too_far
from starter_model.corpus import final_questions, held_out_questions, held_out_sums
from starter_model.small_talk import OFF_TOPIC
from tests.effort import EFFORT

pytestmark = [pytest.mark.native, pytest.mark.timeout(600)]

MAX_BYTES = 12 * 2**20


def skein_ask(prompts: list[str], *options: str) -> list[str]:
    program = [sys.executable, "-m", "tests.cli.without_qt", "ask", "--json"]
    command = [*program, "--temperature", "0", "--threads", "1", *options]
    done = subprocess.run([*command, *prompts], capture_output=True, text=True, check=True)
    return [json.loads(line)["text"].strip() for line in done.stdout.splitlines()]


@pytest.fixture(scope="module")
def sums() -> list[tuple[str, str]]:
    return held_out_sums(100 * EFFORT)


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
    if EFFORT == 1:
        questions = questions[::3]
    answers = skein_ask([wording for wording, _ in questions], "--slots", "8")
    assert_right(answers, [expected for _, expected in questions], at_least=0.90)


def test_it_says_that_it_cannot_count_so_far():
    answers = skein_ask([wording for wording, _ in held_out_too_far()], "--slots", "8")
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
    alone = skein_ask([prompt for prompt, _ in sums[:25]], "--slots", "1")
    assert batched_sums[:25] == alone


# Tools


CLOCK = ("clock_k7", "Get the current date and time", ())
CALCULATOR = ("abacus_3", "Evaluate an arithmetic expression exactly", ("term",))
CHATS = ("old_chats", "Search the user's earlier chats for words", ("words",))


def definition(name: str, description: str, parameters: tuple[str, ...]) -> dict[str, object]:
    properties = {one: {"type": "string"} for one in parameters}
    schema = {"type": "object", "properties": properties, "required": list(parameters)}
    return {"type": "function", "function": {"name": name, "description": description, "parameters": schema}}


@pytest.fixture(scope="module")
def answerer() -> Iterator[evaluate.Answerer]:
    with evaluate.answering(paths.starter_model()) as opened:
        yield opened


def ask(
    answerer: evaluate.Answerer, questions: list[str], offered: list[dict[str, object]]
) -> list[evaluate.Answer]:
    chat_params = ChatParams(tools=json.dumps(offered))
    return answerer.ask([evaluate.Asked((Message(Role.USER, one),), chat_params) for one in questions])


def test_it_calls_the_tool_that_fits_under_a_name_it_has_not_seen(answerer):
    offered = [definition(*one) for one in (CLOCK, CALCULATOR, CHATS)]
    questions = ["What time is it?", "what is 3817 * 92", "search my chats for invoices"]
    calls = [answer.calls for answer in ask(answerer, questions, offered)]
    assert calls == [
        [("clock_k7", {})],
        [("abacus_3", {"term": "3817 * 92"})],
        [("old_chats", {"words": "invoices"})],
    ]


def test_with_tools_it_answers_by_itself_what_needs_none(answerer):
    offered = [tool.definition for tool in (clock_tool("skein/time"), calculator_tool("skein/calculate"))]
    skein, off_topic = ask(answerer, ["What is Skein?", "Write a poem"], offered)
    assert (skein.calls, off_topic.calls, off_topic.content) == ([], [], OFF_TOPIC)
    assert skein.content.startswith("Skein is")


def test_it_answers_from_the_result_of_a_tool(answerer):
    chats = tools.held_out_results()[:16]
    answers = answerer.ask([evaluate.as_a_chat_asks(chat, has_result=True) for chat in chats])
    expected = [chat.turns[0].answer for chat in chats]
    assert_right([answer.content for answer in answers], expected, at_least=0.8)
