"""Answers with prompt lookup against answers without: tokens per second, and the same logits.

A random model does not copy its prompt, so the answers are fixed beforehand: every row is computed and
sampled in earnest, and then the fixed answer's next token takes the place of the sampled one. The times are
real, and as many draft tokens are accepted as if the model gave exactly this answer. At each place its logits
are compared with those it has without drafting: of a random model the likeliest tokens are so close together
that rounding chooses among them, so its words prove nothing. tests/native/test_drafting.py has words.

"editing": the prompt is a Python file, cut into words and signs about as a tokenizer would, and the answer is
that file with some names changed. "nothing right": nearly every step has a draft, and each is rejected.

With --draft-model a second model writes on, and the answer is new text, so that there is nothing to look up.
Of two random models one knows nothing of the other, so that is fixed, too: both compute in earnest, and then
so many in a hundred of its tokens are those of the answer. This shows what the two models cost, and what
comes of it if so many guesses are right. How many are right for two real models it cannot show: for that,
give both files with --model and --draft-model: see `draft_pair`.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import inspect
import random
import re
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from unittest import mock

import llama_cpp as lib
import numpy as np
import numpy.typing as npt

from app.engine.batching.draft_model import DraftHeads, DraftModel
from app.engine.engine import Engine
from app.engine.llama.backend import LlamaBackend
from app.engine.llama.heads import LlamaHeads
from app.engine.llama.sampler import LlamaSampler
from app.engine.prompt import Prompt
from app.protocol.output import SampledToken, Usage
from app.protocol.sampling import SamplingParams
from tests.benchmarks import bare_loop, draft_pair, workload
from tests.benchmarks.figures import Verdict, show
from tests.benchmarks.gguf_0_6b import N_VOCAB
from tests.driver import GREEDY
from tests.native.tiny_ggufs import Shape, write_tiny_gguf

RANDOM = Path("random")
DRAFT_SHAPE = Shape(n_embd=64, n_ffn=192, n_head=2, n_head_kv=1, head_dim=32, n_vocab=N_VOCAB)
HEADS_SHAPE = Shape(n_embd=1024, n_ffn=3072, n_head=16, n_head_kv=8, head_dim=64, n_vocab=64_000)
HEADS_LAYERS = 20
WANTED_OF_DRAFTS = {0: 0.95, 95: 1.15}  # tokens per second, by how many in a hundred are right
WANTED_EDITING, WANTED_NOTHING_RIGHT = 1.15, 0.97  # tokens per second, with draft tokens / without
LARGEST_DIFFERENCE = 0.2  # of a logit, in standard deviations: rounding alone made 0.08
COMPARED = 1000  # every so many tokens of the vocabulary
N_CTX = 8192
CHANGED_NAMES = {"backend": "model", "pending": "unread", "num_tokens": "length", "Any": "object"}
NO_WORD = 300  # a token that is in no text here
NUM_WORDS = 6  # of the prompt whose every three words came before, so that there is always a draft


@dataclass(frozen=True)
class Task:
    name: str
    prompt: list[int]
    answer: list[int]


@dataclass(frozen=True)
class Answer:
    usage: Usage
    logits: npt.NDArray[np.float32]  # some of each place


class FixedAnswer:
    """A sampler that does its work, and then says what was fixed."""

    waits_for_trigger = False

    def __init__(self, sampler: LlamaSampler, answer: list[int]) -> None:
        self.logits: list[npt.NDArray[np.float32]] = []  # some of each place
        self._sampler = sampler
        self.answer = answer
        self._rest = iter(answer)

    def sample(self, row: int) -> int:
        self._sampler.sample(row)
        self.logits.append(self._sampler._logits[row][::COMPARED].copy())
        return next(self._rest)

    def sample_with_logprobs(self, row: int, num_logprobs: int) -> SampledToken:
        raise NotImplementedError("nobody asks for them here")

    def close(self) -> None:
        self._sampler.close()


def add_arguments(parser: argparse.ArgumentParser) -> None:
    workload.add_arguments(parser)
    parser.add_argument("--draft", type=int, nargs="+", default=[8], metavar="N", help="most guesses a step")
    parser.add_argument("--tokens", type=int, default=400, help="of each answer")
    parser.add_argument(
        "--draft-model",
        nargs="?",
        const=RANDOM,
        type=Path,
        metavar="PATH",
        help="a GGUF that guesses for that of --model (default: random weights, a tenth of its size)",
    )
    parser.add_argument(
        "--right", type=int, nargs="+", default=[0, 60, 80, 95], metavar="PERCENT", help="of its tokens"
    )
    parser.add_argument(
        "--beside", type=int, default=0, help="other answers at the same time, with no guesses"
    )
    draft_pair.add_arguments(parser)


def run(options: argparse.Namespace) -> int:
    if options.ask:
        return draft_pair.compare_servers(options)
    if options.heads:
        return _run_heads(options)
    if options.draft_model and options.draft_model != RANDOM:
        return draft_pair.compare(options)
    return _run_draft_model(options) if options.draft_model else _run_lookup(options)


def _run_draft_model(options: argparse.Namespace) -> int:
    verdict = Verdict()
    with tempfile.TemporaryDirectory() as folder:
        path = _random_draft_model(Path(folder))
        with workload.opened_backend(
            options, n_ctx=N_CTX, num_drafted=options.draft[0], draft_model=path
        ) as backend:
            assert backend.draft
            share = 100 * backend.draft.model.size_bytes / backend.model.size_bytes
            print(f"the draft model: {backend.draft.model.description}, {share:.0f}% of its size")
            for percent in options.right:
                bench = Bench(backend, options)  # what one engine has learned the next does not know
                bench.compare_draft_model(_new_text(options.tokens, percent), percent, verdict)
                bench.engine.close()
    return verdict.exit_code


def _run_heads(options: argparse.Namespace) -> int:
    """A random model with a head, which computes in earnest: so many in a hundred of its tokens are right."""
    verdict = Verdict()
    with (
        tempfile.TemporaryDirectory() as folder,
        workload.opened_backend(
            options, n_ctx=N_CTX, num_drafted=options.draft[0], model=_with_heads(Path(folder))
        ) as backend,
    ):
        for percent in options.right:
            print(f"\n{percent}% right")
            with _fixed_answers(backend, percent):
                for num_chats in options.chats:
                    draft_pair.compare_cell(backend, "free", num_chats, ["heads"], options.repeats, verdict)
    return verdict.exit_code


def _with_heads(folder: Path) -> Path:
    """A hybrid model in Q4_K_M with one head."""
    whole, path = folder / "whole.gguf", folder / "heads.gguf"
    write_tiny_gguf(whole, "qwen35", n_layer=HEADS_LAYERS, n_ctx_train=N_CTX, num_heads=1, shape=HEADS_SHAPE)
    params = lib.llama_model_quantize_default_params()
    params.ftype = lib.LLAMA_FTYPE_MOSTLY_Q4_K_M
    assert lib.llama_model_quantize(bytes(whole), bytes(path), ctypes.byref(params)) == 0
    whole.unlink()
    return path


@contextlib.contextmanager
def _fixed_answers(backend: LlamaBackend, percent: int) -> Iterator[None]:
    """Whatever is sampled, and `percent` of what the head guesses, is the fixed answer to the prompt."""
    new_sampler, likeliest, decode = backend.new_sampler, LlamaHeads.likeliest, DraftHeads._decode
    choose, asked = random.Random(percent), dict[int, Any]()

    def new_fixed(params: SamplingParams, prompt: Sequence[int], *more: Any) -> FixedAnswer:
        answer = workload.token_ids(N_CTX // 8, tuple(prompt))
        return FixedAnswer(new_sampler(params, prompt, *more), answer)

    def noted(source: DraftHeads, new: Any) -> Any:
        rows = decode(source, new)
        asked.update((row, seq) for seq, row in rows.items())
        return rows

    def known(heads: LlamaHeads, row: int) -> tuple[int, float]:
        likeliest(heads, row)
        seq, is_right = asked[row], choose.random() * 100 < percent
        place = heads._batch.positions[row] + 1 - seq.num_prompt_tokens
        return (seq.sampler.answer[place] if is_right else NO_WORD), 1.0

    with (
        mock.patch.object(backend, "new_sampler", new_fixed),
        mock.patch.object(DraftHeads, "_decode", noted),
        mock.patch.object(LlamaHeads, "likeliest", known),
    ):
        yield


def _run_lookup(options: argparse.Namespace) -> int:
    verdict = Verdict()
    for num_drafted in options.draft:
        with workload.opened_backend(options, n_ctx=N_CTX, num_drafted=num_drafted) as backend:
            bench = Bench(backend, options)
            bench.compare(_editing(options.tokens), WANTED_EDITING, verdict)
            bench.compare(_nothing_right(options.tokens), WANTED_NOTHING_RIGHT, verdict)
            bench.engine.close()
    return verdict.exit_code


class Bench:
    """One engine, whose chats keep the cells of their prompts: only answers are computed again and again."""

    def __init__(self, backend: LlamaBackend, options: argparse.Namespace) -> None:
        self.engine = Engine(backend)
        self._backend = backend
        self._options = options
        self._others = [f"beside {number}" for number in range(options.beside)]

    def compare_draft_model(self, task: Task, percent: int, verdict: Verdict) -> None:
        """The draft model computes in earnest, and then `percent` of its tokens are those of the answer."""
        draft, model = self._backend.draft, self.engine._draft_planner._model
        assert draft
        assert isinstance(model, DraftModel)
        likeliest, choose = draft.likeliest, random.Random(percent)
        chat = task.prompt + task.answer

        def known(row: int) -> tuple[int, float]:
            likeliest(row)
            place = int(model._batch.positions[row]) + 1
            is_right = choose.random() * 100 < percent and place < len(chat)
            return (chat[place] if is_right else NO_WORD), 1.0

        with mock.patch.object(draft, "likeliest", known):
            self.compare(task, WANTED_OF_DRAFTS.get(percent, 0.0), verdict)

    def compare(self, task: Task, wanted: float, verdict: Verdict) -> None:
        print(
            f"\n{task.name}: {len(task.prompt)} prompt tokens, {len(task.answer)} generated, at most "
            f"{self._backend.model.num_drafted_tokens} guesses a step, {len(self._others)} answers beside it"
        )
        self._answer(task, guesses=False)  # computes the prompt
        self._answer(task, guesses=True)
        pairs = [
            (self._answer(task, guesses=False), self._answer(task, guesses=True))
            for _ in range(self._options.repeats)
        ]
        off, on = [one.usage for one, _ in pairs], [one.usage for _, one in pairs]
        show("without guesses", [one.tokens_per_s for one in off], "tokens/s")
        show("with guesses", [one.tokens_per_s for one in on], "tokens/s")
        ratios = [with_.tokens_per_s / without.tokens_per_s for with_, without in zip(on, off, strict=True)]
        ratio = show("with / without", ratios, "", 3)
        show("guessed", [one.num_drafted_tokens for one in on], "tokens", 0)
        kept = [100 * one.num_kept_tokens / max(one.num_drafted_tokens, 1) for one in on]
        show("of them right", kept, "%", 0)
        verdict.at_least(f"{task.name}: with / without", ratio, wanted)
        difference = max(_difference(one.logits, other.logits) for one, other in pairs)
        verdict.at_most(f"{task.name}: largest difference of a logit", difference, LARGEST_DIFFERENCE)

    def _answer(self, task: Task, *, guesses: bool) -> Answer:
        """Its tokens are those that were fixed, or this ends here."""
        for name in self._others:
            one = workload.request(name, N_CTX // 8, keep_cells=False)
            self.engine.add_request(one, Prompt(tuple(workload.token_ids(64, name))))
        sampler = self._add(task)
        token_ids: list[int] = []
        with (
            contextlib.nullcontext()
            if guesses
            else mock.patch.object(self.engine._draft_planner, "is_on", new=False)
        ):
            while True:
                for output in self.engine.step().outputs:
                    if output.request_id == task.name:
                        token_ids += output.token_ids
                        if output.finish_reason:
                            assert token_ids == task.answer, "another answer than was fixed"
                            self._end_others()
                            return Answer(output.usage, np.stack(sampler.logits))

    def _add(self, task: Task) -> FixedAnswer:
        new_sampler = self._backend.new_sampler
        samplers: list[FixedAnswer] = []

        def new_fixed(params: SamplingParams, prompt: Sequence[int], *more: Any) -> FixedAnswer:
            samplers.append(FixedAnswer(new_sampler(params, prompt, *more), task.answer))
            return samplers[0]

        with mock.patch.object(self._backend, "new_sampler", new_fixed):
            one = workload.request(task.name, len(task.answer))
            self.engine.add_request(replace(one, sampling=GREEDY), Prompt(tuple(task.prompt)))
        return samplers[0]

    def _end_others(self) -> None:
        for name in self._others:
            self.engine.abort(name)
        self.engine.report()


def _difference(one: npt.NDArray[np.float32], other: npt.NDArray[np.float32]) -> float:
    return float(np.abs(one - other).max() / one.std())


def _editing(num_tokens: int) -> Task:
    source = inspect.getsource(bare_loop)
    words = re.findall(r" ?\w+|\n +|[^\w]", source)
    numbers = {word: number for number, word in enumerate(dict.fromkeys(words), 1)}
    answer = re.findall(r" ?\w+|\n +|[^\w]", _with_changed_names(source))
    for word in answer:
        numbers.setdefault(word, len(numbers) + 1)
    return Task("editing", [numbers[word] for word in words], [numbers[word] for word in answer[:num_tokens]])


def _with_changed_names(source: str) -> str:
    names = "|".join(CHANGED_NAMES)
    return re.sub(rf"\b({names})\b", lambda found: CHANGED_NAMES[found[0]], source)


def _new_text(num_tokens: int, percent: int) -> Task:
    prompt, answer = workload.token_ids(500, "prompt"), workload.token_ids(num_tokens, "answer")
    return Task(f"draft model, {percent}% right", prompt, answer)


def _random_draft_model(folder: Path) -> Path:
    """Of the same vocabulary as the random model."""
    return write_tiny_gguf(folder / "draft.gguf", "qwen3", n_layer=2, n_ctx_train=N_CTX, shape=DRAFT_SHAPE)


def _nothing_right(num_tokens: int) -> Task:
    """Each token is another one than that which came behind the same three last."""
    choose = random.Random(0)
    chat = choose.choices(range(1, NUM_WORDS + 1), k=1000)
    behind = {tuple(chat[at - 3 : at]): chat[at] for at in range(3, len(chat))}
    num_prompt = len(chat)
    while len(chat) < num_prompt + num_tokens:
        last = tuple(chat[-3:])
        chat.append(choose.choice([word for word in range(1, NUM_WORDS + 1) if word != behind.get(last)]))
        behind[last] = chat[-1]
    return Task("nothing right", chat[:num_prompt], chat[num_prompt:])
