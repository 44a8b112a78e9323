"""Tokens in one line of text, and rows of pictures and sounds among them in words. Pure functions."""

from app.look.words import mark, tr, tr_n
from app.protocol.media import MediaKind, MediaSpan

_SIGNS = str.maketrans({" ": "␣", "\n": "⏎", "\r": "␍", "\t": "⇥"})
LAST_TEXT = -1  # below it, a token id stands for a row of a picture or a sound
POSITIONS = mark(
    "A picture takes one cell for each of its rows of embeddings. Models with M-RoPE give them positions "
    "along its longer side only: the text behind it goes on at a smaller position than the cells count."
)


def shown(text: bytes) -> str:
    """Spaces and line ends by a sign; half a character by its bytes, `\\xe2`."""
    characters = text.decode("utf-8", "backslashreplace").translate(_SIGNS)
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in characters)


def kind_text(kind: MediaKind | None) -> str:
    if kind is None:
        return tr("picture or sound")
    return tr("picture") if kind is MediaKind.PICTURE else tr("sound")


def span_text(span: MediaSpan) -> str:
    """Its cells and positions, where these are not as many."""
    parts = [kind_text(span.kind), tr_n("{n} cell", "{n} cells", span.num_cells)]
    if span.num_positions != span.num_cells:
        parts.append(tr_n("{n} position", "{n} positions", span.num_positions))
    return " · ".join(parts)
