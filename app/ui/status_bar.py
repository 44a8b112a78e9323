"""The line at the bottom: model, cells, queue, speed. Parts never shrink, so nothing jumps. GUI thread."""

from PySide6.QtWidgets import QStatusBar, QWidget

from app.engine.types import ModelInfo, StepReport
from app.look.fonts import small_font, tabular
from app.ui.plain_text import PlainLabel, one_line
from app.ui.status_text import cells_text, model_text, queue_text, speed_text


class StatusBar(QStatusBar):
    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._n_ctx = 0
        self.setSizeGripEnabled(False)
        self.model, self.cells, self.queue, self.speed = (self._part() for _ in range(4))
        self.setContentsMargins(8, 0, 8, 0)
        self.set_model(None)

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

    def _part(self) -> PlainLabel:
        label = PlainLabel(parent=self)
        label.setFont(tabular(small_font()))
        label.setContentsMargins(8, 2, 8, 3)
        self.addWidget(label)
        return label
