"""Turns tokens into text: whole characters only, without stop strings."""

import codecs
from collections.abc import Callable


class Detokenizer:
    """One answer's text. A character split across tokens is held back until its last byte, and left out where
    that never comes; a tail that may become a stop string is held back until that is decided.
    `stopping_word` is the stop string found.
    """

    def __init__(self, token_piece: Callable[[int], bytes], stop: tuple[str, ...] = ()) -> None:
        self._token_piece = token_piece
        self._stop = stop
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._held = ""
        self.stopping_word = ""

    @property
    def stopped(self) -> bool:
        return bool(self.stopping_word)

    def skip(self, token_id: int) -> None:
        """The token was shown before; of its text, only an incomplete character is kept."""
        self._decoder.decode(self._token_piece(token_id))

    def add(self, token_id: int) -> str:
        """The text that is final with this token. After a stop string `stopped` is set."""
        text = self._decoder.decode(self._token_piece(token_id))
        return self._release(text) if self._stop else text

    def flush(self) -> str:
        """What was still held back when the answer ended for another reason."""
        text, self._held = self._held, ""
        return text

    def _release(self, new_text: str) -> str:
        text = self._held + new_text
        ends = [(text.find(stop), stop) for stop in self._stop if stop in text]
        if ends:
            end, self.stopping_word = min(ends)
            self._held = ""
            return text[:end]
        keep = max((_partial_stop(text, stop) for stop in self._stop), default=0)
        self._held = text[len(text) - keep :]
        return text[: len(text) - keep]


def _partial_stop(text: str, stop: str) -> int:
    """Length of the longest end of `text` that is a proper beginning of `stop`."""
    at = text.find(stop[0], max(0, len(text) - len(stop) + 1))
    while at >= 0 and not stop.startswith(text[at:]):
        at = text.find(stop[0], at + 1)
    return len(text) - at if at >= 0 else 0
