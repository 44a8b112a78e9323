"""Says in a chat that its model is gone, and offers the next best. Replaces nothing by itself. GUI thread."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot
from shiboken6 import isValid

from app.bridge.engines import Engines
from app.bridge.tasks import spawn
from app.chats.chat import THEN, Chat
from app.look.plain_text import one_line
from app.look.strip import Offer
from app.look.words import mark, sentences, tr
from app.protocol.load import is_elsewhere
from app.protocol.request import Role
from app.services.model_library import ModelLibrary
from app.system import paths
from app.ui.engine.model_picker import title_at
from app.ui.tabs.chat_tabs import ChatTabs
from app.ui.transcript.greeting import base_words

if TYPE_CHECKING:
    from app.ui.tabs.chat_view import ChatView


MAX_NAME = 28  # characters


class ChatModels(QObject):
    def __init__(self, engines: Engines, library: ModelLibrary, tabs: ChatTabs, parent: QObject) -> None:
        super().__init__(parent)
        self._engines = engines
        self._library = library
        self._tabs = tabs
        self._gone: dict[str, bool] = {}  # by address
        tabs.view_made.connect(self._on_view_made)
        for changed in (engines.opened, engines.chosen, library.changed):
            changed.connect(self._look_anew)

    @Slot(object)
    def _on_view_made(self, view: ChatView) -> None:
        view.changed.connect(self._look)
        self._look(view)

    @Slot()
    def _look_anew(self) -> None:
        self._gone.clear()
        for view in self._tabs.views:
            self._look(view)

    @Slot(object)
    def _look(self, view: ChatView) -> None:
        address = view.session.chat.model_path
        engine = self._engines.known(address)
        if not address or (engine and engine.model):
            self._gone[address] = False
        elif is_elsewhere(address):
            self._gone[address] = self._engines.params_of(address) is None
        if address in self._gone:
            self._show(view)
        else:
            spawn(self._look_for(view, address))

    async def _look_for(self, view: ChatView, address: str) -> None:
        """Looking for a file may be slow on a network drive."""
        self._gone[address] = not await asyncio.to_thread(Path(address).is_file)
        if isValid(view) and view.session.chat.model_path == address:
            self._show(view)

    def _show(self, view: ChatView) -> None:
        line, address = view.model_line, view.session.chat.model_path
        words, name = self._base_words(view), _name_of_last(view.session.chat)
        if not self._gone[address]:
            line.say(words) if words else line.clear()
            return
        best = self._next_best(Path(address))
        if best.name == Path(address).name and self._is_called(best, name):  # it has moved, as Skein itself
            self._use(view, best)
            return
        offer = tr("Use {name}", name=_short(title_at(best, self._engines, self._library)))
        words_ = mark("{name} has answered so far. Its file is gone.")
        if is_elsewhere(address):
            words_ = mark("{name} has answered so far. Its server is not in your list of engines any more.")
        told = tr(words_, name=_short(name or Path(address).stem))
        line.say(sentences(told, words), Offer(offer, partial(self._use_now, view, best)))

    def _use(self, view: ChatView, path: Path) -> None:
        view.session.choose_model(str(path))
        self._engines.note_chats()
        self._look(view)

    def _use_now(self, view: ChatView, path: Path) -> None:
        self._use(view, path)
        self._engines.want(str(path))

    def _next_best(self, gone: Path) -> Path:
        """The same file elsewhere, else what new chats have or is loaded, else what comes with Skein."""
        models = (*(model.path for model in self._library.models if model.can_chat), *self._loaded_paths())
        moved = next((path for path in models if path.name == gone.name and path != gone), None)
        default = self._engines.default
        is_other = default not in ("", str(gone)) and not (is_elsewhere(default) or self._gone.get(default))
        loaded = [path for path in self._loaded_paths() if path != gone]
        return moved or (Path(default) if is_other else (loaded or [paths.starter_model()])[-1])

    def _loaded_paths(self) -> list[Path]:
        return [one.model.path for one in self._engines if one.model and not one.model.server]

    def _is_called(self, path: Path, name: str) -> bool:
        """By its title; answers of early versions have its name alone."""
        engine = self._engines.known(str(path))
        title = title_at(path, self._engines, self._library)
        return name in (title, engine.model.name if engine and engine.model else title)

    def _base_words(self, view: ChatView) -> str:
        """A new chat says so on its empty page, and a notebook is meant for such a model."""
        engine = self._engines.known(view.session.address)
        is_chat = bool(view.session.chat.turns) and not view.notebook
        return base_words(engine.model) if engine and engine.model and is_chat else ""


def _name_of_last(chat: Chat) -> str:
    answers = (turn for turn in reversed(chat.turns) if turn.role is Role.ASSISTANT and turn.text)
    return next((turn.model.rpartition(THEN)[2] for turn in answers), "")


def _short(name: str) -> str:
    name = one_line(name)
    return name if len(name) <= MAX_NAME else f"{name[: MAX_NAME - 1]}…"
