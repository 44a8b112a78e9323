"""Dresses the application as the settings say. GUI thread."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QApplication

from app.look.fonts import choose_families
from app.look.theme import apply_theme

if TYPE_CHECKING:
    from app.settings.looks import Looks
    from app.settings.settings import Settings


def dress(app: QApplication, looks: Looks | Settings) -> None:
    """Colours and families: what the first widget is made with."""
    apply_theme(app, looks.theme)
    choose_families(app, looks.reading_font, looks.code_font)
