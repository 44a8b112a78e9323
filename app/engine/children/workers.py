"""Workers: other machines that compute some of a model's layers. Their addresses and state.

Implements the handshake of llama.cpp's RPC itself, with timeouts, since its own client aborts the process
when no worker answers. For the protocol of the pinned llama-cpp-python. Any thread; blocks.
"""

from __future__ import annotations

import ipaddress
import re
import socket
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from app.protocol.errors import InvalidRequestError
from app.protocol.model import Device, DeviceKind
from app.system.said import Said, said

PROTOCOL = (7, 0, 0)  # the last number changes with the library's operations
MAX_WORKERS = 16  # GGML_RPC_MAX_SERVERS
DEFAULT_PORT = 50052
CONNECT_S = 2.0
ANSWER_S = 2.0

_HELLO, _DEVICE_COUNT, _DEVICE_MEMORY = 14, 15, 11
_CAPABILITIES = bytes(24)  # of the connection: plain TCP
_HOST = re.compile(r"[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?\Z")

TRUSTED_ONLY = said(
    "Traffic to workers is neither encrypted nor authenticated: others on the network can read prompts "
    "and answers, and can take over a worker. Use workers in trusted networks only."
)


class WorkerState(StrEnum):
    READY = "ready"
    BUSY = "busy"  # it listens, but serves another client
    UNREACHABLE = "unreachable"
    OTHER_VERSION = "other version"
    STRANGER = "stranger"  # something else listens there


@dataclass(frozen=True, slots=True)
class RemoteWorker:
    """What was found at an address. `reason` is the system's error if nothing was."""

    address: str
    state: WorkerState
    protocol: tuple[int, int, int] = (0, 0, 0)
    num_devices: int = 0
    free_bytes: int = 0
    total_bytes: int = 0
    reason: str = ""

    @property
    def device(self) -> Device:
        """All its devices as one, since layers are split by memory alone. 0 bytes if it does not answer."""
        return Device(self.address, "", DeviceKind.GPU, self.total_bytes, self.free_bytes)

    @property
    def refusal(self) -> Said:
        """Why it cannot be used now, and what to do; one sentence or two."""
        match self.state:
            case WorkerState.BUSY:
                return said(
                    "The worker {address} is busy with another program. Close that program, or wait.",
                    address=self.address,
                )
            case WorkerState.OTHER_VERSION:
                return said(
                    "The worker {address} uses protocol version {theirs}, this Skein {ours}. Install the "
                    "same version of Skein on both machines.",
                    address=self.address,
                    theirs=".".join(map(str, self.protocol)),
                    ours=".".join(map(str, PROTOCOL)),
                )
            case WorkerState.STRANGER:
                return said(
                    "{address} answers, but not as a worker. Check the address and the port.",
                    address=self.address,
                )
            case _:
                return said(
                    "The worker {address} cannot be reached: {reason}. Start it there with: "
                    "skein worker --host ADDRESS --port N",
                    address=self.address,
                    reason=self.reason or said("no response"),
                )


def checked_address(text: str) -> str:
    """`text` as "host:port", with the usual port where it names none. Raises InvalidRequestError."""
    host, colon, port = text.strip().rpartition(":") if ":" in text else (text.strip(), "", "")
    number = int(port) if port.isascii() and port.isdigit() else 0 if colon else DEFAULT_PORT
    if not _HOST.match(host) or not 0 < number < 65_536:
        raise InvalidRequestError(
            said(
                "“{text}” is not the address of a worker. Enter a host name or IPv4 address and a port, "
                "such as 192.168.1.20:50052.",
                text=text.strip(),
            )
        )
    return f"{host}:{number}"


def ask(address: str, connect_s: float = CONNECT_S, answer_s: float = ANSWER_S) -> RemoteWorker:
    """Asks the worker at `address` for its state. A worker serves one client at a time."""
    host, _, port = address.rpartition(":")
    try:
        connection = socket.create_connection((host, int(port)), connect_s)
    except OSError as error:
        return RemoteWorker(address, WorkerState.UNREACHABLE, reason=error.strerror or str(error))
    with connection:
        connection.settimeout(answer_s)
        try:
            return _interview(address, connection)
        except TimeoutError:
            return RemoteWorker(address, WorkerState.BUSY)
        except (OSError, EOFError, ValueError) as error:
            return RemoteWorker(address, WorkerState.STRANGER, reason=str(error))


def lost(addresses: Sequence[str]) -> tuple[str, ...]:
    """The workers that cannot be used any more. A dying one may still accept a connection, and close it."""
    states = (WorkerState.READY, WorkerState.BUSY)
    return tuple(address for address in addresses if ask(address).state not in states)


def is_everywhere(host: str) -> bool:
    """Whether a server on this address can be reached through every network the machine is in."""
    return ipaddress.ip_address(host).is_unspecified


def _interview(address: str, connection: socket.socket) -> RemoteWorker:
    hello = _exchange(connection, _HELLO, _CAPABILITIES, 4 + len(_CAPABILITIES))
    protocol = (hello[0], hello[1], hello[2])
    if protocol != PROTOCOL:
        return RemoteWorker(address, WorkerState.OTHER_VERSION, protocol)
    (num_devices,) = struct.unpack("<I", _exchange(connection, _DEVICE_COUNT, b"", 4))
    memory = [
        struct.unpack("<QQ", _exchange(connection, _DEVICE_MEMORY, struct.pack("<I", index), 16))
        for index in range(min(num_devices, 64))
    ]
    free_bytes, total_bytes = sum(free for free, _ in memory), sum(total for _, total in memory)
    return RemoteWorker(address, WorkerState.READY, protocol, num_devices, free_bytes, total_bytes)


def _exchange(connection: socket.socket, command: int, question: bytes, answer_size: int) -> bytes:
    """A command is a byte, a length and so many bytes; its answer a length and so many bytes."""
    connection.sendall(struct.pack("<BQ", command, len(question)) + question)
    (size,) = struct.unpack("<Q", _read(connection, 8))
    if size != answer_size:
        raise ValueError("the answer has another length")
    return _read(connection, size)


def _read(connection: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        part = connection.recv(size - len(data))
        if not part:
            raise EOFError("the connection was closed")
        data += part
    return data
