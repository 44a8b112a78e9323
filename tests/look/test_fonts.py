from pathlib import Path

import pytest
from PySide6.QtGui import QFont, QFontDatabase, QFontInfo, QTextLayout
from PySide6.QtWidgets import QApplication

from app.look.fonts import (
    CODE_FAMILY,
    FONTS_DIR,
    INTERFACE_FAMILY,
    SYSTEM,
    add_shipped_fonts,
    choose_families,
    choose_interface_family,
    code_font,
    reading_font,
)


@pytest.fixture
def shipped(qapp: QApplication):
    before = qapp.font()
    add_shipped_fonts()
    yield qapp
    QFontDatabase.removeAllApplicationFonts()
    choose_families(qapp, "", "")
    qapp.setFont(before)


def test_the_fonts_that_come_along_are_used_unless_the_system_s_are_wanted(shipped: QApplication) -> None:
    choose_interface_family("")
    choose_families(shipped, "", "")
    assert QFontInfo(shipped.font()).family() == INTERFACE_FAMILY
    assert QFontInfo(reading_font()).family() == INTERFACE_FAMILY
    assert QFontInfo(code_font()).family() == CODE_FAMILY
    choose_interface_family(SYSTEM)
    choose_families(shipped, SYSTEM, SYSTEM)
    systems = QFontDatabase.systemFont(QFontDatabase.SystemFont.GeneralFont)
    assert (
        QFontInfo(shipped.font()).family()
        == QFontInfo(systems).family()
        == QFontInfo(reading_font()).family()
    )
    assert QFontInfo(code_font()).family() != CODE_FAMILY


def test_messages_are_two_points_larger_than_the_interface(shipped: QApplication) -> None:
    choose_interface_family("")
    assert reading_font().pointSizeF() == shipped.font().pointSizeF() + 2


@pytest.mark.parametrize("text", ["->", "<=>", "(A)", "12:30", "!=", "10x20"])
def test_each_character_is_drawn_as_it_is_whatever_stands_beside_it(shipped: QApplication, text: str) -> None:
    choose_interface_family("")
    choose_families(shipped, "", "")
    for font in (shipped.font(), reading_font(), code_font()):
        assert glyphs(text, font) == [glyph for one in text for glyph in glyphs(one, font)]


def glyphs(text: str, font: QFont) -> list[int]:
    layout = QTextLayout(text, font)
    layout.beginLayout()
    layout.createLine()
    layout.endLayout()
    return [glyph for run in layout.glyphRuns() for glyph in run.glyphIndexes()]


@pytest.mark.parametrize(
    "weight", [QFont.Weight.Normal, QFont.Weight.Medium, QFont.Weight.DemiBold, QFont.Weight.Bold]
)
def test_each_weight_that_is_used_has_a_face_of_its_own(shipped: QApplication, weight: QFont.Weight) -> None:
    font = QFont(INTERFACE_FAMILY)
    font.setWeight(weight)
    assert QFontInfo(font).weight() == weight


def test_every_font_has_its_licence_beside_it() -> None:
    for family in {path.stem.partition("-")[0] for path in FONTS_DIR.glob("*.?tf")}:
        name = {"Inter": "inter", "JetBrainsMono": "jetbrains-mono"}[family]
        assert "SIL OPEN FONT LICENSE" in Path(FONTS_DIR / f"LICENSE-{name}.txt").read_text().upper()
