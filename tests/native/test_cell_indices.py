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
from app.engine.engine import Engine
from app.engine.llama.loading import open_llama_backend
from app.protocol.errors import DecodeInterruptedError
from app.protocol.load import LoadParams
from app.protocol.request import Message, Overflow, Role
from tests.driver import request, rows

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


class EightTabs:
    """Chats with one engine. After each step its report is compared with the library."""

    def __init__(self, engine: Engine, backend, rng: random.Random) -> None:
        self.engine, self.backend, self.rng = engine, backend, rng
        self.histories: dict[str, tuple[Message, ...]] = {f"tab {number}": () for number in range(8)}
        self.happened: set[object] = set()  # kinds of events, and return codes
        self._open: dict[str, str] = {}  # tab by request

    def is_busy(self, tab: str) -> bool:
        return tab in self._open.values()

    def ask(self, tab: str, num_kept: int | None = None) -> None:
        """After all that was said in it, or the first so many messages only."""
        words = " ".join(self.rng.choices(["one", "two", "three", "four"], k=self.rng.choice([2, 12, 25])))
        history = self.histories[tab][:num_kept]
        limits = {"max_context_tokens": 250, "overflow": Overflow.ROLLING_WINDOW}
        one = request(words, tab, history=history, max_tokens=self.rng.randint(2, 25), **limits)
        self.histories[tab] = (*one.messages, Message(Role.ASSISTANT, ""))
        self._open[one.request_id] = tab
        self.engine.add_request(one)

    def abort(self, tab: str) -> None:
        for request_id in [key for key, owner in self._open.items() if owner == tab]:
            self.engine.abort(request_id)

    def fork(self, source: str, tab: str) -> None:
        self.engine.forget(tab)
        self.engine.slots.fork(source, tab)
        self.histories[tab] = self.histories[source]

    def hibernate(self, tab: str) -> None:
        for slot in self.engine.slots.slots:
            if slot.chat_id == tab and not slot.leased_to:
                self.engine.slots.hibernate(slot)

    def step(self) -> None:
        report = self.engine.step()
        check_against_the_library(self.backend, report)
        self.happened |= {event.kind.value for event in report.events} | {report.return_code}
        for output in report.outputs:
            *before, answer = self.histories[output.chat_id]
            text = answer.content + output.text
            self.histories[output.chat_id] = (*before, Message(Role.ASSISTANT, text or "?"))
            if output.finish_reason:
                del self._open[output.request_id]


def test_a_run_of_eight_tabs_with_forks_hibernation_and_aborts(backend, caplog, monkeypatch):
    engine = Engine(backend, verify=True)
    printed, interrupt = PrintedCells(backend, engine.slots.cells, caplog), Interrupter(backend)
    monkeypatch.setattr(backend, "decode", printed.decode)
    rng = random.Random(7)
    tabs = EightTabs(engine, backend, rng)
    for number in range(10):  # one alone, until its oldest turns are left out, and once out of its sleep
        tabs.ask("tab 0")
        while engine.has_work:
            tabs.step()
        if number == 3:
            tabs.hibernate("tab 0")
    tabs.fork("tab 0", "tab 1")  # later ones find a slot for it or not, as the steps' times have it
    for _ in range(200):
        tab, other = rng.sample(sorted(tabs.histories), 2)
        match rng.choice(
            ["ask"] * 6 + ["hibernate"] * 2 + ["edit", "abort", "fork", "interrupt"] + ["step"] * 9
        ):
            case "ask" if not tabs.is_busy(tab):
                tabs.ask(tab)
            case "edit" if not tabs.is_busy(tab):
                tabs.ask(tab, num_kept=1)
            case "abort":
                tabs.abort(tab)
            case "fork" if not tabs.is_busy(tab):
                tabs.fork(other, tab)
            case "hibernate":
                tabs.hibernate(tab)
            case "interrupt":
                interrupt.after(rng.choice([20, 120]))
        if engine.has_work:
            tabs.step()
            interrupt.after(NEVER)
    engine.close()
    assert printed.num_compared > 100
    assert {"hibernate", "restore", "shift", "abort", 2} <= tabs.happened
    assert "fork" in tabs.happened or not backend.model.can_share_cells


def check_against_the_library(backend, report) -> None:
    """Each figure of a report's table of sequences."""
    assert report.cells.num_used + report.cells.num_free == backend.model.n_ctx
    listed = backend.used_cells().listed()
    assert report.cells.num_used == len(listed)
    assert report.cells.num_shared == sum(len(holders) > 1 for _, holders in listed)
    for slot in report.slots:
        mine = [holders for _, holders in listed if slot.seq_id in holders]
        assert (slot.pos_min, slot.pos_max) == (backend.pos_min(slot.seq_id), backend.pos_max(slot.seq_id))
        assert slot.num_cells == len(mine)
        assert slot.num_shared_cells == sum(len(holders) > 1 for holders in mine)
