"""Bugs: exceptions that nobody caught, and the diagnostics text to attach to a report.

The text contains nothing private: no prompts, no answers, no keys. GUI thread, but for the exception hooks.
"""

import asyncio
import logging
import platform
import sys
import threading
import traceback
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, metadata, version
from types import TracebackType
from typing import Any

import psutil
from PySide6.QtCore import QMessageLogContext, QObject, QtMsgType, Signal, qInstallMessageHandler, qVersion
from PySide6.QtGui import QGuiApplication

import app
from app.protocol.model import ModelInfo
from app.settings.settings import Settings
from app.system import paths
from app.system.llama_library import lender, llama_patches
from app.system.machine import num_physical_cores

PACKAGES = (
    "llama-cpp-python",
    "PySide6_Essentials",
    "qasync",
    "aiohttp",
    "pydantic",
    "numpy",
    "jinja2",
    "markdown-it-py",
    "Pygments",
)
_PRIVATE = {
    "api_key",
    "system_prompt",
    "model_path",
    "models",
    "recent_models",
    "model_folders",
    "download_folder",
    "workers",
}
MIB = 1024**2


def report(settings: Settings, model: ModelInfo | None) -> str:
    """Line by line, in English: its readers are the developers."""
    return "\n".join((*_program(), *_machine(), *_engine(model), *_settings(settings), *_places()))


def versions() -> Iterator[tuple[str, str]]:
    """Versions of Skein's dependencies, as far as installed."""
    yield "Python", platform.python_version()
    yield "Qt", qVersion()
    for package in PACKAGES:
        try:
            yield package, version(package)
        except PackageNotFoundError:  # a bundle may lack the metadata
            continue


def _program() -> Iterator[str]:
    kind = "bundle" if getattr(sys, "frozen", False) else "Python package"
    yield f"Skein {app.__version__} ({kind})"
    yield ", ".join(f"{name} {number}" for name, number in versions())
    yield f"llama.cpp: {_whose_llama()}"


def _machine() -> Iterator[str]:
    memory = psutil.virtual_memory()
    cores = f"{num_physical_cores()} cores, {psutil.cpu_count()} threads"
    yield f"{platform.platform()}, {cores}"
    yield f"memory {memory.total // MIB:,} MiB, free {memory.available // MIB:,} MiB"
    screens = ", ".join(
        f"{screen.size().width()}×{screen.size().height()} at {screen.devicePixelRatio():g}"
        for screen in QGuiApplication.screens()
    )
    yield f"{QGuiApplication.platformName()}, screens: {screens}"


def _engine(model: ModelInfo | None) -> Iterator[str]:
    if model is None:
        yield "no model is loaded"
        return
    library = model.library
    yield f"ggml {library.version}, {' '.join(library.features)}"
    for device in library.devices:
        memory = f", {device.free_bytes // MIB:,} of {device.total_bytes // MIB:,} MiB free"
        yield f"device: {device.name}, {device.description}{memory if device.total_bytes else ''}"
    yield f"model: {model.description}, {model.architecture}, {model.size_bytes // MIB:,} MiB"
    if model.num_drafted_tokens:
        whom = " and a draft model" if model.draft_model else ""
        by_whom = " and the model's own heads" if model.has_heads else whom
        yield f"guesses: {model.num_drafted_tokens} a step, from the chat's text{by_whom}"
    yield (
        f"context: {model.n_ctx:,} cells, {model.n_seq_max} slots, batch {model.n_batch}/{model.n_ubatch}, "
        f"{'unified' if model.is_unified else 'isolated'}"
    )
    taken = model.memory
    parts = {
        "weights": taken.weights_bytes,
        "KV": taken.kv_bytes,
        "compute": taken.compute_bytes,
        "output": taken.output_bytes,
    }
    listed = ", ".join(f"{name} {size / MIB:,.1f}" for name, size in parts.items())
    yield f"taken by the model: {taken.total_bytes / MIB:,.1f} MiB ({listed})"


def _settings(settings: Settings) -> Iterator[str]:
    defaults = Settings().model_dump()
    changed = {
        name: value
        for name, value in settings.model_dump(mode="json").items()
        if name not in _PRIVATE and value != defaults[name]
    }
    yield "settings: " + (", ".join(f"{name}={value}" for name, value in changed.items()) or "as they come")


def _places() -> Iterator[str]:
    for name, path in (("chats", paths.chats_file()), ("log", paths.log_dir())):
        home = str(path).replace(str(path.home()), "~", 1)
        size = path.stat().st_size // 1024 if path.is_file() else 0
        yield f"{name}: {home}" + (f" ({size:,} KiB)" if size else "")


def licences() -> str:
    """The list in a bundle, else the metadata of installed packages."""
    bundled = paths.bundled_licences()
    if bundled:
        return bundled.read_text(encoding="utf-8")
    llama = f"llama.cpp and ggml, in llama-cpp-python, {_whose_llama()}: MIT"
    packages = (f"{name} {number}: {_licence_of(name)}" for name, number in versions())
    return "\n".join([*packages, llama, *_OTHERS])


def _whose_llama() -> str:
    patches = llama_patches()
    if lender():
        return f"as {lender()} has it"
    return f"with Skein's patches ({', '.join(patches)})" if patches else "without Skein's patches"


_OTHERS = (
    "Lucide icons: ISC",
    "Qt: LGPL-3.0, sources at https://download.qt.io/official_releases/qt/",
)


def _licence_of(package: str) -> str:
    known = {"Python": "PSF-2.0", "Qt": "LGPL-3.0"}
    if package in known:
        return known[package]
    about = metadata(package)
    for field in ("License-Expression", "License"):
        if field in about and len(about[field]) <= 60:
            return about[field]
    classifiers = about.get_all("Classifier") or []
    return ", ".join(one.rpartition(" :: ")[2] for one in classifiers if one.startswith("License"))


log = logging.getLogger(__name__)

_QT_LEVELS = {
    QtMsgType.QtDebugMsg: logging.DEBUG,
    QtMsgType.QtInfoMsg: logging.INFO,
    QtMsgType.QtWarningMsg: logging.WARNING,
    QtMsgType.QtCriticalMsg: logging.ERROR,
    QtMsgType.QtFatalMsg: logging.CRITICAL,
}


class BugReporter(QObject):
    """Logs unhandled exceptions and signals each to the GUI once. Any thread may call its hooks."""

    seen = Signal(str)  # the traceback; only the first time for each place in the program

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._known: set[tuple[str, str, int]] = set()

    def install(self) -> None:
        """Installs the hooks for the rest of the process."""
        sys.excepthook = self.report
        threading.excepthook = self._on_thread_exception
        qInstallMessageHandler(log_qt_message)

    def report(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if issubclass(kind, KeyboardInterrupt):
            return
        place = _place_of(kind, trace)
        if place in self._known:  # a broken paint method fails sixty times a second
            return
        self._known.add(place)
        log.critical("Nobody caught this:", exc_info=(kind, error, trace))
        self.seen.emit("".join(traceback.format_exception(kind, error, trace)))

    def on_loop_exception(self, _loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """For `loop.set_exception_handler`."""
        error = context.get("exception")
        if error is None:
            log.error("asyncio: %s", context.get("message"))
        else:
            self.report(type(error), error, error.__traceback__)

    def _on_thread_exception(self, args: threading.ExceptHookArgs) -> None:
        if args.exc_value:
            self.report(args.exc_type, args.exc_value, args.exc_traceback)


def _place_of(kind: type[BaseException], trace: TracebackType | None) -> tuple[str, str, int]:
    frames = traceback.extract_tb(trace)
    last = frames[-1] if frames else None
    return (kind.__qualname__, last.filename if last else "", (last.lineno or 0) if last else 0)


def log_qt_message(kind: QtMsgType, context: QMessageLogContext, message: str) -> None:
    category = context.category or "default"
    logging.getLogger("qt").log(_QT_LEVELS[kind], "%s: %s", category, message)
