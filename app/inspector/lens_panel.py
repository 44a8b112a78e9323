"""The lens: which tokens were read for a sentence of an answer, and what leaving passages out changes.

Attention is computed beside the engine, from a copy of the chat's cells. GUI thread.
"""

import uuid
from collections.abc import Sequence

from PySide6.QtCore import QModelIndex, QSize, Qt, Slot
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QPushButton, QSplitter, QWidget

from app.inspector.answer_finder import AnswerSource, text_of
from app.inspector.answer_panel import AnswerPanel
from app.inspector.lens_text import ReadPart, ReadText, heat_of, parts_of, sentence_tokens, sentences_of
from app.inspector.lens_view import HeatView, PassageDelegate, PassageRows
from app.inspector.panel_buttons import ChipButton, SelectButton
from app.inspector.recording import Recording
from app.look.figures import count, decimal, seconds
from app.look.fonts import small_font, tabular
from app.look.layouts import FlowLayout, hbox, vbox
from app.look.plain_text import PlainLabel, one_line
from app.look.table import RowTable
from app.look.words import mark, sentences, tr, tr_n, tr_said
from app.protocol.lens import (
    Attention,
    LeaveOut,
    LensAnswer,
    LensRefusal,
    ReadAttention,
    Scores,
    Span,
    StopLens,
)

NO_PROOF = mark(
    "Attention shows where the model looked, not why it answered. “Drop and ask again” scores the sentence "
    "without each passage."
)
LOOKING = mark("Computing…")
MAX_CHARS = 60  # of a sentence in the list of them
MAX_DROPPED = 200  # passages and messages
TABLE_WIDTHS = (300, 300)


class LensPanel(AnswerPanel):
    NAME = "lens"
    TITLE = mark("Lens")
    SIZE, MIN_SIZE = QSize(600, 360), QSize(240, 180)

    CHOOSE = mark("Open a chat with an answer, or choose “What was read for this” in the menu of an answer.")
    NO_MODEL = mark("No model is loaded. Choose one above the chat to look into its answers.")
    RECORDED = mark("This is a recording. The lens needs a running engine.")

    def __init__(self, recording: Recording, parent: QWidget | None = None) -> None:
        super().__init__(recording, parent)
        self._wanted_text = ""  # the sentence to begin with, or a part of it
        self._read: ReadText | None = None
        self._sentences: list[str] = []
        self._sentence_tokens: list[Span | None] = []  # of each; empty while not all texts are known
        self._attention: Attention | None = None
        self._refusal = ""
        self._look_id = self._drop_id = ""  # the latter until its last scores are there
        self._whole: Scores | None = None
        self._changes: dict[Span, float] = {}
        self._dropping_s = 0.0
        self.sentence = SelectButton(tr("Sentence"), self)
        self.layer = SelectButton(tr("Layer"), self)
        self.group = SelectButton(tr("Head group"), self)
        self.sinks = ChipButton(
            tr("Leave out sinks"),
            tr("Ignore the first token and those between messages, which collect attention without a target"),
            self,
            is_checkable=True,
        )
        self.heat = HeatView(self)
        self.rows = PassageRows(self)
        self.table = RowTable(tr("Passages"), self.rows, self, PassageDelegate)
        self.note = PlainLabel(tr(NO_PROOF), self, tone="muted", wraps=True)
        self.drop = QPushButton(tr("Drop and ask again"), self)
        self._tables = QSplitter(Qt.Orientation.Horizontal, self)
        self._lay_out()
        self._connect()
        self.reset()

    # Calls of the window.

    def show_answer(self, source: AnswerSource, text: str = "") -> None:
        """`text` is in the sentence to begin with; none: the first."""
        if not self._has_engine:
            return
        self._wanted_text = text.strip()
        self.finder.show(source)
        if self.finder.tokens.token_ids:
            if not self._choose_wanted() and self._attention is None:
                self._look()
        else:
            self._forget()
        self._show()

    def draw(self) -> None:
        super().draw()
        self._take_texts()
        for answer in (*self.recording.take_seen(self._look_id), *self.recording.take_seen(self._drop_id)):
            self._take(answer)
        self._show()

    def reset(self) -> None:
        super().reset()
        self._forget()
        self._show()

    def showEvent(self, event: QShowEvent) -> None:
        if self._attention is None and self._part:
            self._look()
        super().showEvent(event)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._stop()

    # Building.

    def _lay_out(self) -> None:
        self.note.setFont(tabular(small_font()))
        self.drop.setFont(small_font())
        self.drop.setToolTip(
            tr("Score this sentence again without each message and passage; the chat does not change")
        )
        self.sinks.setChecked(True)
        self._tables.addWidget(self.heat)
        self._tables.addWidget(self.table)
        self._tables.setSizes(TABLE_WIDTHS)
        self._tables.setChildrenCollapsible(False)
        top = hbox(self.head, (self.figures, 1), margins=(12, 6, 12, 2), spacing=12)
        self._choices = QWidget(self)
        FlowLayout(self._choices, 6, self.sentence, self.layer, self.group, self.sinks)
        choices = hbox(self._choices, margins=(12, 0, 12, 4))
        foot = hbox((self.note, 1), self.drop, margins=(12, 6, 12, 8), spacing=12)
        vbox(top, choices, (self._tables, 1), self._empty_page(), foot, on=self, spacing=0)
        self.setFocusProxy(self.table)

    def _connect(self) -> None:
        self.finder.answer_found.connect(self._take_answer)
        self.finder.answer_grown.connect(self._take_answer)
        self.sentence.changed.connect(self._look)
        for choice in (self.layer, self.group):
            choice.changed.connect(self._show_heat)
        self.sinks.toggled.connect(self._show_heat)
        self.drop.clicked.connect(self._on_drop)
        self.heat.token_clicked.connect(self._on_token_clicked)
        self.table.selectionModel().currentRowChanged.connect(self._on_row_chosen)

    # The answer and its sentences.

    @Slot()
    def _take_answer(self) -> None:
        """Its tokens are known, or more of them."""
        self._read, self._sentence_tokens = None, []
        self.ask_for_texts(sorted(self.finder.tokens.token_ids))
        self._take_texts()

    def _take_texts(self) -> None:
        """Once the text of every token is known."""
        tokens, texts = self.finder.tokens, self.recording.token_texts
        if self._read or not tokens.token_ids or not texts.keys() >= set(tokens.token_ids):
            return
        prompt = [texts[token_id] for token_id in tokens.token_ids[: tokens.num_prompt_tokens]]
        self._read = ReadText([*prompt, *tokens.pieces])
        source = self.finder.source
        messages = source.reading.messages if source and source.reading else ()
        self.heat.show_read(self._read)
        self.rows.show(parts_of(self._read, messages, tokens.num_prompt_tokens))
        answer = text_of(tokens.pieces)
        spans = sentences_of(answer)
        self._sentences = [answer[begin:end] for begin, end in spans]
        self._sentence_tokens = sentence_tokens(self._read, tokens.num_prompt_tokens, answer, spans)
        labels = map(one_line, self._sentences)
        choices = [(number, f"{number + 1}. {label[:MAX_CHARS]}") for number, label in enumerate(labels)]
        self.sentence.blockSignals(True)  # one look at the end is enough
        self.sentence.set_choices(choices)
        self._choose_wanted()
        self.sentence.blockSignals(False)
        self._look()

    def _choose_wanted(self) -> bool:
        """The sentence with most words of the wanted text, which stood there without its markup.

        False: that is chosen already.
        """
        before = self.sentence.value
        wanted = set(self._wanted_text.split())
        shared = [len(wanted & set(sentence.split())) for sentence in self._sentences]
        if wanted and shared:
            self.sentence.choose(shared.index(max(shared)))
        self._wanted_text = ""
        return self.sentence.value != before

    @property
    def _part(self) -> Span | None:
        """The tokens of the chosen sentence."""
        number = self.sentence.value
        if not isinstance(number, int) or number >= len(self._sentence_tokens):
            return None
        return self._sentence_tokens[number]

    @Slot(int)
    def _on_token_clicked(self, token: int) -> None:
        """A sentence of the answer is looked at, a passage is chosen."""
        for number, part in enumerate(self._sentence_tokens):
            if part and part[0] <= token < part[1]:
                self.sentence.choose(number)
                return
        rows = [row for row, part in enumerate(self.rows.parts) if part.tokens[0] <= token < part.tokens[1]]
        if rows:
            self.table.selectRow(rows[-1])

    # Attention.

    @Slot()
    def _look(self) -> None:
        """At the chosen sentence."""
        self._stop()
        self._attention, self._refusal, self._whole, self._changes = None, "", None, {}
        self.rows.note_changes({})
        part = self._part
        if part is None or not self._has_engine:
            return
        self._look_id = uuid.uuid4().hex
        tokens = self.finder.tokens
        self.commanded.emit(ReadAttention(self._look_id, tokens.chat_id, tokens.token_ids, part))
        self._show_heat()
        self._show()

    def _take(self, answer: LensAnswer) -> None:
        match answer:
            case Attention():
                self._attention = answer
                self._offer_layers(answer)
                self._show_heat()
                if part := self._part:
                    self.heat.reveal(part)
            case Scores():
                self._take_scores(answer)
            case LensRefusal(_, reason):
                self._refusal, self._drop_id = reason, ""

    def _offer_layers(self, attention: Attention) -> None:
        layers = [(place, tr("Layer {number}", number=layer)) for place, layer in enumerate(attention.layers)]
        groups = [
            (place, tr("Head group {number}", number=place + 1))
            for place in range(attention.weights.shape[1])
        ]
        self.layer.set_choices([(None, tr("All layers")), *layers])
        self.group.set_choices([(None, tr("All heads")), *groups])

    @Slot()
    def _show_heat(self) -> None:
        part, attention = self._part, self._attention
        if part is None or attention is None:
            self.heat.show_heat(None, part)
            self.rows.note_heat(None)
            return
        layer, group = (
            value if isinstance(value, int) else None for value in (self.layer.value, self.group.value)
        )
        left_out = self._sinks if self.sinks.isChecked() else ()
        heat = heat_of(attention.weights, layer, group, part, left_out)
        self.heat.show_heat(heat, part, self._marked)
        self.rows.note_heat(heat)

    @property
    def _sinks(self) -> Sequence[int]:
        """What is of no message: the template's own."""
        spoken = {token for one in self.rows.parts for token in range(*one.tokens)}
        return [0, *(token for token in range(self.finder.tokens.num_prompt_tokens) if token not in spoken)]

    @property
    def _marked(self) -> Span | None:
        index = self.table.currentIndex()
        return self.rows.parts[index.row()].tokens if index.isValid() else None

    @Slot(QModelIndex)
    def _on_row_chosen(self, index: QModelIndex) -> None:
        self._show_heat()
        if index.isValid() and self.table.hasFocus():
            self.heat.reveal(self.rows.parts[index.row()].tokens)

    # Drop and ask again.

    @Slot()
    def _on_drop(self) -> None:
        if self._drop_id:
            self._stop()
            self._show()
            return
        part = self._part
        if part is None:
            return
        self._drop_id, self._whole, self._changes, self._dropping_s = uuid.uuid4().hex, None, {}, 0.0
        self.rows.note_changes({})
        spans = tuple(dict.fromkeys(one.tokens for one in self._droppable(part)))
        tokens = self.finder.tokens
        self.commanded.emit(LeaveOut(self._drop_id, tokens.chat_id, tokens.token_ids, part, spans))
        self._show()

    def _droppable(self, part: Span) -> list[ReadPart]:
        """What stands before the sentence, not all of it."""
        fits = [one for one in self.rows.parts if one.tokens[1] <= part[0] and one.tokens != (0, part[0])]
        return fits[:MAX_DROPPED]

    def _take_scores(self, scores: Scores) -> None:
        self._dropping_s += scores.seconds
        if scores.is_last:
            self._drop_id = ""
        if scores.left_out is None:
            self._whole = scores
        elif self._whole:
            self._changes[scores.left_out] = sum(scores.logprobs) - sum(self._whole.logprobs)
            self.rows.note_changes(self._changes)

    def _stop(self) -> None:
        for query_id in (self._look_id if self._attention is None else "", self._drop_id):
            if query_id:
                self.commanded.emit(StopLens(query_id))
        self._drop_id = ""

    # Showing.

    def _forget(self) -> None:
        self._stop()
        self._read, self._attention, self._refusal, self._whole = None, None, "", None
        self._sentences, self._sentence_tokens, self._changes, self._look_id = [], [], {}, ""
        self.sentence.set_choices(())
        self.rows.show(())
        self.heat.show_read(ReadText(()))

    def _show(self) -> None:
        super()._show()
        has_tokens = self._has_tokens
        for part in (self._tables, self._choices, self.note, self.drop):
            part.setVisible(has_tokens)
        self.figures.setText(self._figures() if has_tokens else "")
        self.note.setText(self._note())
        self.drop.setEnabled(self._part is not None and not self._refusal)
        self.drop.setText(tr("Stop") if self._drop_id else tr("Drop and ask again"))

    def _figures(self) -> str:
        if self._refusal:
            return ""
        if self._attention is None:
            return tr(LOOKING)
        return tr(
            "{time}, {computed} tokens computed",
            time=seconds(self._attention.seconds),
            computed=count(self._attention.num_computed_tokens),
        )

    def _note(self) -> str:
        if self._refusal:
            return tr_said(self._refusal)
        most = self.rows.most_needed()
        if most is None or self._whole is None:
            return tr(NO_PROOF)
        change = self._changes[most.tokens]
        done = len(self._changes)
        asked = tr_n("Asked {n} time", "Asked {n} times", done + 1)
        told = tr("{asked} in {time}.", asked=asked, time=seconds(self._dropping_s))
        if change >= 0:
            return sentences(tr("No passage makes the sentence more likely."), told)
        found = tr(
            "Matters most: “{text}”. Without it the log-probability of the sentence changes by −{change}.",
            text=one_line(most.text)[:MAX_CHARS],
            change=decimal(-change, 2),
        )
        return sentences(found, told)
