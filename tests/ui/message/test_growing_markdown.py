import random
import re
from unittest.mock import patch

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from app.ui.message import growing_markdown, markdown
from app.ui.message.growing_markdown import WINDOW, GrowingMarkdown
from app.ui.message.markdown import CHUNK_CHARS, Block, BlockKind, parse_blocks
from tests.effort import EFFORT

PIECES = (
    "# Title\n",
    "Some **bold** words and `code`.\n",
    "and a second line\n",
    "\n",
    "- item\n",
    "  - nested\n",
    "- [x] done\n",
    "1. one\n\n2. two\n",
    "> quoted\n",
    "| a | b |\n|---|---|\n| 1 | 2 |\n",
    "| 3 | 4 |\n",
    "```py\nx = 1\n",
    "```\n",
    "    indented\n",
    "$$\nx^2\n$$\n",
    "\\[ y \\]\n",
    "word[^1] and $5\n",
    "[^1]: a note\n",
    "---\n",
    "===\n",
    "\t\n",
    "<b>\n",
    "<details>\n<summary>s</summary>\n",
    "</details>\n",
    "> [!TIP]\n",
    "**open\n",
)
LONG = {
    "code": "```python\n" + "x = compute(y) + 1  # comment\n" * 300 + "```\nafter\n",
    "table": "| a | b |\n|---|:-:|\n" + "| some words | more **bold** words |\n" * 250 + "\nafter\n",
    "list": "".join(f"{n}. item {n} with **bold** text and more words to fill it\n\n" for n in range(1, 120))
    + "end",
    "bullets": "- an item with some **words** in it and more\n" * 200 + "\nend",
    "paragraph": "Some **bold** words and `code` in a sentence that goes on. " * 200 + "\n\nnext",
    "notes": "One[^1] two[^b]\n\n" + "text\n\n" * 20 + "[^1]: late\n\nmore\n\n[^b]: later",
}


def whole(source: str) -> list[Block]:
    growing = GrowingMarkdown()
    growing.finish(source)
    return growing.blocks


@settings(max_examples=200 * EFFORT)
@given(
    pieces=st.lists(st.sampled_from(PIECES), max_size=16),
    cuts=st.lists(st.integers(0, 400), max_size=12),
    size=st.sampled_from([30, 80, CHUNK_CHARS]),
    window=st.sampled_from([100, 300, WINDOW]),
)
@example(["Some **bold** words and `code`.\n", "**open\n", "\n"], [], 30, 100)
def test_however_a_text_arrives_its_finished_blocks_are_those_of_one_reading(
    pieces: list[str], cuts: list[int], size: int, window: int
) -> None:
    source = "".join(pieces)
    growing = GrowingMarkdown()
    with (
        patch.multiple(markdown, CHUNK_CHARS=size, TABLE_CHUNK_CHARS=size),
        patch.multiple(growing_markdown, CHUNK_CHARS=size, WINDOW=window),
    ):
        for cut in sorted(cuts):
            growing.feed(source[:cut])
        growing.finish(source)
        assert growing.blocks == whole(source)
        growing.feed(source + "more\n\nwords")
        growing.finish(source + "more\n\nwords")
        assert growing.blocks == whole(source + "more\n\nwords")


@pytest.mark.parametrize("source", LONG.values(), ids=LONG)
def test_long_blocks_grow_in_pieces_and_come_to_the_same(source: str) -> None:
    growing = GrowingMarkdown()
    chosen = random.Random(1)
    end = 0
    while end < len(source):
        end = min(len(source), end + chosen.randint(1, 120))
        growing.feed(source[:end])
    growing.finish(source)
    assert growing.blocks == whole(source)


@pytest.mark.parametrize("source", [LONG["code"], LONG["table"], LONG["bullets"], LONG["paragraph"]])
def test_of_a_long_block_only_the_end_is_read_again(source: str, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []

    def counted(text: str, *arguments: object) -> object:
        read.append(len(text))
        return parse_blocks(text, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr("app.ui.message.growing_markdown.parse_blocks", counted)
    growing = GrowingMarkdown()
    for end in range(0, len(source), 50):
        growing.feed(source[:end])
    done = growing.blocks[: growing._num_done]
    growing.finish(source)
    assert growing._base > 0
    assert all(a is b for a, b in zip(done, growing.blocks, strict=False))
    assert max(read) <= WINDOW


def test_what_has_no_place_to_be_cut_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []

    def counted(text: str, *arguments: object) -> object:
        read.append(len(text))
        return parse_blocks(text, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr("app.ui.message.growing_markdown.parse_blocks", counted)
    source = "[^a" * 2_000
    GrowingMarkdown().finish(source)
    assert sum(read) == len(source)


def test_the_pieces_of_a_table_have_the_same_columns() -> None:
    blocks = parse_blocks(LONG["table"])
    tables = [block for block in blocks if block.kind is BlockKind.TABLE]
    assert len(tables) > 2
    assert len({block.widths for block in tables}) == 1
    assert [block.joins for block in tables] == [False] + [True] * (len(tables) - 1)
    assert "<thead>" in tables[0].html
    assert all("<thead>" not in block.html for block in tables[1:])


def test_half_a_mark_waits_for_its_other_half() -> None:
    growing = GrowingMarkdown()
    for source in ("Items:\n-", "Items:\n- ", "Items:\n--", "Items:\n``", "Items:\n1.", "Items:\n#"):
        growing.feed(source)
        (block,) = growing.blocks
        assert block.html == "<p>Items:</p>"
    growing.finish("Items:\n--")
    assert growing.blocks == parse_blocks("Items:\n--")


@pytest.mark.parametrize(
    "source",
    [
        "Some **bold words** here",
        "- an item with **bold `code`** and *leaning* words",
        "## A **bold** head",
        "| a | b |\n|---|---|\n| **one** | `two` |",
        "> quoted **words\n> over** lines",
        "**bold *and leaning* words**, ***both***",
        "<details>\n<summary>A *sum*</summary>\n\ninside\n",
        "> [!NOTE]\n> some **words**",
    ],
)
def test_no_mark_is_seen_while_its_words_are_written(source: str) -> None:
    growing = GrowingMarkdown()
    for end in range(1, len(source) + 1):
        growing.feed(source[:end])
        assert not re.search(r"[*`!]|&lt;", "".join(block.html for block in growing.blocks)), source[:end]
    assert growing.blocks == whole(source)


@pytest.mark.parametrize("source", ["2 * 3 = 6 and 2*3", "a \\** b", "`a ** b` x", "$a**b$ x", "f(**args"])
def test_stars_that_are_no_marks_stay(source: str) -> None:
    growing = GrowingMarkdown()
    growing.feed(source + " ")
    growing.finish(source)
    assert growing.blocks == whole(source)


def test_what_is_left_open_is_shown_as_written_in_the_end() -> None:
    growing = GrowingMarkdown()
    growing.feed("Some **bold")
    assert growing.blocks[0].html == "<p>Some <strong>bold</strong></p>"
    growing.finish("Some **bold")
    assert growing.blocks[0].html == "<p>Some **bold</p>"


def test_code_is_left_as_it_is_written() -> None:
    growing = GrowingMarkdown()
    growing.feed("```py\nx = f(**")
    assert growing.blocks[0].code == "x = f(**"


def test_the_head_of_a_table_waits_for_its_line() -> None:
    growing = GrowingMarkdown()
    for end in range(len("| a | b |\n|--")):
        growing.feed("| a | b |\n|--"[:end])
        assert growing.blocks == []
    growing.feed("| a | b |\n|---|---|\n| 1")
    assert growing.blocks[0].kind is BlockKind.TABLE


def test_a_text_that_is_not_a_continuation_is_read_anew() -> None:
    growing = GrowingMarkdown()
    growing.feed("one\n\ntwo")
    growing.feed("three")
    assert growing.blocks == parse_blocks("three")


@pytest.mark.parametrize(
    "source", [" " * 20_000 + "x y", "\n" * 3_000 + "a b", "字" * 20_000, "`" * 20_000 + "a"]
)
def test_what_has_no_place_to_be_cut_is_cut_all_the_same(source: str) -> None:
    blocks = whole(source)
    assert len(blocks) < 80
    read = "".join(block.html + block.code + block.info for block in blocks)
    assert all(read.count(char) >= source.count(char) for char in "xyab字")
