import html
import json
import os
from pathlib import Path

import pytest

from app.chats.attachment import Attachment
from app.chats.chat import Chat, Turn, TurnState
from app.chats.exports.files import ExportError, ExportForm, FileExport, FolderExport, file_name, free_name
from app.chats.exports.spoken import ExportWords, data_url, media_file_name
from app.chats.imports.read import read
from app.chats.summary import CUT_OFF, Summary
from app.chats.thinking import Split
from app.chats.tool_use import ToolRound, ToolState, ToolUse
from app.protocol.media import Media, MediaKind
from app.protocol.output import Usage
from app.protocol.request import Overflow, Role
from app.protocol.sampling import NEVER


def full_chat() -> Chat:
    """Something of everything a chat can have."""
    chat = Chat(
        title="Sums \N{GRINNING FACE}",
        auto_title="What is 34",
        system_prompt="Be short.\nAlways.",
        created_at=1700000000.25,
        overflow=Overflow.TRUNCATE_MIDDLE,
        max_context_tokens=2048,
        folder="Work",
        is_pinned=True,
        sampling={"temperature": 0.25, "seed": 7, "logit_bias": ((15043, NEVER), (5, 1.5)), "grammar": ""},
        max_tokens=99,
        tools=("skein/time", "files/*"),
    )
    question = Turn(Role.USER, "34 + 21?", created_at=1.0, attachments=(Attachment("a.txt", "34", "text"),))
    first = Turn(Role.ASSISTANT, "54", TurnState.FAILED, "Out of room.", "starter", created_at=2.0)
    first.summary = Summary("- 5", CUT_OFF)
    chat.add(question, first, Turn(Role.USER, "Sure?", created_at=3.0))
    chat.put_aside(1)
    usage = Usage(num_prompt_tokens=12, num_generated_tokens=3, decode_s=0.5, prefix_end="new text")
    chat.add(
        Turn(Role.ASSISTANT, "<think>\nhm\n</think>\n\n55", model="starter", usage=usage, created_at=4.0)
    )
    chat.turns[-1].thinking_s = 1.5
    chat.turns[-1].reading = Split("hm", "55")
    use = ToolUse("c1", "look", '{"city": "Krak\u00f3w"}', ToolState.DONE, "Rain.\n" * 9, 1.25, num_told=12)
    refused = ToolUse("c2", "look<b>", "{}", ToolState.REFUSED)
    called = ToolRound("Hm. «look»", "Let me *look*.", "Hm.", [use, refused], is_whole=True, usage=usage)
    chat.turns[-1].rounds = [called, ToolRound("cut «lo", "cut")]
    chat.turns[-1].summary = Summary("- *55*", "", False, "starter", 4.5, 20, 1_000)
    chat.put_aside(0)
    chat.add(Turn(Role.USER, "<script>alert(1)</script>", overflowed=True, created_at=5.0))
    chat.show_version(question)
    return chat


def write(path: Path, form: ExportForm, *chats: Chat) -> str:
    export = FileExport(path, form, ExportWords(), is_list=len(chats) != 1)
    for chat in chats:
        export.add(chat)
    export.finish()
    return path.read_text(encoding="utf-8")


def told(chat: Chat) -> object:
    """Everything but ids of turns, which an import makes anew; where they point, places in the file say."""
    exported = json.loads(json.dumps(as_object(chat)))
    places = {turn["id"]: index for index, turn in enumerate(exported["turns"])} | {"": -1}
    for turn in exported["turns"]:
        turn["id"], turn["parent_id"] = places[turn["id"]], places[turn.get("parent_id", "")]
    exported["shown"] = places[exported["shown"]]
    return exported


def as_object(chat: Chat) -> dict[str, object]:
    from app.chats.exports import skein

    return skein.as_object(chat)


def test_json_comes_back_as_it_was(tmp_path: Path) -> None:
    chat = full_chat()
    write(tmp_path / "chat.json", ExportForm.JSON, chat)
    findings = read([tmp_path / "chat.json"])
    assert findings.problems == []
    back = findings.chats[0].chat
    assert told(back) == told(chat)
    assert back.id == chat.id
    assert back.sampling == chat.sampling
    assert back.tools == chat.tools
    assert back.turns[1].rounds == chat.turns[1].rounds
    assert back.turns[1].summary == chat.turns[1].summary
    first, _shown = back.versions_of(back.turns[1])
    assert first.summary == Summary("- 5", CUT_OFF)
    assert [turn.text for turn in back.versions_of(back.turns[1])] == ["54", chat.turns[1].text]
    assert [turn.text for turn in back.turns] == [turn.text for turn in chat.turns]


def test_a_notebook_goes_out_as_its_text_and_comes_back_as_one(tmp_path: Path) -> None:
    notebook = Chat(
        title="Story",
        is_notebook=True,
        turns=[Turn(Role.USER, "Once <upon>"), Turn(Role.ASSISTANT, " a time"), Turn(Role.USER, " there")],
    )
    assert "Once <upon> a time there" in write(tmp_path / "a.md", ExportForm.MARKDOWN, notebook)
    assert "Once &lt;upon&gt; a time there" in write(tmp_path / "a.html", ExportForm.HTML, notebook)
    write(tmp_path / "a.json", ExportForm.JSON, notebook)
    again = read([tmp_path / "a.json"]).chats[0].chat
    assert again.is_notebook
    assert again.text == notebook.text


def test_all_chats_in_one_file_come_back(tmp_path: Path) -> None:
    chats = [full_chat(), Chat(turns=[Turn(Role.USER, "b")])]
    write(tmp_path / "all.json", ExportForm.JSON, *chats)
    assert [found.chat.id for found in read([tmp_path / "all.json"]).chats] == [chat.id for chat in chats]
    assert json.loads(write(tmp_path / "none.json", ExportForm.JSON)) == []


def test_a_summary_in_the_making_does_not_go_out_and_one_that_is_not_used_is_not_told(tmp_path: Path) -> None:
    turns = [Turn(Role.USER, "a"), Turn(Role.ASSISTANT, "b", summary=Summary("- ha", is_growing=True))]
    chat = Chat(turns=[*turns, Turn(Role.ASSISTANT, "c", summary=Summary("- half", CUT_OFF))])
    write(tmp_path / "chat.json", ExportForm.JSON, chat)
    assert [turn.summary for turn in read([tmp_path / "chat.json"]).chats[0].chat.turns] == [
        None,
        None,
        chat.turns[2].summary,
    ]
    for form in (ExportForm.MARKDOWN, ExportForm.HTML):
        assert "- ha" not in write(tmp_path / f"chat.{form}", form, chat)


def test_an_answer_that_is_being_written_is_a_stopped_one(tmp_path: Path) -> None:
    chat = Chat(turns=[Turn(Role.USER, "a"), Turn(Role.ASSISTANT, "b", TurnState.STREAMING)])
    write(tmp_path / "chat.json", ExportForm.JSON, chat)
    assert read([tmp_path / "chat.json"]).chats[0].chat.turns[1].state is TurnState.STOPPED


def test_markdown_reads_well_and_folds_what_was_thought(tmp_path: Path) -> None:
    text = write(tmp_path / "chat.md", ExportForm.MARKDOWN, full_chat())
    parts = text.split("\n\n")
    assert parts[0] == "# Sums \N{GRINNING FACE}"
    assert "> Be short.\n> Always." in parts
    assert "<details>\n<summary>Attached file: a.txt</summary>\n\n```\n34\n```\n\n</details>" in text
    assert "<details>\n<summary>Thinking</summary>\n\nhm\n\n</details>\n\n55\n" in text
    assert any(part.startswith("## Assistant · starter · 1970-01-01") for part in parts)
    assert "54" not in text, "only the shown version"
    called = text[text.index("Let me *look*.") : text.index("55")]
    assert '<summary>Tool: look (1.2 s)</summary>\n\n```\n{"city": "Kraków"}\n```' in called
    assert called.count("Rain.") == 9
    summed_up = "<details>\n<summary>Summary of the messages above</summary>\n\n- *55*\n\n</details>"
    assert text.index("\n\n55\n") < text.index(summed_up)
    assert "did not allow" in called[called.index("look\\<b\\>") :]


def test_a_page_needs_and_runs_nothing(tmp_path: Path) -> None:
    chat = full_chat()
    chat.title = "</title><script>alert(1)</script>"
    chat.add(
        Turn(
            Role.USER, "</pre><img src=x onerror=alert(1)> [a](javascript:alert(1)) ![p](https://x.org/a.png)"
        ),
        Turn(
            Role.ASSISTANT, "| a | b |\n|---|---|\n| 1 | <b>2</b> |\n\n```py\n<i>\n```\n[ok](https://x.org)"
        ),
    )
    page = write(tmp_path / "chat.html", ExportForm.HTML, chat)
    assert "<script" not in page
    assert "<img" not in page
    assert "<li><em>55</em></li>" in page
    assert 'href="javascript' not in page
    assert "default-src 'none'" in page
    assert '<a href="https://x.org/a.png">p</a>' in page
    assert "<td>&lt;b&gt;2&lt;/b&gt;</td>" in page
    assert '<code class="language-py">&lt;i&gt;\n</code>' in page
    assert "prefers-color-scheme: dark" in page


def test_a_page_has_all_cells_of_a_table_and_emphasis_beside_cjk_punctuation(tmp_path: Path) -> None:
    chat = Chat(title="x")
    chat.add(Turn(Role.ASSISTANT, "| a | b |\n|---|---|\n| `x|y` | 2 |\n| 3 | 4 | 5 |\n\n**注意：**这里"))
    page = write(tmp_path / "chat.html", ExportForm.HTML, chat)
    assert "<td><code>x|y</code></td>\n<td>2</td>" in page
    assert "<td>4 | 5</td>" in page
    assert "<strong>注意：</strong>这里" in page


def test_a_page_has_alerts_sections_and_what_stands_higher(tmp_path: Path) -> None:
    said = "> [!TIP]\n> Use it.\n\n<details>\n<summary>More</summary>\n\n10<sup>6</sup>\n\n</details>"
    page = write(tmp_path / "chat.html", ExportForm.HTML, Chat(turns=[Turn(Role.ASSISTANT, said)]))
    assert "<blockquote>\n<p><strong>Tip</strong></p>\n<p>Use it.</p>" in page
    assert "<p>More</p>" in page
    assert "10<sup>6</sup>" in page
    assert "details&gt;" not in page


def test_a_page_has_formulas_as_they_were_written(tmp_path: Path) -> None:
    formulas = [r"\(b_{j}*c*d\)", r"$x\_1 < y$", r"\[ \begin{pmatrix} a & b \\\\ c & d \end{pmatrix} \]"]
    chat = Chat(turns=[Turn(Role.USER, "?"), Turn(Role.ASSISTANT, "\n\n".join(formulas))])
    page = write(tmp_path / "chat.html", ExportForm.HTML, chat)
    for formula in formulas:
        assert html.escape(formula) in page


def test_a_page_of_a_huge_message_shows_it_as_it_was_written(tmp_path: Path) -> None:
    chat = Chat(turns=[Turn(Role.USER, "**" * 300_000)])
    assert "*" * 600_000 in write(tmp_path / "chat.html", ExportForm.HTML, chat)


def test_the_words_of_a_page_are_given(tmp_path: Path) -> None:
    export = FileExport(tmp_path / "a.md", ExportForm.MARKDOWN, ExportWords(user="Du", untitled="Neu"))
    export.add(Chat(turns=[Turn(Role.ASSISTANT, "")], system_prompt="x"))
    export.finish()
    assert (tmp_path / "a.md").read_text().startswith("# Neu")


def test_until_it_is_finished_the_former_file_stays(tmp_path: Path) -> None:
    path = tmp_path / "chat.json"
    path.write_text("former")
    export = FileExport(path, ExportForm.JSON, ExportWords())
    export.add(full_chat())
    assert path.read_text() == "former"
    export.discard()
    assert [each.name for each in tmp_path.iterdir()] == ["chat.json"]
    write(path, ExportForm.JSON, full_chat())
    assert path.stat().st_mode & 0o077 == 0
    assert [each.name for each in tmp_path.iterdir()] == ["chat.json"]


def test_a_folder_of_chats(tmp_path: Path) -> None:
    export = FolderExport(tmp_path / "chats", ExportForm.MARKDOWN, ExportWords())
    for title in ("Sums", "sums", "a/b: c?"):
        export.add(Chat(title=title, turns=[Turn(Role.USER, "x")]))
    assert not (tmp_path / "chats").exists()
    export.finish()
    assert sorted(each.name for each in (tmp_path / "chats").iterdir()) == [
        "Sums.md",
        "a b c.md",
        "sums (2).md",
    ]
    with pytest.raises(ExportError, match="already exists"):
        FolderExport(tmp_path / "chats", ExportForm.MARKDOWN, ExportWords())
    assert [each.name for each in tmp_path.iterdir()] == ["chats"]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="only Linux has a disk that is always full")  # noqa: PTH110
def test_a_full_disk_says_so_and_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    export = FileExport(tmp_path / "a.json", ExportForm.JSON, ExportWords())
    export._file.close()
    export._file = Path("/dev/full").open("w")  # noqa: SIM115
    export.add(full_chat())
    with pytest.raises(ExportError, match="could not be saved: No space left on device"):
        export.finish()
    export.discard()
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_not_there_says_so(tmp_path: Path) -> None:
    with pytest.raises(ExportError, match="No such file or directory"):
        FileExport(tmp_path / "none" / "a.json", ExportForm.JSON, ExportWords())


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Release notes", "Release notes.md"),
        ("../../etc/passwd", "etc passwd.md"),
        ("con", "chat con.md"),
        ("COM1.txt", "chat COM1.txt.md"),
        ("a\u202eb\x00c", "abc.md"),
        ("...", "chat.md"),
        ("日" * 100, "日" * 66 + ".md"),
    ],
)
def test_file_names_fit_every_disk(title: str, name: str) -> None:
    assert file_name(title, ExportForm.MARKDOWN) == name


def test_a_name_that_is_taken_gets_a_number() -> None:
    assert free_name("x" * 200, ExportForm.JSON, {"x" * 80 + ".json"}) == "x" * 72 + " (2).json"


def attached(name: str, kind: str) -> Attachment:
    return Attachment(name, "", kind, Media(MediaKind.PICTURE, "ab" * 32, b"file"))


@pytest.mark.parametrize(
    ("name", "kind", "expected"),
    [
        ("cat.png", "png", "cat.png"),
        ("Pasted picture", "png", "Pasted picture.png"),
        ("photo.JPEG", "jpeg", "photo.JPEG"),
        ("photo.png", "jpeg", "photo.jpg"),
        ("../../.ssh/key", "png", "key.png"),
        ("cat", "/../evil", "cat.bin"),
    ],
)
def test_a_file_is_called_as_it_was_with_the_ending_of_what_it_is(
    name: str, kind: str, expected: str
) -> None:
    assert media_file_name(attached(name, kind)) == expected


def test_a_type_that_nobody_knows_is_not_written_into_a_page() -> None:
    assert data_url(attached("cat", "png")) == "data:image/png;base64,ZmlsZQ=="
    assert data_url(attached("cat", '"><script>')).startswith("data:application/octet-stream;")
