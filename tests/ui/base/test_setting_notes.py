"""What can be chosen on this machine."""

import pytest
from PySide6.QtGui import QFontDatabase

from app.ui.base.setting_notes import families

INSTALLED = ["Courier [adobe]", "Courier [bitstream]", "Inter", "JetBrains Mono", "Noto Serif", ".private"]


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(QFontDatabase, "families", staticmethod(lambda: INSTALLED))
    monkeypatch.setattr(QFontDatabase, "isPrivateFamily", staticmethod(lambda name: name.startswith(".")))
    monkeypatch.setattr(
        QFontDatabase, "isFixedPitch", staticmethod(lambda name: "Co" in name or "Mono" in name)
    )


def test_a_family_of_several_foundries_is_offered_once(installed: None) -> None:
    assert list(families(is_fixed=False).values()).count("Courier") == 1
    assert not any("[" in name for name in families(is_fixed=False).values())


def test_the_font_that_comes_along_stands_first_and_once_then_the_systems(installed: None) -> None:
    assert list(families(is_fixed=False).items())[:2] == [("", "Inter"), ("system", "System font")]
    assert list(families(is_fixed=True).values()) == ["JetBrains Mono", "System font", "Courier"]
    assert list(families(is_fixed=False).values()).count("Inter") == 1
