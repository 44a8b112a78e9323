"""Opens model files, and reloads the model when its settings have changed. GUI thread."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtWidgets import QWidget

from app.bridge.engines import Engines
from app.chats.chat import Chat
from app.look.file_dialog import choose_file
from app.look.strip import Offer
from app.look.words import tr
from app.protocol.load import is_elsewhere
from app.protocol.model import ModelInfo
from app.services.preferences import Preferences
from app.settings.load import FOR_ALL_MODELS, load_params
from app.settings.settings import ModelSettings
from app.system import paths

# Global settings that require a new context, besides the model's own.
LOAD_SETTINGS = frozenset({*FOR_ALL_MODELS, "verify"})


@dataclass(frozen=True, slots=True)
class _Chosen:
    """The settings at the time of a load."""

    path: Path
    for_all: dict[str, Any]
    own: ModelSettings


class ModelLoading(QObject):
    changed = Signal()  # whether there is a model to reload, or settings that require it
    loading_changed = Signal()  # a load began or ended

    def __init__(self, engine: Engines, preferences: Preferences, window: QWidget) -> None:
        super().__init__(window)
        self._engine = engine
        self._preferences = preferences
        self._window = window
        self._proven = self._now(self.path) if self.path else None  # the settings of the model loaded last
        self._tried = self._proven
        self.drafts_in_words: Callable[[], str] = str  # how draft tokens of the open model did
        self.stands_in = False  # the starter answers until the model that was wanted is there
        engine.loading.connect(self._on_loading)
        engine.opened.connect(self._on_opened)
        engine.load_failed.connect(self._on_load_failed)
        for changed in (engine.loaded, engine.slept, engine.engine_failed):
            changed.connect(self.changed)
        for begun_or_ended in (engine.loading, engine.loaded, engine.load_failed, engine.load_cancelled):
            begun_or_ended.connect(self.loading_changed)
        preferences.changed.connect(self._on_setting_changed)

    @property
    def path(self) -> Path | None:
        """The file of the model in front, which `reload` loads."""
        address = self._engine.front_address
        return Path(address) if address and not is_elsewhere(address) else None

    @property
    def can_reload(self) -> bool:
        return self.path is not None

    @property
    def needs_reload(self) -> bool:
        """Settings were changed that the model in use was not loaded with."""
        params = self._engine.front.params
        return params is not None and params != load_params(self._preferences.settings, params.path)

    def choose(self, folder: Path | None = None) -> None:
        """Begins where the last model came from, or in the home folder; the starter's folder is ours."""
        last = next(iter(self._preferences.settings.recent_models), None)
        folder = folder or (last.parent if last and last.parent.is_dir() else Path.home())
        filters = tr("GGUF models (*.gguf)"), tr("All files (*)")
        choose_file(self._window, tr("Open model"), self.load, *filters, folder=folder)

    def remedies(self, path: Path) -> tuple[Offer, ...]:
        """What can be done about a model that could not be loaded, while there is no other."""
        address = self._engine.front_address
        if is_elsewhere(address):
            return (Offer(tr("Try again"), partial(self.load_elsewhere, address)),)
        again = Offer(tr("Try again"), partial(self.load, path))
        if path == paths.starter_model():
            return (again,)
        first = Offer(tr("Locate…"), partial(self.choose, path.parent), can_be_left=True)
        if self._preferences.of_model(path).draft_model and path.exists():
            first = Offer(tr("Open without its draft model"), partial(self._load_without_draft, path))
        return first, again, Offer(tr("Use the starter model"), self._load_stand_in)

    def _load_without_draft(self, path: Path) -> None:
        own = self._preferences.of_model(path)
        self._preferences.set_of_model(path, own.model_copy(update={"draft_model": None}))
        self.load(path)

    def _load_stand_in(self) -> None:
        self.load(paths.starter_model())
        self.stands_in = True

    def load_elsewhere(self, address: str, chats: Sequence[Chat] | None = None) -> None:
        """What a server runs. It is asked now."""
        self.stands_in = False
        if params := self._engine.params_of(address):
            self._engine.load(params, chats)

    def load(self, path: Path, chats: Sequence[Chat] | None = None) -> None:
        """For these chats, or for the one in front."""
        self.stands_in = False
        self._engine.load(load_params(self._preferences.settings, path), chats)

    @property
    def can_load_for_all(self) -> bool:
        """There is another chat with another model."""
        used = {self._engine.address_of(chat) for chat in self._engine.chats()}
        return bool(self._engine.front_address) and bool(used - {self._engine.front_address})

    def load_for_all(self) -> None:
        """The model of the chat in front, for all open chats."""
        if params := self._engine.params_of(self._engine.front_address):
            self._engine.load(params, list(self._engine.chats()))

    @property
    def is_pinned(self) -> bool:
        return self._engine.front_address in self._preferences.settings.pinned_models

    def pin(self, is_pinned: bool) -> None:
        """The model in front stays loaded, whatever else is."""
        address = self._engine.front_address
        others = [one for one in self._preferences.settings.pinned_models if one != address]
        self._preferences.set("pinned_models", [*others, address] if is_pinned else others)

    @Slot()
    def reload(self) -> None:
        if self.path:
            self.load(self.path)

    def _now(self, path: Path) -> _Chosen:
        for_all = {name: self._preferences.value(name) for name in LOAD_SETTINGS}
        return _Chosen(path, for_all, self._preferences.of_model(path))

    @Slot(object)
    def _on_loading(self, path: Path) -> None:
        self._tried = self._now(path)

    @Slot(object)
    def _on_opened(self, model: ModelInfo) -> None:
        if self._tried and self._tried.path == model.path:
            self._proven = self._tried

    @Slot()
    def _on_load_failed(self) -> None:
        """Reverts settings with which the load failed, so that the next start does not fail, too."""
        tried, proven = self._tried, self._proven
        if tried is None or proven is None:
            return
        for name, value in proven.for_all.items():
            if tried.for_all[name] != value and self._preferences.value(name) == tried.for_all[name]:
                self._preferences.set(name, value)
        if tried.path == proven.path and self._preferences.of_model(tried.path) == tried.own:
            self._preferences.set_of_model(tried.path, proven.own)

    @Slot(str)
    def _on_setting_changed(self, name: str) -> None:
        if name in LOAD_SETTINGS or name == "models":
            self.changed.emit()
