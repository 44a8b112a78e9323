"""Decodes bytes of unknown encoding. In the child process only."""

import codecs
import re
from collections import Counter

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

_HEAD_BYTES = 1024
_MIN_SHARE = 0.9  # of words that are as a language has them
_MAX_SHARE_OF_LETTERS = 0.7  # that are beyond ASCII, in Latin script
_WESTERN = [
    frozenset(letters)
    for letters in (
        *("àâäçèéêëîïñóôöü", "àâæçèéêëîïôœùûüÿ", "äöüß", "áéíñóúüªº", "àèéìíîòóùúªº", "áâãàçéêíóôõúªº"),
        *("åæéòóôø", "åäéöü", "áæðéíóöúýþ", "áèéëïóöü", "àçèéíïòóúü·"),
    )
]
_CENTRAL = [
    frozenset(letters)
    for letters in (
        *("áčďéěíňóřšťúůýž", "áäčďéíĺľňóôŕšťúýž", "ąćęłńóśźż", "áéíóöőúüű", "ćčđšž", "ăâîşţ", "äöüßé"),
    )
]
_TURKISH = [frozenset("çğıöşüâîû\N{COMBINING DOT ABOVE}")]  # the last in a small İ
_BALTIC = [frozenset(letters) for letters in ("ąčęėįšųūž", "āčēģīķļņšūž", "äõöüšž")]
_LATIN = {
    "cp1252": _WESTERN,
    "cp1250": _CENTRAL,
    "iso8859_2": _CENTRAL,
    "cp1254": _TURKISH,
    "cp1257": _BALTIC,
    "cp850": _WESTERN,
}
_OTHERS = (
    *("cp1251", "koi8_r", "cp866", "cp1253", "cp1255", "cp1256", "cp874"),
    *("cp932", "euc_jp", "iso2022_jp", "gb18030", "big5", "cp949"),
)
_C1 = re.compile("[\x80-\x84\x86-\x9f]")  # controls that no text has
_DECLARED = re.compile(rb"""(?:charset|encoding)\s*=\s*["']?([\w.:-]{1,40})""")  # of HTML and XML
_WIDER = {  # what is meant by the name of a smaller one
    "iso8859-1": "cp1252",
    "ascii": "cp1252",
    "iso8859-9": "cp1254",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
}
# With the marks between its letters that a wrong code page makes, but not those that may join two words.
_WORD = re.compile(r"[^\W\d_²³¹½¼¾µ]+(?:(?:[^\x00-\x7f\w\s‘’–—·…\xad]|[²³¹½¼¾µ])+[^\W\d_²³¹½¼¾µ]+)*")


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
        return data.decode(_declared_encoding(data) or guessed_encoding(data), "replace")


def _declared_encoding(data: bytes) -> str:
    """That of a page which is as it says, else ""."""
    found = _DECLARED.search(data, 0, _HEAD_BYTES) if data.lstrip()[:1] == b"<" else None
    try:
        name = codecs.lookup(found[1].decode("ascii", "replace")).name if found else ""
        name = _WIDER.get(name, name)
        data.decode(name or "ascii")
    except (LookupError, UnicodeDecodeError):
        return ""
    return name


def guessed_encoding(data: bytes) -> str:
    sample = data[:_SAMPLE_BYTES]
    if len(data) > _SAMPLE_BYTES:
        sample = sample[: sample.rfind(b"\n") + 1] or sample  # not in the middle of a character
    fits: dict[str, float] = {}
    for mixes_languages in (False, True):
        fits = {encoding: _share_of_words(sample, encoding, mixes_languages) for encoding in _LATIN}
        latin = max(fits, key=lambda encoding: fits[encoding])  # the first of equal ones
        if fits[latin] >= _MIN_SHARE:
            return latin
    from charset_normalizer import from_bytes

    best = from_bytes(sample, cp_isolation=[*_OTHERS, *_LATIN]).best()
    return best.encoding if best and not (best.encoding in _LATIN and fits[latin]) else latin


def _share_of_words(sample: bytes, encoding: str, mixes_languages: bool) -> float:
    """The share of words beyond ASCII whose letters one language has, or any. 0 if it is no Latin text.

    Statistics of letters tell scripts apart, but not code pages of one script that differ in a few letters.
    """
    try:
        text = sample.decode(encoding)
    except UnicodeDecodeError:
        return 0.0
    if _C1.search(text):
        return 0.0
    words = [word for word in _WORD.findall(text) if not word.isascii()]
    letters = Counter(
        frozenset(letter for letter in word.lower() if letter > "\x7f") for word in words if _mixes(word)
    )
    num_beyond = sum(letter > "\x7f" for word in words for letter in word)
    if num_beyond > _MAX_SHARE_OF_LETTERS * sum(map(str.isalpha, text)):
        return 0.0
    languages = [_LATIN[encoding]] if mixes_languages else [[known] for known in _LATIN[encoding]]
    fitting = (sum(n for used, n in letters.items() if any(map(used.issubset, known))) for known in languages)
    return max(fitting) / len(words) if words else 1.0


def _mixes(word: str) -> bool:
    """No word of two letters and more is without one of ASCII."""
    return len(word) == 1 or any(letter <= "\x7f" for letter in word)
