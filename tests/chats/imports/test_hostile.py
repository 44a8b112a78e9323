"""T41: nothing in a file is believed, and a bad one says which chat is bad and why."""

import json
import math
import os
import random
import time
import zipfile
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from app.chats.imports import entries, read
from app.chats.imports.entries import BadChatError
from app.chats.imports.read import Findings
from tests.chats.imports import shapes


def findings_of(folder: Path, content: str | bytes, name: str = "chats.json") -> Findings:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return read.read([path])


def reason_of(findings: Findings) -> str:
    assert findings.chats == []
    (problem,) = findings.problems
    return problem.reason


def conversation(*messages: dict[str, Any], **conv: Any) -> str:
    return json.dumps({"conv": {"id": "x"} | conv, "messages": list(messages)})


def message(number: int, parent: int | None = None, **fields: Any) -> dict[str, Any]:
    return {"id": number, "parent": parent, "role": "user", "content": f"text {number}"} | fields


def test_a_file_that_claims_a_gigabyte_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "big.json"
    with path.open("wb") as file:
        file.truncate(read.MAX_FILE_BYTES + 1)
    assert reason_of(read.read([path])) == "It is larger than 1024 MB. Export fewer chats at a time."


def test_an_archive_may_not_unpack_to_more_than_a_file_may_have(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A megabyte of blanks packs to a kilobyte."""
    monkeypatch.setattr(read, "MAX_FILE_BYTES", 1 << 20)
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("conversations.json", b" " * ((1 << 20) + 1))
    assert "larger than 1 MB" in reason_of(read.read([tmp_path / "bomb.zip"]))


def test_one_chat_may_not_be_larger_than_all_of_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(entries, "MAX_ENTRY_BYTES", 1000)
    large = json.loads(conversation(message(1, content="x" * 2000)))
    findings = findings_of(tmp_path, json.dumps([large, shapes.FIRST_LLAMA_UI]))
    assert len(findings.chats) == 1
    assert [(problem.entry, problem.file) for problem in findings.problems] == [(1, "chats.json")]


@pytest.mark.parametrize("inside", [True, False])
def test_a_depth_of_a_hundred_thousand_is_a_sentence_not_a_crash(tmp_path: Path, inside: bool) -> None:
    deep = "[" * 100_000 + "]" * 100_000
    text = f'{{"conv": {{"id": "x"}}, "messages": {deep}}}' if inside else deep
    reason = reason_of(findings_of(tmp_path, text))
    assert reason.startswith("It is nested more than 100 levels deep" if inside else "No chats found")


def test_a_string_that_never_ends_takes_no_time_at_all(tmp_path: Path) -> None:
    """Trying it from each of its quotes would take hours."""
    reason = reason_of(findings_of(tmp_path, '[{"messages": "' + '\\"' * 500_000))
    assert reason == "The file is truncated. Download or export it again."


def test_a_chat_of_thousands_of_messages_in_one_line_is_read_but_not_of_any_number(tmp_path: Path) -> None:
    roles = ("user", "assistant")
    messages = [message(n, n - 1 if n > 1 else None, role=roles[n % 2]) for n in range(1, 5_001)]
    (found,) = findings_of(tmp_path, conversation(*messages)).chats
    assert len(found.chat.turns) == 5_000
    too_many = [message(n, n - 1) for n in range(1, 100_002)]
    assert "more than 100,000 messages" in reason_of(findings_of(tmp_path, conversation(*too_many)))


@pytest.mark.parametrize(
    "content",
    [
        '<details type="tool_calls" ' * 40_000,
        '<details type="tool_calls">' * 40_000,
        '<details type="tool_calls" ' + "a" * 1_000_000 + "></details>",
        '<details type="reasoning">' + " " * 1_000_000 + "</details>",
        '<details type="reasoning"><summary>' + " <summary>" * 100_000 + "</details>",
        '<details type="tool_calls" result="' + "[" * 100_000 + '"></details>',
        '<details type="tool_calls"></details>' * 20_000,
    ],
    ids=("open tags", "open details", "attribute", "space", "summaries", "depth", "calls"),
)
def test_details_of_an_answer_take_no_time(tmp_path: Path, content: str) -> None:
    answer = {"role": "assistant", "content": content + "The end."}
    entry = {"chat": {"history": {"messages": {"a": answer}, "currentId": "a"}}}
    began = time.perf_counter()
    (found,) = findings_of(tmp_path, json.dumps(entry)).chats
    assert time.perf_counter() - began < 5
    assert found.chat.turns[0].text.endswith("The end.")


def test_two_messages_with_one_id(tmp_path: Path) -> None:
    reason = reason_of(findings_of(tmp_path, conversation(message(7), message(7, 7))))
    assert reason == "Two messages have the same id, “7”."


def test_messages_that_follow_each_other_in_a_circle(tmp_path: Path) -> None:
    text = conversation(message(1), message(2, 3), message(3, 2))
    assert reason_of(findings_of(tmp_path, text)) == "Message “2” is its own ancestor."


def test_a_role_that_is_none(tmp_path: Path) -> None:
    findings = findings_of(tmp_path, conversation(message(1, role="<b>"), name="My chat"))
    assert (
        reason_of(findings)
        == "A message has the role “<b>”. Only user, assistant, system and tool are supported."
    )
    assert findings.problems[0].entry == 1


@pytest.mark.parametrize("date", [math.nan, math.inf, -5, 1e300, "soon", True, None, [1], 10**400])
def test_a_date_that_is_none_becomes_now(tmp_path: Path, date: object) -> None:
    before = time.time()
    (found,) = findings_of(tmp_path, conversation(message(1, timestamp=date))).chats
    assert before <= found.chat.created_at <= time.time()
    assert before <= found.chat.turns[0].created_at <= time.time()


def test_half_a_surrogate_pair_and_a_nul_cannot_stay(tmp_path: Path) -> None:
    text = conversation(message(1, content="a\ud800b\0c"), name="\udfff")
    (found,) = findings_of(tmp_path, text).chats
    assert found.chat.turns[0].text == "a?bc"
    assert found.chat.title == "?"


@pytest.mark.parametrize(
    "stray",
    [
        {"mapping": []},
        {"mapping": {"a": None, "b": 3, "c": {"message": {"content": {"parts": {"x": 1}}}}}},
        {"chat": {"history": {"messages": {"a": [], "b": {"role": 3, "content": {}}}}}},
        {"messages": [{"versions": {"a": 1}}, {"versions": [None, {"role": [], "steps": [1]}]}]},
        {"conv": {"id": {}}, "messages": [1, None, {"content": None, "extra": {"a": 1}}]},
        {"format": "skein-chat", "version": 1, "turns": [1], "sampling": [], "usage": 3},
        {"format": "skein-chat", "version": "9"},
        {"format": "skein-chat", "version": 2},
    ],
)
def test_values_of_the_wrong_kind_are_no_crash(tmp_path: Path, stray: dict[str, Any]) -> None:
    findings = findings_of(tmp_path, json.dumps(stray))
    assert findings.chats == []
    assert len(findings.problems) == 1


def test_ids_of_a_file_never_become_ids_of_turns(tmp_path: Path) -> None:
    """Else one file could write over the turns of another chat."""
    (found,) = findings_of(tmp_path, conversation(message(1, id="f" * 32))).chats
    assert found.chat.turns[0].id != "f" * 32
    own = {"format": "skein-chat", "version": 1, "id": "../x", "turns": [{"id": "f" * 32, "role": "user"}]}
    (found,) = findings_of(tmp_path, json.dumps(own)).chats
    assert found.chat.turns[0].id != "f" * 32
    assert found.chat.id.isalnum()


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("", "The file is empty. Export it again."),
        ("not json {", "No chats found."),
        ("{}", "No chats found"),
        ("[1, 2, 3]", "No chats found"),
        ('{"messages": []} {"messages": []}', "No chats found"),
        ('{"conv": {}, "messages": [1 2]}', "It is not valid JSON"),
        ('[{"conv": {}, "messages": [{"ro', "The file is truncated."),
        (b"SQLite format 3\0" + bytes(range(128, 192)), "No chats found"),
        (b"\x80\x04\x95[{", "No chats found"),
        (b"PK\x03\x04 no archive", "No chats found"),
    ],
)
def test_other_files_say_what_is_wrong(tmp_path: Path, content: str | bytes, reason: str) -> None:
    assert reason_of(findings_of(tmp_path, content)).startswith(reason)


def test_a_file_that_is_cut_off_brings_nothing_but_another_does(tmp_path: Path) -> None:
    whole = json.dumps([shapes.CHATGPT, shapes.CHATGPT | {"conversation_id": "b", "id": "b"}])
    (tmp_path / "cut.json").write_text(whole[:-100])
    (tmp_path / "whole.json").write_text(whole)
    findings = read.read([tmp_path / "cut.json", tmp_path / "whole.json", tmp_path / "none.json"])
    assert len(findings.chats) == 2
    assert [problem.file for problem in findings.problems] == ["cut.json", "none.json"]
    assert "No such file" in findings.problems[1].reason


def test_one_bad_chat_of_many_is_named(tmp_path: Path) -> None:
    bad = json.loads(conversation(message(1, role="narrator"), title="Bad one")) | {"title": "Bad one"}
    findings = findings_of(tmp_path, json.dumps([shapes.FIRST_LLAMA_UI, bad, shapes.LLAMA_UI]))
    assert len(findings.chats) == 2
    (problem,) = findings.problems
    assert (problem.entry, problem.title) == (2, "Bad one")


def test_an_archive_with_its_company(tmp_path: Path) -> None:
    """As ChatGPT's: one file of chats among others. Names in it lead nowhere."""
    path = tmp_path / "export.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("conversations.json", json.dumps([shapes.CHATGPT]))
        archive.writestr("user.json", json.dumps({"id": "user-1", "email": "a@b.c"}))
        archive.writestr("chat.html", "<html>")
        archive.writestr("../../evil.json", json.dumps(shapes.LLAMA_UI))
        archive.writestr("threads/a/thread.json", json.dumps(shapes.JAN_THREAD))
        archive.writestr("threads/a/messages.jsonl", json.dumps(shapes.JAN_MESSAGES[0]))
    findings = read.read([path])
    assert sorted(found.source for found in findings.chats) == ["ChatGPT", "Jan", "llama.cpp"]
    assert findings.problems == []
    assert not (tmp_path.parent / "evil.json").exists()


def test_an_archive_in_an_archive_is_not_opened(tmp_path: Path) -> None:
    """One can be made that holds itself."""
    with zipfile.ZipFile(tmp_path / "inner.zip", "w") as archive:
        archive.writestr("conversations.json", json.dumps([shapes.CHATGPT]))
    with zipfile.ZipFile(tmp_path / "outer.zip", "w") as archive:
        archive.write(tmp_path / "inner.zip", "really-a-zip.json")
    assert "No chats" in reason_of(read.read([tmp_path / "outer.zip"]))


def test_what_is_wrong_in_an_archive_is_told_by_the_names_in_it(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "export.zip", "w") as archive:
        archive.writestr("old/conversations.json", json.dumps([shapes.CHATGPT])[:-5])
    (problem,) = read.read([tmp_path / "export.zip"]).problems
    assert problem.file == "old/conversations.json"


def test_a_damaged_archive(tmp_path: Path) -> None:
    path = tmp_path / "export.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("conversations.json", random.Random(1).randbytes(2000))
    content = bytearray(path.read_bytes())
    content[200:400] = bytes(200)
    path.write_bytes(content)
    assert reason_of(read.read([path])).startswith("The archive cannot be unpacked: ")


def test_a_folder_is_read_without_following_links(tmp_path: Path) -> None:
    (tmp_path / "outside.json").write_text(json.dumps(shapes.LLAMA_UI))
    folder = tmp_path / "conversations"
    (folder / "work").mkdir(parents=True)
    (folder / "work" / "1.conversation.json").write_text(json.dumps(shapes.LM_STUDIO))
    (folder / "settings.json").write_text("{}")
    (folder / "link.json").symlink_to(tmp_path / "outside.json")
    (folder / "round").symlink_to(folder)
    findings = read.read([folder])
    assert [found.source for found in findings.chats] == ["LM Studio"]
    assert findings.problems == []


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names here")
def test_a_pipe_is_not_opened(tmp_path: Path) -> None:
    """It has no writer, so opening it would block forever."""
    for name in ("pipe.json", "pipe.zip", "messages.jsonl"):
        os.mkfifo(tmp_path / name)
    (tmp_path / "thread.json").write_text(json.dumps(shapes.JAN_THREAD))
    findings = read.read([tmp_path / "pipe.json", tmp_path / "pipe.zip", tmp_path / "thread.json", tmp_path])
    assert findings.chats == []
    assert {problem.file for problem in findings.problems} == {"pipe.json", "pipe.zip", "thread.json"}


def test_a_large_file_is_mapped_and_read_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = json.dumps([shapes.CHATGPT, shapes.LLAMA_UI])
    whole = findings_of(tmp_path, text)
    monkeypatch.setattr(read, "MAX_READ_BYTES", 10)
    assert findings_of(tmp_path, text).chats == whole.chats


def test_reading_can_be_stopped_and_tells_how_far_it_is(tmp_path: Path) -> None:
    told: list[float] = []
    (tmp_path / "a.json").write_text(json.dumps([shapes.CHATGPT] * 3))
    read.read([tmp_path / "a.json", tmp_path / "a.json"], told.append)
    assert told == sorted(told)
    assert told[-1] <= 1

    def stop(_fraction: float) -> None:
        raise StoppedError

    with pytest.raises(StoppedError):
        read.read([tmp_path / "a.json"], stop)


class StoppedError(Exception):
    pass


@pytest.mark.parametrize("text", ["[" + "{}," * 50_000 + "{}]", "[" + "[]," * 50_000 + "[]]"])
def test_a_list_of_something_else_is_given_up_early(tmp_path: Path, text: str) -> None:
    told: list[float] = []
    (tmp_path / "a.json").write_text(text)
    findings = read.read([tmp_path / "a.json"], told.append)
    assert reason_of(findings).startswith("No chats found")
    assert told[-1] < 0.5


@pytest.mark.parametrize("inside", ['"' + "x" * 500_000 + '"', "1," * 250_000 + "1", "[]," * 150_000 + "1"])
def test_whatever_is_in_it_reading_tells_how_far_it_is(tmp_path: Path, inside: str) -> None:
    told: list[float] = []
    (tmp_path / "a.json").write_text(f'{{"conv": {{"id": "x"}}, "messages": [{inside}]}}')
    read.read([tmp_path / "a.json"], told.append)
    assert max(after - before for before, after in pairwise([0.0, *told])) < 0.15


def test_a_large_chat_can_be_stopped_while_it_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(conversation(*(message(n, n - 1) for n in range(1, 30_000))))
    num_told = [0]

    def stop_in_the_chat(fraction: float) -> None:
        num_told[0] += fraction == 1.0
        if num_told[0] == 10:
            raise StoppedError

    with pytest.raises(StoppedError):
        read.read([tmp_path / "a.json"], stop_in_the_chat)


def test_a_large_chat_is_read_as_a_small_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = json.dumps([shapes.CHATGPT, shapes.LLAMA_UI, shapes.LM_STUDIO])
    small = findings_of(tmp_path, text)
    monkeypatch.setattr(entries, "MAX_BRACKETS_AT_ONCE", 0)
    assert findings_of(tmp_path, text).chats == small.chats
    assert "not valid JSON" in reason_of(findings_of(tmp_path, '{"conv": {}, "messages": [1 2]}'))
    deep = "[" * 98 + "]" * 98
    assert "no messages" in reason_of(findings_of(tmp_path, f'{{"conv": {{"id": {deep}}}, "messages": []}}'))


def test_a_chat_of_millions_of_values_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entries, "MAX_VALUES", 50_000)
    monkeypatch.setattr(entries, "MAX_BYTES_AT_ONCE", 0)
    for inside in ("1," * 60_000 + "1", "{}," * 60_000 + "{}"):
        findings = findings_of(tmp_path, f'{{"conv": {{"id": "x"}}, "messages": [{inside}]}}')
        assert reason_of(findings) == "It has more than 50,000 values, so it is not a chat export."


def session(*lines: object) -> str:
    return "\n".join(map(json.dumps, [{"type": "session", "id": "x"}, *lines]))


def test_a_session_may_have_no_more_than_one_chat_may(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [{"type": "message", "message": message(n, n - 1)} for n in range(1, 100)]
    assert len(findings_of(tmp_path, session(*lines)).chats[0].chat.turns) == 99
    monkeypatch.setattr(entries, "MAX_VALUES", 300)
    assert "more than 300 values" in reason_of(findings_of(tmp_path, session(*lines)))
    monkeypatch.setattr(entries, "MAX_ENTRY_BYTES", 3000)
    assert "larger than" in reason_of(findings_of(tmp_path, session(*lines)))


def test_lines_of_the_wrong_kind_are_no_crash(tmp_path: Path) -> None:
    said = {"type": "message", "message": message(1)}
    stray = [{"type": "message", "message": [1]}, {"type": "message"}, {"type": "conv"}, {"type": []}, []]
    (found,) = findings_of(tmp_path, session(*stray, said)).chats
    assert [turn.text for turn in found.chat.turns] == ["text 1"]
    assert reason_of(findings_of(tmp_path, json.dumps(said))).startswith("No chats found")
    assert reason_of(findings_of(tmp_path, session())) == "It contains no messages."


@pytest.mark.parametrize("window", [1, 2, 3, 7])
def test_brackets_are_found_wherever_a_window_ends(window: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entries, "WINDOW_BYTES", window)
    text = rb' [ {"a": "]}\\\"{["}, 3, [{"b": 1}], {"c\\\\": {"d": []}}, {"\\\\\"": "{"} ] '
    found = [text[entry.start : entry.end] for entry in entries.entries(text)]
    assert found == [rb'{"a": "]}\\\"{["}', rb'{"c\\\\": {"d": []}}', rb'{"\\\\\"": "{"}']


def test_entries_are_found_whatever_stands_in_strings() -> None:
    text = b'\xef\xbb\xbf [ {"a": "]}\\"{["}, 3, [{"b": 1}], {"c": {"d": []}} ]'
    found = [text[entry.start : entry.end] for entry in entries.entries(text)]
    assert found == [b'{"a": "]}\\"{["}', b'{"c": {"d": []}}']
    with pytest.raises(BadChatError):
        list(entries.entries(b"[]]"))


def test_an_archive_of_very_many_members_is_refused_before_they_are_listed(tmp_path, monkeypatch):
    monkeypatch.setattr(read, "MAX_MEMBERS", 50)
    path = tmp_path / "many.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for number in range(51):
            archive.writestr(f"{number}.png", b"")
    monkeypatch.setattr(zipfile, "ZipFile", None)
    assert "more than" in reason_of(read.read([path]))


def test_an_archive_that_says_it_has_few_members_is_not_believed(tmp_path, monkeypatch):
    monkeypatch.setattr(read, "MAX_MEMBERS", 50)
    path = tmp_path / "liar.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for number in range(100):
            archive.writestr(f"{number}" * 30, b"")
    content = bytearray(path.read_bytes())
    end = content.rfind(b"PK\x05\x06")
    content[end + 8 : end + 12] = b"\x01\x00\x01\x00"
    path.write_bytes(content)
    assert "more than" in reason_of(read.read([path]))


def test_messages_are_counted_where_a_file_is_read_and_not_when_they_are_shown(tmp_path, monkeypatch):
    findings = findings_of(tmp_path, conversation(message(1), message(2, 1)))
    (found,) = findings.chats
    assert found.num_messages == 2
    monkeypatch.setattr(type(found.chat), "all_turns", None)
    assert found.num_messages == 2
