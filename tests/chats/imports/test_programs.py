"""Each program's own files become chats with their tree, thinking and files."""

import base64
import copy
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from app.chats.attachment import Attachment
from app.chats.chat import Chat, Turn
from app.chats.imports.read import Findings, FoundChats, read
from app.chats.tool_use import ToolState
from app.protocol.request import Role
from tests.attachments.documents import png
from tests.chats.imports import shapes


def read_json(folder: Path, *entries: Any, name: str = "chats.json") -> Findings:
    path = folder / name
    path.write_text(json.dumps(list(entries) if len(entries) > 1 else entries[0]), encoding="utf-8")
    return read([path])


def only(findings: Findings, source: str) -> FoundChats:
    assert findings.problems == []
    (found,) = findings.chats
    assert found.source == source
    return found


def said(turns: list[Turn] | tuple[Turn, ...]) -> list[tuple[str, str]]:
    return [(turn.role.value, turn.text) for turn in turns]


def versions(chat: Chat, index: int) -> list[str]:
    return [turn.text for turn in chat.versions_of(chat.turns[index])]


def test_chatgpt(tmp_path: Path) -> None:
    found = only(read_json(tmp_path, [shapes.CHATGPT]), "ChatGPT")
    chat = found.chat
    assert chat.title == "Cats and <b>dogs</b>"
    assert chat.created_at == 1738108800.123456
    assert chat.system_prompt == ""
    thinking = "<think>\nLooking\n\nIt has whiskers.\n</think>"
    answer = f"{thinking}\n\n```python\nprint('cat')\n```\n\n```\ncat\n```\n\nA cat."
    assert said(chat.turns) == [("user", "What is this?"), ("assistant", answer)]
    assert versions(chat, 1) == ["A dog.", answer]
    assert chat.turns[1].model == "o3"
    assert found.num_left_out == 1


def test_open_webui(tmp_path: Path) -> None:
    found = only(read_json(tmp_path, [shapes.OPEN_WEBUI]), "Open WebUI")
    chat = found.chat
    assert (chat.title, chat.system_prompt, chat.is_pinned) == ("Sums", "Be short.", True)
    assert said(chat.turns) == [
        ("user", "34 + 21?"),
        ("assistant", "<think>\n34 < 55\nso 55\n</think>\n\n55"),
    ]
    assert versions(chat, 1)[0] == "54"
    assert chat.turns[0].attachments == (Attachment("sums.txt", "34\n21"),)
    assert chat.turns[1].thinking_s == 4
    assert found.num_left_out == 1


def test_open_webui_without_versions(tmp_path: Path) -> None:
    rows = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]
    entry = {"id": "x", "title": "Old", "chat": {"history": {"messages": {}}, "messages": rows}}
    chat = only(read_json(tmp_path, entry), "Open WebUI").chat
    assert said(chat.turns) == [("user", "a"), ("assistant", "b")]


def test_lm_studio(tmp_path: Path) -> None:
    found = only(read_json(tmp_path, shapes.LM_STUDIO), "LM Studio")
    chat = found.chat
    assert (chat.title, chat.system_prompt) == ("Qwen chat", "Be kind.")
    answer = "<think>\nThey greet me.\n</think>\n\nHello to you."
    assert said(chat.turns) == [("user", "Hello"), ("assistant", answer)]
    assert versions(chat, 0) == ["Hi", "Hello"]
    assert chat.turns[1].model == "qwen3.6-27b"
    assert chat.turns[1].created_at == 1780959836.856
    assert found.num_left_out == 1


def test_llama_ui(tmp_path: Path) -> None:
    found = only(read_json(tmp_path, shapes.LLAMA_UI), "llama.cpp")
    chat = found.chat
    assert (chat.title, chat.system_prompt) == ("Trees", "You know trees.")
    answer = "<think>\nIt is in the list.\n</think>\n\nOak."
    assert said(chat.turns) == [("user", "Name one"), ("assistant", answer)]
    assert versions(chat, 1) == [answer, "Ash."]
    assert chat.turns[0].attachments == (Attachment("list.txt", "oak"),)
    assert found.num_left_out == 1


def test_the_first_llama_ui_and_lists_of_messages(tmp_path: Path) -> None:
    chat = only(read_json(tmp_path, shapes.FIRST_LLAMA_UI), "llama.cpp").chat
    assert said(chat.turns) == [("user", "hello"), ("assistant", "hi")]
    assert chat.display_title == "hello"
    parts = [{"type": "text", "text": "he"}, "llo", {"type": "image_url", "image_url": {"url": "x"}}]
    chat = only(read_json(tmp_path, {"messages": [{"role": "user", "content": parts}]}), "llama.cpp").chat
    assert said(chat.turns) == [("user", "hello")]


def test_calls_of_tools_in_lists_of_messages(tmp_path: Path) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"city": "A"}'}}
    other = {"id": "c2", "type": "function", "function": {"name": "look", "arguments": {"city": "B"}}}
    messages = [
        {"role": "user", "content": "How is it?"},
        {"role": "assistant", "content": "Let me look.", "tool_calls": [call, other]},
        {"role": "tool", "tool_call_id": "c2", "content": "Sun."},
        {"role": "tool", "tool_call_id": "c1", "content": "Rain."},
        {"role": "assistant", "content": "", "toolCalls": json.dumps([call | {"id": "c3"}])},
        {"role": "assistant", "content": "It rains."},
        {"role": "user", "content": "Thanks"},
        {"role": "tool", "tool_call_id": "c9", "content": "Nobody asked."},
    ]
    path = tmp_path / "chat.json"
    path.write_text(json.dumps({"id": "x", "messages": messages}))
    (found,) = read([path]).chats
    _question, answer, thanks, alone = found.chat.turns
    assert (answer.text, [one.content for one in answer.rounds]) == ("It rains.", ["Let me look.", ""])
    assert [(use.arguments, use.state, use.result) for use in answer.rounds[0].uses] == [
        ('{"city": "A"}', ToolState.DONE, "Rain."),
        ('{"city": "B"}', ToolState.DONE, "Sun."),
    ]
    assert [use.state for use in answer.rounds[1].uses] == [ToolState.STOPPED]
    assert (thanks.text, alone.role) == ("Thanks", Role.TOOL)


@pytest.mark.parametrize("chosen", ["thread.json", "messages.jsonl", "."])
def test_jan(tmp_path: Path, chosen: str) -> None:
    """Whichever of the two files is chosen, or their folder."""
    folder = tmp_path / "threads" / "jan_1735689600"
    folder.mkdir(parents=True)
    (folder / "thread.json").write_text(json.dumps(shapes.JAN_THREAD))
    (folder / "messages.jsonl").write_text("".join(json.dumps(each) + "\n" for each in shapes.JAN_MESSAGES))
    chat = only(read([folder / chosen]), "Jan").chat
    assert (chat.title, chat.system_prompt, chat.is_pinned) == ("Rivers", "You know rivers.", True)
    answer = "<think>\nNile or Amazon.\n</think>\n\nThe Nile."
    assert said(chat.turns) == [("user", "Longest?"), ("assistant", answer)]
    assert chat.turns[0].created_at == 1735689601
    assert chat.turns[1].model == "qwen3-4b"


def test_who_wrote_a_file_is_told_by_what_is_in_it(tmp_path: Path) -> None:
    findings = read_json(tmp_path, shapes.LLAMA_UI, shapes.CHATGPT, shapes.LM_STUDIO, name="thread.json")
    assert [found.source for found in findings.chats] == ["llama.cpp", "ChatGPT", "LM Studio"]
    assert [found.num_messages for found in findings.chats] == [3, 3, 3]


def test_the_same_chat_read_again_has_the_same_ids(tmp_path: Path) -> None:
    first, second = (read_json(tmp_path, [shapes.CHATGPT]).chats[0].chat for _ in range(2))
    assert first.id == second.id
    assert [turn.id for turn in first.all_turns()] == [turn.id for turn in second.all_turns()]
    other = read_json(tmp_path, [shapes.CHATGPT | {"id": "b", "conversation_id": "b"}]).chats[0].chat
    assert other.id != first.id
    assert not {turn.id for turn in other.all_turns()} & {turn.id for turn in first.all_turns()}


def test_what_was_asked_after_half_an_answer_keeps_its_place(tmp_path: Path) -> None:
    messages = [
        {"id": "1", "parent": None, "role": "user", "content": "a"},
        {"id": "2", "parent": "1", "role": "assistant", "content": "b"},
        {"id": "3", "parent": "2", "role": "assistant", "content": "c"},
        {"id": "4", "parent": "2", "role": "user", "content": "d"},
    ]
    chat = only(read_json(tmp_path, {"conv": {"id": "x"}, "messages": messages}), "llama.cpp").chat
    assert said(chat.turns) == [("user", "a"), ("assistant", "b"), ("user", "d")]
    assert versions(chat, 2) == ["c", "d"]
    assert chat.turns[0].role is Role.USER


def calls_of(turn: Turn) -> list[list[tuple[str, str, str, str]]]:
    """Tool, arguments, state and result of each call, by round."""
    return [
        [(use.tool, use.arguments, use.state.value, use.result) for use in one.uses] for one in turn.rounds
    ]


def session_lines(name: str = "Trees", **more: Any) -> str:
    """As llama.cpp's page has written them since June 2026."""
    conv = shapes.LLAMA_UI["conv"] | {"id": name, "name": name}
    first = {"harness": "llama-ui", "type": "session"} | conv | more
    lines = [{"message": message, "type": "message"} for message in shapes.LLAMA_UI["messages"]]
    return "\n".join(map(json.dumps, [first, *lines]))


def test_sessions_of_the_llama_ui_are_read_from_lines(tmp_path: Path) -> None:
    before = only(read_json(tmp_path, shapes.LLAMA_UI), "llama.cpp")
    path = tmp_path / "2026-11-20T10-00-00_conv_c1_trees.jsonl"
    path.write_text(session_lines() + "\n")
    found = only(read([path]), "llama.cpp")
    assert said(found.chat.turns) == said(before.chat.turns)
    assert (found.chat.title, found.chat.system_prompt, found.num_left_out) == ("Trees", "You know trees.", 1)
    assert versions(found.chat, 1) == versions(before.chat, 1)
    with zipfile.ZipFile(tmp_path / "2026-11-20_conversations.zip", "w") as archive:
        archive.writestr("a.jsonl", session_lines("A"))
        archive.writestr("b.jsonl", session_lines("B"))
    findings = read([tmp_path / "2026-11-20_conversations.zip"])
    assert ([one.chat.title for one in findings.chats], findings.problems) == (["A", "B"], [])


def test_several_sessions_and_other_lines_in_one_file(tmp_path: Path) -> None:
    other = json.dumps({"type": "model_change", "to": "gemma"})
    call = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    answer = {"id": "m9", "role": "assistant", "content": "", "parent": "m2", "toolCalls": [call]}
    called = json.dumps({"type": "message", "message": answer})
    path = tmp_path / "chats.jsonl"
    path.write_text(
        "\n".join([session_lines("A"), other, called, session_lines("B"), json.dumps(shapes.LLAMA_UI)])
    )
    first, second, third = read([path]).chats
    assert [one.chat.title for one in (first, second, third)] == ["A", "B", "Trees"]
    assert calls_of(first.chat.turns[-1]) == [[("look", "{}", "stopped", "")]]
    assert [one.unread for one in (first, second, third)] == [{"model_change": 1}, {}, {}]


def test_a_damaged_line_of_a_session_is_named_and_the_others_come_in(tmp_path: Path) -> None:
    path = tmp_path / "chats.jsonl"
    path.write_text(
        session_lines("A") + '\n{"type": "message", "message": {"id": 1 2}}\n' + session_lines("B")
    )
    findings = read([path])
    assert [found.chat.title for found in findings.chats] == ["A", "B"]
    (problem,) = findings.problems
    assert problem.reason.startswith("It is not valid JSON")


def webui(**message: Any) -> dict[str, Any]:
    question = {"id": "u1", "parentId": None, "role": "user", "content": "Question"}
    answer = {"id": "a1", "parentId": "u1", "role": "assistant", "model": "qwen3", "done": True} | message
    history = {"currentId": "a1", "messages": {"u1": question, "a1": answer}}
    return {"id": "ow1", "title": "OW", "chat": {"title": "OW", "history": history}}


def test_open_webui_with_parts(tmp_path: Path) -> None:
    picture = {"type": "image_url", "image_url": {"url": data_url()}}
    parts = [
        {"type": "text", "text": "Answer as"},
        " parts",
        picture,
        {"type": "video_url", "video_url": {"url": "x"}},
    ]
    found = only(read_json(tmp_path, [webui(content=parts)]), "Open WebUI")
    answer = found.chat.turns[1]
    assert (answer.text, [one.kind for one in answer.attachments]) == ("Answer as parts", ["picture"])
    assert (found.num_left_out, found.unread) == (0, {"video_url": 1})


def data_url() -> str:
    return f"data:image/png;base64,{base64.b64encode(png()).decode()}"


def test_open_webui_with_calls_of_tools(tmp_path: Path) -> None:
    """In the answer's HTML, with values as JSON in attributes; newer versions have the result inside."""
    content = (
        '<details type="reasoning" done="true" duration="2">\n<summary>Thought for 2 seconds</summary>\n'
        "&gt; I look.\n</details>\nOne moment.\n"
        '<details type="tool_calls" done="true" id="c1" name="weather" '
        'arguments="&quot;{\\&quot;city\\&quot;: \\&quot;Rome\\&quot;}&quot;" '
        'result="&quot;Sun &lt;b&gt;&quot;" '
        'files="[{&quot;type&quot;: &quot;image&quot;, &quot;url&quot;: &quot;/api/1&quot;}]" embeds="">\n'
        "<summary>Tool Executed</summary>\n</details>\n"
        '<details type="tool_calls" done="true" id="c2" name="weather" arguments="{&quot;city&quot;: 2}">\n'
        "<summary>Tool Executed</summary>\n&lt;rain&gt;\n</details>\n"
        '<details type="tool_calls" done="false" id="c3" name="weather" arguments="&quot;&quot;">\n'
        "<summary>Executing...</summary>\n</details>\n"
        "It is warm.\n"
        '<details type="code_interpreter" done="true" output="{&quot;stdout&quot;: &quot;4\\n&quot;}">\n'
        "<summary>Analyzed</summary>\n```python\nprint(4)\n```\n</details>\nSo four."
    )
    found = only(read_json(tmp_path, [webui(content=content)]), "Open WebUI")
    answer = found.chat.turns[1]
    assert calls_of(answer) == [
        [
            ("weather", '{"city": "Rome"}', "done", "Sun <b>"),
            ("weather", '{"city": 2}', "done", "<rain>"),
            ("weather", "", "stopped", ""),
        ]
    ]
    assert (answer.rounds[0].reasoning, answer.rounds[0].content) == ("I look.", "One moment.")
    assert answer.text == "It is warm.\n\n```python\nprint(4)\n```\n\n```\n4\n```\n\nSo four."
    assert (found.num_left_out, found.unread, answer.thinking_s) == (1, {}, 2)


def test_open_webui_with_the_answer_as_items(tmp_path: Path) -> None:
    output = [
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "I look."}], "duration": 3},
        {"type": "function_call", "call_id": "c1", "name": "look", "arguments": '{"a": 1}'},
        {"type": "function_call_output", "call_id": "c1", "output": [{"type": "input_text", "text": "Sun"}]},
        {"type": "message", "content": [{"type": "output_text", "text": "Sunny."}]},
    ]
    answer = only(read_json(tmp_path, [webui(content="", output=output)]), "Open WebUI").chat.turns[1]
    assert (answer.text, answer.thinking_s) == ("Sunny.", 3)
    assert calls_of(answer) == [[("look", '{"a": 1}', "done", "Sun")]]
    tagged = webui(content="My words.", output=output) | {"meta": {"tags": ["sun"]}}
    changed = only(read_json(tmp_path, [tagged]), "Open WebUI")
    assert (changed.chat.turns[1].text, changed.unread) == ("My words.", {"output": 1, "tags": 1})


def test_lm_studio_with_calls_of_tools(tmp_path: Path) -> None:
    def block(*parts: dict[str, Any], **more: Any) -> dict[str, Any]:
        return {"type": "contentBlock", "content": list(parts), "genInfo": {"identifier": "qwen3-4b"}} | more

    def text(words: str) -> dict[str, Any]:
        return {"type": "text", "text": words}

    request = {"type": "toolCallRequest", "callId": 1, "toolCallRequestId": "446", "name": "list_directory"}
    steps = [
        block(text("Let me look."), style={"type": "thinking", "ended": True}),
        block(text("I will call a tool.")),
        block(request | {"parameters": {"path": "/home"}, "pluginIdentifier": "mcp/filesystem"}),
        {
            "type": "toolStatus",
            "callId": 1,
            "statusState": {"status": {"type": "toolCallSucceeded", "timeMs": 3}},
        },
        block(
            {"type": "toolCallResult", "toolCallId": 1, "content": "a.txt", "toolCallRequestId": "446"},
            genInfo=None,
        ),
        block(text("There is a.txt.")),
        {"type": "debugInfoBlock", "debugInfo": "Conversation naming technique: prompt"},
        {"type": "citationBlock", "citations": ["x"]},
    ]
    versions = [{"type": "multiStep", "role": "assistant", "steps": steps}]
    question = {"versions": [{"type": "singleStep", "role": "user", "content": [text("What files?")]}]}
    found = only(read_json(tmp_path, {"messages": [question, {"versions": versions}]}), "LM Studio")
    answer = found.chat.turns[1]
    (round_,) = answer.rounds
    assert (round_.reasoning, round_.content) == ("Let me look.", "I will call a tool.")
    assert calls_of(answer) == [[("list_directory", '{"path": "/home"}', "done", "a.txt")]]
    assert (answer.text, answer.model, found.unread) == ("There is a.txt.", "qwen3-4b", {"citationBlock": 1})


def test_jan_with_calls_of_tools(tmp_path: Path) -> None:
    """As parts of the content or, before 2026, beside it."""
    tool = {"id": "c1", "function": {"name": "look", "arguments": '{"a": 1}'}}
    response = {"content": [{"type": "text", "text": "Sun"}]}
    old = {"tool_calls": [{"tool": tool, "response": response, "state": "ready"}]}
    part = {
        "type": "tool_call",
        "tool_call_id": "c2",
        "tool_name": "look",
        "input": {"a": 2},
        "output": {"b": 3},
    }
    stored = [
        shapes.JAN_MESSAGES[0],
        shapes.JAN_MESSAGES[1] | {"metadata": old},
        shapes.JAN_MESSAGES[0] | {"id": "3"},
        shapes.JAN_MESSAGES[1] | {"id": "4", "content": [part, *shapes.JAN_MESSAGES[1]["content"]]},
    ]
    (tmp_path / "thread.json").write_text(json.dumps(shapes.JAN_THREAD))
    (tmp_path / "messages.jsonl").write_text("\n".join(map(json.dumps, stored)))
    _first, before, _second, now = only(read([tmp_path]), "Jan").chat.turns
    assert calls_of(before) == [[("look", '{"a": 1}', "done", "Sun")]]
    assert calls_of(now) == [[("look", '{"a": 2}', "done", '{"b": 3}')]]


def conversation(*messages: dict[str, Any], **more: Any) -> dict[str, Any]:
    """ChatGPT's, one message after the other. `content` is a text, or the object."""
    ids = ["root", *(f"n{number}" for number in range(len(messages)))]
    mapping: dict[str, Any] = {"root": {"id": "root", "message": None, "parent": None}}
    for before, node_id, message in zip(ids, ids[1:], messages, strict=False):
        content = message["content"]
        told = {"content_type": "text", "parts": [content]} if isinstance(content, str) else content
        author = {"role": message.get("role", "assistant")} | message.get("author", {})
        metadata = message.get("metadata", {})
        stored = {"id": node_id, "author": author, "content": told, "metadata": metadata}
        mapping[node_id] = {"id": node_id, "parent": before, "message": stored}
    return {"mapping": mapping, "current_node": ids[-1], "conversation_id": "c", "title": "T"} | more


def test_chatgpt_says_the_default_model_and_no_marks(tmp_path: Path) -> None:
    marked = (
        'See \ue200cite\ue202turn0search1\ue201 and \ue200entity\ue202["city","Paris"]\ue201, '
        "\ue203or\ue204 \ue200i\ue202turn1image0\ue201\ue200x\ue201end."
    )
    link = {"matched_text": "\ue200cite\ue202turn0search1\ue201", "alt": "([Site](https://a.b))"}
    messages = (
        {"role": "user", "content": "q"},
        {"content": marked, "metadata": {"content_references": [link]}},
    )
    found = only(read_json(tmp_path, [conversation(*messages, default_model_slug="gpt-5")]), "ChatGPT")
    answer = found.chat.turns[1]
    assert answer.text == "See ([Site](https://a.b)) and Paris, or end."
    assert answer.model == "gpt-5"
    assert found.unread == {}


def test_chatgpt_versions_without_children_are_in_the_order_of_their_dates(tmp_path: Path) -> None:
    entry = conversation({"role": "user", "content": "q"}, {"content": "second"}, {"content": "first"})
    for node_id, at in (("n1", 3), ("n2", 2)):
        entry["mapping"][node_id]["parent"] = "n0"
        entry["mapping"][node_id]["message"]["create_time"] = at
    chat = only(read_json(tmp_path, [entry | {"current_node": "n1"}]), "ChatGPT").chat
    assert versions(chat, 1) == ["first", "second"]
    assert chat.turns[1].text == "second"


def test_what_chatgpt_fetched_and_hid_is_named(tmp_path: Path) -> None:
    hidden = {"is_visually_hidden_from_conversation": True}
    tool = {"role": "tool", "name": "web.run"}
    spoken = {"content_type": "real_time_user_audio_video_asset_pointer"}
    words = {"content_type": "audio_transcription", "text": "spoken words", "direction": "in"}
    messages = (
        {
            "role": "user",
            "content": {"content_type": "user_editable_context", "user_profile": "I like cats."},
        },
        {"role": "user", "content": "Hidden words", "metadata": hidden},
        {
            "role": "user",
            "content": {
                "content_type": "multimodal_text",
                "parts": [words, spoken | {"audio_asset_pointer": {"asset_pointer": "sediment://file_x"}}],
            },
        },
        {"author": tool, "content": {"content_type": "tether_quote", "url": "u", "text": "quoted"}},
        {"author": tool, "content": "Found on the web"},
        {"author": tool, "content": {"content_type": "tether_browsing_display", "result": ""}},
        {"author": tool, "content": {"content_type": "system_error", "name": "E", "text": "failed"}},
        {"content": {"content_type": "app_pairing_content", "workspaces": ["x"]}},
        {
            "content": {
                "content_type": "multimodal_text",
                "parts": ["so", {"content_type": "poll", "title": "t"}],
            }
        },
        {"content": "final"},
    )
    found = only(read_json(tmp_path, [conversation(*messages)]), "ChatGPT")
    assert said(found.chat.turns) == [
        ("user", "spoken words"),
        ("assistant", "```\nfailed\n```\n\nso\n\nfinal"),
    ]
    assert found.num_left_out == 1, "the sound"
    assert found.unread == {
        "user_editable_context": 1,
        "is_visually_hidden_from_conversation": 1,
        "tether_quote": 1,
        "web.run": 1,
        "app_pairing_content": 1,
        "title": 1,
    }


def test_pictures_that_chatgpt_draws_come_in(tmp_path: Path) -> None:
    pointers = [f"file-{letter * 12}" for letter in "abc"]
    drawn = {"content_type": "image_asset_pointer", "asset_pointer": f"sediment://{pointers[0]}"}
    plotted = {
        "messages": [{"message_type": "image", "image_url": f"file-service://{p}"} for p in pointers[1:]]
    }
    program = {"role": "tool", "name": "python"}
    messages = (
        {"role": "user", "content": "draw"},
        {
            "author": {"role": "tool", "name": "t2uay3k"},
            "content": {"content_type": "multimodal_text", "parts": ["Say nothing.", drawn]},
        },
        {
            "author": program,
            "content": {"content_type": "execution_output", "text": "plotted"},
            "metadata": {"aggregate_result": plotted},
        },
        {"content": "There."},
    )
    for pointer in pointers[:2]:
        (tmp_path / f"{pointer}-x.png").write_bytes(png())
    found = only(read_json(tmp_path, [conversation(*messages)]), "ChatGPT")
    assert found.chat.turns[1].text == "```\nplotted\n```\n\nThere."
    assert len(found.chat.turns[1].attachments) == 2
    assert (found.num_left_out, found.unread) == (1, {"multimodal_text": 1})


SKEIN: dict[str, Any] = {
    "format": "skein-chat",
    "version": 1,
    "turns": [
        {
            "id": "1",
            "role": "assistant",
            "text": "a",
            "attachments": [{"name": "n", "text": "t", "kind": "text"}],
            "rounds": [{"text": "r", "uses": [{"id": "c", "tool": "t"}]}],
            "summary": {"text": "s"},
        }
    ],
}


def shown_in(mapping: dict[str, Any]) -> dict[str, Any]:
    """Without the messages that are named as a whole."""
    return {node_id: node for node_id, node in mapping.items() if node_id not in ("sys", "context")}


SHAPES = {
    "ChatGPT": {**shapes.CHATGPT, "mapping": shown_in(shapes.CHATGPT["mapping"])},
    "Open WebUI": shapes.OPEN_WEBUI,
    "LM Studio": shapes.LM_STUDIO,
    "llama.cpp": shapes.LLAMA_UI,
    "first llama.cpp": shapes.FIRST_LLAMA_UI,
    "Skein": SKEIN,
}
# Settings, figures and what a file says of itself. By what they are called here: one of the above has them.
WITHOUT_WORDS = {"metadata", "params", "meta", "genInfo", "style", "senderInfo", "lastUsedModel", "thoughts"}
WITHOUT_WORDS |= {"assistants", "perChatPredictionConfig", "timings", "attachments", "files"}


def objects_in(value: Any, key: str = "") -> Iterator[dict[str, Any]]:
    if isinstance(value, list):
        for item in value:
            yield from objects_in(item, key)
    elif isinstance(value, dict):
        if key not in ("mapping", "messages") or "role" in value or "versions" in value or "author" in value:
            yield value  # else its keys are ids
        for name, inside in value.items():
            if name not in WITHOUT_WORDS:
                yield from objects_in(inside, name)


@pytest.mark.parametrize("name", SHAPES)
def test_a_key_that_no_reader_knows_is_counted_and_named_wherever_it_is(tmp_path: Path, name: str) -> None:
    for index in range(sum(1 for _object in objects_in(SHAPES[name]))):
        entry = copy.deepcopy(SHAPES[name])
        (before,) = read_json(tmp_path, [entry]).chats
        list(objects_in(entry))[index] |= {
            "zz": {"deep": ["Some words"]},
            "number": 3,
            "switch": True,
            "none": [""],
        }
        (found,) = read_json(tmp_path, [entry]).chats
        assert found.unread - before.unread == {"zz": 1}, f"in {list(objects_in(SHAPES[name]))[index]}"


def test_a_key_that_no_reader_knows_is_counted_in_the_messages_of_jan(tmp_path: Path) -> None:
    messages = copy.deepcopy(shapes.JAN_MESSAGES)
    thread = shapes.JAN_THREAD | {"zz": "Some words"}
    for message in messages:
        message["zz"] = "Some words"
        message["metadata"]["zz"] = "Some words"
        message["content"][0]["zz"] = message["content"][0]["text"]["zz"] = ["Some words"]
    messages[0]["content"].append({"type": "sound", "words": "Some words"})
    (tmp_path / "thread.json").write_text(json.dumps(thread))
    (tmp_path / "messages.jsonl").write_text("\n".join(map(json.dumps, messages)))
    assert only(read([tmp_path]), "Jan").unread == {"zz": 9, "sound": 1}
