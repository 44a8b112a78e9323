"""What the panel of token probabilities shows in the answer itself: the chosen token, and how sure each was.

GUI thread.
"""

import math
from dataclasses import dataclass

from PySide6.QtGui import QColor

from app.look.figures import decimal
from app.look.tokens import current, mixed

# From which probability on, the colour, how much of it is seen. Text on it keeps its contrast.
STEPS = ((0.9, "ok", 0.14), (0.5, "warning", 0.1), (0.1, "warning", 0.2), (0.0, "danger", 0.2))
UNSURE = 0.1  # below it a token is underlined, too: colour alone says nothing


@dataclass(frozen=True, slots=True)
class AnswerMarks:
    """`turn` is the window's handle for the answer, `pieces` are the bytes of its tokens.

    `place` is the chosen one. `logprobs` are known for the first of them; empty: the answer is not coloured.
    """

    turn: object
    pieces: tuple[bytes, ...]
    place: int | None
    logprobs: tuple[float, ...] = ()


def tint(logprob: float) -> QColor:
    probability = math.exp(logprob)
    name, share = next((name, share) for least, name, share in STEPS if probability >= least)
    colour = QColor(getattr(current(), name))
    colour.setAlphaF(share)
    return colour


def is_unsure(logprob: float) -> bool:
    return math.exp(logprob) < UNSURE


def legend() -> str:
    """The steps as HTML, from sure to unsure."""
    bounds = [f"≥ {decimal(100 * least, 0)}%" for least, _name, _share in STEPS[:-1]]
    labels = [*bounds, f"< {decimal(100 * UNSURE, 0)}%"]
    return " ".join(swatch(label, *step[1:]) for label, step in zip(labels, STEPS, strict=True))


def swatch(label: str, name: str, share: float) -> str:
    colour = mixed(QColor(current().surface), QColor(getattr(current(), name)), share)
    line = "underline" if name == "danger" else "none"
    look = f"background: {colour.name()}; text-decoration: {line}"
    return f'<span style="{look}">&nbsp;{label.replace("<", "&lt;")}&nbsp;</span>'
