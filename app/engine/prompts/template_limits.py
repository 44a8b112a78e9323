"""What a chat template does not take, found by trying it, and chats as it takes them.

Some refuse a chat in which user and assistant do not take turns; some show one system message and leave out
the others without a word. So that the model is shown all that was said, messages are merged or become the
user's. Where there is no place for tools, they become text, in the words of Hermes and Qwen 2.5, which most
models have read: tools as JSON in the system message, calls as JSON between tags, results as the user's.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from functools import cache
from itertools import takewhile
from typing import Any

from app.engine.prompts.chat_worker import ChatLayerError
from app.protocol.errors import ChatTemplateError

BETWEEN = "\n\n"  # two messages that become one
ID_CHARS = 9  # letters and digits: Mistral's templates take no other ids of calls


def _said(role: str, *texts: str) -> list[Turn]:
    return [{"role": role, "content": text} for text in texts]


def _calling(*ids: str) -> list[Turn]:
    """Calls in one message, and their results."""
    function = {"name": "called", "arguments": {"a": "b"}}
    calls = [{"id": id_, "type": "function", "function": function} for id_ in ids]
    results = [
        {"role": "tool", "content": f"result-{id_}", "tool_call_id": id_, "name": "called"} for id_ in ids
    ]
    return [{"role": "assistant", "content": "", "tool_calls": calls}, *results]


SYSTEM, SYSTEM_2 = _said("system", "system-1", "system-2")
ASKED, ASKED_2, ASKED_3, NOTHING_ASKED = _said("user", "asked-1", "asked-2", "asked-3", "")
TOLD, TOLD_2, NOTHING_TOLD = _said("assistant", "told-1", "told-2", "")
CALLING, RESULT = _calling("call00000")
TRIALS: dict[str, tuple[list[Turn], ...]] = {
    "a system message": ([SYSTEM, ASKED],),
    "a system message alone": ([SYSTEM],),
    "two system messages": ([SYSTEM, SYSTEM_2, ASKED],),
    "a later system message": ([SYSTEM, ASKED, TOLD, SYSTEM_2, ASKED_2], [SYSTEM, ASKED, SYSTEM_2]),
    "an answer first": ([TOLD, ASKED], [SYSTEM, TOLD, ASKED]),
    "no question": ([], [TOLD], [SYSTEM, TOLD]),
    "an empty answer": ([ASKED, NOTHING_TOLD, ASKED_2],),
    "two questions": ([ASKED, ASKED_2, TOLD, ASKED_3],),
    "two answers": ([ASKED, TOLD, TOLD_2, ASKED_2],),
    "a question after a result": ([ASKED, CALLING, RESULT, ASKED_2, TOLD, ASKED_3],),
    "a question after a call": ([ASKED, CALLING, ASKED_2, TOLD, ASKED_3],),
    "two calls at once": ([ASKED, *_calling("call00000", "call00001")],),
    "any id": ([ASKED, *_calling("call_0123456789abcdef")],),
}


class TemplateLimits:
    """Of one template. `render` raises ChatLayerError or ChatTemplateError for what it refuses."""

    def __init__(self, render: Callable[[list[Turn]], str]) -> None:
        self._render = render
        self._takes = cache(self._tried)

    def fitted(self, turns: list[Turn], *, has_begun: bool = False) -> list[Turn]:
        """The chat as the template takes it. `has_begun`: the beginning of the answer follows."""
        turns = self._with_systems(turns)
        turns = [turn for turn in turns if not _is_empty_answer(turn) or self._takes("an empty answer")]
        turns = self._in_turn(self._after_calls(self._with_calls(turns)))
        return self._from_question(turns, has_begun=has_begun)

    def _tried(self, trial: str) -> bool:
        """Where not even a plain chat is shown, nothing can be told."""
        return all(map(self._shows, TRIALS[trial])) or not self._shows([ASKED, TOLD, ASKED_2])

    def _shows(self, chat: list[Turn]) -> bool:
        try:
            text = self._render(chat)
        except (ChatLayerError, ChatTemplateError):
            return False
        return all(turn["content"] in text for turn in chat)

    def _with_systems(self, turns: list[Turn]) -> list[Turn]:
        first, rest = _apart(turns)
        if len(first) > 1 and not self._takes("two system messages"):
            first = [_merged(*first)]
        if first and not self._takes("a system message" if rest else "a system message alone"):
            first = _as_asked(first)
        if any(turn["role"] == "system" for turn in rest) and not self._takes("a later system message"):
            rest = _as_asked(rest)
        return [*first, *rest]

    def _with_calls(self, turns: list[Turn]) -> list[Turn]:
        if any(len(_calls(turn)) > 1 for turn in turns) and not self._takes("two calls at once"):
            turns = list(_one_by_one(turns))
        if any(map(_is_about_calls, turns)) and not self._takes("any id"):
            turns = list(map(_with_short_ids, turns))
        return turns

    def _after_calls(self, turns: list[Turn]) -> list[Turn]:
        """Between a call, or its result, and what the user says next the model has said nothing."""
        fitted: list[Turn] = []
        for turn in turns:
            if fitted and turn["role"] == "user" and _is_about_calls(fitted[-1]):
                is_result = fitted[-1]["role"] == "tool"
                if not self._takes(f"a question after a {'result' if is_result else 'call'}"):
                    fitted.append(NOTHING_TOLD)
            fitted.append(turn)
        return fitted

    def _in_turn(self, turns: list[Turn]) -> list[Turn]:
        fitted: list[Turn] = []
        for turn in turns:
            if fitted and self._must_merge(fitted[-1], turn):
                fitted[-1] = _merged(fitted[-1], turn)
            else:
                fitted.append(turn)
        return fitted

    def _must_merge(self, turn: Turn, following: Turn) -> bool:
        if turn["role"] != following["role"] or _is_about_calls(turn) or turn["role"] == "system":
            return False
        return not self._takes("two questions" if turn["role"] == "user" else "two answers")

    def _from_question(self, turns: list[Turn], *, has_begun: bool) -> list[Turn]:
        """What answers nothing answers an empty question."""
        first, rest = _apart(turns)
        if not (rest[0]["role"] == "assistant" if rest else has_begun):
            return turns
        is_asked = any(turn["role"] == "user" for turn in rest)
        if self._takes("an answer first") and (is_asked or self._takes("no question")):
            return turns
        return [*first, NOTHING_ASKED, *rest]


def _apart(turns: list[Turn]) -> tuple[list[Turn], list[Turn]]:
    """The system messages at the beginning, and the rest."""
    first = list(takewhile(lambda turn: turn["role"] == "system", turns))
    return first, turns[len(first) :]


def _is_empty_answer(turn: Turn) -> bool:
    said = (turn.get(field) for field in ("content", "reasoning_content", "tool_calls"))
    return turn["role"] == "assistant" and not any(said)


def _as_asked(turns: list[Turn]) -> list[Turn]:
    return [turn | {"role": "user"} if turn["role"] == "system" else turn for turn in turns]


def _merged(*turns: Turn) -> Turn:
    """One of the first one's role, with what all of them say."""
    one: Turn = {name: value for turn in reversed(turns) for name, value in turn.items()}
    for field in ("content", "reasoning_content"):
        if texts := [turn[field] for turn in turns if turn.get(field)]:
            one[field] = BETWEEN.join(texts)
    return one


def _calls(turn: Turn) -> list[Any]:
    return turn.get("tool_calls") or []


def _is_about_calls(turn: Turn) -> bool:
    return turn["role"] == "tool" or bool(_calls(turn))


def _one_by_one(turns: list[Turn]) -> Iterator[Turn]:
    """Each call with its result behind it, before the next call."""
    at = 0
    while at < len(turns):
        turn, calls = turns[at], _calls(turns[at])
        at += 1
        if len(calls) < 2:
            yield turn
            continue
        results = list(takewhile(lambda one: one["role"] == "tool", turns[at:]))
        at += len(results)
        places = {call.get("id"): place for place, call in enumerate(calls)}
        results.sort(key=lambda result: places.get(result.get("tool_call_id"), len(places)))
        for place, call in enumerate(calls):
            said = {} if place == 0 else NOTHING_TOLD
            yield {**turn, **said, "tool_calls": [call]}
            yield from results[place : place + 1]
        yield from results[len(calls) :]


def _with_short_ids(turn: Turn) -> Turn:
    if calls := _calls(turn):
        turn = turn | {"tool_calls": [call | {"id": _short(call.get("id"))} for call in calls]}
    return turn | {"tool_call_id": _short(turn.get("tool_call_id"))} if turn["role"] == "tool" else turn


def _short(id_: str | None) -> str:
    """The same each time."""
    if id_ and len(id_) == ID_CHARS and id_.isascii() and id_.isalnum():
        return id_
    return hashlib.sha256((id_ or "").encode("utf-8", "replace")).hexdigest()[:ID_CHARS]


Turn = dict[str, Any]

CALL = '<tool_call>\n{"name": <function-name>, "arguments": <args-json-object>}\n</tool_call>'
IN_OUR_FORMAT = (
    "For each function call, return a json object with function name and arguments within "
    f"<tool_call></tool_call> XML tags:\n{CALL}"
)
IN_ITS_FORMAT = "For each function call, write:\n{example}"  # of the template
DESCRIPTION = (
    "# Tools\n\nYou may call one or more functions to assist with the user query.\n\n"
    "You are provided with function signatures within <tools></tools> XML tags:\n"
    "<tools>\n{tools}\n</tools>\n\n{how}"
)


def described(turns: list[Turn], tools: list[Any], how: str) -> list[Turn]:
    """The chat with `tools` in its system message, and `how` to call them."""
    lines = "\n".join(json.dumps(tool, ensure_ascii=False) for tool in tools)
    text = DESCRIPTION.format(tools=lines, how=how)
    if turns and turns[0]["role"] == "system":
        first, *rest = turns
        return [{**first, "content": f"{first['content']}\n\n{text}".lstrip()}, *rest]
    return [{"role": "system", "content": text}, *turns]


def as_text(turns: list[Turn]) -> list[Turn]:
    """The chat with calls in what the assistant said, and their results in what the user said next."""
    written: list[Turn] = []
    holds_results = False  # the last one written
    for turn in turns:
        is_result = turn["role"] == "tool"
        if is_result:
            turn = {"role": "user", "content": f"<tool_response>\n{turn['content']}\n</tool_response>"}
        elif calls := turn.get("tool_calls"):
            turn = {name: value for name, value in turn.items() if name != "tool_calls"}
            turn["content"] = "\n".join(filter(None, [turn["content"], *map(_call, calls)]))
        if holds_results and turn["role"] == "user":  # many templates want user and assistant in turn
            turn = {**turn, "content": f"{written.pop()['content']}\n{turn['content']}"}
        written.append(turn)
        holds_results = is_result
    return written


def _call(call: dict[str, Any]) -> str:
    function = call["function"]
    called = {"name": function["name"], "arguments": function["arguments"]}
    return f"<tool_call>\n{json.dumps(called, ensure_ascii=False)}\n</tool_call>"
