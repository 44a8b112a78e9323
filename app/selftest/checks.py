"""The seven checks: each function returns what it saw, or raises what is wrong."""

import gc
import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

import psutil

from app.engine.cells.checkpoints import GAP
from app.protocol.output import FinishReason
from app.selftest.bench import Answer, Bench, CannotCheckError, CheckFailedError, living_native_objects
from app.selftest.report import TITLES
from app.system.said import said

NUM_IN_A_ROW = 10
PROMPT, ANSWER = 20, 12  # tokens; a prompt this long is computed in one step
TOGETHER = (1, 2, 3, 5)  # answers at once
NUM_WITH_ABORT = 3
DOCUMENT = 64  # tokens that two chats begin with
QUESTION = 10  # tokens of a later turn
SLOWER, SLOWER_BY_S = 3.0, 0.05  # later requests may take so many times as long, and so much longer
NUM_TRIES = 3  # of measurements that other programs can disturb
NUM_IDS = 3
NUM_ROUNDS, NUM_IN_ROUND = 4, 4
GROWTH_BYTES = 1 << 20  # of one round; a leak is what grows by more in all of them


@dataclass(frozen=True, slots=True)
class Check:
    name: str  # of TITLES
    done: str
    run: Callable[[Bench], str]  # returns what was seen
    num_answers: int  # about so many are made: its part of the progress

    @property
    def title(self) -> str:
        return TITLES[self.name]


# Line a.


def ten_in_a_row(bench: Bench) -> str:
    costs: set[tuple[int, int, int]] = set()

    def ask_ten() -> tuple[list[float], list[float]]:
        seconds = [_seconds_of_one(bench, costs) for _ in range(NUM_IN_A_ROW)]
        return seconds[: NUM_IN_A_ROW // 2], seconds[NUM_IN_A_ROW // 2 :]

    earlier, later = _compared_times(ask_ten, said("the later ones took longer"))
    ((num_tokens, num_steps, num_cells),) = costs
    return said(
        "each computed {tokens} tokens in {steps} steps, used {cells} cells and left none; "
        "the first five took {earlier} each, the others {later}",
        tokens=num_tokens,
        steps=num_steps,
        cells=num_cells,
        earlier=_milliseconds(earlier),
        later=_milliseconds(later),
    )


def _seconds_of_one(bench: Bench, costs: set[tuple[int, int, int]]) -> float:
    bench.reports.clear()
    answers: list[Answer] = []
    request = bench.request(bench.prompt(PROMPT), ANSWER)
    seconds = bench.seconds_of(lambda: answers.append(bench.ask(request)))
    bench.check_empty()
    num_cells = max(report.cells.num_used for report in bench.reports)
    costs.add((answers[0].usage.num_computed_tokens, answers[0].num_steps, num_cells))
    if len(costs) > 1:
        raise CheckFailedError(
            said("the costs in (tokens computed, steps, cells) differ: {costs}", costs=str(sorted(costs)))
        )
    return seconds


# Line b.


def together_as_alone(bench: Bench) -> str:
    requests = [
        bench.request(bench.prompt(PROMPT + turn, turn), ANSWER + 2 * turn) for turn in range(max(TOGETHER))
    ]
    alone = [bench.alone(request) for request in requests]
    num_alike = num_tokens = 0
    to_the_last_bit = True
    for num_requests in TOGETHER:
        answers = bench.ask_all(*[bench.again(request) for request in requests[:num_requests]])
        for expected, answer in zip(alone, answers, strict=False):
            _check_length(answer)
            num_tokens += len(answer.tokens)
            to_the_last_bit &= answer.tokens == expected.tokens  # and their log-probabilities
            num_alike += bench.num_alike(expected, answer, said("{number} at once", number=num_requests))
    most = max(len(report.spans) for report in bench.reports)
    return said(
        "{alike}; up to {most} answers shared one batch, and each left it when done",
        alike=said(
            "all {tokens} tokens and their probabilities equal those of a run alone, to the last bit",
            tokens=num_tokens,
        )
        if to_the_last_bit
        else _alike(num_alike, num_tokens),
        most=most,
    )


def _check_length(answer: Answer) -> None:
    if (len(answer.tokens), answer.finish_reason) != (answer.request.max_tokens, FinishReason.LENGTH):
        raise CheckFailedError(
            said(
                "an answer of {wanted} tokens ended after {tokens} ({reason})",
                wanted=answer.request.max_tokens,
                tokens=len(answer.tokens),
                reason=str(answer.finish_reason),
            )
        )


def _alike(num_alike: int, num_tokens: int) -> str:
    if not num_alike:
        raise CannotCheckError(
            said("the model is undecided from the first token on, so there is nothing to compare")
        )
    if num_alike == num_tokens:
        return said("all {tokens} tokens equal those of a run alone", tokens=num_tokens)
    return said(
        "{alike} of {tokens} tokens equal those of a run alone, the rest follow a tie",
        alike=num_alike,
        tokens=num_tokens,
    )


# Line c.


def positions(bench: Bench) -> str:
    bench.ask(bench.request(bench.prompt(PROMPT), ANSWER))
    bench.check_empty()
    cleared = said("after clearing, no sequence has a position")
    gap = said("a gap: {refusal}", refusal=_refusal_of_a_gap(bench))
    first = bench.ask(bench.request(bench.prompt(PROMPT), ANSWER, keeps=True))
    last_pos = bench.backend.pos_max(first.seq_id)
    back = bench.backend.refusal_of(first.seq_id, last_pos, bench.words(1, 0))
    if not back:
        raise CheckFailedError(
            said("llama.cpp accepted a step back to position {position}", position=last_pos)
        )
    step_back = said("a step back: {refusal}", refusal=_quoted(back))
    return said(
        "{cleared}; {gap}; {step_back}; {next_turn}; {ids}",
        cleared=cleared,
        gap=gap,
        step_back=step_back,
        next_turn=_next_turn(bench, first, last_pos),
        ids=_old_and_new_ids(bench),
    )


def _refusal_of_a_gap(bench: Bench) -> str:
    held = bench.ask(bench.request(bench.prompt(PROMPT), ANSWER, keeps=True))
    last_pos = bench.backend.pos_max(held.seq_id)
    refusal = bench.backend.refusal_of(held.seq_id, last_pos + 2, bench.words(1, 0))
    if refusal:
        if bench.backend.pos_max(held.seq_id) != last_pos:
            raise CheckFailedError(said("a rejected batch has changed llama.cpp's positions"))
        bench.forget(held)
        return _quoted(refusal)
    if bench.model.can_shift:
        raise CheckFailedError(
            said("llama.cpp accepted position {position} after {last}", position=last_pos + 2, last=last_pos)
        )
    bench.renew()
    return said("llama.cpp accepts one with positions of this kind, so only Skein rejects it")


def _next_turn(bench: Bench, first: Answer, last_pos: int) -> str:
    prompt = _continued(first, bench.words(QUESTION, 1))
    bench.reports.clear()
    second = bench.ask(bench.request(prompt, ANSWER, first.request.chat_id, keeps=True))
    starts = [span.first_pos for report in bench.reports for span in report.spans]
    num_alike = bench.num_as_alone([first, second], said("a next turn"))
    if starts[0] != last_pos + 1 and bench.model.has_plain_attention:
        raise CheckFailedError(
            said("the next turn began at {start}, after position {last}", start=starts[0], last=last_pos)
        )
    return said(
        "the first turn ended at {last}, the next began at {start}, and {alike}",
        last=last_pos,
        start=starts[0],
        alike=_alike(num_alike, len(first.tokens) + len(second.tokens)),
    )


def _continued(answer: Answer, words: tuple[int, ...]) -> tuple[int, ...]:
    asked = tuple(token for token in answer.request.prompt if isinstance(token, int))
    return asked + answer.token_ids + words


def _old_and_new_ids(bench: Bench) -> str:
    num_ids = min(NUM_IDS, bench.model.n_seq_max - 1)
    if not num_ids:
        return said("there is only one sequence, so no other ids to compare")
    request = bench.request(bench.prompt(PROMPT, 2), ANSWER)
    expected = bench.alone(request)
    ids: set[int] = set()

    def timed(what: str) -> float:
        answers: list[Answer] = []
        seconds = bench.seconds_of(lambda: answers.append(bench.ask(bench.again(request))))
        bench.num_alike(expected, answers[0], what)
        ids.add(answers[0].seq_id)
        return seconds

    def ask_on_ids() -> tuple[list[float], list[float]]:
        old = [timed(said("a reused id")) for _ in range(num_ids)]
        new: list[float] = []
        holders: list[Answer] = []
        for turn in range(num_ids):
            holders.append(bench.ask(bench.request(bench.prompt(PROMPT, 3 + turn), 1, keeps=True)))
            new.append(timed(said("a fresh id")))
        bench.forget(*holders)
        return old, new

    old, new = _compared_times(ask_on_ids, said("fresh ids took longer"))
    return said(
        "one reused id took {old}, fresh ones {new}, with the same text on {number} ids",
        old=_milliseconds(old),
        new=_milliseconds(new),
        number=len(ids),
    )


def _quoted(refusal: str) -> str:
    """The library's message without the figures after it."""
    return f"“{re.split(':? +- ', refusal)[0].removeprefix('init: ')}”"


# Line d.


def abort_one(bench: Bench) -> str:
    requests = [bench.request(bench.prompt(PROMPT, turn), 2 * ANSWER) for turn in range(NUM_WITH_ABORT)]
    requests = requests[: bench.model.n_seq_max]
    answers = bench.start(*requests)
    bench.step_until(answers, lambda: all(len(answer.tokens) >= 2 for answer in answers))
    victim, others = (
        answers[len(answers) // 2],
        [one for one in answers if one is not answers[len(answers) // 2]],
    )
    if any(answer.finish_reason for answer in answers):
        raise CannotCheckError(said("there is not enough room for several answers at once"))
    num_held = bench.backend.pos_max(victim.seq_id) + 1
    bench.reports.clear()
    bench.engine.abort(victim.request.request_id)
    num_left = bench.backend.pos_max(victim.seq_id) + 1
    bench.step_until(answers, lambda: False)
    spans = [span.request_id for report in bench.reports for span in report.spans]
    if num_more := spans.count(victim.request.request_id):
        raise CheckFailedError(said("the aborted answer was still in {number} more batches", number=num_more))
    if victim.finish_reason is not FinishReason.ABORT:
        raise CheckFailedError(said("the aborted answer ended as {reason}", reason=str(victim.finish_reason)))
    if num_left:
        raise CheckFailedError(
            said("{left} of its {held} cells were still held after the abort", left=num_left, held=num_held)
        )
    num_alike = bench.num_as_alone(others, said("beside an aborted answer"))
    if not others:
        return said("it was in no later batch and freed its {held} cells at once", held=num_held)
    return said(
        "it was in no later batch and freed its {held} cells at once; of the {number} others {alike}",
        held=num_held,
        number=len(others),
        alike=_alike(num_alike, sum(len(other.tokens) for other in others)),
    )


# Line e.


def moved_cells(bench: Bench) -> str:
    document = bench.prompt(DOCUMENT, 1)
    first = bench.ask(bench.request(document + bench.words(QUESTION, 9), ANSWER, keeps=True))
    other = bench.ask(bench.request(document + bench.words(QUESTION, 12), ANSWER, keeps=True))
    shared = _shared(bench, other)
    is_forked = bench.engine.slots.fork(first.request.chat_id, FORK)
    on = bench.request(_continued(first, bench.words(QUESTION, 3)), ANSWER, first.request.chat_id, keeps=True)
    off = bench.request(_continued(first, bench.words(QUESTION, 4)), ANSWER, FORK, keeps=True)
    going_on, forked = bench.ask_all(on, off)
    restored, last = _hibernated_and_restored(bench, going_on)
    edited = bench.ask(
        bench.request(document + bench.words(QUESTION, 20), ANSWER, going_on.request.chat_id, keeps=True)
    )
    answers = [first, other, going_on, forked, last, edited]
    num_alike = bench.num_as_alone(answers, said("shared, forked or restored"))
    return said(
        "{shared}; {forked}; {restored}; {cut_back}; {alike}",
        shared=shared,
        forked=said("the fork shares all cells") if is_forked else said("the fork was computed or copied"),
        restored=restored,
        cut_back=_cut_back(bench, edited),
        alike=_alike(num_alike, sum(len(answer.tokens) for answer in answers)),
    )


FORK = "selftest-fork"


def _shared(bench: Bench, answer: Answer) -> str:
    num_shared = answer.usage.num_shared_tokens
    least = DOCUMENT - GAP if bench.model.takes_checkpoints else DOCUMENT
    if bench.model.can_share_cells and bench.model.n_seq_max > 1 and num_shared < least:
        raise CheckFailedError(
            said(
                "only {shared} of the {common} tokens of a common prefix are shared",
                shared=num_shared,
                common=DOCUMENT,
            )
        )
    return said("{shared} of {common} common tokens shared", shared=num_shared, common=DOCUMENT)


def _cut_back(bench: Bench, answer: Answer) -> str:
    usage = answer.usage
    least = DOCUMENT - GAP if bench.model.takes_checkpoints else DOCUMENT
    can_cut = bench.model.has_plain_attention or bench.model.takes_checkpoints
    if can_cut and usage.num_cached_tokens < least:
        raise CheckFailedError(
            said(
                "after an edit only {kept} of the {common} tokens before it were kept",
                kept=usage.num_cached_tokens,
                common=DOCUMENT,
            )
        )
    if usage.num_checkpoint_tokens:
        return said("a checkpoint kept {number} tokens of an edited chat", number=usage.num_checkpoint_tokens)
    return said("{number} tokens of an edited chat were kept", number=usage.num_cached_tokens)


def _hibernated_and_restored(bench: Bench, answer: Answer) -> tuple[str, Answer]:
    chat_id = answer.request.chat_id
    is_hibernated = bench.engine.slots.hibernate_chat(chat_id)
    if is_hibernated and (num_left := bench.backend.pos_max(answer.seq_id) + 1):
        raise CheckFailedError(
            said("{number} cells are still held after the chat was hibernated", number=num_left)
        )
    is_kept = chat_id in bench.engine.slots.hibernated
    last = bench.ask(bench.request(_continued(answer, bench.words(QUESTION, 5)), ANSWER, chat_id, keeps=True))
    if not is_kept:
        return said("the saved state was too large to keep"), last
    if not last.usage.num_restored_tokens:
        raise CheckFailedError(
            said("a hibernated chat was recomputed ({reason})", reason=str(last.usage.prefix_end))
        )
    return said("{number} hibernated tokens restored", number=last.usage.num_restored_tokens), last


# Line f.


def whole_context(bench: Bench) -> str:
    bench.check_empty()
    limit = bench.model.max_sequence_tokens
    answer = bench.ask(bench.request(bench.prompt(limit - ANSWER), None, keeps=True))
    num_tokens = answer.usage.num_prompt_tokens + len(answer.tokens)
    num_cells = bench.engine.slots.cells.num_used  # the last token's is not computed
    bench.forget(answer)
    bench.check_empty()
    if num_tokens < limit and bench.model.has_plain_attention:
        raise CheckFailedError(
            said("one sequence reached only {tokens:,} of {limit:,} tokens", tokens=num_tokens, limit=limit)
        )
    counts = {"tokens": num_tokens, "limit": limit, "cells": num_cells}
    if limit == bench.model.n_ctx:
        return said(
            "every cell was free; then one sequence took {tokens:,} of {limit:,} tokens in {cells:,} cells, "
            "and every cell was free again",
            **counts,
        )
    return said(
        "every cell was free; then one sequence took {tokens:,} of {limit:,} tokens in {cells:,} cells, "
        "as much as one chat may have of {total:,}, and every cell was free again",
        **counts,
        total=bench.model.n_ctx,
    )


# Line g.


def nothing_leaks(bench: Bench) -> str:
    process = psutil.Process()
    sizes = [_size_after_round(bench, process) for _ in range(NUM_ROUNDS + 1)]
    growth = [after - before for before, after in pairwise(sizes)]
    if (living := living_native_objects()) != bench.native_objects:
        raise CheckFailedError(
            said(
                "native objects were {before}, and are {now} now",
                before=_listed(bench.native_objects),
                now=_listed(living),
            )
        )
    if min(growth) > GROWTH_BYTES:
        raise CheckFailedError(
            said(
                "memory grew in each of {rounds} rounds, by {growth:,} KiB or more",
                rounds=NUM_ROUNDS,
                growth=min(growth) >> 10,
            )
        )
    return said(
        "native objects are {objects} as before; "
        "memory went from {before:,} to {after:,} MiB in {rounds} rounds",
        objects=_listed(living),
        before=sizes[0] >> 20,
        after=sizes[-1] >> 20,
        rounds=NUM_ROUNDS,
    )


def _size_after_round(bench: Bench, process: psutil.Process) -> int:
    bench.ask_all(*[bench.request(bench.prompt(PROMPT, turn), 2) for turn in range(NUM_IN_ROUND)])
    bench.reports.clear()
    gc.collect()
    return int(process.memory_info().rss)


def _listed(counts: dict[str, int]) -> str:
    return ", ".join(f"{num} {kind}" for kind, num in sorted(counts.items())) or said("none")


# Times.


def _compared_times(
    measure: Callable[[], tuple[list[float], list[float]]], what: str
) -> tuple[list[float], list[float]]:
    """Repeats until the second ones are no slower. They count as slower only if the fastest of them is:
    another program slows down some, but not all, and not every time.
    """
    for _ in range(NUM_TRIES):
        former, latter = measure()
        if min(latter) <= SLOWER * median(former) + SLOWER_BY_S:
            return former, latter
    raise CheckFailedError(
        said(
            "{what}: {former}, then {latter}",
            what=what,
            former=_milliseconds(former),
            latter=_milliseconds(latter),
        )
    )


def _milliseconds(seconds: list[float]) -> str:
    return said("{number:.0f} ms", number=1000 * median(seconds))


CHECKS = (
    Check(
        "a",
        said(
            "asked the same question {number} times, each in a new chat that was closed afterwards",
            number=NUM_IN_A_ROW,
        ),
        ten_in_a_row,
        NUM_IN_A_ROW,
    ),
    Check(
        "b",
        said("asked five questions one at a time, then 1, 2, 3 and 5 at once"),
        together_as_alone,
        max(TOGETHER) + sum(TOGETHER),
    ),
    Check(
        "c",
        said("cleared, tried a gap and a step back in positions, asked a next turn, used old and fresh ids"),
        positions,
        15,
    ),
    Check("d", said("aborted one of three running answers"), abort_one, 5),
    Check(
        "e",
        said(
            "started two chats with the same {number} tokens; forked, hibernated, restored and edited one",
            number=DOCUMENT,
        ),
        moved_cells,
        10,
    ),
    Check(
        "f",
        said("checked every cell, then sent a prompt that fills the context except for a short answer"),
        whole_context,
        10,
    ),
    Check(
        "g",
        said(
            "counted both before and after {rounds} rounds of {requests} requests",
            rounds=NUM_ROUNDS,
            requests=NUM_IN_ROUND,
        ),
        nothing_leaks,
        NUM_IN_ROUND * (NUM_ROUNDS + 1),
    ),
)
