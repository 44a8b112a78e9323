"""The parts of a very long text: where each begins, and the way from one to the next. GUI thread."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from app.look.buttons import IconButton
from app.look.fonts import small_font, tabular
from app.look.plain_text import PlainLabel
from app.look.words import tr

PART_BYTES = 6_000  # of UTF-8, which go with what a letter costs: laying out more takes longer than a frame
MAX_PART_LINES = 600
STEPPER = 28


def part_starts(text: str) -> list[int]:
    """Where the parts of a text begin: at the beginning of a line, if there is one not far before."""
    num_lines = text.count("\n") + 1
    most = min(PART_BYTES, max(MAX_PART_LINES, MAX_PART_LINES * len(text) // num_lines))
    starts = [0]
    while True:
        begin = starts[-1]
        size = max(
            1,
            len(text[begin : begin + most].encode("utf-8", "replace")[:PART_BYTES].decode("utf-8", "ignore")),
        )
        end = begin + size
        if end >= len(text):
            return starts
        line_end = text.rfind("\n", end - size // 2, end)
        starts.append(line_end + 1 if line_end >= 0 else end)


def is_one_part(line: str) -> bool:
    return len(line) <= PART_BYTES // 4 or len(line.encode("utf-8", "replace")) <= PART_BYTES


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
