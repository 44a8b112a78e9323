"""The dialog of a model's load settings: its choices, the defaults, and its memory. GUI thread.

Choices are kept by "Save" or "Load again"; who leaves the dialog otherwise changes nothing. Not modal.
"""

from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from PySide6.QtCore import QObject, QSize, Slot
from PySide6.QtWidgets import QAbstractSpinBox, QDialog, QWidget

from app.bridge.model_engine import ModelEngine
from app.look.buttons import dialog_button
from app.look.layouts import STRETCH, hbox, vbox
from app.look.popups import come_up, resize_to_fit
from app.look.strip import Foot
from app.look.words import sentences, tr, tr_n, tr_said
from app.models.model_file import FileKind, ModelFile
from app.protocol.load import USUAL_DRAFTED_TOKENS, LoadParams
from app.protocol.model import Device
from app.services.load_forecast import LoadForecast
from app.services.model_library import DraftCandidates
from app.services.services import Services
from app.settings.load import load_params
from app.settings.settings import ModelSettings
from app.ui.base.option_row import OptionRow, Section
from app.ui.base.page_panel import scrolled
from app.ui.base.setting import Setting
from app.ui.base.setting_controls import NamedControl
from app.ui.engine.model_loading import ModelLoading
from app.ui.models.load_parts import AdapterList, DeviceList, MemoryLine
from app.ui.models.load_rows import (
    DRAFT_MODEL,
    GROUPS,
    PROJECTOR,
    TEXT_ALONE,
    in_words,
    load_field,
    named_files,
    note_of,
)
from app.ui.models.workers_section import WorkersSection

SIZE, MIN_SIZE = QSize(680, 720), QSize(480, 400)
MARGIN = 24


class LoadSettings(QObject):
    """Shows the dialog of a model; one at a time."""

    def __init__(self, services: Services, models: ModelLoading, parent: QWidget) -> None:
        super().__init__(parent)
        self._services = services
        self._models = models
        self._parent = parent
        self.dialog: LoadSettingsDialog | None = None

    def show_for(self, path: Path) -> None:
        if self.dialog and self.dialog.path != path:
            self.dialog.reject()
        if self.dialog is None:
            self.dialog = LoadSettingsDialog(path, self._services, self._models, self._parent)
            self.dialog.finished.connect(self._on_finished)
        self.dialog.come_up()

    @Slot()
    def _on_finished(self) -> None:
        """Its 250 widgets take 5 MB."""
        if self.dialog:
            self.dialog.deleteLater()
        self.dialog = None


class LoadSettingsDialog(QDialog):
    def __init__(self, model_path: Path, services: Services, models: ModelLoading, parent: QWidget) -> None:
        super().__init__(parent)
        self.path = model_path
        self._preferences = preferences = services.preferences
        self._models = models
        self._engine = services.engine
        self.forecast = LoadForecast(model_path, services.engine, self)
        settings = (*(setting for group in GROUPS for setting in group.rows), DRAFT_MODEL, PROJECTOR)
        self.rows = {setting.name: OptionRow(setting, load_field(setting.name), self) for setting in settings}
        self._saved = self.own = preferences.of_model(model_path)  # the latter with what is chosen here
        self._library = services.model_library
        self.drafts = DraftCandidates(model_path, services.model_library, self)
        self.adapters = AdapterList(self.forecast, self)
        self.devices = DeviceList(self)
        self.workers = self._workers_section()
        self._forecast_workers: tuple[Device, ...] = ()  # the workers of the last forecast
        self.memory = MemoryLine(self)
        self.load_button = dialog_button("", self._on_load, self)
        self.reset_button = dialog_button(tr("Reset all"), partial(self._take, ModelSettings()), self)
        self.save_button = dialog_button(tr("Save"), self._on_save, self)
        self.save_button.setToolTip(tr("For the next time this model is loaded"))
        self.close_button = dialog_button(tr("Cancel"), self.reject, self)
        self.setWindowTitle(tr("Load settings of {name}", name=model_path.stem))
        self.setMinimumSize(MIN_SIZE)
        resize_to_fit(self, SIZE)
        self._lay_out()
        self._connect()

    def come_up(self) -> None:
        self._offer_projectors()
        self._show_values()
        self.drafts.look()
        come_up(self)

    @property
    def _loaded(self) -> LoadParams | None:
        """The parameters of the loaded model, if it is this one."""
        return self._here.params if self._here and self._here.model else None

    @property
    def _here(self) -> ModelEngine | None:
        """The engine of this model."""
        return self._engine.known(str(self.path))

    @Slot(str, object)
    def _on_chosen(self, name: str, value: Any) -> None:
        """What the library would refuse is refused here, without a change."""
        row = self.rows.get(name)
        values = {name: value}
        if name == "projector":
            is_none = value == TEXT_ALONE
            values = {name: None if is_none else value, "takes_media": False if is_none else None}
        if name == "draft_model" and value and not self._params(self.own).num_drafted_tokens:
            values["num_drafted_tokens"] = USUAL_DRAFTED_TOKENS  # else it would do nothing
        try:
            wanted = ModelSettings.model_validate({**self.own.model_dump(), **values})
        except ValidationError as error:
            self._refuse(row, error.errors()[0]["msg"])
            return
        if refusal := self.forecast.refusals(self._params(wanted)).get(name):
            self._refuse(row, tr_said(refusal))
            return
        if row:
            row.show_problem("")
        self._take(wanted)

    def _take(self, wanted: ModelSettings) -> None:
        self.own = wanted
        self._show_values()

    def _save(self) -> None:
        """With what was typed last."""
        for box in self.findChildren(QAbstractSpinBox):
            box.interpretText()
        self._preferences.set_of_model(self.path, self.own)

    def _on_save(self) -> None:
        self._save()
        self.accept()

    def _on_load(self) -> None:
        self._save()
        self._models.load(self.path)

    def _refuse(self, row: OptionRow | None, reason: str) -> None:
        self._show_values()
        if row:
            row.show_problem(sentences(tr("Not used."), reason))

    def _params(self, own: ModelSettings) -> LoadParams:
        settings = self._preferences.settings
        return load_params(settings.model_copy(update={"models": {str(self.path): own}}), self.path)

    @Slot()
    def _show_values(self) -> None:
        self._show_rows()
        self._ask_forecast()

    def _ask_forecast(self) -> None:
        self._forecast_workers = self.workers.devices
        self.forecast.ask(self._params(self.own), self._forecast_workers)

    @Slot()
    def _on_worker_answered(self) -> None:
        """A worker has answered with its memory."""
        if self.isVisible() and self.workers.devices != self._forecast_workers:
            self._ask_forecast()

    @Slot()
    def _show_forecast(self) -> None:
        """The header was read, so settings without effect are known."""
        self._show_rows()
        self.memory.apply(self.forecast.forecast, tr_said(self.forecast.problem))

    @Slot()
    def _offer_projectors(self) -> None:
        projectors = (one for one in self._library.models if one.kind is FileKind.PROJECTOR)
        self._offer(PROJECTOR, sorted(projectors, key=lambda one: (one.name, str(one.path))))

    @Slot()
    def _offer_drafts(self) -> None:
        self._offer(DRAFT_MODEL, self.drafts.fitting)
        self._show_rows()

    def _offer(self, setting: Setting, models: Iterable[ModelFile]) -> None:
        combo = self.rows[setting.name].widget
        assert isinstance(combo, NamedControl)
        combo.offer(named_files(setting, models))

    def _show_rows(self) -> None:
        own, loaded, model = self.own, self._loaded, self._engine.model  # any knows the devices
        params, without = self._params(own), self._params(ModelSettings())
        remarks = self.forecast.remarks(params) | self.forecast.refusals(params)
        for name, row in self.rows.items():
            now = self._loaded_words(row, loaded, params) if loaded else ""
            is_text_alone = row.setting is PROJECTOR and own.takes_media is False
            chosen = TEXT_ALONE if is_text_alone else getattr(own, name)
            remark = tr_said(remarks.get(name, ""))
            if name == "num_drafted_tokens" and loaded:
                remark = sentences(remark, self._models.drafts_in_words())
            if row.setting is DRAFT_MODEL and not (chosen or self.drafts.fitting):
                remark = sentences(tr("No smaller model with the same vocabulary found."), remark)
            note = note_of(row.setting, chosen, in_words(row.setting, without), now, remark)
            row.apply(chosen, note, is_own=chosen is not None)
        self.adapters.apply(own.adapters)
        self.devices.apply(model.library.devices if model else None, own.devices)
        self.workers.apply(own.workers, self._workers_in_use)
        self.reset_button.setEnabled(own != ModelSettings())
        self.save_button.setEnabled(own != self._saved)
        self.load_button.setText(tr("&Load again") if loaded else tr("&Open"))
        self.load_button.setEnabled(loaded != params and not self._engine.is_loading)

    def _loaded_words(self, row: OptionRow, loaded: LoadParams, params: LoadParams) -> str:
        """The loaded values where they differ from the choice, or were automatic."""
        name, model = row.setting.name, self._here and self._here.model
        if name == "n_ctx" and model:
            return tr_n("{n} token", "{n} tokens", model.n_ctx)
        is_same = getattr(loaded, name) == getattr(params, name)
        return "" if is_same else in_words(row.setting, loaded)

    def _workers_section(self) -> WorkersSection:
        return WorkersSection(self._preferences, self.own.workers, self, in_use=self._workers_in_use)

    @property
    def _workers_in_use(self) -> tuple[str, ...]:
        return self._loaded.workers if self._loaded else ()

    def _connect(self) -> None:
        for row in self.rows.values():
            row.chosen.connect(self._on_chosen)
            row.reset_requested.connect(lambda name: self._on_chosen(name, None))
        self.adapters.changed.connect(lambda adapters: self._on_chosen("adapters", adapters))
        self.devices.changed.connect(lambda devices: self._on_chosen("devices", devices))
        self.workers.changed.connect(lambda: self._on_chosen("workers", self.workers.chosen))
        self.workers.workers.changed.connect(self._on_worker_answered)
        self.forecast.changed.connect(self._show_forecast)
        self.drafts.changed.connect(self._offer_drafts)
        self._library.changed.connect(self._offer_projectors)
        self.memory.context_chosen.connect(lambda n_ctx: self._on_chosen("n_ctx", n_ctx))
        self._preferences.changed.connect(self._on_setting_changed)
        self._models.changed.connect(self._show_values)
        self._models.loading_changed.connect(self._show_values)

    @Slot(str)
    def _on_setting_changed(self, _name: str) -> None:
        """Its own may have been saved here, or taken back because loading with them failed."""
        if (saved := self._preferences.of_model(self.path)) != self._saved:
            self._saved = self.own = saved
        if self.isVisible():
            self._show_values()

    def _lay_out(self) -> None:
        page = QWidget()
        sections = []
        for group in GROUPS:
            parts: list[QWidget] = [self.rows[setting.name] for setting in group.rows]
            if self.rows["num_drafted_tokens"] in parts:
                parts.append(self.rows["draft_model"])
            if self.rows["n_gpu_layers"] in parts:
                parts.append(self.devices)
            sections.append(Section(tr(group.title), parts, page))
        sections.append(Section(tr("Pictures and sound"), [self.rows["projector"]], page))
        sections.append(Section(tr("Adapters (LoRA)"), [self.adapters], page))
        sections.append(Section(tr("Other machines"), [self.workers], page))
        vbox(*sections, STRETCH, on=page, margins=(MARGIN, 16, MARGIN, MARGIN), spacing=20)
        vbox((scrolled(page, self), 1), self._foot(), on=self, spacing=0)

    def _foot(self) -> QWidget:
        foot = Foot(self)
        buttons = hbox(self.reset_button, STRETCH, self.close_button, self.save_button, self.load_button)
        vbox(self.memory, buttons, on=foot, margins=(MARGIN, 12, MARGIN, 12), spacing=10)
        return foot
