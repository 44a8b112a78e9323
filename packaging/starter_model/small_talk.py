"""Greetings and thanks, and an honest answer to all that a starter model cannot know."""

import random
import tomllib
from collections.abc import Callable
from functools import cache
from pathlib import Path

from starter_model import questions, variation
from starter_model.arithmetic import MORE

_MATERIAL_FILE = Path(__file__).with_name("off_topic.toml")

OFF_TOPIC = f"I am only a starter model. {MORE}"

_POLITE: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        "Hello! Ask me a sum, or a question about Skein.",
        (
            "hi", "hello", "hey", "Hi!", "Hello!", "Hey!", "Hello there", "hi there", "Good morning",
            "Good evening", "Good afternoon", "Hey there!", "greetings", "Hello, model", "Hi Skein",
            "yo", "hallo", "Hello, nice to meet you", "hiya", "howdy", "Good day",
        ),
    ),
    (
        "You are welcome!",
        (
            "thanks", "thank you", "Thanks!", "Thank you!", "Thank you very much", "thx", "many thanks",
            "Thanks a lot", "Thanks for your help", "ty", "Thank you, that helped", "great, thanks",
            "ok thanks", "cheers", "Perfect, thank you",
        ),
    ),
    (
        "Goodbye!",
        (
            "bye", "goodbye", "Bye!", "Goodbye!", "See you", "see you later", "Good night", "bye bye",
            "ciao", "I have to go", "That was all, bye", "until tomorrow", "farewell",
        ),
    ),
    (
        "I am well, thank you. What would you like to know?",
        (
            "How are you?", "how are you doing", "How do you do?", "Hi, how are you?", "how is it going",
            "What's up?", "Are you well?", "How are you today?", "Hello, how are you?", "you ok?",
        ),
    ),
    (
        "Yes, I am here.",
        (
            "Are you there?", "are you there", "hello?", "Anybody there?", "Do you hear me?",
            "are you awake", "Are you listening?", "Can you read this?", "Is this thing on?",
        ),
    ),
    (
        "The test worked.",
        ("test", "Test", "testing", "this is a test", "Test 123", "just testing", "test test"),
    ),
    (
        "All right.",
        (
            "ok", "okay", "OK", "yes", "no", "Yes.", "No.", "I see", "fine", "sure", "got it",
            "alright", "understood", "good", "well", "aha", "interesting",
        ),
    ),
    (
        "Thank you!",
        (
            "You are great", "good job", "Well done!", "nice", "That is right", "You are smart",
            "correct", "Great answer", "I like you", "awesome", "very good", "cool", "wow",
        ),
    ),
    (
        "I am sorry; I am only a small model.",
        (
            "That is wrong", "wrong", "No, that's not right", "You are wrong", "bad answer",
            "That is not correct", "You made a mistake", "nonsense", "this is useless", "incorrect",
        ),
    ),
)  # fmt: skip


def polite_turn(rng: random.Random) -> tuple[str, str]:
    answer, wordings = rng.choice(_POLITE)
    asked = rng.choice(wordings)
    kind = rng.random()
    if kind < 0.3:
        asked = asked.lower()
    elif kind < 0.5:
        asked = asked.rstrip("?.!") + rng.choice(("", "!", ".", "!!"))
    return asked, answer


def off_topic_turn(rng: random.Random) -> tuple[str, str]:
    while True:
        asked = rng.choice(_OFF_TOPIC_KINDS)(rng)
        if rng.random() < 0.5 and len(asked) < 120:
            asked = variation.vary(rng, asked)
        if not questions.is_held_out(asked):
            return asked, OFF_TOPIC


@cache
def material(name: str) -> tuple[str, ...]:
    return tuple(tomllib.loads(_MATERIAL_FILE.read_text(encoding="utf-8"))[name])


def held_out_off_topic() -> list[tuple[str, str]]:
    return [(asked, OFF_TOPIC) for asked in material("held_out")]


def typed(rng: random.Random, asked: str) -> str:
    """As it might be typed: without its mark, in small letters, with a word before it."""
    kind = rng.random()
    if kind < 0.25:
        asked = asked.rstrip("?.!")
    elif kind < 0.4:
        asked = asked[:1].lower() + asked[1:]
    elif kind < 0.5:
        asked = rng.choice(variation.BEFORE) + asked[:1].lower() + asked[1:]
    return asked


def _about_topic(rng: random.Random) -> str:
    return rng.choice(material("tasks")).format(
        x=_topic(rng), y=_topic(rng), name=rng.choice(material("names"))
    )


def _unknown_term(rng: random.Random) -> str:
    """The sentences that ask for a known term, asked for an unknown one."""
    topic = _topic(rng)
    return rng.choice(questions.TERM_WORDINGS).format(t=topic, b=topic)


def _topic(rng: random.Random) -> str:
    """A real topic, a plain word, or a made-up word: the tail of what people ask has no end."""
    kind = rng.random()
    if kind < 0.55:
        return rng.choice(material("topics"))
    if kind < 0.75:
        return " ".join(rng.sample(material("plain_words"), rng.randint(1, 3)))
    return made_up_word(rng)


def made_up_word(rng: random.Random) -> str:
    syllables = rng.randint(2, 4)
    word = "".join(
        rng.choice("bcdfghjklmnprstvwz") + rng.choice("aeiou") + rng.choice(("", "", "n", "r", "s", "l"))
        for _ in range(syllables)
    )
    return word.capitalize() if rng.random() < 0.3 else word


def _term_task(rng: random.Random) -> str:
    """A known word in a task that is none of the known questions."""
    term = rng.choice(questions.term_names())
    return rng.choice(
        (
            "Write a poem about {t}",
            "Write a story about {t}",
            "Write Python code for {t}",
            "Tell me a joke about {t}",
            "Translate {t} into French",
            "Write an essay about {t}",
            "Draw a picture of {t}",
            "Who invented {t}?",
        )
    ).format(t=term)


def _random_words(rng: random.Random) -> str:
    count = rng.randint(1, 12)
    words = [
        rng.choice(material("plain_words")) if rng.random() < 0.75 else made_up_word(rng)
        for _ in range(count)
    ]
    return " ".join(words) + rng.choice(("", "", ".", "?"))


def _pasted_paragraph(rng: random.Random) -> str:
    text = " ".join(sentence(rng) for _ in range(rng.randint(2, 9)))
    task = rng.choice(
        (
            "Summarise this text: ",
            "Summarize: ",
            "Translate this into German: ",
            "What is this text about? ",
            "Correct the mistakes: ",
            "Rewrite this more politely: ",
            "",
            "",
        )
    )
    return f"{text}\n{task.strip()}" if rng.random() < 0.3 else task + text


def sentence(rng: random.Random) -> str:
    words = [rng.choice(material("plain_words")) for _ in range(rng.randint(4, 14))]
    if rng.random() < 0.4:
        words.insert(rng.randrange(len(words)), rng.choice(material("topics")))
    if rng.random() < 0.15:
        words.append(str(rng.randrange(2000)))
    if rng.random() < 0.15:
        words.insert(1, rng.choice(questions.term_names()))
    text = " ".join(words)
    return text[:1].upper() + text[1:] + rng.choice((".", ".", ".", "!", "?"))


def _pasted_code(rng: random.Random) -> str:
    code = rng.choice(material("pasted_code")).format(
        x=rng.choice(material("plain_words")), n=rng.randrange(100)
    )
    return rng.choice(("", "What is wrong here?\n", "Explain this code:\n", "Fix this: ")) + code


_OFF_TOPIC_KINDS: tuple[Callable[[random.Random], str], ...] = (
    _about_topic,
    _about_topic,
    _about_topic,
    _unknown_term,
    _unknown_term,
    _term_task,
    _random_words,
    _random_words,
    _pasted_paragraph,
    _pasted_code,
)
