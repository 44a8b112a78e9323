"""The dock of one panel, with its title and a banner while it shows a recorded file. GUI thread."""

from collections.abc import Callable

from PySide6.QtCore import QSize, Signal, Slot
from PySide6.QtGui import QColor, QFont, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QDockWidget, QMainWindow, QSizePolicy, QWidget

from app.inspector.dock_panel import DockPanel, Later
from app.look.buttons import IconButton, quiet_button
from app.look.fonts import small_font
from app.look.layouts import STRETCH, hbox
from app.look.painted import paint_tinted
from app.look.plain_text import PlainLabel, one_line
from app.look.tokens import current
from app.look.words import tr

HEIGHT, BANNER_HEIGHT = 32, 30
BUTTON = 22
USUAL_SIZE, MIN_SIZE = QSize(600, 300), QSize(240, 160)  # of a panel that is not made yet


class PanelDock(QDockWidget):
    """Its panel is hidden whenever it cannot be seen, so that `panel.isVisible()` is reliable.

    `make` is called when the panel is first seen, or asked for.
    """

    def __init__(
        self, kind: type[DockPanel] | Later, make: Callable[[], DockPanel], window: QMainWindow
    ) -> None:
        title = tr(kind.TITLE)
        super().__init__(title, window)
        self._make = make
        self._panel: DockPanel | None = None
        self._is_shown = False  # as last signalled by Qt
        self.title = DockTitle(self)
        self.setObjectName(f"inspector.{kind.NAME}")
        self._seat = _Seat(self)
        self.banner = self._seat.banner
        self.setWidget(self._seat)
        self.setTitleBarWidget(self.title)
        self.toggleViewAction().setObjectName(f"inspector.panel.{kind.NAME.replace(' ', '-')}")
        self.toggleViewAction().setStatusTip(tr("Show or hide the panel “{title}”", title=title))
        self.toggleViewAction().triggered.connect(self._on_toggled)
        # For Qt a dock behind another tab counts as visible, and its panel with it.
        self.visibilityChanged.connect(self.show_panel)

    @property
    def panel(self) -> DockPanel:
        return self._panel or self.make_panel()

    def make_panel(self) -> DockPanel:
        self._panel = self._make()
        self._seat.take(self._panel)
        return self._panel

    @property
    def has_panel(self) -> bool:
        return self._panel is not None

    @Slot(bool)
    def show_panel(self, is_shown: bool) -> None:
        """Not while the window is hidden or still being arranged."""
        self._is_shown = is_shown
        if self._panel or (is_shown and self.isVisible() and self.updatesEnabled()):
            self.panel.setVisible(is_shown)

    @Slot(bool)
    def _on_toggled(self, is_shown: bool) -> None:
        """Qt shows it where it was: behind another tab, perhaps."""
        if is_shown:
            self.raise_()

    def settle(self) -> None:
        """The window's layout is complete."""
        # Qt sends no signal for a dock that was behind a tab when it was torn off.
        self.show_panel(self.isVisible() if self.isFloating() else self._is_shown)

    @Slot()
    def switch_floating(self) -> None:
        """Behind a tab it has no place of its own: raised first, it is torn off where it stood."""
        self.raise_()
        self.setFloating(not self.isFloating())
        self.raise_()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self.isFloating():
            painter = QPainter(self)
            painter.setPen(QColor(current().muted))
            painter.drawRect(self.rect().adjusted(0, 0, -1, -1))


class DockTitle(QWidget):
    """Its name, tear off, close. Takes no room where the name stands on a tab."""

    def __init__(self, dock: PanelDock) -> None:
        super().__init__(dock)
        self._is_on_tab = False
        name = PlainLabel(dock.windowTitle(), self)
        font = QFont(name.font())
        font.setWeight(QFont.Weight.DemiBold)
        name.setFont(font)
        self._tear_off = IconButton("picture-in-picture-2", tr("Tear off"), BUTTON, self, icon_side=14)
        self._tear_off.clicked.connect(dock.switch_floating)
        close = IconButton("x", tr("Close panel"), BUTTON, self, icon_side=14)
        close.clicked.connect(dock.close)
        dock.topLevelChanged.connect(self._on_torn_off)
        hbox(name, STRETCH, self._tear_off, close, on=self, margins=(12, 0, 8, 0), spacing=2)

    def set_on_tab(self, is_on_tab: bool) -> None:
        if is_on_tab != self._is_on_tab:
            self._is_on_tab = is_on_tab
            for part in self.findChildren(QWidget):
                part.setVisible(not is_on_tab)
            self.updateGeometry()

    def sizeHint(self) -> QSize:
        return QSize(120, 0 if self._is_on_tab else HEIGHT)

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def _on_torn_off(self, is_floating: bool) -> None:
        self._tear_off.set_label(tr("Dock") if is_floating else tr("Tear off"))


class _Seat(QWidget):
    """Keeps a panel's place in the layout while the panel itself is hidden. Above it is room for a banner."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._panel: DockPanel | None = None
        self.banner = RecordingBanner(self)
        self.banner.shown_changed.connect(self._place)

    def take(self, panel: DockPanel) -> None:
        self._panel = panel
        panel.setParent(self)
        panel.hide()
        self.updateGeometry()
        self._place()

    def sizeHint(self) -> QSize:
        return self._panel.sizeHint() if self._panel else USUAL_SIZE

    def minimumSizeHint(self) -> QSize:
        return self._panel.minimumSizeHint() if self._panel else MIN_SIZE

    def resizeEvent(self, _event: QResizeEvent) -> None:
        self._place()

    def _place(self) -> None:
        top = 0 if self.banner.isHidden() else self.banner.height()
        self.banner.setGeometry(0, 0, self.width(), self.banner.height())
        if self._panel:
            self._panel.setGeometry(self.rect().adjusted(0, top, 0, 0))


class RecordingBanner(QWidget):
    """Hidden while the panel is live."""

    back_requested = Signal()
    shown_changed = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._words = PlainLabel(parent=self)
        self._words.setFont(small_font())
        self._words.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.back = quiet_button(tr("Back to live"), self, "bar")
        self.back.setFont(small_font())
        self.back.clicked.connect(self.back_requested)
        hbox((self._words, 1), self.back, on=self, margins=(12, 2, 8, 2))
        self.setFixedHeight(BANNER_HEIGHT)
        self.hide()

    @property
    def text(self) -> str:
        return self._words.text()

    def show_name(self, name: str) -> None:
        """Of the file; "" hides it."""
        self._words.setText(tr("Recording {name}", name=one_line(name)))
        self._words.setToolTip(self._words.text())
        self.setVisible(bool(name))
        self.shown_changed.emit()

    def sizeHint(self) -> QSize:
        return QSize(200, BANNER_HEIGHT)

    def paintEvent(self, _event: QPaintEvent) -> None:
        paint_tinted(self, current().warning, 0.16)
