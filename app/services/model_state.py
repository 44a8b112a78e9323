"""Whether a model answers, is being loaded or sleeps, as one value, and when it has to sleep. GUI thread."""

from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from app.bridge.engines import Engines
from app.chats.chat import Chat
from app.protocol.load import name_at
from app.protocol.model import ModelInfo
from app.services.preferences import Preferences


@dataclass(frozen=True, slots=True)
class ModelState:
    model: ModelInfo | None = None  # the one that answers, also while it is asleep
    is_asleep: bool = False
    loading: Path | None = None
    absent: Path | None = None  # the chat's model, while it was not loaded yet, or could not be
    host: str = ""  # where `absent` would run; empty: here


class ModelWatch(QObject):
    """Of the model in front, or of a chat's."""

    changed = Signal(object)  # ModelState

    def __init__(self, engine: Engines, parent: QObject | None = None, chat: Chat | None = None) -> None:
        super().__init__(parent)
        self._engine = engine
        self._chat = chat
        self.state = self._now()
        for changed in (engine.loading, engine.loaded, engine.load_failed, engine.load_cancelled):
            changed.connect(self._on_changed)
        for changed in (engine.slept, engine.engine_failed, engine.changed, engine.chosen):
            changed.connect(self._on_changed)

    def _now(self) -> ModelState:
        engines, chat = self._engine, self._chat
        address = engines.address_of(chat) if chat else engines.front_address
        engine = engines.known(address) if chat else engines.front
        is_absent = address and not (engine and engine.model)
        absent, host = (Path(name_at(address)), urlsplit(address).netloc) if is_absent else (None, "")
        if engine is None:
            return ModelState(absent=absent, host=host)
        of_chat = engine.loading_params.path if engine.loading_params else None
        loading = of_chat if chat else engines.loading_path
        is_asleep = engine.is_asleep and engine.model is not None
        return ModelState(engine.model, is_asleep, loading, absent, host)

    @Slot()
    def _on_changed(self) -> None:
        state = self._now()
        if state != self.state:
            self.state = state
            self.changed.emit(state)


SETTING = "unload_after_min"
AT_LEAST_S = 1.0


class IdleUnload(QObject):
    """Puts each model to sleep when it was idle for as long as the settings say, unless it is pinned."""

    def __init__(self, engine: Engines, preferences: Preferences, parent: QObject) -> None:
        super().__init__(parent)
        self._engine = engine
        self._preferences = preferences
        self._timer = QTimer(self, singleShot=True)
        self._timer.timeout.connect(self._look)
        engine.opened.connect(self._look)
        preferences.changed.connect(self._on_setting_changed)

    @property
    def _after_s(self) -> float:
        return float(self._preferences.value(SETTING)) * 60

    @Slot()
    def _look(self) -> None:
        """Checks now, and again when the time may be over."""
        self._timer.stop()
        awake = [one for one in self._engine.unpinned if not one.is_asleep]
        if not self._after_s or not awake:
            return
        for engine in awake:
            if engine.idle_s >= self._after_s:
                engine.sleep()
        left_s = [self._after_s - one.idle_s for one in awake if not one.is_asleep]
        if left_s:
            self._timer.start(int(max(min(left_s), AT_LEAST_S) * 1000))

    @Slot(str)
    def _on_setting_changed(self, name: str) -> None:
        if name == SETTING:
            self._look()
