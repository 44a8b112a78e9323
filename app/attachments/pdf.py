"""The text of a PDF. In the child process only."""

from io import BytesIO

from app.attachments.collected import CollectedText
from app.attachments.refusal import Reason, RefusedError


def text_of(file: BytesIO) -> str:
    """Raises RefusedError, and pypdf's errors for a broken file."""
    from pypdf import PdfReader, filters
    from pypdf.errors import DependencyError

    filters.JBIG2DEC_BINARY = None  # it would start another program
    reader = PdfReader(file)
    collected = CollectedText()
    try:
        if reader.is_encrypted and not reader.decrypt(""):
            raise RefusedError(Reason.PASSWORD)
        failures: list[Exception] = []
        for number, page in enumerate(reader.pages, 1):
            try:
                text = page.extract_text().strip()
            except (DependencyError, MemoryError):
                raise
            except Exception as error:  # pypdf raises anything on a broken page
                failures.append(error)
                text = f"[unreadable page {number}]"
            collected.add(text, "\n\n")
    except DependencyError as error:  # a cipher that pypdf alone cannot do
        raise RefusedError(Reason.PASSWORD) from error
    if failures and len(failures) == len(reader.pages):
        raise failures[0]
    return collected.text
