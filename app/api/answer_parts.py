"""The parts that answers of several endpoints share: usage, timings and log probabilities."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from app.api.errors import ApiError, invalid, unavailable
from app.protocol.output import FinishReason, Output, SampledToken, TokenLogprob, Usage

if TYPE_CHECKING:
    from app.api.engine_client import EngineClient


LEAST_LOGPROB = -3.4028234663852886e38  # JSON has no infinity; llama-server writes this for it


def usage_json(usages: Sequence[Usage], num_copies: int = 1) -> dict[str, Any]:
    """The usage of all answers to a request: `num_copies` to each prompt, which is counted once."""
    prompts = usages[::num_copies]
    num_prompt_tokens = sum(usage.num_prompt_tokens for usage in prompts)
    num_completion_tokens = sum(usage.num_generated_tokens for usage in usages)
    details = {"cached_tokens": sum(usage.num_cached_tokens for usage in prompts)}
    if num_from_checkpoints := sum(usage.num_checkpoint_tokens for usage in prompts):
        details["checkpoint_tokens"] = num_from_checkpoints
    return {
        "completion_tokens": num_completion_tokens,
        "prompt_tokens": num_prompt_tokens,
        "total_tokens": num_prompt_tokens + num_completion_tokens,
        "prompt_tokens_details": details,
    }


def timings_json(usage: Usage) -> dict[str, Any]:
    """llama-server's figures. The first token belongs to the prompt's time."""
    num_computed = usage.num_computed_prompt_tokens
    num_decoded = max(usage.num_generated_tokens - 1, 0)
    return {
        "cache_n": usage.num_cached_tokens,
        **_timing("prompt", num_computed, num_computed, usage.prompt_s),
        **_timing("predicted", usage.num_generated_tokens, num_decoded, usage.decode_s),
        **_drafts(usage),
    }


def _drafts(usage: Usage) -> dict[str, int]:
    """llama-server leaves both out where nothing was drafted."""
    if not usage.num_drafted_tokens:
        return {}
    return {"draft_n": usage.num_drafted_tokens, "draft_n_accepted": usage.num_kept_tokens}


def _timing(name: str, count: int, num_timed: int, seconds: float) -> dict[str, Any]:
    return {
        f"{name}_n": count,
        f"{name}_ms": seconds * 1000,
        f"{name}_per_token_ms": seconds * 1000 / num_timed if num_timed else 0.0,
        f"{name}_per_second": num_timed / seconds if seconds > 0 else 0.0,
    }


def logprobs_json(tokens: Sequence[SampledToken], num_top: int) -> list[dict[str, Any]]:
    """With so many of the likeliest tokens, which may be fewer than the engine reported."""
    return [
        {
            **_logprob_json(token.chosen),
            "top_logprobs": [_logprob_json(other) for other in token.likeliest[:num_top]],
        }
        for token in tokens
    ]


def probabilities_json(tokens: Sequence[SampledToken], num_top: int) -> list[dict[str, Any]]:
    """Probabilities after sampling. Tokens that a sampler ruled out are not listed."""
    listed = []
    for token in tokens:
        drawable = [other for other in token.likeliest if other.probability > 0]
        drawable.sort(key=lambda other: other.probability, reverse=True)
        top = [_probability_json(other) for other in drawable[:num_top]]
        listed.append({**_probability_json(token.chosen), "top_probs": top})
    return listed


def _probability_json(token: TokenLogprob) -> dict[str, Any]:
    return {**_token_json(token), "prob": token.probability}


def _logprob_json(token: TokenLogprob) -> dict[str, Any]:
    return {**_token_json(token), "logprob": max(token.logprob, LEAST_LOGPROB)}


def _token_json(token: TokenLogprob) -> dict[str, Any]:
    return {
        "id": token.token_id,
        "token": token.text.decode("utf-8", "replace"),
        "bytes": list(token.text),
    }


def warnings_json(*warnings: Iterable[str]) -> dict[str, list[str]]:
    """What goes beside the answer: warnings about the request, what was asked of the answer, and its end."""
    listed = [str(one) for some in warnings for one in some]
    return {"warnings": listed} if listed else {}


def error_of(output: Output, client: EngineClient) -> ApiError | None:
    """The error to return if the engine gave no answer."""
    if output.finish_reason is FinishReason.ABORT:
        return unavailable(output.notice or "The answer was stopped in Skein.")
    if output.finish_reason is not FinishReason.ERROR:
        return None
    if not output.is_refused:
        return ApiError(500, output.notice)
    if output.found_no_room:
        return no_room(output.usage.num_prompt_tokens, client.model.max_sequence_tokens)
    return invalid(output.notice)


def no_room(num_tokens: int, n_ctx: int, why: str = "") -> ApiError:
    """The notice of the output is advice for the window. The first words are llama-server's.

    `why` nothing was done about it.
    """
    return ApiError(
        400,
        f"The request exceeds the available context size: it needs {num_tokens:,} tokens, and the context "
        f"holds {n_ctx:,}. Send less, or load the model with a larger context (--ctx). {why}".rstrip(),
        "exceed_context_size_error",
        code="context_length_exceeded",
        n_prompt_tokens=num_tokens,
        n_ctx=n_ctx,
    )
