"""The About dialog: versions, licences, and diagnostics to attach to a question. GUI thread."""

from collections.abc import Callable, Iterable

from PySide6.QtCore import QSize
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QDialog, QHBoxLayout, QLabel, QPlainTextEdit, QWidget

from app import __version__
from app.look.buttons import dialog_button
from app.look.fonts import code_font
from app.look.icons import app_icon
from app.look.layouts import STRETCH, TOP, hbox, vbox
from app.look.plain_text import PlainLabel, heading
from app.look.words import tr

WIDTH = 640
ICON = QSize(64, 64)


class About(QDialog):
    """`folders` are what its last buttons open, by label."""

    def __init__(
        self,
        diagnostics: str,
        licences: str,
        folders: Iterable[tuple[str, Callable[[], object]]],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("About Skein"))
        self.setMinimumWidth(WIDTH)
        self.diagnostics = _text(diagnostics, tr("Diagnostics"), self)
        self.licences = _text(licences, tr("Licences"), self)
        column = vbox(self._head(), 8, on=self, margins=(20, 20, 20, 16))
        for name, view in ((tr("Diagnostics"), self.diagnostics), (tr("Licences"), self.licences)):
            column.addWidget(heading(name, self))
            column.addWidget(view)
        column.addSpacing(8)
        column.addLayout(self._foot(folders))

    def copy(self) -> None:
        QGuiApplication.clipboard().setText(self.diagnostics.toPlainText())

    def _head(self) -> QHBoxLayout:
        picture = QLabel(self)
        picture.setPixmap(app_icon().pixmap(ICON))
        picture.setAccessibleName("Skein")
        name = PlainLabel(f"Skein {__version__}", self)
        font = name.font()
        font.setPointSizeF(font.pointSizeF() * 1.4)
        name.setFont(font)
        what = PlainLabel(
            tr("Many chats with local language models in one shared llama.cpp context."), self, wraps=True
        )
        return hbox((picture, 0, TOP), (vbox(name, what, spacing=4), 1), spacing=16)

    def _foot(self, folders: Iterable[tuple[str, Callable[[], object]]]) -> QHBoxLayout:
        offers = ((tr("Copy diagnostics"), self.copy), *folders)
        buttons = [dialog_button(words, on_clicked, self) for words, on_clicked in offers]
        close = dialog_button(tr("Close"), self.accept, self)
        close.setDefault(True)
        return hbox(*buttons, STRETCH, close)


def _text(text: str, name: str, parent: QWidget) -> QPlainTextEdit:
    view = QPlainTextEdit(text, parent)
    view.setReadOnly(True)
    view.setFont(code_font(-1))
    view.setAccessibleName(name)
    view.setTabChangesFocus(True)
    view.setFixedHeight(150)
    return view
