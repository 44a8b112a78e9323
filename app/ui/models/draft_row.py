"""The choice of a draft model among those of the library that fit. GUI thread."""

from pathlib import Path

from PySide6.QtWidgets import QWidget

from app.look.words import mark, sentences, tr
from app.models.model_file import ModelFile
from app.ui.base.setting_controls import NamedControl
from app.ui.base.setting_list import Setting
from app.ui.models.load_rows import INHERIT, LoadRow

NONE = mark("None")
SETTING = Setting(
    "draft_model",
    mark("Draft model"),
    mark("A smaller model that guesses tokens, which this one checks: the same answers, often sooner."),
    named=lambda: {INHERIT: tr(NONE)},
)


class DraftRow(LoadRow):
    def __init__(self, parent: QWidget) -> None:
        super().__init__(SETTING, parent)
        assert isinstance(self.widget, NamedControl)
        self._combo = self.widget
        self._offered: tuple[ModelFile, ...] = ()

    def offer(self, models: tuple[ModelFile, ...]) -> None:
        if models == self._offered:
            return
        self._offered = models
        chosen = self._combo.currentData()
        self._combo.clear()
        self._combo.addItem(tr(NONE), INHERIT)
        for model in models:
            self._combo.addItem(_name(model), str(model.path))
        self._show(chosen)

    def apply(self, own: Path | None, inherited: str, loaded: str, remark: str) -> None:
        nothing = "" if self._offered or own else tr("No smaller model with the same vocabulary is here.")
        chosen = str(own) if own else None
        self._show(chosen or INHERIT)
        super().apply(chosen, inherited, loaded, sentences(nothing, remark))

    def _show(self, value: str) -> None:
        """A missing model is shown by its file."""
        if self._combo.findData(value) < 0:
            self._combo.addItem(Path(value).stem, value)
        self._combo.show_value(value)


def _name(model: ModelFile) -> str:
    return f"{model.name} · {model.quantisation}" if model.quantisation else model.name
