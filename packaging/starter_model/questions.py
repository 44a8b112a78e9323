"""The questions about Skein and language models: their wordings, and how training varies them.

Wordings and answers stand in questions.toml. A held-out wording never occurs in training: whatever
variation comes out equal to one, but for case and punctuation, is thrown away and drawn again.
"""

import random
import re
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from starter_model import variation

_FACTS_FILE = Path(__file__).with_name("questions.toml")

# {t} is the term with its article, {b} the bare term.
TERM_WORDINGS = (
    "What is {t}?",
    "What is {t}?",
    "What's {t}?",
    "what is {b}",
    "what exactly is {t}",
    "Explain {t}",
    "Explain {t} to me.",
    "Can you explain {t}?",
    "Explain {b} in simple words",
    "Define {b}",
    "Definition of {b}",
    "{b}",
    "{b}?",
    "What does {b} mean?",
    "What does the word {b} mean?",
    "meaning of {b}",
    "What is the meaning of {b}?",
    "Tell me about {t}",
    "Tell me something about {b}",
    "Tell me what {t} is.",
    "What do you know about {b}?",
    "What can you say about {b}?",
    "Describe {t}",
    "I don't understand {b}",
    "I do not know what {t} is.",
    "I want to know what {t} is",
    "I keep reading about {b}, what is it?",
    "Someone mentioned {b}. What did they mean?",
    "What is {b} in Skein?",
    "What is {b} in llama.cpp?",
    "What is {b} in machine learning?",
    "What do people mean when they say {b}?",
    "The term {b}, please",
    "Give me a short explanation of {b}",
    "How would you explain {b}?",
    "Could you define {t}?",
    "What is that: {b}?",
    "What is {t} good for?",
    "What is {t} for?",
    "What is the purpose of {b}?",
    "Why does one need {b}?",
    "What has {b} to do with language models?",
    "Where do I meet {b}?",
    "Teach me about {b}",
    "Is there a simple explanation of {b}?",
    "What does {b} do?",
    "How does {b} work?",
    "Why {b}?",
    "When does one say {b}?",
    "When do people speak of {b}?",
    "Which thing is called {b}?",
    "What is called {b}?",
    "What sort of thing is {t}?",
    "What kind of thing is {b}?",
    "What role does {b} play?",
    "What effect does {b} have?",
    "How is {b} used?",
    "Who uses {b}?",
    "What is the idea of {b}?",
    "What is special about {b}?",
    "What makes {b} useful?",
    "What happens in {b}?",
    "By what does one know {b}?",
    "In which way does {b} matter?",
    "For whom is {b} useful?",
    "{b}: what is it?",
    "{b} - what does that mean?",
    "I read {b} somewhere",
    "I have never heard of {b}",
)


# {s} is some words in a row of the answer: people ask for a thing by what it does, too.
_BY_DESCRIPTION = (
    "What is it: {s}?",
    "What do you call {s}?",
    "What is called {s}?",
    "Which is it: {s}?",
    "What about {s}?",
    "Which one means {s}?",
    "What has to do with {s}?",
    "Tell me about {s}",
    "How about {s}",
    "{s}?",
    "{s}",
)


@dataclass(frozen=True, slots=True)
class Question:
    answer: str
    asked: tuple[str, ...]
    held_out: tuple[str, ...]
    final: str
    term: str | None = None


@cache
def questions() -> tuple[Question, ...]:
    facts = tomllib.loads(_FACTS_FILE.read_text(encoding="utf-8"))
    return tuple(
        Question(f["answer"], tuple(f["asked"]), tuple(f["held_out"]), f["final"], f.get("term"))
        for f in facts["question"] + facts["term"]
    )


def held_out_questions() -> list[tuple[str, str]]:
    return [(wording, q.answer) for q in questions() for wording in q.held_out]


def final_questions() -> list[tuple[str, str]]:
    """Wordings written after all others; MODEL_CARD.md says how far they guided the last changes."""
    return [(q.final, q.answer) for q in questions()]


def question_turn(rng: random.Random) -> tuple[str, str]:
    question = rng.choice(questions())
    while True:
        asked = variation.vary(rng, _draw_wording(rng, question))
        if not is_held_out(asked):
            return asked, question.answer


def term_names() -> list[str]:
    return [_bare(q.term) for q in questions() if q.term]


def is_held_out(text: str) -> bool:
    """Whether the text is a held-out wording, or only adds a few words around one."""
    folded = fold(text)
    return any(wording in folded for wording in _folded_held_out())


@cache
def _folded_held_out() -> tuple[str, ...]:
    return tuple(fold(wording) for wording, _ in held_out_questions() + final_questions())


def fold(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", " ", text.lower()).strip()


def _draw_wording(rng: random.Random, question: Question) -> str:
    if rng.random() < 0.08:
        return rng.choice(_BY_DESCRIPTION).format(s=_some_words(rng, question.answer))
    if question.term and rng.random() < 0.5:
        template = rng.choice(TERM_WORDINGS)
        return template.format(t=question.term, b=_bare(question.term))
    return expand(rng, rng.choice(question.asked))


def _some_words(rng: random.Random, answer: str) -> str:
    words = re.split(r"[ ,;:.]+", answer.rstrip("."))
    length = min(len(words), rng.randint(4, 8))
    first = rng.randint(0, len(words) - length)
    return " ".join(words[first : first + length])


def _bare(term: str) -> str:
    return re.sub(r"^(a|an|the) ", "", term)


def expand(rng: random.Random, pattern: str) -> str:
    """Draws one wording: (a|b) is a choice, [a] or [a|b] may be left out."""
    while found := re.search(r"\[([^][()]*)\]|\(([^][()]*)\)", pattern):
        optional, choices = found.groups()
        if choices is None:
            drawn = rng.choice(optional.split("|")) if rng.random() < 0.5 else ""
        else:
            drawn = rng.choice(choices.split("|"))
        pattern = pattern[: found.start()] + drawn + pattern[found.end() :]
    return re.sub(r" +([?.!,]|$)", r"\1", re.sub(r" {2,}", " ", pattern)).strip()
