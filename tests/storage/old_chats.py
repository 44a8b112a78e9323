"""Databases of earlier versions, as Skein wrote them, and what must be in them after a start."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from app.chats.chat import TurnState
from app.protocol.request import Overflow
from app.storage.chat_store import INTERRUPTED, ChatStore
from app.storage.database import migrations
from app.storage.list_rows import ClosedTab

OLD_SCHEMAS = Path(__file__).parent / "old_schemas"
VERSIONS = range(1, len(migrations()))


def write_old(path: Path, version: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        script = (OLD_SCHEMAS / f"version_{version}.sql").read_text(encoding="utf-8")
        connection.executescript(script)


async def has_everything(store: ChatStore, version: int) -> None:
    saved = await store.load()
    assert saved.tabs.open == ("sums", "long")
    assert saved.tabs.current == "long"
    assert saved.tabs.closed == (ClosedTab("closed", 1),)
    assert {summary.id for summary in await store.summaries()} == {"sums", "long", "closed", "kept"}

    sums = saved.chats["sums"]
    assert (sums.chat.title, sums.chat.system_prompt, sums.draft) == ("Sums", "Be short.", "half a thou")
    assert sums.chat.created_at == 1795000000.0
    assert sums.chat.model_path == ("/m/starter.gguf" if version > 3 else "")
    assert not sums.chat.is_notebook
    shown = (await store.load_turns(sums)).shown
    assert [turn.id for turn in shown] == ["t1", "t2", "t3", "t4"]
    assert shown[1].text == '34 + 21 = 55\n\n```py\n# "quoted"; it\'s\nprint(55)\n```'
    assert (shown[1].model, shown[1].usage.num_generated_tokens) == ("starter", 9)
    assert shown[2].text == "and 数学 🧮?"
    assert (shown[3].state, shown[3].notice) == (TurnState.STOPPED, INTERRUPTED)

    long = saved.chats["long"].chat
    limits = (long.overflow, long.max_context_tokens)
    assert limits == ((Overflow.STOP, 0) if version == 1 else (Overflow.ROLLING_WINDOW, 2048))
    failed = (await store.load_turns(saved.chats["long"])).shown[1]
    assert (failed.state, failed.notice, failed.overflowed) == (
        TurnState.FAILED,
        "Too long.",
        version > 1,
    )
    assert [hit.turn_id for hit in await store.search("in no tab")] == ["t9"]
    assert [hit.turn_id for hit in await store.search("half an ans")] == ["t4"]
