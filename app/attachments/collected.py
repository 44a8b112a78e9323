"""Collects text up to a limit."""

from app.attachments.limits import MAX_CHARS
from app.attachments.refusal import Reason, RefusedError


class CollectedText:
    def __init__(self) -> None:
        self._parts: list[str] = []
        self._num_chars = 0

    def add(self, *parts: str) -> None:
        """Raises RefusedError."""
        self._parts += parts
        self._num_chars += sum(map(len, parts))
        if self._num_chars > MAX_CHARS:
            raise RefusedError(Reason.TOO_MUCH_TEXT)

    @property
    def ends_line(self) -> bool:
        last = next((part for part in reversed(self._parts) if part), "\n")
        return last.endswith("\n")

    @property
    def text(self) -> str:
        return "".join(self._parts)
