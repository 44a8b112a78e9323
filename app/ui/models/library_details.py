"""The details of one model, and the actions on it. GUI thread."""

from collections.abc import Iterator

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QWidget

from app.look.buttons import IconLabel, PlainButton
from app.look.figures import count, data_size, num_params
from app.look.layouts import STRETCH, TOP, drop, hbox, vbox
from app.look.plain_text import ElidedLabel, PlainLabel, heading
from app.look.words import sentences, tr, tr_n, tr_said
from app.models.model_file import FileKind, ModelFile
from app.settings.load import projector_beside
from app.ui.base.page_panel import scrolled
from app.ui.models.library_table import (
    FIT_COLOURS,
    FIT_ICONS,
    KINDS,
    ModelRow,
    fit_text,
    problem_text,
    source_text,
    taken_text,
)


class LibraryDetails(QWidget):
    """The page says what its buttons do."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._row: ModelRow | None = None
        self.name = heading("", self, wraps=True, points=2)
        self.name.setMinimumWidth(1)  # a name may be one long word
        self.fit_mark = IconLabel(16, self)
        self.fit = PlainLabel(parent=self, wraps=True)
        self.problem = PlainLabel(parent=self, tone="danger", wraps=True)
        self.facts = QGridLayout()
        self.open_button, self.settings_button, self.reveal_button, self.trash_button = self.buttons = [
            PlainButton(label, self)
            for label in (tr("&Open"), tr("&Settings…"), tr("Sho&w in folder"), tr("Move to &trash"))
        ]
        self._lay_out()
        self.apply(None)

    def apply(self, row: ModelRow | None, why_not_trash: str = "") -> None:
        """None: no model is chosen."""
        shown, self._row = self._row, row
        self.setEnabled(row is not None)
        self._body.setVisible(row is not None)
        self._show_buttons(row, tr_said(why_not_trash))
        if row is None:
            return
        self.name.setText(row.model.name)
        self._show_fit(row)
        self.problem.say(problem_text(row.model))
        if shown is None or shown.model != row.model:
            self._show_facts(row.model)
            self._scroll.verticalScrollBar().setValue(0)

    def set_wide(self, is_wide: bool) -> None:
        """Wide: the buttons are in one row."""
        for number, button in enumerate(self.buttons):
            self._buttons.addWidget(button, *((0, number) if is_wide else divmod(number, 2)))

    def _show_buttons(self, row: ModelRow | None, why_not_trash: str) -> None:
        can_chat = row is not None and row.model.can_chat
        self.open_button.setVisible(row is None or can_chat)
        self.open_button.setEnabled(can_chat and row is not None and not row.is_in_use)
        self.settings_button.setVisible(row is None or can_chat)
        self.trash_button.setEnabled(row is not None and not why_not_trash)
        self.trash_button.setToolTip(why_not_trash)

    def _show_fit(self, row: ModelRow) -> None:
        fitting = None if row.is_in_use else row.fitting
        self.fit_mark.setVisible(fitting is not None)
        self.fit.setVisible(fitting is not None or row.is_in_use)
        if fitting:
            self.fit_mark.show_icon(FIT_ICONS[fitting.fit], FIT_COLOURS[fitting.fit])
            self.fit.setText(fit_text(fitting))
        elif row.is_in_use:
            self.fit.setText(sentences(tr("In use now."), taken_text(row.taken) if row.taken else ""))

    def _show_facts(self, model: ModelFile) -> None:
        while item := self.facts.takeAt(0):
            if widget := item.widget():
                drop(widget)
        for number, (what, told) in enumerate(_facts(model)):
            self.facts.addWidget(PlainLabel(what, self, tone="muted"), number, 0)
            self.facts.addWidget(ElidedLabel(told, self), number, 1)

    def _lay_out(self) -> None:
        badge = hbox((self.fit_mark, 0, TOP), (self.fit, 1), spacing=6)
        self.facts.setHorizontalSpacing(12)
        self.facts.setVerticalSpacing(4)
        self.facts.setColumnStretch(1, 1)
        self._body = QWidget()
        vbox(self.name, badge, self.problem, self.facts, STRETCH, on=self._body, margins=(0, 0, 8, 0))
        self._scroll = scrolled(self._body, self)
        self._scroll.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._scroll.setAccessibleName(tr("Details of the model"))
        self.open_button.setDefault(True)
        self._buttons = QGridLayout()
        self._buttons.setSpacing(8)
        self.set_wide(False)
        vbox((self._scroll, 1), self._buttons, on=self, spacing=12)


def _facts(model: ModelFile) -> Iterator[tuple[str, str]]:
    """Labels and values."""
    yield tr("Kind"), tr(KINDS[model.kind])
    if model.family:
        yield tr("Family"), model.family
    if model.num_params:
        yield tr("Parameters"), num_params(model.num_params)
    if model.quantisation:
        yield tr("Quantisation"), model.quantisation
    if model.n_ctx_train:
        yield (
            tr("Context"),
            tr_n("{number} token", "{number} tokens", model.n_ctx_train, number=count(model.n_ctx_train)),
        )
    if model.kind is FileKind.CHAT:
        yield tr("Chat template"), tr("In the file") if model.has_template else tr("None: ChatML is used")
        projector = projector_beside(model.path)
        told = tr("Yes, by {name}", name=projector.name) if projector else tr("None in its folder")
        yield tr("Pictures and sound"), told
    yield tr("Size"), data_size(model.size_bytes)
    if len(model.parts) > 1:
        yield tr("Files"), count(len(model.parts))
    if model.licence:
        yield tr("Licence"), model.licence
    yield tr("From"), source_text(model)
    yield tr("File"), str(model.path)
