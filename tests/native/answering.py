"""Answers without an end, in a process that may die of it: `python -m tests.native.answering FILE.gguf`.

Prints a line with each step; the last one says why it ended.
"""

from __future__ import annotations

import sys
from pathlib import Path

from app.engine.llama.loading import open_llama_backend
from app.protocol.errors import EngineError
from app.protocol.load import LoadParams
from tests.driver import rows

N_CTX = 256


def main() -> None:
    out = sys.stdout
    params = LoadParams(Path(sys.argv[1]), n_ctx=N_CTX, n_seq_max=1, n_threads=1)
    try:
        with open_llama_backend(params) as backend:
            while True:
                backend.truncate(0, 0)
                for position in range(N_CTX):
                    backend.decode(rows(backend, (0, position, [5])))
                    out.write("step\n")
                    out.flush()
    except EngineError as error:
        out.write(str(error))


if __name__ == "__main__":
    main()
