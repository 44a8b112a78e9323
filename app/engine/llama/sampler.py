"""One request's native sampler chain. Order and defaults are llama-server's. Engine thread only."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import llama_cpp as lib
import numpy as np
import numpy.typing as npt

from app.engine.llama.answer_watch import FoundTrigger, ReasoningWatch, TriggerWatch
from app.engine.llama.native_library import Native
from app.engine.prompt import NO_GUIDE, Guide
from app.protocol.errors import (
    EngineError,
    GrammarError,
    InvalidRequestError,
    RequestError,
    SamplingInterruptedError,
)
from app.protocol.grammar import ROOT, check_grammar
from app.protocol.output import SampledToken, TokenLogprob
from app.protocol.sampling import GREEDY_BELOW, NEVER, SamplingParams
from app.system.said import said

if TYPE_CHECKING:
    from app.engine.llama.logits import Candidates, Logits
    from app.engine.llama.vocabulary import Vocabulary

FULL_TOP_K = 1000  # "off" for top_k: sorting a whole vocabulary of 152,000 costs 22 ms a token
IMPOSSIBLE_P = 1e-30  # of the likeliest token's; its logarithm is still a number
MIROSTAT_TOKENS = 100  # llama-server's m
MAX_GRAMMAR_S = 0.5  # of computing for one token, which takes 0.06 s in a vocabulary of 152,000
# And for all tokens of an answer: of most, a grammar only looks at the one that was drawn.
GRAMMAR_START_S, GRAMMAR_S_PER_TOKEN = 5.0, 0.1
TRIGGERED = "triggered"  # where a grammar begins whose first token has more before it
MAX_BEGUN = 2000  # tokens of a begun answer that are looked through for a trigger, the last ones
TOKENS_AT_ONCE = 256  # that a grammar is asked about: nothing can interrupt it meanwhile


class LlamaSampler:
    """One request's sampler chain, and beside it the grammar that its answer follows.

    Drawing first and checking one token against the grammar is a thousand times faster than masking all,
    which is done only when the grammar rejects that one.
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        logits: Logits,
        params: SamplingParams,
        prompt_token_ids: Sequence[int],
        num_start_tokens: int = 0,
        guide: Guide = NO_GUIDE,
        is_interrupted: Callable[[], bool] = lambda: False,
    ) -> None:
        self._vocabulary, self._logits = vocabulary, logits
        self._grammar_time = _GrammarTime(is_interrupted)
        self._is_greedy = params.is_greedy
        self._has_sampled = False
        self._unwanted_ends = _unwanted_ends(params, vocabulary)
        self._banned_tokens = list(params.banned_tokens | self._unwanted_ends)
        self._guide = guide
        self._grammar: Native | None = None
        self._triggers = TriggerWatch(guide.triggers) if guide.triggers else None
        self._reasoning = ReasoningWatch(guide.reasoning, self._ends_character) if guide.reasoning else None
        if not self._triggers:
            self._grammar = _new_grammar(vocabulary.vocab, guide.grammar or grammar_of(params))
        chain = lib.llama_sampler_chain_init(lib.llama_sampler_chain_default_params())
        self._chain = Native("sampler", chain, lib.llama_sampler_free)
        for sampler in _samplers(params, vocabulary):
            if not sampler:  # adding NULL to a chain crashes
                self.close()
                raise EngineError(said("llama.cpp could not create a sampler."))
            lib.llama_sampler_chain_add(chain, sampler)
        num_remembered = max(params.penalty_last_n, params.dry_penalty_last_n)
        for token_id in prompt_token_ids[-num_remembered:] if num_remembered else []:
            lib.llama_sampler_accept(chain, token_id)
        start = list(prompt_token_ids[-num_start_tokens:]) if num_start_tokens else []
        self._follow([*guide.opening, *start] if guide.is_in_grammar else start)
        begun = guide.opening[-MAX_BEGUN:] if guide.is_begun else ()
        if self._reasoning:
            for token_id in guide.opening[: len(guide.opening) - len(begun)]:
                self._reasoning.accept(token_id)
        for token_id in (*begun, *start):
            self._note_begun(token_id)

    @property
    def waits_for_trigger(self) -> bool:
        return self._triggers is not None and self._grammar is None

    def sample(self, row: int) -> int:
        context = self._context(row)
        if self._grammar or (self._reasoning and self._reasoning.forced_token is not None):
            token_id = self._draw(row).selected
        else:
            token_id = int(lib.llama_sampler_sample(self._chain.pointer, context, row))  # accepts it, too
            self._note(token_id)
        self._check_end(row, token_id)
        return token_id

    def sample_with_logprobs(self, row: int, num_logprobs: int) -> SampledToken:
        self._context(row)
        candidates = self._draw(row)
        self._check_end(row, candidates.selected)
        logits = self._logits[row]
        normaliser = _log_sum_exp(logits)
        probabilities = np.zeros_like(logits)
        probabilities[candidates.left["id"]] = candidates.left["p"]

        def with_probability(token_id: int) -> TokenLogprob:
            text = self._vocabulary.written_piece(token_id)
            logprob = float(logits[token_id]) - normaliser
            is_control = not self._vocabulary.token_piece(token_id)
            return TokenLogprob(token_id, text, logprob, float(probabilities[token_id]), is_control)

        likeliest = tuple(with_probability(token_id) for token_id in _highest(logits, num_logprobs))
        return SampledToken(with_probability(candidates.selected), likeliest)

    def close(self) -> None:
        self._chain.close()
        if self._grammar:
            self._grammar.close()

    # One logit that is no number takes the probability of all others, so that any token may be chosen.

    def _context(self, row: int) -> object:
        looks_at_all, self._has_sampled = not self._has_sampled, True
        return self._logits.checked_context(row, looks_at_all=looks_at_all)

    def _check_end(self, row: int, token_id: int) -> None:
        if self._vocabulary.is_end_of_generation(token_id):
            self._logits.checked_context(row, looks_at_all=True)

    def _draw(self, row: int) -> Candidates:
        """Choose and accept a token. Returns the candidates of the chain."""
        logits = self._logits[row]
        candidates = self._logits.candidates
        candidates.fill(logits)
        forced = self._forced()
        if forced is None:
            candidates.apply(self._chain.pointer)
        else:
            candidates.keep_only(forced)
        if self._grammar:
            self._grammar_time.begin()
            if forced is None and not self._fits(candidates.selected):
                self._draw_by_grammar(candidates, logits)
            # llama.cpp aborts the process when a grammar accepts a token that it does not allow.
            lib.llama_sampler_accept(self._grammar.pointer, candidates.selected)
            self._grammar_time.end()
        if self._is_greedy:
            candidates.keep_only(candidates.selected)
        lib.llama_sampler_accept(self._chain.pointer, candidates.selected)
        self._note(candidates.selected)
        return candidates

    # Reasoning, and triggers of a grammar outside of it.

    def _forced(self) -> int | None:
        """The token that ends the reasoning now, unless the grammar does not allow it."""
        forced = self._reasoning.forced_token if self._reasoning else None
        if forced is None or not self._grammar or self._fits(forced):
            return forced
        assert self._reasoning
        self._reasoning.give_up()
        return None

    def _note(self, token_id: int) -> None:
        """The token was chosen, and the grammar has accepted it if it holds already."""
        was_reasoning = self._reasoning is not None and self._reasoning.is_inside
        end = self._reasoning.accept(token_id) if self._reasoning else ()
        if self._triggers and not self._grammar:
            for seen in end if was_reasoning else (token_id,):  # a mark that ends it may be a trigger, too
                if found := self._triggers.add(seen, self._vocabulary.written_piece(seen)):
                    self._grammar = self._triggered(found)
                    return

    def _note_begun(self, token_id: int) -> None:
        """As `_note`, of a token that the caller wrote: behind a trigger it need not follow the grammar."""
        if self._triggers and self._grammar:
            if self._fits(token_id):
                lib.llama_sampler_accept(self._grammar.pointer, token_id)
            else:
                self._grammar.close()
                self._grammar = None
        self._note(token_id)

    def _triggered(self, found: FoundTrigger) -> Native | None:
        """The grammar behind the trigger. None: what was found goes on against it, so it is no trigger."""
        assert self._triggers
        self._triggers.forget()
        try:
            before = found.before.decode()
        except UnicodeDecodeError:
            return None
        entry = f"{TRIGGERED} ::= {_literal(before)} {ROOT}\n" if before else ""
        grammar = _new_grammar(
            self._vocabulary.vocab, entry + self._guide.grammar, TRIGGERED if before else ROOT
        )
        assert grammar
        for token_id in found.token_ids:
            if not _fits(grammar, token_id):
                grammar.close()
                return None
            lib.llama_sampler_accept(grammar.pointer, token_id)
        return grammar

    def _ends_character(self, token_id: int) -> bool:
        try:
            self._vocabulary.token_piece(token_id).decode()
        except UnicodeDecodeError as error:
            return error.reason != "unexpected end of data"
        return True

    def _follow(self, token_ids: Sequence[int]) -> None:
        """Advance the grammar over the beginning of the answer. Closes the sampler if that fails."""
        if not self._grammar or not token_ids:
            return
        self._grammar_time.begin()
        try:
            for token_id in token_ids:
                if not self._fits(token_id):  # accepting it would abort the process
                    raise InvalidRequestError(
                        "The answer's beginning does not follow the grammar. Correct one of them."
                    )
                lib.llama_sampler_accept(self._grammar.pointer, token_id)
                self._grammar_time.check(said("the beginning of the answer"))
        except RequestError:
            self.close()
            raise

    def _fits(self, token_id: int) -> bool:
        assert self._grammar
        return _fits(self._grammar, token_id)

    def _draw_by_grammar(self, candidates: Candidates, logits: npt.NDArray[np.float32]) -> None:
        assert self._grammar
        candidates.fill(logits)
        for _ in candidates.apply_in_parts(self._grammar.pointer, TOKENS_AT_ONCE):
            self._grammar_time.check()
        allowed = candidates.left["logit"] != -np.inf
        can_end = [token_id for token_id in self._unwanted_ends if allowed[token_id]]
        allowed[self._banned_tokens] = False
        if can_end and not allowed.any():  # the grammar is complete: nothing may follow
            candidates.keep_only(can_end[0])
            return
        if not allowed.any():
            raise GrammarError(
                said(
                    "The grammar allows none of this model's tokens at this point. Correct the grammar, "
                    "or remove it."
                )
            )
        candidates.apply(self._chain.pointer)
        if not allowed[candidates.selected]:  # penalties can leave nothing of the few that are allowed
            candidates.keep_only(int(np.where(allowed, logits, -np.inf).argmax()))


class _GrammarTime:
    """What the grammar of one answer computes, by this thread's clock: a busy machine is not its fault.

    What can be read in many ways takes longer with every character.
    """

    def __init__(self, is_interrupted: Callable[[], bool]) -> None:
        self._is_interrupted = is_interrupted
        self._started = self._seconds = 0.0
        self._num_tokens = 0

    def begin(self) -> None:
        """Of one token, or of the beginning of the answer."""
        self._started = time.thread_time()

    def check(self, what: str = said("one token")) -> float:
        """The seconds since it began. Raises GrammarError and SamplingInterruptedError."""
        seconds = time.thread_time() - self._started
        if self._is_interrupted():
            raise SamplingInterruptedError
        if seconds > MAX_GRAMMAR_S:
            raise _too_slow(seconds, what)
        return seconds

    def end(self) -> None:
        """Of one token. Raises GrammarError and SamplingInterruptedError."""
        self._seconds += self.check()
        self._num_tokens += 1
        if self._seconds > GRAMMAR_START_S + GRAMMAR_S_PER_TOKEN * self._num_tokens:
            raise _too_slow(self._seconds, said("{number:,} tokens", number=self._num_tokens))


def _too_slow(seconds: float, what: str) -> GrammarError:
    return GrammarError(
        said(
            "The grammar took {seconds:.1f} seconds for {what}: it is too ambiguous. Simplify it, or "
            "remove it.",
            seconds=seconds,
            what=what,
        )
    )


def grammar_of(params: SamplingParams) -> str:
    """The grammar of the caller, or empty. Raises InvalidRequestError. Any thread; cached."""
    if params.grammar:
        check_grammar(params.grammar)
    return params.grammar


def _new_grammar(vocab: object, grammar: str, root: str = ROOT) -> Native | None:
    if not grammar:
        return None
    pointer = lib.llama_sampler_init_grammar(vocab, grammar.encode(), root.encode())
    if not pointer:
        raise InvalidRequestError(
            said(
                "llama.cpp rejected the grammar, most likely because it repeats something that may be "
                "empty. Correct it, or remove it."
            )
        )
    return Native("grammar", pointer, lib.llama_sampler_free)


def _fits(grammar: Native, token_id: int) -> bool:
    one = lib.llama_token_data(id=token_id, logit=1.0, p=0.0)
    array = lib.llama_token_data_array(data=ctypes.pointer(one), size=1, selected=-1, sorted=False)
    lib.llama_sampler_apply(grammar.pointer, ctypes.byref(array))
    return bool(one.logit == 1.0)


def _literal(text: str) -> str:
    return '"' + "".join(f"\\U{ord(character):08x}" for character in text) + '"'


def _highest(logits: npt.NDArray[np.float32], number: int) -> list[int]:
    number = min(number, len(logits))
    token_ids = np.argpartition(logits, -number)[-number:]
    return [int(token_id) for token_id in token_ids[np.argsort(-logits[token_ids], kind="stable")]]


def _log_sum_exp(logits: npt.NDArray[np.float32]) -> float:
    peak = logits.max()
    return float(peak) + float(np.log(np.exp(logits - peak).sum(dtype=np.float64)))


def _samplers(params: SamplingParams, vocabulary: Vocabulary) -> Iterator[object]:
    """The chain, in order; it always ends with one that selects a token."""
    yield from _samplers_of_logits(params, vocabulary)
    if params.is_greedy:
        yield lib.llama_sampler_init_greedy()
    elif params.mirostat:
        yield from _mirostat(params, vocabulary.n_vocab)
    else:
        yield from _samplers_that_cut(params, vocabulary.n_vocab)
        yield _temperature(params)
        yield lib.llama_sampler_init_dist(_seed(params))


def _unwanted_ends(params: SamplingParams, vocabulary: Vocabulary) -> frozenset[int]:
    return vocabulary.end_tokens if params.ignore_eos else frozenset()


def _samplers_of_logits(params: SamplingParams, vocabulary: Vocabulary) -> Iterator[object]:
    logit_bias = dict(params.logit_bias) | dict.fromkeys(_unwanted_ends(params, vocabulary), NEVER)
    if logit_bias:
        biases = (lib.llama_logit_bias * len(logit_bias))(*logit_bias.items())
        yield lib.llama_sampler_init_logit_bias(vocabulary.n_vocab, len(biases), biases)
    if (params.repeat_penalty, params.frequency_penalty, params.presence_penalty) != (1.0, 0.0, 0.0):
        yield lib.llama_sampler_init_penalties(
            vocabulary.n_vocab,
            params.penalty_last_n,
            params.repeat_penalty,
            params.frequency_penalty,
            params.presence_penalty,
        )
    if params.dry_multiplier > 0.0:
        breakers = [text.encode() for text in params.dry_sequence_breakers]
        yield lib.llama_sampler_init_dry(
            vocabulary.vocab,
            params.dry_multiplier,
            params.dry_base,
            params.dry_allowed_length,
            params.dry_penalty_last_n,
            (ctypes.c_char_p * len(breakers))(*breakers),
            len(breakers),
        )


def _samplers_that_cut(params: SamplingParams, n_vocab: int) -> Iterator[object]:
    min_keep = max(params.min_keep, 1)
    if params.top_n_sigma > 0.0:
        yield lib.llama_sampler_init_top_n_sigma(params.top_n_sigma)
    has_xtc = params.xtc_probability > 0.0 and params.xtc_threshold <= 0.5
    needs_order = params.typical_p < 1.0 or params.top_p < 1.0 or params.min_p > 0.0 or has_xtc
    if params.top_k or needs_order or params.dynatemp_range > 0.0:
        yield lib.llama_sampler_init_top_k(min(params.top_k or FULL_TOP_K, n_vocab))
    if params.typical_p < 1.0:
        # Typical-p takes the logarithm of each probability, and with one zero does nothing at all.
        yield lib.llama_sampler_init_min_p(IMPOSSIBLE_P, 1)
        yield lib.llama_sampler_init_typical(params.typical_p, min_keep)
    if params.top_p < 1.0:
        yield lib.llama_sampler_init_top_p(params.top_p, min_keep)
    if params.min_p > 0.0:
        yield lib.llama_sampler_init_min_p(params.min_p, min_keep)
    if has_xtc:
        yield lib.llama_sampler_init_xtc(
            params.xtc_probability, params.xtc_threshold, params.min_keep, _seed(params)
        )


def _temperature(params: SamplingParams) -> object:
    # At a temperature of 0 in between, the quotients of dynamic temperature overflow.
    delta = min(params.dynatemp_range, params.temperature - GREEDY_BELOW)
    return lib.llama_sampler_init_temp_ext(params.temperature, delta, params.dynatemp_exponent)


def _mirostat(params: SamplingParams, n_vocab: int) -> Iterator[object]:
    yield lib.llama_sampler_init_top_k(min(FULL_TOP_K, n_vocab))
    yield lib.llama_sampler_init_min_p(IMPOSSIBLE_P, 1)  # it takes logarithms, too
    yield lib.llama_sampler_init_temp(params.temperature)
    if params.mirostat == 1:
        yield lib.llama_sampler_init_mirostat(
            n_vocab, _seed(params), params.mirostat_tau, params.mirostat_eta, MIROSTAT_TOKENS
        )
    else:
        yield lib.llama_sampler_init_mirostat_v2(_seed(params), params.mirostat_tau, params.mirostat_eta)


def _seed(params: SamplingParams) -> int:
    return int(lib.LLAMA_DEFAULT_SEED) if params.seed is None else params.seed
