"""A folder of chats that is a project: what its chats begin with, and the facts that are known in it.

A fact is a short sentence that the user has written or accepted. What is read may be damaged or a stranger's:
what is not as it should be is left out, and what is too long is cut, here and nowhere else. Any thread.
"""

import json
import re
import time
import uuid
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Self

from app.chats.attachment import number_of, valid_unicode
from app.chats.tool_json import text_of, tools_of
from app.protocol.request import PROJECT

MAX_FACT_CHARS, MAX_FACTS = 500, 1_000
MAX_TOLD_CHARS = 16_000  # of all facts in one prompt
MAX_INSTRUCTIONS_CHARS = 1_000_000  # as many as can be pasted
MAX_PROPOSED, MAX_DROPPED = 20, 200
MAX_TIME = 1e11
FORMAT, VERSION = "skein-facts", 1  # of a file
TOLD = "What is known from earlier chats:"
BETWEEN = "\n\n"
_ITEM = re.compile(r"(?:[-*+]|\d+[.)])\s+(?:\[([ xX])\](?:\s+|$))?(.*)")
_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f]")
# Nobody sees them, and the model reads them: directions, tags, selectors. Those that join letters stay.
_UNSEEN = re.compile(
    "[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e0fff]"
)


def one_line(text: str) -> str:
    """A fact as it is kept, shown and told."""
    plain = _UNSEEN.sub("", _CONTROLS.sub(" ", valid_unicode(text[: 8 * MAX_FACT_CHARS])))
    return " ".join(plain.split())[:MAX_FACT_CHARS].rstrip()


@dataclass(frozen=True, slots=True)
class Fact:
    """`chat_id` and `turn_id` say where it comes from; empty: the user wrote it, or it was imported."""

    text: str
    id: str = field(default_factory=lambda: uuid.uuid4().hex)
    is_on: bool = True
    chat_id: str = ""
    turn_id: str = ""
    created_at: float = field(default_factory=time.time)  # seconds since the epoch

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", one_line(self.text))


def key_of(text: str) -> str:
    """Facts with the same one say the same."""
    return text.casefold().rstrip(" .!。！")


@dataclass(frozen=True, slots=True)
class Project:
    """`id` survives a rename of the folder. Of `facts` and `proposed` the newest are at the end.

    `tools` and `model_path` are those of new chats. `dropped` are proposals that the user did not want.
    """

    folder: str
    id: str = field(default_factory=lambda: uuid.uuid4().hex)
    instructions: str = ""
    shelf_id: str = ""
    tools: tuple[str, ...] = ()
    model_path: str = ""
    facts: tuple[Fact, ...] = ()
    proposed: tuple[Fact, ...] = ()
    dropped: tuple[str, ...] = ()
    proposes: bool = True

    def __post_init__(self) -> None:
        for name, value in {
            "instructions": valid_unicode(self.instructions[:MAX_INSTRUCTIONS_CHARS]),
            "facts": tuple(fact for fact in self.facts if fact.text)[-MAX_FACTS:],
            "proposed": tuple(fact for fact in self.proposed if fact.text)[-MAX_PROPOSED:],
            "dropped": tuple(filter(None, map(one_line, self.dropped[-MAX_DROPPED:]))),
        }.items():
            object.__setattr__(self, name, value)

    @property
    def chat_id(self) -> str:
        """The id of its own sequence, as the engine knows it."""
        return f"{PROJECT}{self.id}"

    def told(self, room: int) -> tuple[Fact, ...]:
        """What a chat of at most `room` tokens is told: the newest facts that are on. 0: not known."""
        left, told = min(MAX_TOLD_CHARS, room // 2) if room else MAX_TOLD_CHARS, []
        for fact in reversed(self.facts):
            if fact.is_on:
                left -= len(fact.text)
                if left < 0:
                    break
                told.append(fact)
        return tuple(reversed(told))

    def num_left_out(self, room: int) -> int:
        """Facts that are on, and that such a chat is not told."""
        return sum(fact.is_on for fact in self.facts) - len(self.told(room))

    def text_around(self, documents: str, room: int) -> str:
        """What a chat begins with. Facts stand last: they change most often."""
        facts = "\n".join(f"- {fact.text}" for fact in self.told(room))
        parts = (self.instructions.strip(), documents, facts and f"{TOLD}\n{facts}")
        return BETWEEN.join(filter(None, parts))

    # Its facts. Each returns the project as it is then.

    def with_facts(self, facts: Iterable[Fact]) -> Self:
        """With those of them that are new, as far as there is room."""
        new = _unlike((fact.text for fact in self.facts), facts)
        return replace(self, facts=(*self.facts, *new[: MAX_FACTS - len(self.facts)]))

    def with_changed(self, fact_id: str, **changes: Any) -> Self:
        """Also of a proposal. Without it, if it has no text any more."""

        def changed(facts: Iterable[Fact]) -> tuple[Fact, ...]:
            return tuple(replace(one, **changes) if one.id == fact_id else one for one in facts)

        return replace(self, facts=changed(self.facts), proposed=changed(self.proposed))

    def with_proposed(self, facts: Iterable[Fact]) -> Self:
        """With those of them that are not known, proposed or dropped, as far as there is room."""
        known = (fact.text for fact in (*self.facts, *self.proposed))
        new = _unlike((*known, *self.dropped), facts)
        return replace(self, proposed=(*self.proposed, *new[: MAX_PROPOSED - len(self.proposed)]))

    def with_dropped(self, fact_id: str) -> Self:
        gone = [fact.text for fact in self.proposed if fact.id == fact_id]
        kept = tuple(fact for fact in self.proposed if fact.id != fact_id)
        return replace(self, proposed=kept, dropped=(*self.dropped, *gone))

    def with_accepted(self, fact_id: str) -> Self:
        """With the proposal as a fact. It stays where there is no room."""
        if len(self.facts) >= MAX_FACTS:
            return self
        accepted = (one for one in self.proposed if one.id == fact_id)
        kept = tuple(fact for fact in self.proposed if fact.id != fact_id)
        return replace(self.with_facts(accepted), proposed=kept)


# As JSON, and as a list in Markdown, in which a box is ticked where a fact is on


def as_json(project: Project) -> str:
    return _json({name: value for name, value in asdict(project).items() if name != "folder"})


def project_of(folder: str, stored: str) -> Project:
    found = _read(stored)
    known: dict[str, Any] = found if isinstance(found, dict) else {}
    dropped = known.get("dropped")
    return Project(
        folder,
        text_of(known.get("id")) or uuid.uuid4().hex,
        text_of(known.get("instructions")),
        text_of(known.get("shelf_id")),
        tools_of(known.get("tools")),
        text_of(known.get("model_path")),
        facts_of(known.get("facts")),
        facts_of(known.get("proposed")),
        tuple(map(text_of, dropped)) if isinstance(dropped, list) else (),
        known.get("proposes") is not False,
    )


def facts_of(stored: Any) -> tuple[Fact, ...]:
    """Of a list from JSON."""
    items = stored[-MAX_FACTS:] if isinstance(stored, list) else []
    return tuple(_fact(each) for each in items if isinstance(each, dict))


def facts_text(facts: Iterable[Fact], *, is_markdown: bool) -> str:
    """For a file."""
    if is_markdown:
        return "".join(f"- [{'x' if fact.is_on else ' '}] {fact.text}\n" for fact in facts)
    return _json({"format": FORMAT, "version": VERSION, "facts": list(map(asdict, facts))})


def facts_in(text: str) -> tuple[Fact, ...]:
    """Of a file of either kind: the last ones, if there are too many."""
    stored = _read(text)
    if stored is not None:
        return facts_of(stored.get("facts") if isinstance(stored, dict) else stored)
    items = [item for line in text.splitlines() if (item := _ITEM.match(line.strip()))]
    return tuple(Fact(item[2], is_on=item[1] != " ") for item in items[-MAX_FACTS:])


def _fact(stored: dict[str, Any]) -> Fact:
    return Fact(
        text_of(stored.get("text")),
        text_of(stored.get("id")) or uuid.uuid4().hex,
        stored.get("is_on") is not False,
        text_of(stored.get("chat_id")),
        text_of(stored.get("turn_id")),
        float(number_of(stored.get("created_at"), MAX_TIME)) or time.time(),
    )


def _json(value: Any) -> str:
    return valid_unicode(json.dumps(value, ensure_ascii=False, indent=1))


def _read(text: str) -> Any:
    """None: it is no JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _unlike(texts: Iterable[str], facts: Iterable[Fact]) -> list[Fact]:
    """Those that say something else, each once."""
    known = set(map(key_of, texts))
    new = {key: fact for fact in facts if (key := key_of(fact.text)) and key not in known}
    return list(new.values())
