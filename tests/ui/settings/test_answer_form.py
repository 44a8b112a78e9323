import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from PySide6.QtWidgets import QRadioButton, QWidget
from pytestqt.qtbot import QtBot

from app.bridge.drafts import Drafts
from app.bridge.tasks import finish_all
from app.services.form_check import Form, Verdict
from app.ui.settings.answer_form import AnswerForm


class ScriptedCheck:
    def __init__(self) -> None:
        self.verdicts: dict[str, Verdict] = {}
        self.asked: list[tuple[Form, str]] = []

    async def verdict(self, form: Form, text: str) -> Verdict:
        self.asked.append((form, text))
        return self.verdicts.get(text, Verdict())


@pytest.fixture
def check() -> ScriptedCheck:
    return ScriptedCheck()


@pytest.fixture
def told() -> list[dict[str, Any]]:
    return []


@pytest.fixture
def form(qtbot: QtBot, check: ScriptedCheck, told: list[dict[str, Any]]) -> Iterator[AnswerForm]:
    window = QWidget()
    qtbot.addWidget(window)
    form = AnswerForm(check, window)  # type: ignore[arg-type]
    form.chosen.connect(told.append)
    window.show()
    yield form


def choose(form: AnswerForm, label: str) -> None:
    next(button for button in form.findChildren(QRadioButton) if button.text() == label).click()


async def test_a_schema_counts_as_it_is_typed(
    qloop: asyncio.AbstractEventLoop, form: AnswerForm, told: list[dict[str, Any]]
) -> None:
    assert not form.text.isVisible()
    choose(form, "JSON schema")
    assert form.text.isVisible()
    form.text.setPlainText('{"type": "object"')
    assert form.verdict.text() == "Not used: not valid JSON at line 1, column 18."
    assert told[-1] == {}
    form.text.setPlainText("[1]")
    assert form.verdict.text() == "Not used: not a JSON object."
    form.text.setPlainText('{"type": "object"}')
    assert told[-1] == {"json_schema": '{"type": "object"}'}
    await finish_all()
    assert form.verdict.text() == "✓ Valid."


async def test_what_is_wrong_with_a_grammar_is_told_after_a_look_at_it(
    qloop: asyncio.AbstractEventLoop, form: AnswerForm, check: ScriptedCheck, told: list[dict[str, Any]]
) -> None:
    check.verdicts["root ::= ("] = Verdict(problem="A ) is missing.")
    check.verdicts["root ::= b"] = Verdict(warning="Dates are not checked.")
    choose(form, "Grammar (GBNF)")
    form.text.setPlainText("root ::= (")
    assert told[-1] == {"grammar": "root ::= ("}
    await finish_all()
    assert form.verdict.text() == "A ) is missing."
    form.text.setPlainText("root ::= a")
    form.text.setPlainText("root ::= b")
    await finish_all()
    assert form.verdict.text() == "Dates are not checked."
    assert (Form.GRAMMAR, "root ::= a") not in check.asked, "only what is there after a pause is looked at"


async def test_only_one_form_counts(
    qloop: asyncio.AbstractEventLoop, form: AnswerForm, told: list[dict[str, Any]]
) -> None:
    form.apply({"grammar": "root ::= x"})
    assert form.text.toPlainText() == "root ::= x"
    choose(form, "JSON schema")
    assert told[-1] == {}
    form.apply({})
    assert form.text.isVisible(), "what was chosen last stays, with nothing typed yet"
    choose(form, "Grammar (GBNF)")
    assert told[-1] == {"grammar": "root ::= x"}, "what was typed is still there"
    choose(form, "Free")
    assert told[-1] == {}
    assert not form.text.isVisible()
    await finish_all()


async def test_an_example_to_begin_with(
    qloop: asyncio.AbstractEventLoop, form: AnswerForm, told: list[dict[str, Any]]
) -> None:
    for label in ("JSON schema", "Grammar (GBNF)"):
        choose(form, label)
        form.example.click()
        assert list(told[-1].values()) == [form.text.toPlainText()]
        assert not form.example.isVisible()
    await finish_all()


async def test_another_chat_begins_anew(qloop: asyncio.AbstractEventLoop, form: AnswerForm) -> None:
    choose(form, "JSON schema")
    form.text.setPlainText("{")
    form.forget()
    form.apply({"json_schema": "{}"})
    assert form.text.toPlainText() == "{}"
    form.forget()
    form.apply({})
    assert not form.text.isVisible()
    await finish_all()


async def test_what_cannot_be_used_yet_is_there_when_the_chat_is_opened_again(qloop, form) -> None:
    drafts = Drafts()
    form.begin(drafts, "chat")
    choose(form, "JSON schema")
    form.text.setPlainText('{"type": ')
    form.begin(drafts, "other chat")
    choose(form, "JSON schema")
    assert form.text.toPlainText() == ""
    form.begin(drafts, "chat")
    choose(form, "JSON schema")
    assert form.text.toPlainText() == '{"type": '
    await finish_all()
