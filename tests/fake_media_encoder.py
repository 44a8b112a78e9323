"""An encoder without a projector: each picture is so many rows between two tokens, and is encoded at once."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from app.engine.media.encoder import EncodedMedia, EncodingProgress
from app.engine.media.rows import MediaPart
from app.protocol.media import Media, Senses


class FakeMediaEncoder:
    """With `holds` an encoding ends only when it is `finish`ed."""

    senses = Senses(sees=True, hears=True)
    fingerprint = "fake encoder"
    on_progress: Callable[[], None] = staticmethod(lambda: None)

    def __init__(
        self, num_rows: int = 6, *, is_whole: bool = False, holds: bool = False, width: int = 4
    ) -> None:
        self._part = MediaPart((), num_rows, num_rows, is_whole=is_whole)
        rows = np.random.default_rng(0).standard_normal((num_rows, width), np.float32)
        self._encoded = EncodedMedia((rows,), 1.0)
        self._holds = holds
        self.encoding: list[Media] = []
        self.num_rows = 0  # of the current one
        self.cancelled: list[Media] = []
        self.encoded: set[str] = set()

    def layout(self, media: Media) -> tuple[MediaPart, ...]:
        return MediaPart((60,)), self._part, MediaPart((62,))

    def take(self, media: Media) -> EncodedMedia | None:
        if self._holds and media.sha256 not in self.encoded:
            if media not in self.encoding:
                self.encoding.append(media)
            return None
        self.encoded.add(media.sha256)
        return self._encoded

    def finish(self) -> None:
        self.encoded |= {media.sha256 for media in self.encoding}
        self.encoding.clear()
        self.on_progress()

    def is_encoding(self, media: Media) -> bool:
        return media in self.encoding

    def cancel(self, media: Media) -> None:
        self.encoding = [one for one in self.encoding if one != media]
        self.cancelled.append(media)

    def current(self) -> EncodingProgress:
        return (
            EncodingProgress(self.encoding[0].sha256, self.num_rows) if self.encoding else EncodingProgress()
        )

    def close(self) -> None:
        pass
