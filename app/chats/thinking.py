"""Splits a text into thinking and answer by the marks that model families write around their thinking.

For texts whose reading by llama.cpp's chat layer is not known: imported ones, those written before it was
there, and those of templates that it cannot read. The whole text is stored and sent back to the model; the
split is for display. Pure functions, any thread.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Split:
    """`is_thinking`: the text ends inside the thinking. With nothing thought, `thinking` is empty."""

    thinking: str
    answer: str
    is_thinking: bool = False

    def says_the_same(self, other: "Split") -> bool:
        """But for white space."""
        mine, theirs = ((one.thinking.split(), one.answer.split()) for one in (self, other))
        return mine == theirs


@dataclass(frozen=True, slots=True)
class _Marks:
    """The marks that a model family writes around its thinking, and those it may write around its answer."""

    opens: str
    closes: str
    before_answer: tuple[str, ...] = ()
    after_answer: str = ""


_TAGS = ("think", "thinking", "reasoning", "thought", "seed:think")
_FAMILIES = (
    *(_Marks(f"<{tag}>", f"</{tag}>", ("<answer>",), "</answer>") for tag in _TAGS),
    _Marks("[THINK]", "[/THINK]"),
    _Marks("◁think▷", "◁/think▷"),
    _Marks("<|START_THINKING|>", "<|END_THINKING|>", ("<|START_RESPONSE|>",), "<|END_RESPONSE|>"),
    _Marks("<|begin_of_thought|>", "<|end_of_thought|>", ("<|begin_of_solution|>",), "<|end_of_solution|>"),
    _Marks(
        "<|channel|>analysis<|message|>",
        "<|end|>",
        ("<|start|>assistant<|channel|>final<|message|>", "<|channel|>final<|message|>"),
        "<|return|>",
    ),
    _Marks("<|channel>thought\n", "<channel|>"),
)
_OPENING_TURN = "<|start|>assistant"
# Where the prompt has opened the thinking only its end is marked. An answer may speak about that mark: the
# thinking is closed by one that ends its line.
_CLOSES_ALONE = ("</think>", "[/THINK]", "◁/think▷")
_CLOSED_ONLY = re.compile(r"(?<![`'\"])(?:</think>|\[/THINK\]|◁/think▷)(?=[ \t]*(?:\n|\Z))")
_ANY_MARK = re.compile(
    "|".join(
        re.escape(mark.strip())
        for mark in sorted(
            {
                mark
                for family in _FAMILIES
                for mark in (family.opens, family.closes, *family.before_answer, family.after_answer)
                if mark
            },
            key=len,
            reverse=True,
        )
    )
)
_CODE_BEFORE = re.compile(r"^ {0,3}(?:```|~~~)", re.MULTILINE)


def split_thinking(text: str, is_growing: bool = False) -> Split:
    """While `is_growing`, the half of a mark at the very end is shown in neither part."""
    start = _after_space(text, 0)
    family = next((family for family in _FAMILIES if text.startswith(family.opens, start)), None)
    if family is not None:
        return _split_marked(text, start, family, is_growing)
    if is_growing and _is_half_of_any(text[start:]):
        return Split("", "")
    closed = _CLOSED_ONLY.search(text) if any(mark in text for mark in _CLOSES_ALONE) else None
    if closed and not _has_open_fence(text[: closed.start()]):
        return Split(text[: closed.start()].strip(), _answer(text[closed.end() :], _FAMILIES[0], is_growing))
    return Split("", text)


def without_marks(text: str) -> str:
    """A piece of a text, wherever in its thinking or its answer it was cut out."""
    return _ANY_MARK.sub(" ", text)


def _split_marked(text: str, start: int, family: _Marks, is_growing: bool) -> Split:
    """Several pieces of thinking may follow each other before the answer begins."""
    thoughts: list[str] = []
    while text.startswith(family.opens, start):
        start += len(family.opens)
        end = text.find(family.closes, start)
        if end < 0:
            thoughts.append(_without_half(text[start:], (family.closes,), is_growing).strip())
            return Split(_joined(thoughts), "", is_thinking=True)
        thoughts.append(text[start:end].strip())
        after = end + len(family.closes)
        start = _after_opening_turn(text, _after_space(text, after), family)
    rest = text[start:]
    if is_growing and rest and any(mark.startswith(rest) for mark in (family.opens, *family.before_answer)):
        return Split(_joined(thoughts), "")
    return Split(_joined(thoughts), _answer(rest, family, is_growing))


def _after_opening_turn(text: str, start: int, family: _Marks) -> int:
    """Some models begin a new turn for each piece of thinking."""
    if text.startswith(_OPENING_TURN + family.opens, start):
        return start + len(_OPENING_TURN)
    return start


def _answer(text: str, family: _Marks, is_growing: bool) -> str:
    text = text.lstrip()
    for mark in family.before_answer:
        if text.startswith(mark):
            return _without_end(text.removeprefix(mark), family.after_answer, is_growing).lstrip()
    return text


def _without_end(text: str, mark: str, is_growing: bool) -> str:
    if text.rstrip().endswith(mark):
        return text.rstrip().removesuffix(mark)
    return _without_half(text, (mark,), is_growing)


def _without_half(text: str, marks: tuple[str, ...], is_growing: bool) -> str:
    """Holds back an end that may become one of `marks`."""
    if is_growing:
        for half in (half for mark in marks for half in _halves(mark)):
            if text.endswith(half):
                return text.removesuffix(half)
    return text


def _halves(mark: str) -> Iterator[str]:
    return (mark[:length] for length in range(len(mark) - 1, 0, -1))


def _is_half_of_any(text: str) -> bool:
    return bool(text) and any(family.opens.startswith(text) for family in _FAMILIES)


def _has_open_fence(text: str) -> bool:
    return len(_CODE_BEFORE.findall(text)) % 2 == 1


def _after_space(text: str, start: int) -> int:
    return len(text) - len(text[start:].lstrip()) if start < len(text) else start


def _joined(thoughts: list[str]) -> str:
    return "\n\n".join(thought for thought in thoughts if thought)
