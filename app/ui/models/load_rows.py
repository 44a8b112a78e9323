"""A model's load settings, by group, and the row of one. GUI thread."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout, QWidget

from app.look.buttons import IconButton
from app.look.figures import count
from app.look.fonts import small_font
from app.look.layouts import vbox
from app.look.plain_text import PlainLabel
from app.look.words import mark, sentences, tr
from app.models.model_file import ModelFile
from app.protocol.load import KvType, LoadParams
from app.settings.settings import ModelSettings
from app.ui.base.setting_controls import Control, NamedControl, control_for
from app.ui.base.setting_fields import Field, field_of
from app.ui.base.setting_kinds import Setting
from app.ui.base.setting_list import words_of
from app.ui.base.setting_row import RESET_SIDE, Row

INHERIT = "inherit"  # stands for None in a list of choices
AS_FOR_ALL = mark("As in Settings")
AUTOMATIC = mark("Automatic")
_LEAST = {"n_ctx": 256, "n_threads": 1}  # numbers whose zero means "choose for me"
_KV_NAMES = {
    KvType.F16: mark("f16: 16 bits, exact"),
    KvType.BF16: mark("bf16: 16 bits"),
    KvType.Q8_0: mark("q8_0: 8.5 bits, nearly exact"),
    KvType.Q5_1: mark("q5_1: 6 bits"),
    KvType.Q5_0: mark("q5_0: 5.5 bits"),
    KvType.Q4_1: mark("q4_1: 5 bits"),
    KvType.Q4_0: mark("q4_0: 4.5 bits, smallest"),
}


def _choices(none: str, names: Mapping[Any, str]) -> Callable[[], Mapping[Any, str]]:
    def named() -> Mapping[Any, str]:
        return {INHERIT: tr(none), **{value: tr(name) for value, name in names.items()}}

    return named


_ON_OFF = {True: mark("On"), False: mark("Off")}


@dataclass(frozen=True, slots=True)
class Group:
    title: str
    rows: Sequence[Setting]


GROUPS = (
    Group(
        mark("Context"),
        (
            words_of("n_ctx", word=AS_FOR_ALL, word_for_zero=AUTOMATIC),
            words_of("n_seq_max", word=AS_FOR_ALL),
            words_of("isolated", named=_choices(AS_FOR_ALL, _ON_OFF)),
        ),
    ),
    Group(
        mark("Speed"),
        (
            words_of("n_threads", word=AS_FOR_ALL, word_for_zero=AUTOMATIC),
            Setting(
                "n_batch",
                mark("Batch"),
                mark("The most tokens computed in one step, for all chats (n_batch)."),
                word=AUTOMATIC,
                step=64,
            ),
            Setting(
                "n_ubatch",
                mark("Micro-batch"),
                mark("Tokens computed at once (n_ubatch). Larger needs more memory."),
                word=AUTOMATIC,
                step=64,
            ),
            Setting(
                "flash_attention",
                mark("Flash attention"),
                mark("Less memory, and usually faster."),
                named=_choices(AUTOMATIC, {"on": mark("On"), "off": mark("Off")}),
            ),
            words_of(
                "num_drafted_tokens",
                sentence=mark(
                    "The most draft tokens checked in one step, from the chat's text or a draft model."
                ),
                word=AS_FOR_ALL,
            ),
        ),
    ),
    Group(
        mark("Memory"),
        (
            Setting(
                "type_k",
                mark("Key cache type"),
                mark("Fewer bits fit more tokens at slightly lower quality."),
                named=_choices(AUTOMATIC, _KV_NAMES),
            ),
            Setting(
                "type_v",
                mark("Value cache type"),
                mark("Quantised types need flash attention."),
                named=_choices(AUTOMATIC, _KV_NAMES),
            ),
            Setting(
                "use_mmap",
                mark("Memory-map weights (mmap)"),
                mark(
                    "The system can reclaim this memory and read it again from the file; otherwise "
                    "weights are copied."
                ),
                named=_choices(AUTOMATIC, _ON_OFF),
            ),
            Setting(
                "swa_full",
                mark("Whole sliding window"),
                mark(
                    "Keeps all cells of sliding-window layers: a chat can be rolled back anywhere, but "
                    "is slower (--swa-full)."
                ),
                named=_choices(AUTOMATIC, _ON_OFF),
            ),
        ),
    ),
    Group(
        mark("GPU"),
        (
            Setting(
                "n_gpu_layers",
                mark("GPU layers"),
                mark("The CPU computes the rest; 0 disables the GPU."),
                word=mark("As many as fit"),
            ),
        ),
    ),
    Group(
        mark("Long texts (RoPE)"),
        (
            Setting(
                "rope_scaling",
                mark("RoPE scaling"),
                mark("Extends the context beyond what the model was trained for, at lower quality."),
                named=_choices(
                    mark("As the model says"),
                    {"none": mark("None"), "linear": mark("Linear"), "yarn": mark("YaRN")},
                ),
            ),
            Setting(
                "rope_factor",
                mark("Factor"),
                mark("How many times longer the context may be."),
                word=mark("As the model says"),
                step=0.5,
            ),
        ),
    ),
)


def load_field(name: str) -> Field:
    """Of ModelSettings, without a zero that is a word."""
    field = field_of(name, ModelSettings)
    return replace(field, low=_LEAST.get(name, field.low))


class LoadRow(Row):
    """The choice for this model, the value without one, and why a value is not possible."""

    chosen = Signal(str, object)  # name, value; None: as without a choice

    def __init__(self, setting: Setting, parent: QWidget) -> None:
        super().__init__(tr(setting.label), tr(setting.sentence), parent)
        self.setting = setting
        self.widget = control_for(setting, load_field(setting.name), self)
        self.control = cast(Control, self.widget)
        self.control.value_chosen.connect(self._on_chosen)
        self.title.setBuddy(self.widget)
        self._note = PlainLabel(parent=self, tone="muted", wraps=True)
        self.problem = PlainLabel(parent=self, tone="danger", wraps=True)
        for label in (self._note, self.problem):
            label.setFont(small_font())
        self.problem.hide()
        tip = tr("Back to default: {setting}", setting=tr(setting.label))
        self.reset = IconButton("rotate-ccw", tip, RESET_SIDE, self, icon_side=14)
        self.reset.clicked.connect(lambda: self.chosen.emit(setting.name, None))
        self._lay_out()

    @property
    def note(self) -> str:
        return self._note.text()

    def apply(self, own: Any, inherited: str, loaded: str, remark: str) -> None:
        """`own` None: nothing is chosen. `inherited` and `loaded` are values in words."""
        self.control.show_value(INHERIT if own is None and self.setting.named else own)
        self.reset.setEnabled(own is not None)
        is_told = own is None and inherited.lower() == self._word_for_none.lower()
        held = "" if is_told else tr("Default: {value}.", value=inherited)
        now = tr("Loaded with: {value}.", value=loaded) if loaded else ""
        self._note.setText(sentences(held, now, remark))
        self._note.setVisible(bool(self._note.text()))

    def show_problem(self, text: str) -> None:
        self.problem.setText(text)
        self.problem.setVisible(bool(text))

    @property
    def _word_for_none(self) -> str:
        """What the control shows without a choice."""
        return self.setting.named()[INHERIT] if self.setting.named else tr(self.setting.word)

    def _on_chosen(self, value: Any) -> None:
        self.chosen.emit(self.setting.name, None if value == INHERIT else value)

    def _lay_out(self) -> None:
        words = vbox(self.title, self.sentence, self._note, self.problem, spacing=2)
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 8, 0, 8)
        grid.setHorizontalSpacing(12)
        grid.setColumnStretch(0, 1)
        top = Qt.AlignmentFlag.AlignTop
        grid.addLayout(words, 0, 0)
        grid.addWidget(self.reset, 0, 1, top)
        grid.addWidget(self.widget, 0, 2, top | Qt.AlignmentFlag.AlignRight)


NONE, NO_PROJECTOR = mark("None"), mark("None: text alone")
TEXT_ALONE = "text-alone"
DRAFT_MODEL = Setting(
    "draft_model",
    mark("Draft model"),
    mark(
        "A smaller model proposes tokens and this one checks them: the answers are as good, and often faster."
    ),
    named=lambda: {INHERIT: tr(NONE)},
)


PROJECTOR = Setting(
    "projector",
    mark("Projector"),
    mark("Lets the model see pictures or hear sound (mmproj). Automatic: the one in the model's folder."),
    named=lambda: {INHERIT: tr(AUTOMATIC), TEXT_ALONE: tr(NO_PROJECTOR)},
)


class FileRow(LoadRow):
    """The choice of another file of the library."""

    def __init__(self, setting: Setting, parent: QWidget) -> None:
        super().__init__(setting, parent)
        assert isinstance(self.widget, NamedControl)
        self._combo = self.widget
        self._offered: tuple[ModelFile, ...] = ()

    def offer(self, models: tuple[ModelFile, ...]) -> None:
        if models == self._offered:
            return
        self._offered = models
        chosen = self._combo.currentData()
        self._combo.clear()
        for value, name in (self.setting.named() if self.setting.named else {}).items():
            self._combo.addItem(name, value)
        for model in models:
            self._combo.addItem(_name_of(model), str(model.path))
        self._show(chosen)

    def apply(self, own: Path | str | None, inherited: str, loaded: str, remark: str) -> None:
        chosen = str(own) if own else None
        self._show(chosen or INHERIT)
        super().apply(chosen, inherited, loaded, remark)

    def _show(self, value: str) -> None:
        """A missing model is shown by its file."""
        if self._combo.findData(value) < 0:
            self._combo.addItem(Path(value).stem, value)
        self._combo.show_value(value)


class DraftRow(FileRow):
    """Of a draft model among those that fit."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(DRAFT_MODEL, parent)

    def apply(self, own: Path | str | None, inherited: str, loaded: str, remark: str) -> None:
        nothing = "" if self._offered or own else tr("No smaller model with the same vocabulary found.")
        super().apply(own, inherited, loaded, sentences(nothing, remark))


class ProjectorRow(FileRow):
    """Its value is a path, or TEXT_ALONE."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(PROJECTOR, parent)

    def _show(self, value: str) -> None:
        super()._show(value)
        self._combo.setToolTip("" if value in (INHERIT, TEXT_ALONE) else value)


def _name_of(model: ModelFile) -> str:
    return f"{model.name} · {model.quantisation}" if model.quantisation else model.name


def in_words(setting: Setting, params: LoadParams) -> str:
    """The value in `params`, in words."""
    value = getattr(params, setting.name)
    if setting is PROJECTOR and value is None:
        return tr(NONE)
    if isinstance(value, Path):
        return value.stem
    if setting.named:
        named = setting.named()
        return named.get(value, named[INHERIT])
    if value is None or not (value or isinstance(value, bool) or setting.name == "num_drafted_tokens"):
        return tr(setting.word if setting.word != AS_FOR_ALL else AUTOMATIC).lower()
    if isinstance(value, bool):
        return tr(_ON_OFF[value])
    return count(value) if isinstance(value, int) else str(value)
