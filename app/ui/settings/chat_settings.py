"""The panel of a chat's own settings, above its button in the composer. GUI thread."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QHideEvent, QTextCursor
from PySide6.QtWidgets import QAbstractSpinBox, QToolButton, QVBoxLayout, QWidget

from app.bridge.parameters import ParameterSource
from app.bridge.token_counter import TokenCount
from app.chats.options import BadSamplingError, ChatOptions, from_json, to_json
from app.look.buttons import dialog_button
from app.look.figures import count
from app.look.fonts import small_font
from app.look.icons import icon
from app.look.layouts import STRETCH, Part, hbox, vbox
from app.look.plain_text import PlainLabel, heading
from app.look.words import mark, sentences, tr, tr_said
from app.protocol.request import Overflow
from app.services.form_check import Form, FormCheck
from app.services.presets import Presets
from app.ui.base.attachment_words import tokens_text
from app.ui.base.choice_list import ChoiceList
from app.ui.base.long_text_box import LongTextBox
from app.ui.base.notices import UndoToast
from app.ui.base.option_row import OptionRow
from app.ui.base.page_panel import PagePanel, scrolled
from app.ui.base.setting import OVERFLOWS, Field, Setting
from app.ui.base.setting_controls import WholeNumber, control_for
from app.ui.base.setting_list import words_of
from app.ui.settings.answer_form import AnswerForm
from app.ui.settings.preset_bar import PresetBar
from app.ui.settings.sampling_words import (
    COMMON,
    MORE,
    clash,
    field_of,
    is_written,
    origin,
    otherwise,
    read,
    shown,
    without_effect,
    written,
)
from app.ui.settings.tool_choice import chosen_text

WIDTH = 460
MAX_HEIGHT = 640
MARGIN = 16
MAX_TOKENS = 2**24
PROMPT = Setting(
    "system_prompt",
    mark("System prompt"),
    mark("Instructions for the model, before the first message."),
    word=mark("Instructions for the model, before the first message."),
    is_long=True,
)
MAX_CONTEXT = Setting(
    "max_context_tokens",
    mark("Context limit of this chat"),
    mark("Tokens for its messages and the next answer."),
    word=mark("Default"),
    step=256,
)
FORM_NAMES = {str(Form.JSON_SCHEMA), str(Form.GRAMMAR)}
MAX_ANSWER = words_of("max_tokens", word=mark("Default"))


@dataclass(frozen=True, slots=True)
class Inherited:
    """The values that apply where the chat has none of its own."""

    sampling: Mapping[str, tuple[Any, ParameterSource]] = field(default_factory=dict)
    model: str = ""  # the model that recommends them
    max_tokens: int | None = None
    limit: int = 0  # tokens this chat can have; 0: no model


class ChatSettings(PagePanel):
    """Choices apply from the next message on."""

    changed = Signal(object)  # ChatOptions
    tools_requested = Signal()

    def __init__(self, check: FormCheck, presets: Presets, undo: UndoToast, parent: QWidget) -> None:
        super().__init__(tr("Chat settings"), (WIDTH, MAX_HEIGHT), parent)
        self._options = ChatOptions()
        self._inherited = Inherited()
        self._badly_written: set[str] = set()  # sampling options whose text stays to be corrected
        self.presets = PresetBar(presets, undo, self)
        self.presets.chosen.connect(self.changed)
        self.prompt = LongTextBox(PROMPT, self)
        self.prompt.setAccessibleName(tr(PROMPT.label))
        self.prompt.value_chosen.connect(lambda text: self._take(system_prompt=text))
        self.prompt_tokens = PlainLabel(parent=self, tone="muted")
        self.tools = PlainLabel(parent=self, tone="muted")
        self.choose_tools = dialog_button(tr("Choose tools…"), self.tools_requested.emit, self)
        self.form = AnswerForm(check, self)
        self.form.chosen.connect(self._on_form_chosen)
        self.overflow = ChoiceList(tr("When this chat is full"), OVERFLOWS, is_narrow=True, parent=self)
        self.overflow.chosen.connect(lambda value: self._take(overflow=Overflow(value)))
        self.max_context = self._number(MAX_CONTEXT)
        self.max_context.value_chosen.connect(lambda value: self._take(max_context_tokens=value))
        self.max_answer = self._number(MAX_ANSWER)
        self.max_answer.value_chosen.connect(lambda value: self._take(max_tokens=value or None))
        self.limit = PlainLabel(parent=self, tone="muted")
        self._answer_limit = PlainLabel(parent=self, tone="muted")
        self.rows = {setting.name: self._row(setting) for setting in COMMON}
        self.more = QToolButton(self)
        self._more_part: QWidget | None = None
        self._lay_out()
        self.hide()

    def apply(self, options: ChatOptions, inherited: Inherited) -> None:
        self._options, self._inherited = options, inherited
        self.prompt.show_value(options.system_prompt)
        self.overflow.choose(options.overflow)
        self.max_context.show_value(options.max_context_tokens)
        self.max_answer.show_value(options.max_tokens or 0)
        self.limit.setText(sentences(tr(MAX_CONTEXT.sentence), now_text(inherited.limit)))
        most = options.max_tokens or inherited.max_tokens or 0
        self._answer_limit.setText(sentences(tr(MAX_ANSWER.sentence), now_text(most)))
        self._show_rows()
        self.form.apply(options.sampling)
        self.tools.setText(chosen_text(options.tools))
        if has_more(options) and not self.more.isChecked():
            self.more.setChecked(True)

    def show_prompt_tokens(self, counted: TokenCount | None) -> None:
        self.prompt_tokens.setText(tokens_text(counted))

    def open_above(self, widget: QWidget) -> None:
        super().open_above(widget)
        self._scroll.verticalScrollBar().setValue(0)
        self.prompt.moveCursor(QTextCursor.MoveOperation.End)
        self.prompt.setFocus()

    def hideEvent(self, event: QHideEvent) -> None:
        """Commits what was typed last."""
        for box in self.findChildren(QAbstractSpinBox):
            box.interpretText()
        self._badly_written.clear()
        self.form.forget()
        super().hideEvent(event)

    # Changes

    def _take(self, **values: Any) -> None:
        self._options = replace(self._options, **values)
        self.changed.emit(self._options)

    def _on_chosen(self, name: str, value: Any) -> None:
        meant, problem = _read(name, value)
        (self._badly_written.add if problem else self._badly_written.discard)(name)
        if problem:
            self.rows[name].show_problem(problem)
        else:
            self._sample(name, {**self._options.sampling, name: meant})

    def _on_reset(self, name: str) -> None:
        self._badly_written.discard(name)
        self._sample(name, {key: value for key, value in self._options.sampling.items() if key != name})

    def _sample(self, changed: str, sampling: dict[str, Any]) -> None:
        if problem := clash(changed, self._in_force(sampling)):
            self.rows[changed].show_problem(problem)
        else:
            self._take(sampling=sampling)

    def _on_form_chosen(self, chosen: dict[str, str]) -> None:
        free = {name: value for name, value in self._options.sampling.items() if name not in FORM_NAMES}
        if {**free, **chosen} != dict(self._options.sampling):
            self._take(sampling={**free, **chosen})

    def _in_force(self, own: Mapping[str, Any]) -> dict[str, Any]:
        return {name: value for name, (value, _source) in self._inherited.sampling.items()} | dict(own)

    def _show_rows(self) -> None:
        own = self._options.sampling
        values = self._in_force(own)
        for name, row in self.rows.items():
            if name in self._inherited.sampling and name not in self._badly_written:
                (inherited, source), model = self._inherited.sampling[name], self._inherited.model
                is_own = name in own
                told = otherwise(shown(name, inherited), source, model) if is_own else origin(source, model)
                note = sentences(tr(row.setting.sentence), told, without_effect(name, values))
                value = written(name, values[name]) if is_written(name) else values[name]
                row.apply(value, note, is_own=is_own)
                row.show_problem("")

    def _row(self, setting: Setting) -> OptionRow:
        row = OptionRow(setting, field_of(setting.name), self, is_compact=True)
        row.chosen.connect(self._on_chosen)
        row.reset_requested.connect(self._on_reset)
        return row

    def _number(self, setting: Setting) -> WholeNumber:
        number = control_for(setting, Field(int, 0, low=0, high=MAX_TOKENS), self)
        assert isinstance(number, WholeNumber)
        return number

    def _on_more_toggled(self, is_on: bool) -> None:
        """Created on first use."""
        if self._more_part is None and is_on:
            self._more_part = self._make_more()
            self._column.insertWidget(self._column.indexOf(self.more) + 1, self._more_part)
            self._show_rows()
        if self._more_part:
            self._more_part.setVisible(is_on)

    def _make_more(self) -> QWidget:
        part = QWidget(self)
        column = vbox(on=part, spacing=12)
        for group in MORE:
            column.addWidget(heading(tr(group.title), part))
            for setting in group.settings:
                self.rows[setting.name] = self._row(setting)
                column.addWidget(self.rows[setting.name])
            column.addSpacing(8)
        return part

    def _lay_out(self) -> None:
        inner = QWidget(self)
        head, rows = heading(tr("Sampling"), self), [self.rows[setting.name] for setting in COMMON]
        parts: tuple[Part, ...] = (
            self._prompt_part(),
            self._tools_part(),
            self.form,
            self._context_part(),
            head,
            *rows,
            self.more,
            STRETCH,
        )
        self._column = vbox(*parts, on=inner, margins=(MARGIN, 4, MARGIN, MARGIN), spacing=12)
        self.more.setText(tr("More"))
        self.more.setCheckable(True)
        self.more.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.more.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.more.setIcon(icon("chevron-right", on="chevron-down"))
        self.more.toggled.connect(self._on_more_toggled)
        self._scroll = scrolled(inner, self)
        vbox(self._head(), (self._scroll, 1), on=self, margins=(1, 12, 1, 1))

    def _head(self) -> QVBoxLayout:
        note = PlainLabel(tr("Changes apply from the next message on."), self, tone="muted", wraps=True)
        note.setFont(small_font())
        words = vbox(heading(tr("Chat settings"), self), note, spacing=2)
        row = hbox((words, 1), self.presets.button, spacing=None)
        return vbox(row, self.presets.entry, margins=(MARGIN, 0, MARGIN, 0), spacing=6)

    def _prompt_part(self) -> QVBoxLayout:
        row = hbox(heading(tr(PROMPT.label), self), STRETCH, self.prompt_tokens, spacing=None)
        return vbox(row, self.prompt, spacing=6)

    def _tools_part(self) -> QVBoxLayout:
        return vbox(heading(tr("Tools"), self), hbox((self.tools, 1), self.choose_tools), spacing=6)

    def _context_part(self) -> QVBoxLayout:
        context = self._number_line(self.max_context, self.limit)
        answer = self._number_line(self.max_answer, self._answer_limit)
        return vbox(heading(self.overflow.accessibleName(), self), self.overflow, context, answer, spacing=6)

    def _number_line(self, number: WholeNumber, note: PlainLabel) -> QVBoxLayout:
        label = PlainLabel(number.accessibleName(), self)
        label.setBuddy(number)
        note.setFont(small_font())
        note.setWordWrap(True)
        return vbox(hbox((label, 1), number), note, spacing=2)


def _read(name: str, value: Any) -> tuple[Any, str]:
    """The value as SamplingParams takes it, or why it does not."""
    meant, problem = read(name, value) if isinstance(value, str) else (value, "")
    if not problem:
        try:
            meant = from_json(to_json({name: meant}))[name]
        except BadSamplingError as error:
            problem = tr("Not used: {reason}", reason=tr_said(error.reason))
    return meant, problem


def now_text(num_tokens: int) -> str:
    return tr("Now {count} tokens.", count=count(num_tokens)) if num_tokens else ""


def has_more(options: ChatOptions) -> bool:
    """Whether a setting under More is set."""
    return bool(options.sampling.keys() - {setting.name for setting in COMMON} - FORM_NAMES)
