import pytest
from PySide6.QtWidgets import QMenu, QPushButton
from pytestqt.qtbot import QtBot

from app.look.strip import Offer
from app.ui.base.notices import ERROR
from app.ui.main_window import MainWindow
from app.ui.settings.appearance import Languages


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
