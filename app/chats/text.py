"""Cleans text from outside before it becomes part of a chat."""


def valid_unicode(text: str) -> str:
    """A paste may hold half a surrogate pair, which neither the tokenizer nor the database can encode."""
    if text.isascii():  # known without looking
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode("utf-8")
    return text
