from dataclasses import replace
from itertools import pairwise

import pytest
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from app.look.layouts import vbox
from app.services.model_state import ModelState
from app.system import paths
from app.ui.transcript import empty_chat
from app.ui.transcript.empty_chat import EmptyChat, ModelOffers
from app.ui.transcript.greeting import greeting
from tests.fakes import model_info

STARTER = ModelState(model_info(name="Skein starter", path=paths.starter_model()))


@pytest.fixture
def page(qtbot: QtBot) -> EmptyChat:
    page = EmptyChat()
    qtbot.addWidget(page)
    page.resize(800, 600)
    page.apply(greeting(STARTER, 8 * 2**30))
    page.show()
    return page


def shown(offers: ModelOffers) -> list[str]:
    return [button.text() for button in offers.buttons if not button.isHidden()]


def test_who_answers_stands_there_large(page: EmptyChat) -> None:
    assert page.title.text() == "Skein starter"
    assert page.title.font().pointSizeF() > 1.5 * page.font().pointSizeF()
    assert page.primary.text() == "Get a real model"
    assert shown(page.offers) == ["Open a GGUF file…"]


def test_the_primary_button_does_what_it_says(page: EmptyChat, qtbot: QtBot) -> None:
    with qtbot.waitSignal(page.model_requested):
        page.primary.click()
    page.apply(greeting(ModelState(model_info(has_template=False))))
    assert page.primary.text() == "Open a notebook"
    with qtbot.waitSignal(page.notebook_requested):
        page.primary.click()


def test_another_model_brings_other_words_and_prompts(page: EmptyChat) -> None:
    page.apply(greeting(ModelState(model_info(name="big"))), num_of_others=3)
    assert page.title.text() == "big"
    assert page.primary.isHidden()
    assert page.offers.isHidden()
    assert len(page.buttons) == 4
    assert "bread" in page.buttons[-1].text()


def test_its_words_have_lines_of_about_the_same_length(page: EmptyChat) -> None:
    words, margins = page.words, page.words.contentsMargins()
    assert margins.left() == margins.right() > 0
    balanced = words.heightForWidth(words.width())
    words.setContentsMargins(0, 0, 0, margins.bottom())
    assert words.heightForWidth(words.width()) == balanced  # as few lines as ever


@pytest.mark.parametrize("width", [300, 480, 900])
@pytest.mark.parametrize("height", [120, 200, 300, 420, 700])
def test_parts_give_way_rather_than_overlap(page: EmptyChat, qtbot: QtBot, width: int, height: int) -> None:
    page.resize(width, height)
    page.layout().activate()  # type: ignore[union-attr]
    parts: list[QWidget] = [
        page._logo, page.title, page.facts, page.words, page.primary, page.caption, page.chips, page.offers,
    ]  # fmt: skip
    visible = [part for part in parts if part.isVisible()]
    assert page.title in visible
    assert page.primary in visible
    for above, below in pairwise(visible):
        assert above.geometry().bottom() < below.geometry().top()
    assert all(page.rect().contains(part.geometry()) for part in visible)


def test_only_what_is_there_is_offered(qtbot: QtBot) -> None:
    offers = ModelOffers()
    qtbot.addWidget(offers)
    assert shown(offers) == []
    offers.apply(0)
    assert shown(offers) == ["Open a GGUF file…"]
    offers.apply(1)
    assert shown(offers)[1:] == ["Use 1 model from other programs"]
    offers.apply(12)
    assert shown(offers)[1] == "Use 12 models from other programs"


def test_they_stand_below_each_other_where_it_is_narrow(qtbot: QtBot) -> None:
    offers = ModelOffers()
    qtbot.addWidget(offers)
    offers.apply(2)
    assert offers.fit(1000) == 1
    assert offers.fit(200) == 2
    assert offers.minimumSizeHint().width() == 0


@pytest.mark.parametrize("height", range(260, 460, 20))
def test_new_prompts_are_never_squeezed(page: EmptyChat, height: int) -> None:
    page.resize(800, height)
    page.apply(greeting(ModelState(model_info(name="big"))))
    page.apply(greeting(STARTER, 8 * 2**30))
    QApplication.processEvents()
    shown = [button for button in page.buttons if button.isVisible()]
    assert all(button.height() >= button.sizeHint().height() for button in shown)


@pytest.mark.parametrize("height", range(260, 460, 20))
def test_prompts_are_not_squeezed_where_two_columns_become_one(qtbot: QtBot, height: int) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    page = EmptyChat()
    vbox(page, on=window)
    page.apply(greeting(STARTER, 8 * 2**30))
    window.resize(655, height)
    window.show()
    QApplication.processEvents()
    window.resize(290, height)
    QApplication.processEvents()
    shown = [button for button in page.buttons if button.isVisible()]
    assert all(button.height() >= button.sizeHint().height() for button in shown)


def test_a_new_caption_leaves_the_prompts_where_a_click_may_have_begun(page: EmptyChat) -> None:
    before = page.buttons
    page.apply(replace(page.greeting, caption="From 610 MiB"))
    assert page.buttons == before


def test_it_is_measured_once_when_it_is_shown(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    measured: list[int] = []
    monkeypatch.setattr(empty_chat, "_balance", lambda _words, width: measured.append(width))
    page = EmptyChat()
    qtbot.addWidget(page)
    page.apply(greeting(STARTER, 8 * 2**30))
    page.apply(greeting(ModelState(model_info(name="big"))), num_of_others=3)
    page.resize(800, 600)
    page.show()
    assert len(measured) == 1
