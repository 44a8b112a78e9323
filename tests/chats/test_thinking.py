import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.chats.thinking import Split, split_thinking

MARKED = (
    "<think>\nLet me see.\n</think>\n\nIt is 4.",
    "<thinking>Let me see.</thinking>It is 4.",
    "<reasoning>Let me see.</reasoning>\n<answer>It is 4.</answer>",
    "<thought>\nLet me see.</thought> It is 4.",
    "<seed:think>Let me see.</seed:think>It is 4.",
    "[THINK]Let me see.[/THINK]It is 4.",
    "◁think▷Let me see.◁/think▷It is 4.",
    "<|START_THINKING|>Let me see.<|END_THINKING|><|START_RESPONSE|>It is 4.<|END_RESPONSE|>",
    (
        "<|begin_of_thought|>\n\nLet me see.\n\n<|end_of_thought|>\n\n"
        "<|begin_of_solution|>\n\nIt is 4.<|end_of_solution|>"
    ),
    (
        "<|channel|>analysis<|message|>Let me see.<|end|>"
        "<|start|>assistant<|channel|>final<|message|>It is 4.<|return|>"
    ),
    "<|channel>thought\nLet me see.<channel|>It is 4.",
    "Let me see.\n</think>\n\nIt is 4.",
)
PLAIN = (
    "",
    "It is 4.",
    "Use the <think> tag, and close it with `</think>`.",
    "In a template write `<think>` and\n```\n</think>\n```\nthen go on.",
    "< and <b> and <thin ice>",
    "[THINKING] is not a mark",
)


@pytest.mark.parametrize("text", MARKED)
def test_each_family_of_models_has_its_marks(text: str) -> None:
    assert split_thinking(text) == Split("Let me see.", "It is 4.")


@pytest.mark.parametrize("text", PLAIN)
def test_a_text_without_thinking_is_all_answer(text: str) -> None:
    assert split_thinking(text) == Split("", text)


def test_thinking_that_has_not_ended_is_no_answer_yet() -> None:
    assert split_thinking("<think>\nLet me") == Split("Let me", "", is_thinking=True)


def test_an_answer_may_speak_of_thinking_after_it_thought() -> None:
    text = "<think>a</think>Write <think>b</think> around it."
    assert split_thinking(text) == Split("a", "Write <think>b</think> around it.")


def test_pieces_of_thinking_that_follow_each_other_are_one() -> None:
    assert split_thinking("<think>a</think>\n<think>b</think>\n\nc") == Split("a\n\nb", "c")
    piece = "<|channel|>analysis<|message|>{}<|end|>"
    harmony = piece.format("a") + "<|start|>assistant" + piece.format("b")
    assert split_thinking(harmony + "<|channel|>final<|message|>c") == Split("a\n\nb", "c")


def test_empty_thinking_leaves_nothing_behind() -> None:
    assert split_thinking("<think>\n\n</think>\n\nHello") == Split("", "Hello")


def test_without_an_end_the_text_that_is_left_belongs_to_somebody() -> None:
    assert split_thinking("<thin") == Split("", "<thin")
    assert split_thinking("<think>a</th") == Split("a</th", "", is_thinking=True)


@pytest.mark.parametrize("text", MARKED)
def test_no_half_of_a_mark_is_ever_seen_while_it_grows(text: str) -> None:
    whole = split_thinking(text)
    for end in range(len(text)):
        part = split_thinking(text[:end], is_growing=True)
        is_opened_by_prompt = text.startswith("Let") and not part.thinking
        assert whole.thinking.startswith(part.thinking)
        assert is_opened_by_prompt or whole.answer.startswith(part.answer.rstrip())


@given(
    st.lists(st.sampled_from(["<think>", "</think>", "[THINK]", "a", "`", "\n", " ", "<", "/"]), max_size=12)
)
def test_every_word_is_in_one_of_the_two(pieces: list[str]) -> None:
    text = "".join(pieces)
    split = split_thinking(text)
    assert (split.thinking + split.answer).count("a") == text.count("a")
