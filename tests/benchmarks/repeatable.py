"""Repeatable answers: equal alone, beside seven others, after hibernation and a restart; and what that costs.

Give it a real model: random weights write the same few words. Times are those of the processors, which other
programs disturb less than the clock.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import count

from app.engine.engine import Engine
from app.protocol.request import Message, Request, Role
from app.protocol.sampling import SamplingParams
from tests.benchmarks import workload
from tests.benchmarks.figures import Verdict, show

N_CTX = 4096
NUM_OTHERS = 7
SIDE_BY_SIDE = (1, 2, 4, 8)
REPEATABLE = SamplingParams(temperature=0.8, repeatable=True)
USUAL = replace(REPEATABLE, repeatable=False)
WORDS = (
    "river machine answer winter garden letter number window teacher island question silver morning reason "
    "bridge music paper summer market engine story colour planet kitchen doctor"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    workload.add_arguments(parser, repeats=3)
    parser.add_argument("--prompts", type=int, default=100)
    parser.add_argument("--answer-tokens", type=int, default=24)


def run(options: argparse.Namespace) -> int:
    verdict = Verdict()
    wanted = f"of {options.prompts}"
    with _program(options) as engine:
        firsts = _first_turns(engine, options, REPEATABLE, num_others=0)
        seconds = _second_turns(engine, options, firsts, num_others=0)
    print(f"  different texts: {len(set(firsts))} and in the second turn {len(set(seconds))} {wanted}")
    with _program(options) as engine:
        beside = _first_turns(engine, options, REPEATABLE, NUM_OTHERS)
        verdict.equal("beside seven others", _num_equal(firsts, beside), options.prompts)
        hibernated = _second_turns(engine, options, beside, NUM_OTHERS)
        verdict.equal(
            "second turns beside them, after hibernation", _num_equal(seconds, hibernated), options.prompts
        )
    with _program(options) as engine:
        restarted = _second_turns(engine, options, firsts, num_others=0)
        verdict.equal("second turns after a restart", _num_equal(seconds, restarted), options.prompts)
    with _program(options) as engine:
        usual = _first_turns(engine, options, USUAL, num_others=0)
        usual_beside = _first_turns(engine, options, USUAL, NUM_OTHERS)
    print(f"  with a seed alone: {_num_equal(usual, usual_beside)} {wanted} are the same beside seven others")
    _print_costs(options)
    return verdict.exit_code


# Equal texts.


def _first_turns(
    engine: Engine, options: argparse.Namespace, sampling: SamplingParams, num_others: int
) -> list[str]:
    """Each chat is hibernated after it."""
    others, answers = _Others(engine, num_others), []
    for number in range(options.prompts):
        answers.append(_ask(engine, _turn(options, number, sampling, _question(number)), others))
        engine.hibernate(_chat(number))
    others.leave()
    return answers


def _second_turns(
    engine: Engine, options: argparse.Namespace, firsts: list[str], num_others: int
) -> list[str]:
    others, answers = _Others(engine, num_others), []
    for number, first in enumerate(firsts):
        turn = _turn(options, number, REPEATABLE, _question(number), first, _later(number))
        answers.append(_ask(engine, turn, others))
        engine.forget(_chat(number))
    others.leave()
    return answers


def _turn(options: argparse.Namespace, number: int, sampling: SamplingParams, *texts: str) -> Request:
    roles = (Role.USER, Role.ASSISTANT, Role.USER)
    messages = tuple(Message(role, text) for role, text in zip(roles, texts, strict=False) if text)
    name = f"{_chat(number)}, {len(texts)}"
    return Request(name, _chat(number), messages, replace(sampling, seed=number), options.answer_tokens)


class _Others:
    """Chats that always answer: as one ends, the next is asked."""

    def __init__(self, engine: Engine, num_chats: int) -> None:
        self._engine, self._num_chats = engine, num_chats
        self._open: set[str] = set()
        self._names = (f"other {number}" for number in count())

    def keep_on(self) -> None:
        while len(self._open) < self._num_chats:
            name = next(self._names)
            self._open.add(name)
            num_tokens = random.Random(name).randint(20, 100)
            text = (Message(Role.USER, _question(name)),)
            self._engine.add_request(Request(name, name, text, USUAL, num_tokens, keep_cells=False))

    def note_end(self, request_id: str) -> None:
        self._open.discard(request_id)

    def leave(self) -> None:
        for name in self._open:
            self._engine.forget(name)
        self._engine.report()


def _ask(engine: Engine, one: Request, others: _Others) -> str:
    engine.add_request(one)
    text = ""
    while True:
        others.keep_on()
        for output in engine.step().outputs:
            if output.request_id == one.request_id:
                text += output.text
            if output.finish_reason:
                others.note_end(output.request_id)
                if output.request_id == one.request_id:
                    return text


def _num_equal(texts: list[str], others: list[str]) -> int:
    return sum(text == other for text, other in zip(texts, others, strict=True))


# What it costs.


def _print_costs(options: argparse.Namespace) -> None:
    with _program(options) as engine:
        for num_chats in SIDE_BY_SIDE:
            print(f"\n{num_chats} chats at once, {options.answer_tokens} tokens each")
            _chats_s(engine, options, num_chats, REPEATABLE)  # warms up
            usual = [_chats_s(engine, options, num_chats, USUAL) for _ in range(options.repeats)]
            repeatable = [_chats_s(engine, options, num_chats, REPEATABLE) for _ in range(options.repeats)]
            show("usual", usual, "s", 2)
            show("repeatable", repeatable, "s", 2)
            pairs = zip(usual, repeatable, strict=True)
            show("repeatable / usual", [slow / fast for fast, slow in pairs], "times", 2)


def _chats_s(engine: Engine, options: argparse.Namespace, num_chats: int, sampling: SamplingParams) -> float:
    sampling = replace(sampling, ignore_eos=True)
    for number in range(num_chats):
        engine.add_request(_turn(options, number, sampling, _question(number)))
    began = time.process_time()
    while engine.has_work:
        engine.step()
    taken_s = time.process_time() - began
    for number in range(num_chats):
        engine.forget(_chat(number))
    return taken_s


@contextmanager
def _program(options: argparse.Namespace) -> Iterator[Engine]:
    with workload.opened_engine(options, n_ctx=N_CTX) as (engine, _backend):
        yield engine


def _chat(number: int) -> str:
    return f"chat {number}"


def _question(name: object) -> str:
    """Always the same for one name."""
    luck = random.Random(str(name))
    words = luck.choices(WORDS.split(), k=luck.randint(5, 40))
    return f"Write a short text with these words: {', '.join(words)}."


def _later(number: int) -> str:
    return f"Now another one, about {random.Random(number).choice(WORDS.split())}."
