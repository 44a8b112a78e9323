"""What the shown chats say, what can be done in them, and where it can be clicked. In Skein's process."""

import re
from typing import Any

from PySide6.QtGui import QAction
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QDialog,
    QLabel,
    QListWidget,
    QMenu,
    QPushButton,
    QTabBar,
    QTextBrowser,
    QWidget,
)

from app.look.tokens import DARK, current
from app.ui.main_window import MainWindow
from app.ui.message.media_strip import MediaTile
from app.ui.message.tool_card import ToolCard
from app.ui.tabs.chat_view import ChatView
from app.ui.transcript.answer_view import AnswerView
from app.ui.transcript.turn_view import TurnView
from tests.e2e.inspected import middle


def conversed(window: MainWindow) -> dict[str, Any]:
    view = window.tabs.current
    turns = view.transcript.live_views if view else []
    return {
        "loading": window._services.engine.is_loading,
        "model": f"{window.picker.button.name} {window.picker.button.state}".strip(),
        "notebook": view.notebook.editor.text if view and view.notebook else None,
        "theme": "dark" if current() is DARK else "light",
        "versions": [turn.versions.text if turn.versions.isVisible() else "" for turn in turns],
        "editing": [turn.editor.text.toPlainText() for turn in turns if turn.editor],
        "heights": [turn.height() for turn in turns],
        "queue": [bubble.words.text() for bubble in view.transcript.queue.bubbles] if view else [],
        "files": [file.name for file in view.composer.attachments] if view else [],
        "pictures": [tile.accessibleName() for tile in _tiles(view) if tile.is_painted],
        "matches": view.find_bar.count.text() if view and view.find_bar.isVisible() else "",
        "undo": window.undo.text if window.undo.isVisible() else "",
        "cards": [card.header.words for card in _cards(view)],
        "panes": "\n".join(pane.toPlainText() for turn in turns for pane in turn.text_panes()),
        "says": _says(window),
        "dialog": _dialog(),
        "shelf": view.composer.shelf.text().strip() if view else "",
        "shelf files": _shelf_files(window),
        "read": _read(window),
        **_menu(),
    }


def _shelf_files(window: MainWindow) -> list[str]:
    """Names and states of what the shelves window shows, if it is there."""
    shown = window.shelves.shown_window
    rows = shown.table.rows if shown and shown.isVisible() else None
    if rows is None:
        return []
    return [
        " ".join(str(rows.index(row, column).data()) for column in (1, 2)) for row in range(rows.rowCount())
    ]


def _read(window: MainWindow) -> dict[str, str] | None:
    """What the reader shows, if it is open."""
    reader = window.shelves.reader
    if reader is None or not reader.isVisible():
        return None
    return {"title": reader.title.text(), "marked": reader.marked}


def _cards(view: ChatView | None) -> list[ToolCard]:
    turns = view.transcript.live_views if view else []
    return [card for turn in turns if isinstance(turn, AnswerView) for card in turn.rounds.cards]


def _tiles(view: ChatView | None) -> list[MediaTile]:
    """Pictures and sounds of messages."""
    turns = view.transcript.live_views if view else []
    return [tile for turn in turns for tile in turn.findChildren(MediaTile) if tile.isVisible()]


def conversed_places(window: MainWindow) -> dict[str, list[int]]:
    view = window.tabs.current
    return {
        **(_chat_places(view) if view else {}),
        **_list_places(window),
        **_dialog_places(),
        **({"undo": middle(window.undo.button)} if window.undo.isVisible() else {}),
    }


def _chat_places(view: ChatView) -> dict[str, list[int]]:
    samples = view.empty.buttons if view.empty.isVisible() else ()
    places = {f"sample {number}": middle(button) for number, button in enumerate(samples, 1)}
    if view.empty.primary.isVisible():
        places["primary"] = middle(view.empty.primary)
    for number, card in enumerate(_cards(view), 1):
        places[f"card {number}"] = middle(card.header)
        shown = (button for button in card.buttons.values() if button.isVisible())
        places |= {f"card {number} {button.text()}": middle(button) for button in shown}
    places |= {f"picture {number}": middle(tile) for number, tile in enumerate(_tiles(view), 1)}
    places["tools"] = middle(view.composer.tools)
    places["shelf"] = middle(view.composer.shelf)
    places |= {f"source {number}": place for number, place in _source_places(view).items()}
    for number, turn in enumerate(view.transcript.live_views, 1):
        places |= {f"turn {number} {name}": place for name, place in _turn_places(turn).items()}
    return places


def _dialog_places() -> dict[str, list[int]]:
    dialog = _active_dialog()
    buttons = dialog.findChildren(QPushButton) if dialog else []
    return {f"dialog {button.text()}": middle(button) for button in buttons if button.isVisible()}


def _source_places(view: ChatView) -> dict[str, list[int]]:
    """Of the numbers of sources in what is shown."""
    found: dict[str, list[int]] = {}
    panes = [pane for turn in view.transcript.live_views for pane in turn.text_panes()]
    for pane in panes:
        for place in re.finditer(r"\[(\d+)\]", pane.toPlainText()):
            cursor = pane.textCursor()
            cursor.setPosition(place.start() + 1)
            rect = pane.cursorRect(cursor)
            if isinstance(pane, QTextBrowser) and pane.anchorAt(rect.center()):
                found[place[1]] = middle(pane.viewport(), rect)
    return found


def _turn_places(turn: TurnView) -> dict[str, list[int]]:
    """In the words of the code: those on the screen are another language's, perhaps."""
    known: dict[str, QWidget] = {action.value: button for action, button in turn.buttons._buttons.items()}
    known |= {"previous": turn.versions.previous, "next": turn.versions.next}
    return {name: middle(widget) for name, widget in known.items() if widget.isVisible()}


def _list_places(window: MainWindow) -> dict[str, list[int]]:
    side = window.navigation.sidebar
    if not side.isVisible():
        return {}
    view, model = side.list, side.model
    rects = {row.text: view.visualRect(model.index(place)) for place, row in enumerate(model.rows)}
    return {f"listed {text}": middle(view.viewport(), rect) for text, rect in rects.items()}


def _menu() -> dict[str, Any]:
    """The names of what the innermost open menu offers, and of what the keyboard is at in it."""
    menu = QApplication.activePopupWidget()
    if not isinstance(menu, QMenu):
        return {"menu": [], "menu_entry": ""}
    active: QAction | None = menu.activeAction()
    return {"menu": [_name(each) for each in menu.actions()], "menu_entry": _name(active) if active else ""}


def _name(action: QAction) -> str:
    """Chats and folders have none but their own."""
    return action.objectName() or action.text()


def _says(window: MainWindow) -> list[str]:
    """What stands on the new chat, or in the window that is in front of it."""
    active = QApplication.activeWindow()
    view = window.tabs.current
    page: QWidget | None = active if active and active is not window.frame else view and view.empty
    if page is None:
        return []
    parts = [*page.findChildren(QLabel), *page.findChildren(QAbstractButton)]
    tabs = [bar.tabText(index) for bar in page.findChildren(QTabBar) for index in range(bar.count())]
    return [part.text().replace("&", "") for part in parts if part.isVisible() and part.text()] + tabs


def _active_dialog() -> QDialog | None:
    window = QApplication.activeWindow()
    return window if isinstance(window, QDialog) else None


def _dialog() -> dict[str, Any] | None:
    """What stands in front of the window, if anything does."""
    dialog = _active_dialog()
    if dialog is None:
        return None
    lists = dialog.findChildren(QListWidget)
    return {
        "kind": type(dialog).__name__,
        "texts": [label.text() for label in dialog.findChildren(QLabel) if label.isVisible()],
        "lines": [each.item(row).text() for each in lists for row in range(each.count()) if each.isVisible()],
    }
