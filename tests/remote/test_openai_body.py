"""What a server is asked, by the kind of server."""

import json
from dataclasses import replace

import pytest

from app.chats.tool_use import ToolRound, ToolState, ToolUse, messages_of
from app.protocol.answer_format import ChatParams, ToolChoice
from app.protocol.errors import InvalidRequestError
from app.protocol.media import Media, MediaKind
from app.protocol.request import Message, Request, Role
from app.protocol.sampling import NEVER, SamplingParams
from app.remote.introduction import Program
from app.remote.openai_body import path_and_body, unknown_sampling

ASKED = Request("r", "c", (Message(Role.USER, "Hello"),))
LOOK, CLOCK = ({"type": "function", "function": {"name": name}} for name in ("look", "clock"))
TOOLS = json.dumps([LOOK, CLOCK])


def body(request: Request, program: Program = Program.VLLM) -> dict:
    path, found = path_and_body(request, "m", program)
    assert path == "/v1/chat/completions"
    return found


def test_sampling_has_each_servers_names():
    chosen = SamplingParams(temperature=0.0, top_k=5, repeat_penalty=1.1, seed=7, dry_multiplier=0.5)
    asked = replace(ASKED, sampling=chosen)
    told = body(asked, Program.LLAMA_SERVER)
    assert (told["temperature"], told["top_k"]) == (0, 5)
    assert (told["repeat_penalty"], told["dry_multiplier"]) == (1.1, 0.5)
    told = body(asked)
    assert (told["temperature"], told["top_k"], told["repetition_penalty"], told["seed"]) == (0, 5, 1.1, 7)
    assert "dry_multiplier" not in told
    assert unknown_sampling(asked, Program.VLLM) == ("dry_multiplier",)
    assert unknown_sampling(asked, Program.SKEIN) == ()


def test_what_was_chosen_is_sent_also_where_it_is_our_default():
    told = body(replace(ASKED, sampling=SamplingParams(top_k=5), chosen=("temperature",)))
    assert (told["temperature"], told["top_k"], "top_p" in told) == (0.8, 5, False)


@pytest.mark.parametrize(
    ("program", "name"),
    [(Program.LLAMA_SERVER, "grammar"), (Program.VLLM, "structured_outputs"), (Program.SGLANG, "ebnf")],
)
def test_a_grammar_has_each_servers_name(program, name):
    assert name in body(replace(ASKED, sampling=SamplingParams(grammar='root ::= "a"')), program)


def test_a_schema_and_banned_tokens_are_as_openai_has_them():
    chosen = SamplingParams(json_schema='{"type": "object"}', logit_bias=((5, NEVER), (6, 2.0)))
    told = body(replace(ASKED, sampling=chosen))
    assert told["response_format"]["json_schema"]["schema"] == {"type": "object"}
    assert told["logit_bias"] == {"5": -100, "6": 2.0}


def test_pictures_stand_where_they_were_put():
    picture = Media(MediaKind.PICTURE, "0", b"\x89PNG\r\n", at=4)
    message = Message(Role.USER, "See here.", media=(picture,))
    [told] = body(replace(ASKED, messages=(message,)))["messages"]
    assert [part["type"] for part in told["content"]] == ["text", "image_url", "text"]
    assert told["content"][0]["text"] == "See "
    assert told["content"][1]["image_url"]["url"] == "data:image/png;base64,iVBORw0K"


def test_calls_and_their_results_are_as_openai_has_them():
    use = ToolUse("id1", "look", '{"x": 1}', ToolState.DONE, "a cat")
    round_ = ToolRound("…", "I look.", "Hm.", [use], is_whole=True)
    asked = replace(ASKED, messages=(*ASKED.messages, *messages_of(round_)))
    _, called, result = body(asked)["messages"]
    assert called["tool_calls"][0]["function"] == {"name": "look", "arguments": '{"x": 1}'}
    assert called["reasoning_content"] == "Hm."
    assert (result["role"], result["tool_call_id"], result["content"]) == ("tool", "id1", "a cat")
    _, called, _ = body(asked, Program.UNKNOWN)["messages"]
    assert "reasoning_content" not in called


def test_thinking_of_former_answers_is_told_apart():
    before = Message(Role.ASSISTANT, "<think>\nHm.\n</think>\n\n55")
    told = body(replace(ASKED, messages=(*ASKED.messages, before, *ASKED.messages)))["messages"][1]
    assert told == {"role": "assistant", "content": "55", "reasoning_content": "Hm."}


def test_tools_and_template_variables_go_along():
    params = ChatParams(TOOLS, ToolChoice.REQUIRED, ("look",), parallel_tool_calls=False)
    asked = replace(ASKED, chat_params=params, template_variables='{"enable_thinking": false}')
    told = body(asked)
    assert told["tools"] == [LOOK]
    assert told["tool_choice"] == "required"
    assert told["parallel_tool_calls"] is False
    assert told["chat_template_kwargs"] == {"enable_thinking": False}


def test_a_raw_prompt_is_a_completion():
    asked = Request("r", "c", prompt=("Once ", "upon"), stop=("\n",), max_tokens=9)
    path, told = path_and_body(asked, "m", Program.VLLM)
    assert path == "/v1/completions"
    assert (told["prompt"], told["stop"], told["max_tokens"]) == ("Once upon", ["\n"], 9)


@pytest.mark.parametrize("fields", [{"prompt": (1, 2)}, {"prompt": ("a",), "answer_start": (1,)}])
def test_tokens_are_refused(fields):
    with pytest.raises(InvalidRequestError, match="Only a model that Skein runs"):
        path_and_body(Request("r", "c", **fields), "m", Program.VLLM)
