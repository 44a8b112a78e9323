"""Messages as text for other programs: as written, or as rendered. GUI thread."""

from collections.abc import Iterable

from app.chats.chat import Turn
from app.chats.thinking import split_thinking
from app.look.words import tr
from app.protocol.request import Role


def written_text(turn: Turn) -> str:
    """As the user or the model wrote it, without the thinking."""
    return turn.text if turn.role is Role.USER else split_thinking(turn.text).answer


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
