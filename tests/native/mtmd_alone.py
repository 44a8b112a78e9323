"""llama.cpp's own way with a picture in a prompt: libmtmd's helper, one sequence, in a child process.

`python -m tests.native.mtmd_alone` reads a JSON line: the files, the parts of a prompt, and token ids behind
it. It prints the logits of the prompt's last row and of each of those tokens, as float32 in hexadecimal, and
the cells and positions of the prompt.
"""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Logits = npt.NDArray[np.float32]


def logits_alone(
    model: Path, projector: Path, text: str, media: list[dict[str, Any]], answer: list[int]
) -> tuple[list[Logits], int, int]:
    """`text` has libmtmd's marker where each of `media` stands, which are RGB or samples, hexadecimal.

    Returns the logits, and the tokens and positions of the prompt.
    """
    question = {"model": str(model), "projector": str(projector), "text": text, "media": media}
    done = subprocess.run(
        [sys.executable, "-m", "tests.native.mtmd_alone"],
        input=json.dumps(question | {"answer": answer}),
        capture_output=True,
        text=True,
        check=True,
    )
    found = json.loads(done.stdout)
    rows = [np.frombuffer(bytes.fromhex(row), np.float32) for row in found["logits"]]
    return rows, found["num_tokens"], found["num_positions"]


def main() -> None:
    import llama_cpp as lib
    from llama_cpp import mtmd_cpp as mtmd

    stdout = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    told = json.load(sys.stdin)
    lib.llama_backend_init()
    params = lib.llama_model_default_params()
    model = lib.llama_model_load_from_file(told["model"].encode(), params)
    chosen = lib.llama_context_default_params()
    chosen.n_ctx, chosen.n_batch, chosen.n_ubatch, chosen.n_threads = 2048, 512, 512, 1
    context = lib.llama_init_from_model(model, chosen)
    projector_params = mtmd.mtmd_context_params_default()
    projector_params.warmup, projector_params.n_threads = False, 1
    projector = mtmd.mtmd_init_from_file(told["projector"].encode(), model, projector_params)
    bitmaps = (mtmd.mtmd_bitmap_p_ctypes * len(told["media"]))()
    for index, one in enumerate(told["media"]):
        data = bytes.fromhex(one["data"])
        if "width" in one:
            pixels = ctypes.cast(ctypes.c_char_p(data), ctypes.POINTER(ctypes.c_uint8))
            bitmaps[index] = mtmd.mtmd_bitmap_init(one["width"], one["height"], pixels)
        else:
            samples = ctypes.cast(ctypes.c_char_p(data), ctypes.POINTER(ctypes.c_float))
            bitmaps[index] = mtmd.mtmd_bitmap_init_from_audio(len(data) // 4, samples)
    chunks = mtmd.mtmd_input_chunks_init()
    encoded = told["text"].encode()
    text = mtmd.mtmd_input_text(encoded, len(encoded), True, True)
    assert mtmd.mtmd_tokenize(projector, chunks, ctypes.byref(text), bitmaps, len(bitmaps)) == 0
    position = ctypes.c_int32()
    n_vocab = lib.llama_vocab_n_tokens(lib.llama_model_get_vocab(model))
    assert (
        mtmd.mtmd_helper_eval_chunks(projector, context, chunks, 0, 0, 512, True, ctypes.byref(position)) == 0
    )
    rows = [_logits(lib, context, n_vocab)]
    for token in told["answer"]:
        batch = lib.llama_batch_get_one((ctypes.c_int32 * 1)(token), 1)
        assert lib.llama_decode(context, batch) == 0
        rows.append(_logits(lib, context, n_vocab))
    answer = {
        "logits": rows,
        "num_tokens": mtmd.mtmd_helper_get_n_tokens(chunks),
        "num_positions": position.value,
    }
    json.dump(answer, stdout)
    stdout.flush()
    os._exit(0)


def _logits(lib: Any, context: Any, n_vocab: int) -> str:
    found = lib.llama_get_logits_ith(context, -1)
    return np.ctypeslib.as_array(found, (n_vocab,)).astype(np.float32).tobytes().hex()


if __name__ == "__main__":
    main()
