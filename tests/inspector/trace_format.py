"""Checks a trace against the Trace Event Format (JSON object form), field by field.

From its public description, “Trace Event Format” by the Chrome project, and what Perfetto's importer of it
asks for: complete events on one track are apart or within one another.
"""

from __future__ import annotations

import math
from collections import defaultdict
from typing import Any

PHASES = {"X", "C", "i", "M"}
METADATA = {
    "process_name": ("name", str),
    "thread_name": ("name", str),
    "thread_sort_index": ("sort_index", int),
}
COMMON = {"name", "ph", "ts", "pid", "tid"}
FIELDS = {"X": COMMON | {"cat", "dur", "args"}, "C": COMMON | {"args"}, "M": COMMON | {"args"}}
FIELDS["i"] = COMMON | {"cat", "s", "args"}
ROUNDING_US = 0.002


def check_trace(trace: Any) -> None:
    """Raises AssertionError with the event that does not fit."""
    assert isinstance(trace, dict)
    assert trace["displayTimeUnit"] in ("ms", "ns")
    assert isinstance(trace["traceEvents"], list)
    assert set(trace) == {"displayTimeUnit", "traceEvents"}
    for event in trace["traceEvents"]:
        _check_event(event)
    _check_names(trace["traceEvents"])
    _check_nesting(trace["traceEvents"])


def _check_event(event: Any) -> None:
    assert event["ph"] in PHASES, event
    assert set(event) == FIELDS[event["ph"]], event
    assert isinstance(event["name"], str), event
    assert event["name"], event
    assert _is_time(event["ts"]), event
    for name in ("pid", "tid"):
        assert type(event[name]) is int, event
    assert isinstance(event["args"], dict), event
    if "cat" in event:
        assert isinstance(event["cat"], str), event
    if event["ph"] == "X":
        assert _is_time(event["dur"]), event
    elif event["ph"] == "i":
        assert event["s"] in ("g", "p", "t"), event
    elif event["ph"] == "C":
        assert event["args"], event
        assert all(_is_number(value) for value in event["args"].values()), event
    else:
        name, kind = METADATA[event["name"]]
        assert set(event["args"]) == {name}, event
        assert type(event["args"][name]) is kind, event


def _check_names(events: list[Any]) -> None:
    """Each track that has events has a name, and one only."""
    names = [(event["pid"], event["tid"]) for event in events if event["name"] == "thread_name"]
    assert len(names) == len(set(names))
    used = {(event["pid"], event["tid"]) for event in events if event["ph"] in ("X", "i")}
    assert used <= set(names)
    processes = [event["pid"] for event in events if event["name"] == "process_name"]
    assert sorted(processes) == sorted({event["pid"] for event in events})


def _check_nesting(events: list[Any]) -> None:
    tracks = defaultdict(list)
    for event in events:
        if event["ph"] == "X":
            tracks[event["pid"], event["tid"]].append(event)
    for track in tracks.values():
        open_until: list[float] = []
        for event in sorted(track, key=lambda event: (event["ts"], -event["dur"])):
            while open_until and event["ts"] >= open_until[-1] - ROUNDING_US:
                open_until.pop()
            end = event["ts"] + event["dur"]
            assert not open_until or end <= open_until[-1] + ROUNDING_US, event
            open_until.append(end)


def _is_time(value: Any) -> bool:
    return _is_number(value) and value >= 0


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and math.isfinite(value)
