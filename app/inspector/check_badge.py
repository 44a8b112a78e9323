"""Shows whether the library's cells agree with our books, and when that was checked. GUI thread."""

from PySide6.QtCore import Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QPushButton, QSizePolicy, QWidget

from app.look.buttons import IconLabel, quiet_button
from app.look.figures import count
from app.look.fonts import small_font, tabular
from app.look.layouts import hbox
from app.look.plain_text import PlainLabel, as_tooltip
from app.look.words import tr, tr_n
from app.protocol.report import CellCheck


def evidence_text(disagreement: CellCheck) -> str:
    return tr(
        "step {step}: {number} cells compared, {difference}",
        step=disagreement.step,
        number=disagreement.num_cells,
        difference=disagreement.difference,
    )


def check_text(last: CellCheck | None, disagreement: CellCheck | None) -> str:
    """A disagreement stays, whatever later checks say."""
    if disagreement:
        return tr("Disagreed with llama.cpp at step {step}", step=count(disagreement.step))
    if last is None:
        return tr("Not yet compared with llama.cpp")
    if not last.can_compare:
        return tr(
            "Positions agree with llama.cpp at step {step}; this model's cells cannot be listed",
            step=count(last.step),
        )
    return tr_n(
        "Agrees with llama.cpp: {n} cell, step {step}",
        "Agrees with llama.cpp: {n} cells, step {step}",
        last.num_cells,
        step=count(last.step),
    )


class CheckBadge(QWidget):
    """An icon, a sentence, a button to ask the library now; and if there is evidence, one to copy it."""

    check_requested = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._last: CellCheck | None = None
        self._disagreement: CellCheck | None = None
        self._icon = IconLabel(15, self)
        self._words = PlainLabel(parent=self, tone="muted")
        self._words.setFont(tabular(small_font()))
        self._words.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.copy = self._button(tr("Copy evidence"), tr("Copy the differences"))
        self.copy.clicked.connect(self._copy_evidence)
        self.check = self._button(tr("Check now"), tr("Compare every cell with llama.cpp's own records now"))
        self.check.clicked.connect(self.check_requested)
        hbox(self._icon, (self._words, 1), self.copy, self.check, on=self, margins=(12, 2, 8, 2), spacing=6)
        self._show()

    @property
    def text(self) -> str:
        return self._words.text()

    def set_live(self, is_live: bool) -> None:
        """A recorded file has no engine to ask."""
        self.check.setEnabled(is_live)

    def apply(self, last: CellCheck | None, disagreement: CellCheck | None) -> None:
        if (last, disagreement) != (self._last, self._disagreement):
            self._last, self._disagreement = last, disagreement
            self._show()

    def _show(self) -> None:
        text = check_text(self._last, self._disagreement)
        self._words.setText(text)
        self._words.setToolTip(as_tooltip(evidence_text(self._disagreement) if self._disagreement else text))
        self._words.set_tone("danger" if self._disagreement else "muted")
        self._icon.show_icon(*self._look())
        self.copy.setVisible(self._disagreement is not None)

    def _look(self) -> tuple[str, str]:
        if self._disagreement:
            return "triangle-alert", "danger"
        return ("circle-check", "ok") if self._last else ("info", "muted")

    def _copy_evidence(self) -> None:
        if self._disagreement:
            QGuiApplication.clipboard().setText(evidence_text(self._disagreement))

    def _button(self, text: str, tip: str) -> QPushButton:
        button = quiet_button(text, self, "bar")
        button.setFont(small_font())
        button.setToolTip(tip)
        return button
