"""Shows a chat that could not be drawn as plain text, says why, and offers to draw it again. GUI thread."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot

from app.bridge.hang_watch import HangWatch
from app.look.strip import Offer, Strip
from app.look.words import tr
from app.ui.base.notices import NOTE
from app.ui.tabs.chat_tabs import ChatTabs

if TYPE_CHECKING:
    from app.ui.tabs.chat_view import ChatView


class PlainChats(QObject):
    def __init__(self, tabs: ChatTabs, hangs: HangWatch, parent: QObject) -> None:
        super().__init__(parent)
        self._hangs = hangs
        tabs.view_made.connect(self._on_view_made)

    @Slot(object)
    def _on_view_made(self, view: ChatView) -> None:
        if self._hangs.has_hung(view.session.chat.id):
            view.transcript.set_plain(True)
            told = tr("Skein hung last time it showed this chat, so its answers are shown as plain text.")
            banner = Strip(NOTE, view)
            banner.dismissed.connect(banner.deleteLater)
            view.show_banner(banner)
            banner.say(told, Offer(tr("Show formatted"), partial(self._format, view)))

    def _format(self, view: ChatView) -> None:
        self._hangs.forgive(view.session.chat.id)
        view.transcript.set_plain(False)
