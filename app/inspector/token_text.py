"""How a token's text is shown in one line. Pure functions."""

_SIGNS = str.maketrans({" ": "␣", "\n": "⏎", "\r": "␍", "\t": "⇥"})


def shown(text: bytes) -> str:
    """Spaces and line ends by a sign; half a character by its bytes, `\\xe2`."""
    characters = text.decode("utf-8", "backslashreplace").translate(_SIGNS)
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in characters)
