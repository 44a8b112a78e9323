"""Two models on one text: how far another model is from the loaded one, on an answer or on a pasted text.

Computed in a process of its own, beside the engine. GUI thread.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QModelIndex, QSize, Qt, Signal, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QLabel, QPlainTextEdit, QPushButton, QScrollArea, QSplitter, QWidget

from app.inspector.answer_finder import AnswerSource, text_of
from app.inspector.answer_panel import AnswerPanel
from app.inspector.comparison_view import RANKS, ComparedText, ComparedTokens, DivergenceChart, kl_legend
from app.inspector.lens_text import ReadText
from app.inspector.panel_buttons import ChipButton, SelectButton
from app.inspector.recording import Recording, shown
from app.look.figures import count, decimal, percent
from app.look.file_dialog import choose_file
from app.look.fonts import small_font, tabular
from app.look.layouts import STRETCH, FlowLayout, hbox, vbox
from app.look.plain_text import PlainLabel, as_tooltip, one_line
from app.look.table import RowTable
from app.look.words import mark, tr, tr_said
from app.protocol.comparison import Compare, Comparison
from app.protocol.load import LoadParams
from app.protocol.report import ChatTokens

ANSWER, PASTED, FILE = "answer", "pasted", ""  # what can be chosen besides models
HINT = mark("Choose a second model with the same vocabulary, such as another quantisation, and compare.")
PASTE_HEIGHT, FOUND_HEIGHT = 52, 24  # of what was pasted, also beside what was found
WIDTHS, MIDDLE_HEIGHT = (200, 400), 96  # of the text and the table; where that is too much, the panel scrolls
NARROW = 560  # below it there is no room for the ranks


@dataclass(frozen=True, slots=True)
class _Asked:
    """What was compared: `names` of both models, the answer and its tokens, if it was one."""

    question: Compare
    names: tuple[str, str]
    source: AnswerSource | None
    tokens: ChatTokens


class ComparisonPanel(AnswerPanel):
    NAME = "comparison"
    TITLE = mark("Two models")
    SIZE, MIN_SIZE = QSize(600, 380), QSize(240, 180)

    CHOOSE = mark("Open a chat with an answer, or choose “Pasted text”.")
    NO_MODEL = mark("No model is loaded. Choose one above the chat to compare it with another.")
    RECORDED = mark("This is a recording. Go back to the running engine to compare two models.")

    compare_requested = Signal(object)  # Compare
    stopped = Signal()
    # AnswerSource, the new answer's text so far, its tokens, the address of the model that goes on
    fork_at_requested = Signal(object, str, object, str)

    def __init__(self, recording: Recording, parent: QWidget | None = None) -> None:
        super().__init__(recording, parent)
        self._models: Sequence[tuple[str, str, str]] = ()
        self._files: list[tuple[str, str]] = []  # chosen in dialogs
        self._picked = ""  # by the user, as second model
        self._asked: _Asked | None = None
        self._found: Comparison | None = None
        self._progress: float | None = None  # None: nothing runs
        self._refusal = ""
        self.other = SelectButton(tr("Second model"), self)
        self.text = SelectButton(tr("Text"), self)
        self.text.set_choices([(ANSWER, tr("This answer")), (PASTED, tr("Pasted text"))])
        self.reverse = ChipButton(
            tr("Second is the base"),
            tr("Measure how far the loaded model is from the second one, such as the original"),
            self,
            is_checkable=True,
        )
        self.start = QPushButton(self)
        self.pasted = QPlainTextEdit(self)
        self.view = ComparedText(self)
        self.rows = ComparedTokens(self)
        self.table = RowTable(tr("Compared tokens"), self.rows, self)
        self.chart = DivergenceChart(self)
        self.legend = QLabel(self)
        self.note = PlainLabel(parent=self, tone="muted", wraps=True)
        self.next = ChipButton(
            tr("Next difference"), tr("Go to the next token where the two would choose differently"), self
        )
        forks = tr("Fork with the base"), tr("Fork with the other")
        self.forks = [QPushButton(text, self) for text in forks]
        self._scroll, self._page = QScrollArea(self), QWidget(self)
        self._scroll.setWidget(self._page)
        self._middle = _Middle(Qt.Orientation.Horizontal, self)
        self._choices, self._foot = QWidget(self), QWidget(self)
        self._lay_out()
        self._connect()
        self.reset()

    # Calls of the window.

    def show_answer(self, source: AnswerSource) -> None:
        if not self._has_engine:
            return
        shown = self._asked.source if self._asked else None
        # After a fork, which answers the same messages, what was found is still wanted.
        if shown and self._progress is None and _answered(shown) != _answered(source):
            self._show_found(None)
        self.finder.show(source)
        self._show()

    def offer(self, models: Sequence[tuple[str, str, str]]) -> None:
        """The chat models that there are, each with its path, title and family.

        The second one is of the same family, unless the user chooses another.
        """
        self._models, base = models, self.recording.model
        family, loaded = (base.architecture, str(base.path)) if base else ("", "")
        found = sorted(models, key=lambda model: model[2] != family)
        titles = dict(self._files) | {path: title for path, title, _ in found}
        titles.pop(loaded, None)
        self.other.set_choices([*titles.items(), (FILE, tr("Choose a file…"))])
        likely = next((path for path, _, kin in found if path in titles and kin == family), FILE)
        self.other.choose(self._picked if self._picked in titles else likely)

    @Slot(float)
    def note_progress(self, progress: float) -> None:
        if self._progress is not None:
            self._progress = progress
            self._show()

    @Slot(object)
    def take(self, found: Comparison) -> None:
        self._progress = None
        self._show_found(found)
        self.table.selectRow(next(iter(found.partings), 0))

    @Slot(object)
    def refuse(self, reason: str) -> None:
        self._progress, self._refusal = None, reason
        self._show()

    def draw(self) -> None:
        super().draw()
        self._show()

    def reset(self) -> None:
        """What was found stays: it is of two files, not of the engine."""
        super().reset()
        self.offer(self._models)
        if self.isVisible():
            self.shown.emit()  # the engine comes later than the chat
        self._show()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        for column in RANKS:
            self.table.setColumnHidden(column, self.width() < NARROW)

    # Building.

    def _lay_out(self) -> None:
        for part in (self.start, self.legend, self.note, self.pasted, self.figures, *self.forks):
            part.setFont(tabular(small_font()))
        self.pasted.setPlaceholderText(tr("Paste a text here"))
        self.pasted.setAccessibleName(tr("Pasted text"))
        self.pasted.setTabChangesFocus(True)
        self.pasted.setFrameShape(QFrame.Shape.NoFrame)
        self._middle.addWidget(self.view)
        self._middle.addWidget(self.table)
        self._middle.setSizes(WIDTHS)
        self._middle.setChildrenCollapsible(False)
        self._middle.setMinimumHeight(MIDDLE_HEIGHT)
        self.figures.setWordWrap(True)
        self.legend.setMinimumHeight(self.next.sizeHint().height())  # it stands in the middle of its row
        top = hbox(self.head, STRETCH, margins=(12, 6, 12, 2))
        FlowLayout(self._choices, 6, self.text, self.other, self.reverse, self.start)
        FlowLayout(self._foot, 8, self.next, *self.forks, self.legend)
        inset = (self._choices, self.pasted, self.figures, self.chart, self.note, self._foot)
        *head, chart, note, foot = (hbox(part, margins=(12, 0, 12, 4)) for part in inset)
        page = self._empty_page()
        vbox(*head, (self._middle, 1), chart, page, note, foot, on=self._page, spacing=0)
        self._page.setMinimumWidth(1)  # what is wider is cut, not out of reach
        self._scroll.setWidgetResizable(True)
        self._scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        for ground in (self._page, self._scroll.viewport()):
            ground.setAutoFillBackground(False)
        vbox(top, self._scroll, on=self, spacing=0)
        self.setFocusProxy(self.other)

    def _connect(self) -> None:
        for changed in (self.finder.answer_found, self.finder.answer_grown):
            changed.connect(self._show)
        for changed in (self.text.changed, self.other.changed, self.pasted.textChanged):
            changed.connect(self._on_choice_changed)
        self.other.picked.connect(self._on_picked)
        self.start.clicked.connect(self._on_start)
        self.next.clicked.connect(self._on_next)
        for clicked in (self.view.token_clicked, self.chart.token_clicked):
            clicked.connect(self.table.selectRow)
        self.table.selectionModel().currentRowChanged.connect(self._on_row_chosen)
        for number, fork in enumerate(self.forks):
            fork.clicked.connect(lambda _checked=False, number=number: self._fork(number))

    # What is asked.

    @Slot()
    def _on_choice_changed(self) -> None:
        self._refusal = ""  # which was about another question
        self._show()

    @Slot()
    def _on_picked(self) -> None:
        if self.other.value != FILE:
            self._picked = str(self.other.value)
        else:
            self.offer(self._models)  # until one is chosen
            choose_file(self, tr("Second model"), self._on_file_chosen, tr("Models (*.gguf)"))

    def _on_file_chosen(self, path: Path) -> None:
        self._files.append((str(path), path.stem))
        self._picked = str(path)
        self.offer(self._models)

    @Slot()
    def _on_start(self) -> None:
        if self._progress is not None:
            self._progress = None
            self.stopped.emit()
            self._show()
            return
        self._asked = asked = self._new_question()
        self._progress = 0.0
        self._show_found(None)
        self.compare_requested.emit(asked.question)

    def _new_question(self) -> _Asked:
        model, tokens = self.recording.model, self.finder.tokens
        assert model
        pair = [(model.path, model.title), (Path(str(self.other.value)), self.other.label)]
        (base, base_name), (other, other_name) = reversed(pair) if self.reverse.isChecked() else pair
        loads, names = (LoadParams(base), LoadParams(other)), (base_name, other_name)
        if self.text.value == PASTED:
            question = Compare(*loads, text=self.pasted.toPlainText())
            return _Asked(question, names, None, tokens)
        question = Compare(*loads, token_ids=tokens.token_ids, first=tokens.num_prompt_tokens)
        return _Asked(question, names, self.finder.source, tokens)

    @property
    def _can_start(self) -> bool:
        if not self.other.value or not self._has_engine or not self.recording.model:
            return False
        return bool(self.pasted.toPlainText() if self.text.value == PASTED else self.finder.tokens.pieces)

    # A place.

    @property
    def _row(self) -> int | None:
        index = self.table.currentIndex()
        return index.row() if index.isValid() else None

    @Slot(QModelIndex)
    def _on_row_chosen(self, index: QModelIndex) -> None:
        if self._found and index.isValid():
            self.view.show_comparison(self._found, index.row())
            self.view.reveal((index.row(), index.row() + 1))
            self.chart.show_comparison(self._found, index.row())
        self._show()

    @Slot()
    def _on_next(self) -> None:
        if self._found and (rows := self._found.partings):
            self.table.selectRow(next((row for row in rows if row > (self._row or 0)), rows[0]))

    def _fork(self, number: int) -> None:
        """From before the chosen token on, the model goes on by itself, first with its own choice."""
        asked, found, row = self._asked, self._found, self._row
        if asked and asked.source and found and row is not None:
            begin, place = asked.tokens.num_prompt_tokens, row - found.num_given
            token_ids, pieces = asked.tokens.token_ids[begin : begin + row], asked.tokens.pieces[:row]
            if place >= 0 and (chosen := int(found.greedy_ids[number][place])) not in found.control_ids:
                token_ids, pieces = (*token_ids, chosen), (*pieces, found.greedy_pieces[number][place])
            path = (asked.question.base, asked.question.other)[number].path
            self.fork_at_requested.emit(asked.source, text_of(pieces), token_ids, str(path))

    # Showing.

    def _show_found(self, found: Comparison | None) -> None:
        self._found, self._refusal = found, ""
        self.rows.show(found)
        self.view.show_read(ReadText(found.pieces if found else ()))
        self.chart.show_comparison(found, None)
        self.figures.setText(_figures(found, *self._asked.names) if found and self._asked else "")
        self._show()

    def _show(self) -> None:
        super()._show()
        is_pasted, is_live = self.text.value == PASTED, self.recording.is_live
        is_at_work = self._progress is not None
        has_engine = is_at_work or (is_live and self._has_engine and self.recording.model is not None)
        has_found = is_live and self._found is not None
        is_empty = not has_found and not (has_engine and (is_pasted or self._has_tokens))
        for part in (self._middle, self.chart, self.legend, self._foot, self.figures):
            part.setVisible(has_found)
        self.message.setVisible(is_empty)
        self.again.setVisible(is_empty and self.finder.can_read)
        self._choices.setVisible(has_engine)
        self.pasted.setVisible(has_engine and is_pasted)
        self.pasted.setFixedHeight(FOUND_HEIGHT if has_found else PASTE_HEIGHT)
        self.start.setText(tr("Stop") if is_at_work else tr("Compare"))
        self.start.setEnabled(self._can_start or is_at_work)
        self.legend.setText(kl_legend())
        self.note.setVisible(has_engine or has_found)
        self.note.setText(self._note())
        asked = self._asked if has_found or is_at_work else None
        if asked or is_pasted:
            self.head.setText(asked.source.title if asked and asked.source else tr("Pasted text"))
            self.head.show()
        for fork, name in zip(self.forks, asked.names if asked else ("", ""), strict=True):
            fork.setVisible(asked is not None and asked.source is not None)
            is_open = bool(asked and asked.source and asked.source.turn and asked.source.chat_id in self.tabs)
            fork.setEnabled(self._row is not None and is_open)
            fork.setToolTip(as_tooltip(tr("{model} goes on from before this token", model=name)))

    def _note(self) -> str:
        if self._progress is not None:
            share = percent(self._progress, 1.0) if self._progress else ""
            return tr("Comparing… {share}", share=share) if share else tr("Loading the models…")
        if self._refusal or not self._found:
            return tr_said(self._refusal) or tr(HINT)
        place = (self._row or 0) - self._found.num_given
        if place < 0:
            return tr("Nothing stands before this token, so there is nothing to compare.")
        base, other = (shown(pieces[place]) for pieces in self._found.greedy_pieces)
        if base == other:
            return tr("Both would choose “{token}”.", token=base)
        return tr("The base would choose “{base}”, the other “{other}”.", base=base, other=other)


class _Middle(QSplitter):
    """No higher than it must be, where there is no room."""

    def sizeHint(self) -> QSize:
        return self.minimumSizeHint()


def _answered(source: AnswerSource) -> object:
    return source.reading.messages if source.reading else source.turn


def _figures(found: Comparison, base_name: str, other_name: str) -> str:
    base, other = found.perplexities
    told = tr(
        "{names}: mean KL {mean}, 99% up to {most} · perplexity {base} → {other} · same choice at {same}",
        names=one_line(f"{base_name} → {other_name}"),
        mean=decimal(found.mean_kl, 4),
        most=decimal(found.kl_quantile(0.99), 2),
        base=decimal(base, 3),
        other=decimal(other, 3),
        same=percent(found.same_share, 1.0),
    )
    if not found.partings:
        return told
    return tr("{figures} · they part at token {number}", figures=told, number=count(found.partings[0] + 1))
