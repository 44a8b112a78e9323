import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QPushButton
from pytestqt.qtbot import QtBot

from app.models.model_file import FileKind, ModelSource
from app.services.model_fits import Taken
from app.services.model_library import Trashed
from app.services.preferences import Preferences
from app.settings.settings import Settings
from app.ui.models.library_page import NO_MODELS, LibraryPage
from app.ui.models.library_table import (
    COLUMNS,
    FAMILY,
    LICENCE,
    MEMORY,
    NAME,
    PARAMS,
    QUANTISATION,
    SIZE,
    ModelRow,
    fit_text,
)
from tests.ui.models.library_fakes import GIB, FakeModelFits, FakeModelLibrary, model_file

SMALL = model_file("Small", 0.5, num_params=752_000_000, licence="apache-2.0")
LARGE = model_file("Large", 40, num_params=70_600_000_000, family="llama", source=ModelSource.JAN)
MIDDLE = model_file("Middle", 3, num_params=8_190_000_000, quantisation="Q4_K_M")
BROKEN = model_file("Broken", kind=FileKind.DAMAGED, problem="it is not a GGUF file")
PROJECTOR = model_file("Projector", kind=FileKind.PROJECTOR)


@pytest.fixture
def library() -> FakeModelLibrary:
    return FakeModelLibrary(SMALL, LARGE, MIDDLE, BROKEN, PROJECTOR)


@pytest.fixture
def fits() -> FakeModelFits:
    return FakeModelFits()


@pytest.fixture
def page(qtbot: QtBot, library: FakeModelLibrary, fits: FakeModelFits) -> LibraryPage:
    page = LibraryPage(library, fits, Preferences(Settings()))  # type: ignore[arg-type]
    qtbot.addWidget(page)
    page.resize(1400, 600)
    page.show()
    return page


def names(page: LibraryPage) -> list[str]:
    return column(page, NAME)


def column(page: LibraryPage, number: int) -> list[str]:
    return [page.found.index(row, number).data() for row in range(page.found.rowCount())]


def buttons(page: LibraryPage) -> dict[str, QPushButton]:
    return {button.text().replace("&", ""): button for button in page.details.buttons}


def told(page: LibraryPage) -> str:
    labels = (page.details.facts.itemAt(number).widget() for number in range(page.details.facts.count()))
    return " ".join(label.text() for label in labels if label)  # type: ignore[attr-defined]


def test_chat_models_are_shown_with_what_their_files_say(page: LibraryPage, fits: FakeModelFits) -> None:
    assert names(page) == ["Large", "Middle", "Small"]
    assert column(page, PARAMS) == ["70.6B", "8.2B", "752M"]
    assert column(page, QUANTISATION) == ["Q8_0", "Q4_K_M", "Q8_0"]
    assert column(page, SIZE) == ["40.0 GiB", "3.0 GiB", "512 MiB"]
    assert column(page, MEMORY) == ["40.0 GiB", "3.0 GiB", "512 MiB"]
    assert page.note.text() == "3 models, 43.5 GiB"
    assert fits.asked == (SMALL, LARGE, MIDDLE, BROKEN, PROJECTOR)


def test_they_are_found_by_any_of_their_words(page: LibraryPage) -> None:
    page.search.setText("LLAMA jan")
    assert names(page) == ["Large"]
    page.search.setText("apache")
    assert names(page) == ["Small"]
    assert page.chosen == SMALL
    page.search.setText("apache llama")
    assert names(page) == []
    assert page.empty.isVisible()
    assert page.chosen is None
    assert not buttons(page)["Open"].isEnabled()
    page.clear_button.click()
    assert len(names(page)) == 3


def test_what_is_no_chat_model_is_shown_when_asked_for(page: LibraryPage) -> None:
    page.shown.setCurrentIndex(1)
    assert names(page) == ["Broken", "Projector"]
    assert column(page, MEMORY) == ["Damaged", "Projector"]
    assert page.details.problem.text() == "It cannot be used: it is not a GGUF file."
    assert not buttons(page)["Open"].isVisible()
    page.shown.setCurrentIndex(0)
    page.choose(BROKEN.path)
    assert page.chosen == BROKEN


@pytest.mark.parametrize("number", range(len(COLUMNS)))
def test_every_column_sorts(page: LibraryPage, number: int) -> None:
    page.shown.setCurrentIndex(2)
    page.table.sortByColumn(number, Qt.SortOrder.AscendingOrder)
    up = [COLUMNS[number].key(page.found.row_at(page.found.index(row, 0))) for row in range(5)]
    assert up == sorted(up)
    page.table.sortByColumn(number, Qt.SortOrder.DescendingOrder)
    down = [COLUMNS[number].key(page.found.row_at(page.found.index(row, 0))) for row in range(5)]
    assert down == up[::-1]


def test_numbers_are_sorted_as_numbers(page: LibraryPage) -> None:
    page.table.sortByColumn(SIZE, Qt.SortOrder.DescendingOrder)
    assert names(page) == ["Large", "Middle", "Small"]


def test_whether_it_fits_is_said_in_words(page: LibraryPage, fits: FakeModelFits) -> None:
    large, small = fits.fitting(LARGE), fits.fitting(SMALL)
    assert large
    assert small
    assert fit_text(large) == "Needs about 40.0 GiB, but only 8.0 GiB of memory is free."
    assert fit_text(small) == "Needs about 512 MiB of 8.0 GiB free memory."
    page.choose(SMALL.path)
    assert page.details.fit.text() == fit_text(small)


def test_the_chosen_one_is_told_of_and_opened(page: LibraryPage, qtbot: QtBot) -> None:
    page.choose(MIDDLE.path)
    assert "Q4_K_M" in told(page)
    assert str(MIDDLE.path) in told(page)
    with qtbot.waitSignal(page.open_requested) as opened:
        buttons(page)["Open"].click()
    assert opened.args == [MIDDLE.path]
    with qtbot.waitSignal(page.settings_requested) as asked:
        buttons(page)["Settings…"].click()
    assert asked.args == [MIDDLE.path]
    with qtbot.waitSignal(page.open_requested):
        page.table.activated.emit(page.table.currentIndex())


def test_it_stays_chosen_when_others_come_and_go(page: LibraryPage, library: FakeModelLibrary) -> None:
    page.choose(MIDDLE.path)
    library.become(MIDDLE, SMALL)
    assert page.chosen == MIDDLE
    library.become(SMALL)
    assert page.chosen == SMALL


def test_after_one_that_has_gone_the_next_is_chosen(page: LibraryPage, library: FakeModelLibrary) -> None:
    others = [model_file(name) for name in "abcd"]
    library.become(*others)
    page.choose(others[2].path)
    library.become(others[0], others[1], others[3])
    assert page.chosen == others[3]
    library.become(others[0], others[1])
    assert page.chosen == others[1]


def test_an_estimate_that_comes_later_is_shown(
    page: LibraryPage, library: FakeModelLibrary, fits: FakeModelFits
) -> None:
    fits.unknown = {SMALL.path}
    fits.estimated.emit(SMALL.path)
    page.choose(SMALL.path)
    assert column(page, MEMORY) == ["40.0 GiB", "3.0 GiB", ""]
    assert not page.details.fit.isVisible()
    fits.unknown = set()
    fits.estimated.emit(SMALL.path)
    assert column(page, MEMORY)[-1] == "512 MiB"
    assert page.details.fit.isVisible()


def test_the_one_in_use_is_marked_and_chosen_first_with_what_it_has_taken(
    page: LibraryPage, library: FakeModelLibrary, fits: FakeModelFits
) -> None:
    library.in_use = frozenset({SMALL.path})
    library.become(LARGE, SMALL)
    assert column(page, MEMORY) == ["40.0 GiB", "In use"]
    page.search.setText("nothing")
    page.search.clear()
    assert page.chosen == SMALL
    assert not buttons(page)["Open"].isEnabled()
    assert page.details.fit.text() == "In use now."
    fits.in_use = {SMALL.path: Taken(812 << 20, 815 << 20)}
    fits.estimated.emit(SMALL.path)
    assert page.details.fit.text() == "In use now. Memory: 812 MiB expected, 815 MiB used."


def test_the_trash_can_be_undone(page: LibraryPage, library: FakeModelLibrary) -> None:
    page.choose(SMALL.path)
    buttons(page)["Move to trash"].click()
    assert library.asked_to_trash == [SMALL]
    trashed = Trashed(SMALL, ())
    library.trashed.emit(trashed)
    assert page.undo.text == "Moved “Small” to the trash."
    page.undo.button.click()
    assert library.restored == [trashed]


def test_what_may_not_go_to_the_trash_says_why(page: LibraryPage, library: FakeModelLibrary) -> None:
    library.refusal = "This model is in use."
    library.become(SMALL)
    assert not buttons(page)["Move to trash"].isEnabled()
    assert buttons(page)["Move to trash"].toolTip() == "This model is in use."
    library.failed.emit("It did not work.")
    library.become(SMALL, MIDDLE)
    assert page.trouble.isVisible()
    assert page.trouble.text() == "It did not work."


def test_the_menu_of_a_row_offers_what_the_buttons_do(page: LibraryPage) -> None:
    page.choose(SMALL.path)
    page.table.customContextMenuRequested.emit(QPoint(5, 5))
    (menu,) = (menu for menu in page.findChildren(QMenu) if menu.isVisible())
    assert [action.text().replace("&", "") for action in menu.actions()] == list(buttons(page))
    menu.close()


def texts(menu: QMenu) -> dict[str, QAction]:
    return {action.text().replace("&", ""): action for action in menu.actions()}


def test_folders_are_listed_and_taken_off_the_list(page: LibraryPage, library: FakeModelLibrary) -> None:
    page.folders_menu.aboutToShow.emit()
    actions = texts(page.folders_menu)
    assert {"Downloads: /downloads", "/more", "Add folder…"} <= set(actions)
    more = actions["/more"].menu()
    assert isinstance(more, QMenu)
    texts(more)["Remove from the list"].trigger()
    assert [str(path) for path in library.removed] == ["/more"]


def test_other_programs_models_are_a_choice(qtbot: QtBot, library: FakeModelLibrary) -> None:
    settings = Settings()
    page = LibraryPage(library, FakeModelFits(), Preferences(settings))  # type: ignore[arg-type]
    qtbot.addWidget(page)
    page.folders_menu.aboutToShow.emit()
    others = texts(page.folders_menu)["Show models of other programs"]
    assert others.isChecked()
    others.trigger()
    assert not settings.uses_other_programs_models


def test_an_empty_page_says_what_to_do(page: LibraryPage, library: FakeModelLibrary) -> None:
    library.become()
    assert page.empty.text() == NO_MODELS
    library.progress = (3, 10)
    library.become()
    assert page.empty.text() == "Looking for models…"
    assert page.note.text() == "Scanning files: 3 of 10"


def test_a_narrow_page_keeps_the_columns_that_matter_most(page: LibraryPage, qtbot: QtBot) -> None:
    page.resize(1800, 600)
    assert not page.table.isColumnHidden(LICENCE)
    page.resize(560, 500)
    hidden = [number for number in range(len(COLUMNS)) if page.table.isColumnHidden(number)]
    assert {LICENCE, FAMILY} <= set(hidden)
    assert not {NAME, MEMORY} & set(hidden)
    qtbot.waitUntil(lambda: page.details.width() > 500)


def test_it_looks_again_whenever_it_is_shown(page: LibraryPage, library: FakeModelLibrary) -> None:
    assert library.num_refreshes == 1
    page.hide()
    page.show()
    assert library.num_refreshes == 2


def test_numbers_have_units() -> None:
    row = ModelRow(model_file("x", 1, size_bytes=3 * GIB, num_params=2_500_000))
    assert [column.text(row) for column in COLUMNS[1:5]] == ["2.5M", "Q8_0", "4,096", "3.0 GiB"]
