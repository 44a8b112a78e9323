from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QFontDatabase
from PySide6.QtWidgets import QApplication, QMenu, QProxyStyle, QPushButton, QStyle
from pytestqt.qtbot import QtBot

from app.look.fonts import code_font, reading_font
from app.look.strip import Offer
from app.look.tokens import DARK, LIGHT, current
from app.services.preferences import Preferences
from app.settings.settings import MAX_ZOOM, MIN_ZOOM, Settings
from app.ui.base.notices import ERROR
from app.ui.main_window import MainWindow
from app.ui.settings.appearance import Appearance, Languages, apply_appearance, choose_motion, is_reduced


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
    assert is_reduced()
    preferences.set("motion", "full")
    assert not is_reduced()


@pytest.fixture
def application(qapp: QApplication) -> Iterator[QApplication]:
    yield qapp
    choose_motion(qapp, "system")


class _Still(QProxyStyle):
    """As Qt's own are where the desktop's effects are off."""

    def styleHint(self, hint, *arguments):  # type: ignore[no-untyped-def]
        is_asked = hint == QStyle.StyleHint.SH_Widget_Animation_Duration
        return 0 if is_asked else super().styleHint(hint, *arguments)


def test_without_motion_no_cursor_blinks_and_no_menu_fades(application) -> None:
    choose_motion(application, "full")
    usual = application.cursorFlashTime()
    assert usual > 0
    assert application.isEffectEnabled(Qt.UIEffect.UI_General)
    choose_motion(application, "reduced")
    assert application.cursorFlashTime() == 0
    assert not application.isEffectEnabled(Qt.UIEffect.UI_General)
    choose_motion(application, "full")
    assert application.cursorFlashTime() == usual


def test_otherwise_it_is_as_the_desktop_has_it(application, monkeypatch: pytest.MonkeyPatch) -> None:
    choose_motion(application, "system")
    assert is_reduced() is False
    monkeypatch.setattr(QApplication, "style", lambda: _Still("Fusion"))
    assert is_reduced() is True


@pytest.fixture
def languages(window: MainWindow) -> Languages:
    return window.languages


def choose(menu: QMenu, name: str) -> None:
    next(action for action in menu.actions() if action.text().replace("&", "") == name).trigger()


def offers(window: MainWindow) -> list[str]:
    return [banner.text for banner in window.notices.banners() if banner.look is not ERROR]


def test_every_language_stands_there_by_its_own_name(languages: Languages) -> None:
    names = [action.text().replace("&", "") for action in languages.menu.actions()]
    assert names[:2] == ["System", "English"]
    assert "简体中文" in names
    assert languages.menu.actions()[0].isChecked()


def test_choosing_one_keeps_it_and_offers_to_start_again(window: MainWindow, languages: Languages) -> None:
    choose(languages.menu, "简体中文")
    assert window.preferences.settings.language == "zh_CN"
    assert len(offers(window)) == 1
    assert "简体中文" in offers(window)[0]
    assert not any(banner.look is ERROR for banner in window.notices.banners())


def test_going_back_withdraws_the_offer(window: MainWindow, languages: Languages) -> None:
    choose(languages.menu, "简体中文")
    choose(languages.menu, "English")
    assert offers(window) == []


def test_a_choice_made_in_the_settings_counts_the_same(window: MainWindow, languages: Languages) -> None:
    window.preferences.set("language", "zh_CN")
    assert len(offers(window)) == 1
    assert [action.isChecked() for action in languages.menu.actions()].index(True) > 1


def test_it_starts_again_only_when_that_is_wanted(
    qtbot: QtBot, window: MainWindow, languages: Languages
) -> None:
    choose(languages.menu, "简体中文")
    (banner,) = [banner for banner in window.notices.banners() if banner.look is not ERROR]
    with qtbot.waitSignal(languages.restart_requested):
        banner.findChildren(QPushButton)[0].click()
    assert offers(window) == []


def test_errors_and_the_offer_stand_beside_each_other(window: MainWindow, languages: Languages) -> None:
    window.notices.show_error("The disk is full.", Offer("Reload model", lambda: None))
    choose(languages.menu, "简体中文")
    assert len(window.notices.banners()) == 2
    window.notices.dismiss_offers()  # a model is loaded again
    assert len(offers(window)) == 1
