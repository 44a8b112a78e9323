"""The guesses at one answer, and how often those of each kind were right. Engine thread only."""

from __future__ import annotations

from app.engine.prompt_lookup import PromptLookup

MEMORY = 8.0  # guesses that count: text that is copied and text that is new take turns
FADING = 0.99  # of what was learned, with each step, so that what was given up is tried again now and then
UNTRIED = 0.5  # chance of a guess, before any was checked


class Record:
    """How often guesses of one kind were right, and how often lately."""

    def __init__(self, of_all: Record | None = None, memory: float = MEMORY) -> None:
        """`of_all` is believed as long as nothing is known of these, and learns from them."""
        self.num_drafted = 0  # guesses that were checked
        self.num_kept = 0  # those that were right, and all before them in the same step
        self._of_all, self._memory = of_all, memory
        self._right = self._wrong = 0.0  # how many lately: the newest count most

    @property
    def chance(self) -> float:
        """That a guess is right, if all before it in the same step are."""
        believed = self._of_all.chance if self._of_all else UNTRIED
        return (self._right + believed) / (self._right + self._wrong + 1)

    def learn(self, is_right: bool) -> None:
        """Of one guess. What stands behind a wrong one tells nothing."""
        self._right += is_right
        self._wrong += not is_right
        self.fade(min(1.0, self._memory / (self._right + self._wrong)))
        if self._of_all:
            self._of_all.learn(is_right)

    def fade(self, share: float) -> None:
        self._right *= share
        self._wrong *= share


class Drafter:
    """Looks its answer up, and keeps the records of that and of a draft model."""

    def __init__(self, model_at_all: Record | None = None) -> None:
        """`model_at_all` is the record of the draft model with all answers."""
        self.lookup = Record()
        self.model = Record(model_at_all)
        self.source = self.lookup  # of the newest guesses
        self._prompt_lookup = PromptLookup()

    @property
    def num_drafted(self) -> int:
        return self.lookup.num_drafted + self.model.num_drafted

    @property
    def num_kept(self) -> int:
        return self.lookup.num_kept + self.model.num_kept

    def look_up(self, token_ids: list[int], most: int) -> list[int]:
        """What came behind the last tokens before. Called once for each step."""
        self.lookup.fade(FADING)
        self.model.fade(FADING)
        return self._prompt_lookup.guess(token_ids, most)

    def note_checked(self, num_drafted: int) -> None:
        self.source.num_drafted += num_drafted

    def learn(self, is_right: bool) -> None:
        """Of one guess that was checked."""
        self.source.num_kept += is_right
        self.source.learn(is_right)

    def forget_text(self) -> None:
        """Another prompt stands before the answer now."""
        self._prompt_lookup = PromptLookup()
