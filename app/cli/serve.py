"""`skein serve`: other programs ask the model over HTTP, without a window and without Qt."""

import argparse
import asyncio
import os
import signal
import sys
from collections.abc import Sequence
from functools import partial

from app.api.defaults import Defaults
from app.api.engine_client import EngineClient
from app.api.guard import is_loopback, new_key
from app.api.server import ApiServer
from app.api.state import Presentation
from app.api.threaded_engine import ThreadedEngine
from app.cli import headless
from app.engine.loop import SWITCH_INTERVAL_S
from app.protocol.errors import EngineCrashedError, EngineError, InvalidRequestError, ModelLoadCancelledError
from app.protocol.request import Overflow

DEFAULT_SLOTS = 4
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
        _warn(str(error))
        return 1


def _parse(argv: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="skein serve",
        description="Serve a local model over HTTP, with the APIs of OpenAI and llama-server.",
    )
    headless.add_model_options(
        parser, slots_help=f"answers computed at the same time (default: {DEFAULT_SLOTS})"
    )
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
        "--port", type=int, default=0, metavar="N", help="port to listen on (default: a free one)"
    )
    _add_defaults(parser)
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
    options.defaults = Defaults(
        options.temp,
        options.seed,
        options.max_tokens,
        Overflow(options.overflow),
        options.chat_template_kwargs,
        options.verbose,
        options.repeatable,
    )
    try:
        options.defaults.check()
    except InvalidRequestError as error:
        parser.error(str(error))
    hosts = options.host.split(",")
    if len(hosts) > 1 and not options.port:
        parser.error("--host: several addresses need a --port")
    if options.no_api_key and not all(map(is_loopback, hosts)):
        parser.error(f"--no-api-key: on {options.host} other machines could ask; a key is needed there")
    return options


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
        choices=[choice.value for choice in Overflow],
        default=Overflow.STOP.value,
        help="what to do when a chat fills its context (default: stop the answer)",
    )
    parser.add_argument(
        "--chat-template-kwargs",
        default="",
        metavar="JSON",
        help='default arguments of the chat template, such as {"enable_thinking": false}',
    )


def _words(text: str) -> tuple[str, ...]:
    return tuple(word for word in text.split(",") if word)


async def _serve(options: argparse.Namespace) -> int:
    """The engine has a thread of its own; this one is for the sockets, which are there before the model."""
    params = headless.load_params_of(options, DEFAULT_SLOTS)
    if warning := headless.warning_of(params):
        _warn(warning)
    engine = ThreadedEngine(partial(headless.open_engine, params))
    client = EngineClient(engine, defaults=options.defaults)
    presentation = Presentation(options.alias, options.tags, not options.no_monitoring)
    key = _key(options)
    server = ApiServer(client, host=options.host, port=options.port, key=key, presentation=presentation)
    asked_to_stop = _when_asked_to_stop()
    await server.start()
    try:
        await _load(engine, client, asked_to_stop)
        if engine.model:
            print(f"listening on {server.address}", flush=True)
        while lost_workers := await _lost_workers(engine, asked_to_stop):
            _warn(f"{engine.ended.result()} {LOADED_AGAIN}")
            client.fail_open(LOADED_AGAIN)
            params = params.without_workers(lost_workers)
            engine.begin_anew(partial(headless.open_engine, params))
            await _load(engine, client, asked_to_stop)
            _warn("it answers again." if engine.model else "it was stopped.")
    finally:
        await server.stop()
        await engine.stop()
    if error := engine.ended.result():
        raise error
    return 0


async def _load(engine: ThreadedEngine, client: EngineClient, asked_to_stop: asyncio.Future[None]) -> None:
    """Loads the model, unless a signal stops it. Raises EngineError."""
    loading = asyncio.ensure_future(engine.start(client.on_reports))
    await asyncio.wait((loading, asked_to_stop), return_when=asyncio.FIRST_COMPLETED)
    if not loading.done():
        await engine.stop()
    try:
        await loading
    except ModelLoadCancelledError:
        if not asked_to_stop.done():
            raise


async def _lost_workers(engine: ThreadedEngine, asked_to_stop: asyncio.Future[None]) -> tuple[str, ...]:
    """Waits until the engine or the program ends. Returns the lost workers; empty if none was the cause."""
    await asyncio.wait((engine.ended, asked_to_stop), return_when=asyncio.FIRST_COMPLETED)
    error = engine.ended.result() if engine.ended.done() else None
    return error.lost_workers if isinstance(error, EngineCrashedError) else ()


def _key(options: argparse.Namespace) -> str | None:
    if options.no_api_key:
        return None
    if not all(map(is_loopback, options.host.split(","))):
        _warn(f"on {options.host} other machines can ask, too, and what they send is not encrypted.")
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
