"""The list of a combo box can be read, also the row that is pointed at."""

import pytest
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.look.popups import FlatCombo
from app.look.theme import apply_theme


@pytest.fixture(autouse=True)
def usual_theme_after(qapp: QApplication):
    yield
    apply_theme(qapp, "light")


def contrast(row: QImage) -> int:
    """Between the darkest and the lightest pixel, of 255."""
    values = [row.pixelColor(x, y).lightness() for x in range(row.width()) for y in range(row.height())]
    return max(values) - min(values)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_chosen_row_is_as_legible_as_the_others(qapp: QApplication, qtbot: QtBot, theme: str) -> None:
    apply_theme(qapp, theme)
    combo = FlatCombo()
    qtbot.addWidget(combo)
    combo.addItems(["System", "Light", "Dark"])
    combo.show()
    combo.showPopup()
    view = combo.view()
    view.setCurrentIndex(combo.model().index(1, 0))
    shown = view.viewport().grab().toImage()
    rows = [shown.copy(view.visualRect(combo.model().index(row, 0)).adjusted(2, 2, -2, -2)) for row in (0, 1)]
    assert contrast(rows[1]) > 0.8 * contrast(rows[0]) > 100
    assert rows[0].pixelColor(rows[0].width() - 8, 5) != rows[1].pixelColor(rows[1].width() - 8, 5)
    combo.hidePopup()
