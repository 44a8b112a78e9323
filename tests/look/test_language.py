import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QLocale, QTranslator
from PySide6.QtWidgets import QApplication, QDialogButtonBox

from app.look.language import (
    TRANSLATIONS_DIR,
    apply_language,
    languages,
    prefer_its_fonts,
    resolve,
    spoken,
)
from app.look.words import tr

GERMAN = ["de-Latn-DE", "de-DE", "de-Latn", "de"]
CHINESE = ["zh-Hans-CN", "zh-CN", "zh-Hans", "zh"]
ENGLISH = ["en-Latn-GB", "en-GB", "en-Latn", "en"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """With one language more than Skein has."""
    for code in ("zh_CN", "de"):
        (tmp_path / f"skein_{code}.qm").touch()
    return tmp_path


@pytest.fixture
def restored(qapp: QApplication) -> Iterator[QApplication]:
    former = QLocale()
    yield qapp
    for translator in qapp.findChildren(QTranslator):
        qapp.removeTranslator(translator)
        translator.deleteLater()
    apply_language(qapp, "en")
    QLocale.setDefault(former)


def test_a_language_is_a_file_and_has_its_own_name(folder: Path) -> None:
    assert languages(folder) == {"en": "English", "de": "Deutsch", "zh_CN": "简体中文"}


def test_skein_comes_with_simplified_chinese() -> None:
    assert languages(TRANSLATIONS_DIR)["zh_CN"] == "简体中文"


def test_the_chosen_language_is_spoken_whatever_the_system_says(folder: Path) -> None:
    assert resolve("de", CHINESE, folder) == "de"
    assert resolve("en", CHINESE, folder) == "en"


def test_without_a_choice_it_is_the_first_of_the_system_that_there_is(folder: Path) -> None:
    assert resolve("", CHINESE, folder) == "zh_CN"
    assert resolve("", ["de-Latn-AT", "de-AT", "de-Latn", "de"], folder) == "de"
    assert resolve("", [*ENGLISH, *GERMAN], folder) == "en"
    assert resolve("", ["fr-FR", "fr", *GERMAN], folder) == "de"
    assert resolve("", ["C"], folder) == "en"


def test_a_language_whose_file_is_gone_is_as_none_chosen(folder: Path) -> None:
    assert resolve("fr", GERMAN, folder) == "de"


def test_from_then_on_texts_buttons_and_numbers_are_in_that_language(restored: QApplication) -> None:
    assert spoken() == "en"
    apply_language(restored, "zh_CN")
    assert spoken() == "zh_CN"
    assert tr("Copied") == "已复制"
    assert QLocale().name() == "zh_CN"
    box = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel)
    assert "取消" in box.buttons()[0].text()


def test_letters_are_drawn_as_the_language_writes_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FC_LANG", raising=False)
    prefer_its_fonts("zh_CN")
    assert os.environ["FC_LANG"] == "zh-cn"
    prefer_its_fonts("en")
    assert "FC_LANG" not in os.environ
