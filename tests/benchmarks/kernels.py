"""llama.cpp's CPU code, plain and patched, operation by operation, built for several kinds of processors.

    python packaging/series.py open LLAMA
    python packaging/kernel_libraries.py FOLDER LLAMA
    python -m tests.benchmarks kernels FOLDER

Multiplications by the weights of a layer, in the shapes of models that people run, and attention. Layers are
added until they exceed every cache, so that one row is bound by memory, as in a model. With --models, steps
of whole models instead. Both libraries take turns, in a process each. What cannot run on this processor is
skipped.
"""

from __future__ import annotations

import argparse
import ctypes
import itertools
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Generator, Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import gguf
import llama_cpp as lib
import numpy as np
from gguf import GGMLQuantizationType as Type

from app.engine.llama.loading import open_llama_backend
from app.protocol.load import LoadParams
from tests.benchmarks import bare_loop
from tests.benchmarks.figures import Verdict
from tests.benchmarks.workload import token_ids
from tests.native.ggml_ops import Context, attention_of, opened_context, quantized

WANTED_RATIO = 0.97
PLAIN, PATCHED = "plain", "patched"
MIN_WEIGHT_BYTES = 128 << 20
MAX_PRODUCTS = 100e9  # of a cell: a second or two
MIN_SECONDS = 0.06  # that one turn takes
NUM_AGAIN = 3
ROWS = (1, 2, 3, 4, 8, 16, 64, 512)
MAX_STEPS = 20  # of a model, in one turn
MAX_CHATS = 16  # up to so many rows are of a chat each

K_QUANTS = ("Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K", "IQ4_XS")
TYPES = ("Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "IQ4_NL", "MXFP4", *K_QUANTS, "F16", "BF16")
# (width, outputs) of the matrices of a layer.
LAYERS = {
    "0.5B": ((896, 896), (896, 128), (896, 128), (896, 896), (896, 4864), (896, 4864), (4864, 896)),
    "1.5B": ((1536, 1536), (1536, 256), (1536, 256), (1536, 1536), (1536, 8960), (1536, 8960), (8960, 1536)),
    "4B": ((2560, 4096), (2560, 1024), (2560, 1024), (4096, 2560), (2560, 9728), (2560, 9728), (9728, 2560)),
    "8B": (
        (4096, 4096),
        (4096, 1024),
        (4096, 1024),
        (4096, 4096),
        (4096, 14336),
        (4096, 14336),
        (14336, 4096),
    ),
}
# Token embeddings that are the output's weights as well.
VOCABULARIES = {
    "151,936 of 0.5B": (896, 151_936),
    "151,936 of 1.5B": (1536, 151_936),
    "262,144": (640, 262_144),
}
HEAD_SIZES = {64: (14, 2), 128: (16, 8), 256: (4, 1)}  # with so many heads, on so many of K and V
CELLS = (1000, 8000)
WINDOW = 512
MODEL, HELD, PROMPT_PART = "model", (0, 1000), 250  # cells of one chat before the steps that are measured

Pair = tuple[float, float]  # seconds, plain and patched


@dataclass(frozen=True)
class Cell:
    """A line's place in the table, and its column."""

    subject: str  # a type of weights, or "attention" and a type of cells
    shape: str
    rows: int

    @property
    def name(self) -> str:
        return f"{self.subject} {self.shape}"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", type=Path, help="with <kind>-plain and <kind>-patched")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=3, help="turns of each library (default: 3)")
    parser.add_argument("--state", default=PATCHED, help="<kind>-STATE is compared with <kind>-plain")
    parser.add_argument("--kinds", nargs="*", help="of processors (default: all that are in the folder)")
    parser.add_argument("--models", type=Path, nargs="*", default=[], help="GGUFs: whole steps of these")
    parser.add_argument("--only", nargs="*", help='beginnings of lines, such as Q8_0 or "Q4_K 1.5B"')
    parser.add_argument("--rows", type=int, nargs="*", default=ROWS)
    parser.add_argument("--wanted", type=float, default=WANTED_RATIO, help="plain / patched, at least")
    parser.add_argument("--cpu-time", action="store_true", help="of the processes: others disturb it less")
    parser.add_argument("--measure", action="store_true", help=argparse.SUPPRESS)  # in this very process


def run(options: argparse.Namespace) -> int:
    if options.measure:
        _answer_requests(options)
        return 0
    verdict = Verdict()
    found = [path.name.removesuffix(f"-{PLAIN}") for path in sorted(options.folder.glob(f"*-{PLAIN}"))]
    tables = [_compared(kind, options, verdict) for kind in options.kinds or found]
    print(*tables, sep="\n")
    return verdict.exit_code


def _compared(kind: str, options: argparse.Namespace, verdict: Verdict) -> str:
    """A table of ratios. What falls short is measured again in new processes, whose memory lies elsewhere."""
    print(f"\n===== {kind}, {options.threads} threads, ms", flush=True)
    pairs: dict[Cell, list[Pair]] = {}
    cells = list(_cells(options))
    for _ in range(1 + NUM_AGAIN):
        try:
            _measure_pairs(kind, options, cells, pairs)
        except subprocess.CalledProcessError as error:
            if error.returncode != -signal.SIGILL:
                raise
            return f"{kind}: this processor lacks what it is built for."
        cells = [cell for cell in cells if _ratio(pairs[cell]) < options.wanted]
    verdict.equal("cells that fall short", [f"{cell.name}, {cell.rows} rows" for cell in cells], [])
    lines = [f"\n{kind}: {PLAIN} / {options.state}", f"{'rows':<36}{_columns(options.rows)}"]
    for name in dict.fromkeys(cell.name for cell in pairs):
        ratios = {cell.rows: f"{_ratio(found):.2f}" for cell, found in pairs.items() if cell.name == name}
        lines.append(f"{name:<36}{_columns(ratios.get(rows, '') for rows in options.rows)}")
    return "\n".join(lines)


def _measure_pairs(
    kind: str, options: argparse.Namespace, cells: list[Cell], pairs: dict[Cell, list[Pair]]
) -> None:
    libraries = [options.folder.absolute() / f"{kind}-{state}" for state in (PLAIN, options.state)]
    with _measuring(libraries[0], options) as plain, _measuring(libraries[1], options) as patched:
        for cell in cells:
            found = pairs.setdefault(cell, [])
            found += [(_measured(plain, cell), _measured(patched, cell)) for _ in range(options.repeats)]
            raw = "  ".join(f"{before * 1000:.3f}:{after * 1000:.3f}" for before, after in found)
            print(f"{cell.name:<36}{cell.rows:>4} rows {_ratio(found):6.2f}   {raw}", flush=True)


def _ratio(pairs: list[Pair]) -> float:
    """Of the least times: all that disturbs adds to them."""
    return min(before for before, _ in pairs) / min(after for _, after in pairs)


def _columns(values: Iterable[object]) -> str:
    return "".join(f"{value:>6}" for value in values)


def _cells(options: argparse.Namespace) -> Iterator[Cell]:
    if options.models:
        for path, held, rows in itertools.product(options.models, HELD, options.rows):
            if held == 0 or rows == 1:
                yield Cell(MODEL, f"{path}, {held} cells", rows)
        return
    shapes = [(kind, shape) for kind in TYPES for shape in (*LAYERS, *VOCABULARIES) if _fits(kind, shape)]
    shapes += [
        (f"attention {kind}", f"{size}, {cells:,} {seen}")
        for kind in ("F16", "Q8_0")
        for size in HEAD_SIZES
        for cells, seen in (*((cells, "cells") for cells in CELLS), (CELLS[-1], "in a window"))
    ]
    for subject, shape in shapes:
        for rows in options.rows:
            cell = Cell(subject, shape, rows)
            if _is_measured(cell) and cell.name.startswith(tuple(options.only or [""])):
                yield cell


def _sizes(shape: str) -> tuple[tuple[int, int], ...]:
    return LAYERS.get(shape) or (VOCABULARIES[shape],)


def _fits(kind: str, shape: str) -> bool:
    block, _ = gguf.GGML_QUANT_SIZES[Type[kind]]
    return all(width % block == 0 for width, _ in _sizes(shape))


def _is_measured(cell: Cell) -> bool:
    if cell.subject.startswith("attention"):
        return cell.rows <= 64 or "8,000" not in cell.shape
    if cell.shape in VOCABULARIES:
        return cell.rows <= MAX_CHATS
    return cell.rows * sum(width * outputs for width, outputs in _sizes(cell.shape)) <= MAX_PRODUCTS


@contextmanager
def _measuring(library: Path, options: argparse.Namespace) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "tests.benchmarks", "kernels", str(library), "--measure"]
    command += ["--threads", str(options.threads), *(["--cpu-time"] if options.cpu_time else [])]
    environment = os.environ | {"PYTHONPATH": str(library)}
    pipe = subprocess.PIPE
    with subprocess.Popen(command, env=environment, stdin=pipe, stdout=pipe, text=True, bufsize=1) as process:
        yield process
        assert process.stdin
        process.stdin.close()


def _measured(process: subprocess.Popen[str], cell: Cell) -> float:
    assert process.stdin
    assert process.stdout
    process.stdin.write(json.dumps(asdict(cell)) + "\n")
    if line := process.stdout.readline():
        return float(line)
    raise subprocess.CalledProcessError(process.wait(), process.args)


# In the process that measures.


def _answer_requests(options: argparse.Namespace) -> None:
    assert Path(lib.__file__).is_relative_to(options.folder), "another llama_cpp was found"
    layers, turns = _Layers(), ExitStack()
    last: Cell | None = None
    next_turn: Iterator[float] = iter(())
    for line in sys.stdin:
        cell = Cell(**json.loads(line))
        if cell != last:
            turns.close()
            last, next_turn = cell, turns.enter_context(closing(_turns(cell, layers, options)))
        print(next(next_turn), flush=True)


def _turns(cell: Cell, layers: _Layers, options: argparse.Namespace) -> Generator[float]:
    """Seconds of the operation: of each turn the least."""
    if cell.subject == MODEL:
        yield from _model_turns(cell, options.threads)
        return
    clock = time.process_time if options.cpu_time else time.perf_counter
    is_attention = cell.subject.startswith("attention")
    with opened_context(memory_bytes=1 << 30) as context:
        results = [_attention(context, cell)] if is_attention else _products(context, cell, layers)
        with context.computation(results, options.threads) as compute:
            compute()
            while True:
                took: list[float] = []
                while sum(took) < MIN_SECONDS or len(took) < 3:
                    began = clock()
                    compute()
                    took.append(clock() - began)
                yield min(took)


def _model_turns(cell: Cell, num_threads: int) -> Iterator[float]:
    """Steps of a token of each chat, or of one prompt."""
    path, _, held = cell.shape.removesuffix(" cells").rpartition(", ")
    num_chats = cell.rows if cell.rows <= MAX_CHATS else 1
    n_ctx = num_chats * (int(held) + MAX_STEPS) + cell.rows
    params = LoadParams(Path(path), n_ctx=n_ctx, n_seq_max=num_chats, n_batch=2048, n_threads=num_threads)
    if cell.rows <= MAX_CHATS:
        steps = [[token_ids(1, (step, chat)) for chat in range(num_chats)] for step in range(MAX_STEPS)]
    else:
        steps = [[token_ids(cell.rows, "prompt")]]
    # In parts: a model with a window takes no more at once.
    parts = [min(PROMPT_PART, int(held) - start) for start in range(0, int(held), PROMPT_PART)]
    before = [[token_ids(num_tokens, chat) for chat in range(num_chats)] for num_tokens in parts]
    with open_llama_backend(params) as backend:
        while True:
            yield min(bare_loop.decoded_s(backend, before + steps)[len(before) :])


class _Layers:
    """The weights of one type and shape at a time."""

    def __init__(self) -> None:
        self._opened = ExitStack()
        self._of: tuple[str, str] | None = None
        self._matrices: list[list[ctypes.c_void_p]] = []

    def get(self, kind: str, shape: str) -> list[list[ctypes.c_void_p]]:
        """Of each matrix as many as are needed."""
        if self._of != (kind, shape):
            self._opened.close()
            self._of = kind, shape
            context = self._opened.enter_context(opened_context(memory_bytes=1 << 24))
            self._matrices = _matrices_of(context, Type[kind], shape)
        return self._matrices


def _matrices_of(context: Context, kind: Type, shape: str) -> list[list[ctypes.c_void_p]]:
    block, block_bytes = gguf.GGML_QUANT_SIZES[kind]
    layer_bytes = sum(width * outputs // block * block_bytes for width, outputs in _sizes(shape))
    random = np.random.default_rng(0)
    matrices = []
    for width, outputs in _sizes(shape):
        some = quantized(random.standard_normal((32, width), np.float32), kind)
        weights = np.resize(some, (outputs, some.shape[1]))
        copies = range(-(-MIN_WEIGHT_BYTES // layer_bytes))
        matrices.append([context.matrix(kind, width, weights, is_tied=shape in VOCABULARIES) for _ in copies])
    return matrices


def _products(context: Context, cell: Cell, layers: _Layers) -> list[ctypes.c_void_p]:
    results = []
    random = np.random.default_rng(0)
    for (width, _), matrices in zip(_sizes(cell.shape), layers.get(cell.subject, cell.shape), strict=True):
        x = context.tensor(Type.F32, random.standard_normal((cell.rows, width), np.float32))
        used = matrices if cell.rows <= MAX_CHATS else matrices[:1]
        results += [context.call("ggml_mul_mat", matrix, x) for matrix in used]
    return results


def _attention(context: Context, cell: Cell) -> ctypes.c_void_p:
    """Rows of a chat each, whose cells lie one behind the other, or many of one prompt."""
    kind = Type[cell.subject.removeprefix("attention ")]
    size, cells = (int(word) for word in cell.shape.replace(",", "").split()[:2])
    heads, kv_heads = HEAD_SIZES[size]
    random = np.random.default_rng(0)
    q = random.standard_normal((heads, cell.rows, size), np.float32)
    row = np.arange(cell.rows)[:, None]
    if cell.rows <= MAX_CHATS:
        num_cells, first, end = cells * cell.rows, cells * row, cells * (row + 1)
    else:
        num_cells, first, end = cells, 0 * row, cells - cell.rows + row + 1
    if "window" in cell.shape:
        first = np.maximum(first, end - WINDOW)
    at = np.arange(num_cells)
    some = quantized(random.standard_normal((256, size), np.float32), kind)
    k = np.resize(some, (kv_heads, num_cells, some.shape[1]))
    return attention_of(context, q, k, k, (at >= first) & (at < end), kind)
