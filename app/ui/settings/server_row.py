"""An MCP server in the settings: its state, tools and log, and what may run without asking. GUI thread."""

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QPoint, QSize, Qt, Signal
from PySide6.QtGui import QGuiApplication, QPainter, QPaintEvent
from PySide6.QtWidgets import QDialog, QPlainTextEdit, QWidget

from app.look.buttons import FoldButton, IconButton, IconLabel, dialog_button
from app.look.fonts import code_font, small_font
from app.look.icons import icon
from app.look.layouts import STRETCH, drop, hbox, vbox
from app.look.painted import paint_rounded
from app.look.plain_text import ElidedLabel, PlainLabel, as_tooltip, one_line
from app.look.popups import FlatCombo, Menu, resize_to_fit
from app.look.tokens import current
from app.look.words import mark, tr, tr_n, tr_said
from app.services.tools import ServerState, ToolService
from app.tools.mcp_server import Status
from app.tools.tool import Approval, Tool
from app.ui.base.hidden_characters import mark_hidden
from app.ui.base.setting_controls import Calm, Switch
from app.ui.settings.tool_choice import sentence_of, title_of

WIDTH = 150
CHOICES = (
    (Approval.ASK, mark("Ask")),
    (Approval.ALWAYS, mark("Always allow")),
    (Approval.NEVER, mark("Never")),
)


class ApprovalRow(QWidget):
    def __init__(self, tool: Tool, service: ToolService, parent: QWidget) -> None:
        super().__init__(parent)
        self._tool = tool
        self._service = service
        self._title = ElidedLabel(parent=self)
        self._description = ElidedLabel(parent=self, tone="muted", elide=Qt.TextElideMode.ElideRight)
        self.warning = PlainLabel(parent=self, tone="warning", wraps=True)
        for label in (self._description, self.warning):
            label.setFont(small_font())
        self.choice = FlatCombo(self)
        self.choice.setFixedWidth(WIDTH)
        for approval, label_text in CHOICES:
            if not (tool.always_asks and approval is Approval.ALWAYS):
                self.choice.addItem(tr(label_text), approval)
        self.choice.activated.connect(self._on_chosen)
        self.choice.installEventFilter(Calm(self.choice))
        words = vbox(self._title, self._description, self.warning, spacing=1)
        hbox((words, 1), self.choice, on=self, margins=(0, 6, 0, 6), spacing=12)

    def _on_chosen(self, index: int) -> None:
        approval = Approval(self.choice.itemData(index))  # Qt keeps it as a text
        self._service.set_approval(self._tool, approval)

    def apply(self, tool: Tool) -> None:
        self._tool = tool
        approval = self._service.approval(tool)
        title, sentence = title_of(tool), sentence_of(tool)
        self._title.setText(title)
        self._description.setText(one_line(sentence))
        self.setToolTip(as_tooltip(f"{tool.name}\n{sentence}"))
        self.choice.setCurrentIndex(self.choice.findData(approval))
        self.choice.setAccessibleName(tr("Approval of {tool}", tool=title))
        is_risky = tool.writes and approval is Approval.ALWAYS
        warning = tr("It can make changes, and runs in every chat without asking.")
        self.warning.say(warning if is_risky else "")


SIDE = 28
PADDING = 12
_STATES = {
    Status.STOPPED: (mark("not running"), "stop", "muted"),
    Status.STARTING: (mark("starting…"), "hourglass", "accent"),
    Status.READY: (mark("ready"), "circle-check", "ok"),
    Status.WAITING: (mark("will restart"), "hourglass", "warning"),
    Status.FAILED: (mark("failed"), "triangle-alert", "danger"),
}


class ServerRow(QWidget):
    log_requested = Signal()
    change_requested = Signal()
    removed = Signal()

    def __init__(self, name: str, service: ToolService, parent: QWidget) -> None:
        super().__init__(parent)
        self._service = service
        self.rows: dict[str, ApprovalRow] = {}
        self._known: tuple[Tool, ...] = ()
        self._state_icon = IconLabel(16, self, "stop", "muted")
        self.fold = FoldButton(self)
        self.fold.toggled.connect(self._show_tools)
        self.state = ElidedLabel(parent=self, tone="muted")
        self.switch = Switch(self)
        self.switch.value_chosen.connect(partial(service.set_enabled, name))
        self.more = IconButton("ellipsis", tr("More actions"), SIDE, self)
        self.more.clicked.connect(self._open_menu)
        self.menu = Menu(self)
        self.restart = self.menu.addAction(tr("&Restart"), partial(service.restart, name))
        self.menu.addAction(tr("&Log…"), self.log_requested.emit)
        self.menu.addAction(tr("&Change…"), self.change_requested.emit)
        self.menu.addSeparator()
        self.menu.addAction(tr("Re&move"), self.removed.emit)
        self.sentence = PlainLabel(parent=self, tone="danger", wraps=True)
        for label in (self.state, self.sentence):
            label.setFont(small_font())
        self.question = TrustQuestion(partial(service.trust, name), self.removed.emit, self)
        self._tools = QWidget(self)
        self._tool_column = vbox(on=self._tools, margins=(26, 0, 0, 4), spacing=0)
        head = hbox(self.fold, self._state_icon, (self.state, 1), self.switch, self.more, spacing=8)
        vbox(head, self.sentence, self.question, self._tools, on=self, margins=(PADDING, 8, 8, 8), spacing=4)
        self._show_tools()

    def apply(self, state: ServerState) -> None:
        name = one_line(state.name)
        self.fold.setText(name.replace("&", "&&"))
        words, image, colour = _STATES[state.status]
        shown = [tr(words)] if state.is_enabled and state.is_trusted else []
        if not state.is_enabled:
            shown, image, colour = [tr("off")], "stop", "muted"
        elif not state.is_trusted:
            shown, image, colour = [tr("not confirmed yet")], "circle-help", "warning"
        if state.tools:
            shown.append(tr_n("{n} tool", "{n} tools", len(state.tools)))
        self._state_icon.show_icon(image, colour)
        self.state.setText(" · ".join(shown))
        self.setAccessibleName(tr("MCP server {name}: {state}", name=name, state=self.state.text()))
        self.switch.setChecked(state.is_enabled)
        self.switch.setAccessibleName(tr("Use {name}", name=name))
        has_failed = state.status in (Status.FAILED, Status.WAITING) and state.is_enabled
        self.sentence.setText(tr_said(state.sentence))
        self.sentence.set_tone("danger" if state.status is Status.FAILED else "warning")
        self.sentence.setVisible(has_failed and bool(state.sentence))
        self.question.apply(state.config.command_line)
        self.question.setVisible(not state.is_trusted)
        self.restart.setEnabled(state.is_enabled and state.is_trusted)
        self.restart.setText(tr("&Start") if state.status is Status.STOPPED else tr("&Restart"))
        self._known = state.tools
        self._show_tools()

    def focus_question(self) -> None:
        """A new server: what it would run is to be read first."""
        if not self.question.isHidden():
            self.question.start.setFocus()

    def _show_tools(self) -> None:
        """Their rows are made when they are first shown: a server may have hundreds, or none to unfold."""
        keys = {tool.key for tool in self._known}
        for key in [key for key in self.rows if key not in keys]:
            drop(self.rows.pop(key))
        is_open = self.fold.isChecked() and bool(self._known)
        for tool in self._known if is_open else ():
            if tool.key not in self.rows:
                self.rows[tool.key] = ApprovalRow(tool, self._service, self._tools)
                self._tool_column.addWidget(self.rows[tool.key])
            self.rows[tool.key].apply(tool)
        self.fold.setFocusPolicy(Qt.FocusPolicy.StrongFocus if self._known else Qt.FocusPolicy.NoFocus)
        self.fold.setIcon(icon("chevron-right", "muted" if self._known else "window", on="chevron-down"))
        self._tools.setVisible(is_open)

    def _open_menu(self) -> None:
        self.menu.popup(self.more.mapToGlobal(QPoint(0, self.more.height())))

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        rect = self.rect().adjusted(0, 0, 0, -4)
        paint_rounded(painter, rect, 8, 0.5, fill=current().window, edge=current().hairline)


class TrustQuestion(QWidget):
    """Shows all of the command line: it could do anything."""

    def __init__(
        self, on_agreed: Callable[[], object], on_refused: Callable[[], object], parent: QWidget
    ) -> None:
        super().__init__(parent)
        words = PlainLabel(
            tr("This command will run on this computer, with your rights. Start it only if you trust it."),
            self,
            tone="warning",
            wraps=True,
        )
        words.setFont(small_font())
        self.command = PlainLabel(parent=self, wraps=True)
        self.command.setFont(code_font(-1))
        self.command.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.command.setContentsMargins(10, 6, 10, 6)
        self.start = dialog_button(tr("Start it"), on_agreed, self)
        self.start.setProperty("kind", "first")
        remove = dialog_button(tr("Remove"), on_refused, self)
        vbox(words, self.command, hbox(self.start, remove, STRETCH), on=self, margins=(0, 2, 4, 4), spacing=6)

    def apply(self, command_line: str) -> None:
        """Long words get places to wrap; nothing is hidden in what cannot be seen."""
        shown = mark_hidden(command_line)
        if shown != self.command.text():
            self.command.setText(shown)

    def paintEvent(self, _event: QPaintEvent) -> None:
        paint_rounded(QPainter(self), self.command.geometry(), 6, fill=current().raised)


LOG_SIZE = QSize(760, 480)


class ServerLog(QDialog):
    """Made anew each time it is opened."""

    def __init__(
        self, name: str, state: Callable[[], ServerState], service: ToolService, parent: QWidget
    ) -> None:
        super().__init__(parent)
        self._state = state
        self._shown: tuple[str, ...] | None = None
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(tr("Log of {name}", name=one_line(name)))
        self.setModal(False)
        resize_to_fit(self, LOG_SIZE)
        self.text = QPlainTextEdit(self)
        self.text.setReadOnly(True)
        self.text.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.text.setFont(code_font(-1))
        self.text.setAccessibleName(tr("Log"))
        self._nothing = PlainLabel(tr("It has written nothing yet."), self, tone="muted")
        foot = hbox(STRETCH, dialog_button(tr("Copy"), self._copy, self))
        vbox(self._nothing, (self.text, 1), foot, on=self, margins=16, spacing=12)
        service.changed.connect(self._show)
        self._show()

    def _show(self) -> None:
        """A log that is scrolled up stays where it is."""
        try:
            lines = self._state().log
        except StopIteration:  # it was removed
            return
        if lines == self._shown:
            return
        self._shown = lines
        bar = self.text.verticalScrollBar()
        place, is_at_end = bar.value(), bar.value() >= bar.maximum()
        self.text.setPlainText(mark_hidden("\n".join(lines)))
        bar.setValue(bar.maximum() if is_at_end else place)
        self._nothing.setVisible(not lines)

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText("\n".join(self._shown or ()))
