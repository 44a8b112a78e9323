"""Each program's own files become chats with their tree, thinking and files."""

import json
from pathlib import Path
from typing import Any

import pytest

from app.chats.attachment import Attachment
from app.chats.chat import Chat, Turn
from app.chats.imports.read import Findings, Found, read
from app.chats.tool_use import ToolState
from app.protocol.request import Role
from tests.chats.imports import shapes


def read_json(folder: Path, *entries: Any, name: str = "chats.json") -> Findings:
    path = folder / name
    path.write_text(json.dumps(list(entries) if len(entries) > 1 else entries[0]), encoding="utf-8")
    return read([path])


def only(findings: Findings, source: str) -> Found:
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
    parts = [{"type": "text", "text": "hello"}, {"type": "image_url", "image_url": {"url": "x"}}]
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
