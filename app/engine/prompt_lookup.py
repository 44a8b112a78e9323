"""Prompt lookup: drafts what followed the last tokens at an earlier place. Works on tokens alone."""

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
