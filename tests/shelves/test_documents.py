"""What models read of a shelf, and what they cite."""

import pytest

from app.chats.attachment import PASSAGE, Attachment, with_attachments
from app.protocol.request import Message, Role
from app.shelves.documents import (
    attached,
    documents_text,
    name_of,
    number_of,
    renumbered,
    sentence_before,
    with_text_before,
)
from app.shelves.passages import PASSAGE_CHARS, narrowed, passages
from app.shelves.shelf import Passage

FILES = [(1, "a.txt", "All about a."), (3, "deep/b.md", "```\nb\n```")]


def test_documents_stand_under_their_numbers_and_names():
    text = documents_text(FILES)
    assert "[1] a.txt\n```\nAll about a.\n```" in text
    assert "[3] deep/b.md\n````\n```\nb\n```\n````" in text
    assert text.startswith(documents_text(FILES[:1])), "what is added comes at the end"


def test_documents_come_before_a_system_prompt():
    question = Message(Role.USER, "Why?")
    assert with_text_before("docs", (question,)) == (Message(Role.SYSTEM, "docs"), question)
    first, _ = with_text_before("docs", (Message(Role.SYSTEM, "Be brief."), question))
    assert first.content == "docs\n\nBe brief."


def test_passages_go_with_a_message_in_the_order_of_the_files():
    found = [Passage(2, "b.md", 9, 12, 4, "two"), Passage(1, "a.txt", 0, 3, 1, "one")]
    first, second = attached(found, 7)
    assert (first.name, second.name) == ("[7] a.txt:1", "[8] b.md:4")
    assert (number_of(second), name_of(second)) == (8, "b.md")
    assert with_attachments("Why?", (first,)) == "[7] a.txt:1\n```\none\n```\n\nWhy?"
    assert [one.name for one in renumbered((first, Attachment("x.txt", "")), 3)] == ["[3] a.txt:1", "x.txt"]
    assert number_of(Attachment("[7] a.txt:1", "")) == 0, "a file of that name"
    assert number_of(Attachment("[7] a.txt:1", "", PASSAGE)) == 7


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("It is new. It is small [3].", "It is small"),
        ("First line\nIt is [1] small [3]", "It is  small"),
        ("它很新。它很小[3]。", "它很小"),
        ("Nothing is cited.", ""),
    ],
)
def test_the_sentence_before_a_number(text: str, sentence: str):
    assert sentence_before(text, 3) == sentence


@pytest.mark.parametrize("text", ["", "word", "word " * 1000, "x" * 5000, "line\n" * 700, "para\n\n" * 500])
def test_passages_have_no_gap_and_are_short(text: str):
    places = list(passages(text))
    assert "".join(text[start:end] for start, end in places) == text
    assert all(0 < end - start <= PASSAGE_CHARS + 2 for start, end in places)


def test_of_a_passage_the_paragraph_that_says_it_is_marked():
    text = "Before.\n\nAll about pears.\nThey are green.\n\nAll about apples.\n\nAfter."
    start, end = narrowed(text, 9, len(text), "About red apples")
    assert text[start:end] == "All about apples."
    start, end = narrowed(text, 9, len(text), "green pears")
    assert text[start:end] == "All about pears.\nThey are green."
    assert narrowed(text, 9, len(text), "Nothing") == (9, len(text))
    assert narrowed("", 0, 0, "Nothing") == (0, 0)
