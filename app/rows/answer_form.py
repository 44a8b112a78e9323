"""What the answers to all rows look like: a text, one of some choices, a number, or an object of columns."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from app.protocol.errors import InvalidRequestError
from app.protocol.json_object import read_object
from app.system.said import said

ANSWER = "answer"  # the column of an answer that has one
MAX_CHOICES = 1_000
_NUMBER = r'root ::= "-"? ("0" | [1-9] [0-9]{0,14}) ("." [0-9]{1,6})?'


class Kind(StrEnum):
    TEXT = "text"
    CHOICE = "choice"
    NUMBER = "number"
    SCHEMA = "schema"


@dataclass(frozen=True, slots=True)
class AnswerForm:
    kind: Kind = Kind.TEXT
    choices: tuple[str, ...] = ()
    schema: str = ""  # a JSON schema as text

    def __post_init__(self) -> None:
        is_choice = self.kind is Kind.CHOICE
        if is_choice and not (2 <= len(self.choices) <= MAX_CHOICES and all(map(str.strip, self.choices))):
            raise InvalidRequestError(
                said("There must be 2 to {limit:,} choices, each with a name.", limit=MAX_CHOICES)
            )
        if is_choice and len(set(map(str.strip, self.choices))) < len(self.choices):
            raise InvalidRequestError(said("Two of the choices are the same."))
        if self.kind is Kind.SCHEMA and not self.schema.strip():
            raise InvalidRequestError(said("There is no JSON schema."))
        read_object(self.schema, "The JSON schema")

    @property
    def columns(self) -> tuple[str, ...]:
        """One for each property of an object."""
        properties = read_object(self.schema, "The JSON schema").get("properties")
        return tuple(properties) if isinstance(properties, dict) and properties else (ANSWER,)

    @property
    def sampling(self) -> dict[str, str]:
        """The fields of SamplingParams that hold answers to it."""
        match self.kind:
            case Kind.CHOICE:
                # A string of JSON is one of GBNF.
                words = " | ".join(json.dumps(one, ensure_ascii=False) for one in self.choices)
                return {"grammar": f"root ::= {words}"}
            case Kind.NUMBER:
                return {"grammar": _NUMBER}
            case Kind.SCHEMA:
                return {"json_schema": self.schema}
        return {}

    def values(self, text: str) -> tuple[Any, ...]:
        """An answer's values by column, as JSON has them. Raises ValueError with a sentence."""
        text = text.strip()
        match self.kind:
            case Kind.CHOICE:
                if text not in map(str.strip, self.choices):
                    raise ValueError(said("The answer is none of the choices."))
            case Kind.NUMBER:
                return (_number(text),)
            case Kind.SCHEMA:
                try:
                    found = json.loads(text)
                except (ValueError, RecursionError):
                    raise ValueError(said("The answer is no whole JSON.")) from None
                if self.columns == (ANSWER,):
                    return (found,)
                if not isinstance(found, dict):
                    raise ValueError(said("The answer is no JSON object."))
                return tuple(map(found.get, self.columns))
        return (text,)


def most_given(answers: Sequence[tuple[Any, ...]]) -> tuple[tuple[Any, ...], int]:
    """The values that most answers have, the first of equals, and how many these are."""
    by_text = {json.dumps(one): one for one in answers}
    text, count = Counter(map(json.dumps, answers)).most_common(1)[0]
    return by_text[text], count


def _number(text: str) -> int | float:
    try:
        return float(text) if "." in text else int(text)
    except ValueError:
        raise ValueError(said("The answer is no number.")) from None


TEXT = AnswerForm()
