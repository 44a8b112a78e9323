"""Who answers: the button above the chat with the model's name and state, and its menu. GUI thread."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QRect, QSize, Qt, Slot
from PySide6.QtGui import QAction, QColor, QFont, QFontMetrics, QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QPushButton, QSizePolicy, QWidget

from app.bridge.engines import Engines
from app.chats.chat import Chat
from app.look.figures import data_size
from app.look.icons import icon
from app.look.layouts import STRETCH, hbox
from app.look.plain_text import as_tab_text, as_tooltip, heading_font, one_line, short_path
from app.look.popups import Menu
from app.look.tokens import current
from app.look.words import tr
from app.protocol.model_names import title_of
from app.services.model_library import ModelLibrary
from app.services.model_state import ModelState, ModelWatch
from app.services.preferences import Preferences
from app.services.servers import ServerModel, Servers
from app.system import paths
from app.ui.base.actions import command, fill
from app.ui.base.proportions import PICKER_HEIGHT
from app.ui.engine.model_loading import ModelLoading
from app.ui.engine.status_bar import loading_text

PADDING, GAP, CHEVRON, HEIGHT = 10, 8, 14, 30
MIN_WIDTH = 80
MAX_RECENT = 7  # in the menu; the library has all of them
MAX_NAME_WIDTH = 320
ELIDE = Qt.TextElideMode.ElideMiddle


class PickerButton(QPushButton):
    """The name, its state in muted words, and a chevron. The name is elided where there is little room."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.name = self.state = ""
        self.setProperty("kind", "quiet")
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.setFixedHeight(HEIGHT)

    def apply(self, name: str, state: str) -> None:
        if (name, state) != (self.name, self.state):
            self.name, self.state = one_line(name), state
            words = f"{self.name}, {state}" if state else self.name
            self.setAccessibleName(tr("Model: {name}", name=words))
            self.setToolTip(as_tooltip(tr("{name}\nSwitch, load settings, eject", name=words)))
            self.updateGeometry()
            self.update()

    @property
    def _name_font(self) -> QFont:
        return heading_font(self.font())

    def sizeHint(self) -> QSize:
        name = QFontMetrics(self._name_font).horizontalAdvance(self.name)
        state = self.fontMetrics().horizontalAdvance(self.state) + GAP if self.state else 0
        return QSize(2 * PADDING + name + state + GAP + CHEVRON + 1, HEIGHT)

    def minimumSizeHint(self) -> QSize:
        return QSize(MIN_WIDTH, HEIGHT)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)  # the ground alone: it has no text of its own
        tokens = current()
        painter = QPainter(self)
        room = self.rect().adjusted(PADDING, 0, -PADDING - CHEVRON - GAP, 0)
        state_width = self.fontMetrics().horizontalAdvance(self.state) + GAP if self.state else 0
        metrics = QFontMetrics(self._name_font)
        name = metrics.elidedText(self.name, ELIDE, max(40, room.width() - state_width))
        painter.setFont(self._name_font)
        painter.setPen(QColor(tokens.text))
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter, name)
        left = room.left() + metrics.horizontalAdvance(name)
        if self.state:
            painter.setFont(self.font())
            painter.setPen(QColor(tokens.muted))
            rest = QRect(left + GAP, 0, room.right() + 1 - left - GAP, self.height())
            painter.drawText(rest, Qt.AlignmentFlag.AlignVCenter, self.state)
            left += state_width
        chevron = QRect(left + GAP, (self.height() - CHEVRON) // 2 + 1, CHEVRON, CHEVRON)
        icon("chevron-down").paint(painter, chevron)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Arrow down opens it, too, as of any drop-down."""
        if event.key() == Qt.Key.Key_Down:
            self.click()
        else:
            super().keyPressEvent(event)


class ModelPicker(QWidget):
    """One line at the top of the chats. Its menu is made anew each time it opens."""

    def __init__(
        self,
        watch: ModelWatch,
        engines: Engines,
        library: ModelLibrary,
        servers: Servers,
        preferences: Preferences,
        models: ModelLoading,
        commands: Callable[[], Sequence[QAction | None]],
        parent: QWidget,
        chat: Chat | None = None,
    ) -> None:
        """For this chat, or for that in front. The commands stand below the models; None is a separator."""
        super().__init__(parent)
        self._watch = watch
        self._engines = engines
        self._chat = chat
        self._library, self._servers = library, servers
        self._preferences = preferences
        self._models = models
        self._commands = commands
        self.button = PickerButton(self)
        self.button.clicked.connect(self.open_up)
        self.menu = Menu(self)
        self.switch = command(parent, "model.switch", self.open_up)
        hbox((self.button, 1), STRETCH, on=self, margins=(8, 0, 8, 0))
        self.setFixedHeight(PICKER_HEIGHT)
        watch.changed.connect(self._show_state)
        self._show_state(watch.state)

    def paintEvent(self, _event: QPaintEvent) -> None:
        QPainter(self).fillRect(self.rect(), QColor(current().window))

    def open_up(self) -> None:
        """With the model that answers highlighted, so that the arrow keys begin there."""
        self.menu.clear()
        for action in self._model_actions():
            self.menu.addAction(action)
        self.menu.addSeparator()
        for one in self._servers.models:
            self.menu.addAction(self._action_elsewhere(one))
        self.menu.addSeparator()
        fill(self.menu, *self._commands())
        chosen = next((action for action in self.menu.actions() if action.isChecked()), None)
        self.menu.setActiveAction(chosen or self.menu.actions()[0])
        self.menu.popup(self.button.mapToGlobal(self.button.rect().bottomLeft()))

    def others(self, address: str) -> dict[str, str]:
        """Titles of models here beside this one, by their addresses: the recent ones, and what is loaded."""
        titles = {str(path): title_at(path, self._engines, self._library) for path in self._recent}
        titles |= {one.model.address: one.model.title for one in self._engines if one.model}
        return {other: title for other, title in titles.items() if other != address}

    @property
    def _recent(self) -> list[Path]:
        """The starter model comes last."""
        model, starter = self._watch.state.model, paths.starter_model()
        recent = [path for path in self._preferences.settings.recent_models if path != starter]
        if model and not model.server and model.path not in (starter, *recent):
            recent.insert(0, model.path)
        return [*recent[:MAX_RECENT], starter]

    def _model_actions(self) -> list[QAction]:
        return [self._model_action(path) for path in self._recent]

    def _model_action(self, path: Path) -> QAction:
        engine, file = self._engines.known(str(path)), self._library.model_at(path)
        is_loaded = engine and engine.model and not engine.is_asleep
        marks = [tr("loaded") if is_loaded else "", data_size(file.size_bytes) if file else ""]
        title, told = title_at(path, self._engines, self._library), " · ".join(filter(None, marks))
        return self._action(str(path), title, told, short_path(path), partial(self._on_chosen, path))

    def _action_elsewhere(self, one: ServerModel) -> QAction:
        """Its server is asked once it is chosen."""
        choose = partial(self._models.load_elsewhere, one.address, [self._chat] if self._chat else None)
        tip = tr("Runs on {host}: what is asked is sent there.", host=one.host)
        return self._action(one.address, one.title, as_tab_text(one.host), tip, choose)

    def _action(self, address: str, title: str, told: str, tip: str, choose: Callable[[], object]) -> QAction:
        model = self._watch.state.model
        short = as_tab_text(QFontMetrics(self.font()).elidedText(title, ELIDE, MAX_NAME_WIDTH))
        action = QAction(f"{short}\t{told}" if told else short, self.menu)
        action.setCheckable(True)
        action.setChecked(bool(model and model.address == address))
        action.setToolTip(as_tooltip(tip))
        action.triggered.connect(choose)
        return action

    def _on_chosen(self, path: Path) -> None:
        state = self._watch.state
        if state.loading or state.is_asleep or not (state.model and state.model.address == str(path)):
            self._models.load(path, [self._chat] if self._chat else None)

    @Slot(object)
    def _show_state(self, state: ModelState) -> None:
        self.button.apply(*state_texts(state))


def state_texts(state: ModelState) -> tuple[str, str]:
    """The name of the model, and its state unless it is simply there."""
    if state.loading and (state.model is None or state.model.path == state.loading):
        name = state.model.title if state.model else _name_of(state.loading)
        return name, tr("loading")
    if state.model:
        doing = loading_text(state) if state.loading else asleep_text(state)
        return state.model.title, doing
    if state.absent is None:
        return tr("No model"), ""
    return _name_of(state.absent), " · ".join(filter(None, (state.host, tr("not loaded"))))


def asleep_text(state: ModelState) -> str:
    return tr("asleep") if state.is_asleep else ""


def title_at(path: Path, engines: Engines, library: ModelLibrary) -> str:
    """Of the model in this file: as it was loaded, else as the library knows it."""
    engine, file = engines.known(str(path)), library.model_at(path)
    if engine and engine.model:
        return engine.model.title
    return file.title if file else _name_of(path)


def _name_of(path: Path) -> str:
    """Of a file, or of what a server runs."""
    if path == paths.starter_model():
        return tr("Skein starter")
    return path.stem if path.suffix == ".gguf" else title_of(str(path))
