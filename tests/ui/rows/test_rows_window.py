"""The rows window on real tables and jobs, with the scripted engine."""

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QApplication, QMenu, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from app.bridge.tasks import finish_all
from app.engine.prompts.chat_worker import ChatWorker
from app.protocol.output import FinishReason
from app.rows.job import Counts, JobSettings
from app.rows.template import Sharing
from app.services import rows as service_module
from app.services.rows import RowJobs
from app.ui.rows.rows_window import RowsWindow, progress_text, sharing_text
from tests.bridge.conftest import ScriptedThread

ORDERED = "Is this a good review of a boat? Be fair, and mind that people exaggerate. Text: {text}"
WAITED_S = 20


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "table.csv"
    path.write_text("name,text\n" + "".join(f"n{one},t{one}\n" for one in range(8)))
    return path


@pytest.fixture
def jobs(engine, tmp_path: Path) -> RowJobs:
    return RowJobs(engine, ChatWorker(), tmp_path / "rows", engine)


@pytest.fixture
def window(qtbot: QtBot, qloop, jobs, workspace, engine, thread, monkeypatch) -> Iterator[RowsWindow]:
    monkeypatch.setattr(service_module, "shared_tokens", lambda _prompts, beginning: ())
    thread.num_answered = 0
    window = RowsWindow(jobs, workspace, engine, None)
    qtbot.addWidget(window)
    window.show()
    yield window
    window.hide()


async def until(is_so: Callable[[], object]) -> None:
    async with asyncio.timeout(WAITED_S):
        while not is_so():
            await asyncio.sleep(0.005)


async def looked_at(window: RowsWindow, table: Path) -> None:
    window.look_at(table)
    await until(lambda: not window._jobs.is_busy)


async def answered(window: RowsWindow, thread: ScriptedThread, *ends: tuple[str, FinishReason, str]) -> None:
    """All that is asked until nothing is; the first ones end so."""
    given = iter(ends)
    async with asyncio.timeout(WAITED_S):
        while window._jobs.is_busy:
            asked, thread.submitted = thread.submitted, []
            for request in asked:
                thread.num_answered += 1
                thread.answer(request, *next(given, ("fine", FinishReason.STOP, "")))
            await asyncio.sleep(0.005)


def click(button: QPushButton) -> None:
    assert button.isEnabled(), button.text()
    button.click()


def cells(window: RowsWindow, row: int) -> list[str]:
    model = window.table.rows
    return [model.text_at(row, column) for column in range(len(model.columns))]


def headers(window: RowsWindow) -> list[object]:
    model = window.table.rows
    return [model.headerData(column, Qt.Orientation.Horizontal) for column in range(len(model.columns))]


def inserts(window: RowsWindow) -> list[QPushButton]:
    return [one for one in window._inserts.findChildren(QPushButton) if not one.isHidden()]


async def test_a_table_that_is_chosen_shows_its_rows_and_its_columns_to_insert(window, jobs, table) -> None:
    assert window._pages.currentIndex() == 0
    assert not window.choose.isVisible()
    await looked_at(window, table)
    assert [one.text() for one in inserts(window)] == ["{name}", "{text}"]
    assert headers(window) == ["No.", "name", "text", "State"]
    await until(lambda: cells(window, 1) == ["2", "n1", "t1", ""])
    window.prompt.insertPlainText("About ")
    click(inserts(window)[1])
    assert window.prompt.value == "About {text}"
    assert not window.export.isEnabled()
    assert window.progress.text() == "The first rows of the table"
    await jobs.close()


async def test_a_preview_tells_what_is_shared_and_offers_the_other_order(
    window, jobs, table, thread, workspace
) -> None:
    await looked_at(window, table)
    window.prompt.insertPlainText("{text}: is this a good review of a boat? Be fair, and mind the weather.")
    click(window.preview)
    await answered(window, thread)
    assert thread.num_answered == 3
    assert window.progress.text() == "3 of 8 rows answered"
    assert window.run.text() == "&Go on"
    await until(lambda: cells(window, 2) == ["3", "n2", "t2", "fine", "answered"])
    assert cells(window, 3)[-2:] == ["", "waiting"]
    assert window.note.text().startswith("0% of the first prompt is shared by all rows. With its values")
    before = window.prompt.value
    click(window.reorder)
    assert window.prompt.value.endswith("text: {text}")
    assert workspace.drafts.text(("", "rows.prompt")) == window.prompt.value
    assert window.run.text() == "&Start", "it is another job"
    assert "an earlier prompt" in window.note.text()
    window.undo.undo()
    assert window.prompt.value == before
    await jobs.close()


async def test_rows_are_begun_paused_and_gone_on_with_by_keyboard(
    window, jobs, table, thread, qtbot: QtBot
) -> None:
    await looked_at(window, table)
    window.prompt.insertPlainText(ORDERED)
    window.run.setFocus()
    qtbot.keyClick(window.run, Qt.Key.Key_Space)
    assert window.run.text() == "&Pause"
    await until(lambda: thread.submitted)
    assert not window.kind.isEnabled()
    assert window.prompt.isReadOnly()
    qtbot.keyClick(window.run, Qt.Key.Key_Space)
    await answered(window, thread, *[("", FinishReason.ABORT, "")] * 8)
    assert jobs.counts == Counts(8, 0, 0)
    assert window.kind.isEnabled()
    qtbot.keyClick(window.run, Qt.Key.Key_Space)
    await answered(window, thread)
    assert window.progress.text() == "8 of 8 rows answered"
    assert not window.run.isEnabled()
    assert window.table.hasFocus()
    await jobs.close()


async def test_what_failed_says_why_in_its_row_and_is_asked_again(window, jobs, table, thread) -> None:
    await looked_at(window, table)
    window.prompt.insertPlainText(ORDERED)
    click(window.run)
    await answered(window, thread, ("", FinishReason.ERROR, "It does not fit."))
    assert window.progress.text() == "7 of 8 rows answered  ·  1 failed"
    await until(lambda: cells(window, 0) == ["1", "n0", "t0", "", "It does not fit."])
    assert window.again.isVisible()
    click(window.again)
    await answered(window, thread)
    assert window.progress.text() == "8 of 8 rows answered"
    assert not window.again.isVisible()
    await jobs.close()


async def test_what_cannot_be_asked_is_a_sentence_in_the_window(window, jobs, table, thread) -> None:
    await looked_at(window, table)
    window.kind.setCurrentIndex(1)
    assert window.choices.isVisible()
    click(window.run)
    assert window.trouble.text() == "There must be 2 to 1,000 choices, each with a name."
    window.choices.setText("good, bad")
    window.prompt.insertPlainText("The same for all.")
    click(window.run)
    await answered(window, thread)
    assert window.trouble.text().startswith("The prompt names no column")
    assert jobs.settings is None
    assert [one.text() for one in inserts(window)] == ["{name}", "{text}"], "the table is still there"
    await looked_at(window, table.parent / "gone.csv")
    assert "no longer exists" in window.trouble.text()
    window.kind.setCurrentIndex(3)
    assert window.schema.isVisible()
    assert not window.choices.isVisible()
    await jobs.close()


async def test_a_row_opens_as_the_chat_it_is(window, jobs, table, thread, workspace, qtbot: QtBot) -> None:
    await looked_at(window, table)
    window.prompt.insertPlainText("About {text}")
    click(window.run)
    await answered(window, thread)
    main = QWidget()  # else closing the last window ends the loop
    qtbot.addWidget(main)
    main.show()
    window.table.setFocus()
    window.table.setCurrentIndex(window.table.rows.index(4, 0))
    qtbot.keyClick(window.table, Qt.Key.Key_Return)
    await until(lambda: workspace.current and len(workspace.current.chat.turns) == 2)
    assert [turn.text for turn in workspace.current.chat.turns] == ["About t4", "fine"]
    assert (thread.num_answered, thread.submitted) == (8, []), "nothing is asked"
    assert not window.isVisible()
    await jobs.close()


async def test_rows_are_exported_by_the_name_of_the_file(window, jobs, table, thread, tmp_path) -> None:
    await looked_at(window, table)
    window.prompt.insertPlainText("About {text}")
    click(window.preview)
    await answered(window, thread)
    await window._write(tmp_path / "out.jsonl")
    lines = (tmp_path / "out.jsonl").read_text().splitlines()
    assert lines[0] == '{"name": "n0", "text": "t0", "answer": "fine", "error": ""}'
    assert len(lines) == 8
    assert window.note.text() == f"Saved as {tmp_path / 'out.jsonl'}."
    await window._write(tmp_path / "out.pdf")
    assert "must end in .csv" in window.trouble.text()
    await jobs.close()


async def test_an_earlier_job_is_opened_with_its_prompt_and_deleted_with_a_way_back(
    window, jobs, table, thread
) -> None:
    await looked_at(window, table)
    window.prompt.insertPlainText("About {text}")
    click(window.preview)
    await answered(window, thread)
    await looked_at(window, table)
    window.prompt.show_value("Another {name}")
    menu = await earlier(window)
    menu.actions()[0].trigger()
    await until(lambda: not jobs.is_busy)
    assert window.prompt.value == "About {text}"
    window.undo.undo()
    assert window.prompt.value == "Another {name}", "what was typed is not lost"
    assert window.progress.text() == "3 of 8 rows answered"
    (await earlier(window)).actions()[-1].trigger()
    await until(lambda: not jobs.is_busy)
    assert (jobs.settings, await jobs.earlier()) == (None, [])
    window.undo.undo()
    await until(lambda: not jobs.is_busy)
    assert len(await jobs.earlier()) == 1
    await jobs.close()


async def test_what_was_asked_last_is_there_again_and_waits(
    window, jobs, table, thread, workspace, engine, qtbot: QtBot
) -> None:
    await looked_at(window, table)
    window.prompt.insertPlainText("About {text}")
    click(window.preview)
    await answered(window, thread)
    await jobs.close()
    later = RowJobs(engine, ChatWorker(), jobs._folder, engine)
    for typed in ("Another {name}", "About {text}"):
        workspace.drafts.put(("", "rows.prompt"), typed)
        then = RowsWindow(later, workspace, engine, None)
        qtbot.addWidget(then)
        then.come_up()
        await finish_all()
        assert (then.prompt.value, later.table) == (typed, table)
        then.hide()
    assert then.progress.text() == "3 of 8 rows answered"
    assert then.run.text() == "&Go on"
    assert not thread.submitted
    await later.close()


async def earlier(window: RowsWindow) -> QMenu:
    await window._offer_earlier()
    menu = window.earlier.findChildren(QMenu)[-1]
    menu.close()
    return menu


async def test_of_a_long_table_only_the_rows_in_sight_are_read(
    window, jobs, tmp_path, monkeypatch, thread
) -> None:
    path = tmp_path / "long.csv"
    path.write_text("text\n" + "".join(f"t{one}\n" for one in range(20_000)))
    asked: list[int] = []
    read = jobs.rows

    async def rows(first: int, count: int):
        asked.append(first)
        return await read(first, count)

    await looked_at(window, path)
    monkeypatch.setattr(jobs, "rows", rows)
    window.prompt.insertPlainText("About {text}")
    click(window.preview)
    await answered(window, thread)
    assert window.table.rows.rowCount() == 20_000
    asked.clear()
    window.table.scrollToBottom()
    window.table.viewport().repaint()
    await until(lambda: cells(window, 19_999) == ["20,000", "t19999", "", "waiting"])
    assert set(asked) == {19_900}
    await jobs.close()


async def test_a_file_is_dropped_on_the_window(window, jobs, table) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(table))])
    buttons, keys = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    entered = QDragEnterEvent(QPointF(9, 9).toPoint(), Qt.DropAction.CopyAction, data, buttons, keys)
    QApplication.sendEvent(window, entered)
    assert entered.isAccepted()
    assert window.overlay.text == "Read table.csv"
    QApplication.sendEvent(window, QDropEvent(QPointF(9, 9), Qt.DropAction.CopyAction, data, buttons, keys))
    await until(lambda: not jobs.is_busy)
    assert jobs.table == table
    assert not window.overlay.isVisible()
    await jobs.close()


async def test_tab_reaches_all_of_it_in_the_order_in_which_it_is_read(
    window, jobs, table, qtbot: QtBot
) -> None:
    await looked_at(window, table)
    window.activateWindow()
    await until(window.isActiveWindow)
    stops = [window.choose]
    window.choose.setFocus()
    while True:
        qtbot.keyClick(stops[-1], Qt.Key.Key_Tab)
        focused = QApplication.focusWidget()
        if focused is stops[0]:
            break
        assert focused not in stops
        stops.append(focused)
    assert stops == [
        window.choose,
        window.earlier,
        *inserts(window),
        window.prompt,
        window.kind,
        window.votes,
        window.run,
        window.preview,
        window.table,
    ]
    await jobs.close()


async def test_figures_and_shares_in_words(jobs) -> None:
    jobs.settings = JobSettings("a.csv", "{x}")
    jobs.counts, jobs.is_running = Counts(1000, 400, 2), True
    jobs._num_before, jobs._began_at = 2, service_module.monotonic() - 100
    assert (
        progress_text(jobs)
        == "400 of 1,000 rows answered  ·  2 failed  ·  240 rows a minute  ·  2 minutes left"
    )
    jobs.limit = 3
    assert progress_text(jobs).endswith("240 rows a minute")
    jobs.is_reading = True
    assert progress_text(jobs) == "Reading the table: 1,000 rows"
    jobs.sharing = Sharing(0.8, 0.9, "", is_better=False)
    assert sharing_text(jobs) == "80% of the first prompt is shared by all rows."
    jobs.sharing = Sharing(0.1, 0.9, "", is_better=True)
    assert sharing_text(jobs).endswith("With its values at the end it would be 90%.")
