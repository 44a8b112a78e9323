"""Each message and each tool begins a section of the prompt, at the byte where it stands."""

import json

import pytest

from app.engine.prompts.prompt_builder import PromptBuilder
from app.engine.prompts.sections import sections_of
from app.protocol.answer_format import ChatParams
from app.protocol.report import SectionKind
from app.protocol.request import Message, Request, Role
from tests.fakes import CountingBackend

CALL = json.dumps({"tool_calls": [{"function": {"name": "clock", "arguments": "{}"}}]})
MESSAGES = (
    Message(Role.SYSTEM, "Sei kürz."),
    Message(Role.USER, "How late is it?"),
    Message(Role.ASSISTANT, "", fields=CALL),
    Message(Role.TOOL, "12:00"),
    Message(Role.USER, "How late is it?"),
)
TOOLS = [{"type": "function", "function": {"name": name}} for name in ("clock", "clock2")]
IN_LINES = "".join(f"{json.dumps(tool)}\n" for tool in TOOLS)
PRETTY = f"{json.dumps(TOOLS, indent=4)}\n"


@pytest.mark.parametrize("written", [IN_LINES, PRETTY, json.dumps(TOOLS)])
def test_messages_and_tools_are_found_where_the_template_put_them(written):
    text = f"<s>Sei kürz.\nTools:\n{written}U:How late is it?A:clock()T:12:00U:How late is it?A:"
    sections = sections_of(text, MESSAGES, ChatParams(json.dumps(TOOLS)))
    assert [(one.kind, one.name) for one in sections] == [
        (SectionKind.SYSTEM, ""),
        (SectionKind.TOOL, "clock"),
        (SectionKind.TOOL, "clock2"),
        (SectionKind.USER, ""),
        (SectionKind.ANSWER, "clock"),
        (SectionKind.RESULT, ""),
        (SectionKind.USER, ""),
    ]
    rest = [text.encode()[section.start :].decode() for section in sections]
    assert rest[0].startswith("Sei kürz.")
    assert rest[1].index('"clock"') < 60
    assert rest[2].index('"clock2"') < 60
    assert [rest[at].partition(":")[0] for at in (3, 4, 5, 6)] == [
        "How late is it?A",
        "clock()T",
        "12",
        "How late is it?A",
    ]


def test_what_a_message_says_may_stand_in_a_tool_too():
    about = {"name": "label", "description": "A plant or animal", "parameters": {"type": "object"}}
    tools = json.dumps([{"type": "function", "function": about}])
    text = f"<s>Label it.\n{tools}\nU:ant\nA:"
    messages = (Message(Role.SYSTEM, "Label it."), Message(Role.USER, "ant"))
    *_, last = sections_of(text, messages, ChatParams(tools))
    assert (last.kind, text[last.start - 2 :]) == (SectionKind.USER, "U:ant\nA:")


def test_a_long_text_before_the_first_message_is_the_templates_own_system_prompt():
    own = "You are made by somebody, and you help people with their questions. " * 2
    first, second = sections_of(f"{own}Hi", (Message(Role.USER, "Hi"),), ChatParams())
    assert (first.kind, first.start, second.start, second.end) == (
        SectionKind.SYSTEM,
        0,
        len(own),
        len(own) + 2,
    )


def test_what_a_template_leaves_out_is_no_section():
    assert [
        one.start for one in sections_of("a c", (Message(Role.USER, one) for one in "abc"), ChatParams())
    ] == [0, 2]


def test_calls_and_tools_of_another_form_are_passed_over():
    odd = Message(Role.ASSISTANT, "x", fields='{"tool_calls": [3]}')
    assert len(sections_of("x", (odd,), ChatParams('[1, {"function": {}}]'))) == 1


def test_a_prompt_comes_with_its_sections():
    builder = PromptBuilder(CountingBackend(n_ctx=4096))
    prompt = builder.build(
        Request("r", "c", (Message(Role.SYSTEM, "Be brief."), Message(Role.USER, "Hello")))
    )
    assert [one.kind for one in prompt.sections] == [SectionKind.SYSTEM, SectionKind.USER]
