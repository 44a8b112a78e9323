"""What one would write with the C API and nothing else: the measure for the engine.

It uses the context of a `LlamaBackend` whose sequences are all empty, and leaves it so.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import llama_cpp as lib

from app.engine.llama.backend import LlamaBackend
from app.engine.llama.sampler import LlamaSampler
from app.protocol.sampling import SamplingParams


@dataclass(frozen=True)
class Run:
    """One batch of answers. `step_s` are the steps in which every sequence computed just one token."""

    num_sequences: int
    num_tokens: int  # generated, of all sequences together
    total_s: float
    step_s: tuple[float, ...]
    native_s: tuple[float, ...] = ()  # of each step, inside the library

    @property
    def tokens_per_s(self) -> float:
        """All tokens over all the time, prompts, samplers and freeing included."""
        return self.num_tokens / self.total_s

    @property
    def decode_tokens_per_s(self) -> float:
        return self.num_sequences * len(self.step_s) / sum(self.step_s)


def sampling(index: int) -> SamplingParams:
    return SamplingParams(seed=index)


def answers(backend: LlamaBackend, prompts: list[list[int]], num_tokens: int) -> Run:
    """Compute all prompts in one batch, then `num_tokens` of each answer."""
    context = backend._context.pointer
    batch = lib.llama_batch_init(sum(map(len, prompts)), 0, 1)
    started = time.perf_counter()
    samplers = [
        LlamaSampler(backend, backend.logits, sampling(seq), prompt) for seq, prompt in enumerate(prompts)
    ]
    chains = [sampler._chain.pointer for sampler in samplers]
    pending, pos, step_s = prompts, 0, []
    for _ in range(num_tokens):
        step_began = time.perf_counter()
        rows = _fill(batch, pending, pos)
        _decode(context, batch)
        pos += len(pending[0])
        pending = [
            [lib.llama_sampler_sample(chain, context, row)] for chain, row in zip(chains, rows, strict=True)
        ]
        step_s.append(time.perf_counter() - step_began)
    for sampler in samplers:
        sampler.close()
    lib.llama_memory_clear(lib.llama_get_memory(context), False)
    total_s = time.perf_counter() - started
    lib.llama_batch_free(batch)
    return Run(len(prompts), len(prompts) * num_tokens, total_s, tuple(step_s[1:]))


def first_token_s(backend: LlamaBackend, prompt: list[int], chunk: int) -> float:
    """Seconds to the first token of one answer whose prompt is computed in batches of `chunk` tokens."""
    context = backend._context.pointer
    batch = lib.llama_batch_init(chunk, 0, 1)
    started = time.perf_counter()
    sampler = LlamaSampler(backend, backend.logits, sampling(0), prompt)
    for pos in range(0, len(prompt), chunk):
        is_last = pos + chunk >= len(prompt)
        rows = _fill(batch, [prompt[pos : pos + chunk]], pos, wants_logits=is_last)
        _decode(context, batch)
    lib.llama_sampler_sample(sampler._chain.pointer, context, rows[0])
    took_s = time.perf_counter() - started
    sampler.close()
    lib.llama_memory_clear(lib.llama_get_memory(context), False)
    lib.llama_batch_free(batch)
    return took_s


def decoded_s(
    backend: LlamaBackend, steps: list[list[list[int]]], clock: Callable[[], float] = time.perf_counter
) -> list[float]:
    """Seconds of each step, which computes so many tokens of each sequence; nothing is sampled."""
    context = backend._context.pointer
    batch = lib.llama_batch_init(max(sum(map(len, step)) for step in steps), 0, 1)
    took_s, pos = [], 0
    for step in steps:
        began = clock()
        _fill(batch, step, pos)
        _decode(context, batch)
        took_s.append(clock() - began)
        pos += len(step[0])
    lib.llama_memory_clear(lib.llama_get_memory(context), False)
    lib.llama_batch_free(batch)
    return took_s


def _decode(context: object, batch: Any) -> None:
    code = lib.llama_decode(context, batch)
    assert code == 0, f"llama_decode returned {code}"


def _fill(batch: Any, tokens: list[list[int]], first_pos: int, wants_logits: bool = True) -> list[int]:
    """One row a token; returns each sequence's last row, the one that may have logits."""
    row, last_rows = 0, []
    for seq_id, sequence_tokens in enumerate(tokens):
        for pos, token in enumerate(sequence_tokens, first_pos):
            batch.token[row] = token
            batch.pos[row] = pos
            batch.n_seq_id[row] = 1
            batch.seq_id[row][0] = seq_id
            batch.logits[row] = 0
            row += 1
        batch.logits[row - 1] = wants_logits
        last_rows.append(row - 1)
    batch.n_tokens = row
    return last_rows
