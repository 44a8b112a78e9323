"""Several answers to one question, and answers to another version of it, use the cells of what they share."""

from dataclasses import replace

import pytest

from app.engine.engine import Engine
from app.protocol.request import Message, Role
from tests.driver import ask, request, run

LONG = "Tell me about the thread that is wound into a skein, and about everything else you know. " * 2


@pytest.fixture
def engine(backend):
    engine = Engine(backend, verify=True)
    yield engine
    engine.close()


def test_several_answers_to_one_question_compute_it_once(engine) -> None:
    first = request(LONG, "chat", max_tokens=4)
    ways = [
        first,
        *(replace(first, request_id=f"way {n}", chat_id=f"chat#{n}", keep_cells=False) for n in (1, 2)),
    ]
    answers = run(engine, *ways).answers

    usages = [answers[way.request_id].usage for way in ways]
    num_prompt_tokens = usages[0].num_prompt_tokens
    computed = [usage.num_computed_tokens - usage.num_generated_tokens for usage in usages]
    assert sum(computed) <= num_prompt_tokens + 2 * 2  # each needs the last row again, for logits of its own
    assert len({answers[way.request_id].text for way in ways}) == 1


def test_another_answer_reuses_all_that_stands_before_it(engine) -> None:
    question = request(LONG, "chat", max_tokens=4)
    first = ask(engine, question)
    again = ask(engine, replace(question, request_id="again"))

    assert again.text == first.text
    assert again.usage.num_reused_tokens == again.usage.num_prompt_tokens - 1


def test_an_edited_question_reuses_what_stands_before_it(engine) -> None:
    before = (Message(Role.USER, LONG), Message(Role.ASSISTANT, "It is yarn."))
    ask(engine, request("Which colour?", "chat", history=before, max_tokens=2))
    edited = ask(engine, request("Whose thread?", "chat", history=before, max_tokens=2))
    assert edited.usage.num_reused_tokens >= len("It is yarn.")
    assert edited.usage.num_computed_tokens < edited.usage.num_prompt_tokens / 2
