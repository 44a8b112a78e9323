import pytest
from PySide6.QtCore import QSize
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QApplication

from app.look.icons import ICON_DIR, app_icon, icon

HAVE_COLOURS = ("skein", "clear")  # of their own; the style sheet takes the latter as it is
NAMES = sorted(path.stem for path in ICON_DIR.glob("*.svg") if path.stem not in HAVE_COLOURS)


@pytest.mark.parametrize("name", NAMES)
def test_each_icon_is_drawn_in_the_colour_asked_for(qapp: QApplication, name: str) -> None:
    image = icon(name, "#a8261b").pixmap(QSize(16, 16)).toImage()
    pixels = [image.pixelColor(x, y) for x in range(image.width()) for y in range(image.height())]
    drawn = [pixel for pixel in pixels if pixel.alpha() > 100]
    assert drawn
    assert all(abs(pixel.red() - QColor("#a8261b").red()) < 8 for pixel in drawn)


def test_the_icon_of_the_program_can_be_drawn_small_and_large(qapp: QApplication) -> None:
    for side in (16, 256):
        assert not app_icon().pixmap(side, side).isNull()


def test_empty_chats_share_one_picture_of_the_program(qapp: QApplication) -> None:
    assert app_icon().pixmap(48, 48).cacheKey() == app_icon().pixmap(48, 48).cacheKey()
