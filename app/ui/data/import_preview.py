"""The preview of an import, before anything is changed. Not modal. GUI thread."""

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QAbstractItemView, QDialog, QFrame, QListWidget, QProgressBar, QWidget

from app.chats.imports.entries import Problem
from app.chats.imports.read import FoundChats
from app.look.buttons import dialog_button
from app.look.layouts import STRETCH, Stretch, hbox, vbox
from app.look.plain_text import PlainLabel, heading, one_line
from app.look.popups import resize_to_fit
from app.look.words import sentences, tr, tr_n, tr_said
from app.services.chat_transfer import ImportPlan
from app.ui.base.setting_controls import Switch

SIZE = QSize(560, 480)
MAX_LINES = 200  # of a list: to write a thousand takes longer than a frame
SOURCES = ", "
MAX_NAMES = 12  # of what is left out


class ImportPreview(QDialog):
    """First a bar while the file is read, then the plan."""

    accepted_plan = Signal(object, bool)  # ImportPlan, whether those that are here already come as copies
    stopped = Signal()  # closed while a file was read

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(tr("Import chats"))
        self._plan: ImportPlan | None = None
        self.summary = PlainLabel(tr("Reading…"), self, wraps=True)
        self.bar = QProgressBar(self)
        self.bar.setRange(0, 1000)
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName(tr("Reading progress"))
        self.chats = _Lines(tr("Chats"), self)
        self.problems = _Lines(tr("Cannot be imported"), self)
        self.with_known = Switch(self)
        self.known_words = PlainLabel(parent=self)
        self.known_words.setBuddy(self.with_known)
        self.left_out = PlainLabel(parent=self, tone="muted", wraps=True)
        self.cancel_button = dialog_button(tr("Cancel"), self.close, self)
        self.import_button = dialog_button(tr("Import"), self._accept, self)
        self.import_button.setDefault(True)
        self.import_button.setEnabled(False)
        self.with_known.toggled.connect(self._show_button)
        self._lay_out()
        for part in (self.chats, self.problems, self.with_known, self.known_words, self.left_out):
            part.hide()
        resize_to_fit(self, SIZE)

    def show_progress(self, fraction: float) -> None:
        self.bar.setValue(round(1000 * fraction))

    def show_plan(self, plan: ImportPlan) -> None:
        self._plan = plan
        self.bar.hide()
        self.summary.setText(summary_of(plan))
        self.chats.show_lines([chat_line(found) for found in plan.new[:MAX_LINES]], len(plan.new))
        problems = [problem_line(problem) for problem in plan.problems[:MAX_LINES]]
        self.problems.show_lines(problems, len(plan.problems))
        self._offer_known(len(plan.known))
        self.left_out.say(left_out_of(plan))
        self._show_button()
        (self.import_button if self.import_button.isEnabled() else self.cancel_button).setFocus()

    def show_importing(self) -> None:
        """It cannot be cancelled any more, only undone."""
        self.summary.setText(tr("Importing…"))
        self.bar.setRange(0, 0)
        self.bar.show()
        for part in (self.import_button, self.cancel_button, self.with_known):
            part.setEnabled(False)

    def done(self, result: int) -> None:
        if self._plan is None:
            self.stopped.emit()
        super().done(result)

    @property
    def num_chosen(self) -> int:
        if self._plan is None:
            return 0
        return len(self._plan.new) + (len(self._plan.known) if self.with_known.isChecked() else 0)

    def _offer_known(self, num_known: int) -> None:
        words = tr_n(
            "Import {n} chat that already exists again, as a copy",
            "Import {n} chats that already exist again, as copies",
            num_known,
        )
        self.known_words.setText(words)
        self.with_known.setAccessibleName(words)
        for part in (self.with_known, self.known_words):
            part.setVisible(num_known > 0)

    def _accept(self) -> None:
        if self._plan and self.num_chosen:
            self.accepted_plan.emit(self._plan, self.with_known.isChecked())

    def _show_button(self) -> None:
        self.import_button.setEnabled(self.num_chosen > 0)
        text = tr_n("Import {n} chat", "Import {n} chats", self.num_chosen)
        self.import_button.setText(text if self.num_chosen else tr("Import"))

    def _lay_out(self) -> None:
        known = hbox(self.with_known, (self.known_words, 1))
        foot = hbox(STRETCH, self.cancel_button, self.import_button)
        lists = ((self.chats, 2), (self.problems, 1))
        parts = (self.summary, self.bar, *lists, known, self.left_out, Stretch(0), foot)
        vbox(*parts, on=self, margins=(24, 20, 24, 16), spacing=12)


class _Lines(QWidget):
    """A heading and a list under it. Hidden while there is nothing in it."""

    def __init__(self, title: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.list = QListWidget(self)
        self.list.setAccessibleName(title)
        self.list.setObjectName("lines")
        self.list.setFrameShape(QFrame.Shape.NoFrame)
        self.list.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        self.list.setWordWrap(True)
        self.list.setUniformItemSizes(False)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        vbox(heading(title, self), (self.list, 1), on=self, spacing=4)

    @property
    def lines(self) -> list[str]:
        return [self.list.item(row).text() for row in range(self.list.count())]

    def show_lines(self, lines: list[str], num_lines: int) -> None:
        """The first of so many."""
        self.list.clear()
        self.list.addItems(lines)
        if num_lines > len(lines):
            self.list.addItem(tr_n("and {n} more", "and {n} more", num_lines - len(lines)))
        self.setVisible(bool(lines))


def summary_of(plan: ImportPlan) -> str:
    if not plan.new and not plan.known:
        return tr("There is nothing to import.")
    sources = SOURCES.join(plan.sources)
    if not plan.new:
        told = tr("All chats in this export ({sources}) already exist.", sources=sources)
        return sentences(told, changed_of(plan))
    messages = tr_n("{n} message", "{n} messages", plan.num_messages)
    counted = tr_n(
        "{n} new chat with {messages}, from {sources}.",
        "{n} new chats with {messages}, from {sources}.",
        len(plan.new),
        messages=messages,
        sources=sources,
    )
    known = tr_n("{n} already exists.", "{n} already exist.", len(plan.known)) if plan.known else ""
    return sentences(counted, known, changed_of(plan))


def changed_of(plan: ImportPlan) -> str:
    """Mentions chats that were continued in the other program."""
    if not plan.num_changed:
        return ""
    return tr_n(
        "{n} of these has a different number of messages here.",
        "{n} of these have a different number of messages here.",
        plan.num_changed,
    )


def left_out_of(plan: ImportPlan) -> str:
    files = tr_n(
        "{n} picture or other file without text is left out.",
        "{n} pictures and other files without text are left out.",
        plan.num_left_out,
    )
    most = plan.unread.most_common(MAX_NAMES)
    names = [tr("{name} ({count})", name=one_line(name), count=count) for name, count in most]
    num_more = len(plan.unread) - len(most)
    names += [tr_n("and {n} more", "and {n} more", num_more)] if num_more else []
    others = tr("Also left out, by its names in the file: {names}.", names=SOURCES.join(names))
    return sentences(files if plan.num_left_out else "", others if names else "")


def chat_line(found: FoundChats) -> str:
    messages = tr_n("{n} message", "{n} messages", found.num_messages)
    return tr("{title} · {messages}", title=one_line(found.chat.display_title), messages=messages)


def problem_line(problem: Problem) -> str:
    reason = tr_said(problem.reason)
    if not problem.entry:
        return tr("{file}: {reason}", file=one_line(problem.file), reason=reason)
    if not problem.title:
        return tr("Chat {number}: {reason}", number=problem.entry, reason=reason)
    return tr(
        "Chat {number}, “{title}”: {reason}",
        number=problem.entry,
        title=one_line(problem.title),
        reason=reason,
    )
