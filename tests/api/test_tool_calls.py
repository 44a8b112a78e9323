"""Calls of tools in the words of each family of models."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.api.tool_calls import MARKERS, MAX_CALLS, MAX_CHARS, MAX_PARAMETERS, ToolCallReader, find_tool_calls

NAMES = {"add", "get_weather"}
ADD = ("add", {"a": 1, "b": "x\n"})
ADD_JSON = '{"name": "add", "arguments": {"a": 1, "b": "x\\n"}}'


def calls(text: str) -> list[tuple[str, dict]]:
    return [(call.name, json.loads(call.arguments)) for call in find_tool_calls(text, NAMES)]


@pytest.mark.parametrize(
    "text",
    [
        f"<tool_call>\n{ADD_JSON}\n</tool_call>",
        f"<tool_call>{ADD_JSON}",  # the end was cut by the end of the answer
        ADD_JSON,
        ADD_JSON.replace("arguments", "parameters"),
        f"<|python_tag|>{ADD_JSON}",
        f"[TOOL_CALLS][{ADD_JSON}]",
        f"[{ADD_JSON}]",
        '[TOOL_CALLS]add[ARGS]{"a": 1, "b": "x\\n"}',
        'add[CALL_ID]abc123[ARGS]{"a": 1, "b": "x\\n"}',
        '<function=add>{"a": 1, "b": "x\\n"}</function>',
        (
            '<tool_call>\n<function=add>\n<parameter=a>\n1\n</parameter>\n<parameter=b>\n"x\\n"\n'
            "</parameter>\n</function>\n</tool_call>"
        ),
        (
            "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>add\n```json\n"
            '{"a": 1, "b": "x\\n"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>'
        ),
        (
            "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>add<｜tool▁sep｜>"
            '{"a": 1, "b": "x\\n"}<｜tool▁call▁end｜>'
        ),
        '{"type": "function", "function": {"name": "add", "parameters": {"a": 1, "b": "x\\n"}}}',
        '{"name": "add", "arguments": "{\\"a\\": 1, \\"b\\": \\"x\\\\n\\"}"}',
    ],
)
def test_each_family_is_understood(text):
    assert calls(text) == [ADD]


@pytest.mark.parametrize(
    "text",
    [
        f"<tool_call>{ADD_JSON}</tool_call>\n<tool_call>{ADD_JSON}</tool_call>",
        f"[{ADD_JSON}, {ADD_JSON}]",
        f"{ADD_JSON}; {ADD_JSON}",
        f"{ADD_JSON}\n{ADD_JSON}",
    ],
)
def test_several_calls_keep_their_order(text):
    assert calls(text) == [ADD, ADD]


def test_parameters_in_tags_are_json_or_else_text():
    body = "".join(
        f"<parameter={name}>\n{value}\n</parameter>\n"
        for name, value in [
            ("city", "São Paulo"),
            ("days", "3"),
            ("units", '["c"]'),
            ("note", "3 or 4\nlines"),
        ]
    )
    assert calls(f"<tool_call>\n<function=get_weather>\n{body}</function>\n</tool_call>") == [
        ("get_weather", {"city": "São Paulo", "days": 3, "units": ["c"], "note": "3 or 4\nlines"})
    ]


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "rm", "arguments": {}}',  # that one was not offered
        '{"name": "add", "arguments": [1]}',
        '{"answer": 42}',
        "[1, 2, 3]",
        "{not json",
        "<tool_call>add</tool_call>",
        "the function add",
        "[" * 50_000,
        "",
    ],
)
def test_anything_else_is_text(text):
    assert calls(text) == []
    reader = ToolCallReader(NAMES)
    given = reader.feed(text)
    rest, found = reader.finish()
    assert (given + rest, found) == (text, [])


def read(pieces: list[str]) -> tuple[str, list, list[str]]:
    reader = ToolCallReader(NAMES)
    given = [reader.feed(piece) for piece in pieces]
    rest, found = reader.finish()
    return "".join(given) + rest, [(call.name, json.loads(call.arguments)) for call in found], given


def test_text_before_a_call_is_given_at_once_and_the_call_is_not_text():
    text, found, given = read(["Let me ", "see. ", "<tool", "_call>", ADD_JSON, "</tool_call>"])
    assert given[:2] == ["Let me ", "see. "]
    assert (text, found) == ("Let me see. ", [ADD])


def test_what_only_looks_like_the_beginning_of_a_call_is_given_soon():
    text, found, given = read(["a < b ", "and <tool", "box> ", "too"])
    assert (text, found) == ("a < b and <toolbox> too", [])
    assert "".join(given) == text


def test_a_brace_later_in_the_text_is_no_call():
    text, found, given = read(["Use ", "{", "braces", "}"])
    assert (text, found) == ("Use {braces}", [])
    assert "".join(given) == text


def test_a_blank_before_a_bare_call_is_text_however_it_comes():
    assert read([f" {ADD_JSON}"])[:2] == read([" ", ADD_JSON])[:2]


@settings(max_examples=100)
@given(
    st.lists(st.sampled_from([*MARKERS, "{", "[", " ", "text", "<", ADD_JSON, "</tool_call>"]), max_size=8),
    st.data(),
)
def test_how_the_text_is_cut_into_pieces_does_not_matter(parts, data):
    text = "".join(parts)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=8)))
    pieces = [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    assert read(pieces)[:2] == read(list(text))[:2]


def test_of_very_many_calls_the_first_ones_are_read():
    """Each may go on to the end of the text, which took 2.9 s for 40,000."""
    text = "[TOOL_CALLS]" + 'look[ARGS]{"a": 1}' * 1_000
    assert len(find_tool_calls(text, {"look"})) == MAX_CALLS


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "look"}' * 1_000,
        "[" + '{"name": "look"},' * 1_000 + "{}]",
        '<tool_call>[{"name": "look"}, {"name": "look"}]</tool_call>' * 50,
    ],
)
def test_of_very_many_bare_calls_the_first_ones_are_read(text):
    """Reading 100,000 took 0.6 s."""
    assert len(find_tool_calls(text, {"look"})) == MAX_CALLS


def test_an_answer_of_more_values_than_anyone_asks_for_calls_nothing():
    assert find_tool_calls('{"name": "look"}' + "[" + "[]," * 20_000 + "[]]", {"look"}) == []


def test_of_very_many_parameters_the_first_ones_are_read():
    (call,) = find_tool_calls(
        "<function=look>" + "".join(f"<parameter=p{n}>1</parameter>" for n in range(2_000)), {"look"}
    )
    assert list(json.loads(call.arguments)) == [f"p{number}" for number in range(MAX_PARAMETERS)]


def test_a_long_word_is_no_name_of_a_tool():
    assert find_tool_calls("[TOOL_CALLS]" + "a" * 300 + "[ARGS]{}", {"a" * 256}) == []


def test_in_an_answer_longer_than_any_call_none_is_looked_for():
    call = '{"name": "look", "arguments": {"text": "' + "x" * MAX_CHARS + '"}}'
    assert find_tool_calls(f"<tool_call>{call}</tool_call>", {"look"}) == []
