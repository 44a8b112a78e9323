"""Tools for chat templates that have no place for them."""

import json
from pathlib import Path

import pytest

from app.engine.prompts.chat_template import LimitedChatTemplate, TemplateInputs
from app.engine.prompts.template_limits import IN_OUR_FORMAT, as_text, described
from app.protocol.request import Message, Role

TEMPLATES = Path(__file__).parents[2] / "templates"
SHOWS_IDS = (
    "{% for m in messages %}{{ m.tool_call_id }}{% for c in m.tool_calls or [] %}{{ c.id }}"
    "{{ c.function | tojson }}{% endfor %}{% endfor %}"
)

TOOL = {"type": "function", "function": {"name": "add", "description": "Zählt.", "parameters": {}}}
USER = {"role": "user", "content": "2 + 2?"}


def calling(content: str, *arguments: dict, **more: str) -> dict:
    calls = [
        {"id": "c", "type": "function", "function": {"name": "add", "arguments": one}} for one in arguments
    ]
    return {"role": "assistant", "content": content, "tool_calls": calls, **more}


def result(content: str) -> dict:
    return {"role": "tool", "tool_call_id": "c", "content": content}


def test_tools_stand_behind_what_the_system_message_says():
    system = {"role": "system", "content": "Be brief.", "name": "x"}
    first, *rest = described([system, USER], [TOOL, TOOL], IN_OUR_FORMAT)
    assert rest == [USER]
    assert (first["role"], first["name"]) == ("system", "x")
    assert first["content"].startswith("Be brief.\n\n# Tools\n\n")
    line = json.dumps(TOOL, ensure_ascii=False)
    assert f"<tools>\n{line}\n{line}\n</tools>\n\n{IN_OUR_FORMAT}" in first["content"]


def test_a_chat_without_a_system_message_gets_one():
    first, *rest = described([USER], [TOOL], "Call them.")
    assert (first["role"], rest) == ("system", [USER])
    assert first["content"].startswith("# Tools")
    assert first["content"].endswith("Call them.")


def test_calls_become_text_and_their_results_one_message_with_what_the_user_says_next():
    written = as_text(
        [
            USER,
            calling("I add.", {"a": "ä"}, {"a": 2}, reasoning_content="Easy."),
            result("1"),
            result("2"),
            {"role": "user", "content": "And?"},
            {"role": "assistant", "content": "3"},
            USER,
        ]
    )
    assert written == [
        USER,
        {
            "role": "assistant",
            "content": (
                'I add.\n<tool_call>\n{"name": "add", "arguments": {"a": "ä"}}\n</tool_call>\n'
                '<tool_call>\n{"name": "add", "arguments": {"a": 2}}\n</tool_call>'
            ),
            "reasoning_content": "Easy.",
        },
        {
            "role": "user",
            "content": "<tool_response>\n1\n</tool_response>\n<tool_response>\n2\n</tool_response>\nAnd?",
        },
        {"role": "assistant", "content": "3"},
        USER,
    ]


def test_a_chat_without_calls_stays_as_it_is():
    chat = [USER, {"role": "assistant", "content": "4"}, USER, USER]
    assert as_text(chat) == chat


@pytest.mark.parametrize("call_id", ["abcdef123", "toolu_01A09q90qw90lq917835lq9", "", "é"])
@pytest.mark.parametrize(
    ("source", "keeps"),
    [
        ((TEMPLATES / "mistralai-Mistral-Nemo-Instruct-2407.jinja").read_text(), False),
        (SHOWS_IDS, True),
    ],
    ids=["mistral", "shows ids"],
)
def test_a_template_gets_ids_that_it_takes(source, keeps, call_id):
    call = calling("", {"a": 1})
    call["tool_calls"][0]["id"] = call_id
    messages = (
        Message(Role.USER, "2 + 2?"),
        Message(Role.ASSISTANT, "", json.dumps({"tool_calls": call["tool_calls"]})),
        Message(Role.TOOL, "4", json.dumps({"tool_call_id": call_id})),
    )
    template = LimitedChatTemplate(source)
    text = template.render(TemplateInputs(messages))
    template.close()
    assert (call_id in text) is (keeps or call_id in ("abcdef123", ""))
