"""The colours everything is drawn with, once for light and once for dark.

Knows no widget. Which set is in use is read off the application's palette, so it is stated in one place only.
GUI thread.
"""

from dataclasses import dataclass

from PySide6.QtGui import QGuiApplication


@dataclass(frozen=True, slots=True)
class Tokens:
    """Colours as `#rrggbb`. Text is legible (7:1), muted text readable (4.5:1) on all backgrounds."""

    is_dark: bool
    window: str  # the page the text stands on, and free cells
    surface: str  # what frames it: menus, tabs, inspector
    raised: str  # what lies on it: the user's messages, code
    text: str
    muted: str
    hairline: str
    accent: str
    on_accent: str
    danger: str
    warning: str
    ok: str


LIGHT = Tokens(
    is_dark=False,
    window="#fdfdfc",
    surface="#f4f4f2",
    raised="#eeeeeb",
    text="#1d1f21",
    muted="#5f6366",
    hairline="#dddedb",
    accent="#0f6e69",
    on_accent="#ffffff",
    danger="#a8261b",
    warning="#7d5400",
    ok="#2b6b3d",
)

DARK = Tokens(
    is_dark=True,
    window="#17191b",
    surface="#1e2123",
    raised="#282c2f",
    text="#e6e7e6",
    muted="#a3a8ab",
    hairline="#363b3e",
    accent="#5cc0b4",
    on_accent="#0c1716",
    danger="#f29c92",
    warning="#e2b55a",
    ok="#86cb97",
)


def current() -> Tokens:
    """The set in use now."""
    return DARK if QGuiApplication.palette().window().color().lightness() < 128 else LIGHT
