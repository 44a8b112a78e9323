"""How a field travels between processes, where its type alone does not say it. Marks in annotations.

`wire` reads them through pydantic. Child processes that need no `wire` do not wait for its import.
"""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, get_args

from app.system.said import from_text, to_text

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler
    from pydantic_core import CoreSchema


class Part:
    """An array, or bytes without a `dtype`: they travel beside the text, which has (number, shape).

    The context is the list of the parts. Without one, as in a recording, there is no way to have them.
    """

    def __init__(self, dtype: str = "") -> None:
        self._dtype = dtype

    def __get_pydantic_core_schema__(self, _source: object, _handler: GetCoreSchemaHandler) -> CoreSchema:
        from pydantic_core import core_schema as schema

        return schema.with_info_plain_validator_function(
            self._read,
            serialization=schema.plain_serializer_function_ser_schema(self._write, info_arg=True),
        )

    def _write(self, value: Any, info: Any) -> tuple[int, list[int]]:
        info.context.append(value if isinstance(value, bytes) else value.astype(self._dtype).tobytes())
        return len(info.context) - 1, list(getattr(value, "shape", ()))

    def _read(self, value: Any, info: Any) -> Any:
        try:
            number, shape = value
            part: bytes = info.context[number]
            if not self._dtype:
                return part
            import numpy as np  # the window is shown without

            return np.frombuffer(part, self._dtype).reshape(shape)
        except (TypeError, LookupError) as error:
            raise ValueError("it has no such part") from error


class _Named:
    """A union: ("name of the class", value), so that no value can be taken for one of another class."""

    def __get_pydantic_core_schema__(self, union: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        from pydantic_core import core_schema as schema

        pairs: dict[Any, CoreSchema] = {
            kind.__name__: schema.tuple_schema(
                [schema.literal_schema([kind.__name__]), handler.generate_schema(kind)]
            )
            for kind in get_args(union)
        }
        pair = schema.tagged_union_schema(pairs, discriminator=_first)
        return schema.no_info_after_validator_function(
            itemgetter(1),
            pair,
            serialization=schema.plain_serializer_function_ser_schema(
                lambda value: (type(value).__name__, value), return_schema=pair
            ),
        )


class _Said:
    """A sentence for the person at the screen: it can be told in the reader's language where it arrives."""

    def __get_pydantic_core_schema__(self, _source: object, _handler: GetCoreSchemaHandler) -> CoreSchema:
        from pydantic_core import core_schema as schema

        return schema.with_info_after_validator_function(
            lambda text, info: text if info.context is None else from_text(text),
            schema.str_schema(),
            serialization=schema.plain_serializer_function_ser_schema(
                lambda text, info: str.__str__(text) if info.context is None else to_text(text),
                info_arg=True,
                return_schema=schema.str_schema(),
            ),
        )


NAMED = _Named()
Sentence: TypeAlias = Annotated[str, _Said()]


def _first(pair: Any) -> Any:
    return pair[0] if isinstance(pair, list | tuple) and pair else None
