"""Chats of varied talk, with facts planted that can be asked for later. The same for the same seed."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import dataclass

from app.protocol.request import Role

NUM_MESSAGES = 30
NUM_FACTS = 5
MIN_WORDS, MAX_WORDS = 95, 105  # of a message, before its last sentence

MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)
FIRST_NAMES = (
    "Ottoline",
    "Jarek",
    "Mirela",
    "Tobias",
    "Ysolde",
    "Anselm",
    "Priya",
    "Kwame",
    "Sunniva",
    "Lorcan",
)
LAST_NAMES = ("Brandvold", "Okafor", "Lindqvist", "Marchetti", "Szymczak", "Haldane", "Varga", "Treloar")
LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ"
FILES = ("seating", "stalls", "invoice", "route", "inventory", "minutes", "layout", "wiring", "roster")
SUFFIXES = ("ods", "pdf", "csv", "docx", "svg", "py")

# What is said, and how it is asked for. Of each kind a chat has one.
PHRASES: tuple[tuple[tuple[str, str], ...], ...] = (
    (
        ("The caterer we settled on in the end is {}.", "Which caterer did we settle on?"),
        ("My new neighbour upstairs is called {}.", "What is my new neighbour upstairs called?"),
        ("It is {} who will repair the boiler.", "Who will repair the boiler?"),
        ("{} has agreed to lead the choir this winter.", "Who has agreed to lead the choir?"),
    ),
    (
        ("By the way, the door code of the workshop is {}.", "What is the door code of the workshop?"),
        ("The booking reference of our ferry is {}.", "What is the booking reference of our ferry?"),
        ("They gave me locker {} at the swimming pool.", "Which locker did they give me at the pool?"),
        ("The serial number of the broken printer reads {}.", "What is the printer's serial number?"),
    ),
    (
        (
            "The inspection of the chimney was moved to {}.",
            "To which date was the chimney's inspection moved?",
        ),
        ("We decided that the harvest fair is on {}.", "On which date is the harvest fair?"),
        ("My passport runs out on {}.", "On which date does my passport run out?"),
        ("The tax papers have to be there by {}.", "By which date do the tax papers have to be there?"),
    ),
    (
        ("The roofer wants {} euros for the gutter.", "How many euros does the roofer want for the gutter?"),
        ("Our budget for the trip is {} euros.", "What is our budget for the trip?"),
        ("The second-hand piano costs {} euros.", "What does the second-hand piano cost?"),
        ("We still owe the printer's shop {} euros.", "How much do we still owe the printer's shop?"),
    ),
    (
        (
            "I saved the plan for the tables as {}.",
            "Under which file name did I save the plan for the tables?",
        ),
        ("The measurements are in the file {}.", "Which file are the measurements in?"),
        ("Please keep in mind that the backup list is {}.", "What is the file name of the backup list?"),
        ("The script that renames the photos is {}.", "Which script renames the photos?"),
    ),
)

# A message draws its sentences one after the other, and none twice before all were told: a small model that
# reads the same few forms again and again writes nothing else.
PEOPLE = (
    "my sister",
    "a colleague",
    "our landlord",
    "an old friend",
    "my aunt",
    "the postman",
    "our trainer",
)
PLACES = ("the market", "the library", "the station", "the bakery", "the harbour", "the museum", "the park")
SYSTEMS = (
    "queue",
    "cache",
    "parser",
    "index",
    "scheduler",
    "log",
    "test suite",
    "database",
    "proxy",
    "editor",
)
OPENINGS = (
    *(
        "Honestly,",
        "As it happens,",
        "Looking back,",
        "If I am not mistaken,",
        "To be fair,",
        "Funnily enough,",
    ),
    *("Between us,", "On second thought,", "For what it is worth,", "Anyway,", "Strangely,", "Of course"),
)
TALK = (
    "{person} talked about gardening for half an hour and forgot the soup on the stove",
    "the stairs squeak more than they did in spring, above all the fourth one",
    "I walked around {place} twice without meeting anyone I know",
    "{place} was closed because of a leaking roof, and the next one is far away",
    "{person} would rather buy a new kettle than scrub the old one",
    "we carried a sofa up to the third floor, which took most of the afternoon",
    "the lentil stew tastes better than it looks, especially on the second day",
    "{person} borrowed my drill and brought it back cleaner than before",
    "there was a long line at {place}, mostly families with sleepy children",
    "I painted half of the fence green and then ran out of paint",
    "the choir upstairs rehearses a carol in the middle of summer",
    "a grey dog slept under the table all afternoon and snored",
    "they play old film music at {place}, and somebody always hums along",
    "{person} learns Portuguese and practises on everybody who cannot run away",
    "I found a button in the gutter that fits my winter coat exactly",
    "we planted beans behind the shed, and so far two of them came up",
    "the bus was late again, so I read the timetable until I knew it by heart",
    "it rained during the whole picnic, but nobody wanted to be the first to leave",
    "{person} knits scarves that are too long for anyone of normal height",
    "the new lamp makes the kitchen look like an operating theatre",
    "I have started to bake bread, and the neighbours pretend to like it",
    "two swans blocked the cycle path near {place} and hissed at a jogger",
    "my shoelaces broke on the same day, first the left one, then the right",
    "the film was fine until the last ten minutes, when everybody began to sing",
    "{person} collects postcards of bridges and can date them by the stamps",
    "our washing machine walks through the bathroom when it spins",
    "somebody left a cello in the waiting room, and it was still there in the evening",
    "the radio said that the frost would end, and the next morning the pond was frozen",
    "I slept badly because a shutter was banging somewhere in the yard",
    "at {place} they sell a cheese that smells of wet hay",
    "{person} has given up coffee and is hard to bear before noon",
    "the chess club meets in a room without heating, so the games are short",
    "I mended the tent with dental floss, and it held through the storm",
    "the cat from next door brings us gifts that we do not want",
    "an apple from last autumn turned up behind the books, shrunken to a nut",
    "we got lost in the fog and ended up at {place} after all",
)
TECHNICAL = (
    "the {system} waits far too often for a lock that hardly anyone needs",
    "nobody knows why the {system} was put before the {other}, and the notes are gone",
    "a shorter timeout would hide the trouble in the {system} for a while",
    "the {other} writes faster than the disk can follow when backups run",
    "before touching anything I would measure where the {system} spends its time",
    "one small failing test is worth more than a long guess about the {system}",
    "the {system} keeps entries that no reader has asked for in months",
    "two threads fight over the same counter, and the slower one starves",
    "restarting helps only until the {other} has warmed up again",
    "the comments contradict the code, and I trust neither of them",
    "with an early return the main loop of the {system} gets simpler to read",
    "rows are sorted twice, once on the way in and once on the way out",
    "an empty line at the end of a file confuses the importer",
    "memory grows by a little with each reload, which smells of a forgotten callback",
    "we could split the {system} in two and give each half one owner",
    "dead code in the {other} makes every search return twice as many hits",
    "the retry loop has no pause, so one broken server becomes a busy one",
    "dates are stored without a zone, which goes well until the clocks change",
    "unicode normalisation differs between the two sides, hence the duplicates",
    "the build is slow because generated headers change with every run",
    "a bounded buffer would push back on whoever writes too much",
    "floating point sums depend on the order of the threads, so the last digit flickers",
    "the new index is smaller, but it has to be rebuilt after a crash",
    "logging at this level costs more than the work that it describes",
    "an exception is swallowed in the {system}, and only the symptom travels on",
    "the migration runs in one transaction and locks the table for minutes",
    "configuration is read in three places, each with defaults of its own",
    "the {other} was written for a single user and has never unlearnt it",
    "caching the result would be easy, knowing when it is stale would not",
    "the flaky test depends on the order in which a set is walked",
    "compression saves half of the space and a tenth of the time, oddly enough",
    "the protocol has no version field, so old clients cannot be told apart",
    "a profiler run showed that parsing, not the network, is what takes long",
    "we should reject bad input at the door instead of checking it in every room",
    "the graph of dependencies has a cycle that only shows on Windows",
    "a page fault in the hot path explains the spikes better than the scheduler does",
)
REPLIES = (
    "that makes sense to me, and I would not change much about it",
    "writing the steps down in the order in which they happen often helps",
    "both ways have something to be said for them, so taste may decide",
    "one could sleep on it and look again with a clear head",
    "asking somebody who has done it before often saves an evening",
    "it is worth a try as long as it can be undone",
    "small steps are usually the quicker way, even if they feel slow",
    "a list on paper would do, and nothing more is needed for that",
    "I see no harm in waiting until the facts are in",
    "you have thought of more than most people do at this point",
    "the first version need not be perfect, it only has to be there",
    "it sounds as if the hard part was behind you",
    "a cheap experiment answers such questions better than a debate",
    "if it annoys you every day, it is worth a free Saturday",
    "I would keep the old one until the new one has survived a winter",
    "perhaps there is a simple reason that nobody has looked for yet",
    "a second pair of eyes finds in minutes what one overlooks for weeks",
    "doing nothing is an option as well, and sometimes a good one",
    "the nicest solution is the one that makes the question go away",
    "take a photograph of how it looked before, just in case",
    "it is easier to say no at the beginning than in the middle",
    "a rule that needs many exceptions is probably the wrong rule",
    "most of these things look smaller after a meal",
    "put the fragile part where it can be replaced without tools",
)


@dataclass(frozen=True, slots=True)
class Fact:
    """`said_in` is the number of its message."""

    sentence: str
    question: str
    value: str
    said_in: int

    def is_told(self, answer: str) -> bool:
        words = self.value.split()
        return any(_plain(one) in _plain(answer) for one in (self.value, " ".join(reversed(words))))


@dataclass(frozen=True, slots=True)
class PlantedChat:
    messages: tuple[tuple[Role, str], ...]  # questions and answers by turns
    facts: tuple[Fact, ...]


def planted_chat(seed: int) -> PlantedChat:
    """Its facts are in the first two thirds, most of them said by the user."""
    draw = random.Random(f"planted {seed}")
    values: tuple[Callable[[random.Random], str], ...] = (_name, _code, _date, _amount, _file)
    places = draw.sample(range(NUM_MESSAGES * 2 // 3), NUM_FACTS)
    facts = []
    for phrases, value, place in zip(PHRASES, values, places, strict=True):
        sentence, question = draw.choice(phrases)
        fact = value(draw)
        facts.append(Fact(sentence.format(fact), question, fact, place))
    by_place = {fact.said_in: fact.sentence for fact in facts}
    users, assistants = _Sentences(draw, TALK + TECHNICAL), _Sentences(draw, REPLIES + TALK + TECHNICAL)
    messages = []
    for number in range(NUM_MESSAGES):
        role = Role.ASSISTANT if number % 2 else Role.USER
        sentences = assistants if role is Role.ASSISTANT else users
        messages.append((role, _text(draw, sentences, by_place.get(number, ""))))
    return PlantedChat(tuple(messages), tuple(facts))


class _Sentences:
    def __init__(self, draw: random.Random, cores: tuple[str, ...]) -> None:
        self._draw, self._cores = draw, cores
        self._left: list[str] = []

    def next(self) -> str:
        draw = self._draw
        if not self._left:
            self._left = draw.sample(self._cores, len(self._cores))
        system, other = draw.sample(SYSTEMS, 2)
        text = self._left.pop().format(
            person=draw.choice(PEOPLE), place=draw.choice(PLACES), system=system, other=other
        )
        if draw.random() < 0.3:
            text = f"{draw.choice(OPENINGS)} {text}"
        return f"{text[0].upper()}{text[1:]}."


def _text(draw: random.Random, sentences: _Sentences, fact: str) -> str:
    """Of a message, which is about `fact`, if there is one."""
    wanted, told = draw.randint(MIN_WORDS, MAX_WORDS), [sentences.next()]
    while sum(len(one.split()) for one in told) < wanted:
        told.append(sentences.next())
    return " ".join([fact, *told] if fact else told)


def _name(draw: random.Random) -> str:
    return f"{draw.choice(FIRST_NAMES)} {draw.choice(LAST_NAMES)}"


def _code(draw: random.Random) -> str:
    return f"{''.join(draw.choices(LETTERS, k=2))}-{draw.randint(1000, 9999)}"


def _date(draw: random.Random) -> str:
    return f"{draw.randint(10, 28)} {draw.choice(MONTHS)}"


def _amount(draw: random.Random) -> str:
    return f"{draw.randint(1100, 9800):,}"


def _file(draw: random.Random) -> str:
    return f"{draw.choice(FILES)}_{draw.randint(10, 99)}.{draw.choice(SUFFIXES)}"


def _plain(text: str) -> str:
    return re.sub(r"[\W_]", "", text.casefold())
