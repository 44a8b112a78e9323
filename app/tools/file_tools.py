"""Tools on files below folders that the user named: read, find, search, write, edit.

Links that lead out of the folders are not followed. Names, arguments and results are llama-server's.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import islice, pairwise
from pathlib import Path, PurePosixPath
from typing import Any

from app.tools.tool import Result, Surroundings, Tool, ToolError

MAX_READ_BYTES = 64 << 10
MAX_FILE_BYTES = 16 << 20
MAX_RESULTS = 100
MAX_LISTED = 100_000
MAX_SEARCHED = 20_000
MAX_PATTERN_CHARS, MAX_PATTERN_PARTS = 1000, 32
MAX_CONTEXT_LINES = 20
MAX_DEPTH = 100
SEARCH_S = 15.0
FILES_AT_ONCE = 500  # as arguments of grep
JUNK = {".git", ".hg", ".svn", "node_modules", "build", "dist", "target", "__pycache__", ".venv", ".cache"}

STRING, INTEGER, BOOLEAN = {"type": "string"}, {"type": "integer"}, {"type": "boolean"}


@dataclass(frozen=True, slots=True)
class _Entry:
    path: str  # from the folder that was searched, with slashes
    is_dir: bool


class FileTools:
    """The tools for these folders. Each call runs on a thread of its own."""

    def __init__(self, folders: Sequence[Path]) -> None:
        self._folders = [os.path.realpath(folder) for folder in folders]

    def tools(self, names: Sequence[str] = ("all",)) -> list[Tool]:
        """The tools that were named. Raises ValueError for a name that there is not."""
        every = {tool.name: tool for tool in self._every()}
        if "all" in names:
            return list(every.values())
        if unknown := [name for name in names if name not in every]:
            raise ValueError(f"there is no tool {unknown[0]!r}; there are {', '.join(every)}")
        return [every[name] for name in dict.fromkeys(names)]

    def _every(self) -> Iterator[Tool]:
        path = {"path": STRING}
        where = {"include": STRING, "exclude": STRING}
        yield self._tool(
            self._read,
            "read_file",
            "Read a file",
            "Read a text file, or a 1-based range of its lines. With append_loc each line has its number.",
            path | {"start_line": INTEGER, "end_line": INTEGER, "append_loc": BOOLEAN},
            ["path"],
        )
        yield self._tool(
            self._find,
            "file_glob_search",
            "Find files",
            "Find files below a folder by a glob pattern. One without a slash is about names at any depth. "
            'Type is "file", "dir" or "all". Folders such as .git and node_modules are left out.',
            path | where | {"type": STRING, "max_depth": INTEGER, "limit": INTEGER},
            ["path"],
        )
        if shutil.which("grep"):  # in a process of its own, since a pattern may take for ever
            yield self._tool(
                self._search,
                "grep_search",
                "Search in files",
                "Search lines that match an extended regular expression, in a file or below a folder.",
                path
                | where
                | {
                    "pattern": STRING,
                    "literal": BOOLEAN,
                    "ignore_case": BOOLEAN,
                    "return_line_numbers": BOOLEAN,
                    "context_lines": INTEGER,
                },
                ["path", "pattern"],
            )
        yield self._tool(
            self._write,
            "write_file",
            "Write a file",
            "Write a text file, with the folders that it needs. What was in it is replaced.",
            path | {"content": STRING},
            ["path", "content"],
            writes=True,
        )
        edit = {"type": "object", "properties": {"old_text": STRING, "new_text": STRING}}
        yield self._tool(
            self._edit,
            "edit_file",
            "Edit a file",
            "Replace texts of a file. Each old_text must be in it exactly once.",
            path | {"edits": {"type": "array", "items": edit}},
            ["path", "edits"],
            writes=True,
        )

    def _tool(
        self,
        work: Callable[[Mapping[str, Any], Surroundings], Result],
        name: str,
        title: str,
        description: str,
        properties: Mapping[str, Any],
        required: list[str],
        *,
        writes: bool = False,
    ) -> Tool:
        async def call(arguments: Mapping[str, Any], where: Surroundings) -> Result:
            try:
                _check(arguments, properties, required)
                return await asyncio.to_thread(work, arguments, where)
            except OSError as error:
                raise ToolError(f"{error.strerror or error}: {arguments.get('path')}") from error

        parameters = {"type": "object", "properties": dict(properties), "required": required}
        return Tool(name, title, description, parameters, call, writes=writes, uses_folder=True)

    # The tools. A thread of each call.

    def _read(self, arguments: Mapping[str, Any], where: Surroundings) -> Result:
        lines = self._text(self._place(arguments, where)).splitlines()
        first, last = arguments.get("start_line", 1), arguments.get("end_line", -1)
        shown, size = [], 0
        for number, line in enumerate(lines, 1):
            if number < first or 0 <= last < number:
                continue
            written = f"{number}→{line}\n" if arguments.get("append_loc") else f"{line}\n"
            size += len(written)
            if size > MAX_READ_BYTES:
                shown.append(f"[cut off at line {number} of {len(lines)}: ask for a range of lines]")
                break
            shown.append(written)
        return {"plain_text_response": "".join(shown)}

    def _find(self, arguments: Mapping[str, Any], where: Surroundings) -> Result:
        base, kind = self._place(arguments, where), arguments.get("type", "file")
        if kind not in ("file", "dir", "all"):
            raise ToolError(f'invalid type: {kind} (expected "file", "dir" or "all")')
        limit = arguments.get("limit", MAX_RESULTS)
        if limit < 1:
            raise ToolError(f"invalid limit: {limit} (expected 1 or more)")
        entries = list(islice(_walk(base, max(arguments.get("max_depth", 0), 0)), MAX_LISTED))
        wanted = [entry for entry in entries if kind in ("all", "dir" if entry.is_dir else "file")]
        found = [entry for entry in wanted if _is_meant(arguments, entry.path)]
        shown = found[: min(limit, MAX_RESULTS)]
        text = "".join(f"{entry.path}{'/' if entry.is_dir else ''}\n" for entry in shown)
        text += f"\n---\nTotal matches: {len(found)}\n"
        if len(found) > len(shown):
            text += f"[{len(shown)} of {len(found)} are shown: ask for fewer]\n"
        listed = [{"path": entry.path, "type": "dir" if entry.is_dir else "file"} for entry in shown]
        return {"plain_text_response": text, "entries": listed, "base": str(base)}

    def _search(self, arguments: Mapping[str, Any], where: Surroundings) -> Result:
        base = self._place(arguments, where)
        if base.is_file():
            base, names = base.parent, [base.name]
        else:
            files = (entry.path for entry in _walk(base) if not entry.is_dir)
            names = [path for path in islice(files, MAX_SEARCHED) if _is_meant(arguments, path)]
        options = ["-F" if arguments.get("literal") else "-E", "-H", "-I", "-s"]
        options += ["-i"] if arguments.get("ignore_case") else []
        options += ["-n"] if arguments.get("return_line_numbers") else []
        context = min(max(arguments.get("context_lines", 0), 0), MAX_CONTEXT_LINES)
        options += ["-C", str(context)] if context else []
        give_up_at, lines = time.monotonic() + SEARCH_S, list[str]()
        for start in range(0, len(names), FILES_AT_ONCE):
            some = [f"./{name}" for name in names[start : start + FILES_AT_ONCE]]
            command = ["grep", *options, "-e", arguments["pattern"], "--", *some]
            lines += _output(command, base, give_up_at - time.monotonic()).splitlines()
            if len(lines) > MAX_RESULTS:
                break
        shown = [line.removeprefix("./") for line in lines[:MAX_RESULTS]]
        total = f"over {MAX_RESULTS}" if len(lines) > MAX_RESULTS else str(len(lines))
        return {
            "plain_text_response": "".join(f"{line}\n" for line in shown) + f"\n---\nTotal matches: {total}\n"
        }

    def _write(self, arguments: Mapping[str, Any], where: Surroundings) -> Result:
        place = self._place(arguments, where)
        data = arguments["content"].encode("utf-8", "replace")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
        return {"result": "file written successfully", "path": str(place), "bytes": len(data)}

    def _edit(self, arguments: Mapping[str, Any], where: Surroundings) -> Result:
        place = self._place(arguments, where)
        text = self._text(place)
        spans = sorted(_span(text, edit) for edit in arguments["edits"])
        for (_start, end, _new), (start, _end, _other) in pairwise(spans):
            if start < end:
                raise ToolError("two edits overlap: make one of them")
        for start, end, new in reversed(spans):
            text = text[:start] + new + text[end:]
        place.write_bytes(text.encode())
        return {"result": "file edited successfully", "path": str(place), "edits_applied": len(spans)}

    # What they share.

    def _place(self, arguments: Mapping[str, Any], where: Surroundings) -> Path:
        """Without links. Raises ToolError outside of the folders."""
        try:
            place = os.path.realpath(Path(where.folder, arguments["path"]))
        except ValueError as error:
            raise ToolError(f"invalid path: {error}") from error
        for folder in self._folders:
            if os.path.commonpath([folder, place]) == folder:
                return Path(place)
        raise ToolError(f"outside of the folders that may be used: {arguments['path']}")

    def _text(self, place: Path) -> str:
        """Raises ToolError and OSError."""
        if not place.is_file():  # to open a pipe would wait for its writer
            raise ToolError(f"it is not a file: {place.name}")
        if place.stat().st_size > MAX_FILE_BYTES:
            raise ToolError(f"file too large: {place.name} has more than {MAX_FILE_BYTES >> 20} MiB")
        try:
            return place.read_bytes().decode()
        except UnicodeDecodeError:
            raise ToolError(f"it is no text in UTF-8: {place.name}") from None


def _check(arguments: Mapping[str, Any], properties: Mapping[str, Any], required: list[str]) -> None:
    """Raises ToolError. A model may send anything."""
    kinds = {"string": str, "integer": int, "boolean": bool, "array": list}
    if missing := [name for name in required if name not in arguments]:
        raise ToolError(f"{missing[0]} is missing")
    for name, value in arguments.items():
        if name in properties and not isinstance(value, kinds[properties[name]["type"]]):
            raise ToolError(f"{name} must be of type {properties[name]['type']}")
    for name in ("include", "exclude", "pattern"):
        pattern = arguments.get(name, "")
        if len(pattern) > MAX_PATTERN_CHARS or "\0" in pattern or pattern.count("/") > MAX_PATTERN_PARTS:
            raise ToolError(f"{name} is too long")


def _span(text: str, edit: object) -> tuple[int, int, str]:
    """Where an edit replaces what."""
    old, new = (edit.get("old_text"), edit.get("new_text")) if isinstance(edit, dict) else (None, None)
    if not isinstance(old, str) or not isinstance(new, str) or not old:
        raise ToolError("an edit has an old_text and a new_text")
    start = text.find(old)
    if start < 0:
        raise ToolError("old_text is not in the file")
    if text.find(old, start + 1) >= 0:
        raise ToolError("old_text is not unique in the file: make it longer")
    return start, start + len(old), new


def _walk(base: Path, max_depth: int = 0) -> Iterator[_Entry]:
    """All below it, by name; nothing inside of junk folders, and no link is followed. Raises OSError."""
    give_up_at = time.monotonic() + SEARCH_S

    def entries(folder: str, prefix: str, depth: int) -> Iterator[_Entry]:
        with os.scandir(folder) as scanned:
            listed = sorted(scanned, key=lambda one: one.name)
        for one in listed:
            if time.monotonic() > give_up_at:
                return
            is_dir = one.is_dir(follow_symlinks=False)
            if is_dir or one.is_file(follow_symlinks=False):
                yield _Entry(prefix + one.name, is_dir)
            if is_dir and one.name not in JUNK and depth not in (max_depth, MAX_DEPTH):
                try:
                    yield from entries(one.path, f"{prefix}{one.name}/", depth + 1)
                except PermissionError:
                    continue

    return entries(str(base), "", 1)


def _is_meant(arguments: Mapping[str, Any], path: str) -> bool:
    exclude = arguments.get("exclude", "")
    return matches(arguments.get("include") or "**", path) and not (exclude and matches(exclude, path))


def matches(pattern: str, path: str) -> bool:
    """A pattern without a slash is about the name; ** are any folders."""
    if "/" not in pattern:
        return pattern == "**" or fnmatchcase(PurePosixPath(path).name, pattern)
    parts = pattern.removeprefix("/").split("/")
    if not pattern.startswith("/") and parts[0] != "**":
        parts = ["**", *parts]
    names = path.split("/")
    # Which beginnings of `names` the parts so far match.
    reached = {0}
    for part in parts:
        if part == "**":
            reached = set(range(min(reached), len(names) + 1)) if reached else set()
        else:
            reached = {at + 1 for at in reached if at < len(names) and fnmatchcase(names[at], part)}
    return len(names) in reached


def _output(command: list[str], folder: Path, timeout_s: float) -> str:
    """Raises ToolError."""
    try:
        done = subprocess.run(
            command, cwd=folder, capture_output=True, timeout=max(timeout_s, 0.01), check=False
        )
    except subprocess.TimeoutExpired:
        raise ToolError(f"The search took over {SEARCH_S:g} seconds. Search in fewer files.") from None
    if done.returncode > 1 and done.stderr:
        raise ToolError(done.stderr.decode("utf-8", "replace")[:500].strip())
    return done.stdout.decode("utf-8", "replace")
