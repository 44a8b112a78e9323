"""An answer as its model means it: text, reasoning and calls of tools, whole and in pieces."""

import uuid
from dataclasses import dataclass


def new_call_id() -> str:
    """Nine letters and digits: there are templates that take no other."""
    return uuid.uuid4().hex[:9]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """`arguments` is a JSON object as text, as OpenAI has it."""

    id: str
    name: str
    arguments: str


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


@dataclass(frozen=True, slots=True)
class AnswerMessage:
    content: str = ""
    reasoning: str = ""
    tool_calls: tuple[ToolCall, ...] = ()

    def grown(self, delta: MessageDelta) -> "AnswerMessage":
        calls = list(self.tool_calls)
        for one in delta.tool_calls:
            if one.index == len(calls):
                calls.append(ToolCall(one.id, one.name, one.arguments))
            else:
                call = calls[one.index]
                calls[one.index] = ToolCall(call.id, call.name, call.arguments + one.arguments)
        return AnswerMessage(self.content + delta.content, self.reasoning + delta.reasoning, tuple(calls))
