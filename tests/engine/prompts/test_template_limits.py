"""Whatever a chat template refuses or leaves out, the model is shown what was said."""

import contextlib
import itertools
import json
import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.engine.prompts.chat_template import ChatTemplate, LimitedChatTemplate
from app.engine.prompts.template_limits import TemplateLimits, Turn
from app.protocol.answer_format import ChatParams
from app.protocol.errors import ChatTemplateError
from app.protocol.request import Message, Role
from tests.effort import EFFORT

# Those of llama.cpp: SKEIN_TEMPLATES=…/llama.cpp/models/templates
TEMPLATES = Path(os.environ.get("SKEIN_TEMPLATES", Path(__file__).parents[2] / "templates"))
PARAMETERS = {"type": "object", "properties": {"x": {"type": "string"}}}
TOOLS = json.dumps([{"type": "function", "function": {"name": "look", "parameters": PARAMETERS}}])


def system(text: str) -> Message:
    return Message(Role.SYSTEM, text)


def user(text: str) -> Message:
    return Message(Role.USER, text)


def assistant(text: str) -> Message:
    return Message(Role.ASSISTANT, text)


def calling(*ids: str) -> tuple[Message, ...]:
    """Calls in one message, and their results."""
    calls = [
        {"id": id_, "type": "function", "function": {"name": "look", "arguments": {"x": id_}}} for id_ in ids
    ]
    results = (
        Message(Role.TOOL, f"Result {id_}.", json.dumps({"tool_call_id": id_, "name": "look"})) for id_ in ids
    )
    return (Message(Role.ASSISTANT, "", json.dumps({"tool_calls": calls})), *results)


SITUATIONS = {
    "a question stopped empty": (system("S"), user("Stopped"), user("Asked")),
    "a later question stopped empty": (user("A"), assistant("T"), user("Stopped"), user("Asked")),
    "a system message in the middle": (system("S"), user("A"), assistant("T"), system("Later"), user("B")),
    "a system message at the end": (system("S"), user("A"), system("Later")),
    "two system messages": (system("First"), system("Second"), user("A")),
    "a system message alone": (system("Alone"),),
    "result and text": (user("A"), *calling("call00000"), user("Text")),
    "result and system message": (user("A"), *calling("call00000"), system("Later")),
    "a call without a result": (user("A"), calling("call00000")[0], user("B")),
    "two calls at once": (user("A"), *calling("call00000", "call00001")),
    "the id of another server": (user("A"), *calling("toolu_01A09q90qw90lq917835lq9")),
    "no id": (user("A"), *calling("")),
    "assistant first": (assistant("T"), user("A")),
    "assistant first after a system message": (system("S"), assistant("T"), user("A")),
    "assistant alone": (assistant("T"),),
    "an empty assistant": (user("A"), assistant(""), user("B")),
    "an empty assistant after a result": (user("A"), *calling("call00000"), assistant(""), user("B")),
    "two answers": (user("A"), assistant("T"), assistant("U"), user("B")),
}


@pytest.mark.native
@pytest.mark.parametrize("path", sorted(TEMPLATES.glob("*.jinja")), ids=lambda path: path.stem)
def test_no_template_refuses_a_chat_that_a_client_or_the_window_makes(path):
    with contextlib.closing(LimitedChatTemplate(path.read_text(encoding="utf-8"), "<s>", "</s>")) as template:
        for name, chat in SITUATIONS.items():
            begun = (*chat, assistant("Begun")) if chat[-1].role is not Role.ASSISTANT else chat
            for tools, goes_on in itertools.product(("", TOOLS), (False, True)):
                messages = begun if goes_on else chat
                text = template.render(messages, "", ChatParams(tools=tools, goes_on=goes_on))
                assert all(message.content in text for message in messages), (name, bool(tools), goes_on)


# Small templates, by Jinja2.

SAYS = "{{ m.role }}: {{ m.content }}|"
IN_TURN = (
    "{% for m in messages %}{% if (m.role == 'user') != (loop.index0 % 2 == 0) %}"
    "{{ raise_exception('Roles must alternate') }}{% endif %}" + SAYS + "{% endfor %}"
)
ONE_SYSTEM = (
    "{% for m in messages %}{% if m.role == 'system' and not loop.first %}"
    "{{ raise_exception('System message must be at the beginning') }}{% endif %}" + SAYS + "{% endfor %}"
)
LAST_SYSTEM = (  # leaves out the others without a word
    "{% set ns = namespace(system='') %}{% for m in messages %}{% if m.role == 'system' %}"
    "{% set ns.system = m.content %}{% endif %}{% endfor %}system: {{ ns.system }}|"
    "{% for m in messages %}{% if m.role != 'system' %}" + SAYS + "{% endif %}{% endfor %}"
)
ALL = "{% for m in messages %}" + SAYS + "{% endfor %}"


def shown(source: str, *messages: Message, has_begun: bool = False) -> str:
    template = ChatTemplate(source)
    turns: list[Turn] = [{"role": message.role.value, "content": message.content} for message in messages]
    return template.of_turns(TemplateLimits(template.of_turns).fitted(turns, has_begun=has_begun))


@pytest.mark.parametrize(
    ("source", "chat", "text"),
    [
        (IN_TURN, "two questions", "user: A\n\nB|"),
        (IN_TURN, "an empty answer", "user: A|assistant: |user: B|"),
        (IN_TURN, "two answers", "user: A|assistant: T\n\nU|user: B|"),
        (IN_TURN, "an answer first", "user: |assistant: T|user: A|"),
        (IN_TURN, "systems", "user: S\n\nR\n\nA|assistant: T|user: L\n\nB|"),
        (ONE_SYSTEM, "systems", "system: S\n\nR|user: A|assistant: T|user: L|user: B|"),
        (LAST_SYSTEM, "systems", "system: S\n\nR|user: A|assistant: T|user: L|user: B|"),
        (ALL, "systems", "system: S|system: R|user: A|assistant: T|system: L|user: B|"),
        (ALL, "two questions", "user: A|user: B|"),
        (ALL, "an answer first", "assistant: T|user: A|"),
    ],
)
def test_a_chat_is_changed_where_the_template_wants_it(source, chat, text):
    chats = {
        "two questions": (user("A"), user("B")),
        "an empty answer": (user("A"), assistant(""), user("B")),
        "two answers": (user("A"), assistant("T"), assistant("U"), user("B")),
        "an answer first": (assistant("T"), user("A")),
        "systems": (system("S"), system("R"), user("A"), assistant("T"), system("L"), user("B")),
    }
    assert shown(source, *chats[chat]) == text


def test_an_empty_answer_that_a_template_refuses_is_left_out():
    refuses = "{% for m in messages %}{% if not m.content %}{{ raise_exception('No content') }}{% endif %}"
    assert shown(refuses + SAYS + "{% endfor %}", user("A"), assistant(""), user("B")) == "user: A|user: B|"


def test_the_beginning_of_an_answer_to_nothing_answers_an_empty_question():
    assert shown(IN_TURN, has_begun=True) == "user: |"
    assert shown(ALL, has_begun=True) == ""
    assert shown(ALL) == ""


def test_what_a_template_refuses_in_any_form_it_refuses_in_its_own_words():
    refuses = "{% if messages[0].content == 'A' %}{{ raise_exception('Not A') }}{% endif %}" + ALL
    with pytest.raises(ChatTemplateError, match="The model's chat template failed: Not A"):
        shown(refuses, user("A"))


def test_for_a_template_that_shows_no_chat_as_it_is_nothing_is_changed():
    shouts = "{% for m in messages %}{{ m.role }}: {{ m.content | upper }}|{% endfor %}"
    chat = system("s"), assistant("a"), assistant(""), system("t"), user("b"), user("c")
    assert shown(shouts, *chat) == "system: S|assistant: A|assistant: |system: T|user: B|user: C|"


def test_each_call_comes_before_its_result_where_a_template_takes_one_at_a_time():
    one_call = (
        "{% for m in messages %}{% if m.tool_calls and m.tool_calls | length > 1 %}"
        "{{ raise_exception('Single tool calls only') }}{% endif %}"
        "{{ m.content }}{% for c in m.tool_calls or [] %}{{ c.id }}{% endfor %}|{% endfor %}"
    )
    template = ChatTemplate(one_call)
    calls = [{"id": id_, "function": {}} for id_ in ("b", "a")]
    turns: list[Turn] = [
        {"role": "assistant", "content": "I look: ", "tool_calls": calls},
        {"role": "tool", "content": "of a", "tool_call_id": "a"},
        {"role": "tool", "content": "of b", "tool_call_id": "b"},
        {"role": "user", "content": "And?"},
    ]
    fitted = TemplateLimits(template.of_turns).fitted(turns)
    assert template.of_turns(fitted) == "I look: b|of b|a|of a|And?|"


def test_an_id_that_a_template_refuses_is_another_one_for_call_and_result():
    short_ids = (
        "{% for m in messages %}{% for id in (m.tool_calls or []) | map(attribute='id') | list + "
        "([m.tool_call_id] if m.role == 'tool' else []) %}{% if id | length != 9 %}"
        "{{ raise_exception('9 letters') }}{% endif %}{{ id }} {% endfor %}{{ m.content }}|{% endfor %}"
    )
    template = ChatTemplate(short_ids)

    def written(id_: str) -> list[str]:
        turns: list[Turn] = [
            {"role": "assistant", "content": "", "tool_calls": [{"id": id_}]},
            {"role": "tool", "content": "", "tool_call_id": id_},
        ]
        return template.of_turns(TemplateLimits(template.of_turns).fitted(turns)).split(" |")[:2]

    for id_ in ("call_0123456789abcdef", "", "abc-12345", "äöüäöüäöü"):
        first, second = written(id_)
        assert first == second
        assert first.isascii()
        assert first.isalnum()
    assert written("abcDEF123") == ["abcDEF123", "abcDEF123"]


MESSAGES = st.sampled_from([Role.SYSTEM, Role.USER, Role.ASSISTANT]).flatmap(
    lambda role: st.builds(Message, st.just(role), st.sampled_from(["", "a", "b", "c"]))
)


@settings(max_examples=100 * EFFORT)
@given(
    st.lists(MESSAGES, min_size=1, max_size=8),
    st.sampled_from([IN_TURN, ONE_SYSTEM, LAST_SYSTEM]),
    st.booleans(),
)
def test_all_that_was_said_is_shown_in_order_but_for_system_messages(messages, source, has_begun):
    texts = [message.content for message in messages if message.content]
    shown_texts = shown(source, *messages, has_begun=has_begun)
    told = [text for turn in shown_texts.split("|") for text in turn.partition(": ")[2].split("\n\n")]
    assert sorted(filter(None, told)) == sorted(texts)
