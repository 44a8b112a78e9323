"""Decodes bytes of unknown encoding. In the child process only."""

import codecs
import re

from app.attachments.refusal import Reason, RefusedError

_BOMS = (  # the longer ones first: two of them begin alike
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")  # not those that logs and terminals use
_MAX_CONTROL_SHARE = 0.01
_SAMPLE_BYTES = 256 << 10  # the encoding is guessed from these


def text_of(data: bytes) -> str:
    """Raises RefusedError for what is no text."""
    for bom, encoding in _BOMS:
        if data.startswith(bom):
            return data.decode(encoding, "replace")
    sample = data[:_SAMPLE_BYTES]
    if b"\0" in data or len(_CONTROL.findall(sample)) > _MAX_CONTROL_SHARE * len(sample):
        raise RefusedError(Reason.BINARY)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode(_guessed_encoding(data), "replace")


def _guessed_encoding(data: bytes) -> str:
    from charset_normalizer import from_bytes

    sample = data[:_SAMPLE_BYTES]
    if len(data) > _SAMPLE_BYTES:
        sample = sample[: sample.rfind(b"\n") + 1] or sample  # not in the middle of a character
    best = from_bytes(sample).best()
    return best.encoding if best else "cp1252"
