"""The colours everything is drawn with, once for light and once for dark, and those of the sequences.

Knows no widget. The set in use is derived from the application's palette, so it is stored in one place only.
GUI thread.
"""

from functools import lru_cache
from typing import NamedTuple

from PySide6.QtGui import QColor, QGuiApplication


class Tokens(NamedTuple):
    """Colours as `#rrggbb`. Text is legible (7:1), muted text readable (4.5:1) on all backgrounds."""

    is_dark: bool
    window: str  # the page the text stands on, and free cells
    surface: str  # what frames it: menus, tabs, inspector
    raised: str  # what lies on it: the user's messages, code
    popup: str  # menus, lists that drop down, the palette: what lies over the window
    chosen: str  # a row of them, or of another list
    text: str
    muted: str
    hairline: str
    accent: str
    on_accent: str
    danger: str
    warning: str
    ok: str
    # The colours of code, which lies on what is raised; comments are muted.
    keyword: str
    string: str
    number: str
    function: str
    type_: str
    operator: str


LIGHT = Tokens(
    is_dark=False,
    window="#fdfdfc",
    surface="#f4f4f2",
    raised="#eeeeeb",
    popup="#ffffff",
    chosen="#e4e9e7",
    text="#1d1f21",
    muted="#5f6366",
    hairline="#dddedb",
    accent="#0f6e69",
    on_accent="#ffffff",
    danger="#a8261b",
    warning="#7d5400",
    ok="#2b6b3d",
    keyword="#8a2a6b",
    string="#2b6b3d",
    number="#94420a",
    function="#1d55a5",
    type_="#0f6a75",
    operator="#55595c",
)

DARK = Tokens(
    is_dark=True,
    window="#17191b",
    surface="#1e2123",
    raised="#282c2f",
    popup="#24282b",
    chosen="#353c40",
    text="#e6e7e6",
    muted="#a3a8ab",
    hairline="#363b3e",
    accent="#5cc0b4",
    on_accent="#0c1716",
    danger="#f29c92",
    warning="#e2b55a",
    ok="#86cb97",
    keyword="#dd9ac6",
    string="#a3c88f",
    number="#e3ad7a",
    function="#8fb9f0",
    type_="#6fc6c9",
    operator="#b4b9bc",
)


# For desktops set to high contrast: no grey text, and visible lines.
LIGHT_CONTRAST = LIGHT._replace(
    window="#ffffff",
    surface="#fafafa",
    raised="#e9e9e9",
    chosen="#dfdfdf",
    text="#000000",
    muted="#2e2e2e",
    hairline="#5a5a5a",
    accent="#004f4b",
    danger="#8a0f06",
    warning="#5a3c00",
    ok="#0f4d20",
    keyword="#6b1550",
    string="#0f4d20",
    number="#6b2c00",
    function="#0c3a7d",
    type_="#00474f",
    operator="#2e2e2e",
)
DARK_CONTRAST = DARK._replace(
    window="#000000",
    surface="#0b0b0b",
    raised="#262626",
    popup="#141414",
    chosen="#333333",
    text="#ffffff",
    muted="#dcdcdc",
    hairline="#a6a6a6",
    accent="#7fe6da",
    danger="#ffb9b1",
    warning="#ffd98a",
    ok="#aef0bf",
    keyword="#ffc2e6",
    string="#c3f0ad",
    number="#ffcf9f",
    function="#bcd8ff",
    type_="#9cecee",
    operator="#dcdcdc",
)
ALL = (LIGHT, DARK, LIGHT_CONTRAST, DARK_CONTRAST)
_BY_SURFACE = {0xFF000000 | int(tokens.surface[1:], 16): tokens for tokens in ALL}


def current() -> Tokens:
    """The set in use now. The palette was made from its surface."""
    return _set_of(QGuiApplication.palette().cacheKey())


@lru_cache(1)
def _set_of(_palette_key: int) -> Tokens:
    """Painting asks a hundred times."""
    surface = QGuiApplication.palette().window().color()
    return _BY_SURFACE.get(surface.rgb(), DARK if surface.lightness() < 128 else LIGHT)


# Chosen by search: under normal sight and the three kinds of colour blindness any two are about as far apart
# as the closest of the seven Okabe-Ito colours, and each stands out (2:1) on the light and on the dark page.
# The last ones are close to the accent and to the colour of errors. A colour always comes with its `seq_id`
# or tab title.
SEQUENCE_COLOURS = (
    "#006db6", "#ff8600", "#b69eff", "#9e3d86", "#ce9e79", "#5586ff",
    "#aa6d79", "#db6118", "#7986b6", "#6db6c2", "#aa2418", "#006155",
)  # fmt: skip


def colour_of(seq_id: int) -> QColor:
    return QColor(SEQUENCE_COLOURS[seq_id % len(SEQUENCE_COLOURS)])


def mixed(colour: QColor, other: QColor, share: float) -> QColor:
    """With `share` of the other colour."""
    return QColor.fromRgbF(
        colour.redF() + share * (other.redF() - colour.redF()),
        colour.greenF() + share * (other.greenF() - colour.greenF()),
        colour.blueF() + share * (other.blueF() - colour.blueF()),
    )
