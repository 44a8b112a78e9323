"""What tests of pictures share: files, requests, and an engine that waits for its encoder."""

from __future__ import annotations

import io
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from hashlib import sha256
from pathlib import Path

import numpy as np
import soundfile
from PIL import Image

from app.engine.engine import Engine
from app.engine.llama.backend import LlamaBackend
from app.engine.llama.loading import open_llama_backend
from app.protocol.load import LoadParams
from app.protocol.media import Media, MediaKind
from app.protocol.request import Message, Request, Role
from tests.driver import Run
from tests.native.tiny_ggufs import write_tiny_gguf
from tests.native.tiny_projectors import MODEL_OF, Kind, write_tiny_projector

RATE = 16_000


@cache
def picture(seed: int = 0, width: int = 100, height: int = 80) -> Media:
    pixels = np.random.default_rng(seed).integers(0, 255, (height, width, 3), np.uint8)
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "PNG")
    data = file.getvalue()
    return Media(MediaKind.PICTURE, sha256(data).hexdigest(), data, width=width, height=height)


@cache
def sound(seed: int = 0, seconds: float = 1.0) -> Media:
    samples = np.random.default_rng(seed).normal(0, 0.1, int(seconds * RATE)).astype(np.float32)
    file = io.BytesIO()
    soundfile.write(file, samples, RATE, format="WAV", subtype="FLOAT")
    data = file.getvalue()
    return Media(MediaKind.SOUND, sha256(data).hexdigest(), data, duration_s=seconds)


def asked(text: str, *media: Media) -> Message:
    return Message(Role.USER, text, media=media)


@contextmanager
def backend_with_projector(folder: Path, kind: Kind, **params: object) -> Iterator[LlamaBackend]:
    """A tiny model with a tiny projector, both in `folder`."""
    model, projector = folder / f"{kind}.gguf", folder / f"mmproj-{kind}.gguf"
    if not projector.exists():
        write_tiny_gguf(model, MODEL_OF[kind])
        write_tiny_projector(projector, kind)
    usual: dict[str, object] = {"n_ctx": 2048, "n_seq_max": 4, "n_threads": 1, "projector": projector}
    with open_llama_backend(LoadParams(model, **(usual | params))) as backend:  # type: ignore[arg-type]
        yield backend


def run_encoding(engine: Engine, *requests: Request, max_steps: int = 5000) -> Run:
    """As `driver.run`, but waits where only an encoding can go on."""
    encoded = threading.Event()
    engine.when_encoded(encoded.set)
    for one in requests:
        engine.add_request(one)
    result = Run()
    while engine.has_open_answers:
        assert len(result.reports) < max_steps, "the engine makes no progress"
        if engine.has_work:
            result.add(engine.step())
        else:
            assert encoded.wait(60), "no encoding ends"
            encoded.clear()
    return result
