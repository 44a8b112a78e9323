"""The LoRA adapters of a model, each with its strength. GUI thread."""

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFileDialog, QGridLayout, QWidget
from shiboken6 import isValid

from app.bridge.tasks import spawn
from app.look.buttons import IconButton, dialog_button
from app.look.layouts import vbox
from app.look.plain_text import PlainLabel, as_tooltip
from app.look.words import mark, tr, tr_said
from app.services.load_forecast import LoadForecast
from app.settings.settings import AdapterSettings
from app.ui.base.setting import Setting, field_of
from app.ui.base.setting_controls import DecimalNumber, control_for

SIDE = 28
SCALE = Setting(
    "scale",
    mark("Strength"),
    mark("1: as trained, 0: no effect, below 0: the opposite."),
    step=0.05,
)


class AdapterList(QWidget):
    changed = Signal(object)  # tuple[AdapterSettings, ...]

    def __init__(self, forecast: LoadForecast, parent: QWidget) -> None:
        super().__init__(parent)
        self._forecast = forecast
        self._adapters: tuple[AdapterSettings, ...] = ()
        self._rows: list[QWidget] = []
        self._grid = QGridLayout()
        self._grid.setColumnStretch(0, 1)
        self._grid.setHorizontalSpacing(8)
        self._grid.setVerticalSpacing(6)
        self._about = PlainLabel(
            tr("A small file that adapts the model. Each has a strength; 1 is as trained."),
            self,
            "muted",
            wraps=True,
        )
        self.problem = PlainLabel(parent=self, tone="danger", wraps=True)
        self.problem.hide()
        self.add_button = dialog_button(tr("Add adapter…"), self._choose, self)
        vbox(
            self._about,
            self._grid,
            self.problem,
            (self.add_button, 0, Qt.AlignmentFlag.AlignLeft),
            on=self,
            margins=(0, 8, 0, 8),
        )

    def apply(self, adapters: Sequence[AdapterSettings]) -> None:
        if tuple(adapters) == self._adapters and self._rows:
            return  # else a half-typed strength would be lost
        self._adapters = tuple(adapters)
        for widget in self._rows:
            widget.hide()
            widget.deleteLater()
        self._rows.clear()
        for number, adapter in enumerate(self._adapters):
            self._add_row(number, adapter)

    async def add(self, path: Path) -> None:
        """Adds an adapter that fits this model, else shows why it does not."""
        self.problem.hide()
        if any(adapter.path == path for adapter in self._adapters):
            return
        reason = await self._forecast.why_not_adapter(path)
        if not isValid(self):  # the dialog was closed
            return
        if reason:
            self.problem.setText(tr_said(reason))
            self.problem.show()
        else:
            self._take((*self._adapters, AdapterSettings(path=path)))

    def _add_row(self, number: int, adapter: AdapterSettings) -> None:
        name = PlainLabel(adapter.path.name, self)
        name.setToolTip(as_tooltip(str(adapter.path)))
        scale = control_for(SCALE, field_of("scale", AdapterSettings), self)
        assert isinstance(scale, DecimalNumber)
        scale.show_value(adapter.scale)
        scale.setAccessibleName(tr("Strength of {name}", name=adapter.path.name))
        scale.value_chosen.connect(lambda value: self._set_scale(number, value))
        remove = IconButton("x", tr("Remove {name}", name=adapter.path.name), SIDE, self)
        remove.clicked.connect(lambda: self._remove(number))
        for column, widget in enumerate((name, scale, remove)):
            self._grid.addWidget(widget, number, column)
            self._rows.append(widget)

    def _set_scale(self, number: int, scale: float) -> None:
        changed = AdapterSettings(path=self._adapters[number].path, scale=scale)
        self._adapters = (*self._adapters[:number], changed, *self._adapters[number + 1 :])
        self.changed.emit(self._adapters)

    def _remove(self, number: int) -> None:
        self._take((*self._adapters[:number], *self._adapters[number + 1 :]))

    def _take(self, adapters: tuple[AdapterSettings, ...]) -> None:
        self.apply(adapters)
        self.changed.emit(adapters)

    def _choose(self) -> None:
        dialog = QFileDialog(self, tr("Add adapter"))
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setNameFilters([tr("LoRA adapters (*.gguf)"), tr("All files (*)")])
        dialog.fileSelected.connect(lambda name: spawn(self.add(Path(name))))
        dialog.open()  # never exec: a nested loop would stop every coroutine
