"""Scores a GGUF on what training never saw, with the program's own engine and chat layer, greedily.

Calls of tools are scored twice: as the model writes them by itself, and as a chat asks for them, where what
has begun as a call follows a grammar made of the offered tools. Needs the program's venv.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import Any

from app.cli import headless
from app.engine.prompts.chat_worker import ChatWorker
from app.engine.prompts.message_reader import AnswerReader
from app.engine.running import RunningEngine
from app.protocol.answer_format import NO_CHAT_PARAMS, AnswerFormat, ChatParams
from app.protocol.commands import Submit
from app.protocol.load import LoadParams
from app.protocol.output import Output
from app.protocol.request import Message, Request, Role
from app.protocol.sampling import SamplingParams
from starter_model import corpus, documents, tools

NUM_SLOTS = 8
MAX_TOKENS = 500
SYSTEM_PROMPTS = (None, "You are a helpful assistant.")
CALLED_WITHOUT_FIT = "calls where no tool fits"
GOALS = {"sums": 0.98, "differences": 0.95, "questions": 0.90, "calls": 0.95}
LIMITS = {CALLED_WITHOUT_FIT: 0.02}

Wrong = list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Asked:
    messages: tuple[Message, ...]
    chat_params: ChatParams = NO_CHAT_PARAMS


@dataclass(slots=True)
class Answer:
    """`calls`: name and arguments of each, as the chat layer reads them."""

    written: str = ""
    format: AnswerFormat = field(default_factory=AnswerFormat)
    content: str = ""
    calls: list[tuple[str, Any]] = field(default_factory=list)


class Answerer:
    """An engine on a thread of its own that answers many prompts side by side."""

    def __init__(self, engine: RunningEngine, outputs: SimpleQueue[Output], chat_layer: ChatWorker) -> None:
        self._engine, self._outputs, self._chat_layer = engine, outputs, chat_layer

    def ask(self, asked: Sequence[Asked]) -> list[Answer]:
        for index, one in enumerate(asked):
            request = Request(
                request_id=f"{index}",
                chat_id=f"{index}",
                messages=one.messages,
                chat_params=one.chat_params,
                sampling=SamplingParams(temperature=0.0),
                max_tokens=MAX_TOKENS,
                keep_cells=False,
            )
            self._engine.post(Submit(request))
        answers = [Answer() for _ in asked]
        num_open = len(asked)
        while num_open:
            output = self._outputs.get()
            answer = answers[int(output.request_id)]
            answer.written += output.text
            answer.format = output.format or answer.format
            num_open -= output.finish_reason is not None
        for answer in answers:
            self._read(answer)
        return answers

    def _read(self, answer: Answer) -> None:
        delta = AnswerReader(self._chat_layer, answer.format.parser).read(answer.written, is_last=True)
        answer.content = delta.content.strip()
        answer.calls = [(call.name, _parsed(call.arguments)) for call in delta.tool_calls]


def _parsed(arguments: str) -> Any:
    """The text itself, if it was cut off."""
    try:
        return json.loads(arguments)
    except ValueError:
        return arguments


@contextmanager
def answering(gguf: Path) -> Iterator[Answerer]:
    outputs: SimpleQueue[Output] = SimpleQueue()

    def on_reports_ready() -> None:
        for report in engine.take_reports():
            for output in report.outputs:
                outputs.put(output)

    params = LoadParams(gguf, n_ctx=2048 * NUM_SLOTS, n_seq_max=NUM_SLOTS, n_threads=1)
    chat_layer = ChatWorker()
    with headless.open_engine(params, lambda _fraction: True, on_reports_ready) as (_model, engine):
        thread = Thread(target=engine.run)
        thread.start()
        try:
            yield Answerer(engine, outputs, chat_layer)
        finally:
            engine.stop()
            thread.join()
            chat_layer.close()


def score_pairs(answerer: Answerer, pairs: list[tuple[str, str]], system: str | None) -> tuple[float, Wrong]:
    """The share of exactly right answers, and what came instead of the others."""
    answers = answerer.ask([Asked((*_system(system), Message(Role.USER, asked))) for asked, _ in pairs])
    wrong = [
        {"asked": asked, "expected": expected, "got": got.content}
        for (asked, expected), got in zip(pairs, answers, strict=True)
        if got.content != expected
    ]
    return 1 - len(wrong) / len(pairs), wrong


def score_chats(answerer: Answerer, system: str | None) -> float:
    """The share of chats whose every turn is right, each answered after the model's own answers."""
    chats = corpus.held_out_chats()
    messages = [_system(system) for _ in chats]
    is_right = [True] * len(chats)
    for turns in zip(*(chat.turns for chat in chats), strict=True):
        for before, (asked, _) in zip(messages, turns, strict=True):
            before.append(Message(Role.USER, asked))
        answers = answerer.ask([Asked(tuple(before)) for before in messages])
        for index, (answer, (_, expected)) in enumerate(zip(answers, turns, strict=True)):
            messages[index].append(Message(Role.ASSISTANT, answer.content))
            is_right[index] &= answer.content == expected
    return sum(is_right) / len(chats)


def score_documents(answerer: Answerer) -> tuple[float, Wrong]:
    """The share of questions about a text that are answered with its right sentence and number."""
    chats = documents.held_out_documents()
    asked = [[Message(Role(role), content) for role, content in chat.messages()][:-1] for chat in chats]
    answers = answerer.ask([Asked(tuple(messages)) for messages in asked])
    wrong = [
        {"asked": chat.turns[0][0], "system": chat.system, "expected": chat.turns[0][1], "got": got.content}
        for chat, got in zip(chats, answers, strict=True)
        if got.content != chat.turns[0][1]
    ]
    return 1 - len(wrong) / len(chats), wrong


def _system(system: str | None) -> list[Message]:
    return [Message(Role.SYSTEM, system)] if system else []


def score_tools(answerer: Answerer) -> tuple[dict[str, float], dict[str, Wrong]]:
    """Of chats with tools. A call is right if its tool and all its arguments are."""
    with_fit, results = tools.held_out_calls(), tools.held_out_results()
    without_fit = tools.held_out_without_fit()
    sets = {
        "calls": [(chat, False) for chat in with_fit],
        "answers from results": [(chat, True) for chat in results],
        "no tool fits": [(chat, False) for chat in without_fit],
    }
    scores: dict[str, float] = {}
    wrong: dict[str, Wrong] = {}
    for name, chats in sets.items():
        for suffix, asked_of in ((" without grammar", _without_grammar), ("", as_a_chat_asks)):
            answers = answerer.ask([asked_of(*one) for one in chats])
            wrong[name + suffix] = [
                _told(chat, answer)
                for (chat, has_result), answer in zip(chats, answers, strict=True)
                if not _is_right(chat.turns[0], has_result, answer, is_read=not suffix)
            ]
            scores[name + suffix] = 1 - len(wrong[name + suffix]) / len(chats)
            if name == "no tool fits":
                called = sum("<tool_call>" in answer.written for answer in answers)
                scores[CALLED_WITHOUT_FIT + suffix] = called / len(chats)
    return scores, wrong


def _is_right(turn: tools.ToolTurn, has_result: bool, answer: Answer, *, is_read: bool) -> bool:
    """`is_read`: the chat layer has read the calls, else it is compared as it was written."""
    is_call = bool(turn.name) and not has_result
    if is_read:
        calls = [(turn.name, turn.arguments)] if is_call else []
        return (answer.content, answer.calls) == ("" if is_call else turn.answer, calls)
    expected = tools.written_call(turn.name, turn.arguments) if is_call else turn.answer
    return answer.written.strip() == expected


def _told(chat: tools.ToolChat, answer: Answer) -> dict[str, Any]:
    turn = chat.turns[0]
    return {
        "asked": turn.asked,
        "tools": tools.listing(chat.tools),
        "call": turn.name and tools.written_call(turn.name, turn.arguments),
        "result": turn.result,
        "answer": turn.answer,
        "got": answer.written,
    }


def _without_grammar(chat: tools.ToolChat, has_result: bool) -> Asked:
    """As messages alone: the template knows of no tools, so that there is no grammar."""
    written = list(chat.messages())[: 4 if has_result else 2]
    return Asked(tuple(Message(Role(role), content) for role, content in written))


def as_a_chat_asks(chat: tools.ToolChat, has_result: bool) -> Asked:
    turn = chat.turns[0]
    messages = [*_system(chat.system), Message(Role.USER, turn.asked)]
    if has_result:
        function = {"name": turn.name, "arguments": turn.arguments}
        fields = {"tool_calls": [{"id": "1", "type": "function", "function": function}]}
        messages.append(Message(Role.ASSISTANT, "", json.dumps(fields)))
        messages.append(Message(Role.TOOL, turn.result, json.dumps({"tool_call_id": "1"})))
    definitions = json.dumps([tool.definition() for tool in chat.tools])
    return Asked(tuple(messages), ChatParams(tools=definitions))


def score_all(answerer: Answerer) -> tuple[dict[str, float], dict[str, Wrong]]:
    scores: dict[str, float] = {}
    wrong: dict[str, Wrong] = {}
    for system in SYSTEM_PROMPTS:
        suffix = " with a system prompt" if system else ""
        for name, pairs in corpus.held_out_sets().items():
            scores[name + suffix], wrong[name + suffix] = score_pairs(answerer, pairs, system)
        scores["chats" + suffix] = score_chats(answerer, system)
    scores["documents"], wrong["documents"] = score_documents(answerer)
    return scores, wrong


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("gguf", type=Path)
    parser.add_argument("--wrong", type=Path, help="where to write the wrong answers, as JSON")
    parser.add_argument("--only-tools", action="store_true", help="score the chats with tools alone")
    args = parser.parse_args()
    with answering(args.gguf) as answerer:
        scores, wrong = score_tools(answerer)
        if not args.only_tools:
            more_scores, more_wrong = score_all(answerer)
            scores, wrong = more_scores | scores, more_wrong | wrong
    for name, value in scores.items():
        print(f"{value:7.2%}  {name}")
    if args.wrong:
        args.wrong.write_text(json.dumps(wrong, indent=1, ensure_ascii=False))
    below = any(scores.get(name, goal) < goal for name, goal in GOALS.items())
    if below or any(scores[name] > limit for name, limit in LIMITS.items()):
        sys.exit("below the goals")


if __name__ == "__main__":
    main()
