"""What strangers send, each by its kind and number, and a process whose models and templates are hostile.

In `hostile_process` whatever a model writes becomes a broken answer, and each request brings its own chat
template. Both come from the folder that `prepare` has filled.
"""

from __future__ import annotations

import itertools
import json
import os
import random
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

from app.api import model_router
from app.chats.chat import Chat, Turn
from app.chats.exports import skein
from app.chats.options import ChatOptions
from app.chats.presets import Preset, as_object
from app.engine.backend import Backend
from app.engine.detokenizer import Detokenizer
from app.engine.prompts.chat_template import LimitedChatTemplate
from app.engine.prompts.chat_worker import ChatLayer, ChatWorker, library_path
from app.protocol.request import Role
from app.system.worker import Message
from tests.benchmarks.lateness import Lateness
from tests.native.random_chat import (
    PIECES,
    TEMPLATES,
    TOOLS,
    VALUES,
    any_schema,
    as_written,
    broken,
    hostile_source,
    mutated,
    schema_text,
)
from tests.native.random_grammars import random_grammar

CHAT = "/v1/chat/completions"
FOLDER = "SKEIN_STRANGERS"  # the variable that names it
WRITTEN, LATENESS = "written.json", "lateness.json"
NUM_PIECES = 24
CJK = "".join(chr(0x4E00 + 2 * number) for number in range(15_000))
LATIN = "abcdefghijklmnop"
STRING = {"type": "string"}


def properties(names: list[str], **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": dict.fromkeys(names, STRING | more), "required": names}


def _schema_of_references(count: int) -> dict[str, Any]:
    names = [f"d{number}" for number in range(count)]
    following = [*names[1:], names[0]]
    defs = {
        name: {"anyOf": [{"$ref": f"#/$defs/{after}"}, STRING]}
        for name, after in zip(names, following, strict=True)
    }
    return {"$defs": defs, "$ref": "#/$defs/d0"}


GRAMMARS = {
    "3,000 characters": f"root ::= [{CJK[:3000]}]*",
    "15,000 characters": f"root ::= [{CJK}]*",
    "499 characters": f"root ::= [{CJK[:499]}]*",
    "3,000 others": f"root ::= [^{CJK[:3000]}]*",
    "8 characters that may come": "root ::= " + " ".join(f"[^{one}]?" for one in CJK[:8]),
    "11 characters that may come": "root ::= " + " ".join(f"[^{one}]?" for one in CJK[:11]),
    "16 letters that may come": "root ::= " + " ".join(f"[{LATIN}]?" for _ in LATIN) + ' "x"',
    "500 others in 30 places": "root ::= "
    + " ".join(f'[^{CJK[500 * n : 500 * n + 400]}]*"x"' for n in range(30)),
    "500 ways": "root ::= " + " | ".join(f'[^{one}] "x"' for one in CJK[:500]),
    "1,500 ranges in a row": "root ::= " + " ".join(f'[{one}-\\U0000FFFF]*"x"' for one in CJK[:1500]),
    "500 groups in each other": "root ::= " + "(" * 500 + "[a-z]" + ")*" * 500,
    "15,000 characters in a text": f'root ::= "{CJK}"',
}
SCHEMAS: dict[str, Any] = {
    "2,400 names that are alike": properties(list(CJK[:2400])),
    "400 properties": properties([f"p{number}" for number in range(400)]),
    "600 references in a circle": _schema_of_references(600),
    "a pattern of groups": STRING | {"pattern": "^" + "(a{0,9}){0,9}" * 100 + "$"},
    "a pattern of characters": STRING | {"pattern": f"^[{CJK[:5000]}]*$"},
}


# What is asked over HTTP.

ORDINARY = "ordinary"  # what anybody asks, pastes and opens: for comparison
KINDS = ("answers", "templates", "schemas", "grammars", "bodies")


def request(kind: str, number: int) -> bytes:
    """The body of a chat completion. Its message names what it is, so that its template can be found."""
    draw = random.Random(f"{kind} {number}")
    asked: dict[str, Any] = {
        "messages": [{"role": "user", "content": f"{kind} {number}"}],
        "max_tokens": draw.choice([1, 4, 12]),
        "stream": draw.random() < 0.5,
    }
    asked |= _asked_besides(kind if kind != "bodies" else draw.choice(KINDS[:-1]), draw)
    text = json.dumps(asked, ensure_ascii=draw.random() < 0.5)
    if kind == "bodies":
        text = mutated(text, PIECES, draw)
    return text.encode("utf-8", "surrogatepass")


def _asked_besides(kind: str, draw: random.Random) -> dict[str, Any]:
    tools = {"tools": TOOLS, "tool_choice": draw.choice(["auto", "auto", "required"])}
    match kind:
        case "ordinary":
            return {}
        case "answers":
            return tools | {"max_tokens": NUM_PIECES}
        case "templates":
            variables = {"enable_thinking": draw.random() < 0.5, "a": any_schema(draw, 2)}
            return draw.choice([{}, {"chat_template_kwargs": variables}, tools])
        case "schemas":
            return _as_format(schema_of(draw), draw)
    return {"grammar": grammar_of(draw)}


def _as_format(text: str, draw: random.Random) -> dict[str, Any]:
    try:
        schema = json.loads(text)
    except (ValueError, RecursionError):
        schema = text
    if draw.random() < 0.3:
        function = {"name": "f", "parameters": schema}
        return {"tools": [{"type": "function", "function": function}], "tool_choice": "required"}
    return {"response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": schema}}}


def schema_of(draw: random.Random) -> str:
    return json.dumps(draw.choice(list(SCHEMAS.values()))) if draw.random() < 0.02 else schema_text(draw)


def grammar_of(draw: random.Random) -> str:
    if draw.random() < 0.02:
        return draw.choice(list(GRAMMARS.values()))
    text = random_grammar(draw.randrange(10**9))
    return text if draw.random() < 0.6 else mutated(text, (*PIECES, "root ::= ", "(", ")*", "{0,999}"), draw)


# What is pasted and opened in the window.

USES = ("grammar", "schema", "prompt", "preset", "chats")


def file_name(use: str) -> str:
    return f"{use}.json"


def ordinary_text_of(kind: str) -> str:
    options = ChatOptions("Be brief. ", {"json_schema": json.dumps(properties(["name", "place"]))})
    match kind:
        case "grammar":
            return 'root ::= "yes" | "no"'
        case "schema":
            return str(options.sampling["json_schema"])
        case "prompt":
            return options.system_prompt
        case "preset":
            return json.dumps(as_object(Preset("preset", options)))
    turns = [Turn(role, "What a day. " * 80) for role in (Role.USER, Role.ASSISTANT)]
    return json.dumps(skein.as_object(Chat(title="chat", turns=turns)))


def text_of(kind: str, number: int) -> str:
    draw = random.Random(f"{kind} {number}")
    match kind:
        case "grammar":
            return grammar_of(draw)
        case "schema":
            return schema_of(draw)
        case "prompt":
            return _long_text(draw)
        case "preset":
            options = ChatOptions(_long_text(draw), _sampling(draw))
            return _spoilt(as_object(Preset(f"preset {number}", options)), draw)
    turns = [Turn(role, _long_text(draw)) for role in (Role.USER, Role.ASSISTANT)]
    chat = Chat(title=f"chat {number}", system_prompt=_long_text(draw), sampling=_sampling(draw), turns=turns)
    return _spoilt(skein.as_object(chat), draw)


def _sampling(draw: random.Random) -> dict[str, Any]:
    return {"grammar": grammar_of(draw)} if draw.random() < 0.5 else {"json_schema": schema_of(draw)}


def _long_text(draw: random.Random) -> str:
    size = draw.choice([10, 1_000, 60_000, 90_000])
    return (mutated("Be brief. ", PIECES, draw) * size)[:size]


def _spoilt(value: dict[str, Any], draw: random.Random) -> str:
    if draw.random() < 0.3:
        value[draw.choice(list(value))] = draw.choice(VALUES)
    text = json.dumps(value)
    return mutated(text, PIECES, draw) if draw.random() < 0.2 else text


# The process.


def prepare(folder: Path, num_uses: int) -> Mapping[str, str]:
    """Writes what a hostile process needs. Returns its environment."""
    sources = [path.read_text(encoding="utf-8") for path in sorted(TEMPLATES.glob("*.jinja"))]
    path = library_path()
    assert path, "the chat layer is not there; packaging/setup makes it"
    library = ChatLayer(path)
    written = []
    for source in sources:
        library("open", template=source, tool_template="", bos="<s>", eos="</s>")
        written.append(as_written(library))
    (folder / WRITTEN).write_text(json.dumps([sources, written]))
    for kind in USES:
        (folder / file_name(f"{ORDINARY} {kind}")).write_text(ordinary_text_of(kind))
        for number in range(num_uses):
            text = text_of(kind, number).encode("utf-8", "surrogatepass")
            (folder / file_name(f"{kind} {number}")).write_bytes(text)
    return {FOLDER: str(folder)}


def _folder() -> Path:
    return Path(os.environ[FOLDER])


@contextmanager
def hostile_process(lateness: Lateness) -> Iterator[Path]:
    """Yields its folder. The loop of each server made within the block is watched."""
    sources, written = json.loads((_folder() / WRITTEN).read_text())

    client = lateness.client()

    class Broken(Detokenizer):
        numbers = itertools.count()

        def __init__(self, _token_piece: Any, stop: tuple[str, ...] = ()) -> None:
            draw = random.Random(next(self.numbers))
            pieces = iter(_in_pieces(broken(draw.choice(written), draw), draw))
            super().__init__(lambda _token: next(pieces, b""), stop)

    def template_of(_backend: Backend, chat_layer: ChatWorker) -> LimitedChatTemplate:
        return LimitedChatTemplate("", chat_layer=chat_layer)

    with (
        mock.patch("app.api.engine_client.EngineClient", client),
        mock.patch.object(model_router, "EngineClient", client),
        mock.patch("app.engine.engine.Detokenizer", Broken),
        mock.patch("app.engine.prompts.prompt_builder._template_of", template_of),
        mock.patch("app.engine.prompts.prompt_builder.ChatWorker", partial(_Templates, sources)),
    ):
        yield _folder()


def _in_pieces(text: str, draw: random.Random) -> list[bytes]:
    """Also in the middle of a character."""
    data = text.encode("utf-8", "surrogatepass")
    cuts = sorted(draw.randrange(len(data) + 1) for _ in range(NUM_PIECES - 1))
    return [data[begin:end] for begin, end in zip([0, *cuts], [*cuts, len(data)], strict=True)]


class _Templates(ChatWorker):
    """Another one with each question, in one child: starting one takes half a second."""

    def __init__(self, sources: list[str]) -> None:
        super().__init__()
        self._sources = sources

    def answered(self, question: dict[str, Any]) -> Message:
        if "template" in question:
            kind, _, number = str(question["inputs"]["messages"][-1][1]).partition(" ")
            draw = random.Random(number)
            is_hostile = kind == "templates"
            source = hostile_source(self._sources, draw) if is_hostile else draw.choice(self._sources)
            question = question | {"template": [source, "", "<s>", "</s>"]}
        return super().answered(question)
