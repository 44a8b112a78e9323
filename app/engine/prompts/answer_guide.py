"""From how a model writes answers to what the tokens of one must follow. Pure functions, any thread."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from app.engine.prompt import Guide, Reasoning
from app.protocol.answer_format import UNLIMITED, AnswerFormat, ChatParams, Trigger
from app.protocol.errors import ChatTemplateError
from app.system.said import said

if TYPE_CHECKING:
    from app.engine.backend import Backend

Tokenize = Callable[[str], Sequence[int]]  # of a text inside a prompt; control tokens count


def guide_of(
    format_: AnswerFormat,
    chat_params: ChatParams,
    opening: Sequence[int],
    tokenize: Tokenize,
    *,
    is_in_grammar: bool,
) -> Guide:
    """`opening` are the tokens of `format_.opening`, and `is_in_grammar` whether the grammar knows of it.

    Raises ChatTemplateError.
    """
    triggers = tuple(map(_compiled, format_.triggers))
    has_budget = chat_params.reasoning_budget != UNLIMITED
    reasoning = _reasoning(format_, chat_params, tokenize) if triggers or has_budget else None
    return Guide(
        format_.grammar,
        triggers,
        tuple(opening),
        is_begun=bool(chat_params.goes_on),
        is_in_grammar=is_in_grammar and not triggers,
        reasoning=reasoning,
    )


def shown_tokens(format_: AnswerFormat, backend: Backend) -> frozenset[int]:
    """Those of `format_.shown_tokens` that are a token of this model."""
    written = (backend.tokenize(text, parse_special=True) for text in format_.shown_tokens)
    return frozenset(tokens[0] for tokens in written if len(tokens) == 1)


def _reasoning(format_: AnswerFormat, chat_params: ChatParams, tokenize: Tokenize) -> Reasoning | None:
    if not format_.thinking_start or not format_.thinking_ends:
        return None
    start = tuple(tokenize(format_.thinking_start))
    ends = tuple(tuple(tokenize(end)) for end in format_.thinking_ends)
    if chat_params.reasoning_budget == UNLIMITED:
        return Reasoning(start, ends)
    forced = (*tokenize(chat_params.reasoning_end), *ends[0]) if chat_params.reasoning_end else ends[0]
    return Reasoning(start, ends, chat_params.reasoning_budget, forced)


def _compiled(trigger: Trigger) -> re.Pattern[bytes]:
    """A pattern is ECMAScript's: the same as Python's for what llama.cpp writes, but for its $."""
    if not trigger.is_pattern:
        return re.compile(re.escape(trigger.text.encode()))
    pattern = trigger.text[:-1] + r"\Z" if trigger.text.endswith("$") else trigger.text
    try:
        return re.compile(pattern.encode())
    except (re.error, RecursionError) as error:
        raise ChatTemplateError(
            said("The model's chat template failed: {reason}", reason=str(error))
        ) from error
