import pytest

from app.chats.titles import without_markup


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
