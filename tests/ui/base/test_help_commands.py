import logging
import re
from pathlib import Path

import pytest
from PySide6.QtCore import QObject, Qt, QUrl
from PySide6.QtGui import QFont, QGuiApplication, QImage, QTextDocument
from PySide6.QtWidgets import QPushButton, QWidget
from pytestqt.qtbot import QtBot

from app.inspector.docks import ROWS
from app.system import paths
from app.system.log import Line, recent_lines
from app.ui.base import help_commands
from app.ui.base.help_commands import (
    HELP_DIR,
    LIST_WIDTH,
    MARGIN,
    PAGES,
    SIZE,
    About,
    GuideDialog,
    HelpCommands,
    LogViewer,
    command_for,
    reveal,
    title_of,
)


@pytest.fixture
def window(qtbot: QtBot) -> QWidget:
    window = QWidget()
    qtbot.addWidget(window)
    return window


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    opened: list[Path] = []
    monkeypatch.setattr(help_commands, "open_folder", opened.append)
    return opened


def test_about_says_what_is_so_when_it_is_asked_for(
    window: QWidget, opened: list[Path], qtbot: QtBot
) -> None:
    told = ["no model", "a model"]
    help_ = HelpCommands(lambda: told.pop(0), window)
    for expected in ("no model", "a model"):
        help_.show_about()
        about = window.findChild(About)
        assert about
        assert about.diagnostics.toPlainText() == expected
        assert "llama.cpp" in about.licences.toPlainText()
        buttons = {button.text(): button for button in about.findChildren(QPushButton)}
        buttons["Open data folder"].click()
        with qtbot.waitSignal(about.destroyed):
            buttons["Close"].click()
    assert opened == [paths.data_dir()] * 2


def test_there_is_one_log_window(window: QWidget, opened: list[Path]) -> None:
    help_ = HelpCommands(lambda: "", window)
    for _ in range(2):
        help_.show_log()
    [viewer] = window.findChildren(LogViewer)
    assert viewer.isVisible()
    assert viewer._lines_since == recent_lines.since
    viewer.close()


def test_diagnostics_can_be_copied_and_folders_opened(qtbot) -> None:
    opened: list[str] = []
    about = About(
        "Skein 1, on this machine", "Qt: LGPL", [("Open data folder", lambda: opened.append("data"))]
    )
    qtbot.addWidget(about)
    buttons = {button.text(): button for button in about.findChildren(QPushButton)}
    buttons["Copy diagnostics"].click()
    assert QGuiApplication.clipboard().text() == "Skein 1, on this machine"
    buttons["Open data folder"].click()
    assert opened == ["data"]
    assert about.licences.toPlainText() == "Qt: LGPL"


def test_every_page_is_in_the_list_and_can_be_read(qtbot: QtBot) -> None:
    guide = GuideDialog()
    qtbot.addWidget(guide)
    assert {path.stem for path in HELP_DIR.glob("*.md")} == set(PAGES)
    for row, name in enumerate(PAGES):
        guide.pages.setCurrentRow(row)
        title = title_of(HELP_DIR / f"{name}.md")
        assert guide.pages.item(row).text() == title
        assert guide.text.toPlainText().startswith(title)


def test_a_link_to_another_page_is_followed_and_shown_in_the_list(qtbot: QtBot) -> None:
    guide = GuideDialog()
    qtbot.addWidget(guide)
    guide.text.setSource(QUrl("models.md"))
    assert guide.pages.currentRow() == PAGES.index("models")
    assert guide.text.toPlainText().startswith(title_of(HELP_DIR / "models.md"))


def test_the_guide_is_searched_page_by_page(qtbot: QtBot) -> None:
    guide = GuideDialog()
    qtbot.addWidget(guide)
    guide.show()
    guide.search.setText("fragmentation no page has")
    assert all(guide.pages.item(row).isHidden() for row in range(len(PAGES)))
    guide.search.setText("LLAMA.CPP")
    assert "llama.cpp" in guide.text.textCursor().selectedText().casefold()
    guide.search.setText("Perfetto")
    listed = [name for row, name in enumerate(PAGES) if not guide.pages.item(row).isHidden()]
    assert listed == ["inspector"]
    assert PAGES[guide.pages.currentRow()] == "inspector"
    guide.search.clear()
    guide.pages.setCurrentRow(PAGES.index("chats"))
    guide.search.setText("shelf")
    places = []
    for _ in range(100):
        cursor = guide.text.textCursor()
        assert cursor.selectedText().casefold() == "shelf"
        places.append(cursor.position())
        qtbot.keyClick(guide.search, Qt.Key.Key_Return)
    assert len(set(places)) > 1, "each place on the page, one after the other"
    assert places[0] in places[1:], "and then the first again"
    guide.search.clear()
    assert not any(guide.pages.item(row).isHidden() for row in range(len(PAGES)))


def test_each_panel_of_the_inspector_is_explained_where_the_guide_speaks_of_it(window: QWidget) -> None:
    help_ = HelpCommands(lambda: "", window)
    for kind in (kind for _share, kinds in ROWS for kind in kinds):
        help_.explain_panel(kind.TITLE)
        (guide,) = window.findChildren(GuideDialog)
        assert PAGES[guide.pages.currentRow()] == "inspector"
        cursor = guide.text.textCursor()
        assert cursor.selectedText() == kind.TITLE
        assert cursor.charFormat().fontWeight() >= QFont.Weight.Bold, "the beginning of what is said of it"
    guide.close()


def test_pictures_of_the_guide_are_shown_and_fit(qtbot: QtBot) -> None:
    guide = GuideDialog()
    qtbot.addWidget(guide)
    guide.show()
    pictures = list(HELP_DIR.glob("*.png"))
    assert pictures
    for path in pictures:
        shown = guide.text.loadResource(QTextDocument.ResourceType.ImageResource, QUrl(path.name))
        assert shown
        assert QImage(str(path)).width() <= SIZE.width() - LIST_WIDTH - 4 * MARGIN
    assert sum(path.stat().st_size for path in pictures) < 150_000


def test_links_of_the_readme_and_the_pages_lead_somewhere() -> None:
    readme = HELP_DIR.parents[1] / "README.md"
    for page in [readme, *HELP_DIR.glob("*.md")]:
        for target in re.findall(r"\]\((?!https?:)([^)#]+)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


LINES = [
    Line(1, logging.DEBUG, "a step"),
    Line(2, logging.INFO, "The model is loaded."),
    Line(3, logging.ERROR, "The disk is gone."),
]


def viewer(qtbot, lines: list[Line]) -> LogViewer:
    made = LogViewer(lambda number: [line for line in lines if line.number > number], lambda: None)
    qtbot.addWidget(made)
    return made


def shown(made: LogViewer) -> list[str]:
    return [line for line in made.text.toPlainText().splitlines() if line]


def test_lines_are_shown_by_level_and_text(qtbot) -> None:
    made = viewer(qtbot, LINES)
    made.refresh()
    assert shown(made) == ["The model is loaded.", "The disk is gone."]
    made.levels.setCurrentIndex(3)
    assert shown(made) == ["The disk is gone."]
    made.levels.setCurrentIndex(0)
    made.search.setText("MODEL")
    assert shown(made) == ["The model is loaded."]


def test_new_lines_come_while_it_is_shown_and_only_then(qtbot) -> None:
    lines = list(LINES)
    made = viewer(qtbot, lines)
    made.show()
    lines.append(Line(4, logging.WARNING, "Hot."))
    qtbot.waitUntil(lambda: "Hot." in shown(made))
    made.hide()
    assert not made._timer.isActive()


def test_the_file_manager_is_asked_in_each_systems_way() -> None:
    path = Path("/models/a, b?.gguf")
    command = command_for(path, "linux")
    assert command[0] == "dbus-send"
    assert command[-2] == "array:string:file:///models/a%2C%20b%3F.gguf"
    assert command_for(path, "darwin") == ["open", "-R", str(path)]


@pytest.mark.parametrize("command", [["false"], ["no such program"], []])
def test_else_the_folder_is_opened(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, command: list[str]) -> None:
    opened: list[Path] = []
    monkeypatch.setattr(help_commands, "command_for", lambda _path: command)
    monkeypatch.setattr(help_commands, "open_folder", opened.append)
    parent = QObject()
    reveal(Path("/models/a.gguf"), parent)
    qtbot.waitUntil(lambda: opened == [Path("/models")])
    parent.deleteLater()
