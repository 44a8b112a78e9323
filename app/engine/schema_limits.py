"""What a JSON Schema asks for and llama.cpp's grammars cannot make sure of.

Follows `common/json-schema.cpp`, which leaves out what it does not know without a word. Pure functions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

Schema = dict[str, Any]

ANYWHERE = {"not", "if", "then", "else", "dependentSchemas", "dependentRequired", "dependencies"}
OF_NUMBERS = {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}
OF_STRINGS = {"pattern", "format", "minLength", "maxLength"}
OF_ARRAYS = {"items", "prefixItems", "minItems", "maxItems", "contains", "minContains", "maxContains"} | {
    "uniqueItems",
    "unevaluatedItems",
}
OF_OBJECTS = {"properties", "required", "additionalProperties", "patternProperties", "propertyNames"} | {
    "minProperties",
    "maxProperties",
    "unevaluatedProperties",
}
COMBINED = {"allOf", "anyOf", "oneOf", "enum", "const"}
ALL = ANYWHERE | OF_NUMBERS | OF_STRINGS | OF_ARRAYS | OF_OBJECTS | COMBINED | {"type"}
ESCAPE = re.compile(r"\\.|\[(?:\\.|[^\]\\])*\]", re.DOTALL)
CLASSES = {r"\d": "0-9", r"\w": "A-Za-z0-9_", r"\s": " "}  # of a text in JSON, other space is an escape
FORMATS = {"date", "time", "date-time", "uuid", *(f"uuid{number}" for number in range(1, 6))}


def unenforced(schema: object) -> list[str]:
    """Each as a path and a keyword, such as `#/properties/age: multipleOf`."""
    return list(dict.fromkeys(_Reader(schema).visit(schema, "#")))


def simplified(value: Any) -> Any:
    """The same schema, as llama.cpp reads more of it: an `allOf` of one schema is that schema, and a pattern
    that may stand anywhere in a text says so.
    """
    if isinstance(value, list):
        return [simplified(one) for one in value]
    if not isinstance(value, dict):
        return value
    alone = value.get("allOf")
    if isinstance(alone, list) and len(alone) == 1 and isinstance(alone[0], dict):
        rest = {name: one for name, one in value.items() if name != "allOf"}
        if not rest.keys() & (ALL - {"type"}) and rest.get("type") in (None, alone[0].get("type")):
            value = rest | alone[0]
    simpler = {name: simplified(one) for name, one in value.items()}
    if isinstance(pattern := value.get("pattern"), str) and value.get("type", "string") == "string":
        simpler["pattern"] = _anchored(pattern)
    return simpler


def _anchored(pattern: str) -> str:
    begins = pattern.startswith("^")
    ends = pattern.endswith("$") and (len(pattern) - len(pattern[:-1].rstrip("\\"))) % 2 == 1
    middle = ESCAPE.sub(_class_written_out, pattern[begins : len(pattern) - ends])
    if begins and ends:
        return f"^{middle}$"
    return f"^{'' if begins else '.*'}({middle}){'' if ends else '.*'}$"


def _class_written_out(found: re.Match[str]) -> str:
    r"""\d, \w and \s, also within brackets."""
    if found[0].startswith("["):
        return re.sub(r"\\[^\n]", lambda escape: CLASSES.get(escape[0], escape[0]), found[0])
    return f"[{CLASSES[found[0]]}]" if found[0] in CLASSES else found[0]


class _Reader:
    def __init__(self, root: object) -> None:
        self._root = root
        self._seen: set[str] = set()

    def visit(self, schema: object, path: str) -> Iterator[str]:
        if not isinstance(schema, dict):
            return
        if isinstance(ref := schema.get("$ref"), str):
            yield from _named(path, schema.keys() & ALL)
            yield from self._visit_target(ref)
            return
        for name in ("oneOf", "anyOf"):
            if name in schema:
                yield from _named(path, schema.keys() & (ALL - {name, "type"}))
                if name == "oneOf" and not _are_apart(schema[name]):
                    yield f"{path}: oneOf"
                yield from self._visit_all(schema[name], f"{path}/{name}")
                return
        kind = schema.get("type")
        if isinstance(kind, list):
            for one in kind:
                yield from self._visit_typed(schema, one, path)
        elif "const" not in schema and "enum" not in schema:
            yield from self._visit_typed(schema, kind, path)

    def _visit_target(self, ref: str) -> Iterator[str]:
        if ref in self._seen:
            return
        self._seen.add(ref)
        target = self._root
        for part in ref.split("/")[1:]:
            if isinstance(target, dict):
                target = target.get(part)
            elif isinstance(target, list) and part.isdecimal() and int(part) < len(target):
                target = target[int(part)]
        yield from self.visit(target, ref)

    def _visit_all(self, schemas: object, path: str) -> Iterator[str]:
        if isinstance(schemas, dict):
            for name, one in schemas.items():
                yield from self.visit(one, f"{path}/{name}")
        elif isinstance(schemas, list):
            for number, one in enumerate(schemas):
                yield from self.visit(one, f"{path}/{number}")

    def _visit_typed(self, schema: Schema, kind: object, path: str) -> Iterator[str]:
        has_properties = "properties" in schema or schema.get("additionalProperties", True) is not True
        yield from _named(path, schema.keys() & ANYWHERE)
        if "allOf" in schema and not has_properties and kind in (None, "object", "string"):
            yield from self._visit_all_of(schema, path)
        elif kind == "object" or (kind is None and has_properties):
            yield from self._visit_object(schema, path)
        elif kind == "array" or (kind is None and ("items" in schema or "prefixItems" in schema)):
            yield from self._visit_array(schema, path)
        elif kind == "string" or (kind is None and _reads_as_string(schema)):
            yield from self._visit_string(schema, path)
        elif kind == "integer":
            found = {"multipleOf"}
            found |= {"exclusiveMinimum"} if "minimum" in schema else set()
            found |= {"exclusiveMaximum"} if "maximum" in schema else set()
            yield from _named(path, schema.keys() & found)
        elif kind == "number":
            yield from _named(path, schema.keys() & OF_NUMBERS)
        elif kind is None:
            yield from _named(path, schema.keys() & ALL)

    def _visit_all_of(self, schema: Schema, path: str) -> Iterator[str]:
        """Objects are put together of the properties of each; of other schemas only their `enum` counts."""
        yield from _named(path, schema.keys() & (ALL - {"allOf", "type"} - ANYWHERE))
        for number, one in enumerate(schema["allOf"] if isinstance(schema["allOf"], list) else ()):
            place = f"{path}/allOf/{number}"
            if isinstance(one, dict) and not one.keys() & {"$ref", "properties", "enum", "anyOf"}:
                yield from _named(place, (one.keys() & ALL) or {"type"})
            elif isinstance(one, dict):
                yield from _named(place, one.keys() & {"additionalProperties"})
                yield from self.visit(one, place)

    def _visit_object(self, schema: Schema, path: str) -> Iterator[str]:
        known = {"properties", "required", "additionalProperties", "unevaluatedProperties"}
        yield from _named(path, schema.keys() & ((OF_OBJECTS | {"allOf"}) - known))
        properties = schema.get("properties")
        names = schema.get("required")
        unknown = (
            [name for name in names if name not in (properties or {})] if isinstance(names, list) else []
        )
        if unknown:
            yield f"{path}: required {unknown[0]!r}, which is not among its properties"
        yield from self._visit_all(properties, f"{path}/properties")
        yield from self.visit(schema.get("additionalProperties"), f"{path}/additionalProperties")

    def _visit_array(self, schema: Schema, path: str) -> Iterator[str]:
        name = "items" if "items" in schema else "prefixItems"
        is_tuple = isinstance(schema.get(name), list)
        known = {name} | (set() if is_tuple else {"minItems", "maxItems"})
        yield from _named(path, schema.keys() & (OF_ARRAYS - known))
        if is_tuple:
            yield from self._visit_all(schema[name], f"{path}/{name}")
        else:
            yield from self.visit(schema.get(name), f"{path}/{name}")

    def _visit_string(self, schema: Schema, path: str) -> Iterator[str]:
        is_known = schema.get("format") in FORMATS
        if schema.get("pattern"):
            yield from _named(path, schema.keys() & (OF_STRINGS - {"pattern"}))
        elif is_known:
            yield from _named(path, schema.keys() & {"minLength", "maxLength"})
        elif "format" in schema:
            yield f"{path}: format {schema['format']!r}"


def _named(path: str, keywords: Any) -> Iterator[str]:
    return (f"{path}: {keyword}" for keyword in sorted(keywords))


def _reads_as_string(schema: Schema) -> bool:
    return bool(schema.keys() & {"pattern", "minLength", "maxLength"}) or schema.get("format") in FORMATS


def _are_apart(schemas: object) -> bool:
    """No value fits two of them, as far as their types or constants tell."""
    kinds = [_kind(one) for one in schemas] if isinstance(schemas, list) else []
    return None not in kinds and len(set(kinds)) == len(kinds) and not {"number", "integer"} <= set(kinds)


def _kind(schema: object) -> str | None:
    if not isinstance(schema, dict):
        return None
    if "const" in schema:
        return f"const {schema['const']!r}"
    kind = schema.get("type")
    if kind == "object":  # told apart by a constant, as pydantic writes it
        properties = schema.get("properties")
        constants = [
            f"{name}={one['const']!r}"
            for name, one in (properties.items() if isinstance(properties, dict) else ())
            if isinstance(one, dict) and "const" in one and name in (schema.get("required") or ())
        ]
        return f"object {constants}" if constants else "object"
    return kind if isinstance(kind, str) else None
