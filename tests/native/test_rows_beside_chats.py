"""Rows of a table in the window's engine, beside a chat that goes first."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from app.bridge.engines import Engines
from app.bridge.report_router import ReportRouter
from app.bridge.workspace import Workspace
from app.chats.chat import TurnState
from app.engine.prompts.chat_worker import ChatWorker
from app.protocol.load import LoadParams
from app.protocol.request import ROWS
from app.rows.answer_form import AnswerForm, Kind
from app.rows.job import Counts, JobSettings
from app.services.rows import RowJobs
from app.settings.settings import Settings
from tests.bridge.conftest import MemoryStore

pytestmark = pytest.mark.native

NUM_ROWS, NUM_SLOTS = 100, 4
PROMPT = "Say whether this is about boats or about cars, as a careful reader would, in one word. {text}"
FORM = AnswerForm(Kind.CHOICE, ("it is all about boats", "it is all about cars"))


async def until(is_so: Callable[[], object]) -> None:
    async with asyncio.timeout(120):
        while not is_so():
            await asyncio.sleep(0.002)


async def texts(jobs: RowJobs) -> list[str]:
    return [row.cells[1] for row in await jobs.rows(0, NUM_ROWS)]


async def test_rows_wait_for_a_chat_and_are_answered_as_without_it(qloop, tiny_gguf, tmp_path: Path) -> None:
    model = tiny_gguf("qwen3")
    table = tmp_path / "table.csv"
    table.write_text("text\n" + "".join(f"boat {one} {'and car ' * (one % 4)}\n" for one in range(NUM_ROWS)))
    engine, chat_layer = Engines(), ChatWorker()
    workspace = Workspace(engine, MemoryStore(), Settings())
    ReportRouter(engine, workspace, workspace)
    engine.load(LoadParams(model, n_ctx=8192, n_seq_max=NUM_SLOTS, n_threads=1))
    await until(lambda: engine.model)
    settings = JobSettings(str(table), PROMPT, FORM, model=str(model), temperature=0.0)

    alone = RowJobs(engine, chat_layer, tmp_path / "alone", engine)
    alone.start(settings)
    await until(lambda: not alone.is_busy)
    assert (alone.trouble, alone.counts) == ("", Counts(NUM_ROWS, NUM_ROWS, 0))

    beside = RowJobs(engine, chat_layer, tmp_path / "beside", engine)
    most_rows, session = 0, workspace.new_chat()
    left: list[int] = []  # rows in slots or waiting for one, when the chat's answer ended

    def note(reports) -> None:
        nonlocal most_rows
        for report in reports:
            asked = [slot.chat_id or "" for slot in report.slots if slot.request_id]
            num_running = sum(chat_id.startswith(ROWS) for chat_id in asked)
            most_rows = max(most_rows, num_running)
            if any(one.finish_reason and one.chat_id == session.chat.id for one in report.outputs):
                left.append(num_running + len(report.waiting))

    engine.reported.connect(note)
    beside.start(settings)
    await until(lambda: most_rows == NUM_SLOTS)
    session.chat.max_tokens = 8
    session.send("What is a boat?")
    answer = session.chat.turns[-1]
    await until(lambda: not session.is_busy)
    assert answer.state is not TurnState.FAILED
    assert answer.usage.num_generated_tokens
    assert left[0] > 0, "the chat has not waited for the rows"
    await until(lambda: not beside.is_busy)
    assert (beside.trouble, beside.counts) == ("", Counts(NUM_ROWS, NUM_ROWS, 0))
    assert await texts(beside) == await texts(alone)

    for jobs in (alone, beside):
        await jobs.close()
    chat_layer.close()
    await workspace.stop_saving()
    await engine.close()
