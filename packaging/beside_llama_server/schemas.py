"""Schemas of many kinds: what models write under them, beside what the schemas say.

The model babbles, so that each limit that is not enforced is soon passed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Any

from beside_llama_server.servers import Body, RefusedError, Server

SEEDS = range(6)
MAX_TOKENS = 1500
CHAT = "/v1/chat/completions"


class Outcome(StrEnum):
    VALID = "valid"
    WARNED = "warned"  # against the schema, and the answer names what could not be enforced
    VIOLATED = "violated"
    REFUSED = "refused"
    FAILED = "failed"  # with a status of the 500s
    UNFINISHED = "unfinished"


# The worst of several answers counts.
ORDER = (Outcome.VALID, Outcome.WARNED, Outcome.REFUSED, Outcome.FAILED, Outcome.UNFINISHED, Outcome.VIOLATED)


def outcome_of(server: Server, schema: Body) -> tuple[Outcome, str]:
    """The worst outcome of all seeds, and the answer or the refusal."""
    results = [_ask(server, schema, seed) for seed in SEEDS]
    return max(results, key=lambda result: ORDER.index(result[0]))


def _ask(server: Server, schema: Body, seed: int) -> tuple[Outcome, str]:
    body = {
        "messages": [{"role": "user", "content": "Hello!"}],
        "response_format": {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}},
        "temperature": 1,
        "seed": seed,
        "max_tokens": MAX_TOKENS,
    }
    try:
        answer = server.post(CHAT, body)
    except RefusedError as error:
        return (Outcome.REFUSED if error.status < 500 else Outcome.FAILED), str(error)
    choice = answer["choices"][0]
    text = choice["message"]["content"] or ""
    if choice["finish_reason"] == "length":
        return Outcome.UNFINISHED, text
    if _is_valid(schema, text):
        return Outcome.VALID, text
    return (Outcome.WARNED if answer.get("warnings") else Outcome.VIOLATED), text


def _is_valid(schema: Body, text: str) -> bool:
    import jsonschema  # installed into the cache folder, when it is needed

    try:
        value = json.loads(text)
    except ValueError:
        return False
    kind = jsonschema.validators.validator_for(schema, jsonschema.Draft202012Validator)
    return bool(kind(schema, format_checker=kind.FORMAT_CHECKER).is_valid(value))


def kinds() -> dict[str, Body]:
    """Of JSON Schema's keywords, as far as llama.cpp knows them, and some that it does not know."""

    def obj(properties: Body, required: list[str] | None = None, **more: Any) -> Body:
        given = {
            "type": "object",
            "properties": properties,
            "required": list(properties) if required is None else required,
        }
        return given | more

    text, whole = {"type": "string"}, {"type": "integer"}
    return {
        "boolean": {"type": "boolean"},
        "null": {"type": "null"},
        "number": {"type": "number"},
        "integer": whole,
        "string": text,
        "array": {"type": "array"},
        "object": {"type": "object"},
        "several types": {"type": ["integer", "null"]},
        "any": {},
        "minimum": {"type": "integer", "minimum": -5},
        "maximum": {"type": "integer", "maximum": 17},
        "range": {"type": "integer", "minimum": 1, "maximum": 9},
        "wide range": {"type": "integer", "minimum": -1234, "maximum": 98765},
        "exclusive range": {"type": "integer", "exclusiveMinimum": 0, "exclusiveMaximum": 10},
        "number range": {"type": "number", "minimum": 0, "maximum": 1},
        "multipleOf": {"type": "integer", "multipleOf": 5},
        "minLength": {"type": "string", "minLength": 3},
        "maxLength": {"type": "string", "maxLength": 5},
        "length of emoji": {"type": "string", "minLength": 2, "maxLength": 2},
        "pattern": {"type": "string", "pattern": "^[a-z]{2,4}-[0-9]+$"},
        "pattern with a dot": {"type": "string", "pattern": r"^[a-z]+\.[a-z]{2}$"},
        "pattern with a dollar": {"type": "string", "pattern": r"^\$[0-9]{1,4}$"},
        "pattern with classes": {"type": "string", "pattern": r"^\d{4}-\d{2}-\w$"},
        "pattern with alternatives": {"type": "string", "pattern": "^(a|bc|d[ef])$"},
        "pattern with lookahead": {"type": "string", "pattern": "^(?!a)[a-z]{3}$"},
        "unanchored pattern": {"type": "string", "pattern": "[0-9]{3}"},
        "half anchored pattern": {"type": "string", "pattern": "^ab"},
        "pattern with any character": {"type": "string", "pattern": "^.{3,9}$"},
        "pattern with all but digits": {"type": "string", "pattern": "^[^0-9]{3,9}$"},
        "pattern with a quote": {"type": "string", "pattern": r"^[\"\\]{2}$"},
        "pattern and length": {"type": "string", "pattern": "^[a-z]*$", "minLength": 2, "maxLength": 4},
        "enum": {"enum": ["a", "b", 3, None, True]},
        "enum of odd texts": {"enum": ['"', "\\", "Zürich", "\n", "🙂"]},
        "const": {"const": {"a": [1, "b"]}},
        "date": {"type": "string", "format": "date"},
        "time": {"type": "string", "format": "time"},
        "date-time": {"type": "string", "format": "date-time"},
        "uuid": {"type": "string", "format": "uuid"},
        "email": {"type": "string", "format": "email"},
        "ipv4": {"type": "string", "format": "ipv4"},
        "items": {"type": "array", "items": whole},
        "minItems": {"type": "array", "items": whole, "minItems": 2},
        "maxItems": {"type": "array", "items": whole, "maxItems": 2},
        "prefixItems": {"type": "array", "prefixItems": [text, whole], "items": False, "minItems": 2},
        "items as a list": {
            "$schema": "http://json-schema.org/draft-07/schema#",
            "type": "array",
            "items": [text, whole],
            "minItems": 2,
            "additionalItems": False,
        },
        "uniqueItems": {"type": "array", "items": {"type": "boolean"}, "uniqueItems": True},
        "contains": {"type": "array", "contains": {"const": 7}},
        "required": obj({"a": whole, "b": text}, additionalProperties=False),
        "optional": obj({"a": whole, "b": text, "c": {"type": "null"}}, [], additionalProperties=False),
        "some required": obj({"a": whole, "b": text}, ["b"]),
        "required without properties": {"type": "object", "required": ["a"]},
        "additionalProperties": obj({"a": whole}, additionalProperties=whole),
        "a map": {"type": "object", "additionalProperties": {"type": "boolean"}},
        "minProperties": {"type": "object", "minProperties": 2},
        "maxProperties": {"type": "object", "maxProperties": 1},
        "patternProperties": {
            "type": "object",
            "patternProperties": {"^x-": whole},
            "additionalProperties": False,
        },
        "propertyNames": {"type": "object", "propertyNames": {"pattern": "^[a-z]{1,3}$"}},
        "dependentRequired": obj({"a": whole, "b": whole}, [], dependentRequired={"a": ["b"]}),
        "odd names": obj({'"': whole, "a b": whole, "ü": whole, "\\": whole}, additionalProperties=False),
        "untyped property": obj({"a": {}, "b": {"description": "anything"}}, additionalProperties=False),
        "untyped with minimum": obj({"a": {"minimum": 3, "maximum": 4}}, additionalProperties=False),
        "anyOf": {"anyOf": [whole, {"type": "string", "maxLength": 3}]},
        "oneOf": {
            "oneOf": [obj({"kind": {"const": "a"}, "x": whole}), obj({"kind": {"const": "b"}, "y": text})]
        },
        "overlapping oneOf": {"oneOf": [{"type": "integer"}, {"type": "number"}]},
        "allOf": {"allOf": [obj({"a": whole}), obj({"b": text})]},
        "allOf with a limit": {"allOf": [{"type": "integer", "minimum": 1}, {"maximum": 3}]},
        "not": {"type": "integer", "not": {"const": 0}},
        "if then else": {
            **obj({"a": {"type": "boolean"}, "b": {}}),
            "if": {"properties": {"a": {"const": True}}},
            "then": {"properties": {"b": whole}},
            "else": {"properties": {"b": text}},
        },
        "anyOf beside properties": {**obj({"a": whole}), "anyOf": [obj({"b": whole}), obj({"c": whole})]},
        "$ref": {
            **obj({"a": {"$ref": "#/$defs/small"}}),
            "$defs": {"small": {"type": "integer", "minimum": 0, "maximum": 3}},
        },
        "$ref of a $ref": {
            "$ref": "#/$defs/a",
            "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"enum": ["x", "y"]}},
        },
        "definitions": {
            **obj({"a": {"$ref": "#/definitions/a"}}),
            "definitions": {"a": {"type": "string", "maxLength": 2}},
        },
        "$ref beside a limit": {
            **obj({"a": {"$ref": "#/$defs/a", "maximum": 3}}),
            "$defs": {"a": {"type": "integer", "minimum": 1}},
        },
        "recursion": {
            "$ref": "#/$defs/node",
            "$defs": {
                "node": obj({"value": whole, "next": {"anyOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]}})
            },
        },
        "nothing": {"enum": []},
        "boolean schema": obj({"a": True, "b": False}, ["a"], additionalProperties=False),
        "unevaluatedProperties": {**obj({"a": whole}), "unevaluatedProperties": False},
        "nullable of OpenAPI": {"type": "string", "nullable": True, "maxLength": 3},
    }


def of_pydantic() -> dict[str, Body]:
    from datetime import date, datetime
    from decimal import Decimal
    from typing import Annotated, Literal
    from uuid import UUID

    from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

    class Unit(StrEnum):
        C = "celsius"
        F = "fahrenheit"

    class Address(BaseModel):
        street: str = Field(min_length=1, max_length=30)
        postcode: str = Field(pattern=r"^\d{5}$")
        country: Literal["DE", "FR"] = "DE"

    class Person(BaseModel):
        name: str
        age: int = Field(ge=0, le=150)
        addresses: list[Address] = Field(min_length=1, max_length=2)
        born: date | None = None

    class Tree(BaseModel):
        value: int
        children: list[Tree] = Field(default=[], max_length=2)

    class Cat(BaseModel):
        kind: Literal["cat"]
        lives: Annotated[int, Field(ge=1, le=9)]

    class Dog(BaseModel):
        kind: Literal["dog"]
        name: str

    class Owner(BaseModel):
        pet: Annotated[Cat | Dog, Field(discriminator="kind")]

    class Strict(BaseModel):
        model_config = ConfigDict(extra="forbid")
        unit: Unit
        value: float = Field(gt=0, lt=100)

    class Event(BaseModel):
        id: UUID
        at: datetime
        tags: set[str] = Field(max_length=2)
        price: Decimal

    class Anything(BaseModel):
        extra: Any
        table: dict[str, list[int]]
        pair: tuple[int, str]

    kinds = (Address, Person, Tree, Owner, Strict, Event, Anything)
    named = {kind.__name__: kind.model_json_schema() for kind in kinds}
    adapters = {"list of persons": list[Person], "union": int | Strict | None, "literal": Literal[1, "a"]}
    return named | {name: TypeAdapter(kind).json_schema() for name, kind in adapters.items()}


def named_schemas(tools: Mapping[str, Body]) -> Iterator[tuple[str, Body]]:
    yield from ((f"JSON Schema: {name}", schema) for name, schema in kinds().items())
    yield from ((f"pydantic: {name}", schema) for name, schema in of_pydantic().items())
    yield from ((f"MCP: {name}", schema) for name, schema in tools.items())
