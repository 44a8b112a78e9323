"""An answer that is being written, updated from outputs. GUI thread. Knows no engine and no chat."""

from dataclasses import dataclass, field
from time import monotonic

from app.bridge.tool_rounds import ToolRounds
from app.chats.chat import Turn
from app.chats.options import ChatOptions
from app.chats.thinking import Split
from app.protocol.output import Output, Usage

NO_USAGE = Usage()


@dataclass(slots=True, eq=False)
class OpenAnswer:
    turn: Turn
    usage_before: Usage = NO_USAGE  # of the part that it continues
    is_submitted: bool = False  # the engine has been asked, and has not ended
    text_since: float = 0.0  # when its first text came
    way_number: int = 0  # of several answers to one message
    options: ChatOptions | None = None  # in place of the chat's own
    way_name: str = ""  # of these options
    rounds: ToolRounds = field(init=False)  # which reads it
    awaited_servers: tuple[str, ...] = ()  # whose tools it is to be asked with

    def take(self, outputs: tuple[Output, ...], model: str) -> None:
        """Adds the output of `model`."""
        turn = self.turn
        usage = next((output.usage for output in reversed(outputs) if output.usage != NO_USAGE), None)
        if usage:  # the last output of an engine that is gone has no usage
            turn.usage = self.usage_before.followed_by(usage)
        if turn.is_empty and any(output.text for output in outputs):
            turn.model = model
        if outputs[-1].finish_reason:
            self.is_submitted = False
        self.rounds.take(outputs)

    def show(self, text: str, reading: Split | None) -> None:
        """`text` is the part so far. `reading` is what its marks do not say of its thinking and answer."""
        turn = self.turn
        turn.text, turn.reading = text, reading
        self.text_since = self.text_since or monotonic()
        # From its first text to the last thought. Some are known as such only when they have ended.
        split = turn.split
        if split.is_thinking or (split.thinking and not turn.thinking_s):
            turn.thinking_s = monotonic() - self.text_since

    def begin_part(self) -> None:
        """After calls of tools."""
        self.usage_before, self.text_since, self.is_submitted = NO_USAGE, 0.0, False
        self.rounds.begin_part()
