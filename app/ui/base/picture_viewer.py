"""Shows the pictures of a message, one at a time, plays its sounds, and saves both as files. GUI thread."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import QEvent, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QGuiApplication,
    QImage,
    QKeyEvent,
    QPainter,
    QPixmap,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import (
    QDialog,
    QFrame,
    QGraphicsPixmapItem,
    QGraphicsScene,
    QGraphicsView,
    QWidget,
)
from shiboken6 import isValid

from app.bridge.media_files import MediaFiles
from app.bridge.tasks import spawn
from app.chats.attachment import Attachment
from app.chats.exports.spoken import media_file_name
from app.look.buttons import IconButton, dialog_button
from app.look.file_dialog import SAVED, file_dialog
from app.look.fonts import small_font, tabular
from app.look.layouts import hbox, vbox
from app.look.painted import image_of
from app.look.plain_text import ElidedLabel, PlainLabel, one_line
from app.look.popups import resize_to_fit
from app.look.tokens import current
from app.look.words import tr, tr_said
from app.media.reading import MediaRefusedError
from app.protocol.media import Media, MediaKind
from app.storage.errors import StorageError
from app.ui.base.attachment_words import media_label
from app.ui.base.thumbnails import Thumbnails

SIZE = QSize(1000, 720)
MAX_SIDE = 4096  # pixels that are unpacked for it
ZOOM_STEP, MAX_ZOOM = 1.25, 16.0
SIDE = 28


class PictureViewer(QDialog):
    """Esc closes it, the arrow keys go on, + and - zoom, 0 fits, 1 shows each pixel as one."""

    def __init__(
        self, pictures: Sequence[Attachment], number: int, thumbnails: Thumbnails, parent: QWidget
    ) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._pictures = tuple(pictures)
        self._number = number
        self._thumbnails = thumbnails
        self.image: QImage | None = None  # once it is unpacked
        resize_to_fit(self, SIZE)
        self.canvas = PictureCanvas(self)
        self.facts = ElidedLabel(parent=self, tone="muted")
        self.trouble = PlainLabel(parent=self, tone="danger", wraps=True)
        self.trouble.hide()
        self._zoom = PlainLabel(parent=self, tone="muted")
        self._zoom.setFont(tabular(small_font()))
        self._zoom.setMinimumWidth(48)
        self._zoom.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.previous = self._button("chevron-left", tr("Previous picture"), lambda: self._step(-1))
        self.next = self._button("chevron-right", tr("Next picture"), lambda: self._step(1))
        self.smaller = self._button("minus", tr("Zoom out"), lambda: self.canvas.zoom(1 / ZOOM_STEP))
        self.larger = self._button("plus", tr("Zoom in"), lambda: self.canvas.zoom(ZOOM_STEP))
        self.fit = dialog_button(tr("Fit"), self.canvas.fit, self)
        self.copy = dialog_button(tr("Copy"), self._copy, self)
        self.save = dialog_button(tr("Save as…"), self._save, self)
        self.canvas.zoomed.connect(self._show_zoom)
        self._lay_out()
        self._show()
        self.canvas.setFocus()

    def _button(self, icon: str, label: str, on_clicked: object) -> IconButton:
        button = IconButton(icon, label, SIDE, self)
        button.clicked.connect(on_clicked)
        return button

    @property
    def _shown(self) -> Attachment:
        return self._pictures[self._number]

    def _show(self) -> None:
        shown = self._shown
        assert shown.media
        name = one_line(shown.name)
        self.setWindowTitle(name)
        self.canvas.setAccessibleName(tr("Picture: {name}", name=name))
        self.facts.setText(" · ".join(part for part in (name, media_label(shown)) if part))
        for button in (self.previous, self.next):
            button.setVisible(len(self._pictures) > 1)
        self.previous.setEnabled(self._number > 0)
        self.next.setEnabled(self._number < len(self._pictures) - 1)
        self.image = None
        self.copy.setEnabled(False)
        self.trouble.hide()
        small = self._thumbnails.of(shown.media)
        if small:
            self.canvas.show_picture(small, QSize(shown.media.width, shown.media.height))
        spawn(self._load(shown.media))

    async def _load(self, media: Media) -> None:
        trouble, pixels = "", None
        try:
            pixels = await self._thumbnails.files.pixels(media, MAX_SIDE)
        except (MediaRefusedError, StorageError) as error:
            trouble = tr_said(str(error))
        if not isValid(self) or self._shown.media is not media:  # it was closed, or shows another one
            return
        if pixels is None:
            self.trouble.say(trouble or lost_text(self._shown))
            return
        self.image = image_of(pixels)
        self.canvas.show_picture(QPixmap.fromImage(self.image), self.image.size())
        self.copy.setEnabled(True)

    def _step(self, step: int) -> None:
        if 0 <= self._number + step < len(self._pictures):
            self._number += step
            self._show()

    def _copy(self) -> None:
        if self.image:
            QGuiApplication.clipboard().setImage(self.image)

    def _save(self) -> None:
        save_media(self._shown, self._thumbnails.files, self, self._tell)

    def _tell(self, trouble: str) -> None:
        if isValid(self):
            self.trouble.say(trouble)

    def _show_zoom(self) -> None:
        self._zoom.setText(tr("{number}%", number=round(100 * self.canvas.scale_now)))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        match event.key():
            case Qt.Key.Key_Left:
                self._step(-1)
            case Qt.Key.Key_Right:
                self._step(1)
            case Qt.Key.Key_Plus | Qt.Key.Key_Equal:
                self.canvas.zoom(ZOOM_STEP)
            case Qt.Key.Key_Minus:
                self.canvas.zoom(1 / ZOOM_STEP)
            case Qt.Key.Key_0:
                self.canvas.fit()
            case Qt.Key.Key_1:
                self.canvas.zoom(1 / self.canvas.scale_now)
            case _:
                super().keyPressEvent(event)

    def _lay_out(self) -> None:
        foot = hbox(
            self.previous,
            self.next,
            (self.facts, 1),
            self.smaller,
            self._zoom,
            self.larger,
            self.fit,
            8,
            self.copy,
            self.save,
            spacing=4,
        )
        below = vbox(self.trouble, foot, margins=(12, 8, 12, 12))
        vbox((self.canvas, 1), below, on=self, spacing=0)


def open_media(
    attachment: Attachment,
    beside: Sequence[Attachment],
    thumbnails: Thumbnails,
    parent: QWidget,
    tell: Callable[[str], object],
) -> None:
    """A picture with all that are `beside` it. A sound plays, or stops; `tell` hears what went wrong."""
    assert attachment.media
    pictures = [one for one in beside if one.media and one.media.kind is MediaKind.PICTURE]
    if attachment in pictures:
        PictureViewer(pictures, pictures.index(attachment), thumbnails, parent).show()
    else:
        thumbnails.files.player.toggle(attachment.media, lambda why: tell(tr_said(why)))


class PictureCanvas(QGraphicsView):
    """Fits its picture into the room there is, until it is zoomed. The wheel zooms, the mouse moves it."""

    zoomed = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._is_fitted = True
        self._item = QGraphicsPixmapItem()
        self._item.setTransformationMode(Qt.TransformationMode.SmoothTransformation)
        scene = QGraphicsScene(self)
        scene.addItem(self._item)
        self.setScene(scene)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setDragMode(QGraphicsView.DragMode.ScrollHandDrag)
        self.setTransformationAnchor(QGraphicsView.ViewportAnchor.AnchorUnderMouse)
        self.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        self._colour()

    @property
    def scale_now(self) -> float:
        """Screen pixels for one of the picture."""
        return self.transform().m11() * self.devicePixelRatioF()

    def show_picture(self, pixmap: QPixmap, size: QSize) -> None:
        """`size` is that of the picture, of which the pixmap may be a small copy."""
        self._item.setPixmap(pixmap)
        self._item.setScale(size.width() / pixmap.width() if pixmap.width() and size.width() else 1.0)
        self.setSceneRect(self._item.sceneBoundingRect())
        if self._is_fitted:
            self.fit()

    def fit(self) -> None:
        """In full, and no larger than it is."""
        self._is_fitted = True
        self.resetTransform()
        rect, room = self.sceneRect(), self.viewport().size()
        if rect.isEmpty() or room.isEmpty():
            return
        own = 1 / self.devicePixelRatioF()
        share = min((room.width() - 16) / rect.width(), (room.height() - 16) / rect.height(), own)
        self.scale(share, share)
        self.zoomed.emit()

    def zoom(self, by: float) -> None:
        wanted = self.scale_now * by
        if 0.02 <= wanted <= MAX_ZOOM:
            self._is_fitted = False
            self.scale(by, by)
            self.zoomed.emit()

    def wheelEvent(self, event: QWheelEvent) -> None:
        if step := event.angleDelta().y():
            self.zoom(ZOOM_STEP if step > 0 else 1 / ZOOM_STEP)
        event.accept()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """All keys are the dialog's."""
        event.ignore()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self._is_fitted:
            self.fit()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self._colour()

    def _colour(self) -> None:
        self.setBackgroundBrush(QColor(current().surface))


def save_media(
    attachment: Attachment, files: MediaFiles, parent: QWidget, tell: Callable[[str], object]
) -> None:
    """Asks where. `tell` hears what went wrong."""
    dialog = file_dialog(parent, tr("Save as"), SAVED)
    dialog.selectFile(media_file_name(attachment))
    dialog.fileSelected.connect(lambda path: spawn(_save(attachment, files, Path(path), tell)))
    dialog.open()


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
