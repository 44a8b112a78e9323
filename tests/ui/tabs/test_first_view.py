"""The window before it is filled, and what becomes of what is done in it then."""

from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QMimeData, QPoint, QRect, Qt, QUrl
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from app.chats.chat import Chat
from app.look.fonts import READING_POINTS
from app.look.theme import dress
from app.program import Program, Start
from app.settings.appearance import AppearanceSettings
from app.settings.settings import Settings
from app.system.crashes import RunMarker
from app.ui.base.proportions import LIST_WIDTH
from app.ui.composer.message_editor import MessageEditor
from app.ui.frame import Frame
from app.ui.main_window import MainWindow
from app.ui.tabs.first_view import FirstLayout
from app.ui.window_state import WindowState
from tests.fakes import model_info
from tests.ui.fakes import FakeEngine, FakeSession, FakeWorkspace
from tests.ui.windows import scripted_window

APPEARANCE = AppearanceSettings(theme="light", zoom=2, enter_sends=True)
SETTINGS = Settings(theme="light", zoom=2)


@pytest.fixture
def frame(qtbot: QtBot, qapp: QApplication) -> Iterator[Frame]:
    """Shown, and not filled."""
    dress(qapp, APPEARANCE)
    frame = Frame(APPEARANCE, FirstLayout(list_choice=False))
    qtbot.addWidget(frame, before_close_func=lambda widget: widget.hide())
    with qtbot.waitSignal(frame.first_view.painted):
        frame.show()
    qtbot.waitUntil(lambda: editor_of(frame).hasFocus())
    yield frame


def editor_of(frame: Frame) -> MessageEditor:
    return frame.first_view.page.editor


def fill(frame: Frame) -> tuple[MainWindow, FakeWorkspace]:
    workspace = FakeWorkspace()
    window = scripted_window(FakeEngine(model_info()), workspace, SETTINGS, frame)
    window.inspector.set_shown(False)
    window.navigation.restore(LIST_WIDTH, False, ())
    return window, workspace


def place_of(widget: QWidget) -> QRect:
    """In its window."""
    return QRect(widget.mapTo(widget.window(), QPoint(0, 0)), widget.size())


@pytest.mark.parametrize("size", [(1280, 800), (900, 600), (563, 401)])
def test_what_is_written_in_stands_where_it_stays(size: tuple[int, int], frame, qtbot, qapp) -> None:
    frame.resize(*size)
    qtbot.keyClick(editor_of(frame), Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    qapp.processEvents()
    page, editor = place_of(frame.first_view.page), place_of(editor_of(frame))
    titles = [action.text() for action in frame.menuBar().actions()]

    window, workspace = fill(frame)
    qapp.processEvents()
    assert [action.text() for action in frame.menuBar().actions()] == titles
    assert place_of(window.tabs.pages) == page
    assert place_of(editor_of(frame)) == editor
    workspace.new_chat()
    qapp.processEvents()
    composer = window.tabs.current.composer
    assert place_of(composer.editor) == editor
    assert composer.editor.font().pointSizeF() == qapp.font().pointSizeF() + READING_POINTS + 2


def test_no_letter_is_lost_while_the_window_is_filled(frame: Frame, qtbot: QtBot) -> None:
    qtbot.keyClicks(frame.focusWidget(), "before, ")
    window, workspace = fill(frame)
    qtbot.keyClicks(frame.focusWidget(), "between, ")
    session = workspace.add(Chat(), 0)
    session.draft = "A draft. "
    workspace.set_current(session)
    qtbot.keyClicks(frame.focusWidget(), "after")
    assert window.tabs.current.composer.editor.toPlainText() == "A draft. before, between, after"
    assert session.draft == "A draft. before, between, after"
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)  # what is not needed any more goes
    assert window.tabs.current.composer.editor.hasFocus()


def test_what_was_sent_before_there_was_a_chat_is_sent_then(frame: Frame, qtbot: QtBot) -> None:
    editor = editor_of(frame)
    for text in ("2 + 2?", "  ", "3 + 3?"):
        editor.setPlainText(text)
        qtbot.keyClick(editor, Qt.Key.Key_Return)
    assert editor.toPlainText() == ""
    qtbot.keyClicks(editor, "and")
    session = fill(frame)[1].new_chat()
    assert [*session.sent, *(message.text for message in session.chat.queue)] == ["2 + 2?", "3 + 3?"]
    assert session.draft == "and"


def test_a_file_pasted_before_there_was_a_chat_is_read_then(frame: Frame) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile("/notes.txt")])
    editor_of(frame).insertFromMimeData(data)
    session = fill(frame)[1].new_chat()
    assert session.files.asked_for == [Path("/notes.txt")]


def test_of_two_chats_the_one_in_front_takes_what_was_written(frame: Frame, qtbot: QtBot) -> None:
    qtbot.keyClicks(editor_of(frame), "mine")
    window, workspace = fill(frame)
    left, right = workspace.add(Chat(), 0), workspace.add(Chat(), 1)
    workspace._row.show_beside(right, left)
    workspace.set_current(right)
    texts = {view.session: view.composer.editor.toPlainText() for view in window.tabs.shown_views}
    assert texts == {left: "", right: "mine"}
    assert isinstance(left, FakeSession)


def test_a_window_closed_before_it_is_filled_is_known_to_be(frame: Frame) -> None:
    frame.close()
    assert frame.was_closed
    assert frame.isVisible()


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("DATA", "CONFIG", "CACHE", "STATE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name))
    return tmp_path


@pytest.mark.parametrize("has_inspector", [False, True])
def test_the_list_and_the_inspector_find_the_places_kept_for_them(
    has_inspector: bool, home: Path, qapp: QApplication, qtbot: QtBot
) -> None:
    dress(qapp, APPEARANCE)
    state = WindowState(home / "window.ini")
    places = []
    for _start in range(2):
        frame = Frame(APPEARANCE, state.layout)
        frame.restoreGeometry(state.geometry)
        frame.show()
        qtbot.waitExposed(frame)
        first = place_of(frame.first_view.page)
        start = Start(Path("none.gguf"), StringIO(), RunMarker(home / "marker"), None)
        program = Program(qapp, frame, state, SETTINGS, start)  # type: ignore[arg-type]
        window = program._window
        state.restore(window)
        qapp.processEvents()
        places.append((first, place_of(window.tabs.pages)))
        window.inspector.set_shown(has_inspector)
        window.navigation.restore(211, not has_inspector, ())
        frame.resize(791, 707)  # the screen of these tests has no room for all three
        docks = [window.inspector.dock(name) for name in window.inspector.names]
        frame.resizeDocks(docks[:1], [300], Qt.Orientation.Horizontal)
        qapp.processEvents()
        state.save(window)
        frame.hide()
        frame.deleteLater()
        program.deleteLater()
        qapp.processEvents()
    (usual, usual_filled), (kept, kept_filled) = places
    assert usual == usual_filled
    assert kept == kept_filled
    assert kept.left() == (0 if has_inspector else 212)
    assert (kept.right() < 790) == has_inspector
