"""Turns pictures and sounds into rows of embeddings, beside the engine: in a child process, and kept.

A child of its own, because a projector's file may end the process that reads it, because only a process can
be stopped in the middle of an encoding, and because it can stand back for the engine's steps.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import psutil

from app.engine.media.rows import MediaPart
from app.media import reading
from app.protocol.errors import InvalidRequestError, ModelLoadError, RequestError
from app.protocol.media import Media, MediaKind, Senses
from app.system.said import said
from app.system.worker import Message, Worker, WorkerEndedError, WorkerRefusedError

log = logging.getLogger(__name__)

RAM_SHARE, MAX_RAM_BYTES = 0.05, 512 * 2**20
MAX_LAYOUTS = 1000
PROGRESS_S = 1.0
MAX_START_S, MAX_ENCODE_S = 300.0, 900.0

Rows = npt.NDArray[np.float32]
Key = tuple[str, MediaKind, tuple[int, ...]]
CRASHED = said(
    "The projector's process crashed while encoding a picture or sound. Its file may be damaged, or "
    "made for another model."
)


@dataclass(frozen=True, slots=True)
class EncodedMedia:
    """The rows of each encoded part of one picture or sound. `ms`: how long that took."""

    rows: tuple[Rows, ...]
    ms: float

    @property
    def num_bytes(self) -> int:
        return sum(part.nbytes for part in self.rows)


@dataclass(frozen=True, slots=True)
class EncodingProgress:
    """`num_rows` of the picture or sound are encoded, `sha256` is empty where none is."""

    sha256: str = ""
    num_rows: int = 0
    elapsed_s: float = 0.0


class MediaEncoder:
    """Opened with a model; `close` it after the engine.

    `on_progress` is called on another thread, every second of an encoding and when it has ended; `take` tells
    how.
    """

    def __init__(
        self,
        projector: Path,
        model: Path,
        num_threads: int,
        fingerprint: str,
        max_bytes: int | None = None,
    ) -> None:
        """Starts the child and waits until it has loaded the projector. Raises ModelLoadError."""
        self.on_progress: Callable[[], None] = lambda: None
        self.num_encoded = 0
        self.fingerprint = fingerprint
        self._worker = Worker("app.engine.llama.projector")
        self._files = {"projector": str(projector), "model": str(model), "num_threads": num_threads}
        try:
            about, _ = self._worker.ask(self._files | {"do": "describe"}, max_s=MAX_START_S)
        except (WorkerRefusedError, WorkerEndedError) as error:
            self._worker.close()
            crashed = said(
                "{name} crashed its process: it is damaged, or not a projector for this model.",
                name=projector.name,
            )
            raise ModelLoadError(str(error) or crashed) from error
        self.rate: int = about["rate"]
        self.max_rows_at_once: int = about["max_rows_at_once"]
        self.senses = Senses(
            sees=about["sees"],
            hears=about["hears"],
            projector=projector,
            takes_whole=about["takes_whole"],
            size_bytes=projector.stat().st_size,
        )
        self._max_bytes = _usual_bytes() if max_bytes is None else max_bytes
        self._layouts: OrderedDict[tuple[MediaKind, tuple[int, ...]], tuple[MediaPart, ...]] = OrderedDict()
        self._turn = threading.Condition()
        self._kept: OrderedDict[Key, EncodedMedia] = OrderedDict()  # least recently used first
        self._failures: dict[Key, str] = {}
        self._wanted: OrderedDict[Key, Media] = OrderedDict()  # in the order in which they were asked for
        self._current: Key | None = None
        self._current_since = 0.0
        self._num_rows = 0  # of it that are encoded
        self._is_cancelled = False  # what is encoded now
        self._reader: reading.MediaReading | None = None  # of its file
        self._is_closed = False
        self._thread = threading.Thread(target=self._run, name="skein-media-encoder", daemon=True)
        self._thread.start()

    # The thread that builds prompts.

    def layout(self, media: Media) -> tuple[MediaPart, ...]:
        """What stands for it in a prompt. Raises RequestError."""
        self._check_sense(media.kind)
        kind, size = media.kind, self._size(media)
        known = self._layouts.get((kind, size))
        if known is None:
            answer, _ = self._ask({"do": "layout", "kind": kind, "size": size}, max_s=MAX_START_S)
            known = self._layouts[kind, size] = tuple(map(_part, answer["layout"]))
            if len(self._layouts) > MAX_LAYOUTS:
                self._layouts.popitem(last=False)
        return known

    def _check_sense(self, kind: MediaKind) -> None:
        if not self.senses.takes(kind):
            raise InvalidRequestError(cannot(kind))

    # The engine thread.

    def take(self, media: Media) -> EncodedMedia | None:
        """Its rows, or None while it is being encoded, which begins at once. Raises RequestError."""
        key = self._key(media)
        with self._turn:
            if found := self._kept.get(key):
                self._kept.move_to_end(key)
                return found
            if failure := self._failures.pop(key, ""):
                raise RequestError(failure)
            if key not in self._wanted:
                self._wanted[key] = media
                self._turn.notify()
            return None

    def is_encoding(self, media: Media) -> bool:
        key = self._key(media)
        with self._turn:
            return key in self._wanted

    def cancel(self, media: Media) -> None:
        """Nobody waits for it any more."""
        key = self._key(media)
        with self._turn:
            self._wanted.pop(key, None)
            self._failures.pop(key, None)
            if self._current == key:
                self._is_cancelled = True
                self._stop_encoding()

    def current(self) -> EncodingProgress:
        """Of what is being encoded, if anything is."""
        with self._turn:
            if self._current is None:
                return EncodingProgress()
            elapsed_s = time.perf_counter() - self._current_since
            return EncodingProgress(self._current[0], self._num_rows, elapsed_s)

    def close(self) -> None:
        with self._turn:
            self._is_closed = True
            self._wanted.clear()
            self._turn.notify()
        self._stop_encoding()
        self._worker.close()
        self._thread.join()

    def _stop_encoding(self) -> None:
        if self._reader:
            self._reader.cancel()
        self._worker.kill()

    # Its own thread.

    def _run(self) -> None:
        while job := self._next():
            key, media = job
            started = time.perf_counter()
            try:
                rows = self._encoded(media)
            except (RequestError, reading.MediaRefusedError) as error:
                self._end(key, failure=str(error))
            except reading.ReadingCancelledError:
                self._end(key)
            except Exception:  # the root of this thread
                log.exception("encoding %s failed", media.sha256)
                self._end(key, failure=said("The picture or sound could not be encoded."))
            else:
                self._end(key, EncodedMedia(rows, (time.perf_counter() - started) * 1000))

    def _next(self) -> tuple[Key, Media] | None:
        with self._turn:
            while not (self._wanted or self._is_closed):
                self._turn.wait()
            if self._is_closed:
                return None
            self._current = next(iter(self._wanted))
            self._current_since = time.perf_counter()
            return self._current, self._wanted[self._current]

    def _encoded(self, media: Media) -> tuple[Rows, ...]:
        reader = self._reader = reading.MediaReading(media.file)
        if media.kind is MediaKind.PICTURE:
            data = reading.picture(media, reader=reader).rgb
        else:
            data = reading.samples(media, self.rate, reader)
        self._num_rows = 0
        question = {"do": "encode", "kind": media.kind, "size": self._size(media)}
        answer, parts = self._ask(question, data, max_s=MAX_ENCODE_S)
        return tuple(
            np.frombuffer(part, np.float32).reshape(shape)
            for part, shape in zip(parts, answer["shapes"], strict=True)
        )

    def _end(self, key: Key, encoded: EncodedMedia | None = None, failure: str = "") -> None:
        with self._turn:
            self._current = None
            was_cancelled, self._is_cancelled = self._is_cancelled, False
            if encoded:
                self._wanted.pop(key, None)
                self.num_encoded += 1
                self._kept[key] = encoded
                self._keep_budget()
            elif key in self._wanted and not was_cancelled:  # else somebody wants it again
                del self._wanted[key]
                self._failures[key] = failure
        self.on_progress()

    def _keep_budget(self) -> None:
        """The newest stays in any case: somebody waits for it."""
        excess = sum(one.num_bytes for one in self._kept.values()) - self._max_bytes
        while excess > 0 and len(self._kept) > 1:
            excess -= self._kept.popitem(last=False)[1].num_bytes

    # Any thread.

    def _ask(self, question: dict[str, Any], *parts: bytes, max_s: float) -> Message:
        """The question brings the files, which a child that has been started again does not know."""
        try:
            return self._worker.ask(
                self._files | question, *parts, max_s=max_s, on_news=self._on_news, every_s=PROGRESS_S
            )
        except WorkerRefusedError as refusal:
            raise InvalidRequestError(str(refusal)) from None
        except WorkerEndedError as error:
            raise RequestError(CRASHED) from error

    def _on_news(self, news: dict[str, Any]) -> None:
        self._num_rows = news.get("num_rows", self._num_rows)
        self.on_progress()

    def _key(self, media: Media) -> Key:
        return media.sha256, media.kind, self._size(media)

    def _size(self, media: Media) -> tuple[int, ...]:
        if media.kind is MediaKind.PICTURE:
            return media.width, media.height
        return (reading.num_samples(media, self.rate),)


def cannot(kind: MediaKind) -> str:
    if kind is MediaKind.PICTURE:
        return said(
            "This model cannot see pictures. A vision model needs its projector, a file named "
            "mmproj-….gguf, in the same folder."
        )
    return said(
        "This model cannot hear sounds. An audio model needs its projector, a file named "
        "mmproj-….gguf, in the same folder."
    )


def _part(found: dict[str, Any]) -> MediaPart:
    if "tokens" in found:
        return MediaPart(tokens=tuple(found["tokens"]))
    return MediaPart((), found["rows"], found["positions"], found["width"], found["is_whole"])


def _usual_bytes() -> int:
    return min(int(psutil.virtual_memory().total * RAM_SHARE), MAX_RAM_BYTES)
