"""Sentences about why a request computed what it did. Pure functions."""

from app.look.figures import count, percent, seconds, tokens
from app.look.words import mark, tr
from app.protocol.model import ModelInfo
from app.protocol.output import PrefixEnd
from app.protocol.report import Lease

HEADS = {
    PrefixEnd.NEW_CHAT: mark("A new chat"),
    PrefixEnd.NEW_TEXT: mark("Only new text was computed"),
    PrefixEnd.EDITED: mark("An earlier message was edited"),
    PrefixEnd.TEMPLATE: mark("The chat template rewrote the history"),
    PrefixEnd.DROPPED: mark("Turns were left out"),
    PrefixEnd.NO_ROLLBACK: mark("The model cannot remove a tail"),
    PrefixEnd.CHECKPOINT: mark("Went back to a checkpoint"),
    PrefixEnd.EVICTED: mark("Its cells were evicted"),
    PrefixEnd.DOUBTED: mark("The saved state failed its checks"),
}
# The same, short.
REASONS = {
    PrefixEnd.NEW_CHAT: mark("new chat"),
    PrefixEnd.NEW_TEXT: mark("new text"),
    PrefixEnd.EDITED: mark("edited message"),
    PrefixEnd.TEMPLATE: mark("template changed the history"),
    PrefixEnd.DROPPED: mark("turns left out"),
    PrefixEnd.NO_ROLLBACK: mark("model cannot remove a tail"),
    PrefixEnd.CHECKPOINT: mark("went back to a checkpoint"),
    PrefixEnd.EVICTED: mark("evicted"),
    PrefixEnd.DOUBTED: mark("saved state failed its checks"),
}


def num_prompt_tokens(lease: Lease) -> int:
    return num_had(lease) + lease.num_tokens_to_compute


def num_had(lease: Lease) -> int:
    """Tokens that needed no computing."""
    return lease.num_reused_tokens + lease.num_shared_tokens + lease.num_restored_tokens


def share_text(lease: Lease) -> str:
    return percent(num_had(lease), num_prompt_tokens(lease))


def what_happened(lease: Lease, model: ModelInfo | None) -> str:
    match lease.prefix_end:
        case PrefixEnd.NEW_CHAT:
            if lease.num_shared_tokens:
                return tr("Nothing of this chat was cached, but another chat begins the same way.")
            return tr("Nothing of this chat was cached, and no other chat begins the same way.")
        case PrefixEnd.NEW_TEXT:
            return tr("Everything cached is part of the prompt; only the new text after it was computed.")
        case PrefixEnd.EDITED:
            return tr(
                "The prompt differs from the cached one after {tokens}, so everything after that was "
                "recomputed.",
                tokens=tokens(lease.num_common_tokens),
            )
        case PrefixEnd.TEMPLATE:
            return tr(
                "The messages are the same, but the chat template renders them differently: the prompts "
                "differ after {tokens}.",
                tokens=tokens(lease.num_common_tokens),
            )
        case PrefixEnd.DROPPED:
            return tr(
                "The chat no longer fits its context, so turns after the first {tokens} were left out.",
                tokens=tokens(lease.num_common_tokens),
            )
        case PrefixEnd.NO_ROLLBACK:
            return tr(
                "The first {tokens} are the same, but {memory} cannot be cut back to them.",
                tokens=tokens(lease.num_common_tokens),
                memory=_memory(model),
            )
        case PrefixEnd.CHECKPOINT:
            return tr(
                "The first {tokens} are the same, but {memory} can be cut back to checkpoints only, and the "
                "nearest is after {kept}.",
                tokens=tokens(lease.num_common_tokens),
                memory=_memory(model),
                kept=tokens(num_had(lease)),
            )
        case PrefixEnd.EVICTED:
            return tr("Other chats needed its cells, and its state was not saved.")
        case PrefixEnd.DOUBTED:
            return tr("Its saved state failed its checks and was not used.")


def what_to_do(lease: Lease, model: ModelInfo | None) -> str:
    match lease.prefix_end:
        case PrefixEnd.EDITED:
            return tr("Fork the chat before editing it: both versions then keep their cells.")
        case PrefixEnd.TEMPLATE:
            return tr(
                "Nothing is wrong with the chat. A chat template that leaves earlier turns unchanged "
                "avoids this."
            )
        case PrefixEnd.DROPPED:
            return tr(
                "A larger context (Context settings, --ctx) or a higher limit for this chat delays this."
            )
        case PrefixEnd.NO_ROLLBACK if not (model and model.takes_checkpoints):
            return tr(
                "Continue at the end of such a chat: editing or forking it recomputes the whole prompt."
            )
        case PrefixEnd.EVICTED:
            return tr("Pin the chat, or use a larger context (Context settings, --ctx).")
        case PrefixEnd.DOUBTED:
            return tr("Nothing to do: the answer is right, it only took longer.")
        case _:
            return tr("Nothing to do.")


def what_it_cost(lease: Lease, prompt_s: float) -> str:
    """`prompt_s` 0: not known, or not over."""
    computed = count(lease.num_tokens_to_compute)
    if had := num_had(lease):
        computed = tr("{part} of {whole}", part=computed, whole=count(num_prompt_tokens(lease)))
    if not prompt_s:
        return tr("{computed} prompt tokens computed.", computed=computed)
    text = tr("{computed} prompt tokens computed in {time}.", computed=computed, time=seconds(prompt_s))
    if not lease.is_from_checkpoint or not lease.num_tokens_to_compute:
        return text
    saved_s = prompt_s * had / lease.num_tokens_to_compute
    return " ".join(
        (text, tr("A checkpoint saved {tokens}, about {time}.", tokens=tokens(had), time=seconds(saved_s)))
    )


def _memory(model: ModelInfo | None) -> str:
    if model and model.n_swa:
        return tr("the memory of a model with a sliding window")
    return tr("the running state of a recurrent model") if model else tr("this model's memory")
