"""What the menus can do with the chat that is shown. GUI thread."""

from PySide6.QtCore import QObject
from PySide6.QtGui import QGuiApplication

from app.engine.types import Role
from app.ui.answer_inspection import AnswerInspection
from app.ui.chat_tabs import ChatTabs


class ChatCommands(QObject):
    def __init__(self, tabs: ChatTabs, answers: AnswerInspection, parent: QObject) -> None:
        super().__init__(parent)
        self._tabs = tabs
        self._answers = answers

    @property
    def is_busy(self) -> bool:
        return self._tabs.current is not None and self._tabs.current.session.is_busy

    def stop(self) -> None:
        if self._tabs.current:
            self._tabs.current.session.stop()

    def copy_last_answer(self) -> None:
        turns = self._tabs.current.session.chat.turns if self._tabs.current else []
        answer = next(
            (turn.text for turn in reversed(turns) if turn.role is Role.ASSISTANT and turn.text), ""
        )
        if answer:
            QGuiApplication.clipboard().setText(answer)

    def show_tokens(self) -> None:
        if self._tabs.current:
            self._answers.show_newest(self._tabs.current.session)
