"""The panel of token probabilities: the alternatives at each place of an answer, and what each layer says.

GUI thread.
"""

import uuid

from PySide6.QtCore import QSize, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QLabel, QPushButton, QSplitter, QWidget

from app.inspector.answer_finder import AnswerSource, TokenCandidates, result_text, start_with
from app.inspector.answer_panel import AnswerPanel
from app.inspector.answer_tables import (
    SAYS,
    AnswerTokens,
    CandidateDelegate,
    CandidateModel,
    LayerRows,
)
from app.inspector.panel_buttons import ChipButton
from app.inspector.recording import Recording, shown
from app.inspector.token_tint import AnswerMarks, legend
from app.look.figures import count, milliseconds
from app.look.fonts import small_font, tabular
from app.look.layouts import FlowLayout, hbox, vbox
from app.look.plain_text import PlainLabel, as_tab_text
from app.look.table import RowTable
from app.look.words import mark, tr, tr_n, tr_said
from app.protocol.lens import LayerWords, LeaveOut, LensRefusal, ReadLayers, Scores, StopLens
from app.protocol.output import TokenLogprob

PAUSED = mark("Waiting: all chats are paused. Resume to compute this.")
COMPUTING = mark("Computing…")
TABLE_WIDTHS = (250, 350, 350)  # of the answer's tokens, of the candidates, of the layers in their place
REST_MS = 80  # on a token before it is probed: the user may be moving on to another


class ProbabilitiesPanel(AnswerPanel):
    NAME = "probabilities"
    TITLE = mark("Token probabilities")
    SIZE, MIN_SIZE = QSize(600, 300), QSize(240, 160)

    CHOOSE = mark(
        "Select a sequence, or “Token probabilities” under an answer, to see the alternatives at each token."
    )
    NO_MODEL = mark("No model is loaded. Choose one above the chat to inspect its answers.")
    RECORDED = mark("This is a recording. Token probabilities need a running engine.")

    fork_at_requested = Signal(object, str, object)  # AnswerSource, the new answer's text so far, its tokens
    marks_changed = Signal()  # what is to be marked in the answer itself

    def __init__(self, recording: Recording, parent: QWidget | None = None) -> None:
        super().__init__(recording, parent)
        self.tokens = AnswerTokens(self)
        self.candidates = CandidateModel(self)
        self.token_table = RowTable(tr("Tokens of the answer"), self.tokens, self)
        self.candidate_table = RowTable(tr("Candidates"), self.candidates, self, CandidateDelegate)
        self.layer_rows = LayerRows(self)
        self.layer_table = RowTable(tr("What each layer says"), self.layer_rows, self)
        self.layers = ChipButton(
            tr("Layers"), tr("What each layer would have said here (logit lens)"), self, is_checkable=True
        )
        self._layers_asked = ("", -1)  # the query, and the place that it is about
        self._layers_known: LayerWords | LensRefusal | None = None
        self.colours = ChipButton(
            tr("Colour the answer"),
            tr("Colour each token of the answer by its probability before the samplers"),
            self,
            is_checkable=True,
        )
        self.legend = QLabel(self)
        self._colours_asked = ""  # the query
        self._colours_known: Scores | LensRefusal | None = None
        self.status = PlainLabel(parent=self, tone="muted", wraps=True)
        self.fork = QPushButton(self)
        self._tables = QSplitter(Qt.Orientation.Horizontal, self)
        self._rest = QTimer(self, singleShot=True, interval=REST_MS)
        self._shown: TokenCandidates | None = None
        self._lay_out()
        self._connect()
        self.reset()

    @property
    def place(self) -> int | None:
        """The index of the selected token in the answer."""
        index = self.token_table.currentIndex()
        return index.row() if index.isValid() else None

    @property
    def marks(self) -> AnswerMarks | None:
        """What the answer itself shows, while this panel can be seen."""
        source, known = self.finder.source, self._colours_known
        if not (self.isVisible() and self._has_tokens and source and source.turn):
            return None
        logprobs = known.logprobs if isinstance(known, Scores) else ()
        return AnswerMarks(source.turn, self.finder.tokens.pieces, self.place, logprobs)

    def show_answer(self, source: AnswerSource) -> None:
        if not self._has_engine:
            return
        self.finder.show(source)
        if not self.finder.tokens.token_ids:
            self._show_tokens()
        self._show()

    def draw(self) -> None:
        super().draw()
        for answer in self.recording.take_seen(self._layers_asked[0]):
            self._take_layers(answer)
        for answer in self.recording.take_seen(self._colours_asked):
            self._take_colours(answer)
        self.layer_rows.redraw(SAYS, SAYS)
        self._show()

    def reset(self) -> None:
        super().reset()
        self._rest.stop()
        self._forget_layers()
        self.colours.setChecked(False)
        self._show_tokens()
        self._show()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._rest.stop()
        self.colours.setChecked(False)
        self.marks_changed.emit()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.marks_changed.emit()

    def _lay_out(self) -> None:
        self.status.setFont(tabular(small_font()))
        self.legend.setFont(tabular(small_font()))
        self.fork.setFont(small_font())
        self.fork.setToolTip(tr("Continue from this token in a new tab (Enter)"))
        self._tables.addWidget(self.token_table)
        self._tables.addWidget(self.candidate_table)
        self._tables.addWidget(self.layer_table)
        self._tables.setStretchFactor(1, 1)
        self._tables.setSizes(TABLE_WIDTHS)
        self._tables.setChildrenCollapsible(False)
        top = hbox(self.head, (self.figures, 1), self.legend, margins=(12, 6, 12, 6), spacing=12)
        choices = QWidget(self)
        FlowLayout(choices, 12, self.colours, self.layers, self.fork)
        foot = vbox(self.status, choices, margins=(12, 6, 12, 8), spacing=4)
        vbox(top, (self._tables, 1), self._empty_page(), foot, on=self, spacing=0)
        self.setFocusProxy(self.token_table)

    def _connect(self) -> None:
        finder = self.finder
        finder.answer_found.connect(self._on_answer_found)
        finder.answer_grown.connect(lambda: self.tokens.grow(finder.tokens))
        self._rest.timeout.connect(self._on_rested)
        self.fork.clicked.connect(self._on_fork)
        self.layers.toggled.connect(self._on_layers_toggled)
        self.colours.toggled.connect(self._on_colours_toggled)
        self.token_table.selectionModel().currentRowChanged.connect(self._on_place_chosen)
        self.candidate_table.selectionModel().currentRowChanged.connect(self._show_fork)
        self.candidate_table.activated.connect(self._on_fork)

    @Slot()
    def _on_place_chosen(self) -> None:
        self.finder.look_at(None)
        self._forget_layers()
        self._rest.start()
        self._show()
        self.marks_changed.emit()

    @Slot()
    def _on_rested(self) -> None:
        self.finder.look_at(self.place)
        self._ask_for_layers()
        self._show()

    @Slot()
    def _on_fork(self) -> None:
        candidate, source, place = self._candidate, self.finder.source, self.place
        if candidate and source and place is not None and self._can_fork(candidate):
            text, token_ids = start_with(self.finder.tokens, place, candidate)
            self.fork_at_requested.emit(source, text, token_ids)

    # The layers.

    @Slot()
    def _on_layers_toggled(self) -> None:
        self._ask_for_layers()
        self._show()

    def _ask_for_layers(self) -> None:
        """At the selected place, if they are shown."""
        place, tokens = self.place, self.finder.tokens
        if place is None or not tokens.token_ids or not self.layers.isChecked():
            return
        if self._layers_asked[1] != place:
            self._layers_asked = (uuid.uuid4().hex, place)
            before = tokens.token_ids[: tokens.num_prompt_tokens + place]
            self.commanded.emit(ReadLayers(self._layers_asked[0], tokens.chat_id, before))

    def _take_layers(self, answer: object) -> None:
        if isinstance(answer, LensRefusal):
            self._layers_known = answer
        elif isinstance(answer, LayerWords):
            self._layers_known = answer
            self.layer_rows.show(answer, self.recording.token_texts)
            self.ask_for_texts(sorted(self.layer_rows.token_ids))

    def _forget_layers(self) -> None:
        if self._layers_asked[0] and self._layers_known is None:
            self.commanded.emit(StopLens(self._layers_asked[0]))
        self._layers_asked, self._layers_known = ("", -1), None
        self.layer_rows.show(None, {})

    # The colours of the answer.

    @Slot()
    def _on_colours_toggled(self) -> None:
        """Asks for all tokens at once: nothing is left out."""
        if self._colours_asked and self._colours_known is None:
            self.commanded.emit(StopLens(self._colours_asked))
        self._colours_asked, self._colours_known = "", None
        tokens = self.finder.tokens
        if self.colours.isChecked() and tokens.pieces:
            self._colours_asked = uuid.uuid4().hex
            part = (tokens.num_prompt_tokens, tokens.num_prompt_tokens + len(tokens.pieces))
            ask = LeaveOut(self._colours_asked, tokens.chat_id, tokens.token_ids, part, ())
            self.commanded.emit(ask)
        self._show()
        self.marks_changed.emit()

    def _take_colours(self, answer: object) -> None:
        if isinstance(answer, (Scores, LensRefusal)):
            self._colours_known = answer
            self.marks_changed.emit()

    @property
    def _candidate(self) -> TokenLogprob | None:
        index = self.candidate_table.currentIndex()
        return self.candidates.candidates[index.row()] if index.isValid() else None

    def _can_fork(self, candidate: TokenLogprob) -> bool:
        """Only a chat with a tab can be forked, and not after a control token."""
        has_tab = self.finder.source is not None and self.finder.source.turn is not None
        return has_tab and not candidate.is_control

    @Slot()
    def _on_answer_found(self) -> None:
        self._show_tokens()
        self.token_table.selectRow(0)

    def _show_tokens(self) -> None:
        """Shows the tokens of another answer, or none."""
        self.colours.setChecked(False)
        self.tokens.show_answer(self.finder.tokens, self.recording.token_texts, self.finder.known)
        self._show_candidates()
        self.marks_changed.emit()

    def _show(self) -> None:
        super()._show()
        has_tokens = self._has_tokens
        for part in (self._tables, self.status, self.fork, self.layers, self.colours):
            part.setVisible(has_tokens)
        self.colours.setEnabled(self.finder.source is not None and self.finder.source.turn is not None)
        colours = self._colours_known
        is_coloured = has_tokens and self.colours.isChecked() and not isinstance(colours, LensRefusal)
        self.legend.setVisible(is_coloured)
        self.legend.setText(legend() if colours else tr(COMPUTING))
        self.candidate_table.setVisible(not self.layers.isChecked())
        self.layer_table.setVisible(self.layers.isChecked())
        self.figures.setText(self._figures() if has_tokens and not is_coloured else "")
        self._show_candidates()
        self.status.setText(self._status())

    def _figures(self) -> str:
        tokens = self.finder.tokens
        return tr_n(
            "answer: {n} token, prompt: {prompt}",
            "answer: {n} tokens, prompt: {prompt}",
            len(tokens.pieces),
            prompt=count(tokens.num_prompt_tokens),
        )

    def _show_candidates(self) -> None:
        place = self.place
        known = self.finder.known.get(place) if place is not None else None
        if known is self._shown and known is not None:
            return
        self._shown = known
        self.candidates.apply(known.sampled if known else None, self._chosen_id)
        if known:
            self.candidate_table.selectRow(self.candidates.chosen_row or 0)
            self.tokens.redraw()
        self._show_fork()

    @property
    def _chosen_id(self) -> int | None:
        """The token that stands at the place; none does behind the last one."""
        tokens, place = self.finder.tokens, self.place
        if place is None or place >= len(tokens.pieces):
            return None
        return tokens.token_ids[tokens.num_prompt_tokens + place]

    @Slot()
    def _show_fork(self) -> None:
        candidate = self._candidate
        self.fork.setEnabled(candidate is not None and self._can_fork(candidate))
        name = as_tab_text(shown(candidate.text)) if candidate else ""
        self.fork.setText(tr("Fork here with “{token}”", token=name) if candidate else tr("Fork here"))

    def _status(self) -> str:
        finder, place = self.finder, self.place
        if place is None:
            return ""
        if isinstance(self._colours_known, LensRefusal):
            return tr_said(self._colours_known.reason)
        if self.layers.isChecked():
            return self._layers_status()
        if place in finder.refusals:
            return tr_said(finder.refusals[place])
        if place not in finder.known:
            return tr(PAUSED if finder.is_paused else COMPUTING)
        return result_text(finder.known[place], self._chosen_id)

    def _layers_status(self) -> str:
        known = self._layers_known
        if known is None:
            return tr(COMPUTING)
        if isinstance(known, LensRefusal):
            return tr_said(known.reason)
        same = self.layer_rows.first_of_the_same
        return tr(
            "The likeliest token is settled from layer {number} on. {time}",
            number=same,
            time=milliseconds(1000 * known.seconds),
        )
