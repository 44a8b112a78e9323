"""A start and an end: `python -m tests.storage.started CHATS_FILE`. Migrates or repairs what is there."""

import asyncio
import sys
from pathlib import Path

from app.storage.chat_store import ChatStore


async def main() -> None:
    store = ChatStore(Path(sys.argv[1]))
    await store.open()
    await store.close()


if __name__ == "__main__":
    asyncio.run(main())
