"""What is read on the screen, in the user's language. GUI thread.

Texts stand in the code in English, as arguments of `tr` or `mark`: `packaging/translations` collects them from
there for Qt Linguist. One context holds them all, so the same word is translated once.
"""

from PySide6.QtCore import QCoreApplication

CONTEXT = "skein"


def tr(text: str, **values: object) -> str:
    """`text` in the user's language, with `{name}` replaced by the value of that name.

    Call it when the text is shown, never while a module is imported: no language is chosen yet then.
    """
    translated = QCoreApplication.translate(CONTEXT, text)
    return translated.format(**values) if values else translated


def mark(text: str) -> str:
    """The same text: says that it stands in a table and `tr` will be given it when it is shown."""
    return text
