"""What lies over the window is seen to: a shadow beneath it for as long as it is open."""

import pytest
from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication, QFrame, QWidget
from pytestqt.qtbot import QtBot

from app.look import popups
from app.look.popups import SPREAD, FlatCombo, Menu, Popover, Shadow, resize_to_fit, stand_out
from app.look.theme import apply_theme


@pytest.fixture
def window(qtbot: QtBot) -> QWidget:
    window = QWidget()
    qtbot.addWidget(window)
    window.resize(500, 400)
    window.show()
    return window


def shadows(window: QWidget) -> list[Shadow]:
    return [shadow for shadow in window.findChildren(Shadow) if shadow.isVisible()]


def inside(window: QWidget) -> QFrame:
    overlay = QFrame(window)
    overlay.setGeometry(100, 80, 200, 120)
    stand_out(overlay)
    return overlay


def edges(shadow: Shadow, size: QSize) -> tuple[list[int], list[int]]:
    """How dark it is from the left and from below, through its middle."""
    shadow.resize(size)
    picture, right, bottom = shadow.grab().toImage(), size.width() // 2, size.height() - 1
    return (
        [picture.pixel(x, size.height() // 2) for x in range(right)],
        [picture.pixel(right, bottom - y) for y in range(size.height() // 2)],
    )


def test_the_edge_of_a_shadow_is_as_soft_whatever_its_size(window: QWidget) -> None:
    shadow = Shadow(window)
    small, large = edges(shadow, QSize(120, 100)), edges(shadow, QSize(400, 300))
    for one, other in zip(small, large, strict=True):
        assert one[:SPREAD] == other[:SPREAD]
        assert len({*one[:SPREAD]}) > SPREAD // 3


def test_a_shadow_lies_under_what_is_shown_over_the_window_and_follows_it(window: QWidget) -> None:
    overlay = inside(window)
    neighbour = QWidget(window)
    overlay.show()
    overlay.raise_()
    (shadow,) = shadows(window)
    assert shadow.geometry().contains(overlay.geometry().adjusted(-SPREAD // 2, 0, SPREAD // 2, SPREAD // 2))
    below_to_above = window.children()
    assert below_to_above.index(neighbour) < below_to_above.index(shadow) < below_to_above.index(overlay)
    overlay.move(140, 80)
    assert shadow.geometry().center().x() == overlay.geometry().center().x()


def test_it_goes_when_that_is_closed_and_lets_clicks_through(qtbot: QtBot, window: QWidget) -> None:
    overlay = inside(window)
    overlay.show()
    assert shadows(window)[0].testAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
    overlay.hide()
    qtbot.waitUntil(lambda: not shadows(window))


def test_the_page_is_darker_beside_a_popup_and_the_more_the_nearer(window: QWidget) -> None:
    overlay = inside(window)
    overlay.show()
    page = window.grab().toImage()
    greys = [page.pixelColor(200, y).lightness() for y in (202, 208, 216, 260)]
    assert greys == sorted(greys)
    assert greys[0] < greys[-1]


def test_menus_of_menus_and_popovers_cast_one_on_the_window_below(qtbot: QtBot, window: QWidget) -> None:
    menu = Menu("one", window)
    menu.addAction("first")
    submenu = Menu("two", menu)
    submenu.addAction("second")
    popover = Popover(window)
    for popup in (menu, submenu, popover):
        popup.setGeometry(QRect(window.mapToGlobal(QPoint(50, 60)), QSize(120, 80)))
        popup.show()
        assert len(shadows(window)) == 1
        assert shadows(window)[0].geometry().contains(QRect(QPoint(50, 60), popup.size()))
        popup.hide()
        qtbot.waitUntil(lambda: not shadows(window))


def test_corners_are_cut_off_where_windows_cannot_be_seen_through(
    monkeypatch: pytest.MonkeyPatch, window: QWidget
) -> None:
    monkeypatch.setattr(popups, "is_composited", lambda: False)
    popover = Popover(window)
    popover.resize(120, 80)
    popover.show()
    assert not popover.testAttribute(Qt.WidgetAttribute.WA_TranslucentBackground)
    assert not popover.mask().contains(QPoint(0, 0))
    assert popover.mask().contains(QPoint(60, 0))
    monkeypatch.setattr(popups, "is_composited", lambda: True)  # a compositor was started meanwhile
    popover.resize(120, 90)
    assert not popover.mask().contains(QPoint(0, 89))
    popover.hide()


def test_with_a_compositor_they_are_seen_through_until_it_is_gone(
    monkeypatch: pytest.MonkeyPatch, window: QWidget
) -> None:
    monkeypatch.setattr(popups, "is_composited", lambda: True)
    popover = Popover(window)
    popover.resize(120, 80)
    popover.show()
    assert popover.testAttribute(Qt.WidgetAttribute.WA_TranslucentBackground)
    assert popover.mask().isEmpty()
    monkeypatch.setattr(popups, "is_composited", lambda: False)
    popover.resize(120, 90)
    assert not popover.mask().contains(QPoint(0, 0))
    popover.hide()


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


def test_a_window_is_as_large_as_wanted_but_never_larger_than_the_screen(qtbot: QtBot) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    resize_to_fit(window, QSize(300, 200))
    assert window.size() == QSize(300, 200)
    screen = window.screen().availableSize()
    resize_to_fit(window, QSize(300, 10_000))
    assert window.width() == 300
    assert 0 < screen.height() - window.height() <= 100
