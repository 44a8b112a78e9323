"""Prompts for what is missing between two texts, of whatever protocol."""

from __future__ import annotations

from app.api.engine_client import EngineClient
from app.api.errors import invalid
from app.engine.prompts.infill import Gap, infill_tokens

NO_FIM_TOKENS = (
    "Infill is not supported by this model: its vocabulary has no tokens for a gap and the text around it. "
    "Load a code model that was trained to fill gaps."
)


async def gap_tokens(client: EngineClient, gap: Gap, max_tokens: int | None) -> tuple[int, ...]:
    """The prompt for `gap`, beside which `max_tokens` have room. Raises ApiError and InvalidRequestError."""
    model = client.model
    if not model.fim.can_fill:
        raise invalid(NO_FIM_TOKENS)
    longest = model.max_sequence_tokens
    wanted = client.defaults.max_tokens if max_tokens is None else max_tokens
    room = longest - min(longest if wanted is None else wanted, longest // 4) - 1
    return await client.use_prompts(lambda prompts: infill_tokens(prompts, model.fim, gap, room))
