"""The inspector: panels in docks of the main window, and the one timer that draws the visible ones.

Keeps every report of every engine, shows one engine, draws at most ten times a second, and does nothing for a
hidden panel. GUI thread.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from functools import partial
from importlib import import_module

from PySide6.QtCore import QByteArray, QObject, QPoint, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QCursor
from PySide6.QtWidgets import QApplication, QMainWindow, QMenu, QTabBar, QTabWidget, QWidget

from app.bridge.media_files import MediaFiles
from app.inspector.dock_panel import DockPanel, Later, PanelDock, Pictures
from app.inspector.panel_buttons import new_action
from app.inspector.probabilities import ProbabilitiesPanel
from app.inspector.recording import Recording
from app.inspector.recording_files import RecordingFiles
from app.inspector.sequences import SequencesPanel
from app.inspector.stepper_panel import StepperPanel
from app.look.plain_text import one_line
from app.look.popups import Menu
from app.look.strip import Offer
from app.look.words import mark, tr
from app.protocol.commands import Command, WatchCells
from app.protocol.model import ModelInfo
from app.protocol.report import StepReport

PERIOD_MS = 100
# From one panel to the next. All at once would block the keyboard, and the engine waits while Python paints,
# so the more panels are visible, the less often each is drawn: five times a second where there are seven.
GAP_MS = 30
WIDTH = 600
MAX_OFFERS = 2  # of other engines, in one line
STATE_VERSION = 1  # of the saved arrangement; what an earlier one saved is not restored

# From top to bottom, each with its share of the height. The panels of a row are tabs, the first in front.
Rows = tuple[tuple[int, tuple[type[DockPanel] | Later, ...]], ...]


def _later(name: str, title: str, module: str, panel: str) -> Later:
    return Later(name, title, lambda: getattr(import_module(f"app.inspector.{module}"), panel))


PREFIX = _later("prefix", mark("Why did it recompute?"), "prefix_panel", "PrefixPanel")
COSTS = _later("costs", mark("What did it cost?"), "costs_panel", "CostsPanel")
LENS = _later("lens", mark("Lens"), "lens_panel", "LensPanel")
COMPARISON = _later("comparison", mark("Two models"), "comparison_panel", "ComparisonPanel")
TREE = _later("tree", mark("Branches"), "tree_panel", "TreePanel")
KV_MAP = _later("kv map", mark("KV map"), "kv_map", "KvMapPanel")
TIMELINE = _later("timeline", mark("Batches"), "batch_timeline", "TimelinePanel")
SERVER = _later("server", mark("Server"), "server_panel", "ServerPanel")
EVENTS = _later("events", mark("Events"), "events", "EventsPanel")
# A new panel is added here. Panels whose actions are in the window's menus are made at the start.
ROWS: Rows = (
    (5, (SequencesPanel, PREFIX, ProbabilitiesPanel, LENS, COMPARISON, TREE)),
    (5, (KV_MAP, TIMELINE, COSTS, StepperPanel, EVENTS, SERVER)),
)


class InspectorDocks(QObject):
    chat_activated = Signal(str)  # chat_id: show its tab
    commanded = Signal(object)  # Command
    stop_requested = Signal(str)  # request_id
    fork_requested = Signal(str)  # chat_id
    explained = Signal(str)  # the title of a panel, in English: show it in the guide
    made = Signal(object)  # a DockPanel that was not made at the start

    def __init__(self, window: QMainWindow, rows: Rows, media: MediaFiles | None = None) -> None:
        super().__init__(window)
        self.front: Callable[[], str] = str  # the chat_id of the tab in front, if any
        self._pictures = Pictures(media, self)
        self.address = ""  # of the engine that is shown, or was before a file
        self._recordings = {"": Recording()}  # the live ones, by engine: they continue while a file is shown
        # Those that have a context, by address: how each is called, and what it does.
        self._engines: Mapping[str, tuple[str, str]] = {}
        self.files = RecordingFiles(self.recording, window)
        self.files.opened.connect(self.show_recording)
        self.files.commanded.connect(self._on_commanded)
        self._titles: Mapping[str, str] = {}
        self._tabs: Collection[str] = ()
        self._sequence: int | None = None  # the selected one, in the shown recording
        self._step: int | None = None  # the selected one
        self._layouts: dict[str, QByteArray] = {}  # of panels that were not created yet, by name
        self._window = window
        self._rows = rows
        self._docks: dict[str, PanelDock] = {}
        for kind in (kind for _, kinds in rows for kind in kinds):
            self._docks[kind.NAME] = dock = self._new_dock(kind)
            if not isinstance(kind, Later):
                dock.make_panel()
        self._former: QByteArray | None = None  # the arrangement, while the whole inspector is hidden
        self._has_new_reports = False
        self._is_selecting = False
        self._pulse = QTimer(self, interval=PERIOD_MS)
        self._pulse.timeout.connect(self._on_pulse)
        self._undrawn: list[DockPanel] = []  # panels still to be drawn in this pulse
        self._gap = QTimer(self, singleShot=True, interval=GAP_MS)
        self._gap.timeout.connect(self._draw_next)
        self._settling = QTimer(self, singleShot=True, interval=0)
        self._settling.timeout.connect(self._settle)
        self._make_actions()
        self._used: PanelDock | None = None  # the one that had the focus last
        self._num_watching = 0  # panels that show cells
        application = QApplication.instance()
        assert isinstance(application, QApplication)
        application.focusChanged.connect(self._on_focus_changed)
        window.setDockNestingEnabled(True)
        window.setAnimated(False)
        window.setTabPosition(Qt.DockWidgetArea.AllDockWidgetAreas, QTabWidget.TabPosition.North)
        self.reset_layout()

    @property
    def panels(self) -> tuple[DockPanel, ...]:
        """The panels that were created so far."""
        return tuple(dock.panel for dock in self._docks.values() if dock.has_panel)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all panels, made or not."""
        return tuple(self._docks)

    def panel(self, name: str) -> DockPanel:
        return self._docks[name].panel

    def dock(self, name: str) -> PanelDock:
        return self._docks[name]

    @property
    def recording(self) -> Recording:
        """The live one of the engine that is shown."""
        return self._recordings[self.address]

    # Calls of the window.

    def show_engine(self, address: str) -> None:
        if address != self.address:
            self.address = address
            self._recordings.setdefault(address, Recording()).note_titles(self._titles)
            if self.shown.is_live:
                self.show_live()

    def set_engines(self, engines: Mapping[str, tuple[str, str]]) -> None:
        """Which can be shown, by address: how each is called, and what it does."""
        if engines != self._engines:
            self._engines = engines
            self._tell_what_is_shown()

    def set_loading(self, is_loading: bool) -> None:
        self.recording.is_loading = is_loading
        if self.shown.is_live and self.recording.model is None:
            for panel in self.panels:
                panel.reset()
            self._draw()

    def begin(self, address: str, model: ModelInfo | None) -> None:
        """This engine has a new context, or none: its recording starts anew."""
        recording = self._recordings.setdefault(address, Recording())
        recording.is_loading = False
        recording.start(model)
        if recording is not self.shown:
            return
        self._sequence = self._step = None
        for panel in self.panels:
            panel.reset()
        self._draw()

    def note_engine_gone(self) -> None:
        """The recording stays: it shows why."""
        self.recording.is_over = True
        if self.shown.is_live:
            self._draw()

    def append(self, address: str, reports: Iterable[StepReport]) -> None:
        """Cheap: drawing waits for the pulse."""
        recording = self._recordings.setdefault(address, Recording())
        recording.append(reports)
        if recording is not self.shown:
            return
        if self._pulse.isActive():
            self._has_new_reports = True
        else:
            self._draw()
            self._pulse.start()

    def set_titles(self, titles: Mapping[str, str]) -> None:
        for recording in self._recordings.values():
            recording.note_titles(titles)
        self._titles = titles
        if self.shown.is_live:
            for panel in self.panels:
                panel.set_titles(titles)

    def set_tabs(self, chat_ids: Collection[str]) -> None:
        """The chats that have a tab, and so can be shown and forked."""
        self._tabs = chat_ids
        for panel in self.panels:
            panel.tabs = chat_ids

    # Recorded files.

    @property
    def shown(self) -> Recording:
        """What the panels show: the live recording, or one from a file."""
        return self.files.recording

    @Slot(object)
    def show_recording(self, recording: Recording) -> None:
        self.files.recording = recording
        self._sequence = self._step = None
        for panel in self.panels:
            panel.show_recording(recording)
            panel.set_titles(self._titles_of(recording))
        self._tell_what_is_shown()

    def _tell_what_is_shown(self) -> None:
        """In each panel, where that is not the one engine there is."""
        text, offers = "", []
        if not self.shown.is_live:
            text = tr("Recording {name}", name=one_line(self.shown.name))
            if self.shown.model:
                text = f"{text} · {one_line(self.shown.model.title)}"
            offers = [Offer(tr("Back to live"), self.show_live, can_be_left=True)]
        elif others := [each for each in self._engines.items() if each[0] != self.address]:
            text = " · ".join(map(one_line, self._engines.get(self.address, (tr("Not loaded"),))))
            offers = [
                Offer(one_line(name), partial(self.show_engine, address), can_be_left=True, tip=doing)
                for address, (name, doing) in others
            ]
            if len(offers) > MAX_OFFERS:
                offers = [Offer(tr("Other engines…"), partial(self._offer_engines, offers), can_be_left=True)]
        for dock in self._docks.values():
            dock.seat.tell(text, *offers, is_file=not self.shown.is_live)

    def _offer_engines(self, offers: Iterable[Offer]) -> None:
        menu = Menu(self._window)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for offer in offers:
            menu.addAction(f"{offer.label}\t{offer.tip}").triggered.connect(offer.act)
        menu.popup(QCursor.pos())

    def _titles_of(self, recording: Recording) -> Mapping[str, str]:
        return self._titles if recording.is_live else recording.titles

    @Slot()
    def show_live(self) -> None:
        self.show_recording(self.recording)

    # The arrangement.

    @property
    def is_shown(self) -> bool:
        return any(not dock.isHidden() for dock in self._docks.values())

    def set_shown(self, is_shown: bool) -> None:
        """Hide all panels, or bring the former arrangement back."""
        if is_shown == self.is_shown:
            return
        if not is_shown:
            self._former = self._window.saveState(STATE_VERSION)
            for dock in self._docks.values():
                dock.hide()
        elif self._former is None or not self._window.restoreState(self._former, STATE_VERSION):
            self.reset_layout()

    def show_panel(self, name: str) -> None:
        """Bring this panel to the front and give it the keyboard."""
        self.set_shown(True)
        self._docks[name].show()
        self._docks[name].raise_()
        self.panel(name).setFocus(Qt.FocusReason.ShortcutFocusReason)

    def reset_layout(self) -> None:
        for dock in self._docks.values():
            dock.setFloating(False)
            self._window.removeDockWidget(dock)
        fronts = [self._add_row([self._docks[kind.NAME] for kind in kinds]) for _, kinds in self._rows]
        for dock in self._docks.values():
            dock.show()
        for front in fronts:
            front.raise_()
        heights = [share * self._window.height() // 10 for share, _ in self._rows]
        self._window.resizeDocks(fronts, heights, Qt.Orientation.Vertical)
        self._window.resizeDocks(fronts[:1], [WIDTH], Qt.Orientation.Horizontal)

    def saved_state(self) -> tuple[QByteArray, bool]:
        """The arrangement, and whether it is shown."""
        if self._former and not self.is_shown:
            return self._former, False
        return self._window.saveState(STATE_VERSION), self.is_shown

    def restore_state(self, arrangement: QByteArray, is_shown: bool) -> None:
        """An arrangement of another version leaves the usual one."""
        self._window.restoreState(arrangement, STATE_VERSION)
        self.set_shown(is_shown)

    def restore_layout(self, name: str, layout: QByteArray) -> None:
        """Restores a panel's own layout."""
        if self._docks[name].has_panel:
            self.panel(name).restore_layout(layout)
        else:
            self._layouts[name] = layout

    def menu(self, parent: QWidget) -> QMenu:
        """A toggle for the inspector, one for each panel, and a reset of the layout."""
        menu = Menu(tr("I&nspector"), parent)
        menu.addAction(self.toggle)
        menu.addSeparator()
        menu.addActions([dock.toggleViewAction() for dock in self._docks.values()])
        menu.addSeparator()
        menu.addActions([self._tear_off, self._reset])
        menu.addSeparator()
        menu.addActions([self.files.open_action, self.files.export_action])
        return menu

    def popup_menu(self, place: QPoint) -> bool:
        """The menu of the panel whose title or tab is at this place of the screen, if any."""
        dock = next((dock for dock in self._docks.values() if self._is_titled_at(dock, place)), None)
        if dock is None:
            return False
        menu = Menu(self._window)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        tear_off = menu.addAction(tr("&Dock") if dock.isFloating() else tr("&Tear off"))
        tear_off.triggered.connect(dock.switch_floating)
        menu.addAction(tr("&Close panel")).triggered.connect(dock.close)
        menu.addAction(tr("&Explain in the guide")).triggered.connect(dock.explained)
        menu.addSeparator()
        menu.addAction(self._reset)
        menu.popup(place)
        return True

    def _new_dock(self, kind: type[DockPanel] | Later) -> PanelDock:
        dock = PanelDock(kind, partial(self._new_panel, kind), self._window)
        dock.explained.connect(lambda: self.explained.emit(kind.TITLE))
        for changed in (dock.visibilityChanged, dock.topLevelChanged, dock.dockLocationChanged):
            changed.connect(self._on_arranged)
        return dock

    def _new_panel(self, kind: type[DockPanel] | Later) -> DockPanel:
        recording = self.shown
        panel = kind.load()(recording) if isinstance(kind, Later) else kind(recording)
        panel.tabs, panel.front = self._tabs, self.front
        panel.set_pictures(self._pictures)
        panel.set_titles(self._titles_of(recording))
        panel.chat_activated.connect(self.chat_activated)
        panel.commanded.connect(self._on_commanded)
        panel.stop_requested.connect(self.stop_requested)
        panel.fork_requested.connect(self.fork_requested)
        panel.sequence_selected.connect(self._on_sequence_selected)
        panel.step_selected.connect(self._on_step_selected)
        if layout := self._layouts.pop(panel.NAME, None):
            panel.restore_layout(layout)
        if self._sequence is not None:
            panel.select_sequence(self._sequence)
        if self._step is not None:
            panel.select_step(self._step)
        self.made.emit(panel)
        return panel

    @Slot(object)
    def _on_commanded(self, command: Command) -> None:
        """A recorded file has no engine, so its commands must not reach the live one."""
        if isinstance(command, WatchCells):
            self._watch(command.is_watching)
        elif self.shown.is_live:
            self.commanded.emit(command)

    def _watch(self, is_watching: bool) -> None:
        """The engine makes cell maps as long as one panel shows them."""
        before = self._num_watching
        self._num_watching += 1 if is_watching else -1
        if bool(before) != bool(self._num_watching):
            self.commanded.emit(WatchCells(is_watching))

    def _add_row(self, docks: list[PanelDock]) -> PanelDock:
        """Below what is there; the first is returned."""
        self._window.addDockWidget(Qt.DockWidgetArea.RightDockWidgetArea, docks[0])
        for dock in docks[1:]:
            self._window.tabifyDockWidget(docks[0], dock)
        return docks[0]

    def _make_actions(self) -> None:
        toggle_tip = tr("Show or hide all panels of the inspector")
        self.toggle = new_action("inspector.toggle", tr("&Inspector"), toggle_tip, self._on_toggled, self)
        self.toggle.setCheckable(True)
        self.toggle.setShortcut("F12")
        reset_tip = tr("Restore the default arrangement of panels")
        name = "inspector.reset-layout"
        self._reset = new_action(name, tr("&Reset layout"), reset_tip, self.reset_layout, self)
        tip = tr("Turn the focused panel into its own window, or dock it again")
        name = "inspector.tear-off"
        self._tear_off = new_action(name, tr("&Tear off panel"), tip, self._tear_off_focused, self)

    def _on_toggled(self) -> None:
        self.set_shown(self.toggle.isChecked())

    @Slot(QWidget, QWidget)
    def _on_focus_changed(self, _old: QWidget | None, new: QWidget | None) -> None:
        """A command of the palette means the panel that had the focus before it."""
        docks = self._docks.values()
        self._used = next((dock for dock in docks if new and dock.isAncestorOf(new)), self._used)

    def _tear_off_focused(self) -> None:
        seen = [dock for dock in self._docks.values() if dock.has_panel and dock.panel.isVisible()]
        dock = self._used if self._used in seen else next(iter(seen), None)
        if dock:
            dock.switch_floating()
            dock.activateWindow()
            dock.panel.setFocus()

    def _is_titled_at(self, dock: PanelDock, place: QPoint) -> bool:
        if dock.title.isVisible() and dock.title.rect().contains(dock.title.mapFromGlobal(place)):
            return True
        return any(
            bar.isVisible() and bar.tabText(bar.tabAt(bar.mapFromGlobal(place))) == dock.windowTitle()
            for bar in self._tab_bars()
        )

    def _tab_bars(self) -> list[QTabBar]:
        return self._window.findChildren(QTabBar, options=Qt.FindChildOption.FindDirectChildrenOnly)

    @Slot()
    def _on_arranged(self) -> None:
        """Deferred: while Qt rearranges docks, it is not known yet which share a place."""
        self._settling.start()

    @Slot()
    def _settle(self) -> None:
        for dock in self._docks.values():
            dock.settle()
            others = self._window.tabifiedDockWidgets(dock)
            is_on_tab = not dock.isFloating() and any(not other.isHidden() for other in others)
            dock.title.set_on_tab(is_on_tab)
        for bar in self._tab_bars():
            bar.setDrawBase(False)
            bar.setExpanding(False)
            bar.setElideMode(Qt.TextElideMode.ElideNone)
            bar.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            bar.setAccessibleName(tr("Panels"))
        self.toggle.setChecked(self.is_shown)

    @Slot()
    def _on_pulse(self) -> None:
        if not self._has_new_reports:
            self._pulse.stop()
        elif not self._undrawn:
            self._has_new_reports = False
            self._undrawn = list(self.panels)
            self._draw_next()

    @Slot()
    def _draw_next(self) -> None:
        """Draws one visible panel; the others follow."""
        while self._undrawn:
            panel = self._undrawn.pop(0)
            if _can_be_seen(panel):
                panel.draw()
                break
        if self._undrawn:
            self._gap.start()

    def _draw(self) -> None:
        """Draws all visible panels at once, for single events."""
        self._has_new_reports = False
        for panel in self.panels:
            if _can_be_seen(panel):
                panel.draw()

    def _on_sequence_selected(self, seq_id: int) -> None:
        if not self._is_selecting:
            self._sequence = seq_id
            self._select(lambda panel: panel.select_sequence(seq_id))

    def _on_step_selected(self, step: int) -> None:
        if not self._is_selecting:
            self._step = step
            self._select(lambda panel: panel.select_step(step))

    def _select(self, select: Callable[[DockPanel], None]) -> None:
        self._is_selecting = True  # a panel may say so in turn
        for panel in self.panels:
            select(panel)
        self._is_selecting = False


def _can_be_seen(panel: DockPanel) -> bool:
    return panel.isVisible() and not panel.window().isMinimized()
