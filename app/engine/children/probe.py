"""Tests a model file in a child process before it is loaded into this one.

A GGUF is untrusted data, and a bad one can make llama.cpp abort, hang or exhaust the memory. The child loads
it, renders its template and computes a few tokens (`probe_child`); a file that passes is remembered. This is
no sandbox against code that takes over the child.

The thread that loads. It waits without the GIL.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.engine.llama.mapped_files import parts_of
from app.protocol.errors import ModelLoadCancelledError, ModelLoadError
from app.system import paths
from app.system.files import replacing
from app.system.said import said, together
from app.system.worker import Worker, WorkerEndedError, WorkerRefusedError

if TYPE_CHECKING:
    from app.engine.llama.backend import LlamaBackend
    from app.engine.llama.embedder import LlamaEmbedder
    from app.protocol.load import LoadParams
    from app.protocol.model import Device

log = logging.getLogger(__name__)

OnProgress = Callable[[float], bool]
Fitter = Callable[["LoadParams", "Sequence[Device]"], "LoadParams"]

FORMAT = 2  # increase it when the probe tests more than before
PROBE_SHARE = 0.5  # of the progress: the probe reads the file from disk, the load finds it in memory
POLL_S = 0.05

FOR_VECTORS = " for vectors"  # behind the key of a file
GIB = 1 << 30
# One pass over the weights, at 1.2 GB/s (measured). In larger files NaN still shows in the logits.
MAX_CHECKED_BYTES = 4 * GIB
# Beside the weights: Python, the vocabulary, a small context, a stack for each tensor that is checked.
BASE_MEMORY_BYTES = 4 * GIB
BASE_CPU_S, CPU_S_PER_GIB = 60.0, 60.0
BASE_WALL_S, WALL_S_PER_GIB = 120.0, 240.0  # a network drive may give no more than 5 MB/s

WHAT_TO_DO = said(
    "The file is damaged or malicious. Download it again from a source you trust, or open another one."
)


def unchanged(params: LoadParams, _devices: Sequence[Device]) -> LoadParams:
    return params


@contextlib.contextmanager
def open_probed_backend(
    params: LoadParams, on_progress: OnProgress = lambda _fraction: True, fit: Fitter = unchanged
) -> Iterator[LlamaBackend]:
    """As `open_llama_backend`, but a file that is new to us is tried in a child process first.

    `fit` gets the parameters and the GPUs that there are, and says how to load, or raises ModelLoadError.
    """
    from app.engine.llama.loading import open_llama_backend
    from app.engine.llama.native_library import gpus, library

    library()
    params = fit(params, gpus())

    start = PROBE_SHARE if probe_files(params, lambda done: on_progress(done * PROBE_SHARE)) else 0.0
    with open_llama_backend(params, lambda done: on_progress(start + (1.0 - start) * done)) as backend:
        yield backend


@contextlib.contextmanager
def open_probed_embedder(
    params: LoadParams, on_progress: OnProgress = lambda _fraction: True
) -> Iterator[LlamaEmbedder]:
    """As `open_llama_embedder`, but a file that is new to us is tried in a child process first."""
    from app.engine.llama.embedder import open_llama_embedder

    was_probed = _probe(_Trial(params.path, embeds=True), lambda done: on_progress(done * PROBE_SHARE))
    start = PROBE_SHARE if was_probed else 0.0
    with open_llama_embedder(params, lambda done: on_progress(start + (1.0 - start) * done)) as embedder:
        yield embedder


def probe_files(params: LoadParams, on_progress: OnProgress) -> bool:
    """As `probe`, for the model with its adapters and its draft model."""
    was_probed = probe(params.path, on_progress)
    for adapter in params.adapters:
        probe_adapter(params.path, adapter.path, lambda _fraction: on_progress(float(was_probed)))
    if draft := params.of_draft_model:
        probe(draft.path, lambda _fraction: on_progress(float(was_probed)))
    return was_probed


def probe(path: Path, on_progress: OnProgress = lambda _fraction: True) -> bool:
    """Returns if `path` may be loaded: True if it passed just now, False if it was known to be good.

    `on_progress` gets 0 … 1 on the calling thread and cancels by returning False. Raises ModelLoadError.
    """
    if os.path.realpath(path) == os.path.realpath(paths.starter_model()):  # it is bundled with Skein
        return False
    return _probe(_Trial(path), on_progress)


def probe_adapter(model: Path, path: Path, on_progress: OnProgress = lambda _fraction: True) -> bool:
    """As `probe`, for a LoRA adapter together with a model that is known to be good."""
    return _probe(_Trial(model, path), on_progress)


def _probe(trial: _Trial, on_progress: OnProgress) -> bool:
    file, good_files = trial.file(), KnownFiles(paths.probed_models_file(), _judge())
    if file in good_files:
        return False
    trial.run(on_progress)
    if trial.file() != file:
        raise ModelLoadError(
            said("{name} changed while it was being tested. Is it still downloading?", name=trial.path.name)
        )
    good_files.add(file)
    return True


def _judge() -> str:
    from app.engine.llama.loading import LIBRARY_VERSION

    return f"probe {FORMAT}, llama-cpp-python {LIBRARY_VERSION}"


def _limits(size_bytes: int) -> dict[str, Any]:
    """Far above what a good file of this size needs."""
    return {
        "check_tensors": size_bytes <= MAX_CHECKED_BYTES,
        "max_memory_bytes": BASE_MEMORY_BYTES + 2 * size_bytes,  # weights are copied to another layout
        "max_cpu_s": int(BASE_CPU_S + CPU_S_PER_GIB * size_bytes / GIB),
        "max_wall_s": BASE_WALL_S + WALL_S_PER_GIB * size_bytes / GIB,
    }


class _Trial:
    """One file in one child process: a model, or an adapter of one."""

    def __init__(self, model: Path, adapter: Path | None = None, *, embeds: bool = False) -> None:
        """With `embeds`, it is tried as a model that makes vectors of texts."""
        self._model, self._adapter, self._embeds = model, adapter, embeds
        self.path = adapter or model
        self._limits = _limits(self.file().size_bytes)
        self._progress = 0.0

    def file(self) -> KnownFile:
        """The file's current identity, and what it is good for: an adapter may be bad for another model."""
        model = KnownFile.at(self._model)
        if self._embeds:
            return KnownFile(model.key + FOR_VECTORS, model.size_bytes)
        if not self._adapter:
            return model
        adapter = KnownFile.at(self._adapter)
        return KnownFile(adapter.key + model.key, adapter.size_bytes + model.size_bytes)

    def run(self, on_progress: OnProgress) -> None:
        """Raises ModelLoadError unless the child says that the file is good."""
        question = {"path": str(self._model), "adapter": str(self._adapter or ""), "embeds": self._embeds}
        worker = Worker("app.engine.children.probe_child", keeps_log=True, is_once=True)
        try:
            answer, _ = worker.ask(
                question | self._limits,
                max_s=self._limits["max_wall_s"],
                on_news=partial(self._pass_on, on_progress),
                every_s=POLL_S,
            )
        except WorkerRefusedError as refusal:
            raise ModelLoadError(str(refusal)) from None
        except WorkerEndedError as error:
            lines = "\n".join(error.last_lines)
            log.error("%s: the probe ended with %d.\n%s", self.path, error.exit_code, lines)
            raise ModelLoadError(self._too_slow() if error.is_late else self._crash_message(error)) from None
        except OSError as error:
            raise ModelLoadError(
                said(
                    "{name} cannot be tested before loading: {reason}. Close other programs, or free "
                    "some disk space.",
                    name=self.path.name,
                    reason=error.strerror,
                )
            ) from error
        finally:
            worker.close()
        for remark in answer["remarks"]:
            log.info("%s: %s", self.path, remark)

    def _pass_on(self, on_progress: OnProgress, news: dict[str, Any]) -> None:
        self._progress = news.get("progress", self._progress)
        if not on_progress(self._progress):
            raise ModelLoadCancelledError(said("Loading {name} was cancelled.", name=self.path.name))

    def _crash_message(self, error: WorkerEndedError) -> str:
        name, how = self.path.name, error.signal_name
        if how == "SIGXCPU":
            slow = said(
                "Testing {name} took over {seconds} seconds of CPU time.",
                name=name,
                seconds=self._limits["max_cpu_s"],
            )
            return together(slow, WHAT_TO_DO)
        if how == "SIGKILL":
            return said(
                "The system killed the process testing {name}, most likely because it ran out of memory. "
                "Close other programs, or open a smaller model.",
                name=name,
            )
        crashed = said(
            "{name} crashed the process testing it ({how}: {last_words}).",
            name=name,
            how=how or said("exit code {code}", code=error.exit_code),
            last_words=error.last_lines[-1] if error.last_lines else said("no output"),
        )
        return together(crashed, WHAT_TO_DO)

    def _too_slow(self) -> str:
        return said(
            "Testing {name} took longer than {seconds:.0f} seconds. The file is damaged or its disk is "
            "too slow: copy it to another disk and open it there.",
            name=self.path.name,
            seconds=self._limits["max_wall_s"],
        )


MAX_REMEMBERED = 200


@dataclass(frozen=True, slots=True)
class KnownFile:
    """A model on disk with all its parts. One that cannot be read has none."""

    key: str  # of each part its real path, size, time of last change, and inode
    size_bytes: int

    @classmethod
    def at(cls, *models: Path) -> KnownFile:
        parts = []
        with contextlib.suppress(OSError):
            for part in (part for path in models for part in parts_of(path)):
                status = part.stat()
                parts.append((os.path.realpath(part), status.st_size, status.st_mtime_ns, status.st_ino))
        return cls(json.dumps(parts), sum(part[1] for part in parts))


class KnownFiles:
    """What was found out about files: a small JSON file in the cache folder, the latest last.

    Each is tried once until its metadata change. Where the file is lost, a trial is repeated.

    `judge` identifies the version of the trial: results of another version do not count.
    """

    def __init__(self, path: Path, judge: str) -> None:
        self._path, self._judge = path, judge

    def __contains__(self, file: KnownFile) -> bool:
        return file.key in self._found()

    def get(self, file: KnownFile) -> Any:
        """None: it is not known."""
        return self._found().get(file.key)

    def add(self, file: KnownFile, found: Any = True) -> None:
        latest = list((self._found() | {file.key: found}).items())[-MAX_REMEMBERED:]
        try:
            paths.private_dir(self._path.parent)
            with replacing(self._path) as stored:
                json.dump({"judge": self._judge, "files": dict(latest)}, stored)
        except OSError as error:
            log.warning("%s was not written (%s): the model will be tested again.", self._path, error)

    def _found(self) -> dict[str, Any]:
        try:
            stored = json.loads(self._path.read_bytes())
            files = stored["files"] if stored["judge"] == self._judge else {}
            return files if isinstance(files, dict) else dict.fromkeys(files, True)  # formerly a list
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, LookupError, TypeError, RecursionError) as error:
            log.warning("%s is ignored: %r", self._path, error)
            return {}
