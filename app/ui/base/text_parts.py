"""The parts of a very long text: where each begins, and the way from one to the next. GUI thread."""

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from app.look.buttons import IconButton
from app.look.fonts import small_font, tabular
from app.look.plain_text import PlainLabel
from app.look.words import tr

PART_BYTES = 6_000  # of UTF-8, which go with what a letter costs: laying out more takes longer than a frame
DIVERSE_PART = 1_000  # of letters that hardly repeat: one that is new to Qt takes it as long as ten others
DIVERSE_SHARE = 0.85  # so many of the letters are different ones; in Chinese prose some half of
SAMPLE_STEP = 8  # each eighth
# For each line of a word that is longer than a line Qt goes through the rest of it, and each change of script
# in it takes as long as many letters.
MIXED_PART, MAX_CHANGES, LONG_WORD = 500, 300, 64
MAX_PART_LINES = 600
STEPPER = 28


def _scripts() -> NDArray[np.uint8]:
    """Of each letter, about: most scripts have a block of 128. 0: it has none, such as a digit."""
    scripts = np.arange(0x10000) // 128
    for begin, end in (0, 0x300), (0x370, 0x400), (0x400, 0x580), (0x2E80, 0x10000):  # Latin … Chinese
        scripts[begin:end] = begin // 128 + 1
    scripts[0x300:0x370] = scripts[0x2000:0x2E80] = 0  # accents, punctuation
    scripts[[number for number in range(0x80) if not chr(number).isalpha()]] = 0
    return scripts.astype(np.uint8)


_SCRIPTS = _scripts()


def part_starts(text: str) -> list[int]:
    """Where the parts of a text begin: at the beginning of a line, if there is one not far before."""
    num_lines = text.count("\n") + 1
    most = min(PART_BYTES, max(MAX_PART_LINES, MAX_PART_LINES * len(text) // num_lines))
    starts = [0]
    size = known_end = 0
    while True:
        begin = starts[-1]
        if begin + size >= known_end:
            num_known, size = _part_size(text, begin, most)
            known_end = begin + num_known
        end = begin + size
        if end >= len(text):
            return starts
        line_end = text.rfind("\n", end - size // 2, end)
        starts.append(line_end + 1 if line_end >= 0 else end)


def is_one_part(line: str) -> bool:
    return len(line) <= PART_BYTES // 4 or len(line) <= _part_size(line, 0, PART_BYTES)[1]


def _part_size(text: str, begin: int, most: int) -> tuple[int, int]:
    """How many letters from there were looked at, and how many of them a part has at most: one at least."""
    data = text[begin : begin + most].encode("utf-8", "replace")[:PART_BYTES]
    part = data.decode("utf-8", "ignore")
    sample = part[::SAMPLE_STEP]
    num = min(len(part), DIVERSE_PART) if len({*sample}) > DIVERSE_SHARE * len(sample) else len(part)
    if not part.isascii() and _num_changes(part) > MAX_CHANGES:
        long_words = "".join(word for word in part.split() if len(word) > LONG_WORD)
        num = min(num, MIXED_PART) if _num_changes(long_words) > MAX_CHANGES else num
    return max(1, len(part)), max(1, num)


def _num_changes(text: str) -> int:
    """How often the script changes."""
    scripts = _SCRIPTS[np.frombuffer(text.encode("utf-16-le"), np.uint16)]
    scripts = scripts[scripts > 0]
    return int(np.count_nonzero(scripts[1:] != scripts[:-1]))


class Stepper(QWidget):
    """Which part it is, and the way to those beside it."""

    stepped = Signal(int)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.count = PlainLabel(parent=self, tone="muted")
        self.count.setFont(tabular(small_font()))
        self.previous = IconButton("chevron-left", tr("Previous part"), STEPPER - 2, self, icon_side=14)
        self.next = IconButton("chevron-right", tr("Next part"), STEPPER - 2, self, icon_side=14)
        self.previous.clicked.connect(lambda: self.stepped.emit(-1))
        self.next.clicked.connect(lambda: self.stepped.emit(1))

    def show_part(self, part: int, num_parts: int) -> None:
        self.count.setText(tr("Part {number} of {total}", number=part + 1, total=num_parts))
        self.previous.setEnabled(part > 0)
        self.next.setEnabled(part < num_parts - 1)

    def arrange(self, width: int) -> None:
        self.setFixedSize(width, STEPPER)
        self.next.move(width - self.next.width(), 0)
        self.previous.move(self.next.x() - self.previous.width(), 0)
        self.count.setGeometry(0, 0, self.previous.x() - 4, STEPPER)
