"""The same pictures and sounds to both servers, with the same projector: token counts and greedy texts."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import soundfile
from PIL import Image

from api_clients.server import llama_server, running, skein
from beside_llama_server.servers import Body, RefusedError, Server
from tests.native.tiny_ggufs import write_tiny_gguf
from tests.native.tiny_projectors import KINDS, MODEL_OF, Kind, write_tiny_projector

KEY = "pictures"
RATE = 16_000
SIZES = ((100, 80), (56, 56), (33, 190), (640, 480), (1500, 1000))


def compare_pictures(program: Path, folder: Path) -> Iterator[tuple[str, str]]:
    """Each case, and how the two differ in it; empty: not at all."""
    for kind in KINDS:
        model, projector = folder / f"{kind}.gguf", folder / f"mmproj-{kind}.gguf"
        write_tiny_gguf(model, MODEL_OF[kind])
        write_tiny_projector(projector, kind)
        more = ("--mmproj", str(projector))
        theirs, ours = llama_server(program, model, KEY, *more), skein(model, KEY, *more)
        with running(theirs) as their_url, running(ours) as our_url:
            servers = Server(their_url, KEY), Server(our_url, KEY)
            for name, parts in _cases(kind):
                their_answer, our_answer = (_answer(server, parts) for server in servers)
                same = their_answer == our_answer
                yield f"{kind}: {name}", "" if same else f"{their_answer} there, {our_answer} here"


def _cases(kind: Kind) -> Iterator[tuple[str, list[Body]]]:
    question = {"type": "text", "text": "What is this?"}
    if kind == "ultravox":
        for seconds in (0.5, 1.0, 31.0):
            yield f"{seconds} s", [_sound(seconds), question]
        return
    for width, height in SIZES:
        yield f"{width} x {height}", [_picture(width, height), question]
    first, second = _picture(100, 80), _picture(60, 140, seed=1)
    yield "behind the text", [question, first]
    yield "two, and text between", [first, question, second, {"type": "text", "text": "And this?"}]
    yield "JPEG", [_picture(320, 200, form="JPEG"), question]


def _answer(server: Server, parts: list[Body]) -> tuple[object, ...]:
    """The tokens of the prompt and the text, or how it was refused.

    Of letters: of the bytes that random weights write, llama-server leaves out those of no character.
    """
    body = {
        "messages": [{"role": "user", "content": parts}],
        "max_tokens": 24,
        "temperature": 0,
        "grammar": "root ::= [a-z ]+",
    }
    try:
        found = server.post("/v1/chat/completions", body)
    except RefusedError as error:
        return "refused", error.status
    return found["usage"]["prompt_tokens"], found["choices"][0]["message"]["content"]


def _picture(width: int, height: int, *, seed: int = 0, form: str = "PNG") -> Body:
    small = np.random.default_rng(seed).integers(0, 255, (height // 10 + 1, width // 10 + 1, 3), np.uint8)
    file = io.BytesIO()
    Image.fromarray(small).resize((width, height), Image.Resampling.BILINEAR).save(file, form)
    data = base64.b64encode(file.getvalue()).decode()
    return {"type": "image_url", "image_url": {"url": f"data:image/{form.lower()};base64,{data}"}}


def _sound(seconds: float) -> Body:
    samples = np.random.default_rng(0).normal(0, 0.1, int(seconds * RATE)).astype(np.float32)
    file = io.BytesIO()
    soundfile.write(file, samples, RATE, format="WAV", subtype="PCM_16")
    return {
        "type": "input_audio",
        "input_audio": {"data": base64.b64encode(file.getvalue()).decode(), "format": "wav"},
    }
