"""Long chats that are summed up before they are answered, as Anthropic and OpenAI have it."""

import asyncio
import base64
import json

import anthropic
import openai
import pytest

from app.api import engine_client
from app.api.as_chat import image_part, text_part
from app.api.compaction import GO_ON, ONE_TOO_LONG
from app.api.responses import INSTEAD
from app.api.responses.output import user_item
from app.chats.summary import ASKED, CUT_OFF, EMPTY, TOO_LONG
from app.protocol.model import ModelInfo
from tests.api.conftest import KEY, Steps, serving, until
from tests.conftest import TINY_CONTEXT
from tests.fakes import END, CountingBackend

MESSAGES, RESPONSES = "/v1/messages", "/v1/responses"
SAID = "They met in Kraków. " * 120
SUMMARY = "- They met in Kraków."
CHAT = [
    {"role": "user", "content": SAID},
    {"role": "assistant", "content": "I see."},
    {"role": "user", "content": "And then?"},
]
COMPACT = {"type": "compact_20260112", "trigger": {"type": "input_tokens", "value": 1000}}
BEYOND = [{"type": "compaction", "compact_threshold": 1000}]
GOES_ON = GO_ON["content"]


class Talker(CountingBackend):
    """Sums up what it is to sum up, and says "Hi." else; `prompts` are what it has read."""

    def __init__(self, summary: str = SUMMARY, n_ctx: int = 8192, **more: object) -> None:
        self._summary = summary.encode()
        self.prompts: list[str] = []
        super().__init__(self._next, **(TINY_CONTEXT | {"n_ctx": n_ctx} | more))

    def _next(self, token_ids):
        text = bytes(token if token < 256 else 0 for token in token_ids)
        prompt, _, written = text.rpartition(b"\0assistant\n")
        if not written:
            self.prompts.append(prompt.decode().replace("\0", "|"))
        is_wish = b"Sum up our conversation so far." in prompt or b"Be brief." in prompt
        said = self._summary if is_wish else b"Hi."
        return said[len(written)] if len(written) < len(said) else END


def asked(messages=CHAT, **more):
    return {"messages": messages, "max_tokens": 50, "context_management": {"edits": [COMPACT | more]}}


def decoded(item):
    return json.loads(base64.b64decode(item["encrypted_content"]))


# Anthropic


async def test_an_answer_begins_with_the_summary_and_goes_on_from_it():
    async with serving(talker := Talker()) as served:
        status, body = await served.post(MESSAGES, asked() | {"system": "Be kind."})
        assert status == 200, body
        assert body["content"] == [
            {"type": "compaction", "content": SUMMARY},
            {"type": "text", "text": "Hi."},
        ]
        assert body["stop_reason"] == "end_turn"
        assert "warnings" not in body
        usage = dict(body["usage"])
        first, second = usage.pop("iterations")
        assert (first["type"], first["output_tokens"]) == ("compaction", len(SUMMARY.encode()))
        assert second == {"type": "message", **usage}
        assert first["input_tokens"] + first["cache_read_input_tokens"] > 2400
        assert body["context_management"] == {"applied_edits": []}
        wish, question = talker.prompts
        assert SAID in wish
        roles = ("system", "Be kind."), ("user", ASKED), ("assistant", SUMMARY), ("user", "And then?")
        assert question == "".join(f"|{role}\n{text}|\n" for role, text in roles)


async def test_a_stream_tells_the_whole_summary_at_once():
    async with serving(Talker()) as served:
        events = await served.named_events(MESSAGES, asked())
        assert [name for name, _ in events[:5]] == [
            "message_start",
            "content_block_start",
            "content_block_delta",
            "content_block_stop",
            "content_block_start",
        ]
        assert events[1][1]["content_block"] == {"type": "compaction", "content": None}
        assert events[2][1]["delta"] == {"type": "compaction_delta", "content": SUMMARY}
        assert [event["index"] for name, event in events if name == "content_block_stop"] == [0, 1]
        name, end = events[-2]
        assert name == "message_delta"
        assert [one["type"] for one in end["usage"]["iterations"]] == ["compaction", "message"]
        assert end["context_management"] == {"applied_edits": []}


@pytest.mark.parametrize("pauses", [True, False])
async def test_a_later_request_goes_on_from_the_block(pauses):
    async with serving(talker := Talker()) as served:
        _, body = await served.post(MESSAGES, asked(pause_after_compaction=pauses))
        talker.prompts.clear()
        later = {"role": "user", "content": "When?"}
        messages = [*CHAT, {"role": "assistant", "content": body["content"]}, later]
        await served.post(MESSAGES, asked(messages))
        told = [("user", ASKED), ("assistant", SUMMARY), ("user", GOES_ON), ("assistant", "Hi.")]
        told = [*(told[:2] if pauses else told), ("user", "When?")]
        assert talker.prompts == ["".join(f"|{role}\n{text}|\n" for role, text in told)]


@pytest.mark.parametrize("streamed", [True, False])
async def test_a_pause_ends_the_message_with_the_block(streamed):
    async with serving(talker := Talker()) as served:
        body = asked(pause_after_compaction=True)
        if streamed:
            events = await served.named_events(MESSAGES, body)
            assert [name for name, _ in events][1:] == [
                "content_block_start",
                "content_block_delta",
                "content_block_stop",
                "message_delta",
                "message_stop",
            ]
            end, usage = events[-2][1]["delta"], events[-2][1]["usage"]
        else:
            _, end = await served.post(MESSAGES, body)
            assert end["content"] == [{"type": "compaction", "content": SUMMARY}]
            usage = end["usage"]
        assert (end["stop_reason"], usage["output_tokens"]) == ("compaction", 0)
        assert [one["type"] for one in usage["iterations"]] == ["compaction"]
        assert len(talker.prompts) == 1
        messages = [{"role": "assistant", "content": [{"type": "compaction", "content": SUMMARY}]}]
        _, body = await served.post(MESSAGES, asked(messages))
        assert body["content"] == [{"type": "text", "text": "Hi."}]
        assert talker.prompts[1].endswith(f"{SUMMARY}|\n|user\n{GOES_ON}|\n")


async def test_the_caller_can_say_what_the_summary_is_to_be():
    async with serving(talker := Talker()) as served:
        await served.post(MESSAGES, asked(instructions="Be brief."))
        assert talker.prompts[0].endswith("|user\nBe brief.|\n")


@pytest.mark.parametrize("edit", [COMPACT | {"trigger": None}, None])
async def test_what_is_short_enough_is_not_summed_up(edit):
    async with serving(Talker()) as served:
        _, body = await served.post(
            MESSAGES, asked() | {"context_management": {"edits": [edit] if edit else None}}
        )
        assert body["content"] == [{"type": "text", "text": "Hi."}]
        assert "iterations" not in body["usage"]


BAD = [("", EMPTY), ("Blah. " * 20, CUT_OFF), ("Blah. " * 9, TOO_LONG)]


@pytest.mark.parametrize(("summary", "why"), BAD, ids=["empty", "cut off", "too long"])
async def test_a_summary_that_cannot_be_used_is_not_and_the_caller_is_told(summary, why):
    chat = [{"role": "user", "content": "Kraków? " * 9}]
    edit = {"trigger": {"type": "input_tokens", "value": 10}, "instructions": "Be brief."}
    async with serving(talker := Talker(summary)) as served:
        _, body = await served.post(MESSAGES, asked(chat, **edit, pause_after_compaction=True))
        assert body["content"] == [{"type": "compaction", "content": None}, {"type": "text", "text": "Hi."}]
        assert body["warnings"] == [f"The conversation was not summed up. {why}"]
        assert "Kraków?" in talker.prompts[1]
        again = [*chat, {"role": "assistant", "content": body["content"]}, {"role": "user", "content": "So?"}]
        await served.post(MESSAGES, {"messages": again})
        assert "Kraków?" in talker.prompts[2]
        assert ASKED not in talker.prompts[2]


async def test_a_chat_that_does_not_fit_is_summed_up_in_parts():
    chat = [one for n in range(8) for one in ({"role": "user", "content": f"{n} {SAID[:600]}"}, CHAT[1])]
    async with serving(talker := Talker(n_ctx=4096)) as served:
        status, body = await served.post(MESSAGES, asked([*chat, CHAT[2]], trigger=None))
        assert status == 200, body
        assert body["content"][0]["content"] == SUMMARY
        assert [one["type"] for one in body["usage"]["iterations"]] == ["compaction", "compaction", "message"]
        first, second, answered = talker.prompts
        assert "0 They" in first
        assert "7 They" not in first
        assert SUMMARY in second
        assert "7 They" in second
        assert answered.endswith("And then?|\n")


@pytest.mark.parametrize("streamed", [True, False])
async def test_what_neither_fits_nor_can_be_summed_up_is_refused_with_the_reason(streamed):
    for summary, chat, why in [
        ("", [{"role": "user", "content": SAID[:600]}] * 8, EMPTY),
        (SUMMARY, [{"role": "user", "content": SAID * 2}], ONE_TOO_LONG),
        (SUMMARY, [CHAT[2], CHAT[1], {"role": "user", "content": SAID * 2}], ONE_TOO_LONG),
    ]:
        async with serving(Talker(summary, n_ctx=4096)) as served:
            status, body = await served.post(MESSAGES, asked(chat) | {"stream": streamed})
            assert status == 400
            assert body["error"]["message"].startswith("prompt is too long: ")
            assert why in body["error"]["message"]


async def test_results_of_tools_are_a_part_of_the_summary():
    use = {"type": "tool_use", "id": "t1", "name": "look", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": SAID}
    messages = [CHAT[2], {"role": "assistant", "content": [use]}, {"role": "user", "content": [result]}]
    async with serving(talker := Talker()) as served:
        tools = [{"name": "look", "input_schema": {"type": "object"}}]
        await served.post(MESSAGES, asked(messages) | {"tools": tools})
        wish, answered = talker.prompts
        assert SAID in wish
        assert answered.endswith(f"{SUMMARY}|\n|user\n{GOES_ON}|\n")


async def test_who_waits_for_a_summary_is_pinged(monkeypatch):
    monkeypatch.setattr(engine_client, "QUIET_SECONDS", 0.01)
    steps = Steps()
    async with serving(Talker(before_decode=steps.wait)) as served:
        address = served.server.address + MESSAGES
        async with served.http.post(address, json=asked() | {"stream": True}) as response:
            assert (await response.content.readline()) == b"event: ping\n"
            steps.free()
            assert "compaction_delta" in (await response.text())


async def test_a_failure_behind_pings_is_an_event(monkeypatch):
    monkeypatch.setattr(engine_client, "QUIET_SECONDS", 0.01)
    steps = Steps()
    async with serving(Talker("", n_ctx=4096, before_decode=steps.wait)) as served:
        body = asked([{"role": "user", "content": SAID[:600]}] * 8) | {"stream": True}
        async with served.http.post(served.server.address + MESSAGES, json=body) as response:
            assert (await response.content.readline()) == b"event: ping\n"
            steps.free()
            event = (await response.text()).strip().split("\n\n")[-1]
        assert event.startswith("event: error\n")
        assert "prompt is too long" in event
        assert EMPTY in event


async def test_who_leaves_takes_the_summary_along():
    steps = Steps()
    async with serving(Talker(before_decode=steps.wait)) as served:
        request = asyncio.create_task(served.post(MESSAGES, asked()))
        await until(lambda: served.client.num_open == 1 and steps.num_begun > 0)
        request.cancel()
        await until(lambda: served.client.num_open == 0)
        steps.free()
        await until(served.is_idle)


THOUGHT = {"type": "thinking", "thinking": "Hm.", "signature": ""}
USES = [
    [
        {"type": "tool_use", "id": f"t{n}", "name": name, "input": {"n": n}},
        {"type": "tool_result", "tool_use_id": f"t{n}", "content": f"Result {n}. {'Blah. ' * 20}"},
    ]
    for n, name in enumerate(["look", "keep", "look", "look", "look"])
]
AGENT = [CHAT[2]]
for use, result in USES:
    AGENT += [{"role": "assistant", "content": [use]}, {"role": "user", "content": [result]}]
CLEAR = {"type": "clear_tool_uses_20250919", "trigger": {"type": "tool_uses", "value": 4}}


@pytest.mark.parametrize(
    ("edit", "left"),
    [
        ({}, [2, 3, 4]),
        ({"keep": {"type": "tool_uses", "value": 0}, "exclude_tools": ["keep"]}, [1]),
        ({"trigger": {"type": "tool_uses", "value": 5}}, [0, 1, 2, 3, 4]),
        ({"trigger": {"type": "input_tokens", "value": 10}}, [2, 3, 4]),
        ({"trigger": None}, [0, 1, 2, 3, 4]),
        ({"clear_at_least": {"type": "input_tokens", "value": 1000}}, [0, 1, 2, 3, 4]),
    ],
)
async def test_old_results_of_tools_are_cleared(edit, left):
    async with serving(talker := Talker()) as served:
        body = {"messages": AGENT, "context_management": {"edits": [CLEAR | edit]}}
        _, told = await served.post(MESSAGES, body)
        (prompt,) = talker.prompts
        assert [n for n in range(5) if f"Result {n}." in prompt] == left
        _, plain = await served.post(f"{MESSAGES}/count_tokens", {"messages": AGENT})
        _, count = await served.post(f"{MESSAGES}/count_tokens", body)
        (applied,) = told["context_management"]["applied_edits"] or [None]
        assert (applied is None) == (len(left) == 5)
        if applied:
            assert applied["cleared_tool_uses"] == 5 - len(left)
            assert applied["cleared_input_tokens"] == plain["input_tokens"] - count["input_tokens"]
            assert count["context_management"] == {"original_input_tokens": plain["input_tokens"]}
        else:
            assert count == plain


@pytest.mark.parametrize(("inputs", "left"), [(True, [4]), (["keep"], [0, 2, 3, 4]), (None, [0, 1, 2, 3, 4])])
async def test_what_tools_were_given_is_cleared_on_request(inputs, left):
    edit = CLEAR | {"keep": {"type": "tool_uses", "value": 1}, "clear_tool_inputs": inputs}
    async with serving(talker := Talker()) as served:
        await served.post(MESSAGES, {"messages": AGENT, "context_management": {"edits": [edit]}})
        written = talker.prompts[0].replace(" ", "")
        assert [n for n in range(5) if f'{{"n":{n}}}' in written] == left


@pytest.mark.parametrize(
    ("keep", "num_left"),
    [
        (None, 2),
        ("all", 3),
        ({"type": "all"}, 3),
        ({"type": "thinking_turns", "value": 2}, 3),
        ({"type": "thinking_turns", "value": 0}, 0),
    ],
)
async def test_old_thinking_is_cleared_by_turns(keep, num_left):
    """Of two turns the second has two messages with thinking, around the result of a tool."""
    (use, _result), *_others = USES
    answer = {"role": "assistant", "content": [THOUGHT, {"type": "text", "text": "I see."}]}
    call = {"role": "assistant", "content": [THOUGHT, use]}
    messages = [CHAT[2], answer, CHAT[2], call, AGENT[2], answer, CHAT[2]]
    talker = Talker()
    talker.chat_template = (
        "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.reasoning_content }}{{ m.content }}"
        "<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
    )
    async with serving(talker) as served:
        edit = {"type": "clear_thinking_20251015"} | ({"keep": keep} if keep else {})
        _, told = await served.post(MESSAGES, {"messages": messages, "context_management": {"edits": [edit]}})
        assert talker.prompts[0].count("Hm.") == num_left
        num_turns = {3: 0, 2: 1, 0: 2}[num_left]
        applied = told["context_management"]["applied_edits"]
        assert [one["cleared_thinking_turns"] for one in applied] == [num_turns] * bool(num_turns)


@pytest.mark.parametrize(
    "edit",
    [
        {"type": "compact_2"},
        COMPACT | {"trigger": {"type": "days", "value": 1}},
        COMPACT | {"trigger": {"type": "tool_uses", "value": 1}},
        COMPACT | {"trigger": {"type": "input_tokens"}},
        CLEAR | {"keep": {"type": "tool_uses"}},
    ],
)
async def test_edits_that_make_no_sense_are_refused(edit):
    async with serving() as served:
        status, body = await served.post(MESSAGES, asked() | {"context_management": {"edits": [edit]}})
        assert status == 400
        assert "context_management" in body["error"]["message"]


async def test_another_servers_model_answers_all_of_the_chat(monkeypatch):
    """Its server does not count tokens for us."""
    monkeypatch.setattr(ModelInfo, "is_foreign", True)
    async with serving(talker := Talker()) as served:
        for edit in (COMPACT, CLEAR):
            status, body = await served.post(
                MESSAGES, {"messages": AGENT, "context_management": {"edits": [edit]}}
            )
            assert status == 200
            assert body["content"] == [{"type": "text", "text": "Hi."}]
            assert "Result 0." in talker.prompts[-1]
            assert ("warnings" in body) == (edit is COMPACT)


# OpenAI


ITEMS = [{"type": "message", **one} for one in CHAT]


async def test_a_conversation_is_compacted():
    async with serving(talker := Talker()) as served:
        part = {"type": "input_text", "text": SAID}
        items = [{"role": "user", "content": [part]}, *ITEMS[1:]]
        status, body = await served.post(f"{RESPONSES}/compact", {"input": items, "instructions": "Be kind."})
        assert status == 200, body
        assert (body["id"][:5], body["object"]) == ("resp_", "response.compaction")
        first, second, compaction = body["output"]
        assert first["content"] == [{"type": "input_text", "text": SAID}]
        assert second["content"] == [{"type": "input_text", "text": "And then?"}]
        assert {one["role"] for one in (first, second)} == {"user"}
        assert (compaction["type"], compaction["id"][:4]) == ("compaction", "cmp_")
        assert decoded(compaction) == {"version": 1, "summary": SUMMARY}
        assert body["usage"]["output_tokens"] == len(SUMMARY.encode())
        talker.prompts.clear()
        later = [*body["output"], {"role": "user", "content": "When?"}]
        await served.post(RESPONSES, {"input": later})
        assert talker.prompts == [f"|user\n{ASKED}|\n|assistant\n{SUMMARY}|\n|user\nWhen?|\n"]
        _, again = await served.post(f"{RESPONSES}/compact", {"input": [*later, ITEMS[0]]})
        assert [one["type"] for one in again["output"]] == ["message", "message", "compaction"]


def test_pictures_and_sounds_of_the_user_are_kept():
    sound = {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}}
    item = user_item([image_part("data:image/png;base64,AAAA"), sound, text_part("Look!")])
    assert item["content"] == [
        {"type": "input_image", "image_url": "data:image/png;base64,AAAA"},
        sound,
        {"type": "input_text", "text": "Look!"},
    ]


async def test_an_earlier_response_can_be_compacted_and_gone_on_with():
    async with serving(talker := Talker()) as served:
        _, first = await served.post(RESPONSES, {"input": SAID})
        asked = {"previous_response_id": first["id"], "input": None}
        status, body = await served.post(f"{RESPONSES}/compact", asked)
        assert status == 200, body
        assert "|assistant\nHi.|" in talker.prompts[1]
        _, second = await served.post(
            RESPONSES, {"input": [*body["output"][1:], ITEMS[2]], "previous_response_id": first["id"]}
        )
        assert talker.prompts[2] == f"|user\n{ASKED}|\n|assistant\n{SUMMARY}|\n|user\nAnd then?|\n"
        await served.post(RESPONSES, {"input": "When?", "previous_response_id": second["id"]})
        assert talker.prompts[3] == f"{talker.prompts[2]}|assistant\nHi.|\n|user\nWhen?|\n"


async def test_a_response_beyond_the_threshold_begins_with_a_compaction():
    async with serving(talker := Talker()) as served:
        body = {"input": ITEMS, "context_management": BEYOND}
        _, whole = await served.post(RESPONSES, body)
        compaction, message = whole["output"]
        assert decoded(compaction)["summary"] == SUMMARY
        assert message["content"][0]["text"] == "Hi."
        assert talker.prompts[1] == f"|user\n{ASKED}|\n|assistant\n{SUMMARY}|\n|user\nAnd then?|\n"
        talker.prompts.clear()
        follow = {"context_management": BEYOND}
        await served.post(RESPONSES, follow | {"input": "When?", "previous_response_id": whole["id"]})
        assert talker.prompts == [
            f"|user\n{ASKED}|\n|assistant\n{SUMMARY}|\n|user\nAnd then?|\n|assistant\nHi.|\n|user\nWhen?|\n"
        ]
        items = [{"type": "item_reference", "id": compaction["id"]}, message, ITEMS[2]]
        await served.post(RESPONSES, follow | {"input": [*ITEMS, *items]})
        told = (
            ("user", ASKED),
            ("assistant", SUMMARY),
            ("user", GOES_ON),
            ("assistant", "Hi."),
            ("user", "And then?"),
        )
        assert talker.prompts[1] == "".join(f"|{role}\n{text}|\n" for role, text in told)


async def test_a_streamed_response_tells_of_the_compaction_first():
    async with serving(Talker()) as served:
        events = await served.named_events(RESPONSES, {"input": ITEMS, "context_management": BEYOND})
        assert [name for name, _ in events[:5]] == [
            "response.created",
            "response.in_progress",
            "response.output_item.added",
            "response.output_item.done",
            "response.output_item.added",
        ]
        assert [event["sequence_number"] for _, event in events] == list(range(len(events)))
        assert [event["output_index"] for _, event in events[2:5]] == [0, 0, 1]
        assert events[3][1]["item"]["type"] == "compaction"
        last = events[-1][1]["response"]
        assert [item["type"] for item in last["output"]] == ["compaction", "message"]


async def test_a_response_whose_summary_cannot_be_used_answers_the_whole():
    async with serving(talker := Talker("")) as served:
        _, body = await served.post(RESPONSES, {"input": ITEMS, "context_management": BEYOND})
        assert [item["type"] for item in body["output"]] == ["message"]
        assert body["warnings"] == [f"The conversation was not summed up. {EMPTY}"]
        assert SAID in talker.prompts[1]


@pytest.mark.parametrize(("summary", "why"), [("", EMPTY), ("Blah. " * 200, CUT_OFF)])
async def test_a_model_that_cannot_sum_up_is_no_fault_of_the_caller_who_is_told_what_to_do(summary, why):
    async with serving(Talker(summary)) as served:
        status, body = await served.post(f"{RESPONSES}/compact", {"input": ITEMS})
        message = f"The conversation was not summed up. {why} {INSTEAD}"
        assert (status, body["error"]["type"], body["error"]["message"]) == (500, "server_error", message)


async def test_what_the_user_says_stays_though_it_reads_like_what_stands_behind_a_compaction():
    async with serving(Talker()) as served:
        _, first = await served.post(f"{RESPONSES}/compact", {"input": ITEMS})
        more = [{"role": "assistant", "content": "Hi."}, ITEMS[0], {"role": "user", "content": GOES_ON}]
        _, body = await served.post(f"{RESPONSES}/compact", {"input": [first["output"][-1], *more]})
        told = [one["content"][0]["text"] for one in body["output"][:-1]]
        assert told == [SAID, GOES_ON]


@pytest.mark.parametrize(
    "content", [None, "", "?", "e30=", "W10=", "eyJ2ZXJzaW9uIjoyLCJzdW1tYXJ5IjoiSGkifQ=="]
)
async def test_a_damaged_compaction_is_refused(content):
    async with serving() as served:
        item = {"type": "compaction", "encrypted_content": content}
        status, body = await served.post(RESPONSES, {"input": [item, ITEMS[2]]})
        assert status == 400
        assert "encrypted_content" in body["error"]["message"]


@pytest.mark.parametrize("body", [{}, {"input": []}, {"input": "Hi", "context_management": [{"type": "x"}]}])
async def test_what_makes_no_sense_to_compact_is_refused(body):
    async with serving() as served:
        for path in (RESPONSES, f"{RESPONSES}/compact"):
            assert (await served.post(path, body))[0] == 400


# The clients that people use


async def test_anthropics_client_reads_the_block_and_sends_it_back():
    async with serving(talker := Talker()) as served:
        address = served.server.address
        async with anthropic.AsyncAnthropic(base_url=address, api_key=KEY, max_retries=0) as client:
            options = asked() | {"model": "any", "betas": ["compact-2026-01-12"]}
            async with client.beta.messages.stream(**options) as stream:
                message = await stream.get_final_message()
            assert [block.type for block in message.content] == ["compaction", "text"]
            assert message.content[0].content == SUMMARY
            assert [one.type for one in message.usage.iterations] == ["compaction", "message"]
            later = {"role": "assistant", "content": message.content}, {"role": "user", "content": "When?"}
            message = await client.beta.messages.create(**options | {"messages": [*CHAT, *later]})
            assert [block.type for block in message.content] == ["text"]
            assert SAID not in talker.prompts[-1]


async def test_openais_client_reads_the_item_and_sends_it_back():
    async with serving(talker := Talker()) as served:
        address = f"{served.server.address}/v1"
        async with openai.AsyncOpenAI(base_url=address, api_key=KEY, max_retries=0) as client:
            compacted = await client.responses.compact(model="any", input=ITEMS)
            assert [item.type for item in compacted.output] == ["message", "message", "compaction"]
            output = [
                item.model_dump(warnings=False) for item in compacted.output
            ]  # it knows no input_text there
            later = [*output, {"role": "user", "content": "When?"}]
            response = await client.responses.create(model="any", input=later)
            assert response.output_text == "Hi."
            assert talker.prompts[-1] == f"|user\n{ASKED}|\n|assistant\n{SUMMARY}|\n|user\nWhen?|\n"
            options = {"model": "any", "input": ITEMS, "context_management": BEYOND}
            events = [event async for event in await client.responses.create(**options, stream=True)]
            assert [item.type for item in events[-1].response.output] == ["compaction", "message"]
