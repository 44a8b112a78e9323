from collections.abc import Iterator

import pytest
from PySide6.QtCore import QLocale, QTranslator
from PySide6.QtWidgets import QApplication

from app.look.plain_text import as_table
from app.look.words import mark, sentences, tr, tr_n, tr_said
from app.system.said import said, together

GERMAN = {
    "Closed “{title}”.": "„{title}“ geschlossen.",
    "{n} turns": "{n} Beiträge",
    "Wrong": "Falsch",
    "Lost {title}": "Verloren: {name}",
    "No room for {what}.": "Kein Platz für {what}.",
    "the answer": "die Antwort",
    "{sentence} {next}": "{sentence}{next}",
}


class Dictionary(QTranslator):
    def translate(self, context: str, text: str, disambiguation: str = "", n: int = -1) -> str | None:
        return GERMAN.get(text)


@pytest.fixture
def german(qapp: QApplication) -> Iterator[None]:
    translator, former = Dictionary(), QLocale()
    qapp.installTranslator(translator)
    QLocale.setDefault(QLocale("de_DE"))
    yield
    QLocale.setDefault(former)
    qapp.removeTranslator(translator)


def test_a_text_without_translation_is_the_english_one(qapp: QApplication) -> None:
    assert tr("Closed “{title}”.", title="Sums") == "Closed “Sums”."
    assert tr("{not a field}") == "{not a field}"


def test_counted_things_have_two_forms_in_english(qapp: QApplication) -> None:
    forms = [tr_n("{n} turn of {chat}", "{n} turns of {chat}", n, chat="Sums") for n in (0, 1, 1234)]
    assert forms == ["0 turns of Sums", "1 turn of Sums", "1,234 turns of Sums"]


@pytest.mark.usefixtures("german")
def test_texts_and_numbers_are_in_the_users_language() -> None:
    assert tr("Closed “{title}”.", title="Sums") == "„Sums“ geschlossen."
    assert tr(mark("Wrong")) == "Falsch"
    assert tr_n("{n} turn", "{n} turns", 1234) == "1.234 Beiträge"


@pytest.mark.usefixtures("german")
def test_a_translation_with_a_wrong_field_gives_way_to_the_english_text() -> None:
    assert tr("Lost {title}", title="Sums") == "Lost Sums"


@pytest.mark.usefixtures("german")
def test_what_the_engine_says_is_translated_with_all_that_is_in_it() -> None:
    text = said("No room for {what}.", what=said("the answer"))
    assert tr_said(text) == "Kein Platz für die Antwort."
    assert tr_said(together(text, said("Wrong"))) == "Kein Platz für die Antwort.Falsch"
    assert tr_said("No space left on device") == "No space left on device"


@pytest.mark.usefixtures("german")
def test_sentences_are_put_together_as_the_language_does_it() -> None:
    assert sentences("Eins.", "", "Zwei.") == "Eins.Zwei."
    assert sentences("", "Wrong") == "Wrong"  # it is translated already


def test_a_table_for_a_tooltip_cannot_become_html() -> None:
    table = as_table([("a", "1", "<b>x</b>")], ["<img src=file:///dev/zero>", ""])
    assert "&lt;b&gt;x&lt;/b&gt;" in table
    assert "&lt;img" in table
    assert table.count("<p") == 1
