"""A request to the engine, who asks, and whose turn it is. Frozen, so any thread may hold it.

A program that asks for a thousand answers at once must not keep others from one: programs take turns, and
within a program its connections.
"""

import uuid
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache
from operator import itemgetter
from typing import Any, NamedTuple, TypeVar

from app.protocol.answer_format import NO_CHAT_PARAMS, ChatParams, ToolChoice
from app.protocol.errors import InvalidRequestError
from app.protocol.json_object import read_object
from app.protocol.media import Media
from app.protocol.sampling import SamplingParams

T = TypeVar("T")


class Caller(NamedTuple):
    program: str
    connection: str = ""


WINDOW = Caller("")  # all of its chats are one


def by_turn(waiting: Sequence[T], served: Collection[Caller], caller_of: Callable[[T], Caller]) -> list[T]:
    """`waiting` in the order in which places are given away, beside the callers who have one."""
    taking_turns = _taking_turns(waiting, served, caller_of)
    programs = [caller.program for caller in served]
    return _taking_turns(taking_turns, programs, lambda one: caller_of(one).program)


def owes(rich: Caller, poor: Caller, served: Iterable[Caller]) -> bool:
    """Whether `rich` had no less than `poor` if it gave it one of its places."""
    if rich.program == poor.program:
        counts: Counter[Hashable] = Counter(served)
        return counts[rich] >= counts[poor] + 2
    counts = Counter(caller.program for caller in served)
    return counts[rich.program] >= counts[poor.program] + 2


def _taking_turns(waiting: Sequence[T], served: Iterable[Hashable], name: Callable[[T], Hashable]) -> list[T]:
    """The first of each name, then the second of each, and so on. The served count as the first ones."""
    counts = Counter(served)
    turns = []
    for one in waiting:
        turns.append(counts[name(one)])
        counts[name(one)] += 1
    return [one for _turn, one in sorted(zip(turns, waiting, strict=True), key=itemgetter(0))]


MIN_CONTEXT_TOKENS = 16  # a template alone takes about ten
SHELF = "shelf "  # what the id of a shelf's own chat begins with
PROJECT = "project "  # and that of a project's
BEGINNINGS = (SHELF, PROJECT)
ROWS = "rows "  # and that of what all rows of a table begin with, and of each row
OTHER = "other "  # and that of a chat in another window on the same engine, on another machine
WAY = " way "  # between a chat's id and the number of one of several answers to one message
TASK = "task "  # behind WAY, before the number of a task that an answer has handed out
SUMMARY = "summary"  # in the place of that number: the chat's earlier turns are summed up there
TITLE = " title"  # behind a chat's id: its title is written there
FACTS = " facts"  # and facts of its project are proposed
MAX_LOGPROBS = 100  # each costs some 6 us a token, which delays all other answers


class Overflow(StrEnum):
    """What to do with a chat that no longer fits its context."""

    SUM_UP = "sum_up"  # a summary takes the place of earlier turns; the engine is asked as for STOP
    STOP = "stop"
    ROLLING_WINDOW = "rolling_window"  # the oldest turns are left out, the system prompt stays
    TRUNCATE_MIDDLE = "truncate_middle"  # beginning and end stay, turns between them are left out

    @property
    def leaves_out(self) -> bool:
        """The engine shows the model fewer turns than it was given."""
        return self in (Overflow.ROLLING_WINDOW, Overflow.TRUNCATE_MIDDLE)


class Role(StrEnum):
    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"  # what a tool returned that the assistant called


@dataclass(frozen=True, slots=True)
class Message:
    """One turn as the chat template sees it.

    `fields` is a JSON object with further fields: `tool_calls`, `tool_call_id`, `name`.
    `written` is all of an answer as its model wrote it, if that is known: where the template allows it stands
    in the prompt as it is, so that its cells can be used again.
    `media` are pictures and sounds, in the order of their places in `content`.
    """

    role: Role
    content: str
    fields: str = ""
    written: str = ""
    media: tuple[Media, ...] = ()

    def __post_init__(self) -> None:
        if not self.fields:  # thousands are made of a long chat at each of its turns
            return
        if taken := read_object(self.fields, "The fields of a message").keys() & {"role", "content"}:
            raise InvalidRequestError(f"The fields of a message cannot set its {min(taken)} once more.")


@dataclass(frozen=True, slots=True)
class Request:
    """What a caller wants: the next answer in a chat.

    `chat_id` names the chat whose cells may be reused; `max_tokens` None means as many as the context holds.
    `sampling` None means as the model's maker recommends. `chosen` are the names in it that the caller has
    set: a server with defaults of its own is told these, and what differs from ours.
    `keep_cells` False is for a chat that has no next turn: its cells are freed with its last token.
    `max_context_tokens` caps prompt and answer together below what the context holds.
    `num_logprobs` asks how likely each token was, and so many others in its place; 0 asks nothing.
    `max_tokens` 0 computes the prompt and makes no answer.
    `prompt` stands for `messages` where the caller writes the whole prompt: pieces of text, in which control
    tokens count, and token ids. Where text comes first, the model's own beginning (BOS) is put before it
    unless it is there; where ids come first, nothing is added.
    The answer goes on behind `answer_start`, which is part of it, but costs what a prompt costs and is not
    told again: text in which no control tokens count, or token ids. Stop strings are looked for behind it.
    `template_variables` is a JSON object of what the chat template is given besides the messages, such as
    `enable_thinking`; `chat_params` are tools and the like, which concern the answer, too.
    With `shares_prefix` False nothing that was computed for another chat is used.
    `caller` is who asks: callers take turns.
    `is_saved` says that the chat is there at the next start, so that its cells may be kept until then.
    `embeds` asks for the vectors of `prompt`, token ids, instead of an answer.
    `max_drafted_tokens` caps the draft tokens of a step: 0 switches drafting off, None means no cap.
    `num_summed_up` counts the turns for which a summary stands in the messages.
    `begins_as` names a chat whose saved state the prompt may begin with: a shelf's or a project's. It stays.
    """

    request_id: str
    chat_id: str
    messages: tuple[Message, ...] = ()
    sampling: SamplingParams | None = None
    max_tokens: int | None = None
    stop: tuple[str, ...] = ()
    keep_cells: bool = True
    overflow: Overflow = Overflow.STOP
    max_context_tokens: int | None = None
    num_logprobs: int = 0
    max_drafted_tokens: int | None = None
    prompt: tuple[str | int, ...] = ()
    answer_start: str | tuple[int, ...] = ()
    template_variables: str = ""
    chat_params: ChatParams = NO_CHAT_PARAMS
    shares_prefix: bool = True
    is_saved: bool = False
    caller: Caller = WINDOW
    embeds: bool = False
    begins_as: str = ""
    num_summed_up: int = 0
    chosen: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.messages and not self.prompt:
            raise InvalidRequestError("There is no message to answer.")
        if self.messages and self.prompt:
            raise InvalidRequestError("A request has messages or a prompt, not both. Leave one out.")
        if self.max_tokens is not None and self.max_tokens < 0:
            raise InvalidRequestError(f"max_tokens must be at least 0, not {self.max_tokens}.")
        _check_variables(self.template_variables)
        if self.max_context_tokens is not None and self.max_context_tokens < MIN_CONTEXT_TOKENS:
            raise InvalidRequestError(
                f"A chat's context must hold at least {MIN_CONTEXT_TOKENS} tokens, "
                f"not {self.max_context_tokens}."
            )
        if any(not text for text in self.stop):
            raise InvalidRequestError("A stop string must not be empty.")
        if not 0 <= self.num_logprobs <= MAX_LOGPROBS:
            raise InvalidRequestError(
                f"num_logprobs must be between 0 and {MAX_LOGPROBS}, not {self.num_logprobs}."
            )

    @property
    def is_beginning(self) -> bool:
        """It is what other chats begin with, and no chat of its own."""
        return bool(self.begins_as) and self.begins_as == self.chat_id


def aside(request: Request, max_tokens: int, **changes: Any) -> Request:
    """The last message, asked behind a chat that it is no part of: without reasoning, in cells for once.

    The tools stay in the prompt: without them it would be another one, to be computed anew.
    """
    params = replace(
        request.chat_params, tool_choice=ToolChoice.NONE, may_call=(), goes_on=False, reasoning_budget=0
    )
    asked: dict[str, Any] = {
        "request_id": uuid.uuid4().hex,
        "sampling": SamplingParams(temperature=0.0),
        "chosen": ("temperature",),
        "max_tokens": max_tokens,
        "stop": (),
        "num_logprobs": 0,
        "overflow": Overflow.STOP,
        "keep_cells": False,
        "is_saved": False,
        "chat_params": params,
    }
    return replace(request, **asked | changes)


@lru_cache(maxsize=8)  # a request is copied several times, and a megabyte of variables takes 20 ms to read
def _check_variables(text: str) -> None:
    if "messages" in read_object(text, "template_variables"):
        raise InvalidRequestError("template_variables cannot set the messages once more.")
