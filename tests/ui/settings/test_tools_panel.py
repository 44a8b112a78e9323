from collections.abc import Iterator
from dataclasses import replace

import pytest
from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtWidgets import QApplication, QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from app.look.layouts import STRETCH, vbox
from app.ui.settings.tool_choice import Keys, is_chosen
from app.ui.settings.tools_panel import ToolGroup, ToolLine, ToolsPanel

TIME = ToolLine("skein/time", "Current time", "Tells the time", num_tokens=40)
SUM = ToolLine("skein/calculate", "Calculator", "Exact sums", num_tokens=55)
OWN = ToolGroup("skein", "Built in", (TIME, SUM))
MANY = ToolGroup("git", "git", tuple(ToolLine(f"git/tool_{n}", f"Tool {n}") for n in range(30)))
DEAD = ToolGroup("files", "files", (), "It could not be started.", is_failed=True)


@pytest.fixture
def window(qtbot: QtBot) -> Iterator[QWidget]:
    window = QWidget()
    qtbot.addWidget(window)
    vbox(STRETCH, QLineEdit(window), on=window)
    window.resize(700, 600)
    window.show()
    qtbot.waitExposed(window)
    window.activateWindow()
    yield window


@pytest.fixture
def panel(window: QWidget) -> ToolsPanel:
    """What it tells is taken, as its owner would."""
    panel = ToolsPanel(window)
    panel.chosen.connect(lambda keys: show(panel, *panel._groups, keys=keys))
    return panel


def show(panel: ToolsPanel, *groups: ToolGroup, keys: Keys = ()) -> None:
    offered = [tool for group in groups for tool in group.tools if is_chosen(keys, tool.key)]
    panel.apply(groups, keys, offered)
    composer = panel.window().findChild(QLineEdit, options=Qt.FindChildOption.FindDirectChildrenOnly)
    if not panel.isVisible() and isinstance(composer, QLineEdit):
        panel.open_above(composer)


def test_tools_are_switched_one_by_one_and_together(panel: ToolsPanel, qtbot: QtBot) -> None:
    chosen: list[Keys] = []
    panel.chosen.connect(chosen.append)
    show(panel, OWN)
    section = panel.sections[0]
    assert panel.total.text() == ""
    qtbot.mouseClick(section.rows[0], Qt.MouseButton.LeftButton)
    assert chosen[-1] == ("skein/time",)
    assert panel.total.text() == "1 tool · 40 tokens"
    panel.apply([OWN], chosen[-1], [replace(TIME, num_tokens=9_500)], are_listed=True)
    assert panel.total.text() == "1 tool · 9,500 tokens · too much for this context: listed by name"
    assert not section.switch.isChecked()
    section.switch.click()
    assert chosen[-1] == ("skein/*",)
    assert all(row.switch.isChecked() for row in section.rows)
    qtbot.keyClick(section.rows[1].switch, Qt.Key.Key_Space)
    assert chosen[-1] == ("skein/time",)


def test_tab_goes_from_tool_to_tool(panel: ToolsPanel, qtbot: QtBot) -> None:
    show(panel, OWN, DEAD)
    show(panel, OWN, MANY)
    panel.sections[0].switch.setFocus()
    qtbot.keyClick(panel.sections[0].switch, Qt.Key.Key_Tab)
    assert QApplication.focusWidget() is panel.sections[0].rows[0].switch


def test_a_search_where_there_are_many(panel: ToolsPanel) -> None:
    show(panel, OWN)
    assert panel.search.isHidden()
    show(panel, OWN, MANY)
    assert not panel.search.isHidden()
    assert not panel.sections[1].is_open, "thirty tools are folded"
    panel.search.setText("tool 17")
    assert [row._tool.key for row in panel.sections[1].rows if not row.isHidden()] == ["git/tool_17"]
    assert panel.sections[0].isHidden()
    panel.search.setText("nothing has this")
    assert not panel._nothing.isHidden()
    panel.search.clear()
    assert not panel.sections[0].isHidden()
    panel.sections[1].fold.click()
    assert not panel.sections[1].rows[29].isHidden()


def test_a_server_that_does_not_work_says_why(panel: ToolsPanel) -> None:
    show(panel, OWN, DEAD)
    assert panel.sections[1]._state.text() == "It could not be started."
    assert panel.sections[1].isVisible()


def test_it_is_as_high_as_its_tools_and_closes(panel: ToolsPanel, qtbot: QtBot) -> None:
    show(panel, OWN)
    low = panel.height()
    panel.close_up()
    show(panel, OWN, MANY, keys=("git/tool_3",))
    assert panel.height() > low
    with qtbot.waitSignal(panel.closed):
        qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Escape)


def test_nothing_jumps_while_a_search_is_filled_and_it_opens_as_high_as_all_tools(
    panel: ToolsPanel, qtbot: QtBot
) -> None:
    show(panel, OWN, MANY)
    height = panel.height()
    panel.search.setText("tool")
    QApplication.processEvents()
    panel.close_up()
    show(panel, OWN, MANY)
    assert panel.height() == height
    panel.search.setText("tool")
    with qtbot.assertNotEmitted(Hidden(panel.sections[1].rows[1]).hidden):
        panel.sections[1].switch.click()


class Hidden(QObject):
    """Tells when a widget is hidden, for however short a time."""

    hidden = Signal()

    def __init__(self, widget: QWidget) -> None:
        super().__init__(widget)
        widget.installEventFilter(self)

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Hide:
            self.hidden.emit()
        return False
