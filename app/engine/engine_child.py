"""The child process of `engine_process`: an engine that may crash when a worker is lost.

Reads pickled commands of `EngineLoop` from stdin and writes pickled tuples to stdout, each a word and its
value. Both ends are ours, of one version and one user.
"""

from __future__ import annotations

import logging
import os
import pickle
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace
from functools import partial
from typing import IO

from app.engine.engine import Engine
from app.engine.engine_process import Stop, UsePrompts
from app.engine.hibernation import HibernatedChats
from app.engine.loop import SWITCH_INTERVAL_S, EngineLoop
from app.engine.prompt_builder import PromptBuilder
from app.protocol.errors import EngineError, ModelLoadCancelledError
from app.protocol.load import LoadParams
from app.protocol.report import HibernatedChat, StepReport
from app.system import child_process, paths
from app.system.said import said

OUR_BUG = said("The engine stopped because of an error in Skein itself. Load the model again.")
STACK_BYTES = 64 * 2**20  # as where the engine is a thread of the window's process


class Channel:
    """Messages to the parent. Any thread."""

    def __init__(self, pipe: IO[bytes]) -> None:
        self._pipe = pipe
        self._turn = threading.Lock()

    def send(self, word: str, value: object = None) -> None:
        data = pickle.dumps((word, value), pickle.HIGHEST_PROTOCOL)
        with self._turn:
            self._pipe.write(data)
            self._pipe.flush()


class Reports:
    """Tells them, each with all hibernated chats if these have changed: there may be hundreds."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._hibernated: tuple[HibernatedChat, ...] = ()

    def send(self, reports: list[StepReport]) -> None:
        told = []
        for report in reports:
            has_changed = report.hibernated is not self._hibernated
            self._hibernated = report.hibernated
            told.append((replace(report, hibernated=()), self._hibernated if has_changed else None))
        self._channel.send("reports", told)


class Log(logging.Handler):
    """Forwards log lines to the parent's log."""

    def __init__(self, channel: Channel) -> None:
        super().__init__()
        self._channel = channel

    def emit(self, record: logging.LogRecord) -> None:
        self._channel.send("log", (record.name, record.levelno, self.format(record)))


def main() -> None:
    stdin = sys.stdin.buffer
    params, log_level = pickle.load(stdin)
    channel = Channel(child_process.take_stdout())
    root = logging.getLogger()
    root.addHandler(Log(channel))
    root.setLevel(log_level)
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    loop: Future[EngineLoop] = Future()
    threading.Thread(target=_listen, args=(loop, channel, stdin), name="listener", daemon=True).start()
    threading.stack_size(STACK_BYTES)
    engine = threading.Thread(target=_run, args=(params, channel, loop), name="engine")
    engine.start()
    engine.join()
    os._exit(0)  # all is sent and freed; a thread still reads stdin


def _run(params: LoadParams, channel: Channel, told: Future[EngineLoop]) -> None:
    from app.engine.llama.loading import open_llama_backend

    def on_progress(fraction: float) -> bool:
        channel.send("progress", fraction)
        return True

    try:
        with open_llama_backend(params, on_progress) as backend:
            _watch_connections(params)
            hibernated = HibernatedChats(folder=paths.private_dir_if_possible(paths.cache_dir()))
            engine = Engine(backend, hibernated, verify=params.verify)
            reports = Reports(channel)
            loop = EngineLoop(engine, lambda: reports.send(loop.take_reports()))
            told.set_result(loop)
            channel.send("loaded", backend.model)
            loop.run()
    except ModelLoadCancelledError:
        pass
    except EngineError as error:
        channel.send("failed", str(error))
    except Exception:  # the root of this thread
        logging.getLogger(__name__).exception("the engine failed")
        channel.send("failed", OUR_BUG)


def _watch_connections(params: LoadParams) -> None:
    if params.workers:
        from app.engine.llama.rpc import watch_connections

        watch_connections()


def _listen(loop: Future[EngineLoop], channel: Channel, stdin: IO[bytes]) -> None:
    """On its own thread, also during the load. When the parent closes the pipe, this process exits."""
    try:
        while True:
            match pickle.load(stdin):
                case Stop():
                    loop.result().stop()
                case UsePrompts() as use:
                    _use_prompts(loop.result(), channel, use)
                case command:
                    loop.result().post(command)
    except EOFError:
        os._exit(1)


def _use_prompts(loop: EngineLoop, channel: Channel, use: UsePrompts) -> None:
    def work(prompts: PromptBuilder) -> object:
        wanted = getattr(prompts, use.name)
        return wanted(*use.arguments[0], **use.arguments[1]) if use.arguments else wanted

    loop.use_prompts(work).add_done_callback(partial(_answer, channel.send, use.number))


def _answer(send: Callable[[str, object], None], number: int, done: Future[object]) -> None:
    error = done.exception()
    send("answer", (number, error is None, error or done.result()))


if __name__ == "__main__":
    main()
