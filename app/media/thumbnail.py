"""A small copy of a picture, to be shown. Any thread."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Thumbnail:
    """8-bit RGB, row by row, without padding."""

    width: int
    height: int
    rgb: bytes = field(repr=False)
