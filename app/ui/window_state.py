"""The window's layout: saved a little after it changes, restored at the next start. GUI thread."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QByteArray, QMargins, QPoint, QSettings

from app.ui.base.proportions import HALF, LIST_WIDTH
from app.ui.tabs.first_view import FirstLayout

if TYPE_CHECKING:
    from app.ui.main_window import MainWindow

_CHOICES = (None, True, False)  # whether the list of chats is shown, as the number that is kept


class WindowState:
    def __init__(self, file: Path) -> None:
        self._kept = QSettings(str(file), QSettings.Format.IniFormat)
        self._saved: dict[str, object] = {}

    @property
    def geometry(self) -> QByteArray:
        """Empty if none is saved."""
        kept = self._kept.value("geometry")
        return kept if isinstance(kept, QByteArray) else QByteArray()

    @property
    def layout(self) -> FirstLayout:
        choice = _CHOICES[self._number("chats/choice", 0) % len(_CHOICES)]
        is_inspected = bool(self._kept.value("inspector/is_shown", False, bool))
        return FirstLayout(
            choice, self._number("chats/width", LIST_WIDTH), self._around() if is_inspected else QMargins()
        )

    def restore(self, window: MainWindow) -> None:
        """Restores the layout of the window's parts, once they exist."""
        self._restore_inspector(window)
        share = float(str(self._kept.value("split/share", HALF)))
        window.tabs.pages.share = min(max(share, 0.1), 0.9)
        closed = str(self._kept.value("chats/closed_folders", "")).splitlines()
        window.navigation.restore(self.layout.list_width, self.layout.list_choice, closed)
        window.command_palette.recent = str(self._kept.value("palette/recent", "")).splitlines()

    def save(self, window: MainWindow) -> None:
        """Writes only what has changed since the last time."""
        values = _values(window)
        for name in [name for name, value in values.items() if self._saved.get(name) != value]:
            self._kept.setValue(name, values[name])
        self._saved = values
        self._kept.sync()

    def _restore_inspector(self, window: MainWindow) -> None:
        inspector, kept = window.inspector, self._kept
        if arrangement := kept.value("inspector/arrangement"):
            inspector.restore_state(arrangement, bool(kept.value("inspector/is_shown", True, bool)))
        else:
            inspector.set_shown(False)  # hidden at the first start
        for name in inspector.names:
            if layout := kept.value(f"inspector/panels/{name}"):
                inspector.restore_layout(name, layout)

    def _around(self) -> QMargins:
        with suppress(ValueError, TypeError):
            left, top, right, bottom = map(int, str(self._kept.value("inspector/around", "")).split())
            return QMargins(left, top, right, bottom)
        return QMargins()

    def _number(self, name: str, default: int) -> int:
        with suppress(ValueError):
            return int(str(self._kept.value(name, default)))
        return default


def _values(window: MainWindow) -> dict[str, object]:
    navigation, inspector = window.navigation, window.inspector
    arrangement, is_shown = inspector.saved_state()
    return {
        "geometry": window.frame.saveGeometry(),
        "palette/recent": "\n".join(window.command_palette.recent),
        "split/share": window.tabs.pages.share,
        "chats/width": navigation.width,
        "chats/choice": _CHOICES.index(navigation.choice),
        "chats/closed_folders": "\n".join(navigation.sidebar.model.closed_folders),
        "inspector/arrangement": arrangement,
        "inspector/is_shown": is_shown,
        "inspector/around": " ".join(map(str, _around(window))),
        **{f"inspector/panels/{panel.NAME}": panel.save_layout() for panel in inspector.panels},
    }


def _around(window: MainWindow) -> tuple[int, int, int, int]:
    """The space of the inspector on each side of the list and the tabs."""
    frame, middle = window.frame, window.middle
    corner = middle.mapTo(frame, QPoint(0, 0))
    right = frame.width() - corner.x() - middle.width()
    bottom = frame.height() - window.status.height() - corner.y() - middle.height()
    return corner.x(), corner.y() - frame.menuBar().height(), right, bottom
