"""Messages as text for other programs: as written, or as rendered. GUI thread."""

from collections.abc import Iterable, Iterator

from app.chats.attachment import fenced
from app.chats.chat import Turn
from app.chats.exports.markdown import on_one_line
from app.chats.exports.spoken import ExportWords, call_title, outcome
from app.chats.tool_use import ToolRound
from app.look.words import tr
from app.protocol.request import Role
from app.ui.message.tool_words import has_arguments

MAX_COPIED_CHARS = 2000  # of a call's arguments, and of its result


def written_text(turn: Turn) -> str:
    """As the user or the model wrote it, without the thinking, and with calls of tools in a short form."""
    if turn.role is Role.USER:
        return turn.text
    parts = [text for each in turn.rounds for text in _round_texts(each)]
    return "\n\n".join(filter(None, [*parts, turn.split.answer]))


def _round_texts(each: ToolRound) -> Iterator[str]:
    if each.content.strip():
        yield each.content
    for use in each.uses:
        yield f"**{on_one_line(call_title(use, ExportWords(tool=tr('Tool'))))}**"
        if has_arguments(use):
            yield fenced(_short(use.arguments), "json")
        if result := outcome(use):
            yield fenced(_short(result))


def _short(text: str) -> str:
    return text if len(text) <= MAX_COPIED_CHARS else f"{text[:MAX_COPIED_CHARS]}…"


def searched_texts(turn: Turn) -> Iterator[str]:
    """All that a search looks at, in reading order."""
    for each in turn.rounds:
        yield each.reasoning
        yield each.content
        for use in each.uses:
            yield use.arguments
            yield use.result
    yield turn.text


def plain_text(turn: Turn) -> str:
    """Without Markdown markup. User messages are no Markdown."""
    if turn.role is Role.USER:
        return turn.text
    # With all that reads Markdown: the window is shown without.
    from app.ui.message.passages import as_plain
    from app.ui.message.turn_passages import passages_of

    return as_plain(passages_of(written_text(turn), is_markdown=True))


def speaker(turn: Turn) -> str:
    if turn.role is Role.USER:
        return tr("You")
    return turn.model or tr("Answer")


def as_markdown(turns: Iterable[Turn]) -> str:
    return "\n\n".join(f"**{speaker(turn)}:**\n\n{written_text(turn)}" for turn in turns)


def as_plain_text(turns: Iterable[Turn]) -> str:
    return "\n\n".join(f"{speaker(turn)}:\n{plain_text(turn)}" for turn in turns)
