"""Skein's window, in which somebody pastes and opens what strangers wrote: `strangers` says what.

Started as `python -m tests.benchmarks.strangers_window [arguments of skein…]`. That goes on as long as there
is a file BEGIN in its folder. If that says ORDINARY, it is what anybody pastes and opens.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import sys
import time
from contextlib import suppress
from pathlib import Path
from unittest import mock

from PySide6.QtCore import QMimeData

import app.main
from app.bridge.tasks import spawn
from app.chats.options import ChatOptions
from app.services.form_check import Form
from app.services.services import Services
from app.storage.errors import StorageError
from app.ui.frame import Frame
from app.ui.main_window import MainWindow
from tests.benchmarks.lateness import Lateness
from tests.benchmarks.round_watch import RoundWatch
from tests.benchmarks.strangers import LATENESS, ORDINARY, USES, file_name, hostile_process

BEGIN = "begin"
STACKS = "SKEIN_STACKS"  # a variable that asks for those of the longest rounds
FORMS = {"grammar": Form.GRAMMAR, "schema": Form.JSON_SCHEMA}
PAUSE_S = 0.05
WAIT_S = 0.05  # for a file to be read, as somebody would before he goes on


class StrangersWindow(MainWindow):
    folder: Path
    lateness: Lateness

    def __init__(self, frame: Frame, services: Services) -> None:
        super().__init__(frame, services)
        self._its_services = services
        self._watch = RoundWatch(self.lateness, has_stacks=STACKS in os.environ)
        spawn(self._use())

    async def _use(self) -> None:
        while not self.tabs.current:
            await asyncio.sleep(PAUSE_S)
        for kind in USES:  # what is made and imported then
            await self._do(kind, self.folder / file_name(f"{kind} 0"))
        while not await self._what_goes_on():
            await asyncio.sleep(PAUSE_S)
        numbers = {kind: len(list(self.folder.glob(f"{kind} *"))) for kind in USES}
        for number in itertools.count():
            for kind in USES:
                phase = await self._what_goes_on()
                if not phase:
                    return
                name = f"{ORDINARY} {kind}" if phase == ORDINARY else f"{kind} {number % numbers[kind]}"
                self.lateness.uses.append((time.perf_counter(), name))
                await self._do(kind, self.folder / file_name(name))
                await asyncio.sleep(PAUSE_S)

    async def _what_goes_on(self) -> str:
        """Empty before it begins, and when it has ended."""
        try:
            return await asyncio.to_thread((self.folder / BEGIN).read_text)
        except FileNotFoundError:
            return ""

    async def _do(self, kind: str, file: Path) -> None:
        match kind:
            case "preset":
                await self._import_preset(file)
            case "chats":
                await self._import_chats(file)
            case _:
                text = await asyncio.to_thread(lambda: file.read_bytes().decode("utf-8", "replace"))
                await self._paste(kind, text)

    async def _paste(self, kind: str, text: str) -> None:
        options = self.chat_options
        if not options.panel.isVisible():
            assert self.tabs.current
            options.open_for(self.tabs.current)
        options._on_changed(ChatOptions())  # of grammar and schema a chat has one
        await asyncio.sleep(PAUSE_S)
        form = options.panel.form
        if kind != "prompt":
            form._on_form_chosen(FORMS[kind])
        control = options.panel.prompt if kind == "prompt" else form.text
        data = QMimeData()
        data.setText(text)
        control.selectAll()
        control.insertFromMimeData(data)
        if kind != "prompt":
            await asyncio.sleep(PAUSE_S)
            session = self._its_services.workspace.current
            assert session
            session.send("Hi")
            await asyncio.sleep(PAUSE_S)
            session.stop()

    async def _import_preset(self, file: Path) -> None:
        presets = self._its_services.presets
        before = presets.all.keys()
        is_read = asyncio.Event()
        presets.changed.connect(is_read.set)
        presets.import_file(file)
        await is_read.wait()  # else it would stay, and with it thousands of others
        presets.changed.disconnect(is_read.set)
        for new in presets.all.keys() - before:
            self.chat_options.panel.presets._choose(new, presets.all[new])
            await asyncio.sleep(PAUSE_S)
            presets.delete(new)

    async def _import_chats(self, file: Path) -> None:
        workspace, transfer = self._its_services.workspace, self._its_services.transfer
        with suppress(StorageError):
            plan = await transfer.read([file])
            for chat_id in await transfer.import_chats(plan, with_known=True):
                session = await workspace.open_saved(chat_id)
                await asyncio.sleep(WAIT_S)
                if session:
                    workspace.close(session)
                transfer.take_back([chat_id])


def main() -> int:
    code: object = 0
    lateness = Lateness()
    with hostile_process(lateness) as folder:
        StrangersWindow.folder, StrangersWindow.lateness = folder, lateness
        with mock.patch("app.ui.main_window.MainWindow", StrangersWindow), mock.patch("os._exit", sys.exit):
            try:
                app.main.main()
            except SystemExit as end:  # the program ends the process
                code = end.code
    lateness.write(folder / LATENESS)
    return int(str(code))


if __name__ == "__main__":
    sys.exit(main())
