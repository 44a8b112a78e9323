"""The one kind of child process: start, messages, deadline, cancelling, reaping; in the child, limits.

For untrusted code and data, and for what may crash. A message is a line of JSON; its "parts" are the lengths
of the bytes behind it, since parsing those from JSON would hold all threads for long. Any thread.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import math
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from app import CHILD_OPTION
from app.system.said import packed, unpacked

LAST_LOG_BYTES = 4096
MAX_LAST_LINES = 10

Message = tuple[dict[str, Any], list[bytes]]
Answer = tuple[dict[str, Any], *tuple[bytes, ...]]


class WorkerEndedError(Exception):
    """It has ended without an answer: by itself, killed at a limit or the deadline, or closed."""

    def __init__(self, child: Child | None = None, *, is_late: bool = False) -> None:
        super().__init__()
        self.exit_code = child.exit_code if child else 0
        self.signal_name = child.signal_name if child else ""
        self.last_lines = child.last_lines if child else []
        self.is_late = is_late

    @property
    def has_crashed(self) -> bool:
        """By an error of native code."""
        if sys.platform == "win32":
            return self.exit_code >= 0xC0000000  # an exception, such as an access violation
        return self.signal_name in ("SIGSEGV", "SIGABRT", "SIGBUS", "SIGILL", "SIGFPE")


class WorkerRefusedError(Exception):
    """It has answered that it cannot; the text says why."""


class Worker:
    """Runs one of our modules as a child process. Any thread may ask, also several at once.

    After it has ended, the next question starts it again: `num_starts` tells whether it is still the same.
    """

    def __init__(self, module: str, *, keeps_log: bool = False, is_once: bool = False) -> None:
        """With `keeps_log`, the end of what it writes to stderr is logged when it ends.

        One that `is_once` is not started again.
        """
        self._module, self._keeps_log, self._is_once = module, keeps_log, is_once
        self._turn = threading.Lock()
        self._child: Child | None = None
        self._listeners: list[threading.Thread] = []
        self._numbers = itertools.count(1)
        self._waiting: dict[int, tuple[Child, queue.SimpleQueue[Message | None]]] = {}
        self.is_closed = False
        self.num_starts = 0

    @property
    def pid(self) -> int:
        return self._child.pid if self._child else 0

    def start(self) -> None:
        """At once, since starting takes longer than most answers. Raises OSError and WorkerEndedError."""
        with self._turn:
            self._started()

    def ask(
        self,
        question: dict[str, Any],
        *parts: bytes,
        max_s: float | None = None,
        on_news: Callable[..., object] = lambda _news, *_parts: None,
        every_s: float | None = None,
    ) -> Message:
        """Its answer. Raises OSError if it cannot be started, WorkerEndedError and WorkerRefusedError.

        `on_news` gets what it tells before, with the bytes behind, and {} every `every_s`. What that raises
        ends the worker.
        """
        messages: queue.SimpleQueue[Message | None] = queue.SimpleQueue()
        with self._turn:
            child, number = self._started(), next(self._numbers)
            self._waiting[number] = child, messages
        if child.is_reaped:
            messages.put(None)
        ends_at = time.monotonic() + (math.inf if max_s is None else max_s)
        timer = threading.Timer(max_s or 0.0, child.kill)
        if max_s is not None:
            timer.start()
        try:
            with contextlib.suppress(OSError, ValueError):  # it is dead already, so it sends no answer
                child.send(question | {"id": number}, *parts)
            while (message := _next(messages, every_s)) and "news" in message[0]:
                on_news(message[0]["news"], *message[1])
        except BaseException:
            self._drop(child)
            raise
        finally:
            timer.cancel()
            del self._waiting[number]
        if message is None:
            raise WorkerEndedError(child, is_late=time.monotonic() >= ends_at)
        if "refusal" in message[0]:
            raise WorkerRefusedError(message[0]["refusal"])
        return message

    def tell(self, message: dict[str, Any], *parts: bytes) -> None:
        """What needs no answer; lost if it has ended."""
        if child := self._child:
            with contextlib.suppress(OSError, ValueError):
                child.send(message, *parts)

    def kill(self) -> None:
        """Ends also work that is under way; the next question starts it again."""
        with self._turn:
            child = self._child
        if child:
            self._drop(child)

    def end(self) -> None:
        """Like `kill`, for good."""
        self.is_closed = True
        self.kill()

    def close(self) -> None:
        """Like `end`; returns when it is gone."""
        self.end()
        for listener in self._listeners:
            listener.join()

    def _started(self) -> Child:
        if self.is_closed:
            raise WorkerEndedError
        if self._child is None or (self._child.has_ended and not self._is_once):
            self._child = Child(self._module, keeps_log=self._keeps_log)
            self.num_starts += 1
            listener = threading.Thread(target=self._listen, args=(self._child,), daemon=True, name="worker")
            self._listeners = [*filter(threading.Thread.is_alive, self._listeners), listener]
            listener.start()
        return self._child

    def _listen(self, child: Child) -> None:
        with contextlib.suppress(Exception):  # it died, or says what is no message
            while True:
                message = child.receive()
                if "refusal" in message[0]:
                    message[0]["refusal"] = unpacked(message[0]["refusal"])
                if asked := self._waiting.get(message[0]["id"]):
                    asked[1].put(message)
        child.is_gone = True
        self._drop(child)
        child.reap()
        for asked_child, messages in list(self._waiting.values()):
            if asked_child is child:
                messages.put(None)

    def _drop(self, child: Child) -> None:
        child.kill()
        with self._turn:
            if self._child is child and not self._is_once:
                self._child = None


def _next(messages: queue.SimpleQueue[Message | None], within_s: float | None) -> Message | None:
    try:
        return messages.get(timeout=within_s)
    except queue.Empty:
        return {"news": {}}, []


class Child:
    """One process, which leads a group: all that it has started is killed with it. One thread receives."""

    def __init__(self, module: str, arguments: Sequence[str] = (), *, keeps_log: bool = False) -> None:
        """Raises OSError.

        Neither fork, which would copy llama.cpp's threads half-way, nor multiprocessing, which would import
        the parent's main module again.
        """
        with contextlib.ExitStack() as stack:
            self._log = stack.enter_context(tempfile.TemporaryFile()) if keeps_log else None
            self._process = subprocess.Popen(
                command(module, arguments),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._log or subprocess.DEVNULL,
                env=environment(),
                start_new_session=True,  # a Ctrl+C in the terminal is for us
            )
            stack.pop_all()
        self._writing = threading.Lock()
        self.pid = self._process.pid
        self.last_lines: list[str] = []  # of its log, once it is reaped
        self.is_gone = self.is_reaped = False

    @property
    def has_ended(self) -> bool:
        """While another thread waits for its end, poll() does not see it."""
        return self.is_gone or self._process.poll() is not None

    @property
    def exit_code(self) -> int:
        """Once it has ended."""
        return self._process.returncode or 0

    @property
    def signal_name(self) -> str:
        """Empty unless a signal has ended it."""
        try:
            return str(signal.Signals(-self.exit_code).name)
        except ValueError:
            return ""

    def send(self, message: dict[str, Any], *parts: bytes) -> None:
        """Raises OSError."""
        with self._writing:
            assert self._process.stdin
            send(self._process.stdin, message, *parts)

    def receive(self) -> Message:
        """Raises EOFError or ValueError when it has ended."""
        assert self._process.stdout
        return receive(self._process.stdout)

    def hang_up(self) -> None:
        """Close its stdin, which asks it to end."""
        stdin, self._process.stdin = self._process.stdin, None  # communicate() would flush it
        if stdin:
            stdin.close()

    def await_end(self, patience_s: float) -> None:
        """Kill it when it has not ended after so many seconds."""
        try:
            self._process.wait(patience_s)
        except subprocess.TimeoutExpired:
            self.kill()

    def kill(self) -> None:
        """No effect if it has ended already."""
        if self._process.returncode is None and sys.platform != "win32":
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.pid, signal.SIGKILL)
        self._process.kill()

    def reap(self) -> None:
        """Kill it, wait for its end, close its pipes and look at its last words."""
        self.kill()
        with contextlib.suppress(OSError):  # unsent input
            self._process.communicate()
        if self._log:
            self.last_lines = _last_lines(self._log)
            self._log.close()
            self._log = None
        self.is_reaped = True


def command(module: str, arguments: Sequence[str] = ()) -> list[str]:
    interpreter = [CHILD_OPTION] if getattr(sys, "frozen", False) else ["-P", "-m"]
    return [sys.executable, *interpreter, module, *arguments]


def environment() -> dict[str, str]:
    # Without the second one, a native abort would fork a debugger.
    return os.environ | {"PYTHONPATH": str(Path(__file__).parents[2]), "GGML_NO_BACKTRACE": "1"}


def printable(text: str) -> str:
    """Removes control characters: names from model files reach the log, and may reach a terminal."""
    text = text.strip()
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else " " for char in text).strip()


def _last_lines(log: IO[bytes]) -> list[str]:
    size = log.seek(0, os.SEEK_END)
    log.seek(max(0, size - LAST_LOG_BYTES))
    lines = map(printable, log.read().decode("utf-8", "replace").splitlines())
    # An assertion begins with the path of a source file on the machine where the library was built.
    return [line.rsplit("/vendor/", 1)[-1] for line in lines if line][-MAX_LAST_LINES:]


# Both sides.


def encoded(message: Mapping[str, Any], errors: str = "surrogatepass") -> bytes:
    return json.dumps(message, ensure_ascii=False).encode("utf-8", errors) + b"\n"


def send(pipe: IO[bytes], message: dict[str, Any], *parts: bytes) -> None:
    pipe.write(encoded(message | {"parts": [len(part) for part in parts]} if parts else message))
    for part in parts:
        pipe.write(part)
    pipe.flush()


def receive(pipe: IO[bytes]) -> Message:
    """Raises EOFError when the pipe is closed, ValueError in the middle of a line."""
    line = pipe.readline()
    if not line:
        raise EOFError
    message: dict[str, Any] = json.loads(line)
    parts = []
    for num_bytes in message.pop("parts", ()):
        parts.append(pipe.read(num_bytes))
        if len(parts[-1]) < num_bytes:
            raise EOFError
    return message, parts


# The child's side.


class Question:
    """Or what needs no answer. Any thread tells and answers."""

    def __init__(self, message: Message, reply: Callable[..., None]) -> None:
        (self.value, self.parts), self._reply = message, reply
        self._id = {"id": self.value.pop("id", 0)}

    def tell(self, *parts: bytes, **news: Any) -> None:
        """Before the answer."""
        self._reply(self._id | {"news": news}, *parts)

    def answer(self, value: dict[str, Any], *parts: bytes) -> None:
        self._reply(self._id | value, *parts)

    def refuse(self, reason: str) -> None:
        self._reply(self._id | {"refusal": packed(reason)})


class Parent:
    """Who asks. From the making of it on, this process ends with its parent, whatever it is doing."""

    def __init__(self) -> None:
        """The main thread."""
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # where there are no groups, Ctrl+C comes here, too
        self._stdout = take_stdout()
        self._writing = threading.Lock()
        self._questions: queue.SimpleQueue[Question] = queue.SimpleQueue()
        threading.Thread(target=self._listen, daemon=True, name="parent").start()

    def questions(self) -> Iterator[Question]:
        while True:
            yield self._questions.get()

    def serve(self, answer: Callable[[Question], Answer], *refusals: type[Exception]) -> None:
        """Never returns. The `refusals` that `answer` raises become answers; all else ends the process."""
        try:
            for question in self.questions():
                try:
                    reply = answer(question)
                except refusals as refusal:
                    question.refuse(str(refusal))
                else:
                    question.answer(*reply)
        except BaseException:
            traceback.print_exc()
            os._exit(1)

    def _listen(self) -> None:
        try:
            while True:
                self._questions.put(Question(receive(sys.stdin.buffer), self._send))
        finally:
            os._exit(0)

    def _send(self, message: dict[str, Any], *parts: bytes) -> None:
        with self._writing:
            send(self._stdout, message, *parts)


def take_stdout() -> IO[bytes]:
    """Reserve stdout for messages: from here on, output of the native library goes to stderr."""
    stdout = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return stdout


def stand_back() -> None:
    """The steps of running answers go first."""
    if sys.platform != "win32":
        os.nice(10)


def limit(**limits: int) -> None:
    """This process, by the names of `resource`. CPU: seconds from here on. A crash leaves no core file."""
    if sys.platform == "win32":
        return
    import resource

    for name, most in ({"CORE": 0} | limits).items():
        kind = getattr(resource, f"RLIMIT_{name}")
        if name == "CPU":
            used = resource.getrusage(resource.RUSAGE_SELF)
            most += math.ceil(used.ru_utime + used.ru_stime)
        _, hard = resource.getrlimit(kind)
        resource.setrlimit(kind, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))
