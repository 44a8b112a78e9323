"""An answer that is being written, updated from outputs. GUI thread. Knows no engine and no chat."""

from dataclasses import dataclass
from time import monotonic

from app.bridge.tool_rounds import ToolRounds
from app.chats.chat import Turn
from app.chats.options import ChatOptions
from app.chats.thinking import LONGEST_MARK, MARK_ENDS, split_thinking
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
    rounds: ToolRounds | None = None  # where tools are offered
    awaited_servers: tuple[str, ...] = ()  # whose tools it is to be asked with

    def take(self, outputs: tuple[Output, ...], model: str) -> bool:
        """Adds the output of `model`. True if there is more text now, and it is shown."""
        turn = self.turn
        usage = next((output.usage for output in reversed(outputs) if output.usage != NO_USAGE), None)
        if usage:  # the last output of an engine that is gone has no usage
            turn.usage = self.usage_before.followed_by(usage)
        text = "".join(output.text for output in outputs)
        if text and turn.is_empty:
            turn.model = model
        if outputs[-1].finish_reason:
            self.is_submitted = False
        if self.rounds:
            self.rounds.take(outputs)
        elif text:
            self.show(turn.text + text)
        return bool(text) and not self.rounds

    def show(self, text: str) -> None:
        new_text, self.turn.text = text[len(self.turn.text) :], text
        self._time_thinking(new_text)

    def begin_part(self) -> None:
        """After calls of tools."""
        self.usage_before, self.text_since, self.is_submitted = NO_USAGE, 0.0, False
        assert self.rounds
        self.rounds.begin_part()

    def _time_thinking(self, new_text: str) -> None:
        """From its first text to the last thought. Some are known as such only when they have ended."""
        turn = self.turn
        self.text_since = self.text_since or monotonic()
        is_under_way = len(turn.text) > LONGEST_MARK and not turn.thinking_s
        if is_under_way and MARK_ENDS.isdisjoint(new_text):
            return  # it has not thought so far: mostly there is nothing to search for
        split = split_thinking(turn.text, is_growing=True)
        if split.is_thinking or (split.thinking and not turn.thinking_s):
            turn.thinking_s = monotonic() - self.text_since
