"""`skein replay`: computes a recording again, and says whether the logits are the same.

Each answer by itself, from its prompt and its recorded tokens. With our kernels a row's logits are the same,
to the last bit, alone and among others.
"""

import argparse
import signal
import sys
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from app.cli import headless
from app.engine.backend import Backend
from app.engine.batch import Batch, BatchSpan
from app.engine.cells.prefix import common_prefix
from app.engine.children.probe import open_probed_backend
from app.models.memory_fit import fitted
from app.protocol.errors import EngineError
from app.protocol.events import EventKind
from app.protocol.load import LoadParams
from app.protocol.media import is_media
from app.protocol.model import ModelInfo
from app.protocol.recording import Head, RecordingFileError, opened
from app.protocol.report import Span, StepReport
from app.settings.settings import Settings
from app.system import paths

TELL_EVERY = 512  # tokens
SAME, PART, CANNOT = range(3)
BEFORE = "had begun before the recording"
MEDIA = "have pictures or sounds"
MOVED = "go on in cells that were moved when a chat was shortened"
DAMAGED = "have tokens that the model does not take"


class CannotReplayError(Exception):
    """The message says why, and what to do."""


def main(argv: Sequence[str]) -> int:
    """Exit code 0 when all is the same, 1 when it parts, 2 when it cannot be told, 130 after Ctrl+C."""
    options = _parse(argv)
    try:
        with opened(options.recording) as reader:
            recorded = Recorded(reader.head)
            recorded.take(reader)
        return _compare(recorded, options)
    except EngineError as error:
        return _refuse(headless.reason_of(error))
    except (CannotReplayError, RecordingFileError) as error:
        return _refuse(str(error))
    except OSError as error:
        return _refuse(f"{error.filename} could not be read: {error.strerror}.")
    except KeyboardInterrupt:
        _refuse("ended before all was computed.")
        return 128 + signal.SIGINT


def _parse(argv: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="skein replay",
        description="Compute a recording of the inspector again, on the same model, loaded in the same way, "
        "and say whether the logits of each sampled token are the same, or where they part.",
    )
    parser.add_argument("recording", type=Path, metavar="RECORDING", help="a page of “Export recording”")
    parser.add_argument(
        "--model", type=Path, metavar="GGUF", help="the model's file (default: looked for by its name)"
    )
    parser.add_argument("--threads", type=headless.at_least(0), default=0, metavar="N", help="CPU threads")
    return parser.parse_args(argv)


def _refuse(reason: str) -> int:
    headless.tell("")
    print(f"skein replay: {reason}", file=sys.stderr)
    return CANNOT


@dataclass(frozen=True, slots=True)
class Row:
    """Logits that a token was sampled from; `number` is that of the report."""

    number: int
    step: int
    seq_id: int
    position: int
    hashed: int


@dataclass(slots=True, eq=False)
class Stretch:
    """Of an answer, as long as it had one slot and one prompt. A token's position is its index."""

    token_ids: list[int]
    rows: list[Row] = field(default_factory=list)

    def take(self, number: int, step: int, span: Span) -> None:
        kept = span.token_ids[: span.num_rows - span.num_drafted + span.num_kept]
        self.token_ids[span.first_pos :] = kept
        first = span.first_pos + span.num_rows - 1 - span.num_drafted
        for position, hashed in enumerate(memoryview(span.logits_hashes).cast("I"), first):
            self.rows.append(Row(number, step, span.seq_id, position, hashed))


class Recorded:
    """What can be computed again, and which answers cannot, by the reason."""

    def __init__(self, head: Head) -> None:
        self.head = head
        self.stretches: list[Stretch] = []
        self.answers: set[str] = set()
        self.left_out: defaultdict[str, set[str]] = defaultdict(set)
        self._open: dict[str, Stretch] = {}  # by request_id
        self._moved: set[str | None] = set()  # chats

    def take(self, reports: Iterable[StepReport]) -> None:
        for number, report in enumerate(reports):
            self._moved.update(one.chat_id for one in report.events if one.kind is EventKind.SHIFT)
            for lease in report.leases:
                if not lease.num_reused_tokens + lease.num_restored_tokens:
                    self._moved.discard(lease.chat_id)
                self._open.pop(lease.request_id, None)
                if lease.prompt_bytes:
                    stretch = Stretch(list(memoryview(lease.prompt_bytes).cast("i")))
                    self._open[lease.request_id] = stretch
                    self.stretches.append(stretch)
            for span in report.spans:
                if span.logits_hashes:
                    self._take_span(number, report.step, span)

    def _take_span(self, number: int, step: int, span: Span) -> None:
        stretch = self._open.get(span.request_id)
        if stretch is None:
            self.left_out[BEFORE].add(span.request_id)
        elif any(map(is_media, stretch.token_ids)):
            self.left_out[MEDIA].add(span.request_id)
        elif span.chat_id in self._moved:
            self.left_out[MOVED].add(span.request_id)
        elif not 0 <= span.first_pos <= len(stretch.token_ids) or len(span.token_bytes) != 4 * span.num_rows:
            self.left_out[DAMAGED].add(span.request_id)
        else:
            self.answers.add(span.request_id)
            stretch.take(number, step, span)


def _compare(recorded: Recorded, options: argparse.Namespace) -> int:
    told, num_rows = recorded.head.model, sum(len(one.rows) for one in recorded.stretches)
    if not recorded.head.is_told:
        raise CannotReplayError("it was saved without prompts and answers. Export it again with them.")
    if told is None or told.loaded_as is None or not (num_rows or recorded.left_out):
        raise CannotReplayError(
            "it has no logits to compare: it is of an older Skein, or nothing was answered."
        )
    params = _params(told, told.loaded_as, options)
    with open_probed_backend(params, lambda _fraction: True, fitted) as backend:
        for remark in _remarks(told, backend.model):
            print(f"skein replay: {remark}", file=sys.stderr)
        parted = _Again(backend).parted(recorded.stretches)
    headless.tell("")
    answers = f"{num_rows:,} tokens of {len(recorded.answers):,} answers"
    if parted:
        first = min(parted, key=lambda row: (row.number, row.seq_id, row.position))
        print(
            f"The logits part at step {first.step:,}: sequence {first.seq_id}, position {first.position:,}. "
            f"{len(parted):,} of {answers} were sampled from other logits."
        )
    elif num_rows:
        print(f"The same to the last bit: the logits of {answers}.")
    for reason, requests in recorded.left_out.items():
        print(f"Not computed again: {len(requests):,} answers that {reason}.")
    return PART if parted else SAME if num_rows else CANNOT


def _params(told: ModelInfo, loaded_as: LoadParams, options: argparse.Namespace) -> LoadParams:
    """As it was loaded, but without what changes no logits: drafting, pictures, other threads."""
    from app.engine.llama.fingerprint import file_digest

    beside = (options.model or options.recording).parent
    folders = (beside, Path(), paths.models_dir(), paths.starter_model().parent)
    known = [Path(name) for name in Settings.load(paths.settings_file()).models]

    def found(name: str) -> Path:
        places = [*(folder / name for folder in folders), *(one for one in known if one.name == name)]
        if path := next((one for one in places if one.is_file()), None):
            return path
        raise CannotReplayError(f"{name} was not found. Put it beside the recording, or name it by --model.")

    path = found(str(options.model or told.path.name))
    if file_digest(path) != told.digest:
        raise CannotReplayError(f"{path.name} is not the file that was recorded, {told.path.name}.")
    return replace(
        loaded_as,
        path=path,
        adapters=tuple(replace(one, path=found(one.path.name)) for one in loaded_as.adapters),
        num_drafted_tokens=0,
        n_threads=options.threads,
        draft_model=None,
        projector=None,
        server=None,
        workers=(),
        embeds=False,
    )


def _remarks(told: ModelInfo, model: ModelInfo) -> Iterable[str]:
    for name in ("version", "patches", "features"):
        before, now = getattr(told.library, name), getattr(model.library, name)
        if before != now:
            yield f"it was recorded with another llama.cpp ({name}: {before}; here {now})."
    if not (told.is_same_alone and model.is_same_alone):
        yield (
            "with this model, loaded like this, the logits of an answer also depend on what is computed "
            "beside it. Last bits may differ without a fault."
        )


class _Again:
    """Computes tokens again, each beginning once, and compares the rows that were sampled."""

    def __init__(self, backend: Backend) -> None:
        self._backend, self._model = backend, backend.model
        self._batch = Batch(backend.model.n_batch)
        self._held: list[int] = []
        self._hashes: dict[int, int] = {}  # by position, of what is held
        self._num_computed = 0

    def parted(self, stretches: Iterable[Stretch]) -> list[Row]:
        parted, n_vocab = list[Row](), self._model.n_vocab
        for stretch in sorted((one for one in stretches if one.rows), key=lambda one: one.token_ids):
            wanted = {row.position for row in stretch.rows}
            token_ids = stretch.token_ids[: max(wanted) + 1]
            if len(token_ids) > self._model.n_ctx_seq or not 0 <= min(token_ids) <= max(token_ids) < n_vocab:
                raise CannotReplayError(f"there are answers that {DAMAGED}.")
            self._keep(min([common_prefix(self._held, token_ids), *(wanted - self._hashes.keys())]))
            self._compute(token_ids, wanted)
            parted += [row for row in stretch.rows if self._hashes[row.position] != row.hashed]
        return parted

    def _keep(self, num_tokens: int) -> None:
        if num_tokens < len(self._held) and not self._backend.truncate(0, num_tokens):
            self._backend.truncate(0, 0)
            num_tokens = 0
        del self._held[num_tokens:]
        self._hashes = {at: hashed for at, hashed in self._hashes.items() if at < num_tokens}

    def _compute(self, token_ids: list[int], wanted: set[int]) -> None:
        while (start := len(self._held)) < len(token_ids):
            is_wanted = start in wanted
            most = self._model.n_outputs_max if is_wanted else self._model.n_ubatch
            end = start + 1
            while end < min(len(token_ids), start + most) and (end in wanted) == is_wanted:
                end += 1
            self._decode(token_ids[start:end], is_wanted)
            if is_wanted:
                self._hashes |= {at: self._backend.logits_hash(at - start) for at in range(start, end)}

    def _decode(self, token_ids: list[int], wants_logits: bool) -> None:
        batch, start, number = self._batch, len(self._held), len(token_ids)
        batch.clear()
        for row, token_id in enumerate(token_ids):
            batch.token_ids[row], batch.positions[row] = token_id, start + row
            batch.seq_ids[row], batch.wants_logits[row] = 0, wants_logits
        num_more = number - 1 if wants_logits else 0
        batch.spans.append(BatchSpan(None, 0, 0, start, number, wants_logits, True, num_more))  # type: ignore[arg-type]
        batch.num_rows = number
        self._backend.decode(batch)
        self._held += token_ids
        if (self._num_computed + number) // TELL_EVERY > self._num_computed // TELL_EVERY:
            headless.tell(f"{self._num_computed + number:,} tokens computed")
        self._num_computed += number
