"""The window in a language that does not exist: every text is in brackets and longer by 40 percent.

So whatever is seen without brackets cannot be translated, and whatever is cut off leaves too little room.
"""

import asyncio
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, Qt, QTranslator
from PySide6.QtGui import QAction
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QCheckBox,
    QDialog,
    QFileDialog,
    QLabel,
    QLineEdit,
    QMenu,
    QPushButton,
    QRadioButton,
    QScrollArea,
    QWidget,
)
from pytestqt.qtbot import QtBot

from app.bridge.tasks import finish_all
from app.chats.chat import Chat, Turn
from app.chats.imports.entries import Problem, no_chats, no_messages
from app.chats.imports.read import FoundChats
from app.look.theme import apply_theme
from app.protocol.request import Role
from app.rows.answer_form import Kind
from app.rows.job import Counts, JobSettings
from app.rows.template import Sharing
from app.services.chat_transfer import ImportPlan
from app.settings.settings import Settings
from app.system.said import said
from app.ui.base.actions import commands_of
from app.ui.base.setting_list import PAGES
from app.ui.data.import_preview import ImportPreview
from app.ui.frame import WINDOW_SIZE
from app.ui.main_window import MainWindow
from app.ui.settings.settings_window import SettingsWindow
from app.ui.transcript.greeting import STARTER_PROMPTS
from tests.ui.fakes import FakeEngine, FakeWorkspace
from tests.ui.models.library_fakes import FakeModelFits, FakeModelLibrary, model_file
from tests.ui.windows import scripted_window

WORD = re.compile(r"[^\W\d_]{2,}")
# What is the same in every language.
NAMES = re.compile(
    r"hf_|What is 34 \+ 21\?|What is a KV cache\?|Count from 7 to 30|starter|Skein|English|简体中文|"
    r"(Ctrl|Alt|Shift|Esc|Enter|Return|F\d+)(\+\S+)?|127\.0\.0\.1\S*|http\S*|/\S+|•+\S*"
)


class Pseudo(QTranslator):
    def translate(self, context: str, text: str, disambiguation: str = "", n: int = -1) -> str | None:
        if context == "QShortcut" or not WORD.search(text):  # names of keys
            return None
        return "\n".join(f"[{line}{_more(round(0.4 * len(line)))}]" for line in text.split("\n"))


def _more(num_letters: int) -> str:
    """In words, so that a long text can be wrapped."""
    return " ".join(textwrap.wrap("·" * num_letters, 8))


@pytest.fixture
def pseudo_window(
    qtbot: QtBot, qapp: QApplication, workspace: FakeWorkspace, engine: FakeEngine, tmp_path: Path
) -> Iterator[MainWindow]:
    translator = Pseudo()
    qapp.installTranslator(translator)
    apply_theme(qapp, "light")
    window = scripted_window(
        engine,
        workspace,
        Settings.load(tmp_path / "settings.json"),
        model_library=FakeModelLibrary(),
        model_fits=FakeModelFits(),
    )
    qtbot.addWidget(window.frame, before_close_func=lambda widget: widget.hide())
    workspace.new_chat()
    window.frame.resize(WINDOW_SIZE)
    window.frame.show()
    qtbot.waitExposed(window.frame)
    yield window
    qapp.removeTranslator(translator)


def texts_of(widget: QWidget) -> list[str]:
    """What it shows itself, and what is said about it."""
    shown = [widget.toolTip(), widget.statusTip(), widget.accessibleName()]
    if isinstance(widget, QLabel | QAbstractButton):
        shown.append(widget.text())
    if isinstance(widget, QLineEdit):
        shown.append(widget.placeholderText())
    return shown


def is_translated(text: str) -> bool:
    return "[" in text or text in STARTER_PROMPTS or not WORD.search(NAMES.sub("", text))


def untranslated(root: QWidget) -> list[str]:
    widgets = (root, *root.findChildren(QWidget))  # also on pages that are not in front
    found = {text for widget in widgets for text in texts_of(widget) if not is_translated(text)}
    return sorted(found)


def cut_off(root: QWidget) -> list[str]:
    """Texts whose widget is smaller than it needs to be, and does not wrap or elide on purpose.

    And the names of areas that cannot be scrolled sideways, though what is in them is wider.
    """
    QApplication.sendPostedEvents(None, QEvent.Type.LayoutRequest)  # what has just come up gets its place
    kinds = (QPushButton, QRadioButton, QCheckBox, QLabel)
    texts = sorted(
        widget.text()
        for kind in kinds
        for widget in root.findChildren(kind)
        if widget.isVisibleTo(root) and widget.text() and _is_cut_off(widget)
    )
    return [*texts, *(_name(area) for area in root.findChildren(QScrollArea) if _is_too_narrow(area))]


def _is_too_narrow(area: QScrollArea) -> bool:
    page: QWidget | None = area.widget()
    cannot_scroll = area.horizontalScrollBarPolicy() is Qt.ScrollBarPolicy.ScrollBarAlwaysOff
    return cannot_scroll and page is not None and page.isVisible() and page.width() > area.viewport().width()


def _name(area: QScrollArea) -> str:
    return f"{type(area).__name__} in {type(area.parentWidget()).__name__}"


def _is_cut_off(widget: QWidget) -> bool:
    if isinstance(widget, QLabel) and widget.wordWrap():
        return widget.height() < widget.heightForWidth(widget.width())
    may_be_cut = widget.sizePolicy().horizontalPolicy().name in ("Ignored",)
    return not may_be_cut and widget.width() < widget.minimumSizeHint().width()


def test_everything_in_the_window_is_translated(pseudo_window: MainWindow) -> None:
    assert untranslated(pseudo_window.frame) == []


def test_every_menu_is_translated(pseudo_window: MainWindow) -> None:
    commands = commands_of(pseudo_window.frame.menuBar())
    assert len(commands) > 40
    texts = {text for command in commands for text in (command.action.text(), command.tip, *command.path)}
    assert sorted(text for text in texts if not is_translated(text)) == []


def test_nothing_in_the_window_is_cut_off(pseudo_window: MainWindow) -> None:
    assert cut_off(pseudo_window.frame) == []


def test_every_panel_of_the_inspector_is_translated(qtbot: QtBot, pseudo_window: MainWindow) -> None:
    for panel in pseudo_window.inspector.panels:
        pseudo_window.inspector.show_panel(panel.NAME)
        qtbot.waitUntil(panel.isVisible)
        assert untranslated(panel) == [], panel.NAME
        assert cut_off(panel) == [], panel.NAME


def dialogs_of(window: MainWindow) -> list[QWidget]:
    children = [child for child in window.frame.findChildren(QDialog) if child.isVisible()]
    return [*children, *(one for one in QApplication.topLevelWidgets() if one.isVisible() and one.isWindow())]


async def test_every_dialog_is_translated_and_has_room(
    qloop: asyncio.AbstractEventLoop, pseudo_window: MainWindow
) -> None:
    window, opened = pseudo_window, []
    actions = [
        command.action for command in commands_of(window.frame.menuBar()) if "…" in command.action.text()
    ]
    for action in [*actions, *_actions_named(window, "app.about", "help.shortcuts")]:
        if not action.isEnabled():
            continue
        action.trigger()
        await asyncio.sleep(0)  # what has just come up gets its place
        for dialog in dialogs_of(window):
            if dialog is window.frame or isinstance(dialog, QMenu):
                continue
            opened.append(dialog.windowTitle() or type(dialog).__name__)
            assert is_translated(dialog.windowTitle()), action.objectName()
            if not isinstance(dialog, QFileDialog):  # Qt's own, with names of files
                assert untranslated(dialog) == [], action.objectName()
                assert cut_off(dialog) == [], action.objectName()
            dialog.close()
    await finish_all()
    assert len(opened) >= 5


async def test_every_page_of_the_settings_has_room_in_the_smallest_window(
    qloop: asyncio.AbstractEventLoop, pseudo_window: MainWindow
) -> None:
    _actions_named(pseudo_window, "app.settings")[0].trigger()
    settings = pseudo_window.frame.findChild(SettingsWindow)
    assert settings is not None
    settings.resize(settings.minimumSize())
    for page in PAGES:
        settings.show_page(page.name)
        assert untranslated(settings) == [], page.name
        assert cut_off(settings) == [], page.name
    settings.close()
    await finish_all()


def _actions_named(window: MainWindow, *names: str) -> list[QAction]:
    return [command.action for command in commands_of(window.frame.menuBar()) if command.name in names]


def test_the_settings_of_a_chat_are_translated_and_have_room(pseudo_window: MainWindow) -> None:
    pseudo_window.tab_commands.on_current(pseudo_window.tab_commands.open_settings)
    panel = pseudo_window.chat_options.panel
    panel.more.click()
    panel.presets.entry.ask("[Name]", "", lambda _name: None)
    assert untranslated(panel) == []
    assert cut_off(panel) == []
    panel.presets.menu.aboutToShow.emit()
    assert [text for action in panel.presets.menu.actions() if not is_translated(text := action.text())] == []


def test_the_preview_of_an_import_is_translated_and_has_room(pseudo_window: MainWindow, qtbot: QtBot) -> None:
    preview = ImportPreview(pseudo_window.frame)
    preview.show()
    assert untranslated(preview) == []
    found = FoundChats(Chat(title="1", turns=[Turn(Role.USER, "1")]), "Skein", 2)
    problems = (Problem("1", 1, "2", no_messages().reason), Problem("1", 0, "", no_chats().reason))
    preview.show_plan(ImportPlan((found,), (found, found), problems, 1))
    assert untranslated(preview) == []
    qtbot.waitUntil(lambda: cut_off(preview) == [])
    assert [line for line in (*preview.chats.lines, *preview.problems.lines) if not is_translated(line)] == []


def test_the_window_of_models_is_translated_and_has_room(qtbot: QtBot, pseudo_window: MainWindow) -> None:
    model = model_file("1", 40, family="2", licence="3", problem=said("it is not a GGUF file"))
    library = pseudo_window._services.model_library
    assert isinstance(library, FakeModelLibrary)
    library.become(model)
    models = pseudo_window.model_commands.window
    for size in (models.size(), models.minimumSize()):
        models.resize(size)
        pseudo_window.model_commands.show_library()
        qtbot.waitUntil(lambda: models.library.details.name.text() == "1")
        assert untranslated(models) in ([], [model.quantisation])
        qtbot.waitUntil(lambda: cut_off(models) == [])
    assert pseudo_window.tabs.current
    assert untranslated(pseudo_window.tabs.current.empty) == []
    models.close()


async def test_the_rows_of_a_table_are_translated_and_have_room(
    qloop: asyncio.AbstractEventLoop, pseudo_window: MainWindow
) -> None:
    window, jobs = pseudo_window.rows_window, pseudo_window._services.rows
    jobs.table, jobs.columns, jobs.added = Path("/1.csv"), ("1", "2"), ("3", "4")
    jobs.counts, jobs.sharing = Counts(1000, 400, 2), Sharing(0.1, 0.9, "", is_better=True)
    jobs.trouble = said("The answer is no number.")
    window.prompt.show_value("{1}")
    window.resize(window.minimumSize())
    window.show()
    for kind in Kind:
        window.kind.setCurrentIndex(window.kind.findData(kind))
        for jobs.settings in (window._wanted(), JobSettings("/1.csv", "{2}"), None):
            window.apply()
            await asyncio.sleep(0)
            assert untranslated(window) == [], kind
            assert cut_off(window) == [], kind
    window.close()
    await finish_all()
