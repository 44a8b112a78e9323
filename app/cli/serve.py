"""`skein serve`: other programs ask the model over HTTP, without a window and without Qt."""

import argparse
import asyncio
import errno
import gc
import os
import signal
import ssl
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Any

from app.api.certificate import Certificate, own_certificate
from app.api.engine_client import Defaults
from app.api.guard import is_loopback, new_key
from app.api.lending import Lender
from app.api.model_router import ModelRouter, Offer
from app.api.served_files import served_files
from app.api.server import ApiServer
from app.api.state import ASKED, Presentation, ServedShelves, TextEngines
from app.api.threaded_engine import OnProgress, OpenedEngine
from app.cli import headless
from app.engine.children.text_models import TextModels
from app.engine.loop import SWITCH_INTERVAL_S
from app.engine.prompts.prompt_builder import PromptBuilder
from app.engine.turns import StepTurns
from app.models.catalog import scan
from app.models.folders import Folder, folders
from app.models.model_file import FOR_TEXTS, FileKind, ModelSource
from app.protocol.errors import EngineCrashedError, EngineError, InvalidRequestError, ModelLoadCancelledError
from app.protocol.load import LoadParams
from app.protocol.request import Overflow
from app.settings.api_access import EVERY_PAGE, fault_of_hosts, fault_of_origins, words_of
from app.settings.settings import Settings
from app.shelves.finder import ShelfFinder
from app.shelves.index import ShelfIndex
from app.shelves.kept_shelves import PIECE_CHARS, KeptShelves
from app.system import paths
from app.tools.file_tools import FileTools
from app.tools.server_config import read_mcp_json
from app.tools.tool_box import ToolBox

DEFAULT_SLOTS = 4
MAX_PORT = 65_535
MAX_IDLE_S = 365 * 24 * 3600.0
KEY_VARIABLE = "SKEIN_API_KEY"
LOADED_AGAIN = "The model is loaded again without it."


def main(argv: Sequence[str]) -> int:
    """Exit code 0 after SIGTERM or Ctrl+C, 1 when it could not start or the engine stopped."""
    options = _parse(argv)
    try:
        sys.setswitchinterval(SWITCH_INTERVAL_S)
        return asyncio.run(_serve(options))
    except EngineError as error:
        _warn(headless.reason_of(error))
        return 1
    except OSError as error:
        taken = f"port {options.port} is in use. Choose another --port, or none for a free one."
        _warn(taken if error.errno == errno.EADDRINUSE else str(error))
        return 1


def _parse(argv: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="skein serve",
        description="Serve a local model over HTTP: the APIs of OpenAI, Anthropic, Ollama and llama-server.",
    )
    parser.add_argument("file", metavar="FILE.gguf", nargs="?", type=Path, help="the same as --model")
    headless.add_model_options(
        parser, slots_help=f"answers computed at the same time (default: {DEFAULT_SLOTS})"
    )
    _add_library(parser)
    parser.add_argument(
        "--alias",
        type=_words,
        default=(),
        metavar="NAME,…",
        help="names under which clients can request the model",
    )
    parser.add_argument("--tags", type=_words, default=(), metavar="TAG,…", help="tags to list in /v1/models")
    parser.add_argument(
        "--host",
        default="127.0.0.1",
        metavar="HOST,…",
        help="addresses to listen on (default: this machine only)",
    )
    parser.add_argument(
        "--port", type=_port, default=0, metavar="N", help="port to listen on (default: a free one)"
    )
    _add_access(parser)
    _add_defaults(parser)
    parser.add_argument(
        "--sleep-idle-seconds",
        type=float,
        metavar="S",
        help="unload the model after S seconds without a request; the next one reloads it (default: never)",
    )
    parser.add_argument(
        "--slot-save-path", type=Path, metavar="FOLDER", help="folder for the files of /slots/N?action=save"
    )
    headless.add_text_options(parser)
    parser.add_argument(
        "--no-shelves", action="store_true", help="no shelves in chats; else those that the window has read"
    )
    _add_tool_options(parser)
    parser.add_argument(
        "--engine",
        action="store_true",
        help="lend the whole engine to windows on other machines (there: Model, Add an engine…)",
    )
    parser.add_argument(
        "--engine-control", action="store_true", help="let these windows pause it and step it, too"
    )
    parser.add_argument("--no-monitoring", action="store_true", help="turn off /slots and /metrics")
    parser.add_argument(
        "--verbose", action="store_true", help="include the rendered prompt in chat responses"
    )
    access = parser.add_mutually_exclusive_group()
    access.add_argument(
        "--api-key",
        default=os.environ.get(KEY_VARIABLE, ""),
        metavar="KEY",
        help=f"key that clients must send (default: ${KEY_VARIABLE}, or a new one printed to stderr)",
    )
    access.add_argument(
        "--no-api-key", action="store_true", help="let every program on this machine use the API"
    )
    options = parser.parse_args(argv)
    options.model = options.file or options.model
    options.defaults = Defaults(
        options.temp,
        options.seed,
        options.max_tokens,
        Overflow(options.overflow),
        options.chat_template_kwargs,
        options.verbose,
    )
    try:
        options.defaults.check()
        options.tool_box = _tool_box(options)
        options.offers = _offers(options) if options.models_dir or options.library else []
    except (InvalidRequestError, ValueError, OSError) as error:
        parser.error(str(error))
    if options.sleep_idle_seconds is not None and not 0 < options.sleep_idle_seconds < MAX_IDLE_S:
        parser.error("--sleep-idle-seconds: some seconds, at most a year")
    if options.slot_save_path and not options.slot_save_path.is_dir():
        parser.error(f"--slot-save-path: there is no folder {options.slot_save_path}")
    if options.engine and options.offers:
        parser.error("--engine: it lends one model")
    hosts = options.host.split(",")
    if len(hosts) > 1 and not options.port:
        parser.error("--host: several addresses need a --port")
    if options.tls_key and not options.tls_cert:
        parser.error("--tls-key: its certificate is missing (--tls-cert)")
    for name, fault in (
        ("--allow-origin", fault_of_origins(options.allow_origin)),
        ("--allow-host", fault_of_hosts(options.allow_host)),
    ):
        if fault:
            parser.error(f"{name}: {fault}")
    if options.no_api_key and EVERY_PAGE in words_of(options.allow_origin):
        parser.error("--allow-origin *: every page in a browser could ask; a key is needed then")
    if options.no_api_key and not all(map(is_loopback, hosts)):
        parser.error(f"--no-api-key: on {options.host} other machines could ask; a key is needed there")
    return options


OF_ONE_MODEL = (
    "alias", "draft_model", "mmproj", "workers", "embedding_model", "rerank_model", "embeddings",
    "rerank",
)  # fmt: skip
ABOUT_ONE = ", ".join(["FILE", "--model", *(f"--{name.replace('_', '-')}" for name in OF_ONE_MODEL)])
MAX_MODELS = 4  # as in llama-server


def _add_library(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("several models, each loaded when a request names it")
    group.add_argument(
        "--models-dir",
        type=_words,
        default=(),
        metavar="FOLDER,…",
        help="serve all models in these folders, and in those inside them",
    )
    group.add_argument("--library", action="store_true", help="serve all models that the window lists")
    group.add_argument(
        "--models-max",
        type=headless.at_least(0),
        default=MAX_MODELS,
        metavar="N",
        help=f"models loaded at once, if memory allows; 0: as many as fit (default: {MAX_MODELS})",
    )


def _offers(options: argparse.Namespace) -> list[Offer]:
    """The models that requests can name by their files' names or by their titles. Raises ValueError."""
    if options.model != paths.starter_model() or any(getattr(options, name) for name in OF_ONE_MODEL):
        raise ValueError(f"--models-dir and --library go without {ABOUT_ONE}: these are about one model")
    chosen = [Folder(Path(path).absolute(), ModelSource.FOLDER) for path in options.models_dir]
    if gone := next((one.path for one in chosen if not one.path.exists()), None):
        raise ValueError(f"--models-dir: there is no folder {gone}")
    listed = folders(Settings.load(paths.settings_file())) if options.library else ()
    found = scan((*chosen, *listed), is_all=False)
    files = [one for one in found if one.kind in (FileKind.CHAT, *FOR_TEXTS)]
    if not files:
        raise ValueError("there are no models in these folders")
    turns = StepTurns()
    return [
        Offer(
            partial(_open_offered, options, path := one.info.path, partial(turns.turn, path)),
            one.info,
            one.name,
            one.aliases,
            options.tags,
        )
        for one in served_files(files)
    ]


def _open_offered(
    options: argparse.Namespace,
    path: Path,
    turn: Callable[[], AbstractContextManager[bool | None]],
    reclaimable: Mapping[str, int],
    on_progress: OnProgress,
    on_reports_ready: Callable[[], None],
) -> OpenedEngine:
    """With the settings of that moment. On the engine's thread."""
    of_this = argparse.Namespace(**vars(options) | {"model": path})
    params = headless.loads_of(of_this, DEFAULT_SLOTS).main
    return headless.open_engine(params, on_progress, on_reports_ready, reclaimable, turn)


def _add_access(parser: argparse.ArgumentParser) -> None:
    """Options about who may ask, and how."""
    parser.add_argument(
        "--allow-origin",
        default="",
        metavar="ORIGIN,…",
        help="pages and apps in a browser that may ask, besides this machine's: https://example.com, "
        "app://obsidian.md, vscode-webview://*, chrome-extension://ID, tauri://localhost, "
        "or * for all that have the key",
    )
    parser.add_argument(
        "--allow-host",
        default="",
        metavar="NAME,…",
        help="names under which this server may be called: host.docker.internal, *.lan, *.ts.net",
    )
    encryption = parser.add_mutually_exclusive_group()
    encryption.add_argument(
        "--tls", action="store_true", help="encrypt (https) with a certificate of its own, made once"
    )
    encryption.add_argument(
        "--tls-cert", type=Path, metavar="FILE", help="encrypt (https) with this certificate, PEM"
    )
    parser.add_argument(
        "--tls-key", type=Path, metavar="FILE", help="its key, PEM (default: in the same file)"
    )


def _add_defaults(parser: argparse.ArgumentParser) -> None:
    """Options with the defaults for all requests."""
    parser.add_argument("--temp", type=float, metavar="T", help="default temperature (default: the model's)")
    headless.add_seed_options(parser)
    parser.add_argument(
        "--max-tokens",
        type=int,
        metavar="N",
        help="default maximum tokens per answer (default: as many as fit)",
    )
    parser.add_argument(
        "--overflow",
        choices=[choice.value for choice in Overflow if choice is not Overflow.SUM_UP],
        default=Overflow.STOP.value,
        help="what to do when a chat fills its context (default: stop the answer)",
    )
    parser.add_argument(
        "--chat-template-kwargs",
        default="",
        metavar="JSON",
        help='default arguments of the chat template, such as {"enable_thinking": false}',
    )


def _add_tool_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("tools, for those with the key")
    config = group.add_mutually_exclusive_group()
    config.add_argument(
        "--mcp-servers-config",
        type=Path,
        metavar="FILE",
        help="an mcp.json with MCP servers; they are programs that are started, with your rights",
    )
    config.add_argument("--mcp-servers-json", default="", metavar="JSON", help="the same as text")
    group.add_argument(
        "--tools",
        type=_words,
        default=(),
        metavar="NAME,…",
        help="tools on files: all, or read_file, file_glob_search, grep_search, write_file, edit_file",
    )
    group.add_argument(
        "--tools-folder",
        type=Path,
        action="append",
        default=[],
        metavar="PATH",
        help="they see what is below it, and nothing else; may be given several times",
    )


def _tool_box(options: argparse.Namespace) -> ToolBox | None:
    """Raises ValueError, OSError and InvalidRequestError."""
    text, path = options.mcp_servers_json, options.mcp_servers_config
    servers = read_mcp_json(path.read_text(encoding="utf-8") if path else text) if path or text else []
    if options.tools and not options.tools_folder:
        raise ValueError("--tools: name the folders that they may see with --tools-folder")
    built_in = FileTools(options.tools_folder).tools(options.tools) if options.tools else []
    return ToolBox(built_in, servers) if servers or built_in or path or text else None


def _port(text: str) -> int:
    if not (text.isdecimal() and int(text) <= MAX_PORT):
        raise argparse.ArgumentTypeError(f"a port is a number from 0 to {MAX_PORT:,}, not {text}")
    return int(text)


def _words(text: str) -> tuple[str, ...]:
    return tuple(word for word in text.split(",") if word)


async def _serve(options: argparse.Namespace) -> int:
    """Engines have threads of their own; this one is for the sockets, which are there before the model."""
    asked_to_stop = _when_asked_to_stop()
    every = {} if options.offers else _alone(options)
    routers = {name: one.router for name, one in every.items()}
    if options.offers:  # nothing is loaded before it is asked for
        routers["main"] = ModelRouter(
            options.offers,
            max_loaded=options.models_max,
            idle_s=options.sleep_idle_seconds,
            defaults=options.defaults,
        )
    main = routers["main"]
    lender = Lender(main, gives_control=options.engine_control) if options.engine else None
    shelves = None if options.no_shelves else _Shelves(options)
    server = ApiServer(
        main,
        host=options.host,
        port=options.port,
        key=_key(options),
        presentation=Presentation(not options.no_monitoring),
        router=main if options.offers else None,
        text_engines=TextEngines(routers.get("embedder"), routers.get("ranker")),
        tool_box=options.tool_box,
        tls=_tls(options),
        allowed_origins=words_of(options.allow_origin),
        allowed_hosts=words_of(options.allow_host),
        slot_folder=options.slot_save_path,
        shelf_access=ServedShelves(shelves.source) if shelves else None,
        lender=lender,
    )
    await server.start()
    opening = asyncio.ensure_future(_open(options.tool_box)) if options.tool_box else None
    try:
        for one in every.values():
            await _load(one, asked_to_stop)
        # Python's collector looks at all objects, on any thread: now and then 50 ms, which may be the loop's.
        gc.freeze()
        if main.models:
            print(f"listening on {server.address}", flush=True)
        while error := await _failure(every.values(), asked_to_stop):
            if not _lost_workers(error):
                raise error
            _warn(f"{error} {LOADED_AGAIN}")
            await _load(every["main"], asked_to_stop)
            _warn("it was stopped." if asked_to_stop.done() else "it answers again.")
    finally:
        if opening:
            opening.cancel()
        await server.stop()
        if shelves:
            await shelves.close()
        for router in routers.values():
            await router.stop()
    return 0


class _Served:
    """A model alone. `failed` has the error that ended its engine, or kept it from loading."""

    def __init__(
        self, params: LoadParams, options: argparse.Namespace, turns: StepTurns, *, is_main: bool
    ) -> None:
        self.params, self._turns = params, turns
        self.failed: asyncio.Future[EngineError] = asyncio.get_running_loop().create_future()
        aliases, tags = (options.alias, options.tags) if is_main else ((), ())
        self.router = ModelRouter(
            [Offer(self._open, aliases=aliases, tags=tags)],
            idle_s=options.sleep_idle_seconds,
            defaults=options.defaults if is_main else None,
            on_failed=self._on_failed,
        )

    def _open(
        self, _held: Mapping[str, int], on_progress: OnProgress, on_reports_ready: Callable[[], None]
    ) -> OpenedEngine:
        turn = partial(self._turns.turn, self)
        return headless.open_engine(self.params, on_progress, on_reports_ready, turn=turn)

    def _on_failed(self, error: EngineError) -> None:
        """The next load leaves out what was lost."""
        self.params = self.params.without_workers(_lost_workers(error))
        if not self.failed.done():
            self.failed.set_result(error)


def _alone(options: argparse.Namespace) -> dict[str, _Served]:
    """The main model, and those that embed and rank beside it, if there are such."""
    loads = headless.loads_of(options, DEFAULT_SLOTS)
    if options.engine and loads.main.embeds:
        raise EngineError("--engine: a model that turns texts into vectors has no engine to lend.")
    if warning := headless.warning_of(loads.main):
        _warn(warning)
    chosen = {"main": loads.main, "embedder": loads.embedder, "ranker": loads.ranker}
    turns = StepTurns()
    return {name: _Served(one, options, turns, is_main=name == "main") for name, one in chosen.items() if one}


class _Shelves:
    """The window's shelves, as far as it has read them, with the models that it searches them with."""

    def __init__(self, options: argparse.Namespace) -> None:
        settings = Settings() if options.no_settings else Settings.load(paths.settings_file())
        self._index = ShelfIndex(paths.shelf_texts_file(), is_read_only=True)
        self._models = TextModels()
        finder = ShelfFinder(self._index, self._models)
        finder.choose(settings.shelf_embedder, settings.shelf_reranker)
        self.source = KeptShelves(
            paths.shelves_file(), self._index, finder, settings.max_shelf_share, self._count, self._room
        )

    async def close(self) -> None:
        await asyncio.to_thread(self._models.close)
        await self._index.close()

    def _room(self) -> int:
        return ASKED.get().model.max_sequence_tokens

    async def _count(self, text: str) -> int:
        """Raises ApiError (503) without a model."""

        def work(prompts: PromptBuilder) -> int:
            pieces = (text[start : start + PIECE_CHARS] for start in range(0, len(text), PIECE_CHARS))
            return sum(len(prompts.tokenize(piece, parse_special=False)) for piece in pieces)

        return await ASKED.get().use_prompts(work)


async def _load(served: _Served, asked_to_stop: asyncio.Future[None]) -> None:
    """Loads the model, unless a signal stops it. Raises EngineError."""
    if asked_to_stop.done():
        return
    served.failed = asyncio.get_running_loop().create_future()
    loading = asyncio.ensure_future(served.router.start())
    await asyncio.wait((loading, asked_to_stop), return_when=asyncio.FIRST_COMPLETED)
    if not loading.done():
        served.router.close()
        await served.router.stop()
    try:
        await loading
    except ModelLoadCancelledError:
        if not asked_to_stop.done():
            raise


async def _open(tool_box: ToolBox) -> None:
    """A server that fails is told of, and left out."""
    for problem in await tool_box.open():
        _warn(problem)


async def _failure(every: Iterable[_Served], asked_to_stop: asyncio.Future[None]) -> EngineError | None:
    """Waits until an engine or the program ends; None is the program."""
    failures = [one.failed for one in every]
    ends: list[asyncio.Future[Any]] = [asked_to_stop, *failures]
    await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
    return next((one.result() for one in failures if one.done()), None)


def _lost_workers(error: EngineError) -> tuple[str, ...]:
    return error.lost_workers if isinstance(error, EngineCrashedError) else ()


def _tls(options: argparse.Namespace) -> ssl.SSLContext | None:
    """Raises OSError."""
    if options.tls_cert:
        certificate = Certificate(options.tls_cert, options.tls_key)
    elif options.tls:
        certificate = own_certificate(options.host.split(","))
    else:
        return None
    context = certificate.context()
    _warn(f"the certificate is {certificate.file}, SHA-256 {certificate.fingerprint}")
    return context


def _key(options: argparse.Namespace) -> str | None:
    if options.no_api_key:
        return None
    if not (all(map(is_loopback, options.host.split(","))) or options.tls or options.tls_cert):
        _warn(f"on {options.host} other machines can ask, too, and what they send is not encrypted (--tls).")
    if options.api_key:
        return str(options.api_key)
    key = new_key()
    _warn(f"no key was given. Callers must send this one: {key}")
    return key


def _warn(text: str) -> None:
    print(f"skein serve: {text}", file=sys.stderr, flush=True)


def _when_asked_to_stop() -> asyncio.Future[None]:
    loop = asyncio.get_running_loop()
    asked = loop.create_future()

    def stop() -> None:
        if not asked.done():
            asked.set_result(None)

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop)
    return asked
