"""How often each of several short answers was given. Pure functions."""

from collections import Counter
from collections.abc import Iterable

from app.chats.chat import Turn, TurnState
from app.chats.thinking import split_thinking

MAX_CHARS = 80  # of a short answer: longer ones are rarely equal
_EDGES = " \t\n.,;:!\"'`*“”‘’。！"


def votes(answers: Iterable[Turn]) -> list[tuple[str, int]]:
    """Each answer as it was first given, and how many gave it, the most frequent first.

    Case, and signs around it, do not count. Nothing unless several have ended and all of them are short.
    """
    ended = [turn for turn in answers if turn.state is TurnState.DONE]
    texts = [split_thinking(turn.text).answer.strip() for turn in ended]
    if len(texts) < 2 or not all(0 < len(text) <= MAX_CHARS for text in texts):
        return []
    counts = Counter(map(_core, texts))
    first = {_core(text): text for text in reversed(texts)}
    return [(first[core], number) for core, number in counts.most_common()]


def _core(text: str) -> str:
    return " ".join(text.casefold().split()).strip(_EDGES)
