"""`skein worker`: lends this machine's processor or GPUs to a Skein on another machine.

So a model that is too large for one machine is spread over several. Without a window and without Qt.
"""

import argparse
import contextlib
import os
import queue
import signal
import socket
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from app.engine.children.workers import DEFAULT_PORT, PROTOCOL, TRUSTED_ONLY, WorkerState, ask, is_everywhere
from app.protocol.errors import EngineError
from app.system import paths, worker
from app.system.machine import num_physical_cores

EVERYWHERE = "--every-network"
POLL_S, MAX_START_S, LOOK_UP_S = 0.05, 5.0, 0.5


def main(argv: Sequence[str]) -> int:
    """Exit code 0 after SIGTERM or Ctrl+C, 1 when it could not start, 2 for options that make no sense."""
    options = _parse(argv)
    try:
        port = _free_port(options.host, options.port)
        return _lend(f"{options.host}:{port}", options.threads, _cache_dir() if options.cache else None)
    except OSError as error:
        reason = f"{error.strerror or error}. Choose another --port, or end the program that uses this one."
        return _refuse(f"cannot listen on {options.host}:{options.port}: {reason}")
    except EngineError as error:
        return _refuse(str(error))


def _parse(argv: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="skein worker",
        description="Lend this machine to Skein on another machine: it computes some of a model's layers. "
        "Enter its address and port there, in the model's load settings.",
        epilog=str(TRUSTED_ONLY),
    )
    parser.add_argument(
        "--host",
        default="127.0.0.1",
        metavar="ADDRESS",
        help="IPv4 address to listen on (default: 127.0.0.1)",
    )
    parser.add_argument(
        "--port",
        type=int,
        default=DEFAULT_PORT,
        metavar="N",
        help=f"port to listen on (default: {DEFAULT_PORT}; 0 picks a free one)",
    )
    parser.add_argument(
        "--threads", type=int, default=0, metavar="N", help="CPU threads (default: all cores)"
    )
    parser.add_argument(
        "--cache", action="store_true", help="cache the weights on disk, so that they are sent only once"
    )
    parser.add_argument(
        EVERYWHERE,
        dest="everywhere",
        action="store_true",
        help="allow listening on 0.0.0.0, that is, on all networks",
    )
    options = parser.parse_args(argv)
    try:
        options.host = socket.gethostbyname(options.host)
    except OSError as error:
        parser.error(f"--host: {options.host} is no address of this machine: {error.strerror or error}")
    if is_everywhere(options.host) and not options.everywhere:
        parser.error(
            f"--host: {options.host} is every network this machine is in. Name the address of one network, "
            f"or add {EVERYWHERE}."
        )
    if not 0 <= options.port < 65_536:
        parser.error(f"--port: {options.port} is not between 0 and 65535")
    if options.threads < 0:
        parser.error("--threads: a number of at least 0")
    return options


def _free_port(host: str, port: int) -> int:
    """Checks the port first: the library does not report that it cannot listen. Raises OSError."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        if sys.platform != "win32":  # as the library does; there it would let two listen on one port
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind((host, port))
        probe.listen(1)
        return int(probe.getsockname()[1])


def _cache_dir() -> Path:
    folder = paths.private_dir(paths.cache_dir()) / "worker"
    folder.mkdir(exist_ok=True)
    return folder


def _lend(address: str, n_threads: int, cache_dir: Path | None) -> int:
    """The library's server never returns, so it runs on a thread, and this one waits for a signal."""
    from app.engine.llama.loading import LIBRARY_VERSION
    from app.engine.llama.native_library import described_device
    from app.engine.llama.rpc import Rpc, lent_devices

    stdout = worker.take_stdout()  # the library writes there, too, in the middle of our lines

    def say(line: str) -> None:
        stdout.write(f"{line}\n".encode())
        stdout.flush()

    rpc = Rpc()
    # Not an Event: a signal handler that runs while this thread holds its lock would deadlock.
    ends: queue.SimpleQueue[None] = queue.SimpleQueue()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda _number, _frame: ends.put(None))
    print(f"skein worker: {TRUSTED_ONLY}", file=sys.stderr, flush=True)
    for device in map(described_device, lent_devices()):
        memory = f"{device.free_bytes >> 20:,} of {device.total_bytes >> 20:,} MiB free"
        say(f"lending {device.name}: {device.description}, {memory}")
    protocol = ".".join(map(str, PROTOCOL))
    say(f"RPC protocol {protocol}, llama-cpp-python {LIBRARY_VERSION}")
    threads = n_threads or num_physical_cores()
    failed = threading.Event()

    def serve() -> None:
        rpc.serve(address, cache_dir, threads)
        failed.set()
        ends.put(None)

    threading.Thread(target=serve, name="worker", daemon=True).start()
    _await_listening(address, failed)
    if not failed.is_set():
        say(f"listening on {address}")
    _await_end(ends)
    if failed.is_set():
        return _refuse(f"llama.cpp cannot listen on {address}.")
    say("ended")
    os._exit(0)  # its thread is inside the library, which must not be unloaded then


def _await_listening(address: str, failed: threading.Event) -> None:
    """The library gives no signal. Gives up in the end: on some networks a machine cannot reach itself."""
    deadline = time.monotonic() + MAX_START_S
    while not failed.is_set() and time.monotonic() < deadline:
        if ask(address).state is not WorkerState.UNREACHABLE:
            return
        time.sleep(POLL_S)


def _await_end(ends: queue.SimpleQueue[None]) -> None:
    while True:
        with contextlib.suppress(queue.Empty):
            return ends.get(timeout=LOOK_UP_S)  # without a limit, Windows would not notice Ctrl+C


def _refuse(reason: str) -> int:
    print(f"skein worker: {reason}", file=sys.stderr)
    return 1
