"""What a window that borrows the engine says and sees, by names of its own. Pure but for its secret.

Its chats and requests have a prefix here. Others' are shown by a number: what they cost is told, but neither
their text, nor tokens, nor tools.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterable, Iterator
from dataclasses import fields, replace
from enum import Enum
from typing import Any, TypeVar

from app.protocol.commands import Command, DescribeTokens, RunUntil, Submit, Tokenize
from app.protocol.report import Answer, CellCheck, CellMap, StepReport, TokenizedText, TokenTexts
from app.protocol.request import OTHER, Request

T = TypeVar("T")

NAMES = ("chat_id", "new_chat_id", "request_id", "query_id")
SHOWN = ("spans", "slots", "events", "leases", "hibernated", "waiting", "encodings")
STATES = ("slots", "cells", "hibernated", "waiting", "encodings")
MAX_ASKED = 100_000  # tokens that it may still get the texts of


class LentView:
    def __init__(self) -> None:
        self._prefix, self._secret = f"{secrets.token_hex(4)}:", secrets.token_bytes(16)
        self._asked: set[int | str] = set()  # tokens and texts

    def is_own(self, name: str | None) -> bool:
        return name is not None and name.startswith(self._prefix)

    # What it says.

    def named(self, value: T) -> T:
        """A command or a request with the names that it has here."""
        own = {name: self._prefix + old for name in NAMES if isinstance(old := getattr(value, name, 0), str)}
        if isinstance(value, Request) and value.begins_as:
            own["begins_as"] = self._prefix + value.begins_as
        return replace(value, **own)  # type: ignore[type-var]

    def named_command(self, command: Command) -> Command:
        match command:
            case Submit(request):
                return Submit(self.named(request))
            case RunUntil(condition):
                return RunUntil(self.named(condition))
            case DescribeTokens(token_ids):
                self._note_asked(token_ids)
            case Tokenize(text):
                self._note_asked((text,))
        return self.named(command)

    def _note_asked(self, asked: Iterable[int | str]) -> None:
        if len(self._asked) > MAX_ASKED:
            self._asked.clear()
        self._asked.update(asked)

    # What it sees.

    def shown(self, report: StepReport) -> StepReport:
        own_leases = [lease for lease in report.leases if self.is_own(lease.chat_id)]
        for one in own_leases:
            self._note_asked((*one.prompt_ids, *one.common, *one.held, *one.wanted))
        shown: dict[str, Any] = {name: tuple(map(self._shown, getattr(report, name))) for name in SHOWN}
        outputs = tuple(self._shown(one) for one in report.outputs if self.is_own(one.request_id))
        if pause := report.pause:
            pause = replace(pause, planned=tuple(map(self._shown, pause.planned)))
        cell_map = self._cells(report) if report.cell_map else None
        answers = tuple(self._answers(report.answers))
        return replace(report, outputs=outputs, pause=pause, answers=answers, cell_map=cell_map, **shown)

    def _answers(self, answers: Iterable[Answer]) -> Iterator[Answer]:
        """Those to its own questions."""
        for answer in answers:
            match answer:
                case CellCheck():
                    yield answer
                case TokenizedText(text) if text in self._asked:
                    yield answer
                case TokenTexts(token_ids, texts):
                    told = [pair for pair in zip(token_ids, texts, strict=True) if pair[0] in self._asked]
                    if told:
                        yield TokenTexts(tuple(one for one, _ in told), tuple(text for _, text in told))
                case _ if any(self.is_own(getattr(answer, name, None)) for name in NAMES):
                    yield self._shown(answer)

    def _cells(self, report: StepReport) -> CellMap:
        """The tokens of its own chats; another's cell holds token 0."""
        import numpy as np

        cells = report.cell_map
        assert cells
        own = np.zeros(cells.holders.shape[1], "<u8")
        for slot in report.slots:
            if self.is_own(slot.chat_id):
                own[slot.seq_id // 64] |= np.uint64(1 << slot.seq_id % 64)
        is_own = (cells.holders & own).any(axis=1)
        return replace(cells, token_ids=np.where(is_own | (cells.token_ids == -1), cells.token_ids, 0))

    def _shown(self, value: T) -> T:
        names = {name: old for name in NAMES if isinstance(old := getattr(value, name, 0), str)}
        if not names:
            return value
        blank = {} if any(map(self.is_own, names.values())) else _blank(value)
        shown = {name: self._shown_name(old) for name, old in names.items()}
        return replace(value, **(blank | shown))  # type: ignore[type-var]

    def _shown_name(self, name: str) -> str:
        if self.is_own(name):
            return name.removeprefix(self._prefix)
        return OTHER + hashlib.sha256(self._secret + name.encode("utf-8", "replace")).hexdigest()[:8]


def _blank(value: Any) -> dict[str, Any]:
    """Its texts, bytes and lists, emptied."""
    found = {field.name: getattr(value, field.name) for field in fields(value)}
    return {
        name: "" if isinstance(old, str) else type(old)()
        for name, old in found.items()
        if isinstance(old, str | bytes | tuple) and not isinstance(old, Enum)
    }


def thinned(report: StepReport, former: StepReport) -> StepReport:
    """What happened; the states as they were told last."""
    return replace(report, **{name: getattr(former, name) for name in STATES})


def outputs_alone(report: StepReport, former: StepReport) -> StepReport:
    return replace(thinned(report, former), spans=(), events=(), leases=(), cell_map=None)
