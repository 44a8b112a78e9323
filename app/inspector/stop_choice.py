"""One line in which the user chooses the condition until which the engine runs. GUI thread."""

from collections.abc import Mapping

from PySide6.QtCore import QTimer, Signal, Slot
from PySide6.QtWidgets import QLineEdit, QPushButton, QSpinBox, QWidget

from app.inspector.panel_buttons import Choice, SelectButton
from app.inspector.recording import shown
from app.look.figures import count
from app.look.fonts import small_font, tabular
from app.look.layouts import STRETCH, hbox, vbox
from app.look.plain_text import PlainLabel
from app.look.words import mark, tr, tr_n
from app.protocol.commands import (
    RunUntil,
    StopCondition,
    Tokenize,
    UntilDecodeFails,
    UntilEnd,
    UntilPosition,
    UntilToken,
)
from app.protocol.report import SlotSnapshot, TokenizedText

POSITION, TOKEN, END, FAILURE = "position", "token", "end", "failure"
CONDITIONS = {
    POSITION: mark("a sequence reaches a position"),
    TOKEN: mark("a token is generated"),
    END: mark("an answer ends"),
    FAILURE: mark("a decode fails"),
}
TYPING_MS = 150
A_FEW_TOKENS = 16
MAX_CHARS = 100
NO_TEXT = mark("Type the token's text, including spaces.")


def token_choices(answer: TokenizedText) -> tuple[Choice, ...]:
    """Each token of the text once, in order."""
    tokens = answer.tokens
    written = dict(zip(tokens.token_ids, tokens.texts, strict=True))
    return tuple((token_id, f"“{shown(text)}” · {token_id}") for token_id, text in written.items())


def hint(answer: TokenizedText) -> str:
    """What the model makes of the text."""
    return tr_n(
        "One token.",
        "The model tokenizes this as {n} tokens; choose which one to wait for.",
        len(answer.tokens.token_ids),
    )


class StopChoice(QWidget):
    commanded = Signal(object)  # Command: a Tokenize while the user types, a RunUntil at the end

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._slots: dict[int, SlotSnapshot] = {}
        self._has_engine = False
        self._has_sequence = self._has_position = False  # which the user has chosen
        self.condition = SelectButton(tr("Run until"), self)
        self.condition.set_choices([(kind, tr(words)) for kind, words in CONDITIONS.items()])
        self.sequence = SelectButton(tr("Sequence"), self)
        self.position = QSpinBox(self)
        self.text = QLineEdit(self)
        self.token = SelectButton(tr("Token"), self)
        self.chat = SelectButton(tr("Chat"), self)
        self._offer_chats({})
        self.hint = PlainLabel(parent=self, tone="muted")
        self.run = QPushButton(tr("Run until"), self)
        self._typing = QTimer(self, singleShot=True, interval=TYPING_MS)
        self._set_up()
        self._lay_out()
        self._connect()
        self._show_fields()

    @property
    def stop_condition(self) -> StopCondition | None:
        """None while something is missing."""
        chat_id = self.chat.value if isinstance(self.chat.value, str) else None
        match self.condition.value:
            case "position":
                seq_id = self.sequence.value
                return UntilPosition(seq_id, self.position.value()) if isinstance(seq_id, int) else None
            case "token":
                token_id = self.token.value
                return UntilToken(token_id, chat_id) if isinstance(token_id, int) else None
            case "end":
                return UntilEnd(chat_id)
        return UntilDecodeFails()

    @property
    def words(self) -> str:
        """The chosen condition in words, to follow "until"."""
        chat = None if self.chat.value is None else self.chat.label
        match self.condition.value:
            case "position":
                return tr(
                    "sequence {seq_id} reaches position {position}",
                    seq_id=self.sequence.value,
                    position=count(self.position.value()),
                )
            case "token" if chat is None:
                return tr("token {id} is generated", id=self.token.value)
            case "token":
                return tr("token {id} is generated in {chat}", id=self.token.value, chat=chat)
            case "end" if chat is None:
                return tr("an answer ends")
            case "end":
                return tr("an answer ends in {chat}", chat=chat)
        return tr("a decode fails")

    def set_engine(self, n_ctx: int) -> None:
        """The longest possible chat; 0 without an engine."""
        self._has_engine = n_ctx > 0
        self.position.setMaximum(max(n_ctx - 1, 0))
        self.token.set_choices(())
        self.text.clear()
        self._enable()

    def set_slots(self, slots: tuple[SlotSnapshot, ...], titles: Mapping[str, str]) -> None:
        self._slots = {slot.seq_id: slot for slot in slots}
        names = {slot.seq_id: titles.get(slot.chat_id or "", "") for slot in slots}
        self.sequence.set_choices(
            [(seq_id, f"{seq_id} · {name}" if name else str(seq_id)) for seq_id, name in names.items()]
        )
        self._offer_chats(titles)
        self._enable()

    def _offer_chats(self, titles: Mapping[str, str]) -> None:
        self.chat.set_choices([(None, tr("any chat")), *titles.items()])

    def select_sequence(self, seq_id: int) -> None:
        if seq_id in self._slots:
            self.sequence.choose(seq_id)
            self._on_sequence_picked()

    def suggest(self, seq_id: int) -> None:
        """A default condition: a little more of this sequence."""
        if not self._has_sequence and seq_id in self._slots:
            self.sequence.choose(seq_id)
        if not self._has_position:
            self._suggest_position()

    def set_tokens(self, answer: TokenizedText) -> None:
        """The model's answer to what was typed; an earlier text's comes too late."""
        if answer.text == self.text.text():
            self.token.set_choices(token_choices(answer))
            self.hint.setText(hint(answer))
            self._show_fields()

    def _set_up(self) -> None:
        self.position.setFont(tabular(small_font()))
        self.position.setAccessibleName(tr("Position"))
        self.position.setGroupSeparatorShown(True)
        self.position.setFixedWidth(84)
        self.position.lineEdit().setTextMargins(6, 0, 0, 0)
        self.text.setFont(small_font())
        self.text.setAccessibleName(tr("Text of the token"))
        self.text.setPlaceholderText(tr("text"))
        self.text.setMaxLength(MAX_CHARS)
        self.text.setMaximumWidth(120)
        self.hint.setFont(small_font())
        self.run.setFont(small_font())
        self.run.setToolTip(tr("Run, and pause after the step in which this becomes true"))

    def _lay_out(self) -> None:
        vbox(
            hbox(
                self.run,
                self.condition,
                self.sequence,
                self.position,
                self.text,
                self.token,
                self.chat,
                STRETCH,
                spacing=6,
            ),
            self.hint,
            on=self,
            spacing=2,
        )

    def _connect(self) -> None:
        self.condition.changed.connect(self._show_fields)
        self.sequence.changed.connect(self._suggest_position)
        self.text.textEdited.connect(self._on_text_edited)
        self.text.returnPressed.connect(self.run.click)
        self.sequence.picked.connect(self._on_sequence_picked)
        self.position.lineEdit().textEdited.connect(self._on_position_edited)
        self.position.lineEdit().returnPressed.connect(self.run.click)
        self.token.changed.connect(self._enable)
        self._typing.timeout.connect(self._on_typed)
        self.run.clicked.connect(self._on_run)

    @Slot()
    def _show_fields(self) -> None:
        condition = self.condition.value
        for part in (self.sequence, self.position):
            part.setVisible(condition == POSITION)
        self.text.setVisible(condition == TOKEN)
        self.token.setVisible(condition == TOKEN and self.token.value is not None)
        self.chat.setVisible(condition in (TOKEN, END))
        self.hint.setVisible(condition == TOKEN)
        if not self.text.text():
            self.hint.setText(tr(NO_TEXT))
        self._enable()

    @Slot()
    def _on_sequence_picked(self) -> None:
        self._has_sequence = True

    @Slot()
    def _on_position_edited(self) -> None:
        self._has_position = True

    @Slot()
    def _suggest_position(self) -> None:
        seq_id = self.sequence.value
        if isinstance(seq_id, int) and not self.position.hasFocus():
            next_pos = max(self._slots[seq_id].pos_max, 0) + A_FEW_TOKENS
            self.position.setValue(min(next_pos, self.position.maximum()))
        self._enable()

    @Slot()
    def _enable(self) -> None:
        self.run.setEnabled(self._has_engine and self.stop_condition is not None)

    @Slot()
    def _on_text_edited(self) -> None:
        self.token.set_choices(())
        self._show_fields()
        self._typing.start()

    @Slot()
    def _on_typed(self) -> None:
        if self.text.text():
            self.commanded.emit(Tokenize(self.text.text()))

    @Slot()
    def _on_run(self) -> None:
        if condition := self.stop_condition:
            self._has_position = False
            self.commanded.emit(RunUntil(condition))
