"""A program that writes chats and settings as Skein does, and tells what it was told is safe.

`python -m tests.storage.recorded FOLDER QUESTIONS [TRIES [SYNCHRONOUS]]`: run by the tests under strace, and
on a disk that fails.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable
from pathlib import Path

from app.chats.chat import Chat, Turn, TurnState
from app.protocol.request import Role
from app.settings.settings import Settings
from app.storage import database
from app.storage.chat_rows import ChatChange
from app.storage.chat_store import ChatStore
from app.storage.errors import StorageError
from app.storage.list_rows import Tabs

NUM_CHATS = 4
NUM_PARTS = 4  # writes of each answer
END = "end:0"  # all was written


def chats_file(folder: Path) -> Path:
    return folder / "data" / "chats.db"


def settings_file(folder: Path) -> Path:
    return folder / "config" / "settings.json"


def question(number: int) -> str:
    return f"question {number} " * 20


def answer(number: int, num_parts: int) -> str:
    return "".join(f"part {part} of answer {number}, and more of it. " * 30 for part in range(num_parts))


def never_again() -> bool:
    return False


class Writer:
    """`tell` hears of each thing that is safe; `try_again` is asked after each failure."""

    def __init__(
        self, folder: Path, tell: Callable[[str], None], try_again: Callable[[], bool] = never_again
    ) -> None:
        self._folder = folder
        self._tell = tell
        self._try_again = try_again
        self._store = ChatStore(chats_file(folder))
        self.notice = ""

    async def write(self, num_questions: int) -> None:
        """Until a failure is not tried again, or the store says at its start that nothing will be kept."""
        self.notice = await self._store.open()
        try:
            if not self.notice:
                await self._write_all(num_questions)
        except StorageError as error:
            self.notice = str(error)
        finally:
            await self._store.close()

    async def _write_all(self, num_questions: int) -> None:
        chats = [Chat(f"chat{number}") for number in range(NUM_CHATS)]
        settings = Settings.load(settings_file(self._folder))
        for number in range(num_questions):
            await self._one_question(chats[number % NUM_CHATS], number)
            settings.n_ctx = number + 1
            settings.save()
            self._tell(f"settings:{number + 1}")
            if number == num_questions // 2:
                await self._store.back_up()
                self._tell("backup:1")
        self._tell(END)

    async def _one_question(self, chat: Chat, number: int) -> None:
        asked = Turn(Role.USER, question(number), id=f"q{number}")
        written = Turn(Role.ASSISTANT, "", TurnState.STREAMING, id=f"a{number}")
        chat.add(asked, written)
        await self._save(ChatChange.of(chat, turns=[asked, written]))
        self._tell(f"question:{number}")
        for part in range(1, NUM_PARTS + 1):
            written.text = answer(number, part)
            written.state = TurnState.DONE if part == NUM_PARTS else TurnState.STREAMING
            await self._save(ChatChange.of(chat, turns=[written]))
            self._tell(f"answer:{number}:{part}")

    async def _save(self, change: ChatChange) -> None:
        while True:
            try:
                await self._store.save([change], Tabs((change.chat.id,), change.chat.id))
                return
            except StorageError:
                if not self._try_again():
                    raise


def main() -> None:
    folder, num_questions, *options = sys.argv[1:]
    num_tries = int(options[0]) if options else 0
    if len(options) > 1:
        pragma = "PRAGMA synchronous = FULL"
        assert pragma in database._PRAGMAS
        database._PRAGMAS = tuple(
            f"PRAGMA synchronous = {options[1]}" if one == pragma else one for one in database._PRAGMAS
        )
    tries = iter(range(num_tries))
    writer = Writer(Path(folder), lambda word: _print(word), try_again=lambda: next(tries, None) is not None)
    asyncio.run(writer.write(int(num_questions)))


def _print(word: str) -> None:
    os.write(1, f"{word}\n".encode())


if __name__ == "__main__":
    main()
