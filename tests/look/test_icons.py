import gc

import pytest
from PySide6.QtCore import QSize
from PySide6.QtGui import QColor, QIcon, QPixmap
from PySide6.QtWidgets import QApplication, QPushButton

from app.look.icons import ICON_DIR, app_icon, icon
from app.look.theme import apply_theme
from app.look.tokens import DARK, LIGHT

HAVE_COLOURS = ("skein", "clear")  # of their own; the style sheet takes the latter as it is
NAMES = sorted(path.stem for path in ICON_DIR.glob("*.svg") if path.stem not in HAVE_COLOURS)


@pytest.mark.parametrize("name", NAMES)
def test_each_icon_is_drawn_in_the_colour_asked_for(qapp: QApplication, name: str) -> None:
    _assert_colour(icon(name, "#a8261b").pixmap(QSize(16, 16)), "#a8261b")


def test_an_icon_is_drawn_in_the_colours_of_the_theme_of_now(qapp: QApplication) -> None:
    made, danger = icon("x"), icon("x", "danger")
    for theme, tokens in (("dark", DARK), ("light", LIGHT)):
        apply_theme(qapp, theme)
        _assert_colour(made.pixmap(QSize(16, 16), 2.0), tokens.muted)
        _assert_colour(made.pixmap(QSize(16, 16), made.Mode.Disabled), tokens.hairline)
        _assert_colour(danger.pixmap(16), tokens.danger)


def test_a_copy_that_is_added_to_is_drawn_too(qapp: QApplication) -> None:
    copy = QIcon(icon("x", "#a8261b"))
    copy.addPixmap(QPixmap(16, 16))
    gc.collect()
    _assert_colour(copy.pixmap(QSize(16, 16)), "#a8261b")


def test_a_checked_button_shows_its_other_icon(qapp: QApplication) -> None:
    button = QPushButton(checkable=True, icon=icon("chevron-right", on="chevron-down"))  # type: ignore[call-overload]
    folded = button.grab().toImage()
    button.setChecked(True)
    assert button.grab().toImage() != folded


def _assert_colour(pixmap: QPixmap, colour: str) -> None:
    image = pixmap.toImage()
    pixels = [image.pixelColor(x, y) for x in range(image.width()) for y in range(image.height())]
    drawn = [pixel for pixel in pixels if pixel.alpha() > 100]
    assert drawn
    assert all(abs(pixel.red() - QColor(colour).red()) < 8 for pixel in drawn)


def test_the_icon_of_the_program_can_be_drawn_small_and_large(qapp: QApplication) -> None:
    for side in (16, 256):
        assert not app_icon().pixmap(side, side).isNull()


def test_empty_chats_share_one_picture_of_the_program(qapp: QApplication) -> None:
    assert app_icon().pixmap(48, 48).cacheKey() == app_icon().pixmap(48, 48).cacheKey()
