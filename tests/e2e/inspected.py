"""What two panels of the inspector show, and where on the screen they can be clicked. In Skein's process."""

from typing import Any

from PySide6.QtCore import QAbstractItemModel, QPoint, QRect, Qt
from PySide6.QtWidgets import QTabBar, QTableView, QToolButton, QWidget

from app.inspector.probabilities import ProbabilitiesPanel
from app.inspector.stepper_panel import StepperPanel
from app.ui.main_window import MainWindow

MAX_ROWS = 40


def inspected(window: MainWindow) -> dict[str, Any]:
    stepper, probabilities = window.inspector.panel("stepper"), window.inspector.panel("probabilities")
    assert isinstance(stepper, StepperPanel)
    assert isinstance(probabilities, ProbabilitiesPanel)
    strip = window.notices.paused
    return {
        "paused": strip.text if strip.isVisible() else "",
        "plan": _rows(stepper.row_table),
        "token_choice": stepper.stop_choice.token.text(),
        "tokens": _rows(probabilities.token_table),
        "place": probabilities.place,
        "candidates": _rows(probabilities.candidate_table),
        "candidates_status": probabilities.status.text(),
    }


def inspected_places(window: MainWindow) -> dict[str, list[int]]:
    stepper, probabilities = window.inspector.panel("stepper"), window.inspector.panel("probabilities")
    assert isinstance(stepper, StepperPanel)
    assert isinstance(probabilities, ProbabilitiesPanel)
    return {
        **_tabs(window),
        **_buttons(stepper),
        **_fields(stepper),
        **_row_places("token", probabilities.token_table),
        **_row_places("candidate", probabilities.candidate_table),
    }


def _rows(table: QTableView) -> list[list[str]]:
    """Nothing while it cannot be seen."""
    model = table.model()
    if not table.isVisible() or not isinstance(model, QAbstractItemModel):
        return []
    columns = range(model.columnCount())
    rows = range(min(model.rowCount(), MAX_ROWS))
    return [[str(model.index(row, column).data() or "") for column in columns] for row in rows]


def _tabs(window: MainWindow) -> dict[str, list[int]]:
    bars = window.frame.findChildren(QTabBar, options=Qt.FindChildOption.FindDirectChildrenOnly)
    return {
        f"tab {bar.tabText(index)}": middle(bar, bar.tabRect(index))
        for bar in bars
        if bar.isVisible()
        for index in range(bar.count())
    }


def _buttons(panel: QWidget) -> dict[str, list[int]]:
    """Those that can be clicked."""
    buttons = (one for one in panel.findChildren(QToolButton) if one.isVisible() and one.isEnabled())
    return {f"button {button.text()}": middle(button) for button in buttons}


def _fields(stepper: StepperPanel) -> dict[str, list[int]]:
    choice = stepper.stop_choice
    fields = {"condition": choice.condition, "position": choice.position, "text": choice.text}
    return {name: middle(field) for name, field in fields.items() if field.isVisible()}


def _row_places(name: str, table: QTableView) -> dict[str, list[int]]:
    model = table.model()
    if not table.isVisible() or model is None:
        return {}
    rects = {row: table.visualRect(model.index(row, 1)) for row in range(model.rowCount())}
    seen = {row: rect for row, rect in rects.items() if table.viewport().rect().contains(rect)}
    return {f"{name} {row}": middle(table.viewport(), rect) for row, rect in seen.items()}


def middle(widget: QWidget, rect: QRect | None = None) -> list[int]:
    """In the screen's own pixels."""
    centre: QPoint = widget.mapToGlobal((rect or widget.rect()).center())
    ratio = widget.devicePixelRatioF()
    return [round(centre.x() * ratio), round(centre.y() * ratio)]
