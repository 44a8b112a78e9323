"""A projector: turns pictures and sounds into rows of embeddings. Run as the child of `MediaEncoder`.

Whatever is wrong with its file may end the process. A picture is laid out beside the encoding of another.
Knows neither sequences nor cells.
"""

from __future__ import annotations

import contextlib
import ctypes
import logging
import os
import re
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import llama_cpp as lib
import numpy as np
import numpy.typing as npt

from app.engine.llama.native_library import Native, library
from app.protocol.errors import EngineError, ModelLoadError
from app.protocol.media import MediaKind
from app.system import worker
from app.system.said import said
from app.system.worker import Question

TEXT, IMAGE, AUDIO = 0, 1, 2  # enum mtmd_input_chunk_type
USUAL_SIDE = 1024  # pixels of a picture that shows how many rows one has at most
# Where its rows stand depends on what comes before the picture: they would not be the same everywhere.
POSITION_DEPENDENT = frozenset({b"deepseek4v", b"hunyuanvl"})
# A key of the file's head, that its value is a string, the string's length, and the string.
PROJECTOR_TYPE = re.compile(rb"projector_type\x08\0\0\0.{8}([a-z0-9_]+)", re.DOTALL)
HEAD_BYTES = 1 << 20
Rows = npt.NDArray[np.float32]


class Projector:
    """One projector file for one model. `layout` may be called beside `encode`."""

    def __init__(self, native: Any, context: Native, n_embd: int) -> None:
        self._native, self._context, self._n_embd = native, context, n_embd
        pointer = context.pointer
        self.sees = bool(native.mtmd_support_vision(pointer))
        self.hears = bool(native.mtmd_support_audio(pointer))
        self.rate = int(native.mtmd_get_audio_sample_rate(pointer)) if self.hears else 0
        self._has_planes = bool(native.mtmd_decode_use_mrope(pointer))

    @property
    def takes_whole(self) -> bool:
        return self.sees and bool(self._native.mtmd_decode_use_non_causal(self._context.pointer, None))

    @property
    def max_rows_at_once(self) -> int:
        """Rows of a picture that must be computed in one step; 0 where it may be split."""
        if not self.takes_whole:
            return 0
        sides = [(USUAL_SIDE, USUAL_SIDE), (2 * USUAL_SIDE, USUAL_SIDE), (4 * USUAL_SIDE, 4 * USUAL_SIDE)]
        parts = [part for side in sides for part in self.layout(MediaKind.PICTURE, side)]
        return max((part["rows"] for part in parts if part.get("is_whole")), default=0)

    def layout(self, kind: MediaKind, size: tuple[int, ...]) -> list[dict[str, Any]]:
        """What stands in a prompt for a picture of `size` pixels, or a sound of so many samples, in order.

        Each part has either `tokens`, or `rows` of embeddings, the `positions` that they take, and the
        `width` in rows of a plane, 0 where one row comes after the other.
        """
        with self._chunks(kind, size, None) as chunks:
            return [self._described(chunk) for chunk in chunks]

    def encode(self, kind: MediaKind, size: tuple[int, ...], data: bytes) -> Iterator[Rows]:
        """The rows of each part that has any, of shape (rows, width of the model's input)."""
        with self._chunks(kind, size, data) as chunks:
            yield from (self._encoded(chunk) for chunk in chunks if self._type(chunk) != TEXT)

    @contextmanager
    def _chunks(self, kind: MediaKind, size: tuple[int, ...], data: bytes | None) -> Iterator[list[Any]]:
        native = self._native
        with ExitStack() as stack:
            buffer: Any = None
            if data:
                number = ctypes.c_uint8 if kind is MediaKind.PICTURE else ctypes.c_float
                buffer = ctypes.cast(ctypes.c_char_p(data), ctypes.POINTER(number))
            if kind is MediaKind.PICTURE:
                bitmap = native.mtmd_bitmap_init(*size, buffer)
            else:
                bitmap = native.mtmd_bitmap_init_from_audio(*size, buffer)
            stack.callback(native.mtmd_bitmap_free, bitmap)
            chunks = native.mtmd_input_chunks_init()
            stack.callback(native.mtmd_input_chunks_free, chunks)
            text = native.mtmd_input_text(native.mtmd_default_marker(), 0, False, True)
            text.text_len = len(native.mtmd_default_marker())
            bitmaps = (native.mtmd_bitmap_p_ctypes * 1)(bitmap)
            if native.mtmd_tokenize(self._context.pointer, chunks, ctypes.byref(text), bitmaps, 1) != 0:
                raise ModelLoadError(
                    said(
                        "The projector does not accept this picture or sound. {reason}",
                        reason=library().reason(),
                    )
                )
            count = native.mtmd_input_chunks_size(chunks)
            yield [native.mtmd_input_chunks_get(chunks, index) for index in range(count)]

    def _type(self, chunk: Any) -> int:
        return int(self._native.mtmd_input_chunk_get_type(chunk))

    def _described(self, chunk: Any) -> dict[str, Any]:
        native, kind = self._native, self._type(chunk)
        if kind == TEXT:
            count = ctypes.c_size_t()
            tokens = native.mtmd_input_chunk_get_tokens_text(chunk, ctypes.byref(count))
            return {"tokens": tokens[: count.value]}
        width = 0
        if kind == IMAGE and self._has_planes:
            width = native.mtmd_image_tokens_get_nx(native.mtmd_input_chunk_get_tokens_image(chunk))
        return {
            "rows": native.mtmd_input_chunk_get_n_tokens(chunk),
            "positions": native.mtmd_input_chunk_get_n_pos(chunk),
            "width": width,
            "is_whole": bool(native.mtmd_decode_use_non_causal(self._context.pointer, chunk)),
        }

    def _encoded(self, chunk: Any) -> Rows:
        native, pointer = self._native, self._context.pointer
        if native.mtmd_encode_chunk(pointer, chunk) != 0:
            raise ModelLoadError(
                said("The projector could not encode it. {reason}", reason=library().reason())
            )
        shape = native.mtmd_input_chunk_get_n_tokens(chunk), self._n_embd
        found = native.mtmd_get_output_embd(pointer)
        return np.ctypeslib.as_array(found, (shape[0] * shape[1],)).reshape(shape).copy()


def types_of(path: Path) -> frozenset[bytes]:
    """As the file names them, one for pictures and one for sounds."""
    with path.open("rb") as file:
        return frozenset(PROJECTOR_TYPE.findall(file.read(HEAD_BYTES)))


@contextmanager
def open_projector(path: Path, model_path: Path, num_threads: int) -> Iterator[Projector]:
    """Raises ModelLoadError with the reason from the library's log."""
    try:
        from llama_cpp import mtmd_cpp as native
    except (RuntimeError, FileNotFoundError, OSError) as error:
        raise ModelLoadError(said("This build of llama.cpp does not support pictures and sounds.")) from error
    if unknown := types_of(path) & POSITION_DEPENDENT:
        raise ModelLoadError(
            said("Pictures for models of the kind {kind} are not supported.", kind=min(unknown).decode())
        )
    log = library()
    native.mtmd_log_set(log.callback, None)
    with ExitStack() as stack:
        params = lib.llama_model_default_params()
        # All but the weights: how wide its input is, how it counts positions, and its vocabulary.
        params.no_alloc, params.load_mode = True, lib.LLAMA_LOAD_MODE_NONE
        model = Native(
            "model", lib.llama_model_load_from_file(os.fsencode(model_path), params), lib.llama_model_free
        )
        stack.callback(model.close)
        chosen = native.mtmd_context_params_default()
        chosen.n_threads, chosen.print_timings, chosen.warmup = num_threads, False, False
        log.recent.clear()
        pointer = native.mtmd_init_from_file(os.fsencode(path), model.pointer, chosen)
        if not pointer:
            raise ModelLoadError(
                said(
                    "{name} is not a projector for this model: {reason}", name=path.name, reason=log.reason()
                )
            )
        context = Native("projector", pointer, native.mtmd_free)
        stack.callback(context.close)
        yield Projector(native, context, lib.llama_model_n_embd_inp(model.pointer))


log = logging.getLogger(__name__)


def _described(projector: Projector) -> dict[str, Any]:
    return {
        "sees": projector.sees,
        "hears": projector.hears,
        "rate": projector.rate,
        "takes_whole": projector.takes_whole,
        "max_rows_at_once": projector.max_rows_at_once,
    }


def serve(questions: Iterator[Question]) -> None:
    """Each names the files, which are opened with the first one."""
    projector: Projector | None = None
    to_encode: SimpleQueue[Question] = SimpleQueue()
    with contextlib.ExitStack() as stack:
        for question in questions:
            asked = question.value
            try:
                if projector is None:
                    paths = Path(asked["projector"]), Path(asked["model"])
                    projector = stack.enter_context(open_projector(*paths, asked["num_threads"]))
                    threading.Thread(target=_encode, args=(projector, to_encode), daemon=True).start()
                match asked["do"]:
                    case "describe":
                        question.answer(_described(projector))
                    case "layout":
                        question.answer({"layout": projector.layout(*_what(question))})
                    case "encode":
                        to_encode.put(question)
            except EngineError as error:
                question.refuse(str(error))


def _encode(projector: Projector, questions: SimpleQueue[Question]) -> None:
    while True:
        question = questions.get()
        try:
            rows = []
            for part in projector.encode(*_what(question), question.parts[0]):
                rows.append(part)
                question.tell(num_rows=sum(map(len, rows)))
        except EngineError as error:
            question.refuse(str(error))
        except Exception:  # the root of this thread
            log.exception("encoding failed")
            question.refuse(said("It could not be encoded."))
        else:
            question.answer({"shapes": [part.shape for part in rows]}, *(part.tobytes() for part in rows))


def _what(question: Question) -> tuple[MediaKind, tuple[int, ...]]:
    return MediaKind(question.value["kind"]), tuple(question.value["size"])


if __name__ == "__main__":
    worker.stand_back()
    worker.limit()
    serve(worker.Parent().questions())
