from collections import Counter
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QByteArray, QEvent, QObject, QPoint, QSize, Qt
from PySide6.QtWidgets import QApplication, QLineEdit, QMainWindow, QMenu, QTabBar, QTextEdit
from pytestqt.qtbot import QtBot

from app.inspector.dock_panel import DockPanel, Later
from app.inspector.docks import ROWS, STATE_VERSION, InspectorDocks
from app.protocol.commands import CheckCells
from tests.fakes import model_info
from tests.inspector.reports import decoding, report
from tests.inspector.steps import busy_step

ALL_NAMES = {kind.NAME for _, kinds in ROWS for kind in kinds}
FRONT_NAMES = {kinds[0].NAME for _, kinds in ROWS}


class Noted(DockPanel):
    """Counts what is asked of it."""

    def __init__(self, *args: object) -> None:
        self.num_draws = 0
        self.num_resets = 0
        self.chosen: list[tuple[str, int]] = []
        super().__init__(*args)  # type: ignore[arg-type]

    def draw(self) -> None:
        self.num_draws += 1

    def reset(self) -> None:
        self.num_resets += 1

    def select_sequence(self, seq_id: int) -> None:
        self.chosen.append(("sequence", seq_id))
        self.sequence_selected.emit(seq_id)

    def select_step(self, step: int) -> None:
        self.chosen.append(("step", step))

    def sizeHint(self) -> QSize:
        return QSize(400, 150)

    def minimumSizeHint(self) -> QSize:
        return QSize(120, 60)


class Above(Noted):
    NAME, TITLE = "above", "Above"


class Front(Noted):
    NAME, TITLE = "front", "Front"


class Behind(Noted):
    NAME, TITLE = "behind", "Behind"


NOTED_ROWS = ((5, (Above,)), (5, (Front, Behind)))


@pytest.fixture
def window(qtbot: QtBot) -> Iterator[QMainWindow]:
    window = QMainWindow()
    qtbot.addWidget(window)
    window.setCentralWidget(QTextEdit())
    window.resize(1000, 700)
    yield window


@pytest.fixture
def docks(window: QMainWindow, qtbot: QtBot) -> InspectorDocks:
    docks = InspectorDocks(window, NOTED_ROWS)
    window.show()
    qtbot.waitExposed(window)
    settle()
    docks.begin("", model_info())
    for panel in docks.panels:
        assert isinstance(panel, Noted)
        panel.num_draws = 0
    return docks


def settle() -> None:
    for _ in range(4):
        QApplication.processEvents()


def num_draws(docks: InspectorDocks) -> dict[str, int]:
    return {panel.NAME: panel.num_draws for panel in docks.panels if isinstance(panel, Noted)}


def visible(docks: InspectorDocks) -> set[str]:
    return {panel.NAME for panel in docks.panels if panel.isVisible()}


class TestDrawing:
    def test_only_panels_that_can_be_seen_are_drawn(self, docks: InspectorDocks) -> None:
        docks.append("", (report(1, decoding(0, "sums")),))
        assert num_draws(docks) == {"above": 1, "front": 1, "behind": 0}

    def test_reports_in_between_wait_for_the_next_tenth_of_a_second(
        self, docks: InspectorDocks, qtbot: QtBot
    ) -> None:
        for step in range(1000):
            docks.append("", (report(step, decoding(0, "sums")),))
        assert num_draws(docks)["front"] == 1
        assert docks.recording.num_seen == 1000
        qtbot.waitUntil(lambda: num_draws(docks)["front"] == 2)

    def test_in_a_pulse_one_panel_is_drawn_and_the_keyboard_has_its_turn_before_the_next(
        self, docks: InspectorDocks, qtbot: QtBot
    ) -> None:
        for step in range(2):
            docks.append("", (report(step, decoding(0, "sums")),))
        docks._on_pulse()
        assert num_draws(docks) == {"above": 2, "front": 1, "behind": 0}
        qtbot.waitUntil(lambda: num_draws(docks) == {"above": 2, "front": 2, "behind": 0})

    def test_the_pulse_stops_when_no_reports_come(self, docks: InspectorDocks, qtbot: QtBot) -> None:
        docks.append("", (report(1, decoding(0, "sums")),))
        assert docks._pulse.isActive()
        qtbot.waitUntil(lambda: not docks._pulse.isActive())
        assert num_draws(docks)["front"] == 1

    def test_a_panel_that_comes_to_the_front_is_drawn_at_once_and_the_other_no_more(
        self, docks: InspectorDocks
    ) -> None:
        docks.dock("behind").raise_()
        settle()
        assert num_draws(docks) == {"above": 0, "front": 0, "behind": 1}
        docks._draw()
        assert num_draws(docks) == {"above": 1, "front": 0, "behind": 2}

    def test_a_closed_panel_does_nothing(self, docks: InspectorDocks) -> None:
        docks.dock("above").close()
        docks._draw()
        assert num_draws(docks)["above"] == 0

    def test_a_minimised_window_draws_nothing(self, docks: InspectorDocks, window: QMainWindow) -> None:
        window.showMinimized()
        settle()
        docks.append("", (report(1, decoding(0, "sums")),))
        assert num_draws(docks) == {"above": 0, "front": 0, "behind": 0}


class TestArrangement:
    def test_a_row_of_panels_shares_one_place_and_its_tabs_are_the_titles(
        self, docks: InspectorDocks, window: QMainWindow
    ) -> None:
        (bar,) = (bar for bar in window.findChildren(QTabBar) if bar.isVisible())
        assert [bar.tabText(number) for number in range(bar.count())] == ["Front", "Behind"]
        assert visible(docks) == {"above", "front"}
        assert docks.dock("above").title.height() > 0
        assert docks.dock("front").title.height() == 0

    def test_tabs_keep_their_whole_titles_where_there_is_no_room_for_all(
        self, docks: InspectorDocks, window: QMainWindow
    ) -> None:
        (bar,) = (bar for bar in window.findChildren(QTabBar) if bar.isVisible())
        title = "Everything about tokens " * 20
        docks.dock("behind").setWindowTitle(title)
        settle()
        assert bar.tabRect(1).width() > bar.fontMetrics().horizontalAdvance(title) > bar.width()

    def test_f12_brings_back_what_was_there_as_it_was(
        self, docks: InspectorDocks, window: QMainWindow
    ) -> None:
        docks.dock("behind").raise_()
        window.resizeDocks([docks.dock("above")], [333], Qt.Orientation.Horizontal)
        window.resizeDocks([docks.dock("above"), docks.dock("behind")], [200, 400], Qt.Orientation.Vertical)
        settle()
        before = [docks.dock(name).geometry() for name in ("above", "behind")]
        docks.toggle.trigger()
        settle()
        assert visible(docks) == set()
        docks.toggle.trigger()
        settle()
        assert visible(docks) == {"above", "behind"}
        assert [docks.dock(name).geometry() for name in ("above", "behind")] == before

    def test_a_panel_that_is_asked_for_comes_to_the_front_of_its_tabs(self, docks: InspectorDocks) -> None:
        docks.dock("behind").close()
        settle()
        docks.dock("behind").toggleViewAction().trigger()
        settle()
        assert visible(docks) == {"above", "behind"}

    def test_a_closed_panel_stays_closed_through_f12_and_comes_back_by_its_own_toggle(
        self, docks: InspectorDocks
    ) -> None:
        docks.dock("above").close()
        docks.toggle.trigger()
        docks.toggle.trigger()
        settle()
        assert visible(docks) == {"front"}
        docks.dock("above").toggleViewAction().trigger()
        assert "above" in visible(docks)

    def test_the_toggle_tells_whether_anything_is_shown(self, docks: InspectorDocks) -> None:
        assert docks.toggle.isChecked()
        for name in ("above", "front", "behind"):
            docks.dock(name).close()
        settle()
        assert not docks.toggle.isChecked()
        docks.toggle.trigger()
        settle()
        assert visible(docks) == {"above", "front"}

    def test_a_panel_torn_off_from_behind_a_tab_is_shown(self, docks: InspectorDocks) -> None:
        docks.dock("behind").setFloating(True)
        settle()
        assert visible(docks) == {"above", "front", "behind"}
        assert docks.dock("front").title.height() > 0

    def test_the_panel_with_the_focus_is_torn_off_and_put_back_by_the_menu(
        self, docks: InspectorDocks, window: QMainWindow, qtbot: QtBot
    ) -> None:
        window.activateWindow()
        above = docks.panel("above")
        above.setFocus()
        qtbot.waitUntil(above.hasFocus)
        tear_off = next(a for a in docks.menu(window).actions() if a.text() == "&Tear off panel")
        tear_off.trigger()
        assert docks.dock("above").isFloating()
        qtbot.waitUntil(above.hasFocus)
        tear_off.trigger()
        assert not docks.dock("above").isFloating()

    def test_a_command_of_the_palette_tears_off_the_panel_that_had_the_focus_before(
        self, docks: InspectorDocks, window: QMainWindow, qtbot: QtBot
    ) -> None:
        window.activateWindow()
        docks.panel("above").setFocus()
        qtbot.waitUntil(docks.panel("above").hasFocus)
        field = QLineEdit(window)
        field.show()
        field.setFocus()
        qtbot.waitUntil(field.hasFocus)
        next(a for a in docks.menu(window).actions() if a.text() == "&Tear off panel").trigger()
        assert docks.dock("above").isFloating()

    def test_a_panel_behind_a_tab_is_torn_off_where_it_stood_and_docked_in_front(
        self, docks: InspectorDocks
    ) -> None:
        place = docks.dock("front").geometry()
        docks.dock("behind").switch_floating()
        settle()
        assert docks.dock("behind").width() >= place.width()
        assert docks.dock("behind").height() >= place.height()
        docks.dock("behind").switch_floating()
        settle()
        assert visible(docks) == {"above", "behind"}

    def test_the_command_means_a_panel_that_can_be_seen(
        self, docks: InspectorDocks, window: QMainWindow, qtbot: QtBot
    ) -> None:
        window.activateWindow()
        docks.panel("front").setFocus()
        qtbot.waitUntil(docks.panel("front").hasFocus)
        docks.show_panel("behind")
        settle()
        next(a for a in docks.menu(window).actions() if a.text() == "&Tear off panel").trigger()
        assert not docks.dock("front").isFloating()

    def test_reset_puts_everything_where_it_was_at_first(self, docks: InspectorDocks) -> None:
        docks.dock("behind").setFloating(True)
        docks.dock("above").close()
        settle()
        docks.reset_layout()
        settle()
        assert visible(docks) == {"above", "front"}
        assert not docks.dock("behind").isFloating()
        assert docks.dock("front").title.height() == 0

    def test_a_panel_can_be_asked_for_while_the_inspector_is_hidden(self, docks: InspectorDocks) -> None:
        docks.set_shown(False)
        docks.show_panel("behind")
        settle()
        assert visible(docks) == {"above", "behind"}

    def test_a_click_with_the_right_button_on_a_tab_offers_to_tear_it_off_or_close_it(
        self, docks: InspectorDocks, window: QMainWindow
    ) -> None:
        (bar,) = (bar for bar in window.findChildren(QTabBar) if bar.isVisible())
        assert docks.popup_menu(bar.mapToGlobal(bar.tabRect(1).center()))
        (menu,) = (menu for menu in window.findChildren(QMenu) if menu.isVisible())
        explained: list[str] = []
        docks.explained.connect(explained.append)
        next(action for action in menu.actions() if action.text() == "&Explain in the guide").trigger()
        assert explained == [docks.dock("behind").windowTitle()]
        next(action for action in menu.actions() if action.text() == "&Tear off").trigger()
        menu.close()
        assert docks.dock("behind").isFloating()
        assert not docks.popup_menu(window.mapToGlobal(QPoint(5, 300)))


class TestSaving:
    def again(self, qtbot: QtBot, arrangement: QByteArray, is_shown: bool) -> InspectorDocks:
        window = QMainWindow()
        qtbot.addWidget(window)
        window.setCentralWidget(QTextEdit())
        window.resize(1000, 700)
        docks = InspectorDocks(window, NOTED_ROWS)
        docks.restore_state(arrangement, is_shown)
        window.show()
        settle()
        docks.window_for_test = window  # type: ignore[attr-defined]
        return docks

    def test_the_next_start_looks_like_the_last_end(self, docks: InspectorDocks, qtbot: QtBot) -> None:
        docks.dock("behind").raise_()
        docks.dock("above").close()
        settle()
        again = self.again(qtbot, *docks.saved_state())
        assert visible(again) == {"behind"}

    def test_an_inspector_hidden_at_the_end_is_hidden_again_and_comes_back_as_it_was(
        self, docks: InspectorDocks, qtbot: QtBot
    ) -> None:
        docks.dock("behind").raise_()
        settle()
        docks.set_shown(False)
        again = self.again(qtbot, *docks.saved_state())
        assert visible(again) == set()
        again.toggle.trigger()
        settle()
        assert visible(again) == {"above", "behind"}

    def test_what_an_earlier_version_saved_leaves_the_usual_arrangement(
        self, docks: InspectorDocks, window: QMainWindow, qtbot: QtBot
    ) -> None:
        docks.dock("above").close()
        again = self.again(qtbot, window.saveState(STATE_VERSION - 1), True)
        assert visible(again) == {"above", "front"}


class TestPanels:
    def test_a_choice_in_one_panel_is_told_to_all_once(self, docks: InspectorDocks) -> None:
        docks.panel("front").sequence_selected.emit(3)
        docks.panel("front").step_selected.emit(17)
        for panel in docks.panels:
            assert isinstance(panel, Noted)
            assert panel.chosen == [("sequence", 3), ("step", 17)]

    def test_a_panel_that_is_first_seen_later_shows_what_was_chosen_of_this_recording(
        self, window: QMainWindow, qtbot: QtBot
    ) -> None:
        class Second(Noted):
            NAME, TITLE = "second", "Second"

        later = (Later(kind.NAME, kind.TITLE, lambda kind=kind: kind) for kind in (Behind, Second))
        docks = InspectorDocks(window, ((5, (Front, *later)),))
        window.show()
        settle()
        front = docks.panel("front")
        front.sequence_selected.emit(3)
        front.step_selected.emit(17)
        assert docks.panels == (front,)
        docks.show_panel("behind")
        assert docks.panel("behind").chosen == [("sequence", 3), ("step", 17)]  # type: ignore[attr-defined]
        docks.begin("", model_info())
        docks.show_panel("second")
        assert docks.panel("second").chosen == []  # type: ignore[attr-defined]

    def test_what_a_panel_wants_leaves_the_docks(self, docks: InspectorDocks, qtbot: QtBot) -> None:
        with qtbot.waitSignal(docks.commanded) as commanded:
            docks.panel("front").commanded.emit(CheckCells())
        with qtbot.waitSignal(docks.chat_activated) as activated:
            docks.panel("front").chat_activated.emit("sums")
        assert (commanded.args, activated.args) == ([CheckCells()], ["sums"])

    def test_a_new_model_begins_a_new_recording(self, docks: InspectorDocks) -> None:
        docks.append("", (report(1, decoding(0, "sums")),))
        docks.begin("", model_info(name="big"))
        assert docks.recording.newest is None
        assert all(panel.num_resets == 2 for panel in docks.panels if isinstance(panel, Noted))

    def test_titles_reach_every_panel_and_are_remembered(self, docks: InspectorDocks) -> None:
        docks.set_titles({"sums": "Sums"})
        docks.set_titles({})
        assert all(panel.titles == {} for panel in docks.panels)
        assert docks.recording.titles == {"sums": "Sums"}


class Work(QObject):
    """Counts what each panel does: how often it is drawn, and how often anything in it is painted."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        super().__init__()
        self.num_draws: Counter[str] = Counter()
        self.num_paints: Counter[str] = Counter()
        for kind in (kind.load() if isinstance(kind, Later) else kind for _, kinds in ROWS for kind in kinds):
            monkeypatch.setattr(kind, "draw", self._counted(kind))

    def _counted(self, kind: type[DockPanel]) -> object:
        draw = kind.draw

        def counted(panel: DockPanel) -> None:
            self.num_draws[panel.NAME] += 1
            draw(panel)

        return counted

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Paint:
            part: QObject | None = watched
            while part is not None and not isinstance(part, DockPanel):
                part = part.parent()
            if part is not None:
                self.num_paints[part.NAME] += 1
        return False


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch, qapp: QApplication) -> Iterator[Work]:
    work = Work(monkeypatch)
    qapp.installEventFilter(work)
    yield work
    qapp.removeEventFilter(work)


@pytest.fixture
def all_docks(work: Work, qtbot: QtBot) -> InspectorDocks:
    window = QMainWindow()
    qtbot.addWidget(window)
    window.setCentralWidget(QTextEdit())
    window.resize(1280, 800)
    docks = InspectorDocks(window, ROWS)
    docks.begin("", model_info())
    window.show()
    qtbot.waitExposed(window)
    return docks


def stream(all_docks: InspectorDocks, work: Work) -> None:
    """Eight tabs for ten pulses."""
    for _ in range(4):
        QApplication.processEvents()
    work.num_draws.clear()
    work.num_paints.clear()
    for step in range(1, 101):
        all_docks.append("", (busy_step(step, 8),))
        if step % 10 == 0:
            all_docks._on_pulse()
            while all_docks._undrawn:
                all_docks._draw_next()
            QApplication.processEvents()
    assert all_docks.recording.num_seen == 100


def test_of_the_usual_docks_only_those_in_front_work(all_docks: InspectorDocks, work: Work) -> None:
    stream(all_docks, work)
    assert work.num_draws.keys() == work.num_paints.keys() == FRONT_NAMES
    assert max(work.num_draws.values()) < 20


def test_a_closed_inspector_does_nothing(all_docks: InspectorDocks, work: Work) -> None:
    all_docks.set_shown(False)
    stream(all_docks, work)
    assert (work.num_draws, work.num_paints) == ({}, {})


def test_torn_off_every_panel_is_drawn_as_often_as_the_others(all_docks: InspectorDocks, work: Work) -> None:
    for name in ALL_NAMES:
        all_docks.dock(name).setFloating(True)
    stream(all_docks, work)
    assert work.num_draws.keys() == ALL_NAMES
    assert max(work.num_draws.values()) - min(work.num_draws.values()) <= 1


def test_a_panel_that_is_made_later_is_the_one_that_is_named() -> None:
    for later in (kind for _, kinds in ROWS for kind in kinds if isinstance(kind, Later)):
        assert (later.NAME, later.TITLE) == (later.load().NAME, later.load().TITLE)


class TestEngines:
    def test_each_has_a_recording_of_its_own_and_one_is_shown(self, docks: InspectorDocks) -> None:
        for address in ("a", "b"):
            docks.begin(address, model_info(name=address))
        docks.show_engine("a")
        docks.append("a", (report(1, decoding(0, "sums")),))
        docks.append("b", (report(1, decoding(3, "words")), report(2, decoding(3, "words"))))
        assert len(docks.recording.steps) == 1
        docks.show_engine("b")
        assert (docks.recording.model.name, len(docks.recording.steps)) == ("b", 2)

    def test_panels_say_which_is_shown_and_offer_the_others_where_there_are_several(
        self, docks: InspectorDocks
    ) -> None:
        banner = docks.dock("above").seat.banner
        docks.show_engine("a")
        docks.set_engines({"a": ("A", "idle")})
        assert banner.text == ""
        docks.set_engines({"a": ("A", "idle"), "b": ("B", "answering 1")})
        assert (banner.text, [button.text() for button in banner.buttons]) == ("A · idle", ["B"])
        banner.buttons[0].click()
        assert (docks.address, banner.text) == ("b", "B · answering 1")
