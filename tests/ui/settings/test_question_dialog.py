from collections.abc import Iterator
from typing import Any

import pytest
from PySide6.QtWidgets import QCheckBox, QLineEdit, QPlainTextEdit, QWidget
from pytestqt.qtbot import QtBot

from app.bridge.drafts import Drafts
from app.look.popups import FlatCombo
from app.ui.settings.question_dialog import QuestionDialog, SchemaForm

TRIP = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "title": "City", "description": "Where to", "minLength": 2},
        "days": {"type": "integer", "minimum": 1, "maximum": 30},
        "budget": {"type": "number"},
        "breakfast": {"type": "boolean", "default": True},
        "class": {"type": "string", "enum": ["a", "b"], "enumNames": ["First", "Second"]},
        "seat": {"oneOf": [{"const": "w", "title": "Window"}, {"const": "i", "title": "Aisle"}]},
        "notes": {"type": "string", "maxLength": 2000},
    },
    "required": ["city", "days", "class"],
}


@pytest.fixture
def window(qtbot: QtBot) -> Iterator[QWidget]:
    window = QWidget()
    qtbot.addWidget(window)
    window.show()
    yield window


def line(form: SchemaForm, name: str) -> QLineEdit:
    control = form.fields[name].control
    assert isinstance(control, QLineEdit)
    return control


def test_each_property_has_its_control(window: QWidget) -> None:
    form = SchemaForm(TRIP, window)
    kinds = {name: type(field.control).__mro__[1] for name, field in form.fields.items()}
    assert isinstance(form.fields["breakfast"].control, QCheckBox)
    assert isinstance(form.fields["class"].control, FlatCombo)
    assert isinstance(form.fields["notes"].control, QPlainTextEdit)
    assert form.fields["city"].label.text() == "City *"
    assert form.fields["budget"].label.text() == "budget"
    assert len(kinds) == 7


def test_what_is_filled_in_is_what_is_sent(window: QWidget) -> None:
    form = SchemaForm(TRIP, window)
    line(form, "city").setText("Rome")
    line(form, "days").setText("3")
    line(form, "budget").setText("99,5")
    assert form.is_complete
    assert form.values == {"city": "Rome", "days": 3, "budget": 99.5, "breakfast": True, "class": "a"}


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("city", "", "Fill this in."),
        ("city", "R", "At least 2 characters."),
        ("days", "two", "Not a whole number."),
        ("days", "0", "Not below 1."),
        ("days", "31", "Not above 30."),
        ("budget", "much", "Not a number."),
    ],
)
def test_what_is_wrong_is_said_beside_it(window: QWidget, name: str, text: str, sentence: str) -> None:
    form = SchemaForm(TRIP, window)
    line(form, "city").setText("Rome")
    line(form, "days").setText("3")
    line(form, name).setText(text)
    assert not form.is_complete
    form.show_problems()
    assert form.fields[name].error.text() == sentence
    assert form.fields[name].control.hasFocus() or not window.isActiveWindow()
    line(form, name).setText("5555" if name == "city" else "5")
    assert form.fields[name].error.isHidden()


@pytest.mark.parametrize(
    "schema",
    [
        {},
        {"properties": []},
        {
            "properties": {"a": 3, "b": {"type": ["null", "integer"]}, "c": {"enum": [1, {}, "x"]}},
            "required": 3,
        },
        {"properties": {"<b>x</b>\n" * 100: {"title": ["odd"], "default": {"a": 1}, "maxLength": -1}}},
        {"properties": {str(n): {} for n in range(1000)}},
    ],
)
def test_any_schema_can_be_shown(window: QWidget, schema: dict[str, Any]) -> None:
    form = SchemaForm(schema, window)
    assert len(form.fields) <= 40
    form.show_problems()
    assert isinstance(form.values, dict)


def test_a_long_answer_that_was_not_sent_is_there_when_it_is_asked_for_again(window: QWidget) -> None:
    drafts = Drafts()
    dialog = QuestionDialog("travel", "Where to?", TRIP, window, drafts)
    notes = dialog.form.fields["notes"].control
    assert isinstance(notes, QPlainTextEdit)
    notes.setPlainText("By train, with a table.")
    dialog.reject()
    again = QuestionDialog("travel", "Where to?", TRIP, window, drafts)
    line(again.form, "city").setText("Rome")
    line(again.form, "days").setText("3")
    assert again.form.values["notes"] == "By train, with a table."
    again.send.click()
    assert drafts.text(("", "travel/notes")) == ""
