"""Reasons to distrust a link, and the question before it is opened. GUI thread."""

import re
import unicodedata
from collections.abc import Iterable
from enum import StrEnum
from urllib.parse import urlsplit

from PySide6.QtCore import QPoint, Qt, QUrl
from PySide6.QtGui import QDesktopServices, QFontMetrics, QGuiApplication
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.look.buttons import dialog_button
from app.look.fonts import code_font
from app.look.layouts import STRETCH, hbox, vbox
from app.look.plain_text import PlainLabel, heading
from app.look.popups import Popover
from app.look.words import mark, tr
from app.ui.base.hidden_characters import mark_hidden, num_hidden, without_hidden
from app.ui.message.folding import fold

_HOST = re.compile(r"(?:[\w-]+\.)+[^\W\d_]{2,}")
_FILE_ENDINGS = {
    "py",
    "js",
    "ts",
    "md",
    "txt",
    "json",
    "html",
    "css",
    "rs",
    "go",
    "sh",
    "toml",
    "yaml",
    "cpp",
}


class Doubt(StrEnum):
    OTHER_PLACE = "the words name another place"
    FOREIGN_LETTERS = "letters of another alphabet"
    NAME_BEFORE_PLACE = "a name before the place"
    HIDDEN_CHARACTERS = "hidden characters"


def doubts(shown: str, target: str) -> tuple[Doubt, ...]:
    return tuple(_doubts(shown, target))


def _doubts(shown: str, target: str) -> Iterable[Doubt]:
    host, has_name = _place(target)
    named = [name for name in _HOST.findall(without_hidden(shown)) if _may_be_host(name)]
    if any(not _is_same_place(_key(name), _key(host)) for name in named):
        yield Doubt.OTHER_PLACE
    if not host.isascii():
        yield Doubt.FOREIGN_LETTERS
    if has_name:
        yield Doubt.NAME_BEFORE_PLACE
    if num_hidden(target) or num_hidden(shown):
        yield Doubt.HIDDEN_CHARACTERS


def _place(target: str) -> tuple[str, bool]:
    """The host of a web or a mail address, and whether there is a name before it.

    Programs disagree on whether a backslash ends the host, so both readings count.
    """
    if target.lower().startswith("mailto:"):
        return target.partition("?")[0].rpartition("@")[2], False
    try:
        read = [urlsplit(target).netloc, urlsplit(target.replace("\\", "/")).netloc]
    except ValueError:
        return target, False
    return read[1].rpartition("@")[2].partition(":")[0], any("@" in place for place in read)


def _may_be_host(name: str) -> bool:
    return name.rpartition(".")[2].lower() not in _FILE_ENDINGS


def _key(host: str) -> str:
    return unicodedata.normalize("NFKC", host).lower().removeprefix("www.")


def _is_same_place(named: str, host: str) -> bool:
    return host == named or host.endswith(f".{named}")


WIDTH = 460
MAX_CHARS = 1_000  # enough of an address

_WARNINGS = {
    Doubt.OTHER_PLACE: mark("The link's text shows a different address from the one it opens."),
    Doubt.FOREIGN_LETTERS: mark("The address has letters that look like others. In plain ASCII it is:"),
    Doubt.NAME_BEFORE_PLACE: mark("What comes before the @ is only a user name: the host comes after it."),
    Doubt.HIDDEN_CHARACTERS: mark("The link contains hidden characters."),
}


class LinkPrompt(Popover):
    """Closed by a click elsewhere. Nothing is opened before *Open* is pressed."""

    def __init__(self, url: QUrl, doubts: tuple[Doubt, ...], parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setFixedWidth(WIDTH)
        self._url = url
        title = tr("Open this link?") if not doubts else tr("This link may be deceptive")
        self.setAccessibleName(title)
        self.warnings = [PlainLabel(tr(_WARNINGS[doubt]), self, "danger", wraps=True) for doubt in doubts]
        self.address = self._address(real_target(url))
        self.open_button = dialog_button(tr("Open"), self._open, self)
        self.copy_button = dialog_button(tr("Copy address"), self._copy, self)
        self.cancel_button = dialog_button(tr("Cancel"), self.close, self)
        self._lay_out(title)
        (self.cancel_button if doubts else self.open_button).setFocus()

    def popup(self, place: QPoint) -> None:
        """Shows it there, or as near as the screen allows."""
        self.adjustSize()
        screen = QGuiApplication.screenAt(place) or self.screen()
        room = screen.availableGeometry().adjusted(0, 0, -self.width(), -self.height())
        x = max(room.left(), min(place.x(), room.right()))
        y = max(room.top(), min(place.y(), room.bottom()))
        self.move(x, y)
        self.show()

    def _lay_out(self, title: str) -> None:
        buttons = (self.copy_button, STRETCH, self.cancel_button, self.open_button)
        foot = hbox(*buttons, margins=(0, 4, 0, 0))
        vbox(heading(title, self), *self.warnings, self.address, foot, on=self, margins=(16, 12, 16, 12))

    def _address(self, target: str) -> PlainLabel:
        whole = target if len(target) <= MAX_CHARS else f"{target[:MAX_CHARS]}…"
        font = code_font(-1)
        per_line = max(20, (WIDTH - 40) // max(1, QFontMetrics(font).horizontalAdvance("m")))
        lines = "\n".join(whole[start : start + per_line] for start in range(0, len(whole), per_line))
        label = PlainLabel(fold(mark_hidden(lines).replace("⟦U+000A⟧", "\n")), self)
        label.setFont(font)
        label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        label.setAccessibleName(tr("Address: {address}", address=whole))
        return label

    def _open(self) -> None:
        self.close()
        QDesktopServices.openUrl(self._url)

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(real_target(self._url))
        self.close()


def real_target(url: QUrl) -> str:
    """The real target of a link, with look-alike letters spelled out."""
    return bytes(url.toEncoded().data()).decode("ascii", "replace")
