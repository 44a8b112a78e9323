"""Named sets of a chat's options: one JSON file each, to be shared by copying.

Presets of LM Studio are read, too. Reads and writes small files; any thread, one at a time.
"""

import contextlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from app.chats.attachment import valid_unicode
from app.chats.exports.files import ExportForm, free_name
from app.chats.imports.entries import BadChatError, entries, parse
from app.chats.imports.sketch import fields_of, items_of, name_of, text_of
from app.chats.options import BadSamplingError, ChatOptions, from_json, to_json
from app.chats.tool_json import tools_of
from app.protocol.json_object import check_size
from app.protocol.request import Overflow
from app.system.files import Stamp, private_dir, replacing, stamp_of
from app.system.said import said

FORMAT = "skein-preset"
VERSION = 1
MAX_FILE_BYTES = 4 << 20
MAX_PRESETS = 1_000
MAX_TOKENS = 2**24


class PresetError(Exception):
    """A preset could not be read or kept; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class Preset:
    """`options` without a context limit, since that depends on the machine."""

    name: str
    options: ChatOptions

    def applied_to(self, options: ChatOptions) -> ChatOptions:
        return replace(self.options, max_context_tokens=options.max_context_tokens)

    def is_same_as(self, options: ChatOptions) -> bool:
        return self.applied_to(options) == options


class PresetFolder:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._read: dict[Path, tuple[Stamp | None, Preset | str]] = {}  # what each file was, and held

    def load(self) -> tuple[dict[str, Preset], list[str]]:
        """Presets by file name, and a sentence for each file that is not one. A missing folder has none.

        Reads what has changed since the last time.
        """
        paths = sorted(self._path.glob("*.json"))[:MAX_PRESETS]
        self._read = {path: self._found(path) for path in paths}
        found = {path.name: found for path, (_stamp, found) in self._read.items()}
        presets = {name: one for name, one in found.items() if isinstance(one, Preset)}
        return presets, [one for one in found.values() if isinstance(one, str)]

    def _found(self, path: Path) -> tuple[Stamp | None, Preset | str]:
        stamp = stamp_of(path)
        known = self._read.get(path)
        if stamp and known and known[0] == stamp:
            return known
        try:
            return stamp, read_preset(path)
        except PresetError as error:
            return stamp, str(error.args[0])

    def save(self, preset: Preset, file: str = "") -> str:
        """Under `file`, or in a new file. Returns the file's name. Raises PresetError."""
        taken = {path.name.casefold() for path in self._path.glob("*.json")}
        file = file or free_name(preset.name, ExportForm.JSON, taken)
        with _explained(file):
            private_dir(self._path)
        write_preset(self._path / file, preset)
        return file

    def delete(self, file: str) -> None:
        """Raises PresetError."""
        with _explained(file):
            (self._path / file).unlink(missing_ok=True)


def read_preset(path: Path) -> Preset:
    """One of Skein's or of LM Studio's. Raises PresetError."""
    with _explained(path.name):
        if path.exists() and not path.is_file():
            raise PresetError(said("{file} is not a preset of Skein or LM Studio.", file=path.name))
        if path.stat().st_size > MAX_FILE_BYTES:
            raise PresetError(said("{file} is too large to be a preset.", file=path.name))
        content = path.read_bytes()
    try:
        check_size(content)
    except ValueError:
        raise PresetError(said("{file} is too large to be a preset.", file=path.name)) from None
    try:
        stored = _object(content)
        if stored.get("format") == FORMAT:
            return _from_skein(stored, path.stem)
        if isinstance(fields_of(stored.get("operation")).get("fields"), list):
            return _from_lm_studio(stored, path.stem)
    except (BadChatError, BadSamplingError) as error:
        raise PresetError(
            said("{file} cannot be used: {reason}", file=path.name, reason=error.reason)
        ) from None
    raise PresetError(said("{file} is not a preset of Skein or LM Studio.", file=path.name))


def write_preset(path: Path, preset: Preset) -> None:
    """All of it or nothing. Raises PresetError."""
    text = valid_unicode(json.dumps(as_object(preset), ensure_ascii=False, indent=2, allow_nan=False))
    with _explained(path.name), replacing(path) as file:
        file.write(text + "\n")


def as_object(preset: Preset) -> dict[str, Any]:
    options = preset.options
    return {
        "format": FORMAT,
        "version": VERSION,
        "name": preset.name,
        "system_prompt": options.system_prompt,
        "overflow": options.overflow,
        "max_tokens": options.max_tokens,
        "sampling": to_json(options.sampling),
        "tools": list(options.tools),
    }


def _object(content: bytes) -> dict[str, Any]:
    found = list(entries(content))
    return parse(content, found[0]) if len(found) == 1 else {}


def _from_skein(stored: Mapping[str, Any], stem: str) -> Preset:
    version = stored.get("version")
    if not isinstance(version, int) or version > VERSION:
        raise BadChatError(said("It was written by a newer Skein. Update Skein to use it."))
    options = ChatOptions(
        text_of(stored.get("system_prompt")),
        from_json(fields_of(stored.get("sampling"))),
        _max_tokens(stored.get("max_tokens")),
        _overflow(text_of(stored.get("overflow"))),
        tools=tools_of(stored.get("tools")),
    )
    return Preset(name_of(stored.get("name")) or stem, options)


# Settings of LM Studio by their keys. A setting with a check box is {"checked": …, "value": …}.
_LM_STUDIO = {
    "llm.prediction.temperature": "temperature",
    "llm.prediction.topKSampling": "top_k",
    "llm.prediction.topPSampling": "top_p",
    "llm.prediction.minPSampling": "min_p",
    "llm.prediction.repeatPenalty": "repeat_penalty",
    "llm.prediction.llama.frequencyPenalty": "frequency_penalty",
    "llm.prediction.llama.presencePenalty": "presence_penalty",
    "llm.prediction.llama.xtcProbability": "xtc_probability",
    "llm.prediction.llama.xtcThreshold": "xtc_threshold",
    "llm.prediction.seed": "seed",
}
_LM_STUDIO_OVERFLOW = {
    "stopAtLimit": Overflow.STOP,
    "truncateMiddle": Overflow.TRUNCATE_MIDDLE,
    "rollingWindow": Overflow.ROLLING_WINDOW,
}
_OFF = {"min_p": 0.0, "top_p": 1.0, "top_k": 0, "repeat_penalty": 1.0}


def _from_lm_studio(stored: Mapping[str, Any], stem: str) -> Preset:
    fields = [fields_of(field) for field in items_of(fields_of(stored.get("operation")).get("fields"))]
    values = {text_of(field.get("key")): field.get("value") for field in fields}
    sampling = {}
    for key, name in _LM_STUDIO.items():
        value = _checked(values.get(key), _OFF.get(name))
        if value is not None:
            sampling[name] = value
    longest = _checked(values.get("llm.prediction.maxPredictedTokens"), None)
    options = ChatOptions(
        text_of(values.get("llm.prediction.systemPrompt")),
        from_json(sampling),
        _max_tokens(longest),
        _LM_STUDIO_OVERFLOW.get(text_of(values.get("llm.prediction.contextOverflowPolicy")), Overflow.STOP),
    )
    return Preset(name_of(stored.get("name")) or stem.removesuffix(".preset"), options)


def _checked(value: Any, off: Any) -> Any:
    """An unchecked box disables a sampler."""
    if isinstance(value, dict):
        return value.get("value") if value.get("checked") is True else off
    return value


def _max_tokens(value: object) -> int | None:
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= MAX_TOKENS:
        raise BadSamplingError(
            "max_tokens", said("max_tokens must be between 1 and {most}.", most=MAX_TOKENS)
        )
    return value


def _overflow(value: str) -> Overflow:
    try:
        return Overflow(value or Overflow.STOP)
    except ValueError:
        raise BadSamplingError(
            "overflow", said("Unknown overflow policy “{value}”.", value=value[:50])
        ) from None


@contextlib.contextmanager
def _explained(file: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise PresetError(
            said(
                "The preset {file} cannot be used: {reason}.", file=file, reason=error.strerror or str(error)
            )
        ) from error
