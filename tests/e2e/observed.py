"""Skein itself, with somebody looking over its shoulder: what the window shows goes into a JSON file.

Started by the tests as `python -m tests.e2e.observed STATE.json [arguments of skein…]`.
"""

import json
import sys
import time
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QLabel, QPushButton

import app.main
import app.ui.main_window
from app.inspector.sequences import SequencesPanel
from app.look.strip import Strip
from app.services.services import Services
from app.system.crashes import RunMarker
from app.ui.base.notices import ERROR, NOTE
from app.ui.frame import Frame
from app.ui.main_window import MainWindow
from tests.e2e.conversed import conversed, conversed_places
from tests.e2e.inspected import inspected, inspected_places, middle

PERIOD_MS = 50
MAX_SHARE = 0.2  # of the window's time, on a slow machine: a state may take 20 ms to put together
_HORIZONTAL = Qt.Orientation.Horizontal


class ObservedWindow(MainWindow):
    state_file: Path

    def __init__(self, frame: Frame, services: Services) -> None:
        super().__init__(frame, services)
        self._num_states = 0
        self._observer = QTimer(self, singleShot=True)
        self._observer.timeout.connect(self._write_state)
        self._observer.start(PERIOD_MS)

    def _write_state(self) -> None:
        began = time.monotonic()
        new = self.state_file.with_suffix(".new")
        new.write_text(json.dumps(self._state()), encoding="utf-8")
        new.replace(self.state_file)
        took_ms = 1000 * (time.monotonic() - began)
        self._observer.start(max(PERIOD_MS, round(took_ms / MAX_SHARE)))

    def _state(self) -> dict[str, Any]:
        bar = self.tabs.strip.bar
        banners = [one for one in self.frame.findChildren(Strip) if one.look in (ERROR, NOTE) and one.text]
        self._num_states += 1
        return {
            "number": self._num_states,
            "title": self.frame.windowTitle(),
            "tabs": [bar.tabText(index) for index in range(bar.count())],
            "current": bar.currentIndex(),
            "busy": [tab.session.is_busy for tab in self.tabs.tabs],
            "transcripts": [tab.view.transcript.plain_text() if tab.view else "" for tab in self.tabs.tabs],
            "composers": [
                tab.view.composer.editor.toPlainText() if tab.view else tab.session.draft
                for tab in self.tabs.tabs
            ],
            "shown": [view.title for view in self.tabs.shown_views],
            "list": self._list(),
            "found": self._found(),
            "find": self.tabs.current.find_bar.field.text() if self.tabs.current else "",
            "has_focus": bool(self.tabs.current and self.tabs.current.panes[-1].hasFocus()),
            "notices": [
                " ".join(label.text() for label in banner.findChildren(QLabel)) for banner in banners
            ],
            "setting": self._focused_setting(),
            "inspector": self._inspector_rows() if self.inspector.is_shown else None,
            **conversed(self),
            **inspected(self),
            "places": conversed_places(self) | inspected_places(self) | _offers(banners),
        }

    def _list(self) -> list[str] | None:
        """The list of all chats, if it can be seen."""
        side = self.navigation.sidebar
        return [row.text for row in side.model.rows] if side.isVisible() else None

    def _found(self) -> list[str] | None:
        """What the search shows, if it is open."""
        popup = self.navigation.popup
        model = popup.model if popup.isVisible() else None
        return [str(model.index(row).data()) for row in range(model.rowCount())] if model else None

    def _focused_setting(self) -> str | None:
        """The one that has the keyboard in the window of settings."""
        window = vars(self).get("settings_window")  # none if it was never asked for
        rows = window.rows if window and window.isActiveWindow() else {}
        return next((name for name, row in rows.items() if row.widget.hasFocus()), None)

    def _inspector_rows(self) -> list[dict[str, str]]:
        sequences = self.inspector.panel("sequences")
        assert isinstance(sequences, SequencesPanel)
        model = sequences.table.rows
        heads = (str(model.headerData(column, _HORIZONTAL)) for column in range(model.columnCount()))
        names = [" ".join(head.split()) for head in heads]
        return [
            {name: str(model.index(row, column).data() or "") for column, name in enumerate(names)}
            for row in range(model.rowCount())
        ]


def _offers(banners: list[Strip]) -> dict[str, list[int]]:
    """Where to click, by what stands on the buttons of the notices."""
    buttons = (button for banner in banners for button in banner.findChildren(QPushButton))
    return {f"offer {button.text()}": middle(button) for button in buttons}


def main() -> int:
    ObservedWindow.state_file = Path(sys.argv.pop(1))
    app.ui.main_window.MainWindow = ObservedWindow  # type: ignore[misc]
    # On a busy machine a test may crash it only after the time in which crashes count as one after the other.
    RunMarker.settle = lambda _marker: None  # type: ignore[method-assign]
    return app.main.main()


if __name__ == "__main__":
    sys.exit(main())
