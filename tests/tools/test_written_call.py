import json

import pytest

from app.tools.written_call import WrittenCall, written_call

SCHEMAS = {
    "add": {
        "type": "object",
        "properties": {"a": {"type": "number"}, "b": {"type": "number"}},
        "required": ["a", "b"],
        "additionalProperties": False,
    },
    "now": {"type": "object", "properties": {}},
}
CALL = '{"name": "add", "arguments": {"a": 1, "b": 2}}'
PRETTY = json.dumps(json.loads(CALL), indent=2)


@pytest.mark.parametrize(
    ("text", "before"),
    [
        (CALL, ""),
        (f"\n{PRETTY}\n", ""),
        (f"```json\n{CALL}\n```", ""),
        (f"```\n{PRETTY}\n```\n", ""),
        (f"I will add them.\n\n{CALL}", "I will add them."),
        (f"I will add them:\n```json\n{CALL}\n```", "I will add them:"),
        (f"Not this:\n```sh\nls\n```\nbut:\n```tool_call\n{CALL}\n```", "Not this:\n```sh\nls\n```\nbut:"),
        ('{"name": "add", "parameters": {"a": 1, "b": 2}}', ""),
        ('{"type": "function", "function": {"name": "add", "arguments": {"a": 1, "b": 2}}}', ""),
        ('{"name": "add", "arguments": "{\\"a\\": 1, \\"b\\": 2}"}', ""),
    ],
)
def test_an_answer_that_is_a_call_is_one(text: str, before: str) -> None:
    call = written_call(text, SCHEMAS)
    assert call
    assert (call.before, call.name) == (before, "add")
    assert json.loads(call.arguments) == {"a": 1, "b": 2}


def test_a_tool_without_parameters_is_called_with_none() -> None:
    assert written_call('{"name": "now", "arguments": {}}', SCHEMAS) == WrittenCall("", "now", "{}")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "}",
        "```",
        "``````",
        "```json\n```",
        '{"name": "sub", "arguments": {"a": 1, "b": 2}}',  # no such tool
        '{"name": "add", "arguments": {"a": 1}}',  # not by its schema
        '{"name": "add", "arguments": {"a": 1, "b": 2, "c": 3}}',
        '{"name": "add", "arguments": {"a": "one", "b": 2}}',
        '{"name": ["add"], "arguments": {"a": 1, "b": 2}}',
        '{"name": "add"}',
        '{"name": "add", "arguments": {"a": 1, "b": 2}, "note": "and more"}',
        '{"name": "add", "arguments": [1, 2]}',
        f"{CALL}\nThis would add them.",  # an explanation follows: it was shown, not called
        f"For example {CALL}",
        f"```json\n{CALL}\n```\nThis would add them.",
        "{" * 50_000 + "}",
        "[" * 50_000 + "```" * 20_000,
    ],
)
def test_whatever_else_an_answer_says_is_text(text: str) -> None:
    assert written_call(text, SCHEMAS) is None
