"""Uses the window at random, as fast as nobody could: no exception is let out, and no answer is left open.

`python -m tests.ui.random_use [NUM_RUNS [FIRST_SEED]]` tells the seed of each run that went wrong, and how.
What is done depends on the seed alone, but for the clock of Qt's timers.
"""

from __future__ import annotations

import asyncio
import gc
import os
import random
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from PySide6.QtCore import QEvent, QObject, QPoint, Qt, QTimer
from PySide6.QtGui import QAction
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog, QMenu

from app.bridge import tasks
from app.bridge.chat_session import ChatSession
from app.bridge.engines import Engines
from app.bridge.report_router import ReportRouter
from app.bridge.tasks import QtLoop
from app.bridge.workspace import Workspace
from app.chats.chat import Turn, TurnState
from app.look.theme import apply_theme
from app.protocol.commands import AbortAll, Command, Forget, Submit
from app.protocol.errors import EngineError
from app.protocol.load import LoadParams
from app.protocol.output import FinishReason
from app.protocol.request import Overflow, Request, Role
from app.settings.settings import Settings
from app.storage.chat_store import ChatStore
from app.ui.base.actions import commands_of
from app.ui.frame import Application
from app.ui.main_window import MainWindow
from app.ui.tabs.chat_view import ChatView
from app.ui.transcript.turn_actions import TurnAction, is_possible, offered
from tests.bridge.conftest import ScriptedThread
from tests.ui.windows import new_window

NUM_ACTIONS = 120
WORDS = ("one", "two **bold**", "- three", "`four`", "five\n\nsix", "```\nseven", "<think>eight", "$n$", "")
# Files, other programs and the end are not for this; nor are looks and languages, which dress all anew.
LEFT_OUT = (
    *(
        "app.",
        "help.",
        "theme.",
        "language.",
        "view.full-screen",
        "model.open",
        "model.library",
        "chat.attach",
    ),
    *("chat.export", "chat.import", "tools.", "api."),
)


class AtOnce(Executor):
    """A thread that has done its work when it is asked for."""

    def submit(self, work: Callable[..., Any], /, *args: Any, **options: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(work(*args, **options))
        except Exception as error:
            future.set_exception(error)
        return future


class Prompts:
    def tokenize(self, text: str, *, parse_special: bool) -> list[int]:
        return [len(word) for word in text.split()]


class RandomThread(ScriptedThread):
    """Answers a little of something with each step; what was aborted ends later."""

    chance: random.Random

    def __init__(self, params: LoadParams, parent: QObject) -> None:
        super().__init__(params, parent)
        self.asked: dict[str, Request] = {}  # by request id
        self.uses: list[tuple[Callable[[Any], object], Future[object]]] = []
        self.has_ended = False

    def stop(self) -> None:
        if not self.stopped:
            QTimer.singleShot(0, self._end)
        self.stopped = True

    def fail(self, message: str) -> None:
        if not self.has_ended:
            self.asked.clear()
            self.failed.emit(message)
            self.stop()

    def _end(self) -> None:
        self.has_ended = True
        for request in self.asked.values():
            self.answer(request, "", FinishReason.ABORT)
        for _, future in self.uses:
            if future.set_running_or_notify_cancel():
                future.set_exception(EngineError("It has ended."))
        self.finished.emit()

    def post(self, command: Command) -> None:
        match command:
            case Submit(request):
                self.asked[request.request_id] = request
            case Forget(chat_id):
                self.aborted += [name for name, request in self.asked.items() if request.chat_id == chat_id]
            case AbortAll():
                self.aborted += self.asked
            case _:
                super().post(command)

    def use_prompts(self, work: Callable[[Any], object]) -> Future[object]:
        future: Future[object] = Future()
        if self.has_ended:
            future.set_exception(EngineError("It has ended."))
        else:
            self.uses.append((work, future))
        return future

    def step(self) -> None:
        if self.has_ended:
            return
        if self.uses and self.chance.random() < 0.5:
            work, future = self.uses.pop(self.chance.randrange(len(self.uses)))
            if future.set_running_or_notify_cancel():
                future.set_result(work(Prompts()))
        if not self.asked:
            return
        request = self.chance.choice(list(self.asked.values()))
        reason = FinishReason.ABORT if request.request_id in self.aborted else self._reason()
        notice = "It failed." if reason is FinishReason.ERROR else ""
        if reason:
            del self.asked[request.request_id]
        no_room = reason in (FinishReason.ERROR, FinishReason.LENGTH) and self.chance.random() < 0.5
        text = self.chance.choice(WORDS) if reason is not FinishReason.ABORT else ""
        self.answer(request, text, reason, notice, no_room)

    def _reason(self) -> FinishReason | None:
        return self.chance.choice(
            (None, None, None, *(r for r in FinishReason if r is not FinishReason.ABORT))
        )


class RandomUse:
    """What somebody in a hurry does with a window; what its model does is for the subclass."""

    def __init__(
        self, chance: random.Random, window: MainWindow, workspace: Workspace, engine: Engines
    ) -> None:
        self.chance = chance
        self.window = window
        self.workspace = workspace
        self.engine = engine
        self.library = window._services.chat_library
        self.done: list[str] = []
        self._names = [name.removeprefix("do_") for name in dir(self) if name.startswith("do_")]

    def act(self) -> None:
        self.done.append(self.chance.choice([name for name in self._names if self.may(name)]))
        getattr(self, f"do_{self.done[-1]}")()

    def may(self, _name: str) -> bool:
        """Whether to use this action, or a command by its name, or what can be done with a turn."""
        return True

    def check(self) -> None:
        """What must be so at any time."""
        for session in self.workspace.sessions:
            open_turns = [t for t in session.chat.all_turns() if t.state is TurnState.STREAMING]
            assert session.is_busy or not open_turns, "a turn is left open"
        tabs = self.window.tabs
        assert [tab.session for tab in tabs.tabs] == list(self.workspace.sessions), "the tabs are in disorder"
        assert tabs.strip.bar.count() == len(tabs.tabs)
        current = self.workspace.current
        assert current
        assert tabs.strip.bar.currentIndex() == self.workspace.sessions.index(current)

    # Parts

    @property
    def session(self) -> ChatSession:
        return self.chance.choice(self.workspace.sessions)

    @property
    def view(self) -> ChatView:
        return self.chance.choice(self.window.tabs.views)

    @property
    def tab_index(self) -> int:
        return self.chance.randrange(len(self.workspace.sessions))

    def text(self) -> str:
        return " ".join(self.chance.choices(WORDS, k=self.chance.randint(1, 3)))

    def _open_menus(self) -> list[QMenu]:
        return [one for one in QApplication.topLevelWidgets() if isinstance(one, QMenu) and one.isVisible()]

    def _open_dialogs(self) -> list[QDialog]:
        return [one for one in QApplication.topLevelWidgets() if isinstance(one, QDialog) and one.isVisible()]

    def _close_menus(self) -> None:
        for menu in self._open_menus():
            menu.close()

    # Tabs

    def do_new_chat(self) -> None:
        self.window.tabs.strip.new.click()

    def do_close(self) -> None:
        self.window.tabs.strip.bar.close_requested.emit(self.tab_index)

    def do_reopen(self) -> None:
        self.workspace.reopen()

    def do_fork(self) -> None:
        self.workspace.fork(self.session)

    def do_fork_and_close(self) -> None:
        fork = self.workspace.fork(self.session)
        if fork:
            self.workspace.close(fork)

    def do_go_to(self) -> None:
        self.window.tabs.strip.bar.setCurrentIndex(self.tab_index)

    def do_move(self) -> None:
        self.window.tabs.strip.bar.moveTab(self.tab_index, self.tab_index)
        self.window.tabs.strip.bar.let_go.emit()

    def do_pin(self) -> None:
        self.window.tab_commands.on_current(self.window.tab_commands.toggle_pin)

    def do_split(self) -> None:
        self.window.tab_commands.toggle_split()

    def do_show_beside(self) -> None:
        self.workspace.show_beside(self.session)

    def do_enter_pane(self) -> None:
        self.chance.choice(self.window.tabs.shown_views or self.window.tabs.views).composer.editor.setFocus()

    def do_tab_menu(self) -> None:
        self._close_menus()
        self.window.tabs.strip.bar.menu_requested.emit(self.tab_index, QPoint(10, 10))

    # What is said

    def do_ask(self) -> None:
        editor = self.view.composer.editor
        editor.setPlainText(self.text())
        QTest.keyClick(editor, Qt.Key.Key_Return)

    def do_write(self) -> None:
        self.view.composer.editor.setPlainText(self.text())

    def do_insert(self) -> None:
        role = self.chance.choice((Role.USER, Role.ASSISTANT))
        self.view.composer.insert_requested.emit(role, self.text(), ())

    def do_stop(self) -> None:
        self.session.stop()

    def do_act(self) -> None:
        views = self.view.transcript.live_views
        if not views:
            return
        view = self.chance.choice(views)
        possible = (a for a in offered(view.turn, view.place) if is_possible(a, view.place))
        actions = sorted(a for a in possible if self.may(a))
        if not actions:
            return
        action = self.chance.choice(actions)
        self.done[-1] += f" {action}"
        if action is TurnAction.WAYS:
            view.ways_requested.emit(2)
        else:
            view.act(action)

    do_act_again = do_act_once_more = do_act

    def do_edit(self) -> None:
        for view in self.view.transcript.live_views:
            if view.editor:
                view.editor.text.setPlainText(self.text())
                self.chance.choice((view.editor.save, view.editor.cancel)).click()

    def do_another_version(self) -> None:
        if views := self.view.transcript.live_views:
            self.chance.choice(views).versions.requested.emit(self.chance.choice((-1, 1)))

    def do_turn_menu(self) -> None:
        self._close_menus()
        if views := self.view.transcript.live_views:
            view = self.chance.choice(views)
            view.menu_requested.emit(view, view.mapToGlobal(QPoint(20, 20)))

    def do_select(self) -> None:
        page = self.view.transcript
        width, height = page.viewport().width(), page.viewport().height()
        begin, end = (QPoint(self.chance.randrange(width), self.chance.randrange(height)) for _ in range(2))
        QTest.mousePress(page.viewport(), Qt.MouseButton.LeftButton, pos=begin)
        QTest.mouseMove(page.viewport(), end)
        QTest.mouseRelease(page.viewport(), Qt.MouseButton.LeftButton, pos=end)

    def do_copy_selection(self) -> None:
        if self.view.transcript.selection:
            self.view.transcript.selection.copy()

    def do_choose(self) -> None:
        """In a menu that was opened some time ago."""
        for menu in self._open_menus()[:1]:
            actions = [a for a in menu.actions() if a.isEnabled() and not a.isSeparator() and not a.menu()]
            if actions:
                action = self.chance.choice(actions)
                menu.close()
                action.trigger()

    def do_dismiss(self) -> None:
        """A dialog that was opened some time ago."""
        for dialog in self._open_dialogs()[-1:]:
            dialog.reject()

    def do_undo(self) -> None:
        if self.window.undo.isVisible():
            self.window.undo.button.click()

    def do_send_queued(self) -> None:
        self.session.send_queued()

    # All else

    def do_command(self) -> None:
        self.window.menus.show_chat_state()
        actions = [a for a in _commands(self.window) if a.isEnabled() and self.may(a.objectName())]
        action = self.chosen_command(actions)
        self.done[-1] += f" {action.objectName()}"
        action.trigger()

    def chosen_command(self, actions: Sequence[QAction]) -> QAction:
        return self.chance.choice(actions)

    do_command_again = do_command

    def do_library(self) -> None:
        library = self.library
        if not library.chats:
            return
        chat_id = self.chance.choice(sorted(chat.id for chat in library.chats))
        kind = self.chance.randrange(8)
        if kind == 0:
            library.open(chat_id)
        elif kind == 1:
            library.open_beside(chat_id)
        elif kind == 7:
            library.look_at(chat_id)
        elif kind == 2 and self.may("fork"):
            library.fork(chat_id)
        elif kind == 3:
            library.rename(chat_id, self.text())
        elif kind == 4:
            library.set_pinned([chat_id], self.chance.random() < 0.5)
        elif kind == 5:
            library.move([chat_id], self.chance.choice(("", library.create_folder("f"))))
        else:
            were_open = library.delete([chat_id])
            if self.chance.random() < 0.7:
                library.undelete([chat_id], were_open)

    def do_settings(self) -> None:
        session = self.session
        session.set_limits(self.chance.choice(list(Overflow)), self.chance.choice((0, 600)))
        session.chat.system_prompt = self.chance.choice(("", "Be brief."))

    def do_sleep(self) -> None:
        self.engine.front.sleep()


class ScriptedUse(RandomUse):
    """A window with its workspace and database, and engines of which chance is the script."""

    def __init__(self, seed: int, folder: Path) -> None:
        chance = RandomThread.chance = random.Random(seed)
        self.threads: list[RandomThread] = []
        self.root = QObject()
        self.store = ChatStore(folder / "chats.db")
        self.store._thread = AtOnce()  # type: ignore[assignment]
        self.store.write_answers = lambda _answers: None  # type: ignore[method-assign]  # from another thread
        settings = Settings.load(folder / "settings.json")
        engine = Engines(self.root, self._new_thread)  # type: ignore[arg-type]
        workspace = Workspace(engine, self.store, settings, self.root)
        self.router = ReportRouter(engine, workspace, self.root)
        super().__init__(chance, new_window(engine, workspace, self.store, settings), workspace, engine)
        self.window.frame.show()
        self.window.frame.activateWindow()

    def _new_thread(self, params: LoadParams, parent: QObject) -> RandomThread:
        self.threads.append(RandomThread(params, parent))
        return self.threads[-1]

    async def run(self, num_actions: int = NUM_ACTIONS) -> None:
        notice = await self.store.open()
        assert not notice, notice
        await self.workspace.restore()
        await self.library.load()
        self.load_model()
        for _ in range(num_actions):
            self.act()
            for _ in range(self.chance.choice((0, 0, 1, 3))):
                await asyncio.sleep(0)
            self.check()
        await self.settle()

    async def settle(self) -> None:
        """Everything ends, and a new start finds what was there."""
        self._close_menus()
        for _ in range(10_000):
            for session in self.workspace.sessions:
                session.stop()
            if self.engine.is_loading:
                self.threads[-1].finish_loading()
            for thread in self.threads:
                thread.step()
            await asyncio.sleep(0.001)  # some of what is waited for happens on other threads
            sessions = self.workspace.sessions
            if not tasks._running and all(one.is_loaded and not one.is_busy for one in sessions):
                break
        busy = [session.chat.turns for session in self.workspace.sessions if session.is_busy]
        assert not busy, f"nobody answers {[[(t.role, t.text, t.state) for t in turns] for turns in busy]}"
        assert not tasks._running, f"{[task.get_coro() for task in tasks._running]} does not end"
        await self.workspace.shut_down()
        said = {one.chat.id: _told(one.chat.turns) for one in self.workspace.sessions}
        for chat_id, kept in (await self.store.load()).chats.items():
            saved = _told((await self.store.load_turns(kept)).shown)
            assert said.get(chat_id, saved) == saved, f"not {said[chat_id]} is saved, but {saved}"
        await self.store.close()

    async def close(self) -> None:
        self.window.frame.hide()
        self.window.frame.deleteLater()
        await self.engine.close()
        for task in tuple(tasks._running):
            task.cancel()
        self.root.deleteLater()
        for _ in range(3):
            await asyncio.sleep(0)
            QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)

    def load_model(self) -> None:
        self.engine.load(LoadParams(Path(self.chance.choice(("a.gguf", "b.gguf")))))
        if self.chance.random() < 0.8:
            self.threads[-1].finish_loading(n_ctx=self.chance.choice((512, 4096)))

    def do_engine_step(self) -> None:
        for thread in self.threads[-2:]:
            thread.step()

    do_engine_steps = do_engine_goes_on = do_engine_step

    def do_load(self) -> None:
        if self.engine.is_loading:
            thread = self.threads[-1]
            thread.finish_loading() if self.chance.random() < 0.7 else thread.fail("It is damaged.")
        else:
            self.load_model()

    def do_lose_engine(self) -> None:
        if self.chance.random() < 0.3 and self.engine.front.loaded_params:
            self.threads[-1].fail("It crashed.")


def _told(turns: Iterable[Turn]) -> list[tuple[str, str]]:
    return [(turn.id, turn.text) for turn in turns]


def _commands(window: MainWindow) -> list[QAction]:
    commands = commands_of(window.frame.menuBar())
    return [one.action for one in commands if one.name and not one.name.startswith(LEFT_OUT)]


@contextmanager
def noted_exceptions() -> Iterator[list[str]]:
    """Everything that nobody catches, as text."""
    seen: list[str] = []

    def note(error: BaseException | None) -> None:
        seen.append("".join(traceback.format_exception(error)))

    loop, hooks = asyncio.get_running_loop(), (sys.excepthook, sys.unraisablehook)
    sys.excepthook = lambda _kind, error, _trace: note(error)
    sys.unraisablehook = lambda unraisable: note(unraisable.exc_value)
    loop.set_exception_handler(lambda _loop, context: note(context.get("exception")))
    try:
        yield seen
    finally:
        sys.excepthook, sys.unraisablehook = hooks
        loop.set_exception_handler(None)


async def use(seed: int, folder: Path) -> list[str]:
    """What went wrong."""
    with noted_exceptions() as seen:
        window = ScriptedUse(seed, folder)
        try:
            await window.run()
        except Exception:
            seen.append(f"After {window.done[-12:]}:\n{traceback.format_exc()}")
        await window.close()
    return seen


def main() -> None:
    num_runs, first = (*map(int, sys.argv[1:]), *(100, 0)[len(sys.argv) - 1 :])
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    application = Application([])
    apply_theme(application, "light")
    loop = QtLoop(application)
    num_wrong = 0
    for seed in range(first, first + num_runs):
        with tempfile.TemporaryDirectory() as folder:
            wrong = loop.run_until_complete(use(seed, Path(folder)))
        num_wrong += bool(wrong)
        sys.stdout.writelines(f"Seed {seed}: {each}\n" for each in wrong)
        sys.stdout.flush()
        gc.collect()
    loop.close()
    sys.stdout.write(f"{num_wrong} of {num_runs} runs went wrong.\n")
    sys.exit(bool(num_wrong))


if __name__ == "__main__":
    main()
