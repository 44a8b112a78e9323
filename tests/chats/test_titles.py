import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.chats.titles import MAX_TITLE_CHARS, title_from, title_of_copy, without_markup


@pytest.mark.parametrize(
    ("message", "title"),
    [
        ("What is 34 + 21?", "What is 34 + 21?"),
        ("What is a KV cache? And why is it called so?", "What is a KV cache?"),
        ("Explain the batcher. Then the slots.", "Explain the batcher"),
        ("Use e.g. version 3.5 of it, please", "Use e.g. version 3.5 of it, please"),
        ("Hello there! can you sort this list?", "Can you sort this list?"),
        ("Good morning,\n\nwrite me a poem", "write me a poem"),
        ("hi", "hi"),
        ("Highlight the code", "Highlight the code"),
        ("# **Release notes** for `1.2`\n\ntext", "Release notes for 1.2"),
        ("> - [ ] buy ~~milk~~ *oats*", "buy milk oats"),
        ("1. See [the manual](https://example.org/x) ![logo](a.png)", "See the manual logo"),
        ("Call my_long_name_here now", "Call my_long_name_here now"),
        ("2 * 3 * 4 = ?", "2 * 3 * 4 = ?"),
        ("```python\nimport os\n```\nWhy does this fail?", "Why does this fail?"),
        ("```python\nimport os\nprint(os)\n```", "import os"),
        ("~~~\nsome code that never ends\n", "some code that never ends"),
        ("---\n\nAfter a rule", "After a rule"),
        ("你好，请解释一下键值缓存。谢谢！", "请解释一下键值缓存"),
        ("KVキャッシュとは何ですか？教えて", "KVキャッシュとは何ですか？"),
        ("  spaces \t and\ttabs  ", "spaces and tabs"),
        ("", ""),
        ("\n \n", ""),
    ],
)
def test_a_title_is_the_first_sentence_of_what_is_meant(message: str, title: str) -> None:
    assert title_from(message) == title


def test_a_long_sentence_ends_at_a_word() -> None:
    title = title_from(
        "Compare the ways in which programs of this kind keep their caches between two answers"
    )
    assert title == "Compare the ways in which programs of this kind…"
    assert len(title) <= MAX_TITLE_CHARS


def test_a_script_without_spaces_ends_at_a_character() -> None:
    assert title_from("键" * 100) == "键" * (MAX_TITLE_CHARS - 1) + "…"


@given(st.text())
def test_no_message_makes_a_title_that_is_too_long_or_has_lines(message: str) -> None:
    title = title_from(message)
    assert len(title) <= MAX_TITLE_CHARS
    assert len(title.splitlines()) <= 1
    assert bool(title) == bool(message.strip())


@given(st.text(alphabet="`~*_ \n#>[]()-<a.", max_size=5000))
def test_marks_and_nothing_else_cost_no_time(message: str) -> None:
    assert len(title_from(message)) <= MAX_TITLE_CHARS


def test_copies_are_numbered() -> None:
    titles = ["Sums"]
    for _ in range(3):
        titles.append(title_of_copy(titles[-1]))
    assert titles == ["Sums", "Sums (2)", "Sums (3)", "Sums (4)"]


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("plain, 2 * 3 * 4 and snake_case and __init__", "plain, 2 * 3 * 4 and snake_case and __init__"),
        ("## A **bold** and *slanted* `word`", "A bold and slanted word"),
        ("***both*** ~~gone~~ [text](https://a.b) ![picture](p.png)", "both gone text picture"),
        ("> quoted\n- one\n- [x] two\n1. three", "quoted\n• one\n• two\n1. three"),
        ("```python\nprint(1)\n```\n\n---\nafter", "print(1)\nafter"),
        ("| a | b |\n|---|:-:|\n| 1 | **2** |", "a · b\n1 · 2"),
        ("an end** and **a beginning", "an end and a beginning"),
        ("<think>\nhm\n</think>\n\n**55**", "hm\n55"),
        ("cut off in thinking</think> Done.", "cut off in thinking  Done."),
        ("<|channel|>analysis<|message|>hm<|end|>", " hm "),
        ("if a < b and c > d", "if a < b and c > d"),
        ("", ""),
    ],
)
def test_marks_go_and_words_stay(written: str, shown: str) -> None:
    assert without_markup(written) == shown


def test_many_marks_take_no_time() -> None:
    """A pattern with choices inside choices would take years."""
    without_markup("-" * 5_000 + "x\n" + "|" * 5_000 + "x")
