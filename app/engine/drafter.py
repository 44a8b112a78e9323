"""The draft tokens of one answer, and the acceptance rate of each source. Engine thread only."""

from __future__ import annotations

NGRAM = 3  # tokens by which a place is found; those after it are drafted
MAX_READ = 8192  # tokens of a chat in one step: a document of 100,000 must not delay it


class PromptLookup:
    """Finds an earlier occurrence of the last tokens of one chat.

    Its index grows with the chat: each token is entered once, in some 130 bytes. While the text continues as
    at the place that was found, that place is kept.
    """

    def __init__(self) -> None:
        self._behind: dict[tuple[int, ...], int] = {}  # n-gram: index of the token behind its last place
        self._num_read = 0
        self._place = 0  # index of the token that comes next if the text repeats itself; 0: not found

    def propose(self, token_ids: list[int], most: int) -> list[int]:
        """The draft to follow `token_ids`, which must extend those of the last call."""
        new = token_ids[self._num_read :]
        goes_on = self._place > 0 and token_ids[self._place : self._place + len(new)] == new
        self._read(token_ids)
        self._place = self._place + len(new) if goes_on else self._find(token_ids)
        if not self._place:
            return []
        proposed = token_ids[self._place : self._place + most]
        period = len(token_ids) - self._place
        while len(proposed) < most:  # the repetition overlaps the end
            proposed.append(proposed[-period])
        return proposed

    def _read(self, token_ids: list[int]) -> None:
        """Enter the n-grams in front of each new token."""
        begin, end = max(self._num_read, NGRAM), min(len(token_ids), self._num_read + MAX_READ)
        if begin < end:
            columns = [token_ids[begin - back : end - back] for back in range(NGRAM, 0, -1)]
            self._behind.update(zip(zip(*columns, strict=True), range(begin, end), strict=True))
        self._num_read = end

    def _find(self, token_ids: list[int]) -> int:
        is_all_read = self._num_read == len(token_ids)
        return self._behind.get(tuple(token_ids[-NGRAM:]), 0) if is_all_read else 0


MEMORY = 8.0  # draft tokens that count: copied text and new text alternate
FADING = 0.99  # of the record with each step, so that a source that was given up is tried again now and then
UNTRIED = 0.5  # chance of a draft token, before any was verified
# Verified draft tokens that this first belief counts as. What reads the text gets a fair trial; of a text
# that repeats itself by chance the first tokens tell enough.
BELIEF, BELIEF_IN_A_MODEL = 1.0, 3.0


class Record:
    """The acceptance rate of draft tokens from one source, in total and lately."""

    def __init__(
        self, of_all: Record | None = None, memory: float = MEMORY, belief: float = BELIEF_IN_A_MODEL
    ) -> None:
        """`of_all` is the prior while this record is empty, and learns from it."""
        self.num_drafted = 0  # draft tokens that were verified
        self.num_accepted = 0  # those that were accepted
        self._of_all, self._memory, self._belief = of_all, memory, belief
        self._right = self._wrong = 0.0  # recent counts, the newest weigh most

    @property
    def chance(self) -> float:
        """The chance that a draft token is accepted, if all before it in the step are."""
        believed = self._of_all.chance if self._of_all else UNTRIED
        return (self._right + self._belief * believed) / (self._right + self._wrong + self._belief)

    def learn(self, is_right: bool) -> None:
        """Record one draft token. Those after a rejected one are not recorded."""
        self._right += is_right
        self._wrong += not is_right
        self.fade(min(1.0, self._memory / (self._right + self._wrong)))
        if self._of_all:
            self._of_all.learn(is_right)

    def fade(self, share: float) -> None:
        self._right *= share
        self._wrong *= share


class Drafter:
    """Drafts by prompt lookup, and keeps the records of lookup and draft model."""

    def __init__(self, model_at_all: Record | None = None) -> None:
        """`model_at_all` is the draft model's record over all answers."""
        self.lookup = Record(belief=BELIEF)
        self.model = Record(model_at_all)
        self.source = self.lookup  # of the newest draft tokens
        self._prompt_lookup = PromptLookup()

    @property
    def num_drafted(self) -> int:
        return self.lookup.num_drafted + self.model.num_drafted

    @property
    def num_accepted(self) -> int:
        return self.lookup.num_accepted + self.model.num_accepted

    def look_up(self, token_ids: list[int], most: int) -> list[int]:
        """The tokens that followed an earlier occurrence of the last ones. Called once a step."""
        self.lookup.fade(FADING)
        self.model.fade(FADING)
        return self._prompt_lookup.propose(token_ids, most)

    def note_checked(self, num_drafted: int) -> None:
        self.source.num_drafted += num_drafted

    def learn(self, is_right: bool) -> None:
        """Record one verified draft token."""
        self.source.num_accepted += is_right
        self.source.learn(is_right)

    def forget_text(self) -> None:
        """The answer has another prompt now."""
        self._prompt_lookup = PromptLookup()
