"""Offers in each chat the model that answered there before, if another one is open. Never switches by itself.

A chat in front while another model is opened gets no offer: the change was deliberate. GUI thread.
"""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot
from shiboken6 import isValid

from app.bridge.active_engine import ActiveEngine
from app.bridge.tasks import spawn
from app.chats.chat import THEN, Chat
from app.look.plain_text import as_tooltip, one_line
from app.look.strip import Offer
from app.look.words import sentences, tr
from app.protocol.request import Role
from app.ui.engine.model_loading import ModelLoading
from app.ui.tabs.chat_tabs import ChatTabs
from app.ui.transcript.greeting import base_words

if TYPE_CHECKING:
    from app.ui.tabs.chat_view import ChatView


MAX_NAME = 28  # characters


class ChatModels(QObject):
    def __init__(self, engine: ActiveEngine, models: ModelLoading, tabs: ChatTabs, parent: QObject) -> None:
        super().__init__(parent)
        self._engine = engine
        self._models = models
        self._tabs = tabs
        self._path = engine.model.path if engine.model else None  # of the model that is open
        self._agreed: set[str] = set()  # chats that accepted the open model
        tabs.view_made.connect(self._on_view_made)
        engine.loaded.connect(self._on_loaded)

    @Slot(object)
    def _on_view_made(self, view: ChatView) -> None:
        view.changed.connect(self._look)
        self._look(view)

    @Slot()
    def _on_loaded(self) -> None:
        model = self._engine.model
        before, self._path = self._path, model.path if model else None
        if self._path == before:
            return
        shown = {view.session.chat.id for view in self._tabs.shown_views}
        self._agreed = shown if before else set()
        for view in self._tabs.views:
            self._look(view)

    @Slot(object)
    def _look(self, view: ChatView) -> None:
        former = self._former(view)
        line, words = view.model_line, self._base_words(view)
        if former and not line.offers:
            spawn(self._offer(view, former))
        elif former is None and line.text != words:
            line.say(words) if words else line.clear()

    def _base_words(self, view: ChatView) -> str:
        """A new chat says so on its empty page, and a notebook is meant for such a model."""
        model = self._engine.model
        is_chat = bool(view.session.chat.turns) and not view.notebook
        return base_words(model) if model and is_chat else ""

    async def _offer(self, view: ChatView, former: Path) -> None:
        """If its file still exists; checking that may be slow on a network drive."""
        is_there = await asyncio.to_thread(former.is_file)
        model = self._engine.model
        if is_there and model and isValid(view) and self._former(view) == former:
            last = _name_of_last(view.session.chat) or former.stem
            keep = Offer(
                tr("Keep this model"),
                partial(self._keep, view),
                tip=as_tooltip(tr("{name} answers in this chat from now on", name=model.name)),
            )
            switch = Offer(
                tr("Switch back"),
                lambda: self._models.load(Path(view.session.chat.model_path)),
                tip=as_tooltip(tr("Reload {name} for all chats", name=last)),
            )
            told = tr("{former} has answered so far.", former=_short(last))
            view.model_line.say(sentences(told, self._base_words(view)), keep, switch)

    def _keep(self, view: ChatView) -> None:
        view.session.keep_model()
        self._agreed.add(view.session.chat.id)
        self._look(view)

    def _former(self, view: ChatView) -> Path | None:
        chat = view.session.chat
        is_meant = not chat.model_path or not chat.turns or chat.id in self._agreed
        if is_meant or view.session.is_busy or self._path is None or self._path == Path(chat.model_path):
            return None
        former, model = Path(chat.model_path), self._engine.model
        has_moved = (
            model and former.name == model.path.name and _name_of_last(chat) in (model.name, model.title)
        )
        return None if has_moved else former


def _name_of_last(chat: Chat) -> str:
    answers = (turn for turn in reversed(chat.turns) if turn.role is Role.ASSISTANT and turn.text)
    return next((turn.model.rpartition(THEN)[2] for turn in answers), "")


def _short(name: str) -> str:
    name = one_line(name)
    return name if len(name) <= MAX_NAME else f"{name[: MAX_NAME - 1]}…"
