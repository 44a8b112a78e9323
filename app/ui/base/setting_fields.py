"""Reads kind, bounds and default of the fields of Settings. Pure functions."""

import types
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from app.settings.settings import Settings


@dataclass(frozen=True, slots=True)
class Field:
    """`kind` is the type without None. `low` and `high` bound a number; `values` are the possible ones."""

    kind: type
    default: Any
    is_optional: bool = False
    low: float | None = None
    high: float | None = None
    values: tuple[str, ...] = ()


def field_of(name: str, settings: type[BaseModel] = Settings) -> Field:
    info = settings.model_fields[name]
    annotation, limits, is_optional = _unwrapped(info.annotation, list(info.metadata))
    values = get_args(annotation) if get_origin(annotation) is Literal else ()
    return Field(
        kind=str if values else get_origin(annotation) or annotation,
        default=info.get_default(call_default_factory=True),
        is_optional=is_optional,
        low=_bound(limits, "ge"),
        high=_bound(limits, "le"),
        values=values,
    )


def _unwrapped(annotation: Any, limits: list[Any]) -> tuple[Any, list[Any], bool]:
    is_optional = False
    if get_origin(annotation) in (Union, types.UnionType):
        annotation = next(kind for kind in get_args(annotation) if kind is not type(None))
        is_optional = True
    if get_origin(annotation) is Annotated:
        annotation, *metadata = get_args(annotation)
        for one in metadata:
            limits += one.metadata if isinstance(one, FieldInfo) else [one]
    return annotation, limits, is_optional


def _bound(limits: list[Any], name: str) -> float | None:
    return next((getattr(limit, name) for limit in limits if hasattr(limit, name)), None)
