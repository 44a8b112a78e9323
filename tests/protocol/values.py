"""Strategies for all values of `app/protocol`, made from their types: no field can be forgotten."""

from __future__ import annotations

import types
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

import numpy as np
from hypothesis import strategies as st

from app.protocol.answer_format import ChatParams
from app.protocol.load import LoadParams
from app.protocol.report import CellMap
from app.protocol.request import Message, Request, Role
from app.protocol.sampling import SamplingParams
from app.protocol.travel import Part, Sentence
from app.system.said import said

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
SAID = TEXTS.map(lambda text: said("It is {what}: {number:,}.", what=text, number=3))
# What their own checks allow.
SPECIAL: dict[Any, st.SearchStrategy[Any]] = {
    SamplingParams: st.builds(
        SamplingParams,
        temperature=st.floats(1.0, 2.0),
        top_k=st.integers(0, 100),
        ignore_eos=st.booleans(),
        logit_bias=st.sampled_from([(), ((3, float("-inf")), (4, 1.5))]),
        seed=st.none() | st.integers(0, 9),
    ),
    ChatParams: st.builds(
        ChatParams,
        may_call=st.lists(TEXTS, max_size=2).map(tuple),
        goes_on=st.sampled_from([True, False, "content"]),
        parallel_tool_calls=st.sampled_from([None, True]),
    ),
}
PLAIN: dict[Any, st.SearchStrategy[Any]] = {
    str: TEXTS,
    int: st.integers(-(2**40), 2**40),
    float: st.floats(allow_nan=False),
    bool: st.booleans(),
    bytes: st.binary(max_size=8),
    type(None): st.none(),
    Path: st.sampled_from([Path("a/b.gguf"), Path("c")]),
    Sentence: TEXTS | SAID,
}


def of(annotation: Any) -> st.SearchStrategy[Any]:
    if annotation in SPECIAL:
        return SPECIAL[annotation]
    if annotation is Message:
        media = of(get_type_hints(Message, include_extras=True)["media"])
        return st.builds(Message, st.sampled_from(Role), TEXTS, media=media)
    if annotation is Request:
        hints = get_type_hints(Request, include_extras=True)
        free = ("chat_id", "sampling", "answer_start", "chat_params", "caller", "begins_as", "is_saved")
        messages = st.lists(of(Message), min_size=1, max_size=2).map(tuple)
        return st.builds(Request, TEXTS, messages=messages, **{name: of(hints[name]) for name in free})
    if annotation is CellMap:
        return cell_maps()
    if annotation in PLAIN:
        return PLAIN[annotation]
    return _made_of(annotation)


def _made_of(annotation: Any) -> st.SearchStrategy[Any]:
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        part = next((mark for mark in annotation.__metadata__ if isinstance(mark, Part)), None)
        if part is None or arguments[0] is bytes:
            return of(arguments[0])
        return st.lists(st.integers(0, 200), max_size=4).map(lambda ns: np.array(ns, part._dtype))
    if origin in (Union, types.UnionType):
        return st.one_of([of(one) for one in arguments])
    if origin is tuple and arguments[-1] is ...:
        return st.lists(of(arguments[0]), max_size=2).map(tuple)
    if origin is tuple:
        return st.tuples(*map(of, arguments))
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return st.sampled_from(annotation)
    if is_dataclass(annotation):
        return dataclasses(annotation)  # type: ignore[arg-type]
    return st.builds(annotation, **{name: of(kind) for name, kind in get_type_hints(annotation).items()})


def dataclasses(kind: Callable[..., Any]) -> st.SearchStrategy[Any]:
    hints = get_type_hints(kind, include_extras=True)
    return st.deferred(
        lambda: st.builds(kind, **{field.name: of(hints[field.name]) for field in fields(kind)})  # type: ignore[arg-type]
    )


@st.composite
def cell_maps(draw: st.DrawFn, num_cells: int = 6) -> CellMap:
    def numbers(low: int, high: int, dtype: str) -> Any:
        return np.array(draw(st.lists(st.integers(low, high), min_size=num_cells, max_size=num_cells)), dtype)

    holders = numbers(0, 3, "<u8").reshape(num_cells, 1)
    return CellMap(numbers(-1, 2, "<i4"), numbers(-1, 2, "<i4"), holders, draw(st.integers(0, 9)))


LOAD_PARAMS = of(LoadParams)
