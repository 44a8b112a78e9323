import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtWidgets import QApplication, QScrollArea, QToolButton, QWidget
from pytestqt.qtbot import QtBot

from app.look.plain_text import ElidedLabel
from app.look.theme import apply_theme, palette_of, style_sheet, tokens_for
from app.look.tokens import ALL, DARK, DARK_CONTRAST, LIGHT, LIGHT_CONTRAST, Tokens, current


@pytest.fixture
def application(qapp: QApplication) -> Iterator[QApplication]:
    yield qapp
    apply_theme(qapp, "light")


def test_a_chosen_theme_does_not_ask_the_system() -> None:
    assert tokens_for("dark", Qt.ColorScheme.Light) is DARK
    assert tokens_for("light", Qt.ColorScheme.Dark) is LIGHT


def test_the_system_theme_follows_the_system_and_is_light_where_it_does_not_say() -> None:
    assert tokens_for("system", Qt.ColorScheme.Dark) is DARK
    assert tokens_for("system", Qt.ColorScheme.Light) is LIGHT
    assert tokens_for("system", Qt.ColorScheme.Unknown) is LIGHT


def test_whoever_asks_the_desktop_for_high_contrast_gets_it() -> None:
    assert tokens_for("system", Qt.ColorScheme.Dark, wants_contrast=True) is DARK_CONTRAST
    assert tokens_for("light", Qt.ColorScheme.Dark, wants_contrast=True) is LIGHT_CONTRAST


@pytest.mark.parametrize("tokens", ALL)
def test_the_palette_tells_which_tokens_it_was_made_from(application: QApplication, tokens: Tokens) -> None:
    application.setPalette(palette_of(tokens))
    assert current() is tokens
    application.setStyleSheet("")  # so that the next theme is put on anew


def test_the_tokens_in_use_are_those_of_the_theme_applied_last(application: QApplication) -> None:
    apply_theme(application, "dark")
    assert current() is DARK
    apply_theme(application, "light")
    assert current() is LIGHT


def test_every_name_in_the_style_sheet_is_a_token() -> None:
    for tokens in ALL:
        assert "@" not in style_sheet(tokens)


def test_every_picture_in_the_style_sheet_is_there() -> None:
    pictures = re.findall(r'url\("(.*?)"\)', style_sheet(LIGHT))
    assert pictures
    assert all(Path(picture).is_file() for picture in pictures)


def test_a_widget_deep_in_the_window_is_not_told_of_a_new_theme_for_each_of_its_ancestors(
    application: QApplication, qtbot: QtBot
) -> None:
    heard: list[QEvent.Type] = []

    class Leaf(QToolButton):
        def changeEvent(self, event: QEvent) -> None:
            heard.append(event.type())

    apply_theme(application, "dark")
    page = parent = QWidget()
    qtbot.addWidget(page)
    for _ in range(20):
        parent = QScrollArea(parent)
    Leaf(parent)
    page.show()
    heard.clear()
    apply_theme(application, "light")
    assert heard.count(QEvent.Type.PaletteChange) in range(1, 10)


def test_an_elided_label_has_the_colour_of_its_tone(application: QApplication, qtbot: QtBot) -> None:
    apply_theme(application, "light")
    for tone in ("", "muted", "danger"):
        label = ElidedLabel("▇" * 8, tone=tone)
        qtbot.addWidget(label)
        label.resize(200, 30)
        picture = label.grab().toImage()
        colours = {picture.pixelColor(x, 15).name() for x in range(picture.width())}
        assert getattr(LIGHT, tone or "text") in colours
