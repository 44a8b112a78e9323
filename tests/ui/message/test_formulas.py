import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.ui.message.math_image import Formula, Formulas


def formula(latex: str) -> Formula:
    return Formula(latex, False, 16, "#000000")


@pytest.fixture
def formulas(qtbot: QtBot, qapp: QApplication) -> Formulas:
    return Formulas(qapp)


def test_a_formula_is_there_as_soon_as_it_is_drawn(formulas: Formulas, qtbot: QtBot) -> None:
    with qtbot.waitSignal(formulas.drawn) as told:
        assert formulas.find(formula("x")) is None
    assert told.args == [formula("x"), formulas.find(formula("x"))]
    assert told.args[1]


def test_one_that_cannot_be_drawn_is_not_tried_again(formulas: Formulas, qtbot: QtBot) -> None:
    with qtbot.assertNotEmitted(formulas.drawn):
        formulas.find(formula("\\frac{a"))
        qtbot.waitUntil(lambda: formulas.num_waiting == 0)
    formulas.find(formula("\\frac{a"))
    assert formulas.num_waiting == 0


def test_only_so_many_wait_and_the_others_are_drawn_when_asked_for_again(
    formulas: Formulas, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.ui.message.math_image.MAX_WAITING", 2)
    for latex in "abcde":
        formulas.find(formula(latex))
    assert formulas.num_waiting == 2
    qtbot.waitUntil(lambda: formulas.num_waiting == 0)
    assert formulas.find(formula("e")) is None
    qtbot.waitUntil(lambda: formulas.find(formula("e")) is not None)


def test_the_least_recently_used_are_given_up(
    formulas: Formulas, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.ui.message.math_image.MAX_KEPT", 2)
    for latex in "ab":
        formulas.find(formula(latex))
        qtbot.waitUntil(lambda: formulas.num_waiting == 0)
    formulas.find(formula("a"))
    formulas.find(formula("c"))
    qtbot.waitUntil(lambda: formulas.num_waiting == 0)
    assert formulas.find(formula("a"))
    assert formulas.find(formula("b")) is None
    qtbot.waitUntil(lambda: formulas.num_waiting == 0)


def test_large_images_are_given_up_before_many_are_kept(
    formulas: Formulas, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    with qtbot.waitSignal(formulas.drawn):
        formulas.find(formula("a"))
    drawn = formulas.find(formula("a"))
    assert drawn
    monkeypatch.setattr("app.ui.message.math_image.MAX_KEPT_BYTES", 2 * drawn.image.sizeInBytes())
    for wide in ("b+b+b", "c+c+c"):
        with qtbot.waitSignal(formulas.drawn):
            formulas.find(formula(wide))
    assert not any(formulas.find(formula(latex)) for latex in ("a", "b+b+b"))
    qtbot.waitUntil(lambda: formulas.num_waiting == 0)
