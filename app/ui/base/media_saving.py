"""Plays a sound; saves the file of a picture or a sound, as it was attached. GUI thread."""

import asyncio
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QWidget

from app.bridge.media_files import MediaFiles
from app.bridge.tasks import spawn
from app.chats.attachment import Attachment
from app.chats.exports.spoken import media_file_name
from app.look.plain_text import one_line
from app.look.words import tr, tr_said
from app.storage.errors import StorageError


def play_sound(attachment: Attachment, files: MediaFiles, tell: Callable[[str], object]) -> None:
    """Or stops it. `tell` hears what went wrong."""
    assert attachment.media
    files.player.toggle(attachment.media, lambda why: tell(tr_said(why)))


def save_media(
    attachment: Attachment, files: MediaFiles, parent: QWidget, tell: Callable[[str], object]
) -> None:
    """Asks where. `tell` hears what went wrong."""
    dialog = QFileDialog(parent, tr("Save as"))
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
    dialog.selectFile(media_file_name(attachment))
    dialog.fileSelected.connect(lambda path: spawn(_save(attachment, files, Path(path), tell)))
    dialog.open()  # never exec: a nested loop would stop every coroutine


async def _save(attachment: Attachment, files: MediaFiles, path: Path, tell: Callable[[str], object]) -> None:
    assert attachment.media
    try:
        content = await files.file(attachment.media)
        if content is None:
            tell(lost_text(attachment))
            return
        await asyncio.to_thread(path.write_bytes, content)
    except StorageError as error:
        tell(tr_said(str(error)))
    except OSError as error:
        reason = error.strerror or str(error)
        tell(tr("{name} could not be saved: {reason}.", name=one_line(path.name), reason=reason))


def lost_text(attachment: Attachment) -> str:
    return tr("The file of “{name}” is lost or damaged.", name=one_line(attachment.name))
