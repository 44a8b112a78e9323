"""Facts of a project in a file: JSON, or a list in Markdown, in which a box is ticked where a fact is on.

What is read may be a stranger's. Any thread.
"""

import json
import re
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

from app.chats.attachment import valid_unicode
from app.chats.project import MAX_FACTS, Fact, facts_of
from app.system.files import replacing
from app.system.said import said

FORMAT, VERSION = "skein-facts", 1
MAX_FILE_BYTES = 4 << 20
_ITEM = re.compile(r"[-*+]\s+(?:\[([ xX])\]\s+)?(.+)")


class FactsError(Exception):
    """Nothing was read or written; the message says why and what to do."""


def write_facts(path: Path, facts: Iterable[Fact]) -> None:
    """All of them or nothing. As a list where the name ends in “.md”. Raises FactsError."""
    text = as_markdown(facts) if path.suffix.lower() == ".md" else as_json(facts)
    try:
        with replacing(path) as file:
            file.write(text)
    except OSError as error:
        reason = error.strerror or str(error)
        raise FactsError(
            said(
                "{file} could not be written: {reason}. Choose another place.", file=path.name, reason=reason
            )
        ) from error


def read_facts(path: Path) -> tuple[Fact, ...]:
    """Raises FactsError, also where there are none."""
    try:
        with path.open("rb") as file:
            content = file.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        reason = error.strerror or str(error)
        raise FactsError(
            said("{file} could not be read: {reason}. Choose another file.", file=path.name, reason=reason)
        ) from error
    if len(content) > MAX_FILE_BYTES:
        raise FactsError(
            said(
                "{file} is too large: facts take {limit} MB at most.",
                file=path.name,
                limit=MAX_FILE_BYTES >> 20,
            )
        )
    facts = facts_in(content.decode("utf-8-sig", "replace"))
    if not facts:
        raise FactsError(
            said(
                "There are no facts in {file}. They are lines that begin with “- ”, or JSON.", file=path.name
            )
        )
    return facts


def as_json(facts: Iterable[Fact]) -> str:
    stored = {"format": FORMAT, "version": VERSION, "facts": list(map(asdict, facts))}
    return valid_unicode(json.dumps(stored, ensure_ascii=False, indent=1)) + "\n"


def as_markdown(facts: Iterable[Fact]) -> str:
    return "".join(f"- [{'x' if fact.is_on else ' '}] {fact.text}\n" for fact in facts)


def facts_in(text: str) -> tuple[Fact, ...]:
    """The last ones, if there are too many."""
    try:
        stored = json.loads(text)
    except (ValueError, RecursionError):
        items = list(filter(None, (_ITEM.match(line.strip()) for line in text.splitlines())))[-MAX_FACTS:]
        found = tuple(Fact(item[2], is_on=item[1] != " ") for item in items)
    else:
        found = facts_of(stored.get("facts") if isinstance(stored, dict) else stored)
    return tuple(fact for fact in found if fact.text)
