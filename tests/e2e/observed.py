"""Skein itself, with somebody looking over its shoulder: what the window shows goes into a JSON file.

Started by the tests as `python -m tests.e2e.observed STATE.json [arguments of skein…]`.
"""

import json
import sys
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QLabel

import app.main
import app.window
from app.inspector.sequences import SequencesPanel
from app.ui.main_window import MainWindow
from app.ui.notices import Banner
from tests.e2e.inspected import inspected

PERIOD_MS = 50
_HORIZONTAL = Qt.Orientation.Horizontal


class ObservedWindow(MainWindow):
    state_file: Path

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._observer = QTimer(self)
        self._observer.timeout.connect(self._write_state)
        self._observer.start(PERIOD_MS)

    def _write_state(self) -> None:
        new = self.state_file.with_suffix(".new")
        new.write_text(json.dumps(self._state()), encoding="utf-8")
        new.replace(self.state_file)

    def _state(self) -> dict[str, Any]:
        bar = self.tabs.strip.bar
        return {
            "title": self.windowTitle(),
            "tabs": [bar.tabText(index) for index in range(bar.count())],
            "current": bar.currentIndex(),
            "busy": [view.session.is_busy for view in self.tabs.views],
            "transcripts": [view.transcript.plain_text() for view in self.tabs.views],
            "composers": [view.composer.editor.toPlainText() for view in self.tabs.views],
            "has_focus": bool(self.tabs.current and self.tabs.current.composer.editor.hasFocus()),
            "notices": [
                " ".join(label.text() for label in banner.findChildren(QLabel))
                for banner in self.notices.findChildren(Banner)
            ],
            "inspector": self._inspector_rows() if self.inspector.is_shown else None,
            **inspected(self),
        }

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


def main() -> int:
    ObservedWindow.state_file = Path(sys.argv.pop(1))
    app.window.MainWindow = ObservedWindow  # type: ignore[misc]
    return app.main.main()


if __name__ == "__main__":
    sys.exit(main())
