"""Machines that lend themselves: `skein worker` in network namespaces with addresses of their own, or on
loopback addresses where this user may not make any.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

ROOT = Path(__file__).resolve().parents[1]
Where = Literal["namespaces", "loopback"]


class NotPermittedError(Exception):
    pass


@dataclass
class Machine:
    address: str
    process: subprocess.Popen[str]

    def freeze(self) -> None:
        self.process.send_signal(signal.SIGSTOP)

    def thaw_for(self, seconds: float) -> None:
        """It computes for so long, and is frozen again."""
        self.process.send_signal(signal.SIGCONT)
        time.sleep(seconds)
        self.freeze()

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


@contextmanager
def machines(number: int, where: Where, *arguments: str) -> Iterator[list[Machine]]:
    """So many workers. Raises NotPermittedError where namespaces are not allowed."""
    with ExitStack() as stack:
        found = []
        for index in range(number):
            prefix, host = [], f"127.0.0.{index + 2}"
            if where == "namespaces":
                prefix, host = stack.enter_context(_namespace(index))
            found.append(stack.enter_context(worker(host, 0, *arguments, prefix=prefix)))
        yield found


@contextmanager
def worker(host: str, port: int, *arguments: str, prefix: list[str] | None = None) -> Iterator[Machine]:
    command = [*(prefix or []), sys.executable, "-m", "app", "worker", "--host", host, "--port", str(port)]
    process = subprocess.Popen(
        [*command, "--threads", "1", *arguments],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout
    drain = threading.Thread(target=process.stdout.read)  # it must never wait for a reader
    with process:
        try:
            lines = iter(process.stdout.readline, "")
            address = next(line.split()[-1] for line in lines if line.startswith("listening on"))
            drain.start()
            yield Machine(address, process)
        finally:
            process.kill()
            if drain.ident:
                drain.join()


@contextmanager
def _namespace(index: int) -> Iterator[tuple[list[str], str]]:
    """A network of its own, joined to ours by a cable: how to run a program there, and its address."""
    name, near, far = f"skein-{os.getpid()}-{index}", f"skn{os.getpid() % 65536:x}{index}", f"far{index}"
    net = f"10.213.{os.getpid() % 250}.{4 * index}"
    start, last = net.rpartition(".")[0], 4 * index
    here, there = f"{start}.{last + 1}", f"{start}.{last + 2}"
    inside = ["ip", "netns", "exec", name]
    try:
        _do("ip", "netns", "add", name)
        _do("ip", "link", "add", near, "type", "veth", "peer", "name", far, "netns", name)
        _do("ip", "address", "add", f"{here}/30", "dev", near)
        _do("ip", "link", "set", near, "up")
        _do(*inside, "ip", "address", "add", f"{there}/30", "dev", far)
        _do(*inside, "ip", "link", "set", far, "up")
        _do(*inside, "ip", "link", "set", "lo", "up")
        yield inside, there
    finally:
        subprocess.run(["ip", "netns", "delete", name], capture_output=True, check=False)
        subprocess.run(["ip", "link", "delete", near], capture_output=True, check=False)


def _do(*command: str) -> None:
    try:
        subprocess.run(command, capture_output=True, text=True, check=True)
    except FileNotFoundError as error:
        raise NotPermittedError(f"{error.filename} is not installed") from error
    except subprocess.CalledProcessError as error:
        raise NotPermittedError(f"{' '.join(command)}: {error.stderr.strip()}") from error
