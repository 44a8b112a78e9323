"""Applies theme, zoom, fonts and motion at run time; offers to restart in another language. GUI thread."""

from functools import partial

from PySide6.QtCore import QLocale, QObject, Qt, Signal, Slot
from PySide6.QtWidgets import QApplication, QStyle, QWidget

from app.look.language import languages, resolve, spoken
from app.look.theme import apply_theme, dress
from app.look.words import mark, tr
from app.services.preferences import Preferences
from app.settings.appearance import MAX_ZOOM, MIN_ZOOM
from app.settings.settings import Settings
from app.ui.base.actions import radio_menu, tick
from app.ui.base.notices import Notices
from app.ui.base.setting import Choice

ANGLE_PER_NOTCH = 120


class Appearance(QObject):
    text_changed = Signal(int)  # the zoom; messages must be laid out anew

    def __init__(self, preferences: Preferences, parent: QObject) -> None:
        super().__init__(parent)
        self._preferences = preferences
        self._turned = 0  # of the wheel, since it last made a difference
        self._app = QApplication.instance()
        preferences.changed.connect(self._on_setting_changed)
        if isinstance(self._app, QApplication):
            hints = self._app.styleHints()
            hints.colorSchemeChanged.connect(self._show_theme)
            if hasattr(hints, "accessibility"):  # since Qt 6.10
                hints.accessibility().contrastPreferenceChanged.connect(self._show_theme)
            apply_appearance(self._app, preferences.settings)

    @property
    def zoom(self) -> int:
        return self._preferences.settings.zoom

    def set_zoom(self, zoom: int) -> None:
        self._preferences.set("zoom", max(MIN_ZOOM, min(MAX_ZOOM, zoom)))

    def zoom_by(self, points: int) -> None:
        self.set_zoom(self.zoom + points)

    def turn_wheel(self, angle: int) -> None:
        """`angle` in eighths of a degree, many small ones from a touchpad. One notch is one point."""
        if (angle > 0) != (self._turned > 0):  # turned back: start over
            self._turned = 0
        self._turned += angle
        notches = int(self._turned / ANGLE_PER_NOTCH)
        if notches:
            self._turned -= notches * ANGLE_PER_NOTCH
            self.zoom_by(notches)

    def choose_theme(self, name: str) -> None:
        self._preferences.set("theme", name)

    @Slot(str)
    def _on_setting_changed(self, name: str) -> None:
        if name == "theme":
            self._show_theme()
        elif name in ("reading_font", "code_font", "column", "motion") and isinstance(
            self._app, QApplication
        ):
            apply_appearance(self._app, self._preferences.settings)
        if name in ("zoom", "reading_font", "code_font", "column"):
            self.text_changed.emit(self.zoom)

    @Slot()
    def _show_theme(self) -> None:
        if isinstance(self._app, QApplication):
            apply_theme(self._app, self._preferences.settings.theme)


def apply_appearance(app: QApplication, settings: Settings) -> None:
    """Applies all of it, before the first widget is created."""
    dress(app, settings)
    choose_motion(app, settings.motion)


_CHOICE, _FLASH = "skein.motion", "skein.flash-time"  # stated in one place: on the application


def choose_motion(app: QApplication, choice: str) -> None:
    """`choice` is system, full or reduced. From now on menus fade in and cursors blink, or they do not."""
    app.setProperty(_CHOICE, choice)
    if app.property(_FLASH) is None:
        app.setProperty(_FLASH, app.cursorFlashTime())
    app.setCursorFlashTime(0 if is_reduced() else app.property(_FLASH))
    app.setEffectEnabled(Qt.UIEffect.UI_General, not is_reduced())


def is_reduced() -> bool:
    """Animations are off: things appear in their end state at once."""
    app = QApplication.instance()
    choice = app.property(_CHOICE) if app else None
    if choice in ("full", "reduced"):
        return bool(choice == "reduced")
    # Where the desktop has its effects switched off, Qt's styles do not animate either.
    return QApplication.style().styleHint(QStyle.StyleHint.SH_Widget_Animation_Duration) == 0


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
