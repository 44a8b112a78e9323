from pathlib import Path

from app.bridge.drafts import Drafts
from app.chats.chat import Chat, Turn
from app.protocol.request import Role
from app.storage.chat_rows import ChatChange
from app.storage.chat_store import ChatStore
from app.storage.errors import StorageError

EDIT, PASTE = ("chat", "turn"), ("", "mcp.json")


def test_only_what_changes_is_saved_and_what_is_typed_is_newer_than_the_disk() -> None:
    saved: list[tuple[tuple[str, str], str]] = []
    drafts = Drafts(lambda field, text: saved.append((field, text)))
    drafts.put(EDIT, "new")
    drafts.put(EDIT, "new")
    drafts.put(PASTE, "")
    drafts.fill({EDIT: "old", PASTE: "{}"})
    assert (drafts.text(EDIT), drafts.text(PASTE)) == ("new", "{}")
    assert saved == [(EDIT, "new")]


async def test_they_are_on_disk_until_they_are_used_or_their_chat_is_gone(tmp_path: Path) -> None:
    async def run(*changes: dict[tuple[str, str], str]) -> dict[tuple[str, str], str]:
        store = ChatStore(tmp_path / "chats.db")
        await store.open()
        for drafts in changes:
            await store.save([], None, drafts)
        found = (await store.load()).drafts
        await store.close()
        return found

    store = ChatStore(tmp_path / "chats.db")
    await store.open()
    await store.save([ChatChange.of(Chat("chat", turns=[Turn(Role.USER, "Hi")]))])
    await store.close()
    await run({EDIT: "half", ("gone", "turn"): "a message"}, {EDIT: "half a thou\ud800", PASTE: "{}"})
    assert await run() == {EDIT: "half a thou?", PASTE: "{}"}
    assert await run({PASTE: ""}) == {EDIT: "half a thou?"}


async def test_a_write_that_failed_is_made_up_for(qloop, workspace, store) -> None:
    workspace.drafts.put(EDIT, "half")
    workspace.drafts.put(PASTE, "{}")
    store.error = StorageError("no")
    await workspace.autosave.flush()
    workspace.drafts.put(EDIT, "half a thou")
    store.error = None
    await workspace.autosave.flush()
    assert store.drafts == {EDIT: "half a thou", PASTE: "{}"}
