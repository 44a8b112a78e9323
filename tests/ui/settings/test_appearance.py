from collections.abc import Iterator

import pytest
from PySide6.QtGui import QFontDatabase
from PySide6.QtWidgets import QApplication

from app.look import motion
from app.look.fonts import code_font, reading_font
from app.look.tokens import DARK, LIGHT, current
from app.services.preferences import Preferences
from app.settings.appearance import MAX_ZOOM, MIN_ZOOM
from app.settings.settings import Settings
from app.ui.settings.appearance import Appearance, apply_appearance


@pytest.fixture
def preferences(qapp: QApplication) -> Iterator[Preferences]:
    yield Preferences(Settings(theme="light"))
    apply_appearance(qapp, Settings(theme="light"))


@pytest.fixture
def appearance(preferences) -> Appearance:
    return Appearance(preferences, preferences)


@pytest.fixture
def told(appearance) -> list[int]:
    told: list[int] = []
    appearance.text_changed.connect(told.append)
    return told


def test_a_theme_is_worn_as_soon_as_it_is_chosen(appearance, preferences) -> None:
    assert current() is LIGHT
    appearance.choose_theme("dark")
    assert preferences.settings.theme == "dark"
    assert current() is DARK


def test_the_size_of_the_text_is_kept_and_stays_within_its_bounds(appearance, preferences, told) -> None:
    appearance.zoom_by(2)
    appearance.zoom_by(-1)
    appearance.set_zoom(99)
    appearance.zoom_by(1)
    appearance.set_zoom(-99)
    assert told == [2, 1, MAX_ZOOM, MIN_ZOOM]
    assert preferences.settings.zoom == MIN_ZOOM


def test_a_notch_of_the_wheel_is_a_point_and_a_touchpad_takes_its_time(appearance, told) -> None:
    appearance.turn_wheel(120)
    for _ in range(5):
        appearance.turn_wheel(30)
    appearance.turn_wheel(-240)
    assert told == [1, 2, 0]


def test_families_are_used_for_what_is_set_next(appearance, preferences, told) -> None:
    family = QFontDatabase.families()[-1]
    preferences.set("reading_font", family)
    preferences.set("code_font", family)
    assert reading_font().families()[0] == family
    assert code_font().families()[0] == family
    assert len(reading_font().families()) > 1  # the system's own stay behind it
    assert told == [0, 0]


def test_a_family_that_is_gone_counts_as_none(appearance, preferences) -> None:
    usual = reading_font().families()
    preferences.set("reading_font", "A font that is not here")
    assert reading_font().families() == usual


def test_motion_can_be_switched_off_and_on(appearance, preferences) -> None:
    preferences.set("motion", "reduced")
    assert motion.is_reduced()
    preferences.set("motion", "full")
    assert not motion.is_reduced()
