"""Everything the starter model reads: chats made by chance from a seed, and what is held out.

Deterministic: the same random state gives the same chat. Imports nothing but the standard library.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass

from starter_model import arithmetic, small_talk
from starter_model.arithmetic import held_out_differences, held_out_sums
from starter_model.questions import final_questions, held_out_questions, question_turn

__all__ = [
    "Chat",
    "final_questions",
    "held_out_chats",
    "held_out_differences",
    "held_out_questions",
    "held_out_sets",
    "held_out_sums",
    "plain_text",
    "random_chat",
]

SYSTEM_PROMPTS = (
    "You are a helpful assistant.",
    "You are a helpful assistant",
    "Answer briefly.",
    "Answer in one sentence.",
    "You are a friendly and concise assistant.",
    "You are Skein's starter model.",
    "You are a careful assistant. Say so when you do not know.",
    "Be brief and correct.",
    "You help people use Skein.",
    "You are an expert. Think before you answer.",
    "Be polite.",
    "You are a helpful, respectful and honest assistant. Always answer as helpfully as possible.",
    "Reply in plain English.",
)


_NUM_HELD_OUT_CHATS = 60


@dataclass(frozen=True, slots=True)
class Chat:
    system: str | None
    turns: tuple[tuple[str, str], ...]

    def messages(self) -> Iterator[tuple[str, str]]:
        """Role and content in the order of the chat template."""
        if self.system is not None:
            yield "system", self.system
        for asked, answer in self.turns:
            yield "user", asked
            yield "assistant", answer


def plain_text(rng: random.Random, num_lines: int) -> str:
    """Dense arithmetic, one line after the other, as no chat has it."""
    between = "\n" if rng.random() < 0.8 else rng.choice(("; ", ", ", ". "))
    return between.join(arithmetic.plain_line(rng) for _ in range(num_lines))


def random_chat(rng: random.Random, longest: int) -> Chat:
    """A chat of one turn in a third of all cases, else of up to `longest` turns."""
    num_turns = 1 if rng.random() < 0.35 else rng.randint(1, max(1, longest))
    system = rng.choice(SYSTEM_PROMPTS) if rng.random() < 0.3 else None
    turns: list[tuple[str, str]] = []
    result: int | None = None
    for _ in range(num_turns):
        asked, answer, result = _next_turn(rng, result, is_first=not turns)
        turns.append((asked, answer))
    return Chat(system, tuple(turns))


def _next_turn(rng: random.Random, result: int | None, is_first: bool) -> tuple[str, str, int | None]:
    """A turn and the number that "that" would mean in the next one."""
    if result is not None and rng.random() < 0.45:
        follow_up = arithmetic.follow_up_turn(rng, result)
        if follow_up is not None:
            return follow_up
    kind = rng.random()
    if kind < 0.40:
        return *question_turn(rng), None
    if kind < 0.51:
        return arithmetic.sum_turn(rng)
    if kind < 0.57:
        return arithmetic.difference_turn(rng)
    if kind < 0.67:
        return *arithmetic.count_turn(rng), None
    if kind < 0.75:
        return *arithmetic.too_far_turn(rng), None
    if kind < 0.78:
        return *arithmetic.too_hard_turn(rng), None
    if kind < 0.83:
        return *small_talk.polite_turn(rng), None
    if kind < 0.835 and is_first:
        return *arithmetic.no_result_turn(rng), None
    return *small_talk.off_topic_turn(rng), None


def known_turn(rng: random.Random) -> tuple[str, str]:
    """One that has nothing to do with what else is in the chat, and is answered all the same."""
    kind = rng.random()
    if kind < 0.5:
        return question_turn(rng)
    if kind < 0.7:
        return arithmetic.sum_turn(rng)[:2]
    return small_talk.polite_turn(rng) if kind < 0.8 else arithmetic.count_turn(rng, longest=20)


def held_out_sets() -> dict[str, list[tuple[str, str]]]:
    return {
        "sums": held_out_sums(),
        "larger sums": arithmetic.held_out_larger_sums(),
        "differences": held_out_differences(),
        "counts": arithmetic.held_out_counts(),
        "too far": arithmetic.held_out_too_far(),
        "questions": held_out_questions(),
        "final questions": final_questions(),
        "off topic": small_talk.held_out_off_topic(),
    }


def held_out_chats() -> list[Chat]:
    """Short chats: a held-out sum, more on its result, a held-out question, another sum."""
    rng = random.Random("held-out chats")
    asked_questions = rng.sample(held_out_questions(), _NUM_HELD_OUT_CHATS)
    sums = rng.sample(arithmetic.held_out_sum_pairs(), _NUM_HELD_OUT_CHATS)
    return [_held_out_chat(rng, pair, question) for pair, question in zip(sums, asked_questions, strict=True)]


def _held_out_chat(rng: random.Random, pair: arithmetic.Pair, question: tuple[str, str]) -> Chat:
    first = (f"What is {pair[0]} + {pair[1]}?", arithmetic.sum_line(*pair))
    follow_up = None
    while follow_up is None:
        follow_up = arithmetic.follow_up_turn(rng, sum(pair))
    return Chat(None, (first, follow_up[:2], question, arithmetic.sum_turn(rng)[:2]))
