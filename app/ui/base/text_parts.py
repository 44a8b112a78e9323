"""The parts of a very long text: where each begins, and the way from one to the next. GUI thread."""

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
# By the high byte of UTF-16, about: Latin has the first three, Chinese and its like those from 0x20 on.
_SCRIPTS = bytes.maketrans(bytes(range(1, 3)) + bytes(range(0x20, 0x100)), bytes(2) + b"\x20" * 0xE0)
MAX_PART_LINES = 600
STEPPER = 28


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
    if not part.isascii() and _is_mixed("".join(word for word in part.split() if len(word) > LONG_WORD)):
        num = min(num, MIXED_PART)
    return max(1, len(part)), max(1, num)


def _is_mixed(letters: str) -> bool:
    scripts = letters.encode("utf-16-be")[::2].translate(_SCRIPTS)
    number = int.from_bytes(scripts)
    others = (number ^ number >> 8).to_bytes(len(scripts))  # 0 where a letter is of the script before it
    return len(others) - others.count(0) > MAX_CHANGES


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
