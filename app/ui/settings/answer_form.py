"""What a chat's answers have to be: free, JSON that matches a schema, or what a grammar describes.

What is wrong with a schema or a grammar is told while it is typed. GUI thread.
"""

import asyncio
import json
from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget
from shiboken6 import isValid

from app.bridge.drafts import Drafts
from app.bridge.tasks import spawn
from app.look.buttons import quiet_button
from app.look.fonts import code_font, small_font
from app.look.layouts import STRETCH, hbox, vbox
from app.look.plain_text import PlainLabel, heading
from app.look.words import mark, sentences, tr, tr_said
from app.services.form_check import Form, FormCheck, Verdict
from app.ui.base.choice_list import ChoiceList
from app.ui.base.long_text_box import LongTextBox
from app.ui.base.setting import Choice, Setting
from app.ui.settings.sampling_words import refuse

TEXT_HEIGHT = 140
CHECK_AFTER_S = 0.25  # of quiet

FORMS = (
    Choice(Form.FREE, mark("Free"), ""),
    Choice(Form.JSON_SCHEMA, mark("JSON schema"), ""),
    Choice(Form.GRAMMAR, mark("Grammar (GBNF)"), ""),
)
_WORDS = {
    Form.JSON_SCHEMA: mark("Answers are JSON that matches this schema."),
    Form.GRAMMAR: mark("Answers match the rule “root” of this grammar."),
}
_TEXT = Setting("form", mark("Schema or grammar"), "", is_long=True)
_EXAMPLES = {
    Form.JSON_SCHEMA: """{
  "type": "object",
  "properties": {
    "title": {"type": "string"},
    "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 5}
  },
  "required": ["title", "tags"]
}""",
    Form.GRAMMAR: """root ::= answer ", because " reason
answer ::= "Yes" | "No"
reason ::= [^.]+ "."
""",
}


class AnswerForm(QWidget):
    """A text that cannot be read as what it should be stays here, and is not used."""

    chosen = Signal(object)  # the sampling values it stands for, by name: one at most

    def __init__(self, check: FormCheck, parent: QWidget) -> None:
        super().__init__(parent)
        self._check = check
        self._form = Form.FREE
        self._texts: dict[Form, str] = {}  # as typed last
        self._drafts, self._chat_id = Drafts(), ""
        self._checking: asyncio.Task[None] | None = None
        self.choice = ChoiceList(tr("Form of answers"), FORMS, is_narrow=True, parent=self)
        self.choice.chosen.connect(self._on_form_chosen)
        self.text = LongTextBox(_TEXT, self)
        self.text.setFixedHeight(TEXT_HEIGHT)
        self.text.setFont(code_font(-1))
        self.text.value_chosen.connect(self._on_typed)
        self.example = quiet_button(tr("Insert an example"), self, "bar")
        self.example.clicked.connect(self._insert_example)
        self._words = PlainLabel(parent=self, tone="muted", wraps=True)
        self.verdict = PlainLabel(parent=self, wraps=True)
        for label in (self._words, self.verdict):
            label.setFont(small_font())
        head = heading(tr("Form of answers"), self)
        note = hbox((self._words, 1), self.example)
        vbox(hbox(head, STRETCH), self.choice, self.text, note, self.verdict, on=self, spacing=6)
        self._show(Form.FREE)

    def apply(self, sampling: Mapping[str, Any]) -> None:
        """What the chat has of its own."""
        form = next((form for form in _EXAMPLES if sampling.get(form)), None)
        if form is None:
            if _is_used(self._form, self._texts.get(self._form, "")):
                self.forget()
        elif form is not self._form or sampling[form] != self._texts.get(form):
            self._texts[form] = str(sampling[form])
            self._show(form)

    def begin(self, drafts: Drafts, chat_id: str) -> None:
        """With what was typed for this chat before, also if it cannot be used."""
        self._drafts, self._chat_id = drafts, chat_id
        self.forget()
        self._texts = {form: drafts.text((chat_id, form)) for form in _EXAMPLES}

    def forget(self) -> None:
        """Another chat, or the same one when it is opened again."""
        self._texts.clear()
        self._show(Form.FREE)

    def _show(self, form: Form) -> None:
        self._form = form
        self.choice.choose(form)
        self._words.say(tr(_WORDS[form]) if form in _WORDS else "")
        self.text.setVisible(form is not Form.FREE)
        self.text.show_value(self._texts.get(form, ""))
        if form is not Form.FREE:
            self.text.setAccessibleName(tr(next(each.label for each in FORMS if each.value == form)))
        self._judge()

    def _judge(self) -> None:
        """It may take a second, so it counts at once and what is wrong is told later."""
        text = self._texts.get(self._form, "")
        self.example.setVisible(self._form is not Form.FREE and not text.strip())
        problem = _unreadable(self._form, text)
        self._say(Verdict(problem=problem))
        if text.strip() and not problem and (self._checking is None or self._checking.done()):
            self._checking = spawn(self._look())

    async def _look(self) -> None:
        looked_at: tuple[Form, str] | None = None
        while isValid(self) and (seen := (self._form, self._texts.get(self._form, ""))) != looked_at:
            looked_at = seen
            await asyncio.sleep(CHECK_AFTER_S)
            if not isValid(self) or seen != (self._form, self._texts.get(self._form, "")):
                continue
            if not _is_used(*seen):
                continue
            found = await self._check.verdict(*seen)
            if isValid(self) and seen == (self._form, self._texts.get(self._form, "")):
                self._say(found, is_checked=True)

    def _say(self, found: Verdict, is_checked: bool = False) -> None:
        text = sentences(tr_said(found.problem), tr_said(found.warning))
        tone = "danger" if found.problem else "warning" if found.warning else "muted"
        if is_checked and not text:
            text = tr("✓ Valid.")
        self.verdict.set_tone(tone)
        self.verdict.say(text)

    def _on_form_chosen(self, value: str) -> None:
        self._show(Form(value))
        if self._form is not Form.FREE:
            self.text.setFocus()
        self._tell()

    def _on_typed(self, text: str) -> None:
        self._texts[self._form] = text
        self._drafts.put((self._chat_id, self._form), text)
        self._judge()
        self._tell()

    def _insert_example(self) -> None:
        self.text.setPlainText(_EXAMPLES[self._form])
        self.text.setFocus()

    def _tell(self) -> None:
        text = self._texts.get(self._form, "")
        self.chosen.emit({str(self._form): text} if _is_used(self._form, text) else {})


def _is_used(form: Form, text: str) -> bool:
    return form is not Form.FREE and bool(text.strip()) and not _unreadable(form, text)


def _unreadable(form: Form, text: str) -> str:
    """Why it is no JSON object, where it has to be one."""
    if form is not Form.JSON_SCHEMA or not text.strip():
        return ""
    try:
        value = json.loads(text, parse_constant=refuse)
    except json.JSONDecodeError as error:
        return tr(
            "Not used: not valid JSON at line {line}, column {column}.", line=error.lineno, column=error.colno
        )
    except (ValueError, RecursionError):
        return tr("Not used: not valid JSON.")
    return "" if isinstance(value, dict) else tr("Not used: not a JSON object.")
