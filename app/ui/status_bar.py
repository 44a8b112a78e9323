"""The line at the bottom: model, cells, queue, speed. Parts never shrink, so nothing jumps. GUI thread."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QPushButton, QStatusBar, QWidget

from app.engine.types import ModelInfo, StepReport
from app.look.fonts import small_font, tabular
from app.ui.plain_text import PlainLabel, one_line
from app.ui.status_text import cells_text, model_text, queue_text, speed_text


class StatusBar(QStatusBar):
    stop_all_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._n_ctx = 0
        self.setSizeGripEnabled(False)
        self.model, self.cells, self.queue, self.speed = (self._part() for _ in range(4))
        self.stop_all = self._stop_all_button()
        self.setContentsMargins(8, 0, 8, 0)
        self.set_model(None)
        self.set_num_busy(0)

    def set_model(self, model: ModelInfo | None) -> None:
        self._n_ctx = model.n_ctx if model else 0
        self.model.setText(one_line(model_text(model)))
        for part in (self.cells, self.queue, self.speed):
            part.setVisible(model is not None)
        self.apply(None)

    def apply(self, report: StepReport | None) -> None:
        for part, text in (
            (self.cells, cells_text(report, self._n_ctx)),
            (self.queue, queue_text(report)),
            (self.speed, speed_text(report)),
        ):
            if part.text() != text:
                part.setText(text)
                part.setMinimumWidth(max(part.minimumWidth(), part.sizeHint().width()))

    def set_num_busy(self, num_busy: int) -> None:
        """One answer has its own Stop button."""
        self.stop_all.setText(f"Stop all {num_busy}")
        self.stop_all.setVisible(num_busy > 1)

    def _stop_all_button(self) -> QPushButton:
        """At the right end, where its coming and going moves nothing."""
        button = QPushButton(self)
        button.setProperty("kind", "quiet")
        button.setProperty("place", "bar")
        button.setFont(tabular(small_font()))
        button.setToolTip("Stop the answers of all chats (Shift+Esc)")
        button.clicked.connect(self.stop_all_requested)
        self.addPermanentWidget(button)
        return button

    def _part(self) -> PlainLabel:
        label = PlainLabel(parent=self)
        label.setFont(tabular(small_font()))
        label.setContentsMargins(8, 2, 8, 3)
        self.addWidget(label)
        return label
