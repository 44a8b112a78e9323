"""Why a request had to compute what it computed, in sentences. Pure functions."""

from __future__ import annotations

from app.engine.types import Lease, ModelInfo, PrefixEnd
from app.look.figures import count, percent, seconds

HEADS = {
    PrefixEnd.NEW_CHAT: "A new chat",
    PrefixEnd.NEW_TEXT: "Only new text",
    PrefixEnd.EDITED: "An earlier message was edited",
    PrefixEnd.TEMPLATE: "The chat template rewrote the history",
    PrefixEnd.DROPPED: "Turns were left out",
    PrefixEnd.NO_ROLLBACK: "The model cannot go back",
    PrefixEnd.EVICTED: "Its cells were given away",
    PrefixEnd.DOUBTED: "The saved state was in doubt",
}


def num_prompt_tokens(lease: Lease) -> int:
    return num_had(lease) + lease.num_tokens_to_compute


def num_had(lease: Lease) -> int:
    """Tokens that were there already."""
    return lease.num_reused_tokens + lease.num_shared_tokens + lease.num_restored_tokens


def share_text(lease: Lease) -> str:
    return percent(num_had(lease), num_prompt_tokens(lease))


def what_happened(lease: Lease, model: ModelInfo | None) -> str:
    match lease.prefix_end:
        case PrefixEnd.NEW_CHAT:
            if lease.num_shared_tokens:
                return "Nothing of this chat was computed before, but another chat begins the same way."
            return "Nothing of this chat was computed before, and no other chat begins the same way."
        case PrefixEnd.NEW_TEXT:
            return "All that was held is part of the prompt; only what is new behind it was computed."
        case PrefixEnd.EDITED:
            return (
                f"The prompt differs from what was held after {_tokens(lease.num_common_tokens)}, "
                "so everything behind that point was computed again."
            )
        case PrefixEnd.TEMPLATE:
            return (
                "The messages are the same, but the chat template writes them differently than before: "
                f"the two part after {_tokens(lease.num_common_tokens)}."
            )
        case PrefixEnd.DROPPED:
            return (
                "The chat no longer fits its context, so turns were left out "
                f"behind the first {_tokens(lease.num_common_tokens)}."
            )
        case PrefixEnd.NO_ROLLBACK:
            return (
                f"The first {_tokens(lease.num_common_tokens)} are the same, but {_memory(model)} cannot be "
                "cut back to them."
            )
        case PrefixEnd.EVICTED:
            return "Its cells were needed by other chats, and its state was not kept."
        case PrefixEnd.DOUBTED:
            return "A saved state was there, but it did not pass its checks, so it was not used."


def what_to_do(lease: Lease) -> str:
    match lease.prefix_end:
        case PrefixEnd.EDITED:
            return "Fork the chat before you edit it, and both versions keep their cells."
        case PrefixEnd.TEMPLATE:
            return "Nothing is wrong with the chat; a template that keeps its history as it was avoids it."
        case PrefixEnd.DROPPED:
            return "A larger context (Engine settings, --ctx) or a higher cap for this chat puts that off."
        case PrefixEnd.NO_ROLLBACK:
            return "Go on at the end of such a chat: editing, forking and branching cost the whole prompt."
        case PrefixEnd.EVICTED:
            return "Pin the chat, or choose a larger context (Engine settings, --ctx)."
        case PrefixEnd.DOUBTED:
            return "Nothing: the answer is right, it only took longer."
        case _:
            return "Nothing needs to be done."


def what_it_cost(lease: Lease, prompt_s: float) -> str:
    """`prompt_s` 0: not known, or not over."""
    took = f" in {seconds(prompt_s)}" if prompt_s else ""
    of = f" of {count(num_prompt_tokens(lease))}" if num_had(lease) else ""
    return f"{count(lease.num_tokens_to_compute)}{of} prompt tokens computed{took}."


def _tokens(number: int) -> str:
    return "1 token" if number == 1 else f"{count(number)} tokens"


def _memory(model: ModelInfo | None) -> str:
    if model and model.n_swa:
        return "the memory of a model with a sliding window"
    return "the running state of a recurrent model" if model else "this model's memory"
