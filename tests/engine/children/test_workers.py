"""Nothing that answers at an address, or does not, may do more than be named."""

import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import pytest

from app.engine.children.workers import PROTOCOL, RemoteWorker, WorkerState, ask, checked_address, lost
from app.protocol.errors import InvalidRequestError

Reply = Callable[[int, bytes], bytes]
CAPABILITIES = bytes(24)


@contextmanager
def server(reply: Reply) -> Iterator[str]:
    """Reads commands as a worker does; `reply` is told each with what came with it."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            connection, _ = listener.accept()
            with suppress(ConnectionError), connection, connection.makefile("rb") as stream:
                while head := stream.read(9):
                    command, size = struct.unpack("<BQ", head)
                    if not (answer := reply(command, stream.read(size))):
                        return
                    connection.sendall(answer)

        thread = threading.Thread(target=serve)
        thread.start()
        yield f"127.0.0.1:{listener.getsockname()[1]}"
        thread.join()


def message(data: bytes) -> bytes:
    return struct.pack("<Q", len(data)) + data


def worker_of(
    protocol: tuple[int, int, int] = PROTOCOL, memory: tuple[tuple[int, int], ...] = ((3, 4),)
) -> Reply:
    def reply(command: int, question: bytes) -> bytes:
        if command == 14:
            return message(bytes((*protocol, 0)) + CAPABILITIES)
        if command == 15:
            return message(struct.pack("<I", len(memory)))
        return message(struct.pack("<QQ", *memory[struct.unpack("<I", question)[0]]))

    return reply


def test_a_worker_tells_its_devices_and_their_memory() -> None:
    with server(worker_of(memory=((10, 20), (1, 2)))) as address:
        assert ask(address) == RemoteWorker(address, WorkerState.READY, PROTOCOL, 2, 11, 22)


@pytest.mark.parametrize(
    ("reply", "state"),
    [
        (worker_of(protocol=(6, 9, 9)), WorkerState.OTHER_VERSION),
        (worker_of(protocol=(*PROTOCOL[:2], PROTOCOL[2] + 1)), WorkerState.OTHER_VERSION),
        (lambda _command, _question: b"HTTP/1.1 400 Bad Request\r\n\r\n" + bytes(40), WorkerState.STRANGER),
        (lambda _command, _question: struct.pack("<Q", 1 << 60), WorkerState.STRANGER),
        (lambda _command, _question: b"", WorkerState.STRANGER),
        (worker_of(memory=((1, 2),) * 65), WorkerState.READY),
    ],
    ids=["older", "other operations", "web server", "endless", "hangs up", "many devices"],
)
def test_whatever_answers_is_told_apart(reply: Reply, state: WorkerState) -> None:
    with server(reply) as address:
        found = ask(address)
    assert found.state is state
    if state is not WorkerState.READY:
        assert address in found.refusal


def test_who_listens_and_does_not_answer_is_busy_and_nobody_is_unreachable() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = f"127.0.0.1:{listener.getsockname()[1]}"
        assert ask(address, answer_s=0.05).state is WorkerState.BUSY
    assert ask(address).state is WorkerState.UNREACHABLE
    assert "skein worker" in ask(address).refusal


def test_a_worker_that_hangs_up_is_lost_and_one_that_answers_is_not() -> None:
    with server(lambda _command, _question: b"") as dying, server(worker_of()) as alive:
        assert lost((dying, alive)) == (dying,)


@pytest.mark.parametrize(
    ("written", "address"),
    [("10.0.0.2:99", "10.0.0.2:99"), (" studio ", "studio:50052"), ("a-b.lan:1", "a-b.lan:1")],
)
def test_an_address_may_leave_out_the_usual_port(written: str, address: str) -> None:
    assert checked_address(written) == address


@pytest.mark.parametrize("written", ["", ":1", "a:", "a:b", "a:0", "a:70000", "a b:1", "::1", "x/y:1", "a:²"])
def test_what_is_no_address_is_refused(written: str) -> None:
    with pytest.raises(InvalidRequestError, match=r"192\.168"):
        checked_address(written)
