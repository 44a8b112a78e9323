"""The available languages, and the window's translation. GUI thread.

A language is one file, resources/translations/skein_<code>.qm; English is the language of the code. Texts are
translated when they are made, so the language is chosen once, before the first widget.
"""

import logging
import os
from functools import lru_cache
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QLocale, QTranslator

from app.look.words import CONTEXT
from app.system.paths import resources_dir

ENGLISH = "en"
TRANSLATIONS_DIR = resources_dir() / "translations"

_FONT_LANGUAGE = "FC_LANG"
_SPOKEN = "skein.language"  # stated in one place: on the application

logger = logging.getLogger(__name__)


def languages(folder: Path = TRANSLATIONS_DIR) -> dict[str, str]:
    """Codes, and each language's own name."""
    codes = sorted(path.stem.removeprefix("skein_") for path in folder.glob("skein_*.qm"))
    names = {code: QLocale(code).nativeLanguageName().capitalize() for code in codes}
    return {ENGLISH: "English"} | dict(sorted(names.items(), key=lambda named: named[1].casefold()))


def resolve(language: str, wanted: list[str], folder: Path = TRANSLATIONS_DIR) -> str:
    """The code of the language to use: the chosen one, else the first available of `wanted`.

    `wanted` is as QLocale.uiLanguages has it, best first. English if there is none of them.
    """
    there = languages(folder)
    if language in there:
        return language
    if language:
        logger.warning("There is no translation %s; going by the system's languages.", language)
    names = {code: code if code == ENGLISH else QLocale(code).name() for code in there}
    for tag in wanted:
        locale = QLocale(tag)
        if locale.language() == QLocale.Language.English:
            return ENGLISH
        for code, name in names.items():
            if locale.name() == name:
                return code
    return ENGLISH


def prefer_its_fonts(language: str) -> None:
    """Before the application is made: the same Han letter looks different in Chinese and in Japanese.

    fontconfig would go by the system's language.
    """
    code = resolve(language, QLocale.system().uiLanguages())
    if code == ENGLISH:
        os.environ.pop(_FONT_LANGUAGE, None)  # set by a former run that restarted as this one
    else:
        os.environ[_FONT_LANGUAGE] = code.replace("_", "-").lower()


def apply_language(application: QCoreApplication, language: str) -> None:
    """From now on texts, Qt's own buttons, numbers and dates are of `language` ("": as the system says)."""
    system = QLocale.system()
    code = resolve(language, system.uiLanguages())
    spoken = QLocale(code)
    # With the system's territory and formats, if that language is spoken there.
    is_at_home = (system.language(), system.script()) == (spoken.language(), spoken.script())
    QLocale.setDefault(system if is_at_home else spoken)
    if code != ENGLISH:
        from PySide6.QtCore import QLibraryInfo

        qt = Path(QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath))
        _install(application, f"qtbase_{code}", qt)
        _install(application, f"skein_{code}", TRANSLATIONS_DIR)  # asked first: the last one installed
    application.setProperty(_SPOKEN, code)
    logger.info("The language is %s.", code)


def spoken() -> str:
    """The code of the window's language."""
    application = QCoreApplication.instance()
    return (application.property(_SPOKEN) if application else None) or ENGLISH


def in_all_languages(text: str) -> str:
    """A text of the code as each language has it, the English one first: to be searched."""
    return " ".join([text, *(one.translate(CONTEXT, text) or "" for one in _translators())])


@lru_cache(maxsize=1)
def _translators() -> list[QTranslator]:
    """Installed nowhere."""
    found = []
    for code in languages().keys() - {ENGLISH}:
        found.append(QTranslator())
        found[-1].load(f"skein_{code}", str(TRANSLATIONS_DIR))
    return found


def _install(application: QCoreApplication, name: str, folder: Path) -> None:
    translator = QTranslator(application)
    if translator.load(name, str(folder)):  # or the language without its country
        application.installTranslator(translator)
    else:
        logger.warning("No translation %s in %s.", name, folder)
