"""Translation of all texts on the screen. GUI thread.

Texts are in the code in English, as arguments of `tr`, `tr_n`, `mark`, a command's `Words` or a `Column`:
`packaging/translations` collects them from there for Qt Linguist. One context holds them all, so the same
word is translated once.
"""

from PySide6.QtCore import QCoreApplication, QLocale

from app.system.said import Said, together

CONTEXT = "skein"
_ENGLISH = QLocale(QLocale.Language.English)


def tr(text: str, /, **values: object) -> str:
    """`text` in the user's language, with `{name}` replaced by the value of that name.

    Call it when the text is shown, never while a module is imported: no language is chosen yet then.
    """
    translated = QCoreApplication.translate(CONTEXT, text)
    return _fill(translated, text, values) if values else translated


def tr_n(one: str, many: str, n: int, /, **values: object) -> str:
    """A text with a count: `tr_n("{n} turn", "{n} turns", n)`, with `n` written as the language does.

    English has two forms; a translation has as many as its language needs, in Linguist under the text `many`.
    """
    english = one if n == 1 else many
    translated = QCoreApplication.translate(CONTEXT, many, None, n)
    is_translated = translated != many
    return _fill(translated if is_translated else english, english, {"n": locale().toString(n), **values})


def _fill(translated: str, text: str, values: dict[str, object]) -> str:
    """A wrong field in a translation must not raise."""
    try:
        return translated.format(**values)
    except (LookupError, ValueError):
        return text.format(**values)


def tr_said(text: str) -> str:
    """Translates a text made by `said` in Qt-free code. Any other, such as a system message, stays."""
    if not isinstance(text, Said):
        return tr(text)
    return tr(text.template, **{name: _value(value) for name, value in text.values.items()})


def _value(value: object) -> object:
    return tr_said(value) if isinstance(value, Said) else value


def sentences(*texts: str) -> str:
    """Joins the non-empty sentences."""
    whole = together(*texts)
    return tr_said(whole) if isinstance(whole, Said) else whole


def mark(text: str) -> str:
    """Returns the text unchanged: marks it for translation, with `tr` to be called when it is shown."""
    return text


def locale() -> QLocale:
    """The locale for numbers and dates. POSIX would not group thousands."""
    chosen = QLocale()
    return _ENGLISH if chosen.language() is QLocale.Language.C else chosen
