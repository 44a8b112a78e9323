"""Tasks that a model hands out within an answer: each is another version of that answer, from the call on.

So a task begins with the cells of the chat, and is kept, exported, shown and asked further as any branch is.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from app.chats.chat import Turn, TurnState
from app.chats.tool_use import ToolRound, ToolState, ToolUse
from app.protocol.output import new_call_id
from app.protocol.request import Role

DELEGATE = "delegate"  # the tool
MAX_TASKS, MAX_RUNNING = 8, 16  # of one call, and of all calls of a chat at the same time
MAX_CHARS, MAX_NAME_CHARS = 20_000, 60  # of one task, and of it where its result is told
MAX_TOKENS, MAX_ROUNDS, MAX_SECONDS = 2_048, 8, 3_600  # of one task: its longest part, its calls, all of it
DESCRIPTION = (
    "Hand out up to eight tasks that do not need each other's results. Each is worked on by a copy of you "
    "at the same time, which knows this conversation and has the same tools. Returns their answers."
)
PARAMETERS = {
    "type": "object",
    "properties": {
        "tasks": {
            "type": "array",
            "items": {"type": "string"},
            "minItems": 1,
            "maxItems": MAX_TASKS,
            "description": "what each copy is to do, in a sentence or two",
        }
    },
    "required": ["tasks"],
}
TOLD_BEGIN = "You are the copy for task "
TOLD = TOLD_BEGIN + "{number} of {total}. Do this task alone, and answer with its result: {task}"
DONE = "These are the results of all tasks. Answer the user from them."
NOT_HERE = "This call runs outside of the task."
TOO_LATE = "[It was stopped, since it took too long.]"
CUT = "\n[The rest of this answer is cut.]"
_TROUBLE = {
    TurnState.STOPPED: "[It was stopped before its end.]",
    TurnState.FAILED: "[It failed: {notice}]",
}


def tasks_in(arguments: Mapping[str, Any]) -> list[str]:
    """Raises ValueError, which tells the model what is wrong."""
    tasks = arguments.get("tasks")
    if not isinstance(tasks, list) or not all(isinstance(one, str) and one.strip() for one in tasks):
        raise ValueError("The tasks must be a list of texts.")
    if not 1 <= len(tasks) <= MAX_TASKS:
        raise ValueError(f"There must be between 1 and {MAX_TASKS} tasks.")
    return [one.strip()[:MAX_CHARS] for one in tasks]


def task_turns(answer: Turn, use: ToolUse, tasks: Sequence[str]) -> list[Turn]:
    """Versions of `answer`, whose last round has the call `use`. None has an answer yet."""
    turns = []
    for number, task in enumerate(tasks, start=1):
        rounds = [one.copied() for one in answer.rounds]
        told = TOLD.format(number=number, total=len(tasks), task=task)
        for other in rounds[-1].uses:
            other.state, other.result = ToolState.DONE, told if other.id == use.id else NOT_HERE
            other.num_told = None
        turns.append(Turn(Role.ASSISTANT, "", rounds=rounds, parent_id=answer.parent_id))
    return turns


def tasks_of(use: ToolUse, answer: Turn, versions: Iterable[Turn]) -> list[Turn]:
    """The turns that work on the tasks of this call of the answer, in their order.

    Some models give the calls of another try the same ids, so its tasks are told by their time.
    """
    others = (one for one in versions if one is not answer and one.created_at >= answer.created_at)
    return [one for one in others if _task_call(one) == use.id][: len(named_tasks(use))]


def _task_call(turn: Turn) -> str:
    """The id of the call that has handed it out; empty for any other turn."""
    uses = (use for round_ in reversed(turn.rounds) for use in round_.uses)
    return next((use.id for use in uses if use.result.startswith(TOLD_BEGIN)), "")


def named_tasks(use: ToolUse) -> list[str]:
    """As far as they can be read, also of a call through another tool."""
    try:
        arguments = json.loads(use.arguments)
        return tasks_in(arguments if "tasks" in arguments else arguments["arguments"])
    except (ValueError, RecursionError, TypeError, KeyError, AttributeError):
        return []


def result_of(turn: Turn, num_chars: int | None = None) -> str:
    """What its parent is told of its answer, of which so many characters are told."""
    answer = turn.split.answer.strip()
    if num_chars is not None and num_chars < len(answer):
        answer = answer[:num_chars] + CUT
    trouble = _TROUBLE.get(turn.state, "").format(notice=turn.notice)
    return "\n".join(filter(None, (answer, trouble))) or "[It has no answer.]"


def results_as_text(tasks: Sequence[str], results: Sequence[str], *, are_all: bool = True) -> str:
    """Of those that have a result, which `are_all` there will be."""
    told = [
        f"Task {number}: {task[:MAX_NAME_CHARS]}\n{result}"
        for number, (task, result) in enumerate(zip(tasks, results, strict=True), start=1)
        if result
    ]
    return "\n\n".join([*told, *([DONE] if are_all else [])])


def numbered(tasks: Sequence[str]) -> str:
    """What the user says who hands them out by hand."""
    return "\n".join(f"{number}. {task}" for number, task in enumerate(tasks, start=1))


def by_hand(tasks: Sequence[str]) -> Turn:
    """An answer that hands them out, as if its model had written the call."""
    arguments = json.dumps({"tasks": list(tasks)}, ensure_ascii=False)
    round_ = ToolRound(uses=[ToolUse(new_call_id(), DELEGATE, arguments)], is_whole=True)
    return Turn(Role.ASSISTANT, "", rounds=[round_])


def handed_out_by_hand(answer: Turn) -> list[str]:
    """The tasks with which it began, if the user handed them out."""
    first = answer.rounds[0] if answer.rounds else None
    is_ours = first is not None and not first.text and first.uses[0].tool == DELEGATE
    return named_tasks(first.uses[0]) if first and is_ours else []
