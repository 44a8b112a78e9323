"""Our books name the very cells that llama.cpp uses, by index.

Its own account of them is printed with LLAMA_KV_CACHE_DEBUG=3 whenever it looks for free cells: who holds
each cell, at which position, and where it begins to look. Ours must be the same each time.
"""

from __future__ import annotations

import logging
import random
import re

import llama_cpp
import pytest

from app.engine.cells.ledger import CellLedger
from app.engine.llama.loading import open_llama_backend
from app.protocol.errors import DecodeInterruptedError
from app.protocol.load import LoadParams
from tests.driver import rows

pytestmark = pytest.mark.native

HEAD = re.compile(r"stream\[(\d+)\], n = +\d+, used = +(\d+), head = +(\d+), size = +(\d+)")
NEVER = 10**9


class PrintedCells:
    """What the library prints in each decode, beside what the books said before it."""

    def __init__(self, backend, ledger: CellLedger, caplog) -> None:
        self._backend, self._ledger, self._caplog = backend, ledger, caplog
        self._decode = backend.decode
        self.num_compared = 0
        self.most_used = 0

    def decode(self, batch) -> None:
        self._caplog.clear()
        cells, heads = self._ledger.map(), list(self._ledger._heads)
        try:
            self._decode(batch)
        finally:
            self._compare(cells, heads)

    def _compare(self, cells, heads) -> None:
        seen = set()
        for at, line in enumerate(lines := self._caplog.messages):
            if not (printed := HEAD.search(line)):
                continue
            stream, num_used, head, size = map(int, printed.groups())
            if stream in seen:
                continue  # with some of the batch in it
            seen.add(stream)
            mine = slice(stream * size, (stream + 1) * size)
            owners = re.findall(r"[.M\d]", lines[at + 1])
            positions = [-1 if text == "." else int(text) for text in lines[at + 2].split() if text != "*"]
            assert positions == cells.pos[mine].tolist()
            assert owners == [owner_of(int(word)) for word in cells.holders[mine, 0]]
            assert (num_used, head) == (int((cells.pos[mine] >= 0).sum()), heads[stream])
            self.num_compared += 1
            self.most_used = max(self.most_used, num_used)


def owner_of(word: int) -> str:
    """As the library prints a cell: free, of one sequence, or of many."""
    return "." if not word else "M" if word & (word - 1) else str(word.bit_length() - 1)


class Interrupter:
    """Breaks one decode off after so many nodes of its graph."""

    def __init__(self, backend) -> None:
        self._backend = backend
        self._num_nodes = NEVER
        self._callback = llama_cpp.ggml_abort_callback(self._is_enough)

    def after(self, num_nodes: int) -> None:
        self._num_nodes = num_nodes
        llama_cpp.llama_set_abort_callback(self._backend._context.pointer, self._callback, None)

    def _is_enough(self, _data) -> bool:
        self._num_nodes -= 1
        if self._num_nodes > 0:
            return False
        self._num_nodes = NEVER
        return True


@pytest.fixture(params=[False, True], ids=["unified", "isolated"])
def backend(request, tiny_gguf, monkeypatch, caplog):
    """Eight sequences, in 1,024 cells or in 256 each."""
    monkeypatch.setenv("LLAMA_KV_CACHE_DEBUG", "3")
    caplog.set_level(logging.DEBUG, "app.engine.llama.native_library")
    params = LoadParams(
        tiny_gguf("qwen3"), n_ctx=1024, n_seq_max=8, n_batch=512, n_threads=1, isolated=request.param
    )
    with open_llama_backend(params) as llama:
        yield llama


def test_the_books_name_the_librarys_cells_whatever_happens_to_them(backend, caplog):
    ledger = CellLedger(backend.model)
    printed, interrupt = PrintedCells(backend, ledger, caplog), Interrupter(backend)
    rng = random.Random(4)
    num_broken_off = 0
    for _ in range(300):
        seq_id, other = rng.sample(range(8), 2)
        num_cells = ledger.num_cells(seq_id)
        start = rng.randrange(num_cells + 1)
        match rng.choice(["decode"] * 4 + ["break off", "truncate", "share", "shift", "move"]):
            case "decode":
                decode(backend, printed, ledger, rng)
            case "break off":
                interrupt.after(rng.choice([1, 60, 150, 250]))
                num_broken_off += decode(backend, printed, ledger, rng)
                interrupt.after(NEVER)
            case "truncate":
                backend.truncate(seq_id, start)
                ledger.truncate(seq_id, start)
            case "share" if num_cells and backend.model.can_share_cells:
                backend.truncate(other, 0)
                ledger.truncate(other, 0)
                backend.share_prefix(seq_id, other, max(start, 1))
                ledger.share(seq_id, other, max(start, 1))
            case "shift" if start < num_cells and not ledger.has_shared_cells_from(seq_id, start):
                end = rng.randrange(start, num_cells) + 1
                backend.remove_and_shift(seq_id, start, end)
                ledger.remove(seq_id, start, end)
            case "move" if num_cells and seq_id not in backend._unrotated:
                state = backend.save_state(seq_id)
                for one in (seq_id, other):
                    backend.truncate(one, 0)
                    ledger.truncate(one, 0)
                if num_cells <= ledger.num_free:  # some of them may have been shared
                    assert backend.restore_state(other, state)
                    ledger.restore(other, [7] * num_cells, backend.positions_in(state))
    assert printed.num_compared > 40
    assert printed.most_used > 0.9 * backend.model.n_ctx_seq
    assert num_broken_off > 1


def decode(backend, printed, ledger, rng) -> bool:
    """A batch of some sequences, as far as there is room. Whether it was broken off."""
    spans, room = [], [ledger.num_free if backend.model.is_unified else 0] * 8
    for seq_id in sorted(rng.sample(range(8), rng.randint(1, 8))):
        if not backend.model.is_unified:
            room[seq_id] = backend.model.n_ctx_seq - ledger.num_cells(seq_id)
        num_tokens = min(
            rng.choice([1, 1, 3, 20, 64, 200]), room[seq_id], 512 - sum(len(t) for *_, t in spans)
        )
        if num_tokens > 0:
            spans.append((seq_id, ledger.num_cells(seq_id), [5 + seq_id] * num_tokens))
            room = [cells - num_tokens for cells in room]
    if not spans:
        return False
    batch = rows(backend, *spans)
    try:
        printed.decode(batch)
    except DecodeInterruptedError:
        num_left = [backend.pos_max(span.seq_id) + 1 - span.first_pos for span in batch.spans]
        ledger.append(batch, sum(num_left))
        return True
    ledger.append(batch)
    return False
