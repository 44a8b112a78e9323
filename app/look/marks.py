"""The states a chat or a sequence can be in, with one mark and one word each, the same everywhere."""

from dataclasses import dataclass

from app.look.words import mark, tr


@dataclass(frozen=True, slots=True)
class Mark:
    glyph: str
    english: str

    @property
    def word(self) -> str:
        return tr(self.english)

    @property
    def text(self) -> str:
        return f"{self.glyph} {self.word}"


COMPUTING = Mark("◌", mark("computing"))
UNREAD = Mark("•", mark("unread"))
STOPPED = Mark("■", mark("stopped"))
FAILED = Mark("⚠", mark("failed"))
IDLE = Mark("", mark("idle"))
HIBERNATED = Mark("❄", mark("hibernated"))
WARM = Mark("○", mark("warm"))
WAITING = Mark("⧖", mark("waiting"))
PAUSED = Mark("⏸", mark("paused"))
ASKING = Mark("?", mark("waiting for you"))
