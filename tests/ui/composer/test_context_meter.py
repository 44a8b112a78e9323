from collections.abc import Iterator

import pytest
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from app.look.tokens import current
from app.ui.composer.context_meter import BAR_WIDTH, GAP, ContextFigures, ContextMeter


@pytest.fixture
def meter(qtbot: QtBot) -> Iterator[ContextMeter]:
    parent = QWidget()
    qtbot.addWidget(parent)
    meter = ContextMeter(parent)
    parent.show()
    yield meter


def colours(meter: ContextMeter) -> list[QColor]:
    """Of the bar, from left to right, without its rounded ends."""
    meter.resize(meter.sizeHint())
    image = meter.grab().toImage()
    left = meter.width() - meter.fontMetrics().horizontalAdvance(meter.text) - GAP - BAR_WIDTH
    return [image.pixelColor(left + x, meter.height() // 2) for x in range(4, BAR_WIDTH - 4)]


def test_it_keeps_its_width_while_it_fills(meter: ContextMeter) -> None:
    meter.apply(ContextFigures(412, 400, limit=4096))
    width = meter.sizeHint().width()
    assert meter.text == "412 / 4,096"
    meter.apply(ContextFigures(4096, 400, limit=4096))
    assert meter.sizeHint().width() == width


def test_the_bar_has_three_tones_in_their_order(meter: ContextMeter) -> None:
    meter.apply(ContextFigures(used=200, cached=100, draft=100, limit=400))
    seen = colours(meter)
    tones = [colour for n, colour in enumerate(seen) if colour not in seen[:n] and seen.count(colour) > 8]
    assert len(tones) == 4
    assert seen[0] == QColor(current().accent)
    assert seen[-1] == QColor(current().hairline)


def test_the_bar_warns_when_the_draft_will_fill_it(meter: ContextMeter) -> None:
    meter.apply(ContextFigures(used=200, cached=200, draft=400, limit=400))
    assert colours(meter)[0] == QColor(current().warning)


def test_the_tooltip_says_each_figure_in_words(meter: ContextMeter) -> None:
    meter.apply(ContextFigures(used=200, cached=100, draft=50, limit=400))
    assert "of them are cached" in meter.toolTip()
    assert "Draft 50 tokens this message and its files will add" in meter.accessibleDescription()


def test_without_a_model_it_takes_no_place(meter: ContextMeter) -> None:
    meter.apply(ContextFigures(used=200))
    assert meter.sizeHint().width() == 0
