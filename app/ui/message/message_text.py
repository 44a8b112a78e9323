"""Messages as text for other programs: as written, or as rendered. GUI thread."""

from collections.abc import Iterable, Iterator

from app.chats.chat import Turn
from app.chats.thinking import split_thinking
from app.look.words import tr
from app.protocol.request import Role


def written_text(turn: Turn) -> str:
    """As the user or the model wrote it, without the thinking and the calls of tools."""
    if turn.role is Role.USER:
        return turn.text
    parts = [each.content for each in turn.rounds if each.content.strip()]
    answer = split_thinking(turn.text).answer
    return "\n\n".join([*parts, answer]) if parts else answer


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
