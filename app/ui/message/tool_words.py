"""What a card says of a call of a tool, its arguments and its result. GUI thread."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QWidget

from app.bridge.tool_list import CALL
from app.chats.chat import Chat
from app.chats.tool_use import ToolState, ToolUse
from app.look.figures import milliseconds, seconds
from app.look.fonts import code_font, small_font
from app.look.plain_text import PlainLabel, one_line
from app.look.words import mark, tr, tr_said
from app.ui.base.copy_button import CopyButton
from app.ui.message.code_text import CodeText
from app.ui.message.folding import unfold
from app.ui.message.long_text import LongText
from app.ui.message.passages import CopiedPassage, PassageKind
from app.ui.message.text_part import TextPart

MAX_READ_CHARS = 200_000  # of arguments that are read as JSON; longer ones are shown as they are
MAX_SUMMARY_CHARS = 300
BUILT_IN = "skein"  # the server of our own tools

_STATES = {
    ToolState.WRITING: mark("writing…"),
    ToolState.ASKING: mark("waiting for you"),
    ToolState.RUNNING: mark("running"),
    ToolState.FAILED: mark("failed"),
    ToolState.REFUSED: mark("refused"),
    ToolState.STOPPED: mark("stopped"),
}


@dataclass(frozen=True, slots=True)
class ToolLabel:
    """A tool as the user knows it."""

    title: str
    server: str = ""
    writes: bool = False  # it may change something
    always_asks: bool = False


# By the name that the model calls it. None: it is not there any more.
Naming = Callable[[str], ToolLabel | None]


def asking_uses(chat: Chat) -> Iterator[ToolUse]:
    """Those of the answers that are being written, of several at once in the order of the versions."""
    if chat.is_answering:
        for turn in chat.versions_of(chat.turns[-1]):
            uses = turn.rounds[-1].uses if turn.rounds else ()
            yield from (use for use in uses if use.state is ToolState.ASKING)


def label_of(use: ToolUse, naming: Naming) -> ToolLabel:
    """Where tools are listed by name, the model calls one through another: the one that runs is meant."""
    name = use.tool
    if name == CALL:
        name = str((_read(use.arguments) or {}).get("name") or name)
    label = naming(name)
    return label or ToolLabel(one_line(name[:MAX_SUMMARY_CHARS]) or tr("tool"))


def server_text(server: str) -> str:
    return tr("built in") if server == BUILT_IN else one_line(server)


def state_text(use: ToolUse, running_s: float = 0.0) -> str:
    """Its state and time, as short as can be: a call that is done needs no word."""
    word = tr(_STATES[use.state]) if use.state in _STATES else ""
    if use.state is ToolState.RUNNING:
        time = tr("{number} s", number=int(running_s)) if running_s >= 1 else ""
    else:
        time = _short(use.seconds) if use.seconds else ""
    return " · ".join(part for part in (word, time) if part)


def _short(duration_s: float) -> str:
    return seconds(duration_s) if duration_s >= 0.1 else milliseconds(duration_s * 1000)


def spoken_state(use: ToolUse) -> str:
    """For screen readers, a word always."""
    return state_text(use) if use.state in _STATES else tr("done")


def summary(use: ToolUse) -> str:
    """On one line: why it failed, or what it was called with."""
    if use.state is ToolState.FAILED and use.result:
        return one_line(tr_said(use.result)[:MAX_SUMMARY_CHARS])
    arguments = _read(use.arguments)
    if arguments is None:
        return one_line(use.arguments[:MAX_SUMMARY_CHARS])
    if len(arguments) == 1:
        return one_line(_value(next(iter(arguments.values()))))
    parts = (f"{name}: {_value(value)}" for name, value in arguments.items())
    return one_line(" · ".join(parts)[:MAX_SUMMARY_CHARS])


def pretty(text: str) -> str:
    """JSON with each entry on a line of its own; any other text as it is."""
    value = _parsed(text)
    return json.dumps(value, indent=2, ensure_ascii=False) if isinstance(value, dict | list) else text


def has_arguments(use: ToolUse) -> bool:
    return use.arguments.strip() not in ("", "{}")


def _value(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text[:MAX_SUMMARY_CHARS]


def _read(arguments: str) -> dict[str, Any] | None:
    value = _parsed(arguments)
    return value if isinstance(value, dict) else None


def _parsed(text: str) -> Any:
    """None for what is no JSON, or not yet."""
    begin = text.lstrip()[:1]
    if len(text) > MAX_READ_CHARS or begin not in ("{", "["):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


HEAD = CopyButton.SIDE
MAX_CODE_CHARS = 8_000  # of JSON that is coloured: more is shown in pages


class ToolText(QWidget):
    """Exactly what was sent or came back, but for the white space of JSON."""

    height_changed = Signal()

    def __init__(self, copy_label: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.text = ""
        self._zoom = 0
        self._code: CodeText | None = None
        self._long: LongText | None = None
        self.title = PlainLabel(parent=self, tone="muted")
        self.title.setFont(small_font())
        self.copy = CopyButton(copy_label, lambda: self.text, self)

    @property
    def is_code(self) -> bool:
        return self._code is not None and not self._code.isHidden()

    def show_text(self, title: str, text: str, *, is_closed: bool = True) -> None:
        """While it is written, it is not closed."""
        self.title.setText(title)
        self.text = text
        is_code = text.lstrip()[:1] in ("{", "[") and len(text) <= MAX_CODE_CHARS
        if is_code:
            self._shown_code().show_code(text, "json", is_closed)
        else:
            self._shown_long().show_text(text)
        for view, is_shown in ((self._code, is_code), (self._long, not is_code)):
            if view:
                view.setVisible(is_shown)
                view.setAccessibleName(title)

    def text_parts(self) -> list[TextPart]:
        if self.is_code:
            return [TextPart((0,), self._code, self._copied)]
        return self._long.text_parts() if self._long else []

    def show_match(self, query: str, number: int) -> None:
        if self._long and not self.is_code:
            self._long.show_match(query, number)

    def set_zoom(self, zoom: int) -> None:
        self._zoom = zoom
        if self._code:
            self._code.set_code_font(code_font(zoom - 1))
        if self._long:
            self._long.set_reading_font(code_font(zoom - 1))

    def arrange(self, width: int) -> int:
        self.copy.move(width - HEAD, 0)
        self.title.setGeometry(0, 0, width - HEAD - 4, HEAD)
        view = self._code if self.is_code else self._long
        height = HEAD
        if view:
            view.move(0, HEAD)
            height += view.arrange(width)
        self.setFixedSize(width, height)
        return height

    def _copied(self, begin: int, end: int) -> list[CopiedPassage]:
        assert self._code
        return [
            CopiedPassage(PassageKind.CODE, text=unfold(self._code.toPlainText()[begin:end]), info="json")
        ]

    def _shown_code(self) -> CodeText:
        if self._code is None:
            self._code = CodeText(self)
            self._code.set_wrapped(True)
            self._code.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
            self._code.set_code_font(code_font(self._zoom - 1))
        return self._code

    def _shown_long(self) -> LongText:
        if self._long is None:
            self._long = LongText(self)
            self._long.set_reading_font(code_font(self._zoom - 1))
            self._long.height_changed.connect(self.height_changed)
        return self._long
