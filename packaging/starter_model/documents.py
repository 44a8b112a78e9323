"""Chats about a text that comes with them: a shelf, found passages, an attached file, or lines in the prompt.

The answer is the sentence of the text that tells what was asked, with the number of its document where there
is one. The layouts are those of app/shelves/documents.py and app/chats/attachment.py.
"""

import itertools
import random
from collections.abc import Callable
from dataclasses import dataclass

from starter_model import corpus, small_talk
from starter_model.corpus import Chat
from starter_model.questions import expand
from starter_model.tool_words import CITIES, EXTENSIONS, NOUNS, STEMS, ZONES

NUM_HELD_OUT = 100
NUM_HELD_OUT_FACTS = 20
# Never trained: what is asked of things and people in the held-out texts.
FINAL_ROLES = ("owner", "keeper", "founder", "director", "gardener", "neighbour")

DOCUMENTS = (
    "Here are documents, each with a number. Answer from them where you can, and name the number of what you "
    "used in square brackets, such as [1].\n"
)
PASSAGES = (
    "Passages from the user's files may come with a message, each with a number. Answer from them where you "
    "can, and name the number of what you used in square brackets, such as [1]."
)
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October")
_COLOURS = ("red", "blue", "green", "yellow", "white", "black", "brown", "grey", "orange", "purple")


@dataclass(frozen=True, slots=True)
class Frame:
    """A sentence about a subject {s} and an object {o}, and how people ask for it."""

    sentence: str
    subject: str
    object: str
    asked: tuple[str, ...]
    asked_by_object: tuple[str, ...] = ()


_ROLE = Frame(
    "The {r} of {s} is {o}",
    "any",
    "value",
    (
        "(What|Who|Which) is the {r} of {s}?",
        "[Please] tell me the {r} of {s}",
        "[the] {r} of {s}?",
        "(Which|What) {r} does {s} have?",
        "Do you know the {r} of {s}?",
    ),
)
_FRAMES = (
    Frame(
        "{s} (lives|stays) in {o}",
        "person",
        "city",
        ("Where does {s} (live|stay)?", "(In which|Which) city does {s} live in?", "Where is {s}'s home?"),
        ("Who (lives|stays) in {o}?", "Which person lives in {o}?"),
    ),
    Frame(
        "{s} was born in {o}",
        "person",
        "year",
        ("When was {s} born?", "In which year was {s} born?", "What year was {s} born [in]?"),
        ("Who was born in {o}?",),
    ),
    Frame(
        "{s} opens at {o}",
        "thing",
        "clock",
        ("When does {s} open?", "(At what time|What time|How early) does {s} open?", "opening time of {s}"),
        ("What opens at {o}?",),
    ),
    Frame(
        "{s} closes at {o}",
        "thing",
        "clock",
        (
            "When does {s} close?",
            "(At what time|What time|How late) does {s} close?",
            "Until when is {s} open?",
        ),
        ("What closes at {o}?",),
    ),
    Frame(
        "{s} costs {o} (euros|dollars|pounds)",
        "thing",
        "number",
        ("How much (does {s} cost|is {s})?", "What does {s} cost?", "What is the price of {s}?"),
        ("What costs {o}?",),
    ),
    Frame(
        "{s} belongs to {o}",
        "thing",
        "person",
        ("Who owns {s}?", "To whom does {s} belong?", "Whose is {s}?", "Who does {s} belong to?"),
        ("What belongs to {o}?", "What does {o} own?"),
    ),
    Frame(
        "{s} is in {o}",
        "thing",
        "city",
        ("Where is {s}?", "(In which|Which) city is {s} in?", "Where can I find {s}?"),
        ("What is in {o}?",),
    ),
    Frame(
        "{s} was (built|opened|made) in {o}",
        "thing",
        "year",
        ("When was {s} (built|opened|made)?", "How old is {s}?", "In which year was {s} built?"),
        ("What was built in {o}?",),
    ),
    Frame(
        "{s} likes {o}",
        "person",
        "noun",
        ("What does {s} like?", "What is {s} fond of?"),
        ("Who likes {o}?",),
    ),
    Frame(
        "{s} works (at|for) {o}",
        "person",
        "thing",
        ("Where does {s} work?", "Who does {s} work for?"),
        ("Who works (at|for) {o}?",),
    ),
    Frame(
        "{s} is {o}",
        "thing",
        "colour",
        ("What colour (is|has) {s}?", "Which colour is {s}?", "What is the colour of {s}?"),
        ("What is {o}?",),
    ),
    Frame(
        "{s} (starts|takes place|is) on {o}",
        "thing",
        "date",
        ("When (is|does) {s} [start]?", "On which day is {s}?", "What is the date of {s}?"),
        ("What (is|happens) on {o}?",),
    ),
    Frame(
        "{s} weighs {o} (kilograms|grams|tons)",
        "thing",
        "number",
        ("How heavy is {s}?", "What does {s} weigh?", "How much does {s} weigh?"),
    ),
    Frame(
        "{s} is {o} metres (long|high|wide)",
        "thing",
        "number",
        ("How (long|high|wide|large|big) is {s}?", "What is the size of {s}?"),
    ),
    Frame(
        "{s}: {o}", "any", "value", ("(What is|Tell me) {s}?", "{s}?", "What does it say (about|for) {s}?")
    ),
)


@dataclass(frozen=True, slots=True)
class Fact:
    sentence: str
    asked: tuple[str, ...]
    keys: frozenset[str]  # of two facts with one of these in common, a question might mean either


def random_chat(rng: random.Random, longest: int) -> Chat:
    return _chat(rng, rng.choice(_LAYOUTS), _facts(rng, rng.randint(1, 24)), rng.randint(1, longest))


def held_out_documents() -> list[Chat]:
    """One question each, about one of twenty facts, in words that were never trained."""
    rng = random.Random("held-out documents")
    chats: list[Chat] = []
    while len(chats) < NUM_HELD_OUT:
        facts = _facts(rng, NUM_HELD_OUT_FACTS, rng.choice(FINAL_ROLES))
        chat = _chat(rng, rng.choice(_LAYOUTS), facts, 1)
        if any(fact.sentence in chat.turns[0][1] for fact in facts):
            chats.append(chat)
    return chats


def _facts(rng: random.Random, num_facts: int, role: str | None = None) -> list[Fact]:
    """Half of the texts tell the same of many things, as a list does."""
    one = _ROLE if role else rng.choice((_ROLE, _ROLE, *_FRAMES)) if rng.random() < 0.5 else None
    role = role or (_role(rng) if rng.random() < 0.5 else None)
    facts: list[Fact] = []
    for _ in range(num_facts):
        fact = _fact(rng, one or rng.choice((_ROLE, _ROLE, _ROLE, *_FRAMES)), role)
        if not any(fact.keys & other.keys for other in facts):
            facts.append(fact)
    return facts


def _role(rng: random.Random) -> str:
    kind = rng.random()
    if kind < 0.3:
        return rng.choice(small_talk.material("plain_words")) if kind < 0.2 else small_talk.made_up_word(rng)
    while (role := rng.choice(NOUNS)) in FINAL_ROLES:
        pass
    return role


def _fact(rng: random.Random, frame: Frame, role: str | None) -> Fact:
    values = {
        "r": role or _role(rng),
        "s": _VALUES[frame.subject](rng),
        "o": _VALUES[frame.object](rng),
    }
    sentence = expand(rng, frame.sentence).format(**values)
    asked = [wording.format(**values) for wording in frame.asked]
    if frame.asked_by_object and rng.random() < 0.3:
        asked = [wording.format(**values) for wording in frame.asked_by_object]
    about = values["r"] if frame is _ROLE else frame.sentence
    keys = frozenset((f"{about} of {values['s']}", f"{about} is {values['o']}"))
    sentence = sentence[:1].upper() + sentence[1:]
    return Fact(sentence if ": " in frame.sentence else f"{sentence}.", tuple(asked), keys)


# --- What facts are about ---


def _thing(rng: random.Random) -> str:
    kind = rng.random()
    noun = rng.choice(NOUNS)
    if kind < 0.5:
        return f"the {noun}"
    if kind < 0.7:
        return f"the {rng.choice(small_talk.material('plain_words'))} {noun}"
    return f"the {noun} {small_talk.made_up_word(rng).capitalize()}"


def _person(rng: random.Random) -> str:
    first = rng.choice(_FIRST_NAMES) if rng.random() < 0.5 else small_talk.made_up_word(rng).capitalize()
    return first if rng.random() < 0.4 else f"{first} {small_talk.made_up_word(rng).capitalize()}"


_FIRST_NAMES = (
    "Anna", "Ben", "Clara", "David", "Emma", "Frank", "Grace", "Henry", "Ivy", "Jack", "Kate", "Liam",
    "Maria", "Noah", "Olive", "Peter", "Quinn", "Rosa", "Simon", "Tara", "Bob", "Alice", "Mehmet",
    "Yuki", "Carlos",
)  # fmt: skip


def _city(rng: random.Random) -> str:
    return rng.choice((rng.choice(ZONES)[0], rng.choice(CITIES), small_talk.made_up_word(rng).capitalize()))


def _word(rng: random.Random) -> str:
    kind = rng.random()
    if kind < 0.5:
        return small_talk.made_up_word(rng).capitalize()
    return rng.choice(small_talk.material("plain_words")) if kind < 0.8 else rng.choice(NOUNS)


def _number(rng: random.Random) -> str:
    return str(rng.randrange(1, 10 ** rng.randint(1, 5)))


def _date(rng: random.Random) -> str:
    if rng.random() < 0.4:
        return rng.choice(_DAYS)
    day = rng.randint(1, 28)
    return rng.choice((f"{rng.choice(_MONTHS)} {day}", f"{day} {rng.choice(_MONTHS)}", f"2027-03-{day:02}"))


def _value(rng: random.Random) -> str:
    return rng.choice((_person, _person, _word, _number, _city))(rng)


_VALUES: dict[str, Callable[[random.Random], str]] = {
    "thing": _thing,
    "person": _person,
    "any": lambda rng: rng.choice((_thing, _thing, _person, _word))(rng),
    "city": _city,
    "noun": lambda rng: rng.choice(NOUNS) + "s",
    "year": lambda rng: str(rng.randint(1600, 2030)),
    "clock": lambda rng: f"{rng.randrange(24)}:{rng.choice(('00', '15', '30', '45'))}",
    "number": _number,
    "colour": lambda rng: rng.choice(_COLOURS),
    "date": _date,
    "value": _value,
}


# --- Where the text stands ---


@dataclass(frozen=True, slots=True)
class Layout:
    """`has_numbers`: its documents are numbered, and an answer names the number."""

    is_in_system: bool
    has_numbers: bool
    has_files: bool


_LAYOUTS = (
    Layout(is_in_system=True, has_numbers=False, has_files=False),
    Layout(is_in_system=True, has_numbers=True, has_files=True),
    Layout(is_in_system=False, has_numbers=True, has_files=True),
    Layout(is_in_system=False, has_numbers=False, has_files=True),
    Layout(is_in_system=False, has_numbers=False, has_files=False),
)


def _chat(rng: random.Random, layout: Layout, facts: list[Fact], num_turns: int) -> Chat:
    files = _split(rng, facts) if layout.has_files else [facts]
    numbers = range(rng.choice((1, 1, 1, rng.randint(1, 30))), 100) if layout.has_numbers else range(1, 100)
    texts = [_text(rng, some) for some in files]
    quoted = [
        _quoted(rng, layout, number, text) if layout.has_files else text
        for number, text in zip(numbers, texts, strict=False)
    ]
    own = rng.choice(corpus.SYSTEM_PROMPTS) if rng.random() < 0.2 else None
    before = "\n\n".join(quoted)
    if layout.is_in_system:
        system = "\n".join((DOCUMENTS, *(f"{one}\n" for one in quoted))) if layout.has_numbers else before
        system = "\n\n".join(filter(None, (system, own)))
    else:
        system = "\n\n".join(filter(None, (PASSAGES if layout.has_numbers else "", own))) or None
    told = [
        (fact, f" [{number}]" if layout.has_numbers else "")
        for some, number in zip(files, numbers, strict=False)
        for fact in some
    ]
    turns = [_turn(rng, told) for _ in range(num_turns)]
    if not layout.is_in_system:
        turns[0] = (f"{before}\n\n{turns[0][0]}", turns[0][1])
    return Chat(system, tuple(turns))


def _split(rng: random.Random, facts: list[Fact]) -> list[list[Fact]]:
    num_files = min(len(facts), rng.choice((1, 1, 2, 3, 4)))
    borders = [0, *sorted(rng.sample(range(1, len(facts)), num_files - 1)), len(facts)]
    return [facts[start:end] for start, end in itertools.pairwise(borders)]


def _text(rng: random.Random, facts: list[Fact]) -> str:
    lines = [fact.sentence for fact in facts]
    kind = rng.randrange(4)
    if kind == 0:
        return "".join(f"{number}. {line}\n" for number, line in enumerate(lines, 1))
    if kind == 1:
        return "\n".join(f"- {line}" for line in lines)
    if kind == 2 or any(line[-1] != "." for line in lines):
        return "\n".join(lines)
    for _ in range(rng.choice((0, 0, 1, 2, 3))):
        lines.insert(rng.randrange(len(lines) + 1), small_talk.sentence(rng))
    return " ".join(lines)


def _quoted(rng: random.Random, layout: Layout, number: int, text: str) -> str:
    name = f"{rng.choice(STEMS)}.{rng.choice(EXTENSIONS)}"
    label = f"[{number}] {name}" if layout.has_numbers else f"File: {name}"
    line = f":{rng.randint(1, 400)}" if layout.has_numbers and not layout.is_in_system else ""
    return f"{label}{line}\n```\n{text}\n```"


def _turn(rng: random.Random, told: list[tuple[Fact, str]]) -> tuple[str, str]:
    kind = rng.random()
    if kind < 0.8:
        fact, number = rng.choice(told)
        return small_talk.typed(rng, expand(rng, rng.choice(fact.asked))), fact.sentence + number
    if kind < 0.9:
        other = _fact(rng, rng.choice((_ROLE, *_FRAMES)), None)
        words = [key.rpartition(" is ")[2].rpartition(" of ")[2] for key in other.keys]
        text = " ".join(fact.sentence.lower() for fact, _ in told)
        if not any(word.lower() in text for word in words):
            return small_talk.typed(rng, expand(rng, rng.choice(other.asked))), small_talk.OFF_TOPIC
    return corpus.known_turn(rng)
