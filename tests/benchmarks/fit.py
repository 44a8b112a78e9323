"""How near the estimate of a model's memory is to what it then takes: families x KV types x contexts.

What was taken is told by llama.cpp, buffer by buffer. Beside it stands how much the process grew, which
has the vocabulary too, and lacks what was reserved and not yet written to. Each load has its own process.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

import psutil

from app.models.memory_fit import estimate
from app.models.model_file import read_whole_header
from app.protocol.load import KvType, LoadParams
from app.protocol.model import MemoryNeed
from tests.benchmarks.figures import Verdict
from tests.native.tiny_ggufs import Architecture, Shape, write_tiny_gguf

FAMILIES: dict[Architecture, str] = {
    "llama": "dense",
    "qwen3moe": "mixture of experts",
    "gemma3": "sliding window",
    "lfm2": "hybrid, convolution",
    "qwen35": "hybrid, delta net",
    "mamba": "recurrent",
}
KINDS = (KvType.F16, KvType.Q8_0, KvType.Q4_0)
CONTEXTS = (2048, 8192, 32_768)
SHAPE = Shape(
    n_embd=256, n_ffn=768, n_head=4, n_head_kv=2, head_dim=64, n_state=64, sliding_window=512, n_vocab=16_384
)
N_LAYER, N_CTX_TRAIN = 6, 131_072
NUM_ROWS = 200  # one step, so that what it computes in is written to
WANTED_PERCENT = 10.0
MIB = 1 << 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--isolated", action="store_true", help="each sequence has cells of its own")


def run(options: argparse.Namespace) -> int:
    verdict = Verdict()
    columns = "    ".join(f"{name:>16}" for name in ("weights", "KV", "compute", "output", "all"))
    print(f"MiB, estimated / taken\n  {'':<32}{columns}     off    grown")
    with tempfile.TemporaryDirectory() as folder:
        for family, kind in FAMILIES.items():
            path = write_tiny_gguf(
                Path(folder) / f"{family}.gguf",
                family,
                shape=SHAPE,
                n_layer=N_LAYER,
                n_ctx_train=N_CTX_TRAIN,
            )
            print(f"{family}, {kind}")
            errors = [_compare(params) for params in _loads(path, options.isolated)]
            verdict.at_most(f"{family}: largest error in percent", max(errors), WANTED_PERCENT)
    return verdict.exit_code


def _loads(path: Path, isolated: bool) -> list[LoadParams]:
    return [
        LoadParams(path, n_ctx=n_ctx, n_threads=1, type_k=kind, type_v=kind, isolated=isolated)
        for kind in KINDS
        for n_ctx in CONTEXTS
    ]


def _compare(params: LoadParams) -> float:
    """Prints a line, and returns by how many percent the estimate is off."""
    expected = estimate(read_whole_header(params.path), params)
    taken, grown_bytes = _taken(params)
    parts = "    ".join(
        f"{_mib(mine)} /{_mib(theirs)}"
        for mine, theirs in zip(_figures(expected), _figures(taken), strict=True)
    )
    off = 100 * (expected.total_bytes / taken.total_bytes - 1)
    print(f"  {params.type_k:<5} {params.n_ctx:>7,} tokens{'':<12}{parts}  {off:+5.1f}% {_mib(grown_bytes)}")
    return abs(off)


def _figures(need: MemoryNeed) -> tuple[int, ...]:
    return (need.weights_bytes, need.kv_bytes, need.compute_bytes, need.output_bytes, need.total_bytes)


def _mib(num_bytes: int) -> str:
    return f"{num_bytes / MIB:7.2f}"


def _taken(params: LoadParams) -> tuple[MemoryNeed, int]:
    words = [str(params.path), str(params.n_ctx), params.type_k, str(params.isolated)]
    command = [sys.executable, "-m", "tests.benchmarks.fit", *words]
    told = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
    return MemoryNeed(**told["taken"]), told["grown_bytes"]


def _load(path: str, n_ctx: str, kind: str, isolated: str) -> None:
    """In a process of its own: load, compute one large step, tell."""
    from app.engine.llama.loading import open_llama_backend
    from app.engine.llama.native_library import library

    library()
    before = psutil.Process().memory_info().rss
    params = LoadParams(
        Path(path),
        n_ctx=int(n_ctx),
        n_threads=1,
        type_k=KvType(kind),
        type_v=KvType(kind),
        isolated=isolated == "True",
    )
    with open_llama_backend(params) as backend:
        assert not backend.refusal_of(0, 0, [1] * NUM_ROWS)
        grown = psutil.Process().memory_info().rss - before
        print(json.dumps({"taken": asdict(backend.model.memory), "grown_bytes": grown}))


if __name__ == "__main__":
    _load(*sys.argv[1:])
