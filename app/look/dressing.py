"""Applies theme and fonts of the settings to the application. GUI thread."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QApplication

from app.look.fonts import choose_column, choose_families
from app.look.theme import apply_theme

if TYPE_CHECKING:
    from app.settings.appearance import AppearanceSettings
    from app.settings.settings import Settings


def dress(app: QApplication, appearance: AppearanceSettings | Settings) -> None:
    """Colours, font families and the width of the column: needed before the first widget is created."""
    apply_theme(app, appearance.theme)
    choose_families(app, appearance.reading_font, appearance.code_font)
    choose_column(app, appearance.column)
