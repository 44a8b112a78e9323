"""An engine thread that does what the test says, when it says so."""

import asyncio
import queue
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QObject, Signal

from app.bridge.drafts import Field
from app.bridge.engines import Engines
from app.bridge.model_engine import ModelEngine
from app.bridge.report_router import ReportRouter
from app.bridge.running_answers import RunningAnswers
from app.bridge.workspace import Workspace
from app.chats.chat import Turn
from app.media.reading import Pixels
from app.protocol.commands import (
    Abort,
    AbortAll,
    Command,
    Forget,
    Fork,
    KeepCells,
    SetFront,
    SetSpeed,
    Submit,
)
from app.protocol.load import CellStore, LoadParams, Speed
from app.protocol.model import ModelInfo
from app.protocol.output import FinishReason, Output
from app.protocol.report import CellUsage, StepReport
from app.protocol.request import Request
from app.settings.settings import Settings
from app.storage.chat_rows import ChatChange, SavedChat, SavedTurns
from app.storage.chat_store import NO_DRAFTS
from app.storage.list_rows import SavedWorkspace, Tabs
from app.storage.media_rows import NO_THUMBNAIL, hash_of
from tests.fakes import model_info


class ScriptedThread(QObject):
    """What Engines sees of an EngineThread, without a thread."""

    progressed = Signal(float)
    loaded = Signal(object)
    reported = Signal()
    failed = Signal(object)
    finished = Signal()

    def __init__(self, params: LoadParams, parent: QObject) -> None:
        super().__init__(parent)
        self.params = params
        self.stopped = False
        self.recovery: LoadParams | None = None
        self.reclaimable_bytes: Mapping[str, int] = {}
        self.needs_room = False
        self.submitted: list[Request] = []
        self.aborted: list[str] = []
        self.forgotten: list[str] = []
        self.forked: list[tuple[str, str]] = []
        self.front: str | None = None
        self.speed: Speed | None = None
        self.cell_store: CellStore | None = None
        self.num_abort_alls = 0
        self.posted: list[Command] = []
        self._reports: list[StepReport] = []

    def start(self) -> None: ...

    def wait(self) -> bool:
        return True

    def isFinished(self) -> bool:
        return False

    def stop(self) -> None:
        self.stopped = True

    def let_go(self) -> None: ...

    def post(self, command: Command) -> None:
        match command:
            case Submit(request):
                self.submitted.append(request)
            case Abort(request_id):
                self.aborted.append(request_id)
            case AbortAll():
                self.num_abort_alls += 1
            case Forget(chat_id):
                self.forgotten.append(chat_id)
            case Fork(chat_id, new_chat_id):
                self.forked.append((chat_id, new_chat_id))
            case SetFront(chat_id):
                self.front = chat_id
            case SetSpeed(speed):
                self.speed = speed
            case KeepCells(store):
                self.cell_store = store
            case _:
                self.posted.append(command)

    def use_prompts(self, work: Callable[[object], object]) -> Future[object]:
        future: Future[object] = Future()
        future.set_result(work(None))
        return future

    def take_reports(self) -> list[StepReport]:
        reports, self._reports = self._reports, []
        return reports

    # What the test makes happen.

    def finish_loading(self, **model: object) -> ModelInfo:
        info = model_info(path=self.params.path, **model)
        self.loaded.emit(info)
        return info

    def report(self, *outputs: Output) -> None:
        """One step with these outputs; the wake-up follows."""
        self._reports.append(StepReport(1, outputs, (), (), CellUsage(512)))
        self.reported.emit()

    def answer(
        self,
        request: Request,
        text: str,
        reason: FinishReason | None = None,
        notice: str = "",
        found_no_room: bool = False,
    ) -> None:
        self.report(
            Output(request.request_id, request.chat_id, text, reason, notice, found_no_room=found_no_room)
        )


class MemoryStore:
    """A ChatStore without a disk: remembers what it was told, or fails as it was told."""

    def __init__(self) -> None:
        self.saves: list[tuple[tuple[ChatChange, ...], Tabs | None]] = []
        self.saved = SavedWorkspace()
        self.turns: dict[str, SavedTurns] = {}  # by chat id
        self.ends: dict[str, list[Turn]] = {}  # by chat id
        self.media_kept: dict[str, tuple[bytes, Pixels]] = {}  # by SHA-256
        self.error: Exception | None = None
        self.drafts: dict[Field, str] = {}
        self.grown: queue.SimpleQueue[list[Turn]] = queue.SimpleQueue()

    def write_answers(self, answers: list[Turn]) -> None:
        if self.error:
            raise self.error
        self.grown.put(answers)

    async def keep_media(self, data: bytes, thumbnail: Pixels = NO_THUMBNAIL) -> None:
        if self.error:
            raise self.error
        self.media_kept[hash_of(data)] = (data, thumbnail)

    async def keep_thumbnail(self, sha256: str, thumbnail: Pixels) -> None:
        self.media_kept[sha256] = (self.media_kept[sha256][0], thumbnail)

    async def media(self, sha256: str) -> bytes | None:
        return self.media_kept[sha256][0] if sha256 in self.media_kept else None

    async def thumbnail(self, sha256: str) -> Pixels | None:
        _, thumbnail = self.media_kept.get(sha256, (b"", NO_THUMBNAIL))
        return None if thumbnail is NO_THUMBNAIL else thumbnail

    async def load(self) -> SavedWorkspace:
        if self.error:
            raise self.error
        return self.saved

    async def load_end(self, saved: SavedChat, _num_turns: int) -> list[Turn]:
        await asyncio.sleep(0)
        return self.ends[saved.chat.id]

    async def load_turns(self, saved: SavedChat) -> SavedTurns:
        await asyncio.sleep(0)
        if self.error:
            raise self.error
        return self.turns.get(saved.chat.id, SavedTurns())

    async def load_chat(self, chat_id: str) -> SavedChat | None:
        await asyncio.sleep(0)
        return self.saved.chats.get(chat_id)

    async def save(
        self, changes: list[ChatChange], tabs: Tabs | None = None, drafts: Mapping[Field, str] = NO_DRAFTS
    ) -> None:
        await asyncio.sleep(0)
        self.save_and_wait(changes, tabs, drafts)

    def save_and_wait(
        self, changes: list[ChatChange], tabs: Tabs | None = None, drafts: Mapping[Field, str] = NO_DRAFTS
    ) -> None:
        if self.error:
            raise self.error
        self.drafts.update(drafts)
        self.saves.append((tuple(changes), tabs))


async def until(condition: Callable[[], object]) -> None:
    while not condition():
        await asyncio.sleep(0.001)


@pytest.fixture
def threads() -> list[ScriptedThread]:
    """Every thread the engine has started, oldest first."""
    return []


@pytest.fixture
def make_thread(threads: list[ScriptedThread]) -> Callable[[LoadParams, QObject], ScriptedThread]:
    def make_thread(params: LoadParams, parent: QObject) -> ScriptedThread:
        threads.append(ScriptedThread(params, parent))
        return threads[-1]

    return make_thread


@pytest.fixture
def engine(qapp: QObject, make_thread: Any) -> Iterator[Engines]:
    engine = Engines(make_thread=make_thread)
    yield engine
    engine.deleteLater()


@pytest.fixture
def model_engine(qapp: QObject, make_thread: Any) -> Iterator[ModelEngine]:
    """One alone."""
    engine = ModelEngine(make_thread=make_thread)
    yield engine
    engine.deleteLater()


@pytest.fixture
def load(engine: Engines, threads: list[ScriptedThread]) -> Callable[..., ScriptedThread]:
    """Loads a model and waits for nothing: it is there at once."""

    def load_now(name: str = "a.gguf", **model: object) -> ScriptedThread:
        engine.load(LoadParams(Path(name)))
        threads[-1].finish_loading(name=name.removesuffix(".gguf"), **model)
        return threads[-1]

    return load_now


@pytest.fixture
def thread(load: Callable[..., ScriptedThread]) -> ScriptedThread:
    """Of a model that is loaded."""
    return load()


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore()


@pytest.fixture
def settings() -> Settings:
    return Settings()


@pytest.fixture
def workspace(
    qloop: asyncio.AbstractEventLoop, engine: Engines, store: MemoryStore, settings: Settings
) -> Iterator[Workspace]:
    workspace = Workspace(engine, store, settings)  # type: ignore[arg-type]
    ReportRouter(engine, workspace, workspace)
    yield workspace
    workspace.deleteLater()


@pytest.fixture(autouse=True)
def asks_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The engine hears of a question without the loop turning. That it is saved first has its own tests."""

    monkeypatch.setattr(RunningAnswers, "_send_request", RunningAnswers._submit)
