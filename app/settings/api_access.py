"""Which web pages and host names the API answers, besides this machine's own: patterns, as they are written.

Any thread.
"""

import re
from collections.abc import Iterable

from app.system.said import said

ORIGIN = re.compile(
    r"null|[a-z][a-z0-9+.-]*://(?:\*|(?:\*\.)?[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?"
)
EVERY_PAGE = "*"  # alone: whatever has the key
EVERY_WEBSITE = re.compile(r"https?://\*(?:\.[a-z]+)?(?::[0-9]+)?")
HOST = re.compile(r"(?:\*\.)?[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*")


def words_of(text: str) -> tuple[str, ...]:
    """Patterns with commas or spaces between them."""
    return tuple(text.replace(",", " ").split())


def fault_of_origins(text: str) -> str:
    """What is wrong with these patterns; empty if nothing is."""
    for word in words_of(text):
        if word == EVERY_PAGE:
            continue
        if EVERY_WEBSITE.fullmatch(word):
            return said("{word} would allow every website. Name one, such as https://example.com.", word=word)
        if not ORIGIN.fullmatch(word):
            return said(
                "{word} is not an origin such as https://example.com, app://obsidian.md or "
                "vscode-webview://*.",
                word=word,
            )
    return ""


def fault_of_hosts(text: str) -> str:
    """What is wrong with these patterns; empty if nothing is."""
    for word in words_of(text):
        if not HOST.fullmatch(word):
            return said(
                "{word} is not a host name such as host.docker.internal, *.lan or *.ts.net.", word=word
            )
    return ""


def matches(name: str, patterns: Iterable[str]) -> bool:
    """A * stands for any host, in `*.lan` for one or more names in front, and alone for everything."""
    return any(
        pattern == EVERY_PAGE
        or re.fullmatch(re.escape(pattern).replace(r"\*", "[^/:]*"), name, re.IGNORECASE)
        for pattern in patterns
    )
