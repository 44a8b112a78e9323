"""Reasons to distrust a link. Pure functions, any thread."""

import re
import unicodedata
from collections.abc import Iterable
from enum import StrEnum
from urllib.parse import urlsplit

from app.ui.base.hidden_characters import num_hidden, without_hidden

_HOST = re.compile(r"(?:[\w-]+\.)+[^\W\d_]{2,}")
_FILE_ENDINGS = {
    "py",
    "js",
    "ts",
    "md",
    "txt",
    "json",
    "html",
    "css",
    "rs",
    "go",
    "sh",
    "toml",
    "yaml",
    "cpp",
}


class Doubt(StrEnum):
    OTHER_PLACE = "the words name another place"
    FOREIGN_LETTERS = "letters of another alphabet"
    NAME_BEFORE_PLACE = "a name before the place"
    HIDDEN_CHARACTERS = "hidden characters"


def doubts(shown: str, target: str) -> tuple[Doubt, ...]:
    return tuple(_doubts(shown, target))


def _doubts(shown: str, target: str) -> Iterable[Doubt]:
    host, has_name = _place(target)
    named = [name for name in _HOST.findall(without_hidden(shown)) if _may_be_host(name)]
    if any(not _is_same_place(_key(name), _key(host)) for name in named):
        yield Doubt.OTHER_PLACE
    if not host.isascii():
        yield Doubt.FOREIGN_LETTERS
    if has_name:
        yield Doubt.NAME_BEFORE_PLACE
    if num_hidden(target) or num_hidden(shown):
        yield Doubt.HIDDEN_CHARACTERS


def _place(target: str) -> tuple[str, bool]:
    """The host of a web or a mail address, and whether there is a name before it.

    Programs disagree on whether a backslash ends the host, so both readings count.
    """
    if target.lower().startswith("mailto:"):
        return target.partition("?")[0].rpartition("@")[2], False
    try:
        read = [urlsplit(target).netloc, urlsplit(target.replace("\\", "/")).netloc]
    except ValueError:
        return target, False
    return read[1].rpartition("@")[2].partition(":")[0], any("@" in place for place in read)


def _may_be_host(name: str) -> bool:
    return name.rpartition(".")[2].lower() not in _FILE_ENDINGS


def _key(host: str) -> str:
    return unicodedata.normalize("NFKC", host).lower().removeprefix("www.")


def _is_same_place(named: str, host: str) -> bool:
    return host == named or host.endswith(f".{named}")
