"""Answers of several families are read as messages: whole, in pieces, broken, and beside hostile ones."""

import json
import os
import re
import signal
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from app.engine.prompts import message_reader
from app.engine.prompts.chat_template import LimitedChatTemplate, TemplateInputs
from app.engine.prompts.chat_worker import ChatWorker
from app.engine.prompts.message_reader import AnswerReader
from app.protocol.answer_format import AnswerFormat, ChatParams, ReasoningFormat, ToolChoice
from app.protocol.errors import RequestError
from app.protocol.request import Message, Role

TEMPLATES = Path(__file__).parents[2] / "templates"
NESTED = {"type": "object", "properties": {"x": {"type": "number"}}, "required": ["x"]}
PARAMETERS = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "point": {"$ref": "#/$defs/point"}},
    "required": ["city"],
    "$defs": {"point": NESTED},
}
TOOL = {"type": "function", "function": {"name": "weather", "description": "", "parameters": PARAMETERS}}
WISHES = ChatParams(tools=json.dumps([TOOL]), parallel_tool_calls=True)
CHAT = (Message(Role.USER, "How is it in Kraków?"),)
QWEN_CALL = '<tool_call>\n{{"name": "weather", "arguments": {}}}\n</tool_call>'
CITY = '{"city": "Kraków"}'
POINT = '{"city": "a", "point": {"x": 1.5}}'

# template, answer as its model writes it, content, reasoning, arguments of the calls
ANSWERS = {
    "qwen 2.5": (
        "Qwen-Qwen2.5-7B-Instruct",
        f"Let me look. {QWEN_CALL.format(CITY)}",
        ("Let me look.", "", [CITY]),
    ),
    "qwen 3, two calls": (
        "Qwen-Qwen3-0.6B",
        f"<think>\nHm. \n</think>\n\n{QWEN_CALL.format(CITY)}\n{QWEN_CALL.format(POINT)}",
        ("", "Hm.", [CITY, POINT]),
    ),
    "gpt-oss": (
        "openai-gpt-oss-120b",
        (
            "<|channel|>analysis<|message|>Look.<|end|><|start|>assistant<|channel|>commentary "
            f"to=functions.weather <|constrain|>json<|message|>{POINT}"
        ),
        ("", "Look.", [POINT]),
    ),
    "mistral": (
        "mistralai-Mistral-Nemo-Instruct-2407",
        f'[TOOL_CALLS][{{"name": "weather", "arguments": {CITY}, "id": "abcdefghi"}}]',
        ("", "", [CITY]),
    ),
    "glm": (
        "GLM-4.6",
        (
            "\n<think>Hm</think>\n<tool_call>weather\n<arg_key>city</arg_key>\n<arg_value>Kraków</arg_value>\n"
            "</tool_call>"
        ),
        ("", "Hm", [CITY]),
    ),
    "kimi": (
        "Kimi-K2-Instruct",
        (
            "Now.<|tool_calls_section_begin|><|tool_call_begin|>functions.weather:0<|tool_call_argument_begin|>"
            f"{CITY}<|tool_call_end|><|tool_calls_section_end|>"
        ),
        ("Now.", "", [CITY]),
    ),
    "deepseek": (
        "deepseek-ai-DeepSeek-V3.1",
        (
            f"Hm.</think><｜tool▁calls▁begin｜><｜tool▁call▁begin｜>weather<｜tool▁sep｜>{CITY}<｜tool▁call▁end｜>"
            "<｜tool▁calls▁end｜>"
        ),
        ("", "Hm.", [CITY]),
    ),
    "no call": ("Qwen-Qwen3-0.6B", "<think>\nHm.\n</think>\n\nIt is sunny.", ("It is sunny.", "Hm.", [])),
}


@pytest.fixture(scope="module")
def layer() -> Iterator[ChatWorker]:
    layer = ChatWorker()
    yield layer
    layer.close()


def format_of(name: str, chat_params: ChatParams = WISHES, json_schema: str = "") -> AnswerFormat:
    template = LimitedChatTemplate((TEMPLATES / f"{name}.jinja").read_text())
    try:
        return template.write(TemplateInputs(CHAT, params=chat_params, json_schema=json_schema))[1]
    finally:
        template.close()


def read(reader: AnswerReader, *pieces: str) -> tuple[str, str, list[object], list[str]]:
    content, reasoning, arguments, names = told(reader, *pieces)
    return content.strip(), reasoning.strip(), [json.loads(text) for text in arguments], names


def told(reader: AnswerReader, *pieces: str) -> tuple[str, str, list[str], list[str]]:
    content = reasoning = ""
    names: list[str] = []
    arguments: list[str] = []
    for number, piece in enumerate(pieces):
        delta = reader.read(piece, is_last=number == len(pieces) - 1)
        content += delta.content
        reasoning += delta.reasoning
        for call in delta.tool_calls:
            if call.index == len(names):
                assert call.id
                names.append(call.name)
                arguments.append("")
            else:
                assert (call.id, call.name) == ("", "")
            arguments[call.index] += call.arguments
    return content, reasoning, arguments, names


@pytest.mark.parametrize(("name", "answer", "expected"), ANSWERS.values(), ids=ANSWERS)
def test_an_answer_is_read_whole_and_character_by_character(layer, name, answer, expected):
    found = format_of(name)
    content, reasoning, calls = expected
    wanted = content, reasoning, [json.loads(call) for call in calls], ["weather"] * len(calls)
    assert read(AnswerReader(layer, found.parser), answer) == wanted
    assert read(AnswerReader(layer, found.parser), *answer) == wanted


@pytest.mark.parametrize("name", ["Qwen-Qwen2.5-7B-Instruct", "Qwen-Qwen3-0.6B"])
def test_of_an_answer_that_was_begun_the_rest_is_told_but_a_call_as_a_whole(layer, name):
    answer = f"Let me look. {QWEN_CALL.format(CITY)}"
    template = LimitedChatTemplate((TEMPLATES / f"{name}.jinja").read_text())
    for length in range(1, len(answer), 3):
        begun, rest = answer[:length], answer[length:]
        chat = (*CHAT, Message(Role.ASSISTANT, begun))
        parser = template.write(TemplateInputs(chat, params=replace(WISHES, goes_on=True)))[1].parser
        for pieces in ((rest,), (rest[:1], rest[1:])):
            content, _reasoning, arguments, names = told(AnswerReader(layer, parser), *pieces)
            assert content.strip() == "Let me look."[length:].strip()
            assert ([json.loads(text) for text in arguments], names) == ([json.loads(CITY)], ["weather"])
    template.close()


@pytest.mark.parametrize("begun", ["<", "a <", "a <t", "<tool", "<tool_c", "a"])
def test_what_might_have_begun_a_call_and_did_not_is_told_by_the_caller_alone(layer, begun):
    template = LimitedChatTemplate((TEMPLATES / "Qwen-Qwen2.5-7B-Instruct.jinja").read_text())
    chat = (*CHAT, Message(Role.ASSISTANT, begun))
    parser = template.write(TemplateInputs(chat, params=replace(WISHES, goes_on=True)))[1].parser
    template.close()
    for pieces in (("html> is", " a tag"), ("h", "tml> is a tag")):
        assert told(AnswerReader(layer, parser), *pieces)[0] == "html> is a tag"


def test_a_begun_call_is_told_once_though_the_child_dies(layer):
    template = LimitedChatTemplate((TEMPLATES / "Qwen-Qwen2.5-7B-Instruct.jinja").read_text())
    begun, rest = '<tool_call>\n{"name": "weather", "arguments": {"ci', 'ty": "Kraków"}}\n</tool_call>'
    chat = (*CHAT, Message(Role.ASSISTANT, begun))
    parser = template.write(TemplateInputs(chat, params=replace(WISHES, goes_on=True)))[1].parser
    template.close()
    reader = AnswerReader(layer, parser)
    first = reader.read(rest[:5], is_last=False)
    layer.kill()
    second = reader.read(rest[5:], is_last=True)
    calls = [*first.tool_calls, *second.tool_calls]
    assert [call.name for call in calls if call.name] == ["weather"]
    assert "".join(call.arguments for call in calls) == CITY


SCHEMA = '{"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}'


@pytest.mark.parametrize("name", ["Qwen-Qwen2.5-7B-Instruct", "GLM-4.6", "openai-gpt-oss-120b"])
def test_an_answer_beside_tools_and_a_schema_follows_the_schema_or_calls_a_tool(layer, name):
    found = format_of(name, json_schema=SCHEMA)
    assert found.triggers == ()
    assert "root ::= root-1-2 | root-2" in found.grammar
    answer = {"openai-gpt-oss-120b": "<|channel|>final<|message|>{}"}.get(name, "{}").format('{"n": 5}')
    for pieces in ((answer,), answer):
        assert read(AnswerReader(layer, found.parser), *pieces) == ('{"n": 5}', "", [], [])
    _name, call, (content, reasoning, calls) = next(one for one in ANSWERS.values() if one[0] == name)
    wanted = content, reasoning, [json.loads(one) for one in calls], ["weather"] * len(calls)
    assert read(AnswerReader(layer, found.parser), call) == wanted
    assert read(AnswerReader(layer, found.parser), *call) == wanted


def test_a_call_that_is_required_or_looks_like_an_answer_leaves_no_choice():
    required = ChatParams(WISHES.tools, ToolChoice.REQUIRED)
    found = format_of("Qwen-Qwen3-0.6B", required, json_schema=SCHEMA)
    assert found == format_of("Qwen-Qwen3-0.6B", required)
    calls_are_json = (
        "{{ tools | tojson }}{% for m in messages %}[{{ m.role }}]{% if m.tool_calls %}"
        '{"name": "{{ m.tool_calls[0].function.name }}", "parameters": '
        "{{ m.tool_calls[0].function.arguments | tojson }}}{% else %}{{ m.content }}{% endif %}[end]"
        "{% endfor %}{% if add_generation_prompt %}[assistant]{% endif %}"
    )
    template = LimitedChatTemplate(calls_are_json)
    possible, alike = (
        template.write(TemplateInputs(CHAT, params=WISHES, json_schema=one))[1] for one in ("", SCHEMA)
    )
    template.close()
    assert "tool-weather" in possible.parser
    assert alike.grammar
    assert "tool-weather" not in alike.grammar + alike.parser


def test_a_required_call_has_a_grammar_from_the_first_token_on_and_a_possible_one_has_triggers():
    possible = format_of("Qwen-Qwen3-0.6B")
    required = format_of("Qwen-Qwen3-0.6B", ChatParams(WISHES.tools, ToolChoice.REQUIRED))
    assert [trigger.text for trigger in possible.triggers] == ["<tool_call>\n"]
    assert required.grammar
    assert required.triggers == ()
    assert required.opening == "<|im_start|>assistant\n"
    assert (required.thinking_start, required.thinking_ends) == ("<think>", ("</think>",))


@pytest.mark.parametrize("reasoning", list(ReasoningFormat))
@pytest.mark.parametrize(
    ("name", "num_thoughts"),
    [
        ("Qwen-Qwen2.5-7B-Instruct", 0),
        ("mistralai-Mistral-Nemo-Instruct-2407", 0),
        ("Qwen-Qwen3-0.6B", 1),
        ("GLM-4.6", 1),
        ("Kimi-K2-Instruct", 1),
        ("deepseek-ai-DeepSeek-V3.1", 1),
    ],
)
def test_a_required_call_leaves_no_room_for_text_but_for_what_is_thought(name, num_thoughts, reasoning):
    chat_params = ChatParams(WISHES.tools, ToolChoice.REQUIRED, reasoning_format=reasoning)
    rules = dict(line.split(" ::= ", 1) for line in format_of(name, chat_params).grammar.splitlines() if line)
    texts = [rules[part] for part in re.findall("until-[0-9]+", rules["root"])]
    assert len(texts) == num_thoughts + 1
    assert [text == '""' for text in texts] == [False] * num_thoughts + [True]


@pytest.mark.parametrize("name", ["openai-gpt-oss-120b", "Kimi-K2-Instruct", "Qwen-Qwen3-0.6B"])
def test_a_template_is_shown_all_tools_as_they_are_whatever_may_be_called(name):
    """Also where llama.cpp reads no such schema, and where the template looks for the items of a list."""
    lists = {"list": {"type": "array"}, "pair": {"type": "array", "prefixItems": [NESTED], "items": False}}
    function = {"name": "other", "description": "", "parameters": {"type": "object", "properties": lists}}
    tools = json.dumps([TOOL, {"type": "function", "function": function}])
    template = LimitedChatTemplate((TEMPLATES / f"{name}.jinja").read_text())
    choices = [
        ChatParams(tools),
        ChatParams(tools, ToolChoice.NONE),
        ChatParams(tools, ToolChoice.REQUIRED),
        ChatParams(tools, ToolChoice.REQUIRED, may_call=("other",)),
        ChatParams(tools, may_call=("weather",)),
    ]
    shown = {template.write(TemplateInputs(CHAT, params=one))[0] for one in choices}
    assert shown == {template.render(TemplateInputs(CHAT, params=one)) for one in choices}
    assert len(shown) == 1
    named = template.write(TemplateInputs(CHAT, params=choices[3]))[1].grammar
    template.close()
    assert "tool-other" in named
    assert "tool-weather" not in named


def test_text_that_an_answer_goes_on_with_stands_before_a_required_call():
    chat_params = ChatParams(WISHES.tools, ToolChoice.REQUIRED, goes_on=True)
    template = LimitedChatTemplate((TEMPLATES / "Qwen-Qwen2.5-7B-Instruct.jinja").read_text())
    begun = (*CHAT, Message(Role.ASSISTANT, "Let me"))
    text, found = template.write(TemplateInputs(begun, params=chat_params))
    template.close()
    assert text.endswith(found.opening)
    assert found.opening.endswith("Let me")
    assert '::= ""' not in found.grammar


@pytest.mark.parametrize("name", ["Qwen-Qwen3-0.6B", "openai-gpt-oss-120b", "GLM-4.6"])
@pytest.mark.parametrize(
    "answer",
    [
        "",
        "<tool_call>",
        '<tool_call>\n{"name": "weather", "arguments": {"city": ',
        '<tool_call>\n{"name": "other", "arguments": {}}\n</tool_call>',
        "</think></think><think>",
        "<|channel|>commentary to=functions.weather<|message|>{",
        "[" * 20_000,
        '{"a":' * 5_000,
        "\ud800\x00\ufffe",
    ],
    ids=repr,
)
def test_a_broken_answer_is_read_as_far_as_it_goes_and_nothing_dies(layer, name, answer):
    found = format_of(name)
    half = len(answer) // 2
    in_two = told(AnswerReader(layer, found.parser), answer[:half], answer[half:])
    assert in_two == told(AnswerReader(layer, found.parser), answer)


@pytest.mark.parametrize("end", ["<", "<|im_end|", "</tool_call>", "x"])
def test_a_call_behind_which_nothing_fits_stays_a_call_whole_and_streamed(layer, end):
    found = format_of("Qwen-Qwen2.5-7B-Instruct")
    answer = f"Now. {QWEN_CALL.format(CITY)}{end}"
    wanted = "Now.", "", [json.loads(CITY)], ["weather"]
    assert read(AnswerReader(layer, found.parser), answer) == wanted
    assert read(AnswerReader(layer, found.parser), *answer) == wanted


def test_what_cannot_be_read_of_an_answer_is_text(layer):
    found = format_of("openai-gpt-oss-120b")
    answer = "<|channel|>final<|message|>Hello<|start|>assistant<|nonsense|>"
    assert read(AnswerReader(layer, found.parser), answer)[0].startswith("Hello")
    answer = "no channel at all"
    assert read(AnswerReader(layer, found.parser), answer)[0] == answer


def test_an_answer_that_ends_its_child_costs_no_other(layer, monkeypatch):
    found = format_of("Qwen-Qwen3-0.6B")
    _name, answer, (content, reasoning, _calls) = ANSWERS["no call"]
    half = len(answer) - 5
    other, hostile = AnswerReader(layer, found.parser), AnswerReader(layer, found.parser)
    first = other.read(answer[:half], is_last=False)
    hostile.read("<think>", is_last=False)
    os.kill(layer.pid, signal.SIGSTOP)  # as one that is busy for ever
    os.waitid(os.P_PID, layer.pid, os.WSTOPPED | os.WNOWAIT)  # until all its threads have stopped
    with monkeypatch.context() as patched:
        patched.setattr(message_reader, "MAX_WALL_S", 0.1)
        with pytest.raises(RequestError, match="Parsing the answer"):
            hostile.read("x", is_last=True)
    last = other.read(answer[half:], is_last=True)
    assert first.reasoning.strip() == reasoning
    assert first.content + last.content == content


def test_without_a_parser_all_is_text(layer):
    assert AnswerReader(layer, "").read("<think>", is_last=False).content == "<think>"
