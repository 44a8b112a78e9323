"""What the panels call the chat of a sequence, with or without a tab. Pure functions."""

from collections.abc import Mapping

from app.look.words import mark, tr
from app.protocol.request import FACTS, OTHER, PROJECT, ROWS, SHELF, SUMMARY, TASK, TITLE, WAY

NO_TAB = mark("no tab")
PROBE_ID = "probabilities "  # what the id begins with under which a place of an answer is looked up
READING_ID = "reading "  # and an answer is recomputed
_COMPUTED = {
    PROBE_ID: mark("token probabilities"),
    READING_ID: mark("recomputed answer"),
    SHELF: mark("shelf"),
    PROJECT: mark("project"),
    ROWS: mark("row of a table"),
    OTHER: mark("another caller’s"),
}


def chat_name(chat_id: str, titles: Mapping[str, str]) -> str:
    """The tab's title. What has no tab is called what it is computed for."""
    if title := titles.get(chat_id):
        return title
    if chat_id.endswith(TITLE):
        return tr("title of {chat}", chat=chat_name(chat_id.removesuffix(TITLE), titles))
    if chat_id.endswith(FACTS):
        return tr("facts of {chat}", chat=chat_name(chat_id.removesuffix(FACTS), titles))
    chat_id, _, number = chat_id.partition(WAY)
    if number == SUMMARY:
        return tr("summary of {chat}", chat=chat_name(chat_id, titles))
    if number.startswith(TASK):
        number = number.removeprefix(TASK)
        return tr("{chat}, task {number}", chat=chat_name(chat_id, titles), number=number)
    if number:
        return tr("{chat}, answer {number}", chat=chat_name(chat_id, titles), number=number)
    return tr(next((name for start, name in _COMPUTED.items() if chat_id.startswith(start)), NO_TAB))
