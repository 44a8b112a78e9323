"""Surface variation: the many ways in which people type one and the same question."""

import random
import re

BEFORE = (
    "Please: ",
    "Hey, ",
    "Hi, ",
    "Hello, ",
    "Hi! ",
    "Could you tell me: ",
    "Can you tell me: ",
    "Tell me: ",
    "Tell me, ",
    "Quick question: ",
    "I have a question. ",
    "Question: ",
    "A question: ",
    "I would like to know: ",
    "I'd like to know, ",
    "I was wondering: ",
    "Ok, ",
    "OK. ",
    "So, ",
    "Um, ",
    "Well, ",
    "And ",
    "Now ",
    "One more: ",
    "Next question: ",
    "Thanks. ",
    "Do you know: ",
    "I am new here. ",
    "As a beginner I ask: ",
    "Sorry, ",
    "Good morning. ",
    "By the way, ",
    "Another thing: ",
    "In Skein: ",
    "Help: ",
)
_AFTER = (
    " please",
    ", please",
    " thanks",
    " Thank you!",
    " in short",
    " In one sentence.",
    " briefly",
    " for a beginner",
    " again",
    " exactly",
    " I forgot.",
    " I am new to this.",
    " I can't find it.",
    " here",
    " then",
)

# Words of one line may stand for each other in every question.
_SYNONYMS = (
    (
        "how do i",
        "how can i",
        "how to",
        "how would i",
        "how should i",
        "how does one",
        "how might i",
    ),
    (
        "how do i",
        "what do i press to",
        "what do i do to",
        "what is the way to",
        "is there a way to",
    ),
    ("how can i", "tell me how to", "i want to", "can i", "by what means do i", "what lets me"),
    ("which key", "what key", "which keys", "which shortcut", "what shortcut", "what keystroke"),
    ("shortcut", "hotkey", "key combination", "keyboard shortcut", "keys"),
    (
        "what happens when",
        "what happens if",
        "what if",
        "what will happen when",
        "what is done when",
    ),
    ("what does", "what would", "what will"),
    ("what is the", "what's the", "which is the", "tell me the"),
    ("what is", "what's", "whats", "what was", "what would be", "say what is", "what do you call"),
    ("what are", "what're", "tell me what are", "which are", "what sort of thing are"),
    ("why", "for what reason", "how come", "why is it that"),
    ("explain", "describe", "define", "clarify", "help me understand"),
    ("tell me about", "what about", "talk about", "inform me about", "say something about"),
    ("used for", "good for", "needed for", "meant for", "there for"),
    ("close", "shut", "end"),
    ("closed", "shut", "ended"),
    ("begin", "start"),
    ("quit", "exit", "leave"),
    ("show", "display", "list"),
    ("see", "look at", "find", "watch"),
    ("chats", "conversations", "dialogues"),
    ("chat", "conversation", "dialogue"),
    ("answer", "reply", "response", "output"),
    ("answers", "replies", "responses"),
    ("message", "text", "question"),
    ("bigger", "larger"),
    ("big", "large"),
    ("stop", "halt", "interrupt", "cancel"),
    ("kept", "stored", "saved"),
    ("computer", "machine", "pc", "laptop"),
    ("program", "app", "application", "software"),
    ("fast", "quick"),
    ("faster", "quicker"),
    ("at the same time", "at once", "together", "in parallel", "simultaneously", "side by side"),
    ("several", "multiple", "many", "two", "more than one", "three"),
    ("need", "require", "want"),
    ("reopen", "restore", "bring back", "get back", "recover"),
    ("tell", "show", "give"),
    ("get", "obtain", "have"),
    ("use", "employ"),
    ("terminal", "shell", "command line", "console"),
    ("lost", "gone", "erased"),
    ("again", "once more", "a second time"),
    ("advantage", "benefit", "use", "point"),
    ("works", "functions"),
    ("different", "other"),
    ("choose", "pick", "select"),
    ("language model", "llm"),
    ("a", "one", "some"),
    ("the", "this", "that"),
    ("my", "the", "our"),
    ("does", "did"),
)
_LINES_OF = {phrase: [line for line in _SYNONYMS if phrase in line] for line in _SYNONYMS for phrase in line}
# Longer phrases first, so that "how do i" is found before "i".
_SYNONYM_PATTERN = re.compile(
    r"\b(" + "|".join(map(re.escape, sorted(_LINES_OF, key=len, reverse=True))) + r")\b",
    re.IGNORECASE,
)
_SPELLINGS = (("isation", "ization"), ("ise", "ize"), ("ising", "izing"), ("iser", "izer"))
_SMALL_WORDS = {
    "a", "an", "the", "is", "are", "do", "does", "of", "my", "i", "to", "in", "it", "this", "that", "me",
    "what", "for",
}  # fmt: skip


def vary(rng: random.Random, text: str) -> str:
    """The same question as another person might type it."""
    for _ in range(rng.choice((0, 0, 0, 1, 1, 2, 3))):
        text = _swap_synonym(rng, text)
    if rng.random() < 0.12:
        text = _drop_small_word(rng, text)
    if rng.random() < 0.07:
        text = _only_keywords(rng, text)
    if rng.random() < 0.15:
        text = _other_spelling(rng, text)
    if "+" in text and rng.random() < 0.35:
        text = text.replace("+", rng.choice(("-", " ", " + ")))
    if rng.random() < 0.08:
        text = _mistype(rng, text)
    return dress(rng, text)


def dress(rng: random.Random, text: str) -> str:
    """Only what stands around a question changes, and its case and last punctuation mark."""
    if rng.random() < 0.22:
        text = rng.choice(BEFORE) + text[:1].lower() + text[1:]
    if rng.random() < 0.10:
        text = text.rstrip("?.!") + rng.choice(_AFTER)
    return _punctuate(rng, _recase(rng, text))


def _swap_synonym(rng: random.Random, text: str) -> str:
    """Replaces one word or phrase by another of its line, if any line applies."""
    found = list(_SYNONYM_PATTERN.finditer(text))
    if not found:
        return text
    old = rng.choice(found)
    new = rng.choice(rng.choice(_LINES_OF[old[0].lower()]))
    swapped = text[: old.start()] + new + text[old.end() :]
    return swapped[:1].upper() + swapped[1:] if text[:1].isupper() else swapped


def _drop_small_word(rng: random.Random, text: str) -> str:
    words = text.split(" ")
    droppable = [i for i, word in enumerate(words) if word.lower() in _SMALL_WORDS]
    if not droppable or len(words) < 4:
        return text
    del words[rng.choice(droppable)]
    return " ".join(words)


def _only_keywords(rng: random.Random, text: str) -> str:
    """As one types into a search field: small words left out, the order not always kept."""
    words = [word for word in re.split(r"[ ?.!,]+", text) if word and word.lower() not in _SMALL_WORDS]
    if len(words) > 2 and rng.random() < 0.4:
        i = rng.randrange(len(words) - 1)
        words[i], words[i + 1] = words[i + 1], words[i]
    return " ".join(words) or text


def _other_spelling(rng: random.Random, text: str) -> str:
    if rng.random() < 0.5 and "-" in text:
        return text.replace("-", rng.choice((" ", "")))
    for british, american in _SPELLINGS:
        if re.search(rf"[a-z]{british}", text):
            return text.replace(british, american)
    return text


def _mistype(rng: random.Random, text: str) -> str:
    """Swaps, drops or doubles one letter inside a longer word."""
    places = [m.start() + 1 for m in re.finditer(r"[A-Za-z]{5,}", text)]
    if not places:
        return text
    i = rng.choice(places) + rng.randrange(3)
    kind = rng.randrange(3)
    if kind == 0:
        return text[:i] + text[i + 1 : i + 2] + text[i] + text[i + 2 :]
    return text[:i] + text[i + 1 :] if kind == 1 else text[:i] + text[i] + text[i:]


def _recase(rng: random.Random, text: str) -> str:
    kind = rng.random()
    if kind < 0.35:
        return text.lower()
    if kind < 0.38:
        return text.upper()
    return text[:1].upper() + text[1:] if kind < 0.7 else text


def _punctuate(rng: random.Random, text: str) -> str:
    kind = rng.random()
    if kind < 0.30:
        return text.rstrip("?.!")
    if kind < 0.38 and not text.endswith(("?", ".", "!")):
        return text + rng.choice(("?", ".", "!", "??", " ?", "..."))
    return text
