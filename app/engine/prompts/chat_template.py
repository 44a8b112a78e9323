"""Chat templates: from messages to the text of a prompt, and to how an answer to it is written.

A template is untrusted code. It runs in a sandbox, and in a child process with limits on time and memory,
because a sandbox stops neither an endless loop nor a 10 GB string.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, NoReturn, Protocol

from app.engine.prompts.chat_worker import MAX_CPU_S, MAX_MEMORY_BYTES, ChatWorker
from app.protocol.answer_format import NO_CHAT_PARAMS, AnswerFormat, ChatParams, ToolChoice, Trigger
from app.protocol.errors import ChatTemplateError, InvalidRequestError
from app.protocol.json_object import read_object
from app.protocol.request import Message, Role
from app.system.llama_library import missing
from app.system.said import Said, said, unpacked
from app.system.worker import WorkerEndedError

if TYPE_CHECKING:
    from jinja2 import Template as JinjaTemplate

CHATML_MARKS = ("<|im_start|>", "<|im_end|>")
CHATML = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n"
    "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
MAX_SOURCE_CHARS = 1 << 20  # the longest take some 20,000
MAX_REASON_CHARS = 500
MESSAGES_PER_S, MAX_MORE_S = 50, 10  # Gemma 4's 400 messages take 3.7 s
TOOL_CHARS_PER_S = 64 << 10
NO_CHAT_LAYER = said(
    "This build of llama-cpp-python does not support tools and JSON schemas. Set Skein up again with "
    "packaging/run."
)


def no_chat_layer() -> Said:
    return missing(said("tools and JSON schemas"), NO_CHAT_LAYER)


@dataclass(frozen=True, slots=True)
class TemplateInputs:
    """What a prompt is made of. `variables` is a JSON object of further template variables.

    The answer follows the `json_schema`, if one is given and something is known of the model's answers.
    """

    messages: tuple[Message, ...]
    variables: str = ""
    params: ChatParams = NO_CHAT_PARAMS
    json_schema: str = ""


class Template(Protocol):
    """A chat template. Any thread."""

    def render(self, inputs: TemplateInputs) -> str:
        """The prompt up to where the answer begins. Raises ChatTemplateError."""

    def write(self, inputs: TemplateInputs) -> tuple[str, AnswerFormat]:
        """The same prompt, and how an answer to it is written. Raises RequestError."""


class ChatTemplate:
    """A compiled template. Any thread; no limits, so only for our own templates."""

    def __init__(self, source: str, bos_text: str = "", eos_text: str = "") -> None:
        self._template = _compile(source)
        self._variables = {"bos_token": bos_text, "eos_token": eos_text, "add_generation_prompt": True}

    def render(self, inputs: TemplateInputs) -> str:
        if inputs.params.goes_on:
            *before, last = inputs.messages
            return self.render(TemplateInputs(tuple(before), inputs.variables)) + last.content
        return self.of_turns(list(map(turn_of, inputs.messages)), inputs.variables)

    def of_turns(self, turns: list[dict[str, Any]], variables: str = "") -> str:
        """As `render`, of messages as a template takes them."""
        given = read_object(variables, "template_variables")
        try:
            known = self._variables | names_of_families(given.get("tools"))
            return self._template.render(known | given, messages=turns)
        except Exception as error:  # untrusted code may raise anything
            raise ChatTemplateError(
                said("The model's chat template failed: {reason}", reason=shortened(str(error)))
            ) from error

    def write(self, inputs: TemplateInputs) -> tuple[str, AnswerFormat]:
        """Knows nothing of answers but that they are text."""
        if inputs.params.offers_tools:
            raise InvalidRequestError(no_chat_layer())
        return self.render(inputs), AnswerFormat()


class LimitedChatTemplate:
    """A template from a model file, used in a child process. Any thread, one at a time.

    It is llama.cpp's chat layer that uses it, where that is there. Where it is not, or cannot read the
    template, Jinja2 does, and knows no tools then.
    """

    def __init__(
        self,
        source: str,
        bos_text: str = "",
        eos_text: str = "",
        *,
        tool_source: str = "",
        chat_layer: ChatWorker | None = None,
    ) -> None:
        """`tool_source` is the template for chats with tools, if that is another one."""
        if len(source) > MAX_SOURCE_CHARS:
            source = f"{{{{ raise_exception('it has more than {MAX_SOURCE_CHARS:,} characters') }}}}"
        if len(tool_source) > MAX_SOURCE_CHARS:
            tool_source = ""
        self._sources = source, tool_source, bos_text, eos_text
        self._chat_layer = chat_layer or ChatWorker()

    def render(self, inputs: TemplateInputs) -> str:
        """As `Template.render`, up to a length that is far above what any context holds."""
        _reply, text = self._ask("render", inputs)
        return text

    def write(self, inputs: TemplateInputs) -> tuple[str, AnswerFormat]:
        reply, text = self._ask("write", inputs)
        return text, _format_of(reply["format"])

    def close(self) -> None:
        """Also aborts a rendering under way."""
        self._chat_layer.close()

    def _ask(self, do: str, inputs: TemplateInputs) -> tuple[dict[str, Any], str]:
        asked = {"do": do, "template": self._sources, "inputs": _as_object(inputs)}
        try:
            reply, (text,) = self._chat_layer.answered(asked)
        except WorkerEndedError as error:
            raise ChatTemplateError(
                said(
                    "The model's chat template crashed llama.cpp's template engine, as endless "
                    "recursion would. Try another GGUF of this model."
                )
                if error.has_crashed
                else said(
                    "The model's chat template took more than {seconds} seconds or {size} MiB. Try "
                    "another GGUF of this model.",
                    seconds=cpu_s(inputs),
                    size=MAX_MEMORY_BYTES >> 20,
                )
            ) from None
        return reply, text.decode("utf-8", "surrogatepass")


class ChatMl:
    """The template for models without one. It is ours, so only for tools it needs a child process."""

    def __init__(self, bos_text: str, eos_text: str, chat_layer: ChatWorker) -> None:
        self._plain = ChatTemplate(CHATML, bos_text, eos_text)
        self._with_tools = LimitedChatTemplate(CHATML, bos_text, eos_text, chat_layer=chat_layer)

    def render(self, inputs: TemplateInputs) -> str:
        return self._for(inputs).render(inputs)

    def write(self, inputs: TemplateInputs) -> tuple[str, AnswerFormat]:
        """To a model that was not trained with these marks they are text: without a stop it would go on."""
        text, format_ = self._for(inputs).write(inputs)
        return text, replace(format_, stops=(*format_.stops, *CHATML_MARKS))

    def _for(self, inputs: TemplateInputs) -> Template:
        is_about_tools = inputs.params.tools or any(one.role is Role.TOOL for one in inputs.messages)
        return self._with_tools if is_about_tools else self._plain


def _as_object(inputs: TemplateInputs) -> dict[str, Any]:
    messages = [[message.role, message.content, message.fields] for message in inputs.messages]
    return {
        "messages": messages,
        "variables": inputs.variables,
        "params": asdict(inputs.params),
        "json_schema": inputs.json_schema,
    }


def inputs_from(sent: dict[str, Any]) -> TemplateInputs:
    """As the child process gets them."""
    messages = tuple(Message(Role(role), content, fields) for role, content, fields in sent["messages"])
    params = ChatParams(**sent["params"] | {"tool_choice": ToolChoice(sent["params"]["tool_choice"])})
    return TemplateInputs(messages, sent["variables"], params, sent["json_schema"])


def cpu_s(inputs: TemplateInputs) -> int:
    """How long a template may compute: some look at every message once more with each message."""
    num_tool_chars = len(inputs.params.tools)
    more_s = len(inputs.messages) // MESSAGES_PER_S + num_tool_chars // TOOL_CHARS_PER_S
    return (2 * MAX_CPU_S if num_tool_chars else MAX_CPU_S) + min(more_s, MAX_MORE_S)


def _format_of(reply: dict[str, Any]) -> AnswerFormat:
    found: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in reply.items()
    }
    found["triggers"] = tuple(Trigger(**one) for one in found["triggers"])
    found["warnings"] = tuple(map(unpacked, found["warnings"]))
    return AnswerFormat(**found)


def _compile(source: str) -> JinjaTemplate:
    from jinja2 import TemplateError
    from jinja2.ext import loopcontrols
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[loopcontrols], autoescape=False
    )
    environment.filters["tojson"] = _to_json
    environment.globals["raise_exception"] = _raise_exception
    environment.globals["strftime_now"] = lambda pattern: datetime.now().astimezone().strftime(pattern)
    try:
        return environment.from_string(source)
    except (TemplateError, RecursionError) as error:
        raise ChatTemplateError(
            said("The model's chat template cannot be read: {reason}", reason=shortened(str(error)))
        ) from error


def names_of_families(tools: Any) -> dict[str, str]:
    """Variables with family-specific names: the date for Llama 3 and FireFunction, the tools for
    FireFunction.

    Without them Llama 3 takes a day of 2024 for today, and FireFunction's template fails. A time of day would
    change the prompt with every turn.
    """
    now = datetime.now().astimezone()
    functions = [tool.get("function", tool) if isinstance(tool, dict) else tool for tool in tools or []]
    return {
        "date_string": now.strftime("%d %b %Y"),
        "datetime": now.strftime("%b %d %Y"),
        "functions": _to_json(functions, indent=4) if functions else "",
    }


def turn_of(message: Message) -> dict[str, Any]:
    """As a template takes it."""
    fields = read_object(message.fields, "The fields of a message")
    return {"role": message.role.value, "content": message.content, **fields}


def _to_json(value: Any, indent: int | None = None) -> str:
    """As in Hugging Face transformers: Jinja's own filter would escape for HTML."""
    return json.dumps(value, ensure_ascii=False, indent=indent)


def _raise_exception(message: str) -> NoReturn:
    """Templates call this to refuse a chat, such as one that begins with the assistant."""
    raise ChatTemplateError(message)


def shortened(reason: str) -> str:
    """A stranger's words, or words about a stranger's names: nobody reads a megabyte of them."""
    return reason if len(reason) <= MAX_REASON_CHARS else f"{reason[:MAX_REASON_CHARS]}…"
