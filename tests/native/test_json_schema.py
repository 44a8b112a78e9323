"""JSON Schema as a grammar: what it lets an answer say, and what costs too much or reaches outside."""

import json
import re
import socket

import pytest

from app.engine.llama.json_schema import json_schema_to_gbnf
from app.protocol.errors import InvalidRequestError
from app.protocol.grammar import check_grammar

pytestmark = pytest.mark.native

STRING = {"type": "string"}


def grammar(schema) -> str:
    return json_schema_to_gbnf(json.dumps(schema))


def rule(schema, name: str) -> str:
    return re.search(f"^{name} ::= (.*)$", grammar(schema), re.MULTILINE)[1]


def properties(count: int, required: bool):
    names = [f"property{n}" for n in range(count)]
    return {
        "type": "object",
        "properties": dict.fromkeys(names, STRING),
        "required": names if required else [],
    }


def test_an_object_has_its_properties_in_order():
    schema = {"type": "object", "properties": {"b": STRING, "a": {"type": "integer"}}, "required": ["a", "b"]}
    assert rule(schema, "root") == '"{" space b-kv "," space a-kv "}" space'


def test_a_string_has_no_line_break_in_it():
    assert rule(STRING, "char").startswith(r'[^"\\\x00-\x1F] | ')


@pytest.mark.parametrize(
    ("value", "literal"),
    [
        ("é🙂", r'"\"é🙂\""'),
        ("a\nb", r'"\"a\\nb\""'),
        ('"', r'"\"\\\"\""'),
        ("\\", r'"\"\\\\\""'),
        (1.5, '"1.5"'),
        (None, '"null"'),
    ],
)
def test_a_constant_is_written_as_json_writes_it(value, literal):
    assert rule({"const": value}, "root") == literal


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        ({}, '"[" space (string ("," space string){0,})? "]" space'),
        ({"minItems": 1}, '"[" space string ("," space string){0,} "]" space'),
        ({"minItems": 2, "maxItems": 4}, '"[" space string ("," space string){1,3} "]" space'),
        ({"maxItems": 1}, '"[" space (string )? "]" space'),
        ({"maxItems": 0}, '"[" space  "]" space'),
        ({"maxItems": 10**9}, '"[" space (string ("," space string){0,})? "]" space'),
    ],
    ids=str,
)
def test_an_array_has_so_many_items(limits, expected):
    assert rule({"type": "array", "items": STRING, **limits}, "root") == expected


def test_a_string_may_be_long():
    """The converter's own way to count is as deep as the number is high."""
    assert rule({"type": "string", "minLength": 2, "maxLength": 1900}, "root") == (
        r'"\"" char{2,1900} "\"" space'
    )


def test_references_that_end_alike_are_not_the_same():
    schema = {
        "$defs": {"a": {"x": {"const": 1}}, "b": {"x": {"const": 2}}},
        "properties": {"one": {"$ref": "#/$defs/a/x"}, "two": {"$ref": "#/$defs/b/x"}},
    }
    assert (rule(schema, "reference-0"), rule(schema, "reference-1")) == ('"1"', '"2"')


def test_a_schema_may_contain_itself():
    schema = {
        "$defs": {"tree": {"type": "array", "items": {"$ref": "#/$defs/tree"}}},
        "$ref": "#/$defs/tree",
    }
    assert rule(schema, "root") == "reference-0"
    assert rule(schema, "reference-0-item") == "reference-0"


def test_a_reference_may_stand_alone_in_all_of():
    """As pydantic writes one that has a description."""
    schema = {
        "$defs": {"kind": {"enum": ["a", "b"]}},
        "properties": {"kind": {"allOf": [{"$ref": "#/$defs/kind"}], "description": "which"}},
        "required": ["kind"],
    }
    assert rule(schema, "reference-0") == r'"\"a\"" | "\"b\""'


def test_a_hundred_thousand_million_references_are_still_one_rule_each():
    names = ["string", "number", "integer", "boolean", "null", "array", "object", "value", "char"]
    definitions = {
        name: {"type": "array", "items": {"anyOf": [{"$ref": f"#/$defs/{after}"}] * 30}}
        for name, after in zip(names, [*names[1:], "last"], strict=True)
    }
    text = grammar({"$defs": {**definitions, "last": STRING}, "$ref": "#/$defs/string"})
    assert len(re.findall("^reference-[0-9]+ ::=", text, re.MULTILINE)) == len(names) + 1


@pytest.mark.parametrize(
    "schema",
    [
        {},
        STRING,
        {"type": ["string", "null"]},
        properties(300, required=False),
        properties(500, required=True),
    ],
    ids=["anything", "text", "text or nothing", "300 optional", "500 required"],
)
def test_useful_schemas_are_grammars_that_pass(schema):
    check_grammar(grammar(schema))


@pytest.mark.parametrize(
    "reference", ["http://localhost:1/x", "https://localhost:1/x", "file:///etc/passwd", "other.json", ""]
)
def test_nothing_is_fetched(monkeypatch, reference):
    monkeypatch.setattr(socket, "socket", lambda *_: pytest.fail("it went to the network"))
    with pytest.raises(InvalidRequestError, match=r"is not within it"):
        grammar({"properties": {"a": {"$ref": reference}}})


REFUSED = {
    "no JSON": ("{", "JSONDecodeError"),
    "no object": ("[]", "must be a JSON object"),
    "NaN": ('{"const": NaN}', "NaN is no JSON number"),
    "infinitely many": (
        '{"type": "array", "items": {}, "minItems": 1e999}',
        "minItems must be a whole number",
    ),
    "a negative count": ('{"type": "string", "maxLength": -1}', "maxLength must be a whole number"),
    "a thousand million": ('{"type": "string", "minLength": 1000000000}', "more than 2,000 repetitions"),
    "fewer than at least": ('{"type": "string", "minLength": 5, "maxLength": 3}', "must not be the smaller"),
    "a pattern of many": ('{"type": "string", "pattern": "^(a{999999999}){9999}$"}', "more than 2,000"),
    "a pattern of nothing": ('{"type": "string", "pattern": "^*$"}', "cannot be made a grammar"),
    "a class of characters": (r'{"type": "string", "pattern": "^\\d+$"}', "cannot be read"),
    "half of a pair": ('{"const": "\\ud800"}', "lone surrogate"),
    "an unknown type": ('{"type": "thing"}', "Unrecognized schema"),
    "nothing to choose": ('{"enum": []}', "is not expected"),
    "deep nesting": ('{"items":' * 100_000 + "{}" + "}" * 100_000, "nested too deep"),
    "long names": (json.dumps({"properties": {"x" * 60_000: STRING}}), "names are too long"),
    "only itself": ('{"$defs": {"a": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"}', "can never end"),
    "a reference to nothing": ('{"$ref": "#/$defs/a"}', "KeyError"),
    "1,000 optional properties": (json.dumps(properties(1000, required=False)), "too large"),
}


@pytest.mark.parametrize(("text", "reason"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_followed_is_refused(text, reason):
    with pytest.raises(InvalidRequestError, match=f"^The JSON schema cannot be used: .*{reason}"):
        json_schema_to_gbnf(text)
