"""What the commands of the terminal share: the options for the model, its engine without a window, progress.

Settings made for the model in the window apply where the options say nothing. Knows no Qt.
"""

import argparse
import os
import signal
import sys
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from app.engine import opening
from app.engine.cells.hibernation import HibernatedChats
from app.engine.children.probe import OnProgress
from app.engine.children.workers import TRUSTED_ONLY, checked_address
from app.engine.running import RunningEngine
from app.models.memory_fit import fitted
from app.models.model_file import is_for_texts
from app.protocol.errors import EngineCrashedError, EngineError, InvalidRequestError
from app.protocol.load import MAX_DRAFTED_TOKENS, USUAL_DRAFTED_TOKENS, LoadParams, Pooling
from app.protocol.model import ModelInfo
from app.settings.load import load_params
from app.settings.settings import ModelSettings, Settings
from app.system import paths
from app.system.said import said, together


def add_model_options(parser: argparse.ArgumentParser, slots_help: str) -> None:
    parser.add_argument(
        "--model",
        type=Path,
        default=paths.starter_model(),
        metavar="PATH",
        help="GGUF file (default: the starter model)",
    )
    parser.add_argument("--slots", type=at_least(1), metavar="N", help=slots_help)
    parser.add_argument("--ctx", type=at_least(0), metavar="N", help="context size in tokens; 0 is automatic")
    parser.add_argument(
        "--isolated",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="give each slot its own part of the context, ctx / slots",
    )
    parser.add_argument(
        "--swa-full",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="keep all cells of sliding-window layers: chats can be rolled back anywhere, but are slower",
    )
    parser.add_argument("--threads", type=at_least(0), metavar="N", help="CPU threads; 0 is automatic")
    parser.add_argument(
        "--draft",
        type=int,
        choices=range(MAX_DRAFTED_TOKENS + 1),
        metavar="N",
        help="maximum draft tokens per step, from the chat's own text, the model's heads or --draft-model; "
        "0 is off",
    )
    parser.add_argument(
        "--draft-model",
        type=Path,
        metavar="PATH",
        help="smaller GGUF with the same vocabulary for speculative decoding",
    )
    parser.add_argument(
        "--mmproj",
        type=Path,
        metavar="PATH",
        help="projector for pictures and sounds (default: the mmproj file beside the model)",
    )
    parser.add_argument(
        "--no-mmproj", action="store_true", help="text alone, even if there is a projector beside the model"
    )
    parser.add_argument(
        "--workers",
        type=_addresses,
        metavar="HOST:PORT,…",
        help="machines that run `skein worker` to spread the layers over, in trusted networks only; "
        "empty for none",
    )
    parser.add_argument(
        "--no-settings", action="store_true", help="ignore this model's settings from the window"
    )
    parser.add_argument(
        "--verify", action="store_true", help="compare Skein's records with llama.cpp's after every step"
    )


def add_seed_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--seed",
        type=int,
        metavar="S",
        help="sampling seed; the same seed gives the same answer, with most models on most processors also "
        "beside others (default: random)",
    )


def load_params_of(options: argparse.Namespace, default_slots: int) -> LoadParams:
    """From the options, else the model's settings, else those for all models."""
    settings = Settings() if options.no_settings else Settings.load(paths.settings_file())
    chosen_for = _known_path(options.model, settings)
    own = settings.models.get(str(chosen_for), ModelSettings())
    given = {
        "n_ctx": options.ctx,
        "n_seq_max": options.slots or own.n_seq_max or default_slots,
        "isolated": options.isolated,
        "swa_full": options.swa_full,
        "n_threads": options.threads,
        "num_drafted_tokens": options.draft,
        "draft_model": options.draft_model,
        "projector": options.mmproj,
        "workers": options.workers,
    }
    chosen = {name: value for name, value in given.items() if value is not None}
    params = load_params(settings, chosen_for)
    if options.draft_model and not params.num_drafted_tokens:
        params = replace(params, num_drafted_tokens=USUAL_DRAFTED_TOKENS)
    if options.no_mmproj:
        chosen["projector"] = None
    is_recorded = bool(getattr(options, "engine", False))  # by a window elsewhere
    return replace(params, path=options.model, verify=options.verify, is_recorded=is_recorded, **chosen)


def add_text_options(parser: argparse.ArgumentParser) -> None:
    """Options for what turns texts into vectors. A model that is made for it needs none."""
    group = parser.add_argument_group("embeddings and reranking")
    group.add_argument(
        "--embedding-model", type=Path, metavar="PATH", help="a GGUF that makes embeddings, beside --model"
    )
    group.add_argument(
        "--rerank-model", type=Path, metavar="PATH", help="a GGUF that ranks documents, beside --model"
    )
    group.add_argument(
        "--embeddings",
        "--embedding",
        action="store_true",
        help="embeddings by --model, too. If it is a chat model, its weights are loaded a second time",
    )
    group.add_argument(
        "--rerank", "--reranking", action="store_true", help="--model ranks documents, and nothing else"
    )
    group.add_argument(
        "--pooling",
        choices=[one.value for one in Pooling],
        default=Pooling.MODEL.value,
        help="how the vectors of tokens become that of a text (default: as the model says, else mean)",
    )
    group.add_argument(
        "--text-tokens",
        type=at_least(0),
        default=0,
        metavar="N",
        help="longest text to embed or rank; 0: 2048, or what the model takes. Memory grows with it",
    )


@dataclass(frozen=True, slots=True)
class Loads:
    """What is loaded for each purpose. `main` may be an embedder or a reranker itself."""

    main: LoadParams
    embedder: LoadParams | None = None
    ranker: LoadParams | None = None


def loads_of(options: argparse.Namespace, default_slots: int) -> Loads:
    """What to load, by the options of a parser with `add_model_options` and `add_text_options`."""

    def for_texts(path: Path, pooling: Pooling) -> LoadParams:
        threads = options.threads or 0
        return LoadParams(path, n_ctx=options.text_tokens, n_threads=threads, embeds=True, pooling=pooling)

    pooling = Pooling(options.pooling)
    if options.rerank:
        main = for_texts(options.model, Pooling.RANK)
    elif is_for_texts(options.model):
        main = for_texts(options.model, pooling)
    else:
        main = load_params_of(options, default_slots)
    path = options.embedding_model or (options.model if options.embeddings and not main.embeds else None)
    return Loads(
        main,
        for_texts(path, pooling) if path else None,
        for_texts(options.rerank_model, Pooling.RANK) if options.rerank_model else None,
    )


def open_engine(
    params: LoadParams,
    on_progress: OnProgress,
    on_reports_ready: Callable[[], None],
    reclaimable: Mapping[str, int] | None = None,
    turn: Callable[[], AbstractContextManager[bool | None]] = nullcontext,
) -> AbstractContextManager[tuple[ModelInfo, RunningEngine]]:
    """Beside others: `reclaimable` is what they would free (`fitted`), `turn` around each step (`StepTurns`).

    Raises EngineError on entering.
    """
    if params.embeds:
        return opening.open_embedding_engine(params, on_progress, on_reports_ready, turn=turn)
    hibernated = HibernatedChats(folder=paths.private_dir_if_possible(paths.cache_dir()))
    fit = partial(fitted, reclaimable=reclaimable)
    return opening.open_engine(params, on_progress, on_reports_ready, fit, hibernated, turn=turn)


def warning_of(params: LoadParams) -> str:
    """The warning before anything is sent to other machines. Empty without workers."""
    return TRUSTED_ONLY if params.workers else ""


def reason_of(error: EngineError) -> str:
    """The error's message, with advice for the command line where there is some."""
    if isinstance(error, EngineCrashedError) and error.lost_workers:
        return together(str(error), said("Start it there again, or list the remaining ones with --workers."))
    return str(error)


def _known_path(path: Path, settings: Settings) -> Path:
    """The path by which the window's settings know the file."""
    place = os.path.realpath(path)
    return next((Path(name) for name in settings.models if os.path.realpath(name) == place), path)


def tell(text: str) -> None:
    """In the line that the next call replaces; nothing where nobody looks. Empty: the line is gone."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r{text}\033[K")
        sys.stderr.flush()


def reader_gone() -> int:
    """The exit code where whoever reads stdout has what it wanted."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # Python flushes it at the end
    return 128 + signal.SIGPIPE


def at_least(least: int) -> Callable[[str], int]:
    def number(text: str) -> int:
        if not text.strip().isdecimal() or int(text) < least:
            raise argparse.ArgumentTypeError(f"{text!r} is no whole number of at least {least}")
        return int(text)

    return number


def text_of(name: str) -> str:
    """What is in this file, or in stdin for “-”."""
    try:
        read = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
        return read.decode("utf-8-sig").replace("\r\n", "\n")
    except (OSError, ValueError) as error:
        raise argparse.ArgumentTypeError(f"{name} cannot be read: {error}") from error


def _addresses(text: str) -> tuple[str, ...]:
    try:
        return tuple(dict.fromkeys(checked_address(word) for word in text.split(",") if word.strip()))
    except InvalidRequestError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
