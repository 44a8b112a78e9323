"""A user message, in a bubble. GUI thread."""

from PySide6.QtCore import QLocale, Qt, Signal, Slot
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from app.chats.attachment import PASSAGE, Attachment
from app.chats.chat import Turn
from app.look.fonts import reading_font, small_font
from app.look.painted import paint_rounded
from app.look.plain_text import PlainLabel
from app.look.tokens import current
from app.look.words import locale, tr, tr_said
from app.shelves.documents import is_cited
from app.ui.base.attachment_preview import AttachmentPreview
from app.ui.base.attachment_words import kind_label, title
from app.ui.base.thumbnails import Thumbnails
from app.ui.message.long_text import LongText
from app.ui.message.media_strip import MediaStrip
from app.ui.message.text_part import TextPart
from app.ui.transcript.turn_actions import Place, TurnButtons, day_of
from app.ui.transcript.turn_view import AnswerProgress, TurnView

BUBBLE_RADIUS = 12
BUBBLE_PADDING_X = 14
BUBBLE_PADDING_TOP = 10
BUBBLE_PADDING_BOTTOM = 6  # the line spacing leaves room below the last one
BUBBLE_SHARE = 0.86  # of the column, at most
GAP = 4
BETWEEN = 6  # pictures and the bubble
DAY_HEIGHT = 40


class UserView(TurnView):
    """Exactly what was typed: no Markdown."""

    GAP_AFTER = 4

    picture_opened = Signal(object, object)  # the Turn, the attachment to be enlarged
    media_saved = Signal(object)  # the attachment, whose file is to be saved

    def __init__(self, turn: Turn, parent: QWidget) -> None:
        super().__init__(turn, parent)
        self._shown: tuple[object, ...] = ()  # passages may join a sent message
        self._files: list[Attachment] = []
        self._pieces: list[Attachment] = []  # pictures and sounds
        self._media = MediaStrip(self)
        self._media.opened.connect(self._on_media_opened)
        self._media.saved.connect(self._on_media_saved)
        self._text = LongText(self)
        self._text.height_changed.connect(self._emit_height_changed)
        self._text.file_clicked.connect(self._on_file_clicked)
        self.day = PlainLabel(parent=self, tone="muted")  # above the first message of a day
        self.day.setFont(small_font())
        self.day.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.notice = PlainLabel(parent=self, tone="danger", wraps=True)  # shown for a damaged message
        self.notice.setAlignment(Qt.AlignmentFlag.AlignRight)
        self.setAccessibleName(tr("You"))
        self.buttons.raise_()

    def apply(self, place: Place, _progress: AnswerProgress) -> None:
        self.place = place
        day = locale().toString(day_of(self.turn), QLocale.FormatType.LongFormat) if place.begins_day else ""
        if day != self.day.text():
            self.day.setText(day)
            self.changed()
        names = [self._name_of(each) for each in self.turn.attachments if not each.media]
        shown = (self.turn, self.turn.attachments, names)
        if self._shown != shown:
            self._shown = shown
            self._files = [each for each in self.turn.attachments if not each.media]
            self._text.show_text(self.turn.text, names)
            self._pieces = [each for each in self.turn.attachments if each.media]
            self._media.show_media(self._pieces)
            self.notice.setText(tr_said(self.turn.notice))
            self.changed()
        self.buttons.apply(self.turn, place)
        self.versions.apply(self.turn, place)
        self._place_actions(self.width(), self.buttons.y())

    def _name_of(self, file: Attachment) -> str:
        """A passage tells whether the answer made use of it."""
        name, answer = title(file), self.place.answer
        if file.kind == PASSAGE and answer and not is_cited(file, answer):
            return tr("{name} · given, not cited", name=name)
        return name

    @Slot(int, QWidget)
    def _on_file_clicked(self, number: int, button: QWidget) -> None:
        """The preview of a draft's file, to be read only."""
        file = self._files[number]
        preview = AttachmentPreview(self)
        preview.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        preview.open_above(button, file, kind_label(file), is_sent=True)

    @Slot(int)
    def _on_media_opened(self, number: int) -> None:
        self.picture_opened.emit(self.turn, self._pieces[number])

    @Slot(int)
    def _on_media_saved(self, number: int) -> None:
        self.media_saved.emit(self._pieces[number])

    def set_thumbnails(self, thumbnails: Thumbnails) -> None:
        super().set_thumbnails(thumbnails)
        self._media.set_thumbnails(thumbnails)

    def set_zoom(self, zoom: int) -> None:
        self._text.set_reading_font(reading_font(zoom))
        self.notice.setFont(reading_font(zoom))
        super().set_zoom(zoom)

    def show_match(self, query: str, number: int) -> None:
        self._text.show_match(query, number)

    def text_parts(self) -> list[TextPart]:
        return self._text.text_parts()

    def _arrange_text(self, width: int) -> int:
        widest = int(width * BUBBLE_SHARE) - 2 * BUBBLE_PADDING_X
        above = DAY_HEIGHT if self.day.text() else 0
        self.day.setGeometry(0, 0, width, above)
        self.day.setVisible(bool(above))
        media_height = self._media.arrange(int(width * BUBBLE_SHARE))
        self._media.move(width - self._media.width(), above)
        top = above + media_height
        text_height = self._text.arrange(widest)
        bottom = top
        if self._has_bubble:
            top += BETWEEN if media_height else 0
            self._text.move(width - BUBBLE_PADDING_X - self._text.width(), top + BUBBLE_PADDING_TOP)
            bottom = top + BUBBLE_PADDING_TOP + text_height + BUBBLE_PADDING_BOTTOM
        self.notice.setVisible(bool(self.notice.text()))
        if self.notice.text():
            height = self.notice.heightForWidth(widest)
            self.notice.setGeometry(width - BUBBLE_PADDING_X - widest, bottom + GAP, widest, height)
            bottom += GAP + height
        self._place_actions(width, bottom + 2)
        self.update()  # the bubble is this widget's own, and around the text
        return bottom + 2 + TurnButtons.HEIGHT

    @property
    def _has_bubble(self) -> bool:
        return bool(self.turn.text or self._files or not self._pieces)

    def _place_actions(self, width: int, y: int) -> None:
        """The version switch at the edge, so that it stays in place."""
        self.versions.move(width - self.versions.width(), y)
        self.buttons.move(width - self.versions.taken_width - self.buttons.width(), y)

    def _save_label(self) -> str:
        return tr("Save & send").replace("&", "&&")

    def _show_text(self, is_shown: bool) -> None:
        super()._show_text(is_shown)
        self._text.setVisible(is_shown)
        self._media.setVisible(is_shown and bool(self._pieces))
        self.notice.setVisible(is_shown and bool(self.notice.text()))
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        if self.editor or not self._has_bubble:
            return
        bubble = self._text.geometry().adjusted(
            -BUBBLE_PADDING_X, -BUBBLE_PADDING_TOP, BUBBLE_PADDING_X, BUBBLE_PADDING_BOTTOM
        )
        painter = QPainter(self)
        paint_rounded(painter, bubble, BUBBLE_RADIUS, fill=current().raised)
