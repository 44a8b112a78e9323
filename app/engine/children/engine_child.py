"""The child process of `engine_process`: an engine that may crash when a worker is lost."""

from __future__ import annotations

import logging
import sys
import threading
from concurrent.futures import Future
from functools import partial
from queue import SimpleQueue

from app.engine.cells.hibernation import HibernatedChats
from app.engine.engine import Engine
from app.engine.loop import SWITCH_INTERVAL_S, EngineLoop
from app.engine.prompts.prompts_elsewhere import work_of
from app.protocol.errors import EngineError
from app.protocol.load import LoadParams
from app.protocol.wire import COMMAND, LOAD_PARAMS, MODEL, ReportWriter, packed_error
from app.system import paths, worker
from app.system.said import said
from app.system.worker import Question

OUR_BUG = said("The engine stopped because of an error in Skein itself. Load the model again.")
STACK_BYTES = 64 * 2**20  # as where the engine is a thread of the window's process


class Log(logging.Handler):
    """Forwards log lines to the parent's log, with what the engine's thread is asked."""

    def __init__(self, question: Question) -> None:
        super().__init__()
        self.question = question

    def emit(self, record: logging.LogRecord) -> None:
        self.question.tell(log=(record.name, record.levelno, self.format(record)))


def main() -> None:
    """What is asked first is to load the model, then to run the engine; what else comes is for that."""
    questions = worker.Parent().questions()
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    loop: Future[EngineLoop] = Future()
    runs: SimpleQueue[Question] = SimpleQueue()
    threading.stack_size(STACK_BYTES)
    threading.Thread(target=_run, args=(next(questions), runs, loop), name="engine").start()
    for question in questions:
        match question.value["do"]:
            case "run":
                runs.put(question)
            case "stop":
                loop.result().stop()
            case "post":
                loop.result().post(COMMAND.unpacked(question.parts))
            case "prompts":
                _use_prompts(loop.result(), question)


def _run(load: Question, runs: SimpleQueue[Question], started: Future[EngineLoop]) -> None:
    """Loading and running are answered, or refused, when all is freed."""
    from app.engine.llama.loading import open_llama_backend

    params = LOAD_PARAMS.unpacked(load.parts)
    root, log = logging.getLogger(), Log(load)
    root.addHandler(log)
    root.setLevel(load.value["log_level"])

    def on_progress(fraction: float) -> bool:
        load.tell(progress=fraction)
        return True

    try:
        with open_llama_backend(params, on_progress) as backend:
            _watch_connections(params)
            hibernated = HibernatedChats(folder=paths.private_dir_if_possible(paths.cache_dir()))
            engine = Engine(backend, hibernated, verify=params.verify, is_recorded=params.is_recorded)
            writer = ReportWriter()
            loop = EngineLoop(engine, lambda: log.question.tell(*writer.packed(loop.take_reports())))
            started.set_result(loop)
            load.answer({}, *MODEL.packed(backend.model))
            log.question = runs.get()
            loop.run()
    except EngineError as error:
        log.question.refuse(str(error))
    except Exception:  # the root of this thread
        logging.getLogger(__name__).exception("the engine failed")
        log.question.refuse(OUR_BUG)
    else:
        log.question.answer({})


def _watch_connections(params: LoadParams) -> None:
    if params.workers:
        from app.engine.llama.rpc import watch_connections

        watch_connections()


def _use_prompts(loop: EngineLoop, question: Question) -> None:
    work = work_of(question.value["name"], question.parts)
    loop.use_prompts(work).add_done_callback(partial(_answer, question))


def _answer(question: Question, done: Future[list[bytes]]) -> None:
    if error := done.exception():
        question.answer({"error": packed_error(error)})
    else:
        question.answer({}, *done.result())


if __name__ == "__main__":
    main()
