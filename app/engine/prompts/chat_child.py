"""The child process that renders chat templates, makes grammars and reads answers, by llama.cpp's chat layer.

All of that works on programs and texts of strangers, so it has limits. `ChatWorker` asks it.
"""

from __future__ import annotations

import contextlib
import json
import re
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache, partial
from typing import Any

from app.engine.prompts.answer_grammars import (
    NO_PARAMETERS,
    OWN_RULES,
    checked,
    either,
    is_bearable,
    ways_to_hold,
)
from app.engine.prompts.chat_template import (
    ChatTemplate,
    cpu_s,
    names_of_families,
    no_chat_layer,
    shortened,
    turn_of,
)
from app.engine.prompts.chat_worker import MAX_MEMORY_BYTES, ChatLayer, ChatLayerError, library_path, refusal
from app.engine.prompts.schema_limits import simplified, unenforced
from app.engine.prompts.template_limits import (
    IN_ITS_FORMAT,
    IN_OUR_FORMAT,
    TemplateLimits,
    Turn,
    as_text,
    described,
)
from app.protocol.answer_format import AnswerFormat, ChatParams, ReasoningFormat, ToolChoice, Trigger
from app.protocol.errors import ChatTemplateError, InvalidRequestError, RequestError
from app.protocol.grammar import (
    fault_of,
)
from app.protocol.json_object import read_object
from app.protocol.request import Message, Role
from app.system import worker
from app.system.said import packed, said
from app.system.worker import Answer, Question

MAX_PROMPT_BYTES = 32 << 20  # far above what any context holds
WORD = 1  # the kind of a trigger that is no pattern
CONTENT, REASONING = "content", "reasoning"  # what a parser calls them
UNTIL = re.compile(r"^(until-[0-9]+) ::= .*$", re.MULTILINE)  # text up to a mark, by the number of its parser
# A mark of calls that an answer in JSON may begin with, too.
LIKE_JSON = re.compile(r'[\[{]\s*(["\[{]|$)')
CALLS = '"tool-name"'  # in a parser that finds calls of tools
SPECIAL = ("add_generation_prompt", "enable_thinking")  # variables that llama.cpp has its own way for
DEFAULTS = {"preserve_reasoning": True}  # as llama-server has it: what was thought in earlier turns stays
# A chat that shows what a template does with tools.
PROBE = "tool_to_look_for"
TOOLS = [{"type": "function", "function": {"name": PROBE, "description": "", "parameters": {}}}]
ASKED: Turn = {"role": "user", "content": "Hello"}
CALLED = {"name": "<function-name>", "arguments": {"<argument-name>": "<argument>"}}
CALLING: Turn = {
    "role": "assistant",
    "content": "",
    "tool_calls": [{"id": "call00000", "type": "function", "function": CALLED}],
}
CALL_PARTS = ("call00000", "<function-name>")


@dataclass(frozen=True, slots=True)
class _Tools:
    """What a template does not do with tools, so that we do it.

    It does not show them: `how` tells the model to call them. It has no calls that llama.cpp can read: ours
    are used with tools. It does not even write those of earlier turns: they become text always. It takes
    no id of a call but its model's, of nine letters.
    """

    how: str = ""
    has_calls: bool = True
    writes_calls: bool = True


class _Template:
    """By llama.cpp's chat layer if it can, else by Jinja2."""

    def __init__(
        self, library: ChatLayer | None, source: str, tool_source: str, bos_text: str, eos_text: str
    ) -> None:
        self._library = library
        self._source, self._tool_source = source, tool_source
        self._edges = bos_text, eos_text
        self._is_open = False
        self._jinja: ChatTemplate | None = None
        self._refusal = ""  # why the chat layer cannot read it
        self._found: _Tools | None = None  # None: not looked for yet
        self._limits = TemplateLimits(partial(self._tried, {}))
        self._limits_with_tools = TemplateLimits(partial(self._tried, {"tools": TOOLS}))
        self._limits_of_jinja = TemplateLimits(lambda chat: self._opened_jinja().of_turns(chat))

    def render(self, messages: Sequence[Message], variables: str, chat_params: ChatParams) -> str:
        try:
            return str(self._applied(messages, variables, chat_params, is_prompt_only=True)["prompt"])
        except ChatLayerError:
            return self._by_jinja(messages, variables, chat_params)

    def write(
        self, messages: Sequence[Message], variables: str, chat_params: ChatParams, json_schema: str
    ) -> tuple[str, AnswerFormat]:
        try:
            made = self._made(messages, variables, chat_params, json_schema)
        except ChatLayerError as error:
            text = self._by_jinja(messages, variables, chat_params)
            if chat_params.offers_tools:
                raise ChatTemplateError(_failed(str(error))) from error
            return text, AnswerFormat()
        return made["prompt"], _format_of(made, chat_params, json_schema)

    def _made(
        self, messages: Sequence[Message], variables: str, chat_params: ChatParams, json_schema: str
    ) -> dict[str, Any]:
        """Where a schema and tools are asked for, the answer follows the schema or calls tools.

        It follows the schema alone where llama.cpp's grammars for the two cannot be told apart.
        """
        if (
            chat_params.offers_tools
            and chat_params.tool_choice is ToolChoice.REQUIRED
            and not chat_params.goes_on
        ):
            return self._forced(messages, variables, chat_params)
        if not (json_schema and chat_params.offers_tools):
            schema = json.dumps(simplified(json.loads(json_schema))) if json_schema else ""
            return self._applied(messages, variables, chat_params, json_schema=schema)
        calls = self._applied(messages, variables, chat_params)
        text = self._made(messages, variables, replace(chat_params, tool_choice=ToolChoice.NONE), json_schema)
        marks = [one["value"] for one in calls["triggers"]]
        are_apart = marks and not any(map(LIKE_JSON.match, marks))
        forced = self._forced(messages, variables, replace(chat_params, tool_choice=ToolChoice.REQUIRED))
        if not (are_apart and text["grammar"] and forced["grammar"]):
            return text
        return text | {
            "grammar": either(text["grammar"], forced["grammar"]),
            "preserved_tokens": list({*text["preserved_tokens"], *forced["preserved_tokens"]}),
            "notes": text["notes"] + forced["notes"],
            "format": text["format"] | {"calls": forced["format"]},
        }

    def _forced(self, messages: Sequence[Message], variables: str, chat_params: ChatParams) -> dict[str, Any]:
        """Calls alone, and what the model thinks before them: with text it could talk without an end."""
        made = thinking = self._applied(messages, variables, chat_params)
        if chat_params.reasoning_format == ReasoningFormat.NONE:  # what is thought is read as text
            chat_params = replace(chat_params, reasoning_format=ReasoningFormat.AUTO)
            thinking = self._applied(messages, variables, chat_params)
        return made | {"grammar": _without_text(thinking)}

    def _applied(
        self, messages: Sequence[Message], variables: str, chat_params: ChatParams, **more: Any
    ) -> dict[str, Any]:
        if self._library is None:
            if chat_params.offers_tools or more.get("json_schema"):
                raise InvalidRequestError(no_chat_layer())
            raise ChatLayerError
        self._open()
        given = read_object(variables, "template_variables")
        tools = json.loads(chat_params.tools) if chat_params.tools else []
        shown, called = (
            given.pop("tools", tools) if tools else [],
            [_readable(tool) for tool in _callable(chat_params)],
        )
        known = names_of_families(shown or given.get("tools"))
        turns = list(map(turn_of, messages))
        left = _Tools()
        if tools or (not self._tool_source and any(_is_about_tools(turn) for turn in turns)):
            left = self._left_to_us()
            turns = _with_tools(turns, shown, left)
        turns = _fitted(turns, self._limits_with_tools if tools else self._limits, chat_params)
        request: dict[str, Any] = {
            "messages": turns,
            "variables": DEFAULTS
            | known
            | {name: value for name, value in given.items() if name not in SPECIAL},
            "add_generation_prompt": given.get("add_generation_prompt") is not False,
            "reasoning_format": chat_params.reasoning_format,
            "has_calls": left.has_calls,
            **more,
        }
        if isinstance(given.get("enable_thinking"), bool):
            request["enable_thinking"] = given["enable_thinking"]
        if chat_params.parallel_tool_calls is not None:
            request["parallel_tool_calls"] = chat_params.parallel_tool_calls
        if chat_params.goes_on:
            request["continue_final_message"] = chat_params.goes_on
        if isinstance(
            chat_params.goes_on, str
        ):  # llama.cpp goes on with an empty message only if it has a name
            turns[-1] = {"name": Role.ASSISTANT} | turns[-1]
        if not tools:
            return self._library("apply", **request)
        if more.get("is_prompt_only"):
            return {"prompt": self._prompt(called if left.how else shown, request)}
        for note, held, max_bytes in ways_to_hold(called):
            made = self._library("apply", tools=held, tool_choice=chat_params.tool_choice, **request)
            made["notes"] += [note] if note else []
            if is_bearable(made["grammar"], max_bytes):
                break
        if note == NO_PARAMETERS and "object" not in made["grammar"]:
            made |= {"grammar": "", "triggers": []}  # of parameters in tags it would allow none
        if held != shown and not left.how:
            made["prompt"] = self._prompt(shown, request)
        return made

    def _prompt(self, tools: list[Any], request: dict[str, Any]) -> str:
        """As the template shows these tools, whether or not llama.cpp could make a grammar of them."""
        assert self._library
        request = request | {"tool_choice": ToolChoice.NONE, "is_prompt_only": True}
        try:
            made = self._library("apply", **request, tools=tools)
        except ChatLayerError:  # a template may look for what a schema leaves out
            made = self._library("apply", **request, tools=list(map(_readable, tools)))
        return str(made["prompt"])

    def _open(self) -> None:
        assert self._library
        if self._refusal:
            raise ChatLayerError(self._refusal)
        if self._is_open:
            return
        bos_text, eos_text = self._edges
        try:
            self._library(
                "open", template=self._source, tool_template=self._tool_source, bos=bos_text, eos=eos_text
            )
        except ChatLayerError as error:
            self._refusal = str(error) or "it cannot be read"
            raise
        self._is_open = True

    def _left_to_us(self) -> _Tools:
        if self._found is None:
            try:
                self._found = self._look_for_tools()
            except ChatLayerError:  # it refuses such a chat, and says why when it is given a real one
                self._found = _Tools()
        return self._found

    def _look_for_tools(self) -> _Tools:
        assert self._library
        asked: dict[str, Any] = {"tools": TOOLS, "variables": DEFAULTS | names_of_families(TOOLS)}
        made = self._library("apply", messages=[ASKED], **asked)
        has_calls = CALLS in made["format"]["parser"]
        if has_calls and PROBE in made["prompt"]:
            return _Tools()
        written = ""
        with contextlib.suppress(ChatLayerError):
            asked["add_generation_prompt"] = False
            written = self._library("apply", messages=[ASKED, CALLING], **asked)["prompt"]
        begins = next((one["value"] for one in made["triggers"] if one["type"] == WORD), "")
        at = written.find(begins) if has_calls and begins else -1
        if at < 0:
            return _Tools(
                IN_OUR_FORMAT, has_calls=False, writes_calls=any(part in written for part in CALL_PARTS)
            )
        _bos, eos_text = self._edges
        return _Tools(IN_ITS_FORMAT.format(example=written[at:].rstrip().removesuffix(eos_text)))

    def _tried(self, asked: dict[str, Any], chat: list[Turn]) -> str:
        assert self._library
        variables = DEFAULTS | names_of_families(asked.get("tools"))
        made = self._library("apply", messages=chat, variables=variables, is_prompt_only=True, **asked)
        return str(made["prompt"])

    def _by_jinja(self, messages: Sequence[Message], variables: str, chat_params: ChatParams) -> str:
        turns = _fitted(list(map(turn_of, messages)), self._limits_of_jinja, chat_params)
        begun = turns.pop()["content"] if chat_params.goes_on else ""
        return self._opened_jinja().of_turns(turns, variables) + begun

    def _opened_jinja(self) -> ChatTemplate:
        self._jinja = self._jinja or ChatTemplate(self._source, *self._edges)
        return self._jinja


def _fitted(turns: list[Turn], limits: TemplateLimits, chat_params: ChatParams) -> list[Turn]:
    if not chat_params.goes_on:
        return limits.fitted(turns)
    return [*limits.fitted(turns[:-1], has_begun=True), turns[-1]]


def _without_text(made: dict[str, Any]) -> str:
    """The grammar, in which all that its parser reads as text is empty."""
    parsers = json.loads(made["format"]["parser"])["parsers"]
    texts = _below(parsers, CONTENT) - _below(parsers, REASONING)
    names = {f"until-{number}" for number in texts if parsers[number]["type"] == "until"}
    return UNTIL.sub(lambda rule: f'{rule[1]} ::= ""' if rule[1] in names else rule[0], made["grammar"])


def _below(parsers: list[dict[str, Any]], tag: str) -> set[int]:
    """The numbers of the parsers that make up what is read as `tag`."""
    todo = [one["child"] for one in parsers if one.get("tag") == tag]
    found: set[int] = set()
    while todo:
        number = todo.pop()
        if number not in found:
            found.add(number)
            one = parsers[number]
            todo += one.get("children") or ([one["child"]] if "child" in one else [])
    return found


def _callable(chat_params: ChatParams) -> list[Any]:
    """Those of the tools that the answer may call."""
    tools = json.loads(chat_params.tools) if chat_params.tools else []
    return [
        one for one in tools if not chat_params.may_call or one["function"]["name"] in chat_params.may_call
    ]


def _readable(tool: Any) -> Any:
    """As llama.cpp reads more of its parameters."""
    function = tool["function"]
    if "parameters" not in function:
        return tool
    return {**tool, "function": {**function, "parameters": simplified(function["parameters"])}}


def _is_about_tools(turn: Turn) -> bool:
    return turn["role"] == Role.TOOL or "tool_calls" in turn


def _with_tools(turns: list[Turn], tools: list[Any], left: _Tools) -> list[Turn]:
    if not left.writes_calls or (tools and not left.has_calls):
        with contextlib.suppress(KeyError, TypeError):  # not calls as OpenAI has them: llama.cpp says so
            turns = as_text(turns)
    return described(turns, tools, left.how) if tools and left.how else turns


def _format_of(made: dict[str, Any], chat_params: ChatParams, json_schema: str) -> AnswerFormat:
    made_format = made["format"]
    is_lazy = made["is_lazy"] and made["triggers"]
    schemas = [json.loads(json_schema)] if json_schema else []
    if made["grammar"] and chat_params.offers_tools:
        schemas += [one["function"].get("parameters") or {} for one in _callable(chat_params)]
    return AnswerFormat(
        parser=json.dumps(made_format, ensure_ascii=False),
        opening=made["generation_prompt"],
        grammar=checked(made["grammar"], OWN_RULES) if made["grammar"] else "",
        triggers=tuple(Trigger(one["value"], one["type"] != WORD) for one in made["triggers"] if is_lazy),
        shown_tokens=tuple(made["preserved_tokens"]),
        stops=tuple(filter(None, made["stops"])),
        thinking_start=made["thinking_start"],
        thinking_ends=tuple(filter(None, made["thinking_ends"])),
        warnings=_warnings(schemas, made["notes"]),
    )


def _grammar_of_schema(library: ChatLayer | None, text: str) -> dict[str, Any]:
    if library is None:
        raise InvalidRequestError(no_chat_layer())
    schema = read_object(text, "The JSON schema")
    try:
        made = library("grammar", schema=json.dumps(simplified(schema)))
    except ChatLayerError as error:
        reason = shortened(str(error).removeprefix("JSON schema conversion failed:\n"))
        raise InvalidRequestError(
            said(
                "The {what} cannot be used: {reason}. Correct or remove it.",
                what=said("JSON schema"),
                reason=reason,
            )
        ) from error
    grammar = checked(made["grammar"])
    return {"grammar": grammar, "warnings": [packed(one) for one in _warnings([schema], made["notes"])]}


def _warnings(schemas: list[Any], notes: list[str]) -> tuple[str, ...]:
    """What is asked of an answer and the grammar does not make sure."""
    found = [one for schema in schemas for one in unenforced(schema)]
    found += [note.removeprefix("WARNING: JSON schema conversion was incomplete: ").strip() for note in notes]
    return tuple(
        said("The JSON schema contains something that cannot be enforced: {what}.", what=shortened(one))
        for one in dict.fromkeys(found)
    )


def _failed(reason: str) -> str:
    """llama.cpp shows where in the template, then what."""
    *_places, last = reason.split("Error: ")
    return said("The model's chat template failed: {reason}", reason=shortened(last.strip()))


_library: ChatLayer | None = None


@lru_cache(maxsize=1)
def _template(library: ChatLayer | None, *sources: str) -> _Template:
    return _Template(library, *sources)


def answer(asked: Question) -> Answer:
    """Raises RequestError and ChatLayerError."""
    global _library
    question = asked.value
    worker.limit(CPU=_cpu_s(question))
    if _library is None and (path := library_path()):
        _library = ChatLayer(path)
    match question:
        case {"do": "grammar", "schema": schema}:
            return (_grammar_of_schema(_library, schema),)
        case {"do": "check", "grammar": grammar}:
            return ({"fault": fault_of(grammar)},)
        case {"do": "render" | "write" as do, "template": sources, "messages": turns, "variables": variables}:
            messages = [Message(Role(role), content, fields) for role, content, fields in turns]
            chat_params = ChatParams(
                **question["chat_params"]
                | {"tool_choice": ToolChoice(question["chat_params"]["tool_choice"])}
            )
            template = _template(_library, *sources)
            if do == "render":
                return {}, _bytes(template.render(messages, variables, chat_params))
            text, found = template.write(messages, variables, chat_params, question["json_schema"])
            described = asdict(found) | {"warnings": [packed(one) for one in found.warnings]}
            return {"format": described}, _bytes(text)
    assert _library
    began = time.thread_time()
    return ({"delta": _library(**question), "seconds": time.thread_time() - began},)


def answer_or_refuse(question: Question) -> Answer:
    try:
        return answer(question)
    except RequestError as error:
        return (refusal(error),)
    except ChatLayerError as error:
        return ({"error": str(error), "is_template": False},)


def _cpu_s(question: dict[str, Any]) -> int:
    tools = question["chat_params"]["tools"] if "chat_params" in question else ""
    return cpu_s(len(question.get("messages", ())), len(tools))


def _bytes(text: str) -> bytes:
    data = text.encode("utf-8", "surrogatepass")
    if len(data) > MAX_PROMPT_BYTES:
        raise ChatTemplateError(
            said(
                "The model's chat template produced more than {size} MiB. Try another GGUF of this model.",
                size=MAX_PROMPT_BYTES >> 20,
            )
        )
    return data


if __name__ == "__main__":
    parent = worker.Parent()
    worker.limit(AS=MAX_MEMORY_BYTES)
    parent.serve(answer_or_refuse)
