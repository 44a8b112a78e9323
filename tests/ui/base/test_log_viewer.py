import logging

from app.system.log import Line
from app.ui.base.help_commands import LogViewer

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
