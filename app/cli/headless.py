"""What `skein ask` and `skein serve` share: the options for the model, and its engine without a window.

Settings made for the model in the window apply where the options say nothing. Knows no Qt.
"""

import argparse
import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path

from app.engine import opening
from app.engine.opening import OnProgress
from app.engine.running import RunningEngine
from app.engine.workers import TRUSTED_ONLY, checked_address
from app.models.memory_fit import fitted
from app.protocol.errors import EngineCrashedError, EngineError, InvalidRequestError
from app.protocol.load import MAX_DRAFTED_TOKENS, USUAL_DRAFTED_TOKENS, LoadParams
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
    parser.add_argument("--slots", type=_at_least(1), metavar="N", help=slots_help)
    parser.add_argument(
        "--ctx", type=_at_least(0), metavar="N", help="context size in tokens; 0 is automatic"
    )
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
    parser.add_argument("--threads", type=_at_least(0), metavar="N", help="CPU threads; 0 is automatic")
    parser.add_argument(
        "--draft",
        type=int,
        choices=range(MAX_DRAFTED_TOKENS + 1),
        metavar="N",
        help="maximum draft tokens per step, from the chat's own text or --draft-model",
    )
    parser.add_argument(
        "--draft-model",
        type=Path,
        metavar="PATH",
        help="smaller GGUF with the same vocabulary for speculative decoding",
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
        help="sampling seed; the same seed gives the same answer if it is computed in the same steps "
        "(default: random)",
    )
    parser.add_argument(
        "--repeatable",
        action="store_true",
        default=None,
        help="the same prompt and seed always give the same answer, whatever else is computed. Slower: one "
        "such answer at a time, in its own steps and a second context",
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
        "workers": options.workers,
    }
    chosen = {name: value for name, value in given.items() if value is not None}
    params = load_params(settings, chosen_for)
    if options.draft_model and not params.num_drafted_tokens:
        params = replace(params, num_drafted_tokens=USUAL_DRAFTED_TOKENS)
    return replace(params, path=options.model, verify=options.verify, **chosen)


def open_engine(
    params: LoadParams, on_progress: OnProgress, on_reports_ready: Callable[[], None]
) -> AbstractContextManager[tuple[ModelInfo, RunningEngine]]:
    """Raises EngineError on entering."""
    return opening.open_engine(params, on_progress, on_reports_ready, fitted)


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


def _at_least(least: int) -> Callable[[str], int]:
    def number(text: str) -> int:
        if not text.strip().isdecimal() or int(text) < least:
            raise argparse.ArgumentTypeError(f"{text!r} is no whole number of at least {least}")
        return int(text)

    return number


def _addresses(text: str) -> tuple[str, ...]:
    try:
        return tuple(dict.fromkeys(checked_address(word) for word in text.split(",") if word.strip()))
    except InvalidRequestError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
