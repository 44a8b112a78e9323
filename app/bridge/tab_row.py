"""Which tabs there are, in what order, which are pinned, which one or two are shown and which is current.

A tab may be out, in a window of its own: it keeps its place, and is neither shown here nor current.

Pure logic on opaque tabs: knows neither chats nor widgets, and emits no signals.
"""

from typing import Generic, TypeVar

T = TypeVar("T")


class TabRow(Generic[T]):
    """Pinned tabs stand left of all others. As long as one is not out, one is current, and it is shown."""

    def __init__(self) -> None:
        self._tabs: list[T] = []
        self._num_pinned = 0
        self._shown: list[T] = []  # from left to right
        self._out: list[T] = []
        self.current: T | None = None

    @property
    def tabs(self) -> tuple[T, ...]:
        return tuple(self._tabs)

    @property
    def pinned(self) -> tuple[T, ...]:
        return tuple(self._tabs[: self._num_pinned])

    @property
    def shown(self) -> tuple[T, ...]:
        """One, or two side by side."""
        return tuple(self._shown)

    @property
    def beside(self) -> T | None:
        """What is shown beside the current one."""
        return next((tab for tab in self._shown if tab != self.current), None)

    def is_pinned(self, tab: T) -> bool:
        return tab in self._tabs[: self._num_pinned]

    def insert(self, tab: T, index: int) -> int:
        """As a tab that is not pinned. Returns where it stands."""
        index = max(self._num_pinned, min(index, len(self._tabs)))
        self._tabs.insert(index, tab)
        return index

    def remove(self, tab: T) -> None:
        """Of two shown tabs the other one stays, else its neighbour takes its place."""
        self.take_out(tab)
        self.put_back(tab)
        self._num_pinned -= self.is_pinned(tab)
        self._tabs.remove(tab)

    def is_out(self, tab: T) -> bool:
        return tab in self._out

    def take_out(self, tab: T) -> None:
        """Of two shown tabs the other one stays, else its neighbour is shown in its place."""
        self._out.append(tab)
        if tab in self._shown:
            near = self.next_to(tab)
            self._shown.remove(tab)
            self._shown = self._shown or ([] if near is None else [near])
        if self.current == tab:
            self.current = self._shown[0] if self._shown else None

    def put_back(self, tab: T) -> None:
        """Where it stood, not shown yet."""
        self._out = [out for out in self._out if out != tab]

    def move(self, tab: T, index: int) -> int:
        """Among the pinned ones or among the others, whichever it is of. Returns where it stands."""
        first, last = (
            (0, self._num_pinned - 1) if self.is_pinned(tab) else (self._num_pinned, len(self._tabs) - 1)
        )
        index = max(first, min(index, last))
        self._tabs.remove(tab)
        self._tabs.insert(index, tab)
        return index

    def set_pinned(self, tab: T, is_pinned: bool) -> int:
        """As the last of the pinned ones, or the first of the others. Returns where it stands."""
        if is_pinned == self.is_pinned(tab):
            return self._tabs.index(tab)
        self._tabs.remove(tab)
        self._num_pinned += 1 if is_pinned else -1
        index = self._num_pinned - 1 if is_pinned else self._num_pinned
        self._tabs.insert(index, tab)
        return index

    def set_current(self, tab: T) -> None:
        """Shows it where the current one is shown, unless it is shown already."""
        if tab not in self._shown:
            self._shown = [tab if shown == self.current else shown for shown in self._shown] or [tab]
        self.current = tab

    def show_beside(self, tab: T, other: T | None = None) -> None:
        """Shows it on the right and makes it current. `other` is for the left where nothing else is there."""
        others = [*(shown for shown in self._shown if shown != tab), *([] if other is None else [other])]
        left = others[0] if others else self.next_to(tab)
        self._shown = [tab] if left is None else [left, tab]
        self.current = tab

    def end_split(self) -> None:
        """Only the current one stays."""
        self._shown = self._shown and [tab for tab in self._shown if tab == self.current]

    def next_to(self, tab: T) -> T | None:
        """The tab on its right, or else on its left, that is not out."""
        index = self._tabs.index(tab)
        near = (*self._tabs[index + 1 :], *reversed(self._tabs[:index]))
        return next((other for other in near if other not in self._out), None)
