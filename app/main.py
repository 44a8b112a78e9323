"""The command line: `skein` opens the window, `skein ask` answers in the terminal, `skein serve` over HTTP.

`skein rows` asks one prompt about each row of a table, `skein compare` tells what two models make of a text,
`skein replay` computes a recording again, `skein selftest` proves on this machine that it works, and `skein
worker` lends it to another one. Imports Qt only for the window, so that the rest works where PySide6 is not
installed.
"""

import argparse
import gc
import importlib
import linecache
import logging
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

import app
from app.system import log, paths, refusal

COMMANDS = {
    "ask": "app.cli.ask",
    "compare": "app.cli.compare",
    "replay": "app.cli.replay",
    "rows": "app.cli.rows",
    "selftest": "app.selftest.command",
    "serve": "app.cli.serve",
    "worker": "app.cli.worker",
}


def main(argv: Sequence[str] | None = None) -> int:
    """Returns the exit code, 130 after Ctrl+C."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        if arguments[:1] and arguments[0] in COMMANDS:
            return int(importlib.import_module(COMMANDS[arguments[0]]).main(arguments[1:]))
        return _open_window(arguments)
    except KeyboardInterrupt:  # also while a command is being imported, or waits for stdin
        return 128 + signal.SIGINT


def _open_window(arguments: Sequence[str]) -> int:
    if arguments == ["--install-desktop"] or arguments == ["--remove-desktop"]:
        from app.cli import desktop_entry

        return desktop_entry.install() if arguments == ["--install-desktop"] else desktop_entry.remove()
    options = _parse(arguments)
    gc.disable()  # imports leave little garbage; later the GUI thread collects it
    os.environ["QT_API"] = "pyside6"  # qasync would take another Qt if it found one
    try:
        leave_sources_unread()
        from app import window
    except ImportError as error:  # not installed, or a system library it needs is not
        if (error.name or "").partition(".")[0] not in ("PySide6", "shiboken6", "qasync"):
            raise
        told = refusal.missing_for_window(_qt_folder()) if ".so" in str(error) else ""
        return _refuse(told or f"The window cannot open: {error}. Install the extra 'gui', or use skein ask.")
    if told := refusal.missing_for_window(_qt_folder()):
        return _refuse(told)
    try:
        return window.run(options)
    except Exception as error:
        if refusal.has_terminal():
            raise
        log.write_held(paths.log_dir())
        logging.getLogger(__name__).exception("Skein could not start, or could not end.")
        return _refuse(f"Skein ended unexpectedly: {error!r}. The log in {paths.log_dir()} tells more.")


def _qt_folder() -> Path:
    import PySide6

    return Path(PySide6.__file__).parent


def leave_sources_unread() -> None:
    """PySide reads the source of each module that is imported, to see whether it chooses features of PySide.

    None of ours does. The lines of all of them would leave holes of 15 MB in Python's heap.
    """
    import PySide6.QtCore  # noqa: F401  # which makes the module that reads

    if feature := sys.modules.get("shibokensupport.feature"):
        vars(feature)["_mod_uses_pyside"] = lambda _module: False
        linecache.clearcache()


def _refuse(reason: str) -> int:
    """Reported without Qt, which is missing or in an unknown state."""
    refusal.write(reason)
    if not refusal.has_terminal():
        refusal.show_without_qt(reason)
    return 1


# Options that take the place of a setting for one run.
_OVERRIDES = {
    "theme": "--theme",
    "n_ctx": "--ctx",
    "n_seq_max": "--slots",
    "n_threads": "--threads",
    "verify": "--verify",
}


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    """`overrides` has the settings for this run only, by their names in Settings."""
    if not arguments:  # the first paint need not wait for a parser, which takes 3 ms to make
        return argparse.Namespace(model=None, debug=False, overrides={})
    parser = argparse.ArgumentParser(
        prog="skein",
        description="Many chats with local language models in one llama.cpp context.",
        epilog="`skein ask PROMPT…` answers in the terminal, `skein rows FILE` asks about each row of a "
        "table, `skein compare` tells what two models make of a text, `skein serve` serves one over HTTP, "
        "`skein replay FILE` computes a recording again, "
        "`skein selftest` checks that Skein works with a model, and `skein worker` lends this machine to "
        "Skein on another one; each has a --help. `skein --install-desktop` adds Skein to this user's "
        "desktop menu and opens GGUF files with it; `--remove-desktop` undoes that.",
    )
    parser.add_argument("model", metavar="FILE.gguf", nargs="?", type=Path, help="the model to open")
    parser.add_argument("--theme", choices=("system", "light", "dark"), help="light or dark colours")
    parser.add_argument(
        "--ctx", dest="n_ctx", type=int, metavar="N", help="context size in tokens; 0 is automatic"
    )
    parser.add_argument(
        "--slots", dest="n_seq_max", type=int, metavar="N", help="answers computed at the same time"
    )
    parser.add_argument(
        "--threads", dest="n_threads", type=int, metavar="N", help="CPU threads; 0 is automatic"
    )
    parser.add_argument(
        "--verify",
        action="store_true",
        default=None,
        help="compare Skein's records with llama.cpp's after every step",
    )
    parser.add_argument("--debug", action="store_true", help="log every step of the engine")
    parser.add_argument("--version", action="version", version=f"skein {app.__version__}")
    options = parser.parse_args(arguments)
    given = {name: getattr(options, name) for name in _OVERRIDES}
    options.overrides = {name: value for name, value in given.items() if value is not None}
    if options.overrides:
        _check(options.overrides, parser)
    return options


def _check(overrides: dict[str, object], parser: argparse.ArgumentParser) -> None:
    """Only if they are given: the import for the check takes longer than the first paint."""
    from pydantic import ValidationError

    from app.settings.settings import Settings

    try:
        Settings.model_validate(overrides)
    except ValidationError as error:
        problem = error.errors()[0]
        parser.error(f"argument {_OVERRIDES[str(problem['loc'][0])]}: {problem['msg']}")
