"""Shows tokens of an answer at their places in its rendered text: the chosen one, and how sure each was.

A token whose place is not certain, since Markdown hides marks and links, is left out. GUI thread.
"""

import codecs
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import accumulate, pairwise
from typing import TypeAlias

from PySide6.QtCore import QObject, Slot
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QTextEdit

from app.chats.chat import Turn, TurnState
from app.inspector.probabilities import ProbabilitiesPanel
from app.inspector.token_tint import AnswerMarks, is_unsure, tint
from app.look.tokens import current
from app.ui.message.text_part import SelectedText, coloured
from app.ui.transcript.answer_view import AnswerView
from app.ui.transcript.transcript import Transcript

MAX_CHARS = 10_000  # of an answer: finding the places takes some ms
SURE = 6  # letters that agree after something that is not shown
WORD = re.compile(r"[^\W_]+")  # letters and digits, as `isalnum` has them
Span = tuple[int, int]  # the first character, and the one behind the last
Mark: TypeAlias = QTextEdit.ExtraSelection


class TokenLights(QObject):
    def __init__(self, panel: ProbabilitiesPanel, transcript: Transcript, parent: QObject) -> None:
        super().__init__(parent)
        self._panel = panel
        self._transcript = transcript
        self._has_marks = False
        panel.marks_changed.connect(self._on_changed)
        transcript.drawn.connect(self._show)

    @Slot()
    def _on_changed(self) -> None:
        """Brings the chosen token into sight, if the user chose it in the panel."""
        marks, is_chosen = self._panel.marks, self._panel.token_table.hasFocus()
        if marks and is_chosen and isinstance(marks.turn, Turn):
            self._transcript.show_turn(marks.turn)
        lit = self._show()
        if lit and is_chosen:
            pane, mark = lit
            self._transcript.scroll_to(pane.viewport(), pane.cursorRect(mark.cursor))

    @Slot()
    def _show(self) -> tuple[SelectedText, Mark] | None:
        """The chosen token and its view, if it is shown."""
        marks, lit = self._panel.marks, None
        if marks is None and not self._has_marks:
            return None
        self._has_marks = marks is not None
        for view in self._transcript.live_views:
            found: dict[SelectedText, list[Mark]] = {pane: [] for pane in view.text_panes()}
            if marks and view.turn is marks.turn and isinstance(view, AnswerView):
                for place, pane, begin, end in _places_in(view, marks):
                    found[pane].append(_marked(marks, place, pane, begin, end))
                    lit = (pane, found[pane][-1]) if place == marks.place else lit
            for pane, selections in found.items():
                pane.show_tokens(selections)
        return lit


def _places_in(view: AnswerView, marks: AnswerMarks) -> Iterator[tuple[int, SelectedText, int, int]]:
    """The tokens to be marked, the views and positions in which they are shown."""
    turn = view.turn
    if turn.state is TurnState.STREAMING:
        return
    parts = view.body.column.text_parts()
    panes = [part.pane for part in parts if part.pane and part.pane.isVisibleTo(view)]
    texts = [pane.toPlainText() for pane in panes]
    starts = list(accumulate((len(text) + 1 for text in texts), initial=0))
    spans = shown_spans(marks.pieces, turn.text, turn.split.answer, "\n".join(texts))
    for place, span in enumerate(spans):
        if span and (place == marks.place or place < len(marks.logprobs)):
            number = bisect_right(starts, span[0]) - 1
            begin, end = (_position(texts[number], one - starts[number]) for one in span)
            yield place, panes[number], begin, end


def _position(text: str, index: int) -> int:
    """Qt counts characters beyond the first plane twice."""
    return len(text[:index].encode("utf-16-le")) // 2


def _marked(marks: AnswerMarks, place: int, pane: SelectedText, begin: int, end: int) -> Mark:
    tokens = current()
    if place == marks.place:
        return coloured(pane.document(), begin, end, QColor(tokens.accent), QColor(tokens.on_accent))
    logprob = marks.logprobs[place]
    result = coloured(pane.document(), begin, end, tint(logprob), QColor(tokens.text))
    if is_unsure(logprob):  # else a link keeps its line
        result.format.setFontUnderline(True)
    return result


# Places


@lru_cache(maxsize=1)  # asked at every drawing
def shown_spans(pieces: tuple[bytes, ...], text: str, answer: str, shown: str) -> list[Span | None]:
    """Where each token of `text` stands in `shown`, the rendered `answer`, which is a part of the text.

    None: it is not shown, or its place is not certain. Nothing at all for the tokens of another text.
    """
    decode = codecs.getincrementaldecoder("utf-8")("replace").decode
    words = [decode(piece) for piece in pieces]
    written, start = "".join(words), text.rfind(answer)
    is_another = not (written.startswith(text) or text.startswith(written))  # such as before it called a tool
    if is_another or start < 0 or len(answer) > MAX_CHARS:
        return []
    known = [*[None] * start, *places(answer, shown)]
    ends = accumulate(map(len, words), initial=0)
    return [_span(text[begin:end], known[begin:end], shown) for begin, end in pairwise(ends)]


def _span(token: str, known: Sequence[int | None], shown: str) -> Span | None:
    """All its letters are shown, one behind the other."""
    found = [place for place in known if place is not None]
    is_whole = all(place is not None or not char.isalnum() for char, place in zip(token, known, strict=False))
    if not found or not is_whole:
        return None
    begin, end = found[0], found[-1] + 1
    return (begin, end) if len("".join(shown[begin:end].split())) == len(found) else None


def places(written: str, shown: str) -> list[int | None]:
    """For each character of a Markdown text its index in the rendered one; None: hidden, or not certain.

    Certain is what is found at the same place from the front and from the back.
    """
    forward, backward = _read(written, shown), _read(written[::-1], shown[::-1])[::-1]
    found = [
        place if back is not None and place == len(shown) - 1 - back else None
        for place, back in zip(forward, backward, strict=True)
    ]
    _place_signs(written, shown, found)
    return found


def _read(written: str, shown: str) -> list[int | None]:
    """The letters, one after the other; where they differ, those that were written are passed over."""
    found: list[int | None] = [None] * len(written)
    letters, at = [index for index, char in enumerate(written) if char.isalnum()], 0
    text = "".join(written[index] for index in letters)
    for word in WORD.finditer(shown):
        for index in range(*word.span()):
            sure = shown[index : min(index + SURE, word.end())]
            # The more letters agree, the farther they are looked for.
            place = at if text[at : at + 1] == sure[0] else text.find(sure, at, at + 5 ** len(sure))
            if place >= 0:
                found[letters[place]] = index
                at = place + 1
    return found


def _place_signs(written: str, shown: str, found: list[int | None]) -> None:
    """Each sign of which between two letters as many are shown as were written."""
    known = [(index, place) for index, place in enumerate(found) if place is not None]
    for (first, begin), (last, end) in pairwise([(-1, -1), *known, (len(written), len(shown))]):
        if last - first < 2 or end - begin < 2:
            continue  # two letters side by side
        between, signs = shown[begin + 1 : end], Counter(written[first + 1 : last])
        for sign in signs.keys() & set(between):
            if not sign.isspace() and between.count(sign) == signs[sign]:
                seen = (begin + 1 + index for index, char in enumerate(between) if char == sign)
                for index in range(first + 1, last):
                    if written[index] == sign:
                        found[index] = next(seen)
