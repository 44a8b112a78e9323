"""Stand-ins for what the window is given: the same signals and names, and a script instead of an engine."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from PySide6.QtCore import QObject, Signal

from app.bridge.drafts import Drafts
from app.bridge.sound_player import SoundPlayer
from app.bridge.tab_row import TabRow
from app.bridge.token_counter import TokenCount
from app.bridge.tool_access import ToolAccess
from app.chats.attachment import Attachment
from app.chats.chat import Chat, QueuedMessage, Turn, TurnState
from app.chats.options import ChatOptions
from app.chats.presets import Preset
from app.chats.project import Project
from app.chats.summary import Summary
from app.chats.titles import title_from
from app.chats.tool_use import Decision, ToolUse
from app.media.reading import Pixels
from app.media.sound_devices import SoundDevices
from app.protocol.commands import Abort, AbortAll, Command, SetFront, SetSpeed, Submit
from app.protocol.load import LoadParams, Speed
from app.protocol.media import Media
from app.protocol.model import ModelInfo
from app.protocol.report import StepReport
from app.protocol.request import Overflow, Request, Role


class FakeEngine(QObject):
    """All engines, of which there is one. Notes what it is asked for; a test emits what it answers."""

    loading = Signal(object)
    load_progressed = Signal(float)
    loaded = Signal(object)
    load_failed = Signal(object, object)
    load_cancelled = Signal(object)
    slept = Signal()
    engine_failed = Signal(object)
    recovering = Signal(object)
    asked = Signal()
    reported = Signal(object)
    ended = Signal(object)
    opened = Signal(object)
    changed = Signal()
    front_reported = Signal(object)
    reports_of = Signal(str, object)
    context_changed = Signal(str)
    chosen = Signal(object)

    def __init__(self, model: ModelInfo | None = None) -> None:
        super().__init__()
        self.model = model
        self.newest: StepReport | None = None
        self.default = model.address if model else ""
        self.chats: Callable[[], Iterable[Chat]] = tuple
        self.loading_path: Path | None = None
        self.loading.connect(self._on_loading)
        for ended in (self.load_failed, self.load_cancelled):
            ended.connect(self._on_loading_ended)
        self.reported.connect(self._on_reported)
        self._params = LoadParams(model.path) if model else None
        self.is_loading = self.is_asleep = False
        self.loads: list[LoadParams] = []
        self.num_cancels = 0
        self.speeds: list[Speed] = []
        self.posted: list[Command] = []
        self.wanted: list[str] = []
        self.loaded_for: list[Sequence[Chat] | None] = []
        self.submitted: list[Request] = []
        self.aborted: list[str] = []
        self.num_abort_alls = 0

    @property
    def params(self) -> LoadParams | None:
        return self._params if self.model else None

    @property
    def front(self) -> FakeEngine:
        return self

    @property
    def address(self) -> str:
        return self.default

    @property
    def loading_params(self) -> LoadParams | None:
        return LoadParams(self.loading_path) if self.loading_path else None

    @property
    def front_address(self) -> str:
        return self.default

    @property
    def is_idle(self) -> bool:
        return self.can_sleep

    @property
    def newest_reports(self) -> dict[str, StepReport]:
        return dict.fromkeys(("", self.default), self.newest) if self.newest else {}

    @property
    def held_bytes(self) -> Mapping[str, int]:
        return self.model.held_bytes if self.model and not self.is_asleep else {}

    def __iter__(self) -> Iterator[FakeEngine]:
        return iter([self] if self.model else [])

    def known(self, address: str) -> FakeEngine | None:
        return self if self.model and self.model.address == address else None

    def at(self, _address: str) -> FakeEngine:
        return self

    def of_chat_id(self, _chat_id: str) -> FakeEngine:
        return self

    def address_of(self, chat: Chat) -> str:
        return chat.model_path or self.default

    def show(self, chat: Chat | None) -> None:
        self.post(SetFront(chat.id if chat else None))

    def note_chats(self) -> None: ...

    def model_at(self, _address: str) -> ModelInfo | None:
        return self.model

    def params_of(self, address: str) -> LoadParams | None:
        return LoadParams(Path(address))

    def want(self, address: str = "") -> None:
        self.wanted.append(address)

    def _on_loading(self, path: Path) -> None:
        self.loading_path = path

    def _on_loading_ended(self) -> None:
        self.loading_path = None

    def _on_reported(self, reports: tuple[StepReport, ...]) -> None:
        self.newest = reports[-1] if reports else None
        self.front_reported.emit(reports)
        self.reports_of.emit(self.default, reports)

    def load(self, params: LoadParams, chats: Sequence[Chat] | None = None) -> None:
        self.loaded_for.append(chats)
        self.loads.append(params)
        self.is_loading = True
        self.loading.emit(params.path)

    @property
    def loaded_params(self) -> LoadParams | None:
        return replace(self._params, n_ctx=self.model.n_ctx) if self._params and self.model else None

    @property
    def can_sleep(self) -> bool:
        return bool(self.model) and not (self.is_loading or self.is_asleep)

    @property
    def takes_requests(self) -> bool:
        return bool(self.model) or self.is_asleep

    def cancel_load(self) -> None:
        self.num_cancels += 1
        self.is_loading = False
        self.load_cancelled.emit(self.loads[-1].path)

    def sleep(self) -> None:
        self.is_asleep, self.newest = True, None
        self.context_changed.emit(self.default)
        self.slept.emit()

    def post(self, command: Command, _address: str = "") -> None:
        match command:
            case Submit(request):
                self.submitted.append(request)
            case Abort(request_id):
                self.aborted.append(request_id)
            case AbortAll():
                self.num_abort_alls += 1
            case SetSpeed(speed):
                self.speeds.append(speed)
            case _:
                self.posted.append(command)

    def finish_load(self, model: ModelInfo) -> None:
        self.model = model
        self._params = self.loads[-1] if self.loads else LoadParams(model.path)
        self.is_loading = self.is_asleep = False
        self.default, self.newest, self.loading_path = model.address, None, None
        self.context_changed.emit(model.address)
        self.opened.emit(model)
        self.loaded.emit(model)


class FakeSummaries(QObject):
    grew = Signal(object)
    replaced = Signal(object, object)
    failed = Signal(object)

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.num_stops = 0

    def stop(self) -> None:
        self.num_stops += 1


class FakeChatShelf:
    """The chat's own, in no project."""

    is_searched = False
    text = ""
    project: Project | None = None

    def __init__(self, chat: Chat) -> None:
        self._chat = chat

    @property
    def id(self) -> str:
        return self._chat.shelf_id


class FakeProjects(QObject):
    """Projects that are on no disk."""

    changed = Signal()
    failed = Signal(object)

    def __init__(self, *projects: Project) -> None:
        super().__init__()
        self._projects = {one.folder: one for one in projects}

    @property
    def all(self) -> tuple[Project, ...]:
        return tuple(self._projects.values())

    def of(self, folder: str) -> Project | None:
        return self._projects.get(folder)

    def set(self, project: Project) -> None:
        self._projects[project.folder] = project
        self.changed.emit()

    def remove(self, folder: str) -> None:
        del self._projects[folder]
        self.changed.emit()

    def change(self, folder: str, change: Callable[..., Project], *args: Any, **named: Any) -> None:
        self.set(change(self._projects[folder], *args, **named))


class FakeSession(QObject):
    """A chat whose answers the test writes by `say` and ends by `finish`."""

    changed = Signal()
    grew = Signal(object)
    finished = Signal(object)
    loaded = Signal()
    limits_changed = Signal()
    draft_changed = Signal()

    def __init__(self, chat: Chat | None = None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.chat = chat or Chat()
        self.is_loaded = True
        self.is_preview = False
        self.n_ctx = 0
        self.waits_for_model = False
        self.draft = ""
        self.enter_sends = True
        self.answers = SimpleNamespace(awaited_servers=())
        self.media = FakeMediaFiles(self)
        self.requests = SimpleNamespace(senses=None, host="")
        self.files = FakeDraftFiles(self)
        self.drafts = Drafts()
        self.tokens = FakeTokenCounter(self)
        self.inserted: list[tuple[Role, str, tuple[Attachment, ...]]] = []
        self._draft_attachments: tuple[Attachment, ...] = ()
        self.request_id: str | None = None
        self.sent: list[str] = []
        self.regenerated: list[Turn | None] = []
        self.edited: list[tuple[Turn, str]] = []
        self.asked_with: list[tuple[list[tuple[ChatOptions | None, str]], Turn]] = []
        self.tools = SimpleNamespace(num_tokens=0, are_listed=False)
        self.shelf = FakeChatShelf(self.chat)
        self.decided: list[tuple[ToolUse, Decision]] = []
        self.summed_up_again: list[Turn] = []
        self.num_stops = 0
        self.num_keep_goings = 0
        self.summaries = FakeSummaries(self)
        self.can_sum_up = self.can_hand_out = False
        self.stopped_tasks: list[Turn] = []
        self.handed_out: list[list[str]] = []

    @property
    def overflow(self) -> Overflow:
        return self.chat.overflow

    @property
    def is_full(self) -> bool:
        return bool(self.chat.turns) and self.chat.turns[-1].overflowed

    @property
    def way_on(self) -> Overflow | None:
        is_rolling = self.chat.overflow is Overflow.ROLLING_WINDOW
        return None if is_rolling else Overflow.ROLLING_WINDOW

    def sum_up(self) -> None:
        self.chat.turns[-1].summary = Summary(is_growing=True)
        self.changed.emit()

    def sum_up_again(self, turn: Turn) -> None:
        self.summed_up_again.append(turn)

    def set_summary(self, turn: Turn, text: str) -> None:
        turn.summary = Summary(text) if text else None
        self.changed.emit()

    def put_back_summary(self, turn: Turn, summary: Summary) -> None:
        turn.summary = summary
        self.changed.emit()

    @property
    def address(self) -> str:
        return self.chat.model_path

    @property
    def is_busy(self) -> bool:
        return self.request_id is not None

    @property
    def is_blank(self) -> bool:
        return not (self.chat.turns or self.chat.title or self.draft.strip())

    @property
    def draft_attachments(self) -> tuple[Attachment, ...]:
        return self._draft_attachments

    @draft_attachments.setter
    def draft_attachments(self, attachments: tuple[Attachment, ...]) -> None:
        self._draft_attachments = attachments
        self.draft_changed.emit()

    def choose_attachments(self, attachments: tuple[Attachment, ...]) -> None:
        self.draft_attachments = attachments

    @property
    def queue(self) -> tuple[QueuedMessage, ...]:
        return tuple(self.chat.queue)

    def send(self, text: str, attachments: tuple[Attachment, ...] = ()) -> None:
        self.chat.queue.append(QueuedMessage(text, attachments))
        self.changed.emit()
        if not self.is_busy:
            self.send_queued()

    def send_queued(self) -> None:
        message = self.chat.queue.pop(0)
        self.sent.append(message.text)
        self.chat.auto_title = self.chat.auto_title or title_from(message.text)
        question = Turn(Role.USER, message.text, attachments=message.attachments)
        self.chat.turns += [question, Turn(Role.ASSISTANT, "", TurnState.STREAMING)]
        self.request_id = f"request {len(self.sent)}"
        self.changed.emit()

    def insert(self, role: Role, text: str, attachments: tuple[Attachment, ...] = ()) -> None:
        self.inserted.append((role, text, attachments))
        self.chat.add(Turn(role, text, attachments=attachments))
        self.changed.emit()

    def context_limit(self, n_ctx: int) -> int:
        return min(n_ctx, self.chat.max_context_tokens or n_ctx)

    def set_limits(self, overflow: Overflow, max_context_tokens: int) -> None:
        self.chat.overflow, self.chat.max_context_tokens = overflow, max_context_tokens
        self.limits_changed.emit()

    def emit_settings_changed(self) -> None:
        self.limits_changed.emit()

    def regenerate(self, answer: Turn | None = None) -> None:
        self.regenerated.append(answer)

    def turn_of(self, request_id: str) -> Turn | None:
        return self.chat.turns[-1] if request_id == self.request_id else None

    def answer_with(self, ways: list[tuple[ChatOptions | None, str]], at: Turn) -> tuple[Turn, ...]:
        self.asked_with.append((ways, at))
        return ()

    def edit(self, message: Turn, text: str, attachments: tuple[Attachment, ...]) -> None:
        self.edited.append((message, text))
        self.kept = attachments

    def show_version(self, turn: Turn) -> None:
        self.chat.show_version(turn)
        self.changed.emit()

    def set_tools(self, keys: Iterable[str]) -> None:
        self.chat.tools = tuple(keys)
        self.emit_settings_changed()

    def set_shelf(self, shelf_id: str) -> None:
        self.chat.shelf_id = shelf_id
        self.emit_settings_changed()

    def stop_task(self, turn: Turn) -> None:
        self.stopped_tasks.append(turn)

    def hand_out(self, tasks: list[str]) -> None:
        self.handed_out.append(tasks)

    def decide(self, use: ToolUse, decision: Decision) -> None:
        self.decided.append((use, decision))

    def choose_model(self, address: str) -> None:
        self.chat.model_path = address
        self.changed.emit()

    def keep_going(self) -> None:
        self.num_keep_goings += 1
        self.set_limits(Overflow.ROLLING_WINDOW, 0)

    def reading_of(self, answer: Turn) -> Request:
        before = self.chat.messages(self.chat.index_of(answer))
        return Request("reading", self.chat.id, before, answer_start=answer.text, max_tokens=0)

    def say(self, text: str) -> None:
        self.chat.turns[-1].text += text
        self.grew.emit(self.chat.turns[-1])

    def finish(self, state: TurnState = TurnState.DONE, notice: str = "") -> None:
        answer = self.chat.turns[-1]
        answer.state, answer.notice = state, notice
        self.request_id = None
        self.changed.emit()
        self.finished.emit(answer)

    def stop(self) -> None:
        self.num_stops += 1
        self.finish(TurnState.STOPPED)

    def place(
        self, *, title: str | None = None, folder: str | None = None, is_pinned: bool | None = None
    ) -> None:
        given = {"title": title, "folder": folder, "is_pinned": is_pinned}
        for name, value in given.items():
            if value is not None:
                setattr(self.chat, name, value)
        self.changed.emit()

    def rename(self, title: str) -> None:
        self.place(title=title)


class FakeMediaFiles(QObject):
    """Pictures in memory; a test puts them there."""

    thumbnail_loaded = Signal(str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.pictures: dict[str, Pixels] = {}
        self.files: dict[str, bytes] = {}
        self.devices = SoundDevices()
        self.player = SoundPlayer(self.devices, self.file, self)

    def thumbnail(self, media: Media) -> Pixels | None:
        return self.pictures.get(media.sha256)

    async def pixels(self, media: Media, max_side: int) -> Pixels | None:
        return self.pictures.get(media.sha256)

    async def file(self, media: Media) -> bytes | None:
        return self.files.get(media.sha256)


class FakeDraftFiles(QObject):
    """Notes which files it is asked for; a test emits what comes of them."""

    changed = Signal()
    read = Signal(object)
    refused = Signal(str, object)

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.names: tuple[str, ...] = ()
        self.asked_for: list[Path] = []
        self.given: list[tuple[bytes, str]] = []

    def read_bytes(self, content: bytes, name: str) -> None:
        self.given.append((content, name))

    def cancel_file(self, number: int) -> None:
        self.names = (*self.names[:number], *self.names[number + 1 :])
        self.changed.emit()

    def read_files(self, paths: list[Path]) -> None:
        self.asked_for += paths
        self.names = (*self.names, *(path.name for path in paths))
        self.changed.emit()


class FakeTokenCounter(QObject):
    """One token a word, known as soon as it is asked for."""

    counted = Signal()

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.asked_for: list[tuple[str, ...]] = []
        self._known: dict[str, TokenCount] = {"": TokenCount(0)}

    def count(self, texts: Iterable[str]) -> None:
        self.asked_for.append(tuple(texts))
        self._known |= {text: TokenCount(len(text.split())) for text in self.asked_for[-1]}
        self.counted.emit()

    def num_tokens(self, text: str) -> TokenCount | None:
        return self._known.get(text)


class FakePresets(QObject):
    """Presets that are on no disk: saved at once, or failed as the test says."""

    changed = Signal()
    failed = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.all: dict[str, Preset] = {}
        self.default_file = ""
        self.imported: list[Path] = []
        self.exported: list[tuple[str, Path]] = []

    def get(self, file: str) -> Preset | None:
        return self.all.get(file)

    def file_of(self, options: ChatOptions) -> str:
        return next((file for file, preset in self.all.items() if preset.is_same_as(options)), "")

    def load(self) -> None: ...

    def set_default(self, file: str) -> None:
        self.default_file = file
        self.changed.emit()

    def save(self, preset: Preset, file: str = "") -> None:
        self.all[file or f"{preset.name}.json"] = preset
        self.changed.emit()

    def rename(self, file: str, name: str) -> None:
        self.save(replace(self.all[file], name=name), file)

    def delete(self, file: str) -> Preset | None:
        preset = self.all.pop(file, None)
        self.changed.emit()
        return preset

    def import_file(self, path: Path) -> None:
        self.imported.append(path)

    def export_file(self, file: str, path: Path) -> None:
        self.exported.append((file, path))


class FakeWorkspace(QObject):
    """Keeps open and closed chats in memory."""

    tools = ToolAccess()
    closed_at_work: tuple[FakeSession, ...] = ()

    opened = Signal(object, int)
    coming = Signal(object)
    closed = Signal(object)
    came_back = Signal(object, int)
    let_go = Signal()
    current_changed = Signal(object)
    shown_changed = Signal()
    restoring = Signal(bool)
    pinned = Signal(object, int)
    kept = Signal(object)
    moved_out = Signal(object)
    moved_back = Signal(object)
    called = Signal(object)
    save_failed = Signal(object)
    save_recovered = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.media = FakeMediaFiles(self)
        self.tools = ToolAccess()
        self.drafts = Drafts()
        self._row: TabRow[FakeSession] = TabRow()
        self._closed: list[tuple[FakeSession, int]] = []
        self.forks: list[tuple[FakeSession, int | None]] = []
        self.forks_at: list[tuple[FakeSession, Turn, str, tuple[int, ...], str]] = []

    @property
    def sessions(self) -> tuple[FakeSession, ...]:
        return self._row.tabs

    @property
    def current(self) -> FakeSession | None:
        return self._row.current

    @property
    def shown(self) -> tuple[FakeSession, ...]:
        return self._row.shown

    @property
    def can_reopen(self) -> bool:
        return bool(self._closed)

    def session_of(self, chat_id: str) -> FakeSession | None:
        return next((session for session in self.sessions if session.chat.id == chat_id), None)

    any_session_of = session_of

    def is_pinned(self, session: FakeSession) -> bool:
        return self._row.is_pinned(session)

    def new_notebook(self) -> FakeSession:
        return self.new_chat()

    def new_chat(self, folder: str = "") -> FakeSession:
        return self.open(Chat(folder=folder), len(self.sessions))

    def open(self, chat: Chat, index: int) -> FakeSession:
        session = self.add(chat, index)
        self.set_current(session)
        return session

    def add(self, chat: Chat, index: int) -> FakeSession:
        session = FakeSession(chat, self)
        self.opened.emit(session, self._row.insert(session, index))
        return session

    def fork(self, session: FakeSession, num_turns: int | None = None) -> FakeSession:
        self.forks.append((session, num_turns))
        return self.open(session.chat.fork(num_turns), self.sessions.index(session) + 1)

    def fork_at(
        self, session: FakeSession, answer: Turn, text: str, token_ids: tuple[int, ...], address: str = ""
    ) -> FakeSession:
        self.forks_at.append((session, answer, text, token_ids, address))
        return self.open(session.chat.fork_at(answer, text), self.sessions.index(session) + 1)

    def keep(self, session: FakeSession) -> None:
        session.is_preview = False
        self.kept.emit(session)

    def is_closed_last(self, session: FakeSession) -> bool:
        return bool(self._closed) and self._closed[-1][0] is session

    def close(self, session: FakeSession) -> None:
        if session.is_busy:
            session.finish(TurnState.STOPPED)
        current = self.current
        index = self.sessions.index(session)
        self._row.remove(session)
        self._closed.append((session, index))
        self.closed.emit(session)
        if not self.sessions:
            self.new_chat()
        else:
            self._tell(current)

    def reopen(self) -> FakeSession | None:
        if not self._closed:
            return None
        session, index = self._closed.pop()
        return self.open(session.chat, index)

    def move(self, session: FakeSession, index: int) -> int:
        return self._row.move(session, index)

    def set_pinned(self, session: FakeSession, is_pinned: bool) -> None:
        self.pinned.emit(session, self._row.set_pinned(session, is_pinned))

    def is_out(self, session: FakeSession) -> bool:
        return self._row.is_out(session)

    def move_out(self, session: FakeSession) -> None:
        current = self.current
        self._row.take_out(session)
        self._tell(current)
        self.moved_out.emit(session)

    def move_back(self, session: FakeSession) -> None:
        self._row.put_back(session)
        self.moved_back.emit(session)
        self.set_current(session)

    def set_current(self, session: FakeSession) -> None:
        if self.is_out(session):
            self.called.emit(session)
        elif session in self.sessions:
            current = self.current
            self._row.set_current(session)
            self._tell(current)

    def show_beside(self, session: FakeSession) -> None:
        current = self.current
        self._row.show_beside(session)
        self._tell(current)

    def split(self) -> None:
        if self.current:
            self.show_beside(self._row.next_to(self.current) or self.add(Chat(), 1))

    def end_split(self) -> None:
        self._row.end_split()
        self._tell(self.current)

    def _tell(self, current_before: FakeSession | None) -> None:
        self.shown_changed.emit()
        if self.current is not current_before:
            self.current_changed.emit(self.current)
