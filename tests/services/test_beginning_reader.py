"""When a beginning is computed: while nothing else is to be done, and less and less often in vain."""

import asyncio
from concurrent.futures import Future
from itertools import pairwise
from types import SimpleNamespace

from app.chats.project import Project
from app.protocol.commands import ReadAhead
from app.protocol.report import CellUsage, SlotSnapshot, SlotState, StepReport
from app.protocol.request import PROJECT, SHELF
from app.services import beginning_reader as reader_module
from app.services.beginning_reader import MAX_WAIT_S, BeginningReader

DOCS = f"{SHELF}docs"
NUM_TOKENS = 100


class Prompts:
    def build_ahead(self, _request):
        return SimpleNamespace(token_ids=range(NUM_TOKENS))


class Texts(dict[str, str]):
    """They stand before chats."""

    def __call__(self, _room):
        return self.items()


async def test_attempts_in_vain_come_less_and_less_often(engine, load, workspace, settings, monkeypatch):
    clock = SimpleNamespace(now=1000.0)
    monkeypatch.setattr(reader_module, "monotonic", lambda: clock.now)
    monkeypatch.setattr(reader_module, "is_on_mains", lambda: True)
    thread = load(n_ctx=4096, n_seq_max=1)
    monkeypatch.setattr(thread, "use_prompts", lambda work: _done(work(Prompts())))
    reader = BeginningReader(engine, workspace, [Texts({DOCS: "All documents."})], settings)
    attempts: list[float] = []

    async def look_until(end: float) -> None:
        while clock.now < end:
            before = len(_asked(thread))
            reader._look()
            await _settled(reader)
            attempts.extend([clock.now] * (len(_asked(thread)) - before))
            clock.now += 1

    await look_until(1063)
    assert [at - 1000 for at in attempts] == [0, 2, 6, 14, 30, 62]
    await look_until(3000)
    gaps = [after - at for at, after in pairwise(attempts)]
    assert max(gaps) == MAX_WAIT_S
    # Something was computed: the next attempt is at once, and the waits begin anew.
    _report(thread, num_cells=50)
    attempts.clear()
    begin = clock.now
    await look_until(begin + 4)
    assert [at - begin for at in attempts] == [0, 2]
    _report(thread, num_cells=NUM_TOKENS - 1)
    attempts.clear()
    await look_until(clock.now + 700)
    assert attempts == [], "it is whole"


async def test_a_text_that_became_shorter_is_read_again(engine, load, workspace, settings, monkeypatch):
    monkeypatch.setattr(reader_module, "is_on_mains", lambda: True)
    thread = load(n_ctx=4096, n_seq_max=1)
    prompts = SimpleNamespace(
        build_ahead=lambda request: SimpleNamespace(token_ids=request.messages[0].content)
    )
    monkeypatch.setattr(thread, "use_prompts", lambda work: _done(work(prompts)))
    texts = Texts({DOCS: "one two three"})
    reader = BeginningReader(engine, workspace, [texts], settings)
    reader._look()
    await _settled(reader)
    _report(thread, num_cells=len("one two three"))
    assert reader.reading(DOCS).is_whole
    texts[DOCS] = "one three"
    monkeypatch.setattr(reader_module, "monotonic", lambda: float("inf"))
    reader._look()
    await _settled(reader)
    _report(thread, num_cells=len("one two three"))
    assert not reader.reading(DOCS).is_whole, "these are the cells of the former text"
    assert [one.request.messages[0].content for one in _asked(thread)] == ["one two three", "one three"]
    _report(thread, num_cells=len("one three"))
    assert reader.reading(DOCS).is_whole


async def test_those_of_open_chats_come_first(engine, load, workspace, settings, monkeypatch):
    monkeypatch.setattr(reader_module, "is_on_mains", lambda: True)
    thread = load(n_ctx=4096, n_seq_max=1)
    monkeypatch.setattr(thread, "use_prompts", lambda work: _done(work(Prompts())))
    workspace.shelves.project_of = {"Boat": Project("Boat", "boat")}.get
    workspace.new_chat("Boat")
    sources = [Texts({DOCS: "All documents."}), Texts({f"{PROJECT}boat": "Be brief."})]
    reader = BeginningReader(engine, workspace, sources, settings)
    reader._look()
    await _settled(reader)
    assert [one.request.chat_id for one in _asked(thread)] == [f"{PROJECT}boat"]


async def test_a_shelf_does_not_go_to_another_host_to_be_read_ahead(
    engine, load, workspace, settings, monkeypatch
):
    monkeypatch.setattr(reader_module, "is_on_mains", lambda: True)
    thread = load(n_ctx=4096, n_seq_max=1, server="http://gpu-box:8712")
    asked: list[object] = []
    monkeypatch.setattr(thread, "use_prompts", asked.append)
    reader = BeginningReader(engine, workspace, [Texts({DOCS: "All documents."})], settings)
    reader._look()
    assert not reader._is_asking
    assert (asked, _asked(thread)) == ([], [])


def _asked(thread):
    return [command for command in thread.posted if isinstance(command, ReadAhead)]


def _done(result):
    future: Future[object] = Future()
    future.set_result(result)
    return future


async def _settled(reader):
    while reader._is_asking:
        await asyncio.sleep(0)


def _report(thread, num_cells: int) -> None:
    slot = SlotSnapshot(0, SlotState.WARM, chat_id=DOCS, num_cells=num_cells)
    thread._reports.append(StepReport(1, (), (), (slot,), CellUsage(512)))
    thread.reported.emit()
