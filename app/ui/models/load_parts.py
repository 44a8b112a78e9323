"""Parts of the dialog for loading a model: devices, adapters, the line about memory. GUI thread."""

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QCheckBox, QGridLayout, QWidget
from shiboken6 import isValid

from app.bridge.tasks import spawn
from app.look.buttons import IconButton, IconLabel, dialog_button
from app.look.figures import count, data_size
from app.look.file_dialog import choose_file
from app.look.fonts import small_font
from app.look.layouts import TOP, drop, hbox, vbox
from app.look.plain_text import PlainLabel, as_tooltip
from app.look.words import mark, sentences, tr, tr_said
from app.models.memory_fit import Fit
from app.protocol.model import Device, DeviceKind
from app.services.load_forecast import Forecast, LoadForecast, MemoryPart
from app.settings.settings import AdapterSettings
from app.ui.base.setting import Setting, field_of
from app.ui.base.setting_controls import DecimalNumber, control_for
from app.ui.models.library_table import FIT_COLOURS

ICONS = {Fit.FITS: "circle-check", Fit.TIGHT: "info", Fit.TOO_LARGE: "triangle-alert"}


class DeviceList(QWidget):
    """The GPUs that the library can use. None chosen: all of them."""

    changed = Signal(object)  # tuple of their names, or None

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._boxes: dict[str, QCheckBox] = {}
        self.about = PlainLabel(parent=self, tone="muted", wraps=True)
        self._column = vbox(self.about, on=self, margins=(0, 8, 0, 8), spacing=4)

    def apply(self, devices: Sequence[Device] | None, chosen: Sequence[str] | None) -> None:
        """`devices` are all GPUs, None if not known yet. `chosen` None: all of them."""
        gpus = [device for device in devices or () if device.kind is not DeviceKind.CPU]
        self.about.setText(tr(_about(devices is not None, bool(gpus))))
        for name in self._boxes.keys() - {gpu.name for gpu in gpus}:
            drop(self._boxes.pop(name))
        for gpu in gpus:
            if gpu.name not in self._boxes:
                self._boxes[gpu.name] = self._add_box(gpu)
            box = self._boxes[gpu.name]
            box.blockSignals(True)
            box.setChecked(chosen is None or gpu.name in chosen)
            box.blockSignals(False)

    def _add_box(self, gpu: Device) -> QCheckBox:
        free, total = data_size(gpu.free_bytes), data_size(gpu.total_bytes)
        told = tr("{name}: {description}", name=gpu.name, description=gpu.description)
        if gpu.total_bytes:
            told = tr("{device}, {free} of {total} free", device=told, free=free, total=total)
        box = QCheckBox(told, self)
        box.toggled.connect(self._on_toggled)
        self._column.addWidget(box)
        return box

    def _on_toggled(self) -> None:
        """All of them means no choice: devices added later count, too."""
        chosen = tuple(name for name, box in self._boxes.items() if box.isChecked())
        self.changed.emit(chosen if chosen and len(chosen) < len(self._boxes) else None)


def _about(is_known: bool, has_gpus: bool) -> str:
    if not is_known:
        return mark("Devices are listed once a model is loaded.")
    if has_gpus:
        return mark("Devices that can hold layers:")
    return mark("This build of llama.cpp is CPU-only.")


class MemoryLine(QWidget):
    """Needed and free memory, whether it fits, and what would."""

    context_chosen = Signal(int)  # tokens

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._icon = IconLabel(16, self)
        self.words = PlainLabel(tr("Estimating memory…"), self, wraps=True)
        self.taken = PlainLabel(parent=self, tone="muted", wraps=True)
        self.taken.setFont(small_font())
        self.taken.hide()
        self._forecast: Forecast | None = None
        self.use = dialog_button("", self._on_use, self)
        self.use.setProperty("kind", "quiet")
        self.use.hide()
        words = vbox(self.words, self.taken, spacing=4)
        hbox((self._icon, 0, TOP), (words, 1), (self.use, 0, TOP), on=self)

    def apply(self, forecast: Forecast | None, problem: str = "") -> None:
        self.words.setText(problem or (memory_text(forecast) if forecast else ""))
        self.words.setToolTip(parts_text(forecast) if forecast else "")
        self.taken.say(taken_text(forecast))
        self._forecast = forecast
        smaller = forecast.smaller_n_ctx if forecast else 0
        self.use.setText(tr("Use {tokens}", tokens=count(smaller)))
        self.use.setVisible(smaller > 0)
        fit = forecast.fit if forecast else Fit.TOO_LARGE
        if forecast and forecast.silent and fit is Fit.FITS:
            fit = Fit.TIGHT
        self._icon.show_icon(ICONS[fit], FIT_COLOURS[fit])

    def _on_use(self) -> None:
        if self._forecast:
            self.context_chosen.emit(self._forecast.smaller_n_ctx)


def memory_text(forecast: Forecast) -> str:
    needed, free = data_size(forecast.needed_here_bytes), data_size(forecast.free_bytes)
    values = {"needed": needed, "free": free}
    if forecast.elsewhere:
        return sentences(_split_text(forecast, values), tr_said(forecast.advice))
    match forecast.fit:
        case Fit.FITS:
            text = tr("Needs about {needed}, {free} free: fits.", **values)
        case Fit.TIGHT:
            text = tr(
                "Needs about {needed}, {free} free: tight, other programs may be swapped out.", **values
            )
        case _:
            text = tr("Needs about {needed}, only {free} free: does not fit.", **values)
    return sentences(text, tr_said(forecast.advice))


def _split_text(forecast: Forecast, values: dict[str, str]) -> str:
    values["elsewhere"] = ", ".join(map(_part_text, forecast.elsewhere))
    match forecast.fit:
        case Fit.FITS if forecast.silent:
            values["workers"] = ", ".join(forecast.silent)
            return tr(
                "Needs about {needed} here ({free} free), {elsewhere}. Whether it fits is not known: no "
                "answer from {workers}.",
                **values,
            )
        case Fit.FITS:
            return tr("Needs about {needed} here ({free} free), {elsewhere}: fits.", **values)
        case Fit.TIGHT:
            return tr(
                "Needs about {needed} here ({free} free), {elsewhere}: tight, other programs may be "
                "swapped out.",
                **values,
            )
        case _:
            return tr("Needs about {needed} here ({free} free), {elsewhere}: does not fit.", **values)


def _part_text(part: MemoryPart) -> str:
    if not part.free_bytes:
        return tr("{needed} on {device}", needed=data_size(part.needed_bytes), device=part.device)
    return tr(
        "{needed} on {device} ({free} free)",
        needed=data_size(part.needed_bytes),
        free=data_size(part.free_bytes),
        device=part.device,
    )


def taken_text(forecast: Forecast | None) -> str:
    """The memory of the model as loaded now. Empty if it is not loaded."""
    if not forecast or not forecast.taken:
        return ""
    return tr(
        "Loaded: {expected} expected, {taken} used.",
        expected=data_size(forecast.taken.expected_bytes),
        taken=data_size(forecast.taken.taken_bytes),
    )


def parts_text(forecast: Forecast) -> str:
    """The memory by purpose, as a tooltip."""
    need = forecast.need
    return tr(
        "Weights {weights}, KV cache {cells}, compute buffers {compute}, outputs {outputs}",
        weights=data_size(need.weights_bytes),
        cells=data_size(need.kv_bytes),
        compute=data_size(need.compute_bytes),
        outputs=data_size(need.output_bytes),
    )


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
        self.about = PlainLabel(
            tr("A small file that adapts the model. Each has a strength; 1 is as trained."),
            self,
            "muted",
            wraps=True,
        )
        self.problem = PlainLabel(parent=self, tone="danger", wraps=True)
        self.problem.hide()
        self.add_button = dialog_button(tr("Add adapter…"), self._choose, self)
        vbox(
            self.about,
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
        drop(*self._rows)
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
            self.problem.say(tr_said(reason))
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
        filters = tr("LoRA adapters (*.gguf)"), tr("All files (*)")
        choose_file(self, tr("Add adapter"), lambda path: spawn(self.add(path)), *filters)
