"""From JSON Schema to GBNF by the converter of llama-cpp-python, under limits. Any thread.

The converter is plain Python and has faults: it may fetch a schema from the network, confuses two references
that end alike, expands counts by nesting, and allows line breaks in strings. It ignores unknown keywords
(`minimum`, `uniqueItems`, `not` …).
"""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any, NoReturn

from llama_cpp import llama_grammar

from app.protocol.errors import InvalidRequestError
from app.protocol.gbnf import MAX_REPETITIONS
from app.protocol.grammar import MAX_GRAMMAR_BYTES, check_grammar
from app.system.said import said

COUNTS = ("minItems", "maxItems", "minLength", "maxLength")
MAX_RULES = 100_000  # the converter repeats those of optional properties
MAX_NAME_CHARS = 500  # they grow with each level
ANY_CHARACTER = llama_grammar.PRIMITIVE_RULES["char"].content
CHARACTER = ANY_CHARACTER.replace('[^"\\\\]', '[^"\\\\\\x00-\\x1F]')  # JSON wants the others escaped


def json_schema_to_gbnf(text: str) -> str:
    """A grammar that `check_grammar` has passed. Raises InvalidRequestError.

    May compute for a second the first time: not on an event loop.
    """
    grammar, refusal = _converted(text)
    if refusal:
        raise InvalidRequestError(refusal)
    return grammar


@lru_cache(maxsize=256)  # as many requests may be open, and each asks once more when it begins
def _converted(text: str) -> tuple[str, str]:
    """Either a grammar, or why there is none."""
    try:
        return _convert(text), ""
    except InvalidRequestError as error:
        return "", str(error)


def _convert(text: str) -> str:
    try:
        schema = json.loads(text, parse_constant=_refuse_constant)
        _check_values(schema)
        converter = _Converter(schema)
        converter.visit(schema, "")
        grammar = str(converter.format_grammar())
    except RecursionError:
        _refuse("it is nested too deep, or too large")
    except InvalidRequestError:
        raise
    except Exception as error:  # the converter may raise anything on an untrusted schema
        _refuse(f"it cannot be made a grammar ({type(error).__name__}: {error})"[:200])
    check_grammar(grammar, said("JSON schema"))
    return grammar


def _refuse(reason: str) -> NoReturn:
    text = said(
        "The {what} cannot be used: {reason}. Correct or remove it.",
        what=said("JSON schema"),
        reason=reason,
    )
    raise InvalidRequestError(text)


def _refuse_constant(name: str) -> NoReturn:
    _refuse(f"{name} is no JSON number")


def _check_values(schema: object) -> None:
    if not isinstance(schema, dict):
        _refuse("it must be a JSON object")
    todo: list[object] = [schema]
    while todo:
        value = todo.pop()
        if isinstance(value, list):
            todo += value
        elif isinstance(value, dict):
            todo += value.values()
            _check_counts(value)


def _check_counts(schema: dict[str, Any]) -> None:
    for keyword in COUNTS:
        count = schema.get(keyword, 0)  # a schema, where a property has that name
        if isinstance(count, float) or (isinstance(count, int) and count < 0):
            _refuse(f"{keyword} must be a whole number, not {count}")


def _repetition(
    item: str,
    min_items: int,
    max_items: int | None,
    separator_rule: str | None = None,
    item_rule_is_literal: bool = False,  # noqa: ARG001  (the converter says so)
) -> str:
    """`item` repeated. The converter's own version nests as deep as the count."""
    if max_items is not None and max_items > MAX_REPETITIONS:
        max_items = None  # as llama.cpp itself does with counts that are too large
    if max_items == 0:
        return ""
    if separator_rule:
        more = _repetition(f"({separator_rule} {item})", max(min_items - 1, 0), max_items and max_items - 1)
        return f"{item} {more}" if min_items else f"({item} {more})?"
    return f"{item}{{{min_items},{'' if max_items is None else max_items}}}"


llama_grammar._build_repetition = _repetition


class _Converter(llama_grammar.SchemaConverter):  # type: ignore[misc]  # llama_cpp is not annotated
    """One conversion, within limits and without the converter's faults."""

    def __init__(self, schema: dict[str, Any]) -> None:
        super().__init__(prop_order={}, allow_fetch=False, dotall=False, raw_pattern=False)
        self._refs = _References(schema)
        self._names: dict[str, str] = {}  # of the rules for references
        self._num_rules = 0
        self._num_chars = 0

    def visit(self, schema: dict[str, Any], name: str) -> Any:
        if len(name) > MAX_NAME_CHARS:
            _refuse("it is nested too deep, or its names are too long")
        alone = schema.get("allOf", ())
        if len(alone) == 1 and "properties" not in schema:  # a reference with a description beside it
            return self.visit(alone[0], name)
        return super().visit(schema, name)

    def _add_rule(self, name: str, rule: str) -> Any:
        self._num_rules += 1
        self._num_chars += 0 if name in self._rules else len(rule)
        if self._num_rules > MAX_RULES or self._num_chars > MAX_GRAMMAR_BYTES:
            _refuse("it makes too large a grammar")
        return super()._add_rule(name, CHARACTER if rule == ANY_CHARACTER else rule)

    def _resolve_ref(self, ref: str) -> str:
        """One rule for each reference, named before it is built, since it may be recursive."""
        name = self._names.get(ref)
        if name is None:
            name = self._names[ref] = f"reference-{len(self._names)}"
            made = self.visit(self._refs[ref], name)
            if made != name and self._add_rule(name, made) != name:
                _refuse(f"no property may be named {name!r}")
        return name

    def _format_literal(self, literal: str) -> str:
        """JSON text in quotes: letters as they are, and a backslash as one."""
        text = json.dumps(json.loads(literal), ensure_ascii=False)
        return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


class _References(dict[str, Any]):
    """What `$ref` points to, within the schema only: nothing is fetched."""

    def __init__(self, schema: dict[str, Any]) -> None:
        super().__init__()
        self._schema = schema

    def __missing__(self, ref: str) -> Any:
        if not ref.startswith("#"):
            _refuse(f"$ref {ref[:100]!r} is not within it (#/…)")
        target: Any = self._schema
        for part in ref.split("/")[1:]:
            key = part.replace("~1", "/").replace("~0", "~")
            target = target[int(key) if isinstance(target, list) else key]
        return target
