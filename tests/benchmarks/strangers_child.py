"""Skein's child process for chat templates, but each question brings its own template."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from app.engine import chat_child
from app.engine.limited_child import Reply, serve


def _begin(_arguments: object) -> Callable[[Any], Reply]:
    return lambda question: chat_child._begin([question.pop("source"), "", "<s>", "</s>"])(question)


if __name__ == "__main__":
    serve(_begin, chat_child._cpu_s)
