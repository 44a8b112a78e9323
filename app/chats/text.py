"""What is done to text from outside before it becomes part of a chat."""


def valid_unicode(text: str) -> str:
    """A paste may hold half a surrogate pair, which neither the tokenizer nor the database can encode."""
    return text.encode("utf-8", "replace").decode("utf-8") if _has_surrogates(text) else text


def _has_surrogates(text: str) -> bool:
    return any("\ud800" <= char <= "\udfff" for char in text)
