"""File > Export and Import: the dialogs, and the messages afterwards. GUI thread."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QFileDialog, QWidget

from app.bridge.tasks import spawn
from app.bridge.workspace import Workspace
from app.chats.exports.files import ExportError, ExportForm, file_name
from app.chats.exports.spoken import ExportWords
from app.look.figures import percent
from app.look.file_dialog import SAVED, choose_files, choose_folder, file_dialog
from app.look.plain_text import short_path
from app.look.strip import Offer
from app.look.words import mark, tr, tr_n, tr_said
from app.services.chat_transfer import ChatTransfer, ImportPlan, StoppedError
from app.storage.errors import StorageError
from app.ui.base.help_commands import reveal
from app.ui.base.notices import Notices, UndoToast

if TYPE_CHECKING:
    from app.ui.data.import_preview import ImportPreview

ONE = {
    ExportForm.MARKDOWN: mark("Markdown (*.md)"),
    ExportForm.HTML: mark("Web page (*.html)"),
    ExportForm.JSON: mark("Skein, complete (*.json)"),
}
MANY = {
    ExportForm.JSON: mark("Skein, complete, in one file (*.json)"),
    ExportForm.MARKDOWN: mark("Folder of Markdown files (*)"),
    ExportForm.HTML: mark("Folder of web pages (*)"),
}
FILTERS = (mark("Chats (*.json *.jsonl *.zip)"), mark("All files (*)"))


class ChatFiles(QObject):
    """`say` shows one short sentence for a moment."""

    def __init__(
        self,
        transfer: ChatTransfer,
        workspace: Workspace,
        notices: Notices,
        undo: UndoToast,
        say: Callable[[str], object],
        parent: QWidget,
    ) -> None:
        super().__init__(parent)
        self._transfer = transfer
        self._workspace = workspace
        self._notices = notices
        self._undo = undo
        self._say = say
        self._window = parent
        self._folder = Path.home()
        self._is_busy = False
        self._is_exporting = False
        self._told = ""  # of the last export
        self.preview: ImportPreview | None = None
        transfer.progressed.connect(self._on_progressed)

    def export_current(self) -> None:
        if session := self._workspace.current:
            self.export_chat(session.chat.id, session.chat.display_title)

    def export_chat(self, chat_id: str, title: str) -> None:
        dialog = self._save_dialog(tr("Export chat"), ONE, lambda form: file_name(title, form))
        dialog.fileSelected.connect(
            lambda name: self._start(
                self._export_one(chat_id, *file_and_form(Path(name), _form(dialog, ONE)))
            )
        )
        dialog.open()

    def export_all(self) -> None:
        self._export_to_file_or_folder(tr("Export all chats"), None)

    def export_chats(self, chat_ids: Sequence[str]) -> None:
        """Exports the selected chats."""
        if len(chat_ids) == 1:
            self.export_chat(chat_ids[0], self._transfer.title_of(chat_ids[0]))
            return
        self._export_to_file_or_folder(tr("Export chats"), tuple(chat_ids))

    def _export_to_file_or_folder(self, title: str, chat_ids: tuple[str, ...] | None) -> None:
        day = datetime.now().astimezone().strftime("%Y-%m-%d")
        dialog = self._save_dialog(
            title, MANY, lambda form: f"skein-chats-{day}{'.json' if form is ExportForm.JSON else ''}"
        )
        dialog.fileSelected.connect(
            lambda name: self._start(self._export_many(chat_ids, Path(name), _form(dialog, MANY)))
        )
        dialog.open()

    async def _export_one(self, chat_id: str, path: Path, form: ExportForm) -> None:
        self._folder, self._is_exporting = path.parent, True
        await self._transfer.export_chat(chat_id, path, form, words())
        self._tell(tr("Exported to {name}.", name=short_path(path)), path)

    async def _export_many(self, chat_ids: tuple[str, ...] | None, path: Path, form: ExportForm) -> None:
        self._folder, self._is_exporting = path.parent, True
        if chat_ids is None:
            num_chats = await self._transfer.export_all(path, form, words())
        else:
            num_chats = await self._transfer.export_chats(chat_ids, path, form, words())
        told = tr_n(
            "Exported {n} chat to {name}.",
            "Exported {n} chats to {name}.",
            num_chats,
            name=short_path(path),
        )
        self._tell(told, path)

    def _tell(self, text: str, path: Path) -> None:
        """One at a time. It stays, with a way to what was written."""
        self._notices.withdraw(self._told)
        self._told = text
        self._say(text)  # in place of its progress
        self._notices.show_note(text, Offer(tr("Show in folder"), partial(reveal, path, self)))

    def _save_dialog(
        self, title: str, filters: dict[ExportForm, str], name_for: Callable[[ExportForm], str]
    ) -> QFileDialog:
        dialog = file_dialog(self._window, title, SAVED, *map(tr, filters.values()), folder=self._folder)

        def follow_filter() -> None:
            form = _form(dialog, filters)
            name = name_for(form)
            dialog.setDefaultSuffix(form if name.endswith(f".{form}") else "")
            dialog.selectFile(name)

        dialog.filterSelected.connect(lambda _filter: follow_filter())
        follow_filter()
        return dialog

    def import_files(self) -> None:
        title, filters = tr("Import chats"), map(tr, FILTERS)
        choose_files(self._window, title, self.import_paths, *filters, folder=self._folder)

    def import_folder(self) -> None:
        title = tr("Import chats from a folder")
        choose_folder(self._window, title, lambda path: self.import_paths([path]), self._folder)

    def import_paths(self, paths: Sequence[Path]) -> None:
        """Reads them and shows what they would bring."""
        from app.ui.data.import_preview import ImportPreview

        if self._is_busy:
            self._say_busy()
            return
        if self.preview:
            self.preview.close()
        preview = ImportPreview(self._window)
        preview.stopped.connect(self._transfer.stop)
        preview.accepted_plan.connect(self._on_accepted)
        preview.finished.connect(self._on_preview_finished)
        preview.show()
        self.preview = preview
        self._start(self._read(preview, paths))

    async def _read(self, preview: ImportPreview, paths: Sequence[Path]) -> None:
        self._folder, self._is_exporting = paths[0].parent, False
        plan = await self._transfer.read(paths)
        if preview is self.preview:
            preview.show_plan(plan)

    def _on_accepted(self, plan: ImportPlan, with_known: bool) -> None:
        if self.preview:
            self.preview.show_importing()
        self._start(self._import(plan, with_known))

    async def _import(self, plan: ImportPlan, with_known: bool) -> None:
        self._is_exporting = False
        chat_ids = await self._transfer.import_chats(plan, with_known)
        if self.preview:
            self.preview.close()
        text = tr_n("Imported {n} chat.", "Imported {n} chats.", len(chat_ids))
        self._say(text)
        self._undo.offer(text, lambda: self._take_back(chat_ids))

    def _take_back(self, chat_ids: Sequence[str]) -> None:
        self._transfer.take_back(chat_ids)
        self._say(tr("Import undone."))

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        if self._is_busy:
            work.close()
            self._say_busy()
            return
        self._is_busy = True
        spawn(self._run(work))

    async def _run(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except StoppedError:
            self._say(tr("Cancelled. Nothing has changed."))
        except (ExportError, StorageError) as error:
            self._notices.show_error(tr_said(error.args[0]))
            if self.preview:
                self.preview.close()
        finally:
            self._is_busy = False

    def _say_busy(self) -> None:
        self._say(tr("Another export or import is running. Try again when it has finished."))

    def _on_progressed(self, fraction: float) -> None:
        if self._is_exporting:
            self._say(tr("Exporting… {percent}", percent=percent(fraction, 1)))
        elif self.preview:
            self.preview.show_progress(fraction)

    def _on_preview_finished(self) -> None:
        self.preview = None


def words() -> ExportWords:
    """The labels of an exported chat, in the user's language."""
    return ExportWords(
        user=tr("You"),
        assistant=tr("Assistant"),
        system=tr("System"),
        tool=tr("Tool"),
        system_prompt=tr("System prompt"),
        thinking=tr("Thinking"),
        summary=tr("Summary of the messages above"),
        attachment=tr("Attached file"),
        recalled=tr("From earlier in this chat"),
        exported_from=tr("Exported from Skein"),
        untitled=tr("New chat"),
    )


def file_and_form(path: Path, form: ExportForm) -> tuple[Path, ExportForm]:
    """A typed suffix wins over the chosen filter."""
    endings = {f".{each}": each for each in ExportForm}
    return path, endings.get(path.suffix.lower(), form)


def _form(dialog: QFileDialog, filters: dict[ExportForm, str]) -> ExportForm:
    chosen = dialog.selectedNameFilter()
    return next((form for form, text in filters.items() if tr(text) == chosen), next(iter(filters)))
