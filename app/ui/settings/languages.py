"""View > Language, and the offer to restart: texts are translated when widgets are created. GUI thread."""

from functools import partial

from PySide6.QtCore import QLocale, QObject, Signal, Slot
from PySide6.QtWidgets import QWidget

from app.look.language import languages, resolve, spoken
from app.look.words import mark, tr
from app.services.preferences import Preferences
from app.ui.base.actions import radio_menu, tick
from app.ui.base.choices import Choice
from app.ui.base.notices import Notices

SYSTEM = Choice("", mark("System"), mark("Follow the system's language"))


def language_choices() -> tuple[Choice, ...]:
    """Each by its own name, so that its speakers recognise it."""
    return (SYSTEM, *(Choice(code, name, "") for code, name in languages().items()))


class Languages(QObject):
    restart_requested = Signal()

    def __init__(self, preferences: Preferences, notices: Notices, parent: QWidget) -> None:
        super().__init__(parent)
        self._preferences = preferences
        self._notices = notices
        chosen = preferences.settings.language
        choose = partial(preferences.set, "language")
        self.menu = radio_menu(parent, "language", tr("Lan&guage"), language_choices(), chosen, choose)
        preferences.changed.connect(self._on_setting_changed)

    @Slot(str)
    def _on_setting_changed(self, name: str) -> None:
        if name != "language":
            return
        chosen = self._preferences.settings.language
        tick(self.menu, chosen)
        self._notices.withdraw_offer()
        code = resolve(chosen, QLocale.system().uiLanguages())
        if code != spoken():
            text = tr(
                "The language changes to {language} when Skein restarts. All tabs reopen; running "
                "answers stop.",
                language=languages()[code],
            )
            self._notices.show_offer(text, tr("&Restart now"), self.restart_requested.emit)
