"""The child process that renders chat templates, makes grammars and reads answers, by llama.cpp's chat layer.

All of that works on programs and texts of strangers, so `limited_child` limits it. `LimitedChatTemplate`,
`SchemaConverter` and `AnswerReaders` ask it.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import lru_cache
from typing import Any

from app.engine.chat_library import ChatLibrary, ChatLibraryError, library_path
from app.engine.chat_template import (
    NO_CHAT_LAYER,
    NO_TOOLS,
    ChatTemplate,
    cpu_s,
    names_of_families,
    refusal,
    shortened,
)
from app.engine.limited_child import Reply, serve
from app.engine.schema_limits import simplified, unenforced
from app.protocol.answer_format import AnswerFormat, AnswerWishes, ToolChoice, Trigger
from app.protocol.errors import ChatTemplateError, InvalidRequestError, RequestError
from app.protocol.grammar import check_grammar, fault_of
from app.protocol.json_object import read_object
from app.protocol.request import Message, Role
from app.system.said import packed, said

MAX_PROMPT_BYTES = 32 << 20  # far above what any context holds
WORD = 1  # the kind of a trigger that is no pattern
CALLS = '"tool-name"'  # in a parser that finds calls of tools
# llama.cpp lets blanks stand between any two of them, so that a line of 64 could be read in millions of ways.
BLANKS_BETWEEN_CALLS = re.compile(r"\(([\w-]+)\? space\)\+")
# Rules of llama.cpp itself, for text up to a mark and JSON. Those of a caller's schema have longer names.
OWN_RULES = re.compile(r"until-[0-9]+(-[0-9]+)*|json-[a-z]+|string")
SPECIAL = ("add_generation_prompt", "enable_thinking")  # variables that llama.cpp has its own way for
DEFAULTS = {"preserve_reasoning": True}  # as llama-server has it: what was thought in earlier turns stays


class _Template:
    """By llama.cpp's chat layer if it can, else by Jinja2."""

    def __init__(self, library: ChatLibrary | None, source: str, bos_text: str, eos_text: str) -> None:
        self._library = library
        self._arguments = source, bos_text, eos_text
        self._caps: dict[str, Any] | None = None  # None: not opened yet
        self._jinja: ChatTemplate | None = None
        self._refusal = ""  # why the chat layer cannot read it

    def render(self, messages: Sequence[Message], variables: str, wishes: AnswerWishes) -> str:
        try:
            return str(self._applied(messages, variables, wishes, is_prompt_only=True)["prompt"])
        except ChatLibraryError:
            return self._by_jinja(messages, variables, wishes)

    def write(
        self, messages: Sequence[Message], variables: str, wishes: AnswerWishes, json_schema: str
    ) -> tuple[str, AnswerFormat]:
        try:
            schema = json.dumps(simplified(json.loads(json_schema))) if json_schema else ""
            made = self._applied(messages, variables, wishes, json_schema=schema)
        except ChatLibraryError as error:
            text = self._by_jinja(messages, variables, wishes)
            if wishes.offers_tools:
                raise ChatTemplateError(_failed(str(error))) from error
            return text, AnswerFormat()
        if wishes.offers_tools and CALLS not in made["format"]["parser"]:
            raise InvalidRequestError(NO_TOOLS)
        return made["prompt"], _format_of(made, wishes, json_schema)

    def _applied(
        self, messages: Sequence[Message], variables: str, wishes: AnswerWishes, **more: Any
    ) -> dict[str, Any]:
        if self._library is None:
            if wishes.offers_tools or more.get("json_schema"):
                raise InvalidRequestError(NO_CHAT_LAYER)
            raise ChatLibraryError
        self._open()
        given = read_object(variables, "template_variables")
        tools = json.loads(wishes.tools) if wishes.tools else []
        shown, called = given.pop("tools", tools) if tools else [], simplified(tools)
        known = names_of_families(shown or given.get("tools"))
        request: dict[str, Any] = {
            "messages": [_turn(message) for message in messages],
            "variables": DEFAULTS
            | known
            | {name: value for name, value in given.items() if name not in SPECIAL},
            "add_generation_prompt": given.get("add_generation_prompt") is not False,
            "reasoning_format": wishes.reasoning_format,
            **more,
        }
        if isinstance(given.get("enable_thinking"), bool):
            request["enable_thinking"] = given["enable_thinking"]
        if wishes.parallel_tool_calls is not None:
            request["parallel_tool_calls"] = wishes.parallel_tool_calls
        if wishes.goes_on:
            request["continue_final_message"] = wishes.goes_on
        if not tools:
            return self._library("apply", **request)
        made = self._library("apply", tools=called, tool_choice=wishes.tool_choice, **request)
        if shown != called:
            request |= {"tools": shown, "tool_choice": wishes.tool_choice}
            made["prompt"] = self._library("apply", **request)["prompt"]
        return made

    def _open(self) -> None:
        assert self._library
        if self._refusal:
            raise ChatLibraryError(self._refusal)
        if self._caps is None:
            source, bos_text, eos_text = self._arguments
            try:
                self._caps = self._library("open", template=source, bos=bos_text, eos=eos_text)
            except ChatLibraryError as error:
                self._refusal = str(error) or "it cannot be read"
                raise

    def _by_jinja(self, messages: Sequence[Message], variables: str, wishes: AnswerWishes) -> str:
        self._jinja = self._jinja or ChatTemplate(*self._arguments)
        return self._jinja.render(messages, variables, wishes)


def _turn(message: Message) -> dict[str, Any]:
    fields = read_object(message.fields, "The fields of a message")
    return {"role": message.role.value, "content": message.content, **fields}


def _format_of(made: dict[str, Any], wishes: AnswerWishes, json_schema: str) -> AnswerFormat:
    made_format = made["format"]
    is_lazy = made["is_lazy"] and made["triggers"]
    schemas = [json.loads(json_schema)] if json_schema else []
    if made["grammar"] and wishes.offers_tools:
        schemas += [one["function"].get("parameters") or {} for one in json.loads(wishes.tools)]
    return AnswerFormat(
        parser=json.dumps(made_format, ensure_ascii=False),
        opening=made["generation_prompt"],
        grammar=_checked(made["grammar"], OWN_RULES) if made["grammar"] else "",
        triggers=tuple(Trigger(one["value"], one["type"] != WORD) for one in made["triggers"] if is_lazy),
        shown_tokens=tuple(made["preserved_tokens"]),
        stops=tuple(filter(None, made["stops"])),
        thinking_start=made["thinking_start"],
        thinking_ends=tuple(filter(None, made["thinking_ends"])),
        warnings=_warnings(schemas, made["notes"]),
    )


def _grammar_of_schema(library: ChatLibrary | None, text: str) -> dict[str, Any]:
    if library is None:
        raise InvalidRequestError(NO_CHAT_LAYER)
    schema = read_object(text, "The JSON schema")
    try:
        made = library("grammar", schema=json.dumps(simplified(schema)))
    except ChatLibraryError as error:
        reason = shortened(str(error).removeprefix("JSON schema conversion failed:\n"))
        raise InvalidRequestError(
            said(
                "The {what} cannot be used: {reason}. Correct or remove it.",
                what=said("JSON schema"),
                reason=reason,
            )
        ) from error
    grammar = _checked(made["grammar"])
    return {"grammar": grammar, "warnings": [packed(one) for one in _warnings([schema], made["notes"])]}


@lru_cache(maxsize=64)  # the tools of a conversation stay the same, and checks take up to half a second
def _checked(grammar: str, known: re.Pattern[str] | None = None) -> str:
    simpler = BLANKS_BETWEEN_CALLS.sub(r"space (\1 space)*", grammar)
    check_grammar(simpler, said("JSON schema"), known)
    return simpler


def _warnings(schemas: list[Any], notes: list[str]) -> tuple[str, ...]:
    """What is asked of an answer and the grammar does not make sure."""
    found = [one for schema in schemas for one in unenforced(schema)]
    found += [note.removeprefix("WARNING: JSON schema conversion was incomplete: ").strip() for note in notes]
    return tuple(
        said("The JSON schema asks for what no answer can be held to: {what}.", what=shortened(one))
        for one in dict.fromkeys(found)
    )


def _failed(reason: str) -> str:
    """llama.cpp shows where in the template, then what."""
    *_places, last = reason.split("Error: ")
    return said("The model's chat template failed: {reason}", reason=shortened(last.strip()))


def _begin(arguments: list[str] | None) -> Callable[[Any], Reply]:
    path = library_path()
    library = ChatLibrary(path) if path else None
    template = _Template(library, *arguments) if arguments else None

    def answer(question: dict[str, Any]) -> Reply:
        match question:
            case {"do": "grammar", "schema": schema}:
                return _grammar_of_schema(library, schema), b""
            case {"do": "check", "grammar": grammar}:
                return {"fault": fault_of(grammar)}, b""
            case {
                "do": "render" | "write" as do,
                "messages": turns,
                "variables": variables,
                "wishes": wishes,
            }:
                assert template
                messages = [Message(Role(role), content, fields) for role, content, fields in turns]
                wished = AnswerWishes(**wishes | {"tool_choice": ToolChoice(wishes["tool_choice"])})
                if do == "render":
                    return {}, _bytes(template.render(messages, variables, wished))
                text, found = template.write(messages, variables, wished, question["json_schema"])
                described = asdict(found) | {"warnings": [packed(one) for one in found.warnings]}
                return {"format": described}, _bytes(text)
        assert library
        began = time.thread_time()
        return {"delta": library(**question), "seconds": time.thread_time() - began}, b""

    def answer_or_refuse(question: dict[str, Any]) -> Reply:
        try:
            return answer(question)
        except RequestError as error:
            return refusal(error)
        except ChatLibraryError as error:
            return {"error": str(error), "is_template": False}, b""

    return answer_or_refuse


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
    serve(_begin, lambda question: cpu_s(len(question.get("messages", ()))))
