"""Which languages there are, and the window's translation into one of them. GUI thread.

A language is one file, resources/translations/skein_<code>.qm; English is what stands in the code. Texts are
translated when they are made, so the language is chosen once, before the first widget.
"""

import logging
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QLibraryInfo, QLocale, QTranslator

from app.paths import resources_dir

ENGLISH = "en"
TRANSLATIONS_DIR = resources_dir() / "translations"

logger = logging.getLogger(__name__)


def languages(folder: Path = TRANSLATIONS_DIR) -> dict[str, str]:
    """Codes, and the languages' names in themselves, by which their speakers find them."""
    codes = sorted(path.stem.removeprefix("skein_") for path in folder.glob("skein_*.qm"))
    names = {code: QLocale(code).nativeLanguageName().capitalize() for code in codes}
    return {ENGLISH: "English"} | dict(sorted(names.items(), key=lambda named: named[1].casefold()))


def resolve(language: str, wanted: list[str], folder: Path = TRANSLATIONS_DIR) -> str:
    """The code of the language to speak: the one chosen, else the first one wanted that there is.

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


def apply_language(application: QCoreApplication, language: str) -> str:
    """From now on texts, Qt's own buttons, numbers and dates are of `language` ("": as the system says).

    Returns its code.
    """
    system = QLocale.system()
    code = resolve(language, system.uiLanguages())
    spoken = QLocale(code)
    # The system's territory and habits, where it is a place that speaks so.
    is_at_home = (system.language(), system.script()) == (spoken.language(), spoken.script())
    QLocale.setDefault(system if is_at_home else spoken)
    if code != ENGLISH:
        qt = Path(QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath))
        _install(application, f"qtbase_{code}", qt)
        _install(application, f"skein_{code}", TRANSLATIONS_DIR)  # asked first: the last one installed
    logger.info("The language is %s.", code)
    return code


def _install(application: QCoreApplication, name: str, folder: Path) -> None:
    translator = QTranslator(application)
    if translator.load(name, str(folder)):  # or the language without its country
        application.installTranslator(translator)
    else:
        logger.warning("No translation %s in %s.", name, folder)
