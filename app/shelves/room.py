"""How much of a model's context shelves get. Pure functions of numbers of tokens."""

MAX_CHARS_PER_TOKEN = 12  # a shelf with more for each token of the context does not fit it: nobody counts
PIECE_CHARS = 32_000  # tokenized at once: some 10 ms
PASSAGE_TOKENS, MAX_PASSAGES = 300, 8  # about as long; of one message
PASSAGES_SHARE = 1 / 4  # of the context, for those of one message


def fits(num_tokens: int | None, room: int, max_share: int) -> bool:
    """Whether a shelf stands before chats. `max_share` is in percent; None: far too many."""
    return num_tokens is not None and num_tokens <= room * max_share // 100


def num_passages(room: int) -> int:
    """Of one message."""
    return max(1, min(MAX_PASSAGES, int(room * PASSAGES_SHARE) // PASSAGE_TOKENS))
