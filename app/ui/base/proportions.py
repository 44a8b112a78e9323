"""Sizes of the window's parts, needed before they are created. Imports next to nothing. GUI thread."""

from string import ascii_lowercase

from PySide6.QtCore import QRect
from PySide6.QtGui import QFontMetrics

from app.look.fonts import column_chars, reading_font, small_font

TAB_HEIGHT, ABOVE_TABS = 34, 4
STRIP_HEIGHT = TAB_HEIGHT + ABOVE_TABS
PICKER_HEIGHT = 36  # of the line with the model that answers
HALF = 0.5  # of two chats side by side
MAX_WIDTH = 16_777_215  # of a widget

LIST_WIDTH, MIN_LIST_WIDTH = 240, 180  # of all chats
# A window narrower than this, or with less left beside the inspector, shows the list only on request.
NARROW = 1_000
ROOM = LIST_WIDTH + 480

MIN_CHATS = 480  # beside the inspector
COLUMN_MARGIN = 24
MIN_COLUMN = 720  # where there is room for it
OVERHANG = 16  # the composer's frame stands round the column of text
BESIDE_COMPOSER, BELOW_COMPOSER = 8, 16
# In the composer's frame: left, above and right of the text, and below it, where the buttons are.
COMPOSER_PADDING, COMPOSER_TOP, TEXT_INSET, BUTTONS_HEIGHT, ABOVE_BUTTONS = 8, 10, 6, 32, 4


def has_list(choice: bool | None, window_width: int, middle_width: int) -> bool:
    """Whether the list of all chats is shown. `choice` None: the user has not chosen."""
    has_room = window_width >= NARROW and middle_width >= ROOM
    return has_room if choice is None else choice


def status_height() -> int:
    return QFontMetrics(small_font()).height() + 9


def column_width(available: int, zoom: int) -> int:
    """A comfortable line, or what there is: without a number of characters, all of it."""
    room = available - 2 * COLUMN_MARGIN
    if not (num_chars := column_chars()):
        return max(160, room)
    metrics = QFontMetrics(reading_font(zoom))
    # Latin letters are measured: the average character of a font with Chinese is twice as wide.
    characters = metrics.horizontalAdvance(ascii_lowercase) * num_chars // len(ascii_lowercase)
    return max(160, min(room, max(MIN_COLUMN, characters)))


def column_left(page_width: int, column: int) -> int:
    """In the middle, as the composer's frame is."""
    return max(0, (page_width - column + 1) // 2)


def composer_width(zoom: int) -> int:
    """At most: where there is room, a little wider than the column of text."""
    return min(MAX_WIDTH, column_width(MAX_WIDTH, zoom) + 2 * OVERHANG)


def composer_rect(page: QRect, text_height: int, zoom: int) -> QRect:
    """The place of the composer's frame, at the foot of a chat's page."""
    room = page.width() - 2 * BESIDE_COMPOSER
    width = min(room, composer_width(zoom))
    height = COMPOSER_TOP + text_height + ABOVE_BUTTONS + BUTTONS_HEIGHT + COMPOSER_PADDING
    top = page.bottom() + 1 - BELOW_COMPOSER - height
    return QRect(page.left() + BESIDE_COMPOSER + (room - width + 1) // 2, top, width, height)
