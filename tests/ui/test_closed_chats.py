"""What is left in the process of chats that were closed and deleted."""

import asyncio
import gc
from collections import Counter
from pathlib import Path

from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QApplication, QWidget

from app.bridge import tasks
from app.protocol.output import FinishReason
from app.ui.base.frame_budget import frame_budget
from tests.ui.random_use import Prompts, RandomThread, ScriptedUse

NUM_CHATS = 6
NUM_ROUNDS = 10  # in the first ones things are made that stay, such as icons of what chance picks
ANSWER = "one **bold**\n\n```\ncode\n```\n$n$"


async def test_nothing_is_left_of_chats_that_were_closed_and_deleted(qloop: object, tmp_path: Path) -> None:
    use = await _ready(tmp_path)
    for _ in range(NUM_ROUNDS):
        before = _held()
        await _use_chats(use)
        more = _held() - before
        if not more:
            break
    assert not more
    await use.close()


async def test_no_widget_of_a_closed_chat_waits_for_a_collection(qloop: object, tmp_path: Path) -> None:
    """Its session does: it has parts that know it. It is small."""
    use = await _ready(tmp_path)
    for _ in range(2):  # with the first one things are made that stay
        session = use.workspace.new_chat()
        session.send("How?")
        await _until_idle(use)
        gc.collect()
        use.workspace.close(session)
        del session
        await _until_idle(use)
        await use.workspace.autosave.flush()  # which holds the session until it is saved
        left = _widgets_only_in_cycles()
    assert not left
    await use.close()


async def _ready(folder: Path) -> ScriptedUse:
    use = ScriptedUse(0, folder)
    await use.store.open()
    await use.workspace.restore()
    await use.library.load()
    use.load_model()
    return use


async def _use_chats(use: ScriptedUse) -> None:
    for _ in range(NUM_CHATS):
        session = use.workspace.new_chat()
        session.send("How?")
        await _until_idle(use)
        use.do_turn_menu()
        use.do_tab_menu()
        use._close_menus()
        session.rename("Renamed")
        use.window.navigation.open_search()
        use.window.command_palette.open_up()
        use.window.command_palette.close_up()
        use.window.navigation.popup.close_up()
        session.stop()
        use.workspace.close(session)
        use.library.delete([session.chat.id])
    await _until_idle(use)
    recording = use.window.inspector.recording
    recording.start(recording.model)  # its steps are kept for the inspector, up to a number


async def _until_idle(use: ScriptedUse) -> None:
    for _ in range(1_000):
        for thread in use.threads:
            _answer(thread)
        QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
        is_busy = any(session.is_busy for session in use.workspace.sessions)
        if not (is_busy or tasks._running or frame_budget().num_waiting):
            return
        await asyncio.sleep(0.001)
    raise AssertionError("it does not come to rest")


def _answer(thread: RandomThread) -> None:
    for request in tuple(thread.asked.values()):
        thread.answer(request, ANSWER, FinishReason.STOP)
    thread.asked.clear()
    for work, future in thread.uses:
        if future.set_running_or_notify_cancel():
            future.set_result(work(Prompts()))
    thread.uses.clear()


def _held() -> Counter[str]:
    """Objects of our classes, and Qt's, by class."""
    gc.collect()
    application = QApplication.instance()
    assert application
    roots = [application, *(one for one in QApplication.topLevelWidgets() if not one.parent())]
    widgets = Counter(one.metaObject().className() for root in roots for one in root.findChildren(QObject))
    kinds = (f"{type(one).__module__}.{type(one).__qualname__}" for one in gc.get_objects())
    return widgets + Counter(kind for kind in kinds if kind.startswith("app."))


def _widgets_only_in_cycles() -> list[str]:
    """That a collection would free."""
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        gc.collect()
        return [f"{type(one)}" for one in gc.garbage if isinstance(one, QWidget)]
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
