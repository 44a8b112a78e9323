"""What a JSON Schema asks for and llama.cpp's grammars cannot make sure of.

Follows `common/json-schema.cpp`, which leaves out what it does not know without a word. Pure functions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

Schema = dict[str, Any]
Ranges = list[tuple[int, int]]  # of code points, both ends included

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
# A grammar writes an element for each repetition, and each digit of a range of numbers.
BOUNDS, MAX_BOUND = {"minLength", "maxLength", "minItems", "maxItems"} | (OF_NUMBERS - {"multipleOf"}), 10
BY_NAME = {"properties", "$defs", "definitions"}  # schemas
IN_LISTS = {"anyOf", "oneOf", "allOf", "prefixItems", "items"}
# A part of a pattern: an escape, a class, or one of the characters that a text in JSON has otherwise.
PART = re.compile(r"\\.|\[(?:\\.|[^\]\\])*\]|[.\"]", re.DOTALL)
IN_CLASS = re.compile(r"\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|.)|.", re.DOTALL)
DIGITS, LETTERS = [(0x30, 0x39)], [(0x41, 0x5A), (0x61, 0x7A)]
WORD = [*DIGITS, *LETTERS, (0x5F, 0x5F)]
SPACE = [(0x20, 0x20)]  # other space is an escape in JSON
CLASSES = {"d": DIGITS, "w": WORD, "s": SPACE}
ESCAPED = [(0x00, 0x1F), (0x22, 0x22), (0x5C, 0x5C)]  # in JSON; a grammar writes them as they are
ANY = [(0, 0x10FFFF)]
CONTROLS = {"n": "\n", "r": "\r", "t": "\t", "f": "\f", "v": "\v"}
LEAP = r"([0-9]{2}(0[48]|[2468][048]|[13579][26])|([02468][048]|[13579][26])00)-02-29"
DATE = (
    r"([0-9]{4}-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)"
    rf"|02-(0[1-9]|1[0-9]|2[0-8]))|{LEAP})"
)
TIME = r"([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]{3})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])"
PATTERNS = {"date": f"^{DATE}$", "date-time": f"^{DATE}T{TIME}$"}  # llama.cpp's have a 31st in each month
FORMATS = {"date", "time", "date-time", "uuid", *(f"uuid{number}" for number in range(1, 6))}


def unenforced(schema: object) -> list[str]:
    """Each as a path and a keyword, such as `#/properties/age: multipleOf`."""
    schema = _without_booleans(schema)
    return list(dict.fromkeys(_Reader(schema).visit(schema, "#")))


def simplified(schema: Any) -> Any:
    """The same schema, as llama.cpp reads more of it: none in it is true or false, an `allOf` of one schema
    is that schema, dates are those of a calendar, and a pattern says that it may stand anywhere in a text,
    and how JSON writes it.
    """
    return _simplified(_without_booleans(schema))


def _without_booleans(schema: Any) -> Any:
    """What fits nothing is left out where that is the same, and else told as something not enforced."""
    if isinstance(schema, bool):
        return {} if schema else {"not": {}}
    if not isinstance(schema, dict):
        return schema
    same = dict(schema)
    if same.get("items") is False:
        same["items"] = same.pop("prefixItems", [])
    elif same.get("type") == "array" and not same.keys() & {"items", "prefixItems"}:
        same["items"] = {}  # there are templates that look for it, as gpt-oss's
    for name in same.keys() & BY_NAME:
        if isinstance(same[name], dict):
            never = [key for key, one in same[name].items() if one is False and name == "properties"]
            same[name] = {key: _without_booleans(one) for key, one in same[name].items() if key not in never}
    for name in same.keys() & IN_LISTS:
        if isinstance(same[name], list):
            says_nothing = {"anyOf": False, "oneOf": False, "allOf": True}.get(name)
            same[name] = [_without_booleans(one) for one in same[name] if one is not says_nothing]
    for name in same.keys() & {"items", "additionalProperties"}:
        if isinstance(same[name], dict) or (name == "items" and same[name] is True):
            same[name] = _without_booleans(same[name])
    if same.get("allOf") == []:
        del same["allOf"]
    return same


def _simplified(value: Any) -> Any:
    if isinstance(value, list):
        return [_simplified(one) for one in value]
    if not isinstance(value, dict):
        return value
    alone = value.get("allOf")
    if isinstance(alone, list) and len(alone) == 1 and isinstance(alone[0], dict):
        rest = {name: one for name, one in value.items() if name != "allOf"}
        if not rest.keys() & (ALL - {"type"}) and rest.get("type") in (None, alone[0].get("type")):
            value = rest | alone[0]
    simpler = {name: _simplified(one) for name, one in value.items()}
    if value.get("type", "string") != "string":
        return simpler
    if isinstance(pattern := value.get("pattern"), str):
        simpler["pattern"] = _anchored(pattern)
    elif value.get("format") in ("date", "date-time"):
        simpler["pattern"] = PATTERNS[simpler.pop("format")]
    return simpler


def without_bounds(value: Any) -> Any:
    """The same schema without patterns, and without lengths and numbers above MAX_BOUND."""
    if isinstance(value, list):
        return [without_bounds(one) for one in value]
    if not isinstance(value, dict):
        return value
    return {name: without_bounds(one) for name, one in value.items() if not _is_costly(name, one)}


def _is_costly(keyword: str, value: object) -> bool:
    if keyword == "pattern":
        return isinstance(value, str)
    return keyword in BOUNDS and isinstance(value, int | float) and abs(value) > MAX_BOUND


def _anchored(pattern: str) -> str:
    begins = pattern.startswith("^")
    ends = pattern.endswith("$") and (len(pattern) - len(pattern[:-1].rstrip("\\"))) % 2 == 1
    middle = PART.sub(_in_json, pattern[begins : len(pattern) - ends])
    if begins and ends:
        return f"^{middle}$"
    anything = f"{_class(ANY)}*"
    return f"^{'' if begins else anything}({middle}){'' if ends else anything}$"


def _in_json(found: re.Match[str]) -> str:
    """What fits a part of a pattern, as JSON writes it. Of classes, what JSON escapes is left out."""
    part = found[0]
    if part == ".":
        return _class(ANY)
    if part.startswith("["):
        return _class(_ranges(part[1:-1])) if len(part) > 2 else part
    name = part[-1]
    if part.startswith("\\") and name.lower() in CLASSES:
        ranges = CLASSES[name.lower()]
        return _class(_without(ranges) if name.isupper() else ranges)
    if part in ('"', '\\"'):
        return r'(\\")'
    if part == r"\\":
        return r"(\\\\)"
    return rf"(\\{name})" if part.startswith("\\") and name in "nrtf" else part


def _ranges(inside: str) -> Ranges:
    """The code points of a class, from what stands in its brackets."""
    is_negated = inside.startswith("^")
    parts = IN_CLASS.findall(inside.removeprefix("^"))
    ranges: Ranges = []
    while parts:
        part = parts.pop(0)
        if part[0] == "\\" and part[1].lower() in CLASSES:
            inner = CLASSES[part[1].lower()]
            ranges += _without(inner) if part[1].isupper() else inner
            continue
        low = high = _code_point(part)
        if len(parts) > 1 and parts[0] == "-":
            high = _code_point(parts[1])
            del parts[:2]
        ranges.append((low, high))
    return _without(ranges) if is_negated else ranges


def _code_point(part: str) -> int:
    if part[0] != "\\" or len(part) == 1:
        return ord(part)
    if part[1] in "xu" and len(part) > 2:
        return int(part[2:], 16)
    return ord(CONTROLS.get(part[1], part[1]))


def _without(ranges: Ranges, within: Ranges = ANY) -> Ranges:
    left = within
    for low, high in ranges:
        left = [
            piece
            for begin, end in left
            for piece in ((begin, min(end, low - 1)), (max(begin, high + 1), end))
            if piece[0] <= piece[1]
        ]
    return left


def _class(ranges: Ranges) -> str:
    """Written by code points, which no reader takes for anything else."""
    left = _without(ESCAPED, ranges)
    if not left:
        return r'(\\"|\\\\)'
    pieces = (_written(low) + (f"-{_written(high)}" if high > low else "") for low, high in left)
    return f"[{''.join(pieces)}]"


def _written(code_point: int) -> str:
    character = chr(code_point)
    if character.isascii() and character.isalnum():
        return character
    return f"\\u{code_point:04X}" if code_point <= 0xFFFF else f"\\U{code_point:08X}"


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
