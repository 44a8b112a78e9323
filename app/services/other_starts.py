"""Single instance: a second Skein with the same chats passes to the first what to open, and exits.

The lock decides which is the first; this is only their communication, over a socket private to the user. A
message is short, validated, and contains at most the path of a model. GUI thread.
"""

import hashlib
import json
import logging
import os
import stat
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal, Slot
from PySide6.QtNetwork import QLocalServer, QLocalSocket

MAX_MESSAGE_BYTES = 16 * 1024
MAX_CALLERS = 8
PATIENCE_MS = 5_000  # for a connected caller to send its message
STARTING_MS = 10_000  # for a Skein that is starting to listen
RETRY_S = 0.05
HEARD = b"heard\n"
MAX_SOCKET_BYTES = 103  # of its path: macOS has 104 with the end, Linux a few more

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class StartMessage:
    """The arguments of another start of Skein."""

    model: Path | None = None


class OtherStarts(QObject):
    asked = Signal(object)  # Start

    def __init__(self, name: str, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._name = name
        self._server = QLocalServer(self)
        self._server.setSocketOptions(QLocalServer.SocketOption.UserAccessOption)
        self._server.setMaxPendingConnections(MAX_CALLERS)
        self._server.newConnection.connect(self._on_called)
        self._callers: list[_Caller] = []

    def listen(self) -> bool:
        """The caller must hold the lock: an existing socket was left by a process that died."""
        QLocalServer.removeServer(self._name)
        if not self._server.listen(self._name):
            log.warning("Another start of Skein will not be heard: %s", self._server.errorString())
        return self._server.isListening()

    def close(self) -> None:
        self._server.close()

    @Slot()
    def _on_called(self) -> None:
        while self._server.hasPendingConnections():
            caller = _Caller(self._server.nextPendingConnection(), self)
            caller.asked.connect(self.asked)
            caller.gone.connect(self._on_gone)
            self._callers.append(caller)
            if len(self._callers) > MAX_CALLERS:
                self._callers[0].hang_up()

    @Slot()
    def _on_gone(self) -> None:
        caller = self.sender()
        self._callers = [one for one in self._callers if one is not caller]


class _Caller(QObject):
    """A connection that may send one line, within a time limit."""

    asked = Signal(object)
    gone = Signal()

    def __init__(self, socket: QLocalSocket, parent: QObject) -> None:
        super().__init__(parent)
        self._socket = socket
        socket.setParent(self)
        socket.setReadBufferSize(MAX_MESSAGE_BYTES + 1)
        socket.readyRead.connect(self._read)
        socket.disconnected.connect(self._on_disconnected)
        QTimer.singleShot(PATIENCE_MS, self, self.hang_up)
        self._read()

    @Slot()
    def hang_up(self) -> None:
        self._socket.abort()

    @Slot()
    def _read(self) -> None:
        if self._socket.canReadLine():
            self._on_line(bytes(self._socket.readLine().data()))
        elif self._socket.bytesAvailable() > MAX_MESSAGE_BYTES:
            self.hang_up()

    def _on_line(self, line: bytes) -> None:
        try:
            start = decoded(line)
        except ValueError as error:
            log.warning("Somebody called with something else than a start of Skein: %s", error)
            self.hang_up()
            return
        self._socket.write(HEARD)
        self._socket.disconnectFromServer()
        self.asked.emit(start)

    @Slot()
    def _on_disconnected(self) -> None:
        self.gone.emit()
        self.deleteLater()


def hand_over(name: str, start: StartMessage, patience_ms: int = STARTING_MS) -> bool:
    """Sends `start` to the first Skein, which may still be starting. False if it does not answer.

    Needs no event loop, but the main thread.
    """
    deadline = time.monotonic() + patience_ms / 1000
    while not _is_heard(name, start, patience_ms):
        if time.monotonic() > deadline:
            return False
        time.sleep(RETRY_S)
    return True


def _is_heard(name: str, start: StartMessage, patience_ms: int) -> bool:
    socket = QLocalSocket()
    socket.connectToServer(name)
    try:
        if not socket.waitForConnected(patience_ms):
            return False
        socket.write(encoded(start))
        while not socket.canReadLine() and socket.waitForReadyRead(patience_ms):
            pass
        return bytes(socket.readLine().data()) == HEARD
    finally:
        socket.abort()


def socket_name(data_dir: Path, environment: Mapping[str, str] = os.environ) -> str:
    """The same for all processes with these chats, and unique to them."""
    key = hashlib.sha256(str(data_dir.absolute()).encode("utf-8", "surrogateescape")).hexdigest()[:16]
    name = f"skein-{key}"
    if sys.platform == "win32":
        return name
    runtime_dir = Path(environment.get("XDG_RUNTIME_DIR") or data_dir)
    path = (runtime_dir if runtime_dir.is_dir() else data_dir) / name
    if len(os.fsencode(path)) > MAX_SOCKET_BYTES and (folder := _own_temporary_dir()):
        path = folder / name
    return str(path)


def _own_temporary_dir() -> Path | None:
    """The user's own folder in the shared temporary one. None: another user has created it."""
    folder = Path(tempfile.gettempdir()) / f"skein-{os.getuid()}"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        status = folder.lstat()
    except OSError:
        return None
    is_closed = stat.S_IMODE(status.st_mode) & 0o077 == 0
    return folder if stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid() and is_closed else None


def encoded(start: StartMessage) -> bytes:
    model = str(start.model.absolute()) if start.model else None
    return json.dumps({"model": model}).encode() + b"\n"


def decoded(line: bytes) -> StartMessage:
    """Raises ValueError."""
    try:
        message = json.loads(line)
    except RecursionError as error:
        raise ValueError("too deep") from error
    if not isinstance(message, dict) or "model" not in message:
        raise ValueError("not what was asked for")
    model = message["model"]
    if model is None:
        return StartMessage()
    if not isinstance(model, str) or "\0" in model or not Path(model).is_absolute():
        raise ValueError("not the full name of a file")
    return StartMessage(Path(model))
