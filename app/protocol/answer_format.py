"""What a caller wants an answer to be made of, and how its model writes that. Values; any thread."""

from dataclasses import dataclass
from enum import StrEnum

from app.protocol.errors import InvalidRequestError
from app.protocol.travel import Sentence

UNLIMITED = -1


class ToolChoice(StrEnum):
    AUTO = "auto"
    NONE = "none"
    REQUIRED = "required"


class ReasoningFormat(StrEnum):
    """llama-server's words: whether reasoning is taken out of the text of an answer."""

    NONE = "none"
    AUTO = "auto"
    DEEPSEEK = "deepseek"


@dataclass(frozen=True, slots=True)
class ChatParams:
    """`tools` is a JSON list as OpenAI has it, or empty. `parallel_tool_calls` None: as the template allows.

    The model is shown all tools, and may call those of the names `may_call` if there are any.
    With `goes_on` the last message is the beginning of the answer, or of its "content" or
    "reasoning_content". The model may reason for
    `reasoning_budget` tokens, and then reads `reasoning_end` before the mark that ends it.
    """

    tools: str = ""
    tool_choice: ToolChoice = ToolChoice.AUTO
    may_call: tuple[str, ...] = ()
    parallel_tool_calls: bool | None = None
    reasoning_format: ReasoningFormat = ReasoningFormat.AUTO
    goes_on: bool | str = False
    reasoning_budget: int = UNLIMITED
    reasoning_end: str = ""

    def __post_init__(self) -> None:
        if self.reasoning_budget < UNLIMITED:
            raise InvalidRequestError(
                f"reasoning_budget must be at least {UNLIMITED}, not {self.reasoning_budget}."
            )

    @property
    def offers_tools(self) -> bool:
        return bool(self.tools) and self.tool_choice is not ToolChoice.NONE


NO_CHAT_PARAMS = ChatParams()


@dataclass(frozen=True, slots=True)
class Trigger:
    """A text from which on an answer follows its grammar, or a regular expression (ECMAScript's) of such."""

    text: str
    is_pattern: bool = False


@dataclass(frozen=True, slots=True)
class AnswerFormat:
    """How a model writes an answer, as llama.cpp's chat layer knows it of the chat template.

    `parser` is for an `AnswerReader`. `grammar` is GBNF that was checked. It holds from the `opening` on, the
    end of the prompt where the answer begins; with `triggers` from the first of them on. `shown_tokens` are
    control tokens that the parser reads as text. `warnings` are sentences about what was asked of the answer
    and cannot be made sure.
    """

    parser: str = ""
    opening: str = ""
    grammar: str = ""
    triggers: tuple[Trigger, ...] = ()
    shown_tokens: tuple[str, ...] = ()
    stops: tuple[str, ...] = ()
    thinking_start: str = ""
    thinking_ends: tuple[str, ...] = ()
    warnings: tuple[Sentence, ...] = ()


PLAIN_TEXT = AnswerFormat()
