"""A recording as one page that any browser opens: its lines are packed in it, and its script shows them.

Nothing of a recording stands in the page itself: text of anyone's making can be no markup. Knows no widget
and no thread of its own.
"""

from __future__ import annotations

import base64
import hashlib
import re
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import MISSING, fields, is_dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

import app
from app.inspector.event_words import words
from app.inspector.recording import LAST_TEXT, Recording
from app.protocol.events import Event, Told
from app.protocol.model import ModelInfo
from app.protocol.recording import PACKED, Cells, Folding, Head, Step, ToldReport, has_usages_twice, opened
from app.protocol.report import CellMap, StepReport
from app.protocol.wire import MAX_STEPS
from app.system import paths
from app.system.files import replacing

MAX_CELL_BYTES = 16 << 20  # a larger map is left out, so that its line can be read again
BYTES_IN_LINE = 57_000  # of base64; a multiple of three
GZIP = 31  # zlib's wbits
# What is kept of a report without its texts: figures, and the values that these belong to.
FIGURES = frozenset(
    (
        *("outputs", "spans", "slots", "hibernated", "events", "leases", "waiting", "encodings", "planned"),
        *("usage", "cells", "last_check", "pause"),
    )
)


def save(recording: Recording, path: Path, *, is_told: bool = True) -> None:
    """Replaces the file in one step. Raises OSError.

    Without `is_told`, what was told to the model is left out, and all from which it could be computed.
    """
    begin, end = page()
    with replacing(path) as file:
        file.write(begin)
        file.writelines(_packed(lines(recording, is_told=is_told)))
        file.write(end)


def load(path: Path, max_steps: int = MAX_STEPS) -> Recording:
    """Reads back what `save` wrote, or the lines alone. Raises RecordingFileError."""
    recording = Recording(max_steps, name=path.name)
    with opened(path, max_steps) as reader:
        recording.start(reader.head.model)
        recording.note_titles(reader.head.titles)
        recording.token_texts, recording.cell_map = reader.token_texts, reader.cell_map
        for report in reader:
            recording.append((report,))
    return recording


def tokens_in(recording: Recording) -> tuple[int, ...]:
    """Each once, but for rows of pictures and sounds."""
    found: set[int] = set()
    for report in recording.steps:
        for packed in (
            *(one.token_bytes for one in report.spans),
            *(one.prompt_bytes for one in report.leases),
        ):
            found.update(memoryview(packed).cast("i"))
        for output in report.outputs:
            found.update(output.token_ids)
    return tuple(sorted(one for one in found if one > LAST_TEXT))


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """Beside the old file, which stays as it is until the new one is complete. Raises OSError."""
    with replacing(path) as file:
        file.writelines(f"{line}\n" for line in lines)


def lines(recording: Recording, *, is_told: bool = True) -> Iterator[str]:
    """The first one last, since it has the titles of those chats alone that the others tell of."""
    names, folding, chats = _Names(), Folding(), set[str | None]()
    steps = [folding.folded(_line(report, is_told, names, chats)) for report in recording.steps]
    texts, titles = (recording.token_texts, recording.titles) if is_told else ({}, {})
    head = Head(
        num_steps=len(steps),
        model=_sent(recording.model) if recording.model else None,
        titles={chat_id: title for chat_id, title in titles.items() if chat_id in chats},
        token_texts={str(token_id): text for token_id, text in texts.items()},
        cell_map=_cells(recording.cell_map, is_told),
        skein=app.__version__,
        is_told=is_told,
    )
    yield head.model_dump_json()
    yield from steps


def _line(report: StepReport, is_told: bool, names: _Names, chats: set[str | None]) -> str:
    for named in (report.slots, report.hibernated, report.waiting, report.leases, report.events):
        chats.update(one.chat_id for one in named)
    report = replace(report, events=tuple(_told(one, is_told) for one in report.events))
    without = {"report": {"outputs": {"__all__": {"usage"}}}} if has_usages_twice(report) else None
    report = report if is_told else names.figures(report)
    told = ToldReport(**{name: getattr(report, name) for name in StepReport.__slots__})
    return Step.model_construct(report=told).model_dump_json(exclude_defaults=True, exclude=without)


def page() -> tuple[str, str]:
    """What stands before and after the packed lines. It runs its own script alone, and loads nothing."""
    text = (paths.resources_dir() / "recording.html").read_text("utf-8")
    for kind in ("style", "script"):
        [content] = re.findall(f"<{kind}>(.*?)</{kind}>", text, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        text = text.replace(f"{kind}-src 'none'", f"{kind}-src 'sha256-{digest}'")
    begin, end = text.split(PACKED)
    return begin + PACKED, end


def _packed(lines: Iterable[str]) -> Iterator[str]:
    packer, left = zlib.compressobj(9, wbits=GZIP), b""
    for line in lines:
        left += packer.compress(f"{line}\n".encode())
        whole = len(left) - len(left) % BYTES_IN_LINE
        yield from _base64(left[:whole])
        left = left[whole:]
    yield from _base64(left + packer.flush())


def _base64(packed: bytes) -> Iterator[str]:
    for at in range(0, len(packed), BYTES_IN_LINE):
        yield base64.b64encode(packed[at : at + BYTES_IN_LINE]).decode() + "\n"


def _sent(model: ModelInfo) -> ModelInfo:
    """Only the names of files, not their folders: recordings are sent to others."""
    adapters = tuple(replace(one, path=Path(one.path.name)) for one in model.adapters)
    senses = replace(model.senses, projector=model.senses.projector and Path(model.senses.projector.name))
    return replace(model, path=Path(model.path.name), adapters=adapters, senses=senses)


def _told(event: Event, is_told: bool) -> Told:
    """In words. Without what was told to the model, no words of others are among them."""
    values = [getattr(event, one.name) for one in fields(event) if one.name not in ("kind", "chat_id")]
    has_texts = any(isinstance(value, str) and not isinstance(value, StrEnum) for value in values)
    text = words(event) if is_told or not has_texts else ""
    return Told(event.kind, text, event.seq_id, event.chat_id)


class _Names:
    """Figures alone, and "r1", "r2" … for chats and requests: callers choose the names of theirs."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}

    def figures(self, value: Any) -> Any:
        return replace(value, **{one.name: self._of(value, one) for one in fields(value) if one.init})

    def _of(self, value: Any, field: Any) -> Any:
        found = getattr(value, field.name)
        if isinstance(found, str) and field.name in ("chat_id", "request_id"):
            return self._names.setdefault(found, f"r{len(self._names) + 1}")
        if isinstance(found, int | float | StrEnum | None) or (isinstance(value, Told) and value.text):
            return found
        if field.name in FIGURES:
            return tuple(map(self.figures, found)) if isinstance(found, tuple) else self.figures(found)
        assert not is_dataclass(found) or field.default is None, f"{field.name} is neither figure nor text"
        return "" if field.default is MISSING else field.default


def _cells(cells: CellMap | None, is_told: bool) -> Cells | None:
    if cells is None or cells.pos.nbytes + cells.token_ids.nbytes + cells.holders.nbytes > MAX_CELL_BYTES:
        return None
    token_ids = cells.token_ids if is_told else cells.token_ids * 0 - 1
    arrays = cells.pos.astype("<i4"), token_ids.astype("<i4"), cells.holders.astype("<u8")
    pos, tokens, holders = (array.tobytes() for array in arrays)
    return Cells(pos=pos, token_ids=tokens, holders=holders, high_water=cells.high_water)
