"""llama-server's form of an answer: one object for all of it, or one for each piece."""

from __future__ import annotations

from typing import Any

from aiohttp import web

from app.api import parameters
from app.api.answer_parts import logprobs_json, probabilities_json, timings_json
from app.api.answering import Whole
from app.api.engine_client import OpenAnswers
from app.api.state import client_of, model_name
from app.engine.prompts.prompt_builder import PromptBuilder
from app.protocol.model import ModelInfo
from app.protocol.output import SampledToken
from app.protocol.request import Request
from app.protocol.sampling import NEVER, SamplingParams

ANY_SEED = 2**32 - 1  # llama.cpp's "draw one"
NO_LIMIT = -1

# In the order in which they choose, by llama-server's names.
SAMPLERS = ("penalties", "dry", "top_n_sigma", "top_k", "typ_p", "top_p", "min_p", "xtc", "temperature")

# Fields that are called the same there and in SamplingParams.
SAME_NAMES = (*(name for name in parameters.SAME_NAMES if name != "grammar"), "top_k", "dry_penalty_last_n")


def sampling_json(sampling: SamplingParams, max_tokens: int | None) -> dict[str, Any]:
    """The sampling settings alone, without the caller's texts. Adaptive-p is off: Skein does not have it."""
    limit = NO_LIMIT if max_tokens is None else max_tokens
    return {
        "seed": ANY_SEED if sampling.seed is None else sampling.seed,
        **{name: getattr(sampling, name) for name in SAME_NAMES},
        "repeat_last_n": sampling.penalty_last_n,
        "adaptive_target": -1.0,
        "adaptive_decay": 0.9,
        "max_tokens": limit,
        "n_predict": limit,
        "samplers": list(SAMPLERS),
    }


def drafting_json(model: ModelInfo, asked: int | None = None) -> dict[str, Any]:
    """What drafts, by llama-server's names, and at most how many tokens in a step of one answer."""
    most = model.num_drafted_tokens if asked is None else min(asked, model.num_drafted_tokens)
    drafting = ["ngram-map-k"]
    if model.draft_model or model.has_heads:
        drafting.append("draft-simple" if model.draft_model else "draft-mtp")
    return {"speculative.types": ",".join(drafting) if most else "none", "speculative.n_max": most}


async def settings_json(request: web.Request, asked: Request) -> dict[str, Any]:
    """The settings an answer is generated with."""
    client = client_of(request)
    sampling = asked.sampling or client.sampling
    biases = dict(sampling.logit_bias)
    if sampling.ignore_eos:
        ends = await client.use_prompts(lambda prompts: prompts.end_tokens)
        biases |= dict.fromkeys(sorted(ends), NEVER)
    return {
        **sampling_json(sampling, asked.max_tokens),
        **drafting_json(client.model, asked.max_drafted_tokens),
        "dry_sequence_breakers": list(sampling.dry_sequence_breakers),
        "stop": list(asked.stop),
        "grammar": sampling.grammar,
        "json_schema": sampling.json_schema,
        # JSON has no infinity: null rules a token out.
        "logit_bias": [
            {"token": token_id, "bias": None if bias == NEVER else bias} for token_id, bias in biases.items()
        ],
    }


async def prompt_text(request: web.Request, asked: Request) -> str:
    """The whole prompt as it is computed, control tokens by their names."""

    def written(prompts: PromptBuilder) -> bytes:
        return b"".join(prompts.written(prompts.build(asked).text_tokens))

    return (await client_of(request).use_prompts(written)).decode("utf-8", "replace")


async def answer_json(request: web.Request, answers: OpenAnswers, index: int, whole: Whole) -> dict[str, Any]:
    """The body of an answer that has ended, with all of its `content` and `tokens`."""
    asked = answers.requests[index]
    usage = whole.usage
    return {
        "index": index,
        "content": whole.text,
        "tokens": whole.token_ids,
        "id_slot": answers.seq_ids.get(index, -1),
        "stop": True,
        "model": model_name(request),
        "tokens_predicted": usage.num_generated_tokens,
        "tokens_evaluated": usage.num_prompt_tokens,
        "generation_settings": await settings_json(request, asked),
        "prompt": await prompt_text(request, asked),
        "has_new_line": "\n" in whole.text,
        "truncated": whole.found_no_room,
        "stop_type": _stop_type(whole),
        "stopping_word": whole.stopping_word,
        "tokens_cached": usage.num_prompt_tokens + _num_computed(whole),
        "timings": timings_json(usage),
    }


def _num_computed(whole: Whole) -> int:
    """Tokens of the answer that have cells. Its last one has none, unless the model then chose to end it."""
    num_generated = whole.usage.num_generated_tokens
    return num_generated if _stop_type(whole) == "eos" else max(num_generated - 1, 0)


def _stop_type(whole: Whole) -> str:
    if whole.finish_reason == "length":
        return "limit"
    return "word" if whole.stopping_word else "eos"


def token_probabilities(
    tokens: list[SampledToken], num_top: int, after_sampling: bool
) -> list[dict[str, Any]]:
    return probabilities_json(tokens, num_top) if after_sampling else logprobs_json(tokens, num_top)
