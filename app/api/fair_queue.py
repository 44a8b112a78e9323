"""Requests that wait to be submitted to the engine. Callers take turns, however much one of them asks for.

Knows only requests and callers. Not thread-safe.
"""

from __future__ import annotations

from collections import Counter

from app.protocol.request import Caller, Request, by_turn, owes


class FairQueue:
    """Keeps count of what was taken from it until `end`."""

    def __init__(self) -> None:
        self._waiting: dict[Caller, dict[str, Request]] = {}  # by request id, in order
        self._callers: dict[str, Caller] = {}  # of each request that waits or was taken
        self._taken: Counter[Caller] = Counter()

    def __len__(self) -> int:
        return sum(map(len, self._waiting.values()))

    def add(self, request: Request) -> None:
        self._callers[request.request_id] = request.caller
        self._waiting.setdefault(request.caller, {})[request.request_id] = request

    def take(self, num_places: int) -> Request | None:
        """The next request to be submitted, if there is a place for it.

        Beyond `num_places` only those are taken whose caller has less than its share: the engine lets them
        in at once.
        """
        first_ones = [next(iter(waiting.values())) for waiting in self._waiting.values()]
        is_full = self._taken.total() >= num_places
        for request in by_turn(first_ones, list(self._taken.elements()), lambda one: one.caller):
            if not is_full or self._is_owed(request.caller, num_places):
                self._remove(request)
                self._taken[request.caller] += 1
                return request
        return None

    def end(self, request_id: str) -> bool:
        """The request is over, or withdrawn. True: it was still waiting."""
        caller = self._callers.pop(request_id)
        request = self._waiting.get(caller, {}).get(request_id)
        if request:
            self._remove(request)
            return True
        self._taken -= Counter([caller])
        return False

    def _remove(self, request: Request) -> None:
        """From the waiting ones."""
        waiting = self._waiting[request.caller]
        del waiting[request.request_id]
        if not waiting:
            del self._waiting[request.caller]

    def _is_owed(self, caller: Caller, num_places: int) -> bool:
        if self._taken[caller]:
            return False
        taken = list(self._taken.elements())
        of_program = sum(one.program == caller.program for one in taken)
        num_programs = len({one.program for one in (*self._waiting, *self._taken)})
        share = max(1, num_places // num_programs)
        return of_program < share or any(owes(one, caller, taken) for one in self._taken)
