"""The states a chat or a sequence can be in, with one mark and one word each, the same everywhere."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Mark:
    glyph: str
    word: str

    @property
    def text(self) -> str:
        return f"{self.glyph} {self.word}"


COMPUTING = Mark("◌", "computing")
UNREAD = Mark("•", "unread")
STOPPED = Mark("■", "stopped")
FAILED = Mark("⚠", "failed")
IDLE = Mark("", "idle")
HIBERNATED = Mark("❄", "hibernated")
WARM = Mark("○", "warm")
WAITING = Mark("⧖", "waiting")
PAUSED = Mark("⏸", "paused")
