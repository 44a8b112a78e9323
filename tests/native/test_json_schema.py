"""JSON Schema as a grammar: what it lets an answer say, and what costs too much or reaches outside."""

import json
import re

import pytest

from app.engine.prompts.chat_worker import ChatWorker
from app.engine.prompts.schema_limits import simplified
from app.protocol.answer_format import AnswerFormat
from app.protocol.errors import InvalidRequestError
from app.protocol.grammar import check_grammar

pytestmark = pytest.mark.native

STRING = {"type": "string"}


@pytest.fixture(scope="module")
def converter():
    converter = ChatWorker()
    yield converter
    converter.close()


@pytest.fixture
def format_of(converter):
    def format_of(schema: object) -> AnswerFormat:
        return converter.format_of(json.dumps(schema))

    return format_of


@pytest.fixture
def rule(format_of):
    def rule(schema: object, name: str) -> str:
        return re.search(f"^{name} ::= (.*)$", format_of(schema).grammar, re.MULTILINE)[1]

    return rule


def properties(count: int, required: bool):
    names = [f"property{n}" for n in range(count)]
    return {
        "type": "object",
        "properties": dict.fromkeys(names, STRING),
        "required": names if required else [],
    }


def test_an_object_has_its_properties_in_the_order_of_the_schema(rule):
    schema = {"type": "object", "properties": {"b": STRING, "a": {"type": "integer"}}, "required": ["a", "b"]}
    assert rule(schema, "root") == '"{" space b-kv "," space a-kv space "}"'


def test_an_integer_has_its_bounds(rule):
    assert rule({"type": "integer", "minimum": 1, "maximum": 10}, "root") == '([1-9] | "10")'


ANY = r"[\u0020-\u0021\u0023-\u005B\u005D-\U0010FFFF]"  # all that stands in a text of JSON as it is


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        (r"^\d\.[\w-]$", r'([0-9] "." [0-9A-Za-z\u005F\u002D])'),
        ("abc", f'({ANY}* ("abc") {ANY}*)'),
        (r"^a\$", f'(("a$") {ANY}*)'),
        ("^a.$", f'("a" {ANY})'),
        (r"^[^0-9]$", r"([\u0020-\u0021\u0023-\u002F\u003A-\u005B\u005D-\U0010FFFF])"),
        (r"^\S$", r"([\u0021\u0023-\u005B\u005D-\U0010FFFF])"),
        ("^[ -~]$", r"([\u0020-\u0021\u0023-\u005B\u005D-\u007E])"),
        (r'^a"\\\n["\\]$', r'("a" ("\\\"") ("\\\\") ("\\n") ("\\\"" | "\\\\"))'),
    ],
)
def test_a_pattern_fits_what_json_writes_and_may_stand_anywhere(rule, pattern, expected):
    assert rule({"type": "string", "pattern": pattern}, "root") == rf'"\"" {expected} "\""'


@pytest.mark.parametrize(
    ("text", "fits"),
    [
        ("2024-02-29", True),
        ("2000-02-29", True),
        ("2023-02-29", False),
        ("1900-02-29", False),
        ("2023-04-30", True),
        ("2023-04-31", False),
        ("2023-12-31", True),
        ("2023-13-01", False),
    ],
)
def test_dates_are_those_of_a_calendar(text, fits):
    pattern = simplified({"type": "string", "format": "date"})["pattern"]
    assert bool(re.fullmatch(pattern, text)) is fits
    at = simplified({"type": "string", "format": "date-time"})["pattern"]
    assert bool(re.fullmatch(at, f"{text}T23:59:59Z")) is fits


@pytest.mark.parametrize(
    ("schema", "same"),
    [
        (
            {"type": "array", "prefixItems": [STRING], "items": False},
            {"type": "array", "items": [STRING]},
        ),
        ({"type": "array", "items": False}, {"type": "array", "items": []}),
        ({"type": "array", "items": True}, {"type": "array", "items": {}}),
        ({"type": "array"}, {"type": "array", "items": {}}),
        ({"type": "array", "items": [True, STRING]}, {"type": "array", "items": [{}, STRING]}),
        ({"properties": {"a": True, "items": STRING}}, {"properties": {"a": {}, "items": STRING}}),
        ({"properties": {"a": False, "b": STRING}}, {"properties": {"b": STRING}}),
        ({"anyOf": [False, STRING]}, {"anyOf": [STRING]}),
        ({"oneOf": [True, STRING]}, {"oneOf": [{}, STRING]}),
        ({"allOf": [True], "type": "object"}, {"type": "object"}),
        ({"$ref": "#/$defs/a", "$defs": {"a": True}}, {"$ref": "#/$defs/a", "$defs": {"a": {}}}),
        ({"enum": [True, {"items": False}]}, {"enum": [True, {"items": False}]}),
        (
            {"type": "object", "additionalProperties": False},
            {"type": "object", "additionalProperties": False},
        ),
    ],
    ids=str,
)
def test_a_schema_within_may_be_true_or_false(format_of, schema, same):
    assert format_of(schema).grammar == format_of(same).grammar
    assert simplified(schema) == simplified(same)


def test_what_fits_nothing_is_named_where_it_cannot_be_left_out(format_of):
    schema = {"type": "object", "properties": {"a": {"$ref": "#/$defs/a"}}, "$defs": {"a": False}}
    assert any("#/$defs/a: not" in warning for warning in format_of(schema).warnings)


def test_a_reference_may_stand_alone_in_all_of(format_of):
    """As pydantic writes one that has a description."""
    schema = {
        "$defs": {"kind": {"type": "integer"}},
        "type": "object",
        "properties": {"kind": {"allOf": [{"$ref": "#/$defs/kind"}], "description": "which"}},
        "required": ["kind"],
    }
    made = format_of(schema)
    assert "kind ::= integer" in made.grammar
    assert made.warnings == ()


@pytest.mark.parametrize(
    ("schema", "unenforced"),
    [
        ({"type": "number", "minimum": 1}, "#: minimum"),
        ({"type": "integer", "multipleOf": 5}, "#: multipleOf"),
        ({"type": "string", "format": "email"}, "#: format 'email'"),
        ({"type": "string", "pattern": "^a+$", "maxLength": 3}, "#: maxLength"),
        ({"type": "string", "pattern": "(?=a)b"}, "((?=a)b)"),
        ({"type": "array", "items": STRING, "uniqueItems": True}, "#: uniqueItems"),
        ({"type": "object", "properties": {"a": {"not": STRING}}}, "#/properties/a: not"),
        ({"type": "object", "properties": {}, "required": ["x"]}, "'x'"),
        ({"$ref": "#/$defs/a", "minLength": 2, "$defs": {"a": STRING}}, "#: minLength"),
        ({"$ref": "#/$defs/a", "$defs": {"a": {"type": "number", "maximum": 2}}}, "#/$defs/a: maximum"),
        ({"oneOf": [{"type": "integer"}, {"type": "number"}]}, "#: oneOf"),
        ({"allOf": [{"type": "string"}, {"minLength": 2}]}, "#/allOf/1: minLength"),
    ],
    ids=str,
)
def test_what_no_grammar_makes_sure_of_is_named(format_of, schema, unenforced):
    assert any(unenforced in warning for warning in format_of(schema).warnings)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {"a": {"type": "integer", "minimum": 1}}, "required": ["a"]},
        {"type": "string", "minLength": 1, "maxLength": 5},
        {"type": "string", "format": "date"},
        {"type": "array", "items": STRING, "minItems": 1, "maxItems": 3},
        {"oneOf": [{"type": "integer"}, STRING]},
        {"anyOf": [{"const": 1}, {"type": "null"}], "description": "one or nothing"},
        {"enum": ["a", 1, None]},
    ],
    ids=str,
)
def test_what_is_made_sure_of_is_not_named(format_of, schema):
    assert format_of(schema).warnings == ()


def test_an_untyped_property_may_be_anything(format_of):
    schema = {"type": "object", "properties": {"a": {}}, "required": ["a"]}
    assert 'a-kv ::= "\\"a\\"" space ":" space a' in format_of(schema).grammar


@pytest.mark.parametrize(
    "schema",
    [
        {},
        STRING,
        {"type": ["string", "null"]},
        properties(100, required=False),
        properties(300, required=True),
    ],
    ids=["anything", "text", "text or nothing", "100 optional", "300 required"],
)
def test_useful_schemas_are_grammars_that_pass(format_of, schema):
    check_grammar(format_of(schema).grammar)


@pytest.mark.parametrize(
    "reference", ["http://localhost:1/x", "https://localhost:1/x", "file:///etc/passwd", "other.json", ""]
)
def test_nothing_is_fetched(format_of, reference):
    with pytest.raises(InvalidRequestError, match="only references into the same document"):
        format_of({"properties": {"a": {"$ref": reference}}})


REFUSED = {
    "no JSON": ("{", "JSON"),
    "no object": ("[]", "must be a JSON object"),
    "NaN": ('{"const": NaN}', "NaN is no number"),
    "a negative count": ('{"type": "string", "maxLength": -1}', "must be a non-negative integer"),
    "a thousand million": ('{"type": "string", "minLength": 1000000000}', "more than"),
    "a pattern of many": ('{"type": "string", "pattern": "^(a{999999999}){9999}$"}', ""),
    "an unknown type": ('{"type": "thing"}', "unrecognized type"),
    "nothing to choose": ('{"enum": []}', "must be a non-empty array"),
    "deep nesting": ('{"items":' * 100_000 + "{}" + "}" * 100_000, "JSON"),
    "only itself": ('{"$defs": {"a": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"}', ""),
    "a reference to nothing": ('{"$ref": "#/$defs/a"}', "not found"),
    "too many ways": (
        json.dumps({"type": "string", "pattern": "^(a*)*(a*)*(a*)*(a*)*(a*)*$"}),
        "again and again",
    ),
}


@pytest.mark.parametrize(("text", "reason"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_followed_is_refused(converter, text, reason):
    with pytest.raises(InvalidRequestError, match=f"JSON schema .*{reason}"):
        converter.format_of(text)
