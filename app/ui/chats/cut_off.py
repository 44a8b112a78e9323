"""Tells which answers were cut off, by the end of the last run. GUI thread."""

from collections.abc import Iterable

from PySide6.QtCore import QObject, Slot

from app.look.plain_text import one_line
from app.look.strip import Offer, Strip
from app.look.words import tr, tr_n
from app.services.chat_library import ChatLibrary
from app.ui.base.notices import Notices
from app.ui.base.titles import shown_title

MAX_TITLES = 5


class CutOffAnswers(QObject):
    """One notice for all: it goes on with them, or is dismissed."""

    def __init__(self, library: ChatLibrary, notices: Notices, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._library = library
        self._notices = notices
        self._chat_ids: dict[str, None] = {}  # in order
        self._banner: Strip | None = None

    def tell(self, chat_ids: Iterable[str]) -> None:
        self._chat_ids.update(dict.fromkeys(chat_ids))
        self._show()

    def _show(self) -> None:
        chats = [chat for chat_id in self._chat_ids if (chat := self._library.chat(chat_id))]
        if self._banner:
            self._banner.dismissed.disconnect(self._on_dismissed)
            self._banner.dismiss()
            self._banner = None
        if chats:
            titles = [shown_title(chat.title) for chat in chats]
            on_all = Offer(tr("Continue all"), self._go_on, can_be_left=True)
            self._banner = self._notices.show_note(cut_off_text(titles), on_all)
            self._banner.dismissed.connect(self._on_dismissed)

    def _go_on(self) -> None:
        chat_ids = tuple(self._chat_ids)
        if self._banner:
            self._banner.dismiss()
        self._library.resume(chat_ids)

    @Slot()
    def _on_dismissed(self) -> None:
        self._chat_ids.clear()
        self._banner = None


def cut_off_text(titles: list[str]) -> str:
    names = ", ".join(f"“{one_line(title)}”" for title in titles[:MAX_TITLES])
    names += ", …" if len(titles) > MAX_TITLES else ""
    return tr_n(
        "{n} answer was cut off: {titles}", "{n} answers were cut off: {titles}", len(titles), titles=names
    )
