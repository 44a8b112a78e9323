import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from app.inspector.lens_text import (
    MAX_PASSAGES,
    ReadText,
    heat_of,
    parts_of,
    passages_of,
    sentence_tokens,
    sentences_of,
)
from app.protocol.request import Message, Role


def cut(text: str, spans: list[tuple[int, int]]) -> list[str]:
    return [text[begin:end] for begin, end in spans]


def test_sentences_end_with_their_signs() -> None:
    text = "It is 3.5 km. Is it far? “No.” 很近。走吧！\n- one\n- two"
    assert cut(text, sentences_of(text)) == [
        "It is 3.5 km. ",
        "Is it far? ",
        "“No.” ",
        "很近。",
        "走吧！\n",
        "- one\n",
        "- two",
    ]
    assert sentences_of("") == []


@settings(max_examples=30)
@given(st.text())
def test_nothing_of_a_text_is_lost_between_its_sentences(text: str) -> None:
    assert "".join(cut(text, sentences_of(text))) == text


def test_passages_are_lines_or_the_sentences_of_a_single_one() -> None:
    assert cut("1. a\n\n2. b\n", passages_of("1. a\n\n2. b\n")) == ["1. a\n\n", "2. b\n"]
    assert cut("One. Two.", passages_of("One. Two.")) == ["One. ", "Two."]
    many = "x\n" * 1_000
    assert len(passages_of(many)) <= MAX_PASSAGES
    assert "".join(cut(many, passages_of(many))) == many


PIECES = [
    b"<s>",
    b"Fa",
    b"ct one\n",
    b"Fact",
    b" two\n",
    b"</s>",
    b"Wh",
    b"at\xe2\x82",
    b"\xac?",
    b"<a>",
    b"It ",
    b"is.",
]
MESSAGES = [Message(Role.SYSTEM, "Fact one\nFact two\n"), Message(Role.USER, "What€? ")]


def test_messages_and_their_passages_are_found_in_the_tokens() -> None:
    read = ReadText(PIECES)
    parts = parts_of(read, MESSAGES, 10)
    assert [(part.tokens, part.text, part.message) for part in parts] == [
        ((1, 5), "Fact one\nFact two\n", None),
        ((1, 3), "Fact one\n", 0),
        ((3, 5), "Fact two\n", 0),
        ((6, 9), "What€?", None),
    ]
    assert next(part.text for part in parts_of(read, [], 5)) == "<s>Fact one\nFact two\n"


def test_places_are_the_same_in_tokens_and_characters() -> None:
    read = ReadText(PIECES)
    assert read.text[slice(*read.chars_of((6, 9)))] == "What€?"
    assert read.token_at(read.text.index("€")) in (7, 8)
    assert read.token_at(len(read.text) - 1) == 11
    assert sentence_tokens(read, 10, "It is.", [(0, 6)]) == [(10, 12)]


def test_the_space_before_a_word_belongs_to_its_sentence() -> None:
    read = ReadText([b"<s>", b"Yes", b".", b" It", b" is."])
    sentences = sentences_of("Yes. It is.")
    assert sentence_tokens(read, 1, "Yes. It is.", sentences) == [(1, 3), (3, 5)]


def test_heat_is_of_what_stands_before_the_part_without_what_is_left_out() -> None:
    weights = np.array([[[0.6, 0.2, 0.1, 0.1]], [[0.2, 0.2, 0.4, 0.2]]], np.float32)
    assert np.allclose(heat_of(weights, None, None, (3, 4), ()), np.array([0.4, 0.2, 0.25, 0]) / 0.85)
    assert np.allclose(heat_of(weights, 1, 0, (3, 4), [0]), [0, 1 / 3, 2 / 3, 0])
    assert heat_of(weights, 0, None, (1, 4), [0]).sum() == 0
