"""An answer as its model means it: text, reasoning and calls of tools, whole and in pieces."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ToolCall:
    """`arguments` is a JSON object as text, as OpenAI has it."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class AnswerMessage:
    content: str = ""
    reasoning: str = ""
    tool_calls: tuple[ToolCall, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolCallDelta:
    """`id` and `name` come once, with the first delta of the call number `index`."""

    index: int
    id: str = ""
    name: str = ""
    arguments: str = ""


@dataclass(frozen=True, slots=True)
class MessageDelta:
    """What is new of an answer that grows."""

    content: str = ""
    reasoning: str = ""
    tool_calls: tuple[ToolCallDelta, ...] = ()
