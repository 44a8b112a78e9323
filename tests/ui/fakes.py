"""Stand-ins for what the window is given: the same signals and names, and a script instead of an engine."""

from PySide6.QtCore import QObject, Signal

from app.chats.chat import Chat, Turn, TurnState
from app.engine.commands import Command
from app.engine.types import LoadParams, ModelInfo, Overflow, Request, Role, Speed


class FakeEngine(QObject):
    """Notes what it is asked for; a test emits what it answers."""

    loading = Signal(object)
    load_progressed = Signal(float)
    loaded = Signal(object)
    load_failed = Signal(object, str)
    engine_failed = Signal(str)
    reported = Signal(object)

    def __init__(self, model: ModelInfo | None = None) -> None:
        super().__init__()
        self.model = model
        self.loads: list[LoadParams] = []
        self.speeds: list[Speed] = []
        self.posted: list[Command] = []
        self.submitted: list[Request] = []
        self.aborted: list[str] = []
        self.num_abort_alls = 0

    def load(self, params: LoadParams) -> None:
        self.loads.append(params)
        self.loading.emit(params.path)

    def set_speed(self, speed: Speed) -> None:
        self.speeds.append(speed)

    def post(self, command: Command) -> None:
        self.posted.append(command)

    def submit(self, request: Request) -> None:
        self.submitted.append(request)

    def abort(self, request_id: str) -> None:
        self.aborted.append(request_id)

    def abort_all(self) -> None:
        self.num_abort_alls += 1

    def finish_load(self, model: ModelInfo) -> None:
        self.model = model
        self.loaded.emit(model)


class FakeSession(QObject):
    """A chat whose answers the test writes by `say` and ends by `finish`."""

    changed = Signal()
    text_appended = Signal(str)
    finished = Signal(object)
    limits_changed = Signal()

    def __init__(self, chat: Chat | None = None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.chat = chat or Chat()
        self.draft = ""
        self.request_id: str | None = None
        self.sent: list[str] = []
        self.num_stops = 0
        self.num_keep_goings = 0

    @property
    def is_busy(self) -> bool:
        return self.request_id is not None

    @property
    def is_blank(self) -> bool:
        return not (self.chat.turns or self.chat.title or self.draft.strip())

    def send(self, text: str) -> None:
        self.sent.append(text)
        self.chat.turns += [Turn(Role.USER, text), Turn(Role.ASSISTANT, "", TurnState.STREAMING)]
        self.request_id = f"request {len(self.sent)}"
        self.changed.emit()

    def context_limit(self, n_ctx: int) -> int:
        return min(n_ctx, self.chat.max_context_tokens or n_ctx)

    def set_limits(self, overflow: Overflow, max_context_tokens: int) -> None:
        self.chat.overflow, self.chat.max_context_tokens = overflow, max_context_tokens
        self.limits_changed.emit()

    def keep_going(self) -> None:
        self.num_keep_goings += 1
        self.set_limits(Overflow.ROLLING_WINDOW, 0)

    def reading_of(self, answer: Turn) -> Request:
        before = self.chat.messages(self.chat.index_of(answer))
        return Request("reading", self.chat.id, before, answer_start=answer.text, max_tokens=0)

    def say(self, text: str) -> None:
        self.chat.turns[-1].text += text
        self.text_appended.emit(text)

    def finish(self, state: TurnState = TurnState.DONE, notice: str = "") -> None:
        answer = self.chat.turns[-1]
        answer.state, answer.notice = state, notice
        self.request_id = None
        self.changed.emit()
        self.finished.emit(answer)

    def stop(self) -> None:
        self.num_stops += 1
        self.finish(TurnState.STOPPED)


class FakeWorkspace(QObject):
    """Keeps open and closed chats in memory."""

    opened = Signal(object, int)
    closed = Signal(object)
    current_changed = Signal(object)
    save_failed = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self._sessions: list[FakeSession] = []
        self._closed: list[tuple[FakeSession, int]] = []
        self.forks: list[tuple[FakeSession, int | None]] = []
        self.forks_at: list[tuple[FakeSession, Turn, str, tuple[int, ...]]] = []
        self.current: FakeSession | None = None

    @property
    def sessions(self) -> tuple[FakeSession, ...]:
        return tuple(self._sessions)

    @property
    def can_reopen(self) -> bool:
        return bool(self._closed)

    def session_of(self, chat_id: str) -> FakeSession | None:
        return next((session for session in self._sessions if session.chat.id == chat_id), None)

    def new_chat(self) -> FakeSession:
        return self.open(Chat(), len(self._sessions))

    def open(self, chat: Chat, index: int) -> FakeSession:
        session = FakeSession(chat, self)
        self._sessions.insert(index, session)
        self.opened.emit(session, index)
        self.set_current(session)
        return session

    def fork(self, session: FakeSession, num_turns: int | None = None) -> FakeSession:
        self.forks.append((session, num_turns))
        return self.open(session.chat.fork(num_turns), self._sessions.index(session) + 1)

    def fork_at(
        self, session: FakeSession, answer: Turn, text: str, token_ids: tuple[int, ...]
    ) -> FakeSession:
        self.forks_at.append((session, answer, text, token_ids))
        return self.open(session.chat.fork_at(answer, text), self._sessions.index(session) + 1)

    def close(self, session: FakeSession) -> None:
        if session.is_busy:
            session.finish(TurnState.STOPPED)
        index = self._sessions.index(session)
        self._sessions.remove(session)
        self._closed.append((session, index))
        self.closed.emit(session)
        if not self._sessions:
            self.new_chat()
        elif self.current is session:
            self.set_current(self._sessions[min(index, len(self._sessions) - 1)])

    def reopen(self) -> FakeSession | None:
        if not self._closed:
            return None
        session, index = self._closed.pop()
        return self.open(session.chat, index)

    def move(self, session: FakeSession, index: int) -> None:
        self._sessions.remove(session)
        self._sessions.insert(index, session)

    def set_current(self, session: FakeSession) -> None:
        if session is not self.current and session in self._sessions:
            self.current = session
            self.current_changed.emit(session)
