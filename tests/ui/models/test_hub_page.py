from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QDesktopServices, QKeySequence, QShortcut
from PySide6.QtWidgets import QApplication, QFileDialog, QPushButton
from pytestqt.qtbot import QtBot

from app.look.figures import time_left_text
from app.look.theme import apply_theme
from app.models.hub import Repo
from app.models.memory_fit import Fit
from app.models.recommended import RECOMMENDED
from app.services.downloads import State
from app.services.model_hub import FoundRepos, Trouble
from app.services.preferences import Preferences
from app.settings.settings import Settings
from app.ui.main_window import MainWindow
from app.ui.models.download_rows import figures_text
from app.ui.models.hub_page import HubPage
from tests.ui.models.hub_fakes import GIB, FakeDownloads, FakeModelHub, contents_of, download, hub_model
from tests.ui.models.library_fakes import FakeModelFits, FakeModelLibrary
from tests.ui.test_accessibility import nameless

MODELS = (hub_model("Q2_K", 1.5), hub_model("Q4_K_M", 2.4), hub_model("Q8_0", 4.2), hub_model("F16", 8, "…"))


@pytest.fixture
def hub() -> FakeModelHub:
    return FakeModelHub()


@pytest.fixture
def downloads() -> FakeDownloads:
    return FakeDownloads()


@pytest.fixture
def preferences() -> Preferences:
    return Preferences(Settings())


@pytest.fixture
def pages() -> list[str]:
    """Addresses that were opened in the browser."""
    return []


@pytest.fixture
def page(
    qtbot: QtBot,
    qapp: QApplication,
    hub: FakeModelHub,
    downloads: FakeDownloads,
    preferences: Preferences,
    pages: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[HubPage]:
    apply_theme(qapp, "light")
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: pages.append(url.toString()))
    page = HubPage(hub, downloads, preferences)  # type: ignore[arg-type]
    qtbot.addWidget(page)
    page.resize(1000, 600)
    page.show()
    yield page
    preferences.flush()


def choose(page: HubPage, number: int) -> str:
    page.list.setCurrentIndex(page.rows.index(number))
    assert page.chosen
    return page.chosen.repo_id


def titles(page: HubPage) -> list[str]:
    return [page.rows.index(number).data() for number in range(page.rows.rowCount())]


def search(page: HubPage, hub: FakeModelHub, words: str, *repos: Repo) -> None:
    page.search.setText(words)
    page.search.returnPressed.emit()
    hub.found.emit(FoundRepos(words, repos))


def test_the_recommended_ones_come_first_with_how_they_fit(page: HubPage, hub: FakeModelHub) -> None:
    assert sorted(titles(page)) == sorted(one.name for one in RECOMMENDED)
    assert titles(page)[1:7] == [one.name for one in RECOMMENDED[:6]], "behind the one to begin with"
    rows = [page.rows.row_at(page.rows.index(number)) for number in range(len(RECOMMENDED))]
    fits = [row.fitting.fit for row in rows if row and row.fitting]
    assert fits[0] is Fit.FITS
    assert fits[-1] is Fit.TOO_LARGE
    assert fits == sorted(fits, key=list(Fit).index)
    assert hub.asked == hub.searched == []  # nothing is asked before somebody wants it
    hub.free_bytes = 64 * GIB
    hub.measured.emit()
    last = page.rows.row_at(page.rows.index(len(RECOMMENDED) - 1))
    assert last
    assert last.fitting
    assert last.fitting.fit is Fit.FITS
    assert "fits" in last.spoken


def test_the_largest_that_fits_well_is_downloaded_from_its_row(
    page: HubPage, hub: FakeModelHub, downloads: FakeDownloads
) -> None:
    """4 GiB are free: models of more than 2 GiB are tight."""
    assert buttons_of(page) == [0]
    row = page.rows.row_at(page.rows.index(0))
    assert row
    assert row.title == "Llama 3.2 3B Instruct"
    assert "the largest that fits well" in row.spoken
    button = page.list.indexWidget(page.rows.index(0))
    assert isinstance(button, QPushButton)
    place = page.list.visualRect(page.rows.index(0))
    assert place.contains(button.geometry())
    assert button.height() < place.height() - 10
    button.click()
    assert hub.asked[-1] == row.repo_id
    assert downloads.started == []
    hub.opened.emit(contents_of(row.repo_id, *MODELS))
    (order,) = downloads.started
    assert [file.path for file in order.files] == ["tiny-Q4_K_M.gguf"]
    hub.opened.emit(contents_of(row.repo_id, *MODELS))
    assert len(downloads.started) == 1
    hub.free_bytes = GIB
    hub.measured.emit()
    assert buttons_of(page) == []
    hub.free_bytes = 64 * GIB
    hub.measured.emit()
    assert titles(page)[0] == RECOMMENDED[-1].name
    assert buttons_of(page) == [0]
    search(page, hub, "gemma", Repo("a/b"))
    assert buttons_of(page) == []
    search(page, hub, "")
    page.search.clear()
    page.search.returnPressed.emit()
    assert buttons_of(page) == [0]


def buttons_of(page: HubPage) -> list[int]:
    indices = [page.rows.index(number) for number in range(page.rows.rowCount())]
    return [index.row() for index in indices if page.list.indexWidget(index)]


def test_the_files_of_one_with_the_best_chosen(
    page: HubPage, hub: FakeModelHub, downloads: FakeDownloads
) -> None:
    repo_id = choose(page, 9)
    assert hub.asked == [repo_id]
    assert not page.details.table.isVisible()
    hub.opened.emit(contents_of("somebody/else", *MODELS))  # of a question before
    assert not page.details.table.isVisible()
    hub.opened.emit(contents_of(repo_id, *MODELS))
    table = page.details.table
    assert [table.item(row, 0).text() for row in range(4)] == ["Q2_K", "Q4_K_M", "Q8_0", "F16"]
    assert [table.item(row, 2).text() for row in range(4)] == ["fits", "tight", "too large", "incomplete"]
    assert page.details.chosen is MODELS[1]
    assert page.details.download_button.text() == "&Download 2.4 GiB"
    page.details.download_button.click()
    (order,) = downloads.started
    assert order.repo_id == repo_id
    assert order.endpoint == hub.endpoint
    assert [file.path for file in order.files] == ["tiny-Q4_K_M.gguf"]
    table.selectRow(2)
    hub.estimated.emit(repo_id, GIB // 4)  # less than was thought
    assert page.details.chosen is MODELS[2]
    assert [table.item(row, 2).text() for row in range(2)] == ["fits", "fits"]
    assert "4.4 GiB" in page.details.note.text()
    hub.measured.emit()
    assert "4.4 GiB" in page.details.note.text()  # it is known still
    table.selectRow(3)
    assert not page.details.download_button.isEnabled()


def test_a_search_and_the_way_back(page: HubPage, hub: FakeModelHub) -> None:
    search(
        page, hub, "gemma", Repo("ggml-org/gemma-3-4b-it-GGUF", 5, 1, "gemma", True, 4 * 10**9), Repo("a/b")
    )
    assert hub.searched == ["gemma"]
    assert titles(page) == ["gemma-3-4b-it-GGUF", "b"]
    row = page.rows.row_at(page.rows.index(0))
    assert row
    assert row.badge == "terms required"
    assert row.spoken == (
        "gemma-3-4b-it-GGUF, terms required, ggml-org  ·  4.0B parameters  ·  gemma, "
        "5 downloads a month  ·  1 like"
    )
    search(page, hub, "nothing like it")
    assert "Try fewer words" in page.state.text()
    assert page.details.note.text() == ""  # there is none to choose
    page.search.clear()
    page.search.returnPressed.emit()
    hub.found.emit(FoundRepos("nothing like it", (Repo("late/answer"),)))
    assert titles(page)[1] == RECOMMENDED[0].name


def test_typing_asks_when_it_pauses(page: HubPage, hub: FakeModelHub, qtbot: QtBot) -> None:
    for end in range(1, 6):
        page.search.setText("gemma"[:end])
    assert hub.searched == []
    page._typing.setInterval(0)
    page.search.setText("gemma 3")
    qtbot.waitUntil(lambda: hub.searched == ["gemma 3"])


def test_trouble_says_what_to_do_and_can_be_tried_again(
    page: HubPage, hub: FakeModelHub, pages: list[str]
) -> None:
    page.search.setText("gemma")
    page.search.returnPressed.emit()
    hub.failed.emit(Trouble("The hub cannot be reached."))
    assert page.trouble.text() == "The hub cannot be reached."
    assert not page.token_button.isVisible()
    page.again_button.click()
    assert hub.searched == ["gemma", "gemma"]
    assert not page.trouble.isVisible()

    page.search.clear()
    page.search.returnPressed.emit()
    repo_id = choose(page, 1)
    hub.failed.emit(Trouble("Accept its terms.", "https://hub.example/page"))
    page.terms_button.click()
    assert pages == ["https://hub.example/page"]
    page.token_button.click()
    page.access.token.setText(" hf_secret ")
    page.access.save_button.click()
    assert hub.tokens == ["hf_secret"]
    assert page.access.token.text() == ""
    assert hub.asked == [repo_id, repo_id]  # at once, with the token
    page.access.forget_button.click()
    assert hub.tokens[-1] == ""
    page.access.close()


def test_another_hub_is_asked_anew(page: HubPage, hub: FakeModelHub, preferences: Preferences) -> None:
    page.search.setText("gemma")
    page.access.ask()
    page.access.endpoint.setText("http://mirror.example")
    page.access.save_button.click()
    assert "https://" in page.access.note.text()
    assert preferences.settings.hub_endpoint == ""
    page.access.endpoint.setText("https://mirror.example")
    page.access.save_button.click()
    assert preferences.settings.hub_endpoint == "https://mirror.example"
    assert hub.tokens == []
    hub.endpoint_changed.emit()
    assert hub.searched == ["gemma"]
    page.access.close()


def test_what_is_on_its_way(page: HubPage, downloads: FakeDownloads, pages: list[str]) -> None:
    assert not page.downloads.isVisible()
    downloads.become(download(bytes_per_s=64 * 2**20))
    (row,) = page.downloads.rows.values()
    assert row.figures.text() == "1.0 GiB of 2.0 GiB  ·  64 MiB/s  ·  15 seconds left"
    assert row.bar.value() == 500
    row.pause_button.click()
    downloads.become(download(State.PAUSED))
    assert not row.pause_button.isVisible()
    row.resume_button.click()
    downloads.become(download(State.FAILED, trouble="Accept its terms.", page="https://hub.example/x"))
    assert row.trouble.text() == "Accept its terms."
    row.page_button.click()
    assert pages == ["https://hub.example/x"]
    row.cancel_button.click()
    assert downloads.done == [(did, "0" * 64) for did in ("pause", "resume", "cancel")]
    downloads.become(download(State.DONE, path=Path("/models/tiny.gguf")))
    opened: list[Path] = []
    page.open_requested.connect(opened.append)
    row.open_button.click()
    assert opened == [Path("/models/tiny.gguf")]
    downloads.become()
    assert page.downloads.rows == {}


@pytest.mark.parametrize(
    ("state", "values", "text"),
    [
        (State.WAITING, {}, "Waiting  ·  1.0 GiB of 2.0 GiB"),
        (State.CHECKING, {}, "Verifying  ·  1.0 GiB of 2.0 GiB"),
        (State.LOADING, {}, "1.0 GiB of 2.0 GiB"),
        (State.LOADING, {"bytes_per_s": 2**20}, "1.0 GiB of 2.0 GiB  ·  1 MiB/s  ·  17 minutes left"),
        (State.FAILED, {}, "Stopped  ·  1.0 GiB of 2.0 GiB"),
        (State.DONE, {"num_bytes": 2 * GIB}, "Done, 2.0 GiB"),
    ],
)
def test_the_figures_of_a_download(state: State, values: dict[str, float], text: str) -> None:
    assert figures_text(download(state, **values)) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(1, "5 seconds left"), (52, "50 seconds left"), (61, "1 minute left"), (7000, "2 hours left")],
)
def test_the_time_that_is_left(seconds: float, text: str) -> None:
    assert time_left_text(seconds) == text


def test_the_folder_is_chosen_here(
    page: HubPage, hub: FakeModelHub, preferences: Preferences, tmp_path: Path
) -> None:
    hub.opened.emit(contents_of(choose(page, 0), *MODELS))
    page.details.folder_button.click()
    (dialog,) = page.findChildren(QFileDialog)
    dialog.fileSelected.emit(str(tmp_path))
    assert preferences.settings.download_folder == tmp_path
    dialog.close()


def test_everything_has_a_name_and_room(page: HubPage, hub: FakeModelHub, downloads: FakeDownloads) -> None:
    hub.opened.emit(contents_of(choose(page, 0), *MODELS))
    downloads.become(download(), download(State.FAILED, id="1", trouble="x", page="https://hub.example"))
    assert nameless(page) == []
    page.resize(520, 600)
    assert page.details.width() <= 520


def test_a_long_name_and_trouble_leave_room_for_the_buttons(
    page: HubPage, downloads: FakeDownloads, hub: FakeModelHub, qtbot: QtBot
) -> None:
    page.resize(520, 700)
    choose(page, 0)
    hub.failed.emit(Trouble("Accept its terms. " * 8, "https://hub.example"))
    long = download(State.FAILED, name="long-" * 40, trouble="x " * 200, page="https://hub.example")
    downloads.become(download(id="1"), download(id="2"), download(id="3"), long)
    row = page.downloads.rows[long.id]
    qtbot.waitUntil(lambda: row.width() <= page.downloads.viewport().width())
    assert row.cancel_button.geometry().right() <= row.width()
    assert row.page_button.geometry().top() > row.trouble.geometry().bottom()
    assert row.name.toolTip() == row.name.text()
    assert page.again_button.geometry().top() > page.trouble.geometry().bottom()
    heights = [one.heightForWidth(row.width()) for one in list(page.downloads.rows.values())[1:]]
    assert page.downloads.sizeHint().height() >= max(heights)  # of the newest three, whatever is told of them


@pytest.fixture
def services(hub: FakeModelHub, downloads: FakeDownloads) -> dict[str, object]:
    models = {"model_library": FakeModelLibrary(), "model_fits": FakeModelFits()}
    return {"hub": hub, "downloads": downloads, **models}


def test_who_looks_elsewhere_is_told(window: MainWindow, downloads: FakeDownloads) -> None:
    downloads.items = (download(State.PAUSED),)
    downloads.restored.emit()
    assert [banner.text for banner in window.notices.banners()] == ["1 download is not finished."]
    downloads.become(download(State.PAUSED))
    assert window.notices.banners()
    downloads.become(download(State.LOADING))
    assert window.notices.banners() == []
    downloads.failed.emit(download(State.FAILED, trouble="Free some space."))
    downloads.finished.emit(download(State.DONE, path=Path("/models/tiny.gguf")))
    texts = [banner.text for banner in window.notices.banners()]
    assert any("Free some space." in text for text in texts)
    assert any("has been downloaded" in text for text in texts)
    window.tabs.views[0].composer.get_model.click()
    hub = window.model_commands.window.hub
    assert hub.isVisible()
    only_its_own = Qt.FindChildOption.FindDirectChildrenOnly
    other_page, _ = window.model_commands.window.findChildren(QShortcut, options=only_its_own)
    assert other_page.key() == QKeySequence("Ctrl+Tab")
    other_page.activated.emit()
    assert not hub.isVisible()
    other_page.activated.emit()
    assert hub.isVisible()
    downloads.finished.emit(download(State.DONE, path=Path("/models/other.gguf")))
    assert len(window.notices.banners()) == 2
    hub.open_requested.emit(Path("/models/tiny.gguf"))
    assert not window.model_commands.window.isVisible()
