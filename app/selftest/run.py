"""Runs all checks one after the other, even after failures; can be cancelled at any step.

The thread that calls it owns the context until it returns.
"""

import time
from collections.abc import Callable
from dataclasses import replace

from app.engine.backend import Backend
from app.engine.children.probe import open_probed_backend
from app.engine.engine import Engine
from app.engine.llama.loading import LIBRARY_VERSION
from app.models.memory_fit import fitted
from app.protocol.errors import EngineError, RequestError
from app.protocol.load import LoadParams
from app.selftest.bench import Bench, CancelledError, CannotCheckError, CheckFailedError
from app.selftest.checks import CHECKS, Check
from app.selftest.report import Outcome, Report, ReportLine
from app.system.said import said

OnProgress = Callable[[float, str], None]  # 0 … 1, and what is being tested
OnLine = Callable[[ReportLine], None]

DEFAULT_N_CTX = 1024  # a large model needs a minute to fill so many cells
DEFAULT_N_SEQ_MAX = 6  # five at once, and one more
LOAD_SHARE = 0.1  # of the progress


def verifying_engine(backend: Backend) -> Engine:
    """Compares every cell with the library after every step."""
    return Engine(backend, verify=True)


def self_test(
    params: LoadParams,
    on_progress: OnProgress = lambda _fraction, _title: None,
    is_cancelled: Callable[[], bool] = lambda: False,
    on_line: OnLine = lambda _line: None,
) -> Report:
    """Load the model into a context of its own and test it. Raises ModelLoadError."""

    def on_load(fraction: float) -> bool:
        on_progress(LOAD_SHARE * fraction, said("Loading the model"))
        return not is_cancelled()

    params = replace(params, num_drafted_tokens=0)  # the checks count what was computed
    with open_probed_backend(params, on_load, fitted) as backend:
        return run_checks(
            backend,
            lambda fraction, title: on_progress(LOAD_SHARE + (1 - LOAD_SHARE) * fraction, title),
            is_cancelled,
            on_line=on_line,
        )


def run_checks(
    backend: Backend,
    on_progress: OnProgress = lambda _fraction, _title: None,
    is_cancelled: Callable[[], bool] = lambda: False,
    make_engine: Callable[[Backend], Engine] = verifying_engine,
    on_line: OnLine = lambda _line: None,
) -> Report:
    """Test a context that is not in use and whose cells are free. They are free again afterwards.

    Native objects are counted in the whole process, so no other context in it may be busy meanwhile.
    """
    progress = _Progress(on_progress)
    bench = Bench(backend, make_engine, is_cancelled, progress.note_answer)
    lines: list[ReportLine] = []
    was_cancelled = False
    try:
        for check in CHECKS:
            progress.begin(check)
            lines.append(_line(bench, check))
            on_line(lines[-1])
    except CancelledError:
        was_cancelled = True
    finally:
        bench.close()
    on_progress(1.0, "")
    model = backend.model
    return Report(
        model.name,
        model.architecture,
        model.n_ctx,
        model.n_seq_max,
        LIBRARY_VERSION,
        tuple(lines),
        was_cancelled,
    )


def _line(bench: Bench, check: Check) -> ReportLine:
    started = time.perf_counter()
    bench.reports.clear()
    outcome = Outcome.PASSED
    try:
        seen = check.run(bench)
        bench.check_empty()
    except CannotCheckError as error:
        outcome, seen = Outcome.SKIPPED, str(error)
    except (CheckFailedError, EngineError, RequestError, AssertionError) as error:
        outcome, seen = Outcome.FAILED, str(error) or type(error).__name__
    line = ReportLine(check.name, check.title, check.done, seen, outcome, time.perf_counter() - started)
    if outcome is not Outcome.PASSED:
        bench.renew()
    return line


class _Progress:
    """Counts answers, since all else takes no time."""

    def __init__(self, on_progress: OnProgress) -> None:
        self._on_progress = on_progress
        self._num_before = 0  # answers of the checks that are over
        self._num_answers = 0  # of the running one
        self._check: Check | None = None

    def begin(self, check: Check) -> None:
        if self._check:
            self._num_before += self._check.num_answers
        self._check, self._num_answers = check, 0
        self._report_progress()

    def note_answer(self) -> None:
        self._num_answers += 1
        self._report_progress()

    def _report_progress(self) -> None:
        assert self._check is not None
        done = self._num_before + min(self._num_answers, self._check.num_answers)
        self._on_progress(done / sum(check.num_answers for check in CHECKS), self._check.title)
