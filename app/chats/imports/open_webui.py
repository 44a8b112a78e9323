"""Open WebUI's chat export: a list of chats, each with a tree in `chat.history`. Any thread."""

import html
import re
from collections.abc import Iterator
from typing import Any

from app.chats.attachment import Attachment, fenced
from app.chats.imports.media import from_parts, from_url
from app.chats.imports.sketch import (
    ANY,
    Kinds,
    Shape,
    Sketch,
    SketchNode,
    fields_of,
    id_of,
    in_a_row,
    items_of,
    leaves,
    name_of,
    seconds_of,
    text_of,
    unread,
)
from app.chats.imports.tool_calls import Pieces, read_json
from app.chats.tool_json import duration_of
from app.protocol.request import Role

NAME = "Open WebUI"

# An answer has its thinking, its calls and the programs that it ran as HTML, with their values as attributes.
_DETAILS = re.compile(r'<details type="(reasoning|tool_calls|code_interpreter)"([^<>]*)>')
_END_OF_DETAILS = "</details>"
_ATTRIBUTE = re.compile(r'(?<![a-z_])([a-z_]+)="([^"]*)"')
_DIGITS = re.compile("[0-9]{1,6}")
_MEDIA = ("image_url", "input_audio")
_CONTENT: Shape = Kinds("type", {"text": leaves("type text"), **dict.fromkeys(_MEDIA)})
_MESSAGE: Shape = {
    **leaves("id parentId childrenIds role timestamp model models modelName modelIdx selectedModelId user"),
    **leaves("done completedAt usage info arena feedbackId lastSentence files output"),
    "content": _CONTENT,
}
_CHAT: dict[str, Shape] = {
    **leaves("id title models params system timestamp files messages"),
    "history": {"messages": {ANY: _MESSAGE}, "currentId": None},
}
_SHAPE: Shape = {
    **_CHAT,
    **leaves("user_id created_at updated_at share_id folder_id"),
    "chat": _CHAT,
    "meta": {},
}


def is_mine(entry: dict[str, Any]) -> bool:
    chat = _chat(entry)
    return isinstance(fields_of(chat.get("history")).get("messages"), dict)


def sketch(entry: dict[str, Any]) -> Sketch:
    chat = _chat(entry)
    history = fields_of(chat.get("history"))
    stored = fields_of(history.get("messages"))
    result = Sketch(
        source_id=id_of(entry.get("id")) or id_of(chat.get("id")),
        title=name_of(entry.get("title")) or name_of(chat.get("title")),
        system_prompt=text_of(fields_of(chat.get("params")).get("system")) or text_of(chat.get("system")),
        created_at=seconds_of(entry.get("created_at")) or seconds_of(chat.get("timestamp")),
        is_pinned=entry.get("pinned") is True,
        current=id_of(history.get("currentId")),
        unread=unread(entry, _SHAPE),
    )
    if stored:
        rows = [fields_of(message) for message in stored.values()]
        result.nodes = [_node(id_of(key), row) for key, row in zip(stored, rows, strict=True)]
    else:  # chats from before there were versions
        rows = [fields_of(message) for message in items_of(chat.get("messages"))]
        result.nodes = in_a_row([_node(str(index), row) for index, row in enumerate(rows, start=1)])
        result.unread += unread(rows, _MESSAGE)
    result.unread["output"] += sum(map(_has_other_output, rows))
    files = [file for row in rows for file in _files(row)]
    known = {_file_id(file) for file in files}
    others = [file for file in items_of(chat.get("files")) if _file_id(file) not in known]
    num_taken = sum(len(node.attachments) for node in result.nodes)
    result.num_left_out = len(files) + len(others) - num_taken
    return result


def _chat(entry: dict[str, Any]) -> dict[str, Any]:
    """A chat exported alone may lack its metadata."""
    return fields_of(entry.get("chat")) or entry


def _node(node_id: str, message: dict[str, Any]) -> SketchNode:
    node = SketchNode(
        node_id,
        id_of(message.get("parentId")),
        text_of(message.get("role")),
        model=name_of(message.get("model")),
        created_at=seconds_of(message.get("timestamp")),
        attachments=(*_attachments(_files(message)), *from_parts(items_of(message.get("content")))),
    )
    text = _joined(message.get("content"))
    if node.role == Role.ASSISTANT and _DETAILS.search(text):
        _take_details(text, node)
    elif text:
        node.text = text
    else:
        _take_output(items_of(message.get("output")), node)
    return node


def _has_other_output(message: dict[str, Any]) -> bool:
    """Whether its text is not all of it, and nothing but its text is taken."""
    text = _joined(message.get("content"))
    items = map(fields_of, items_of(message.get("output")))
    return bool(text) and not _DETAILS.search(text) and any(item.get("type") != "message" for item in items)


def _take_details(text: str, node: SketchNode) -> None:
    pieces = Pieces()
    end = 0
    for start, kind, written, inside, behind in _details(text):
        pieces.say(text[end:start].strip())
        end = behind
        values = {name: html.unescape(value) for name, value in _ATTRIBUTE.findall(written)}
        if kind == "reasoning":
            pieces.think(_unquoted(inside))
            duration = values.get("duration", "")
            node.thinking_s += duration_of(int(duration)) if _DIGITS.fullmatch(duration) else 0.0
        elif kind == "tool_calls":
            pieces.call(values.get("id", ""), values.get("name"), _unpacked(values.get("arguments", "")))
            if result := _unpacked(values.get("result", "")) or html.unescape(inside):
                pieces.result(values.get("id", ""), result)
        else:
            pieces.say(inside.strip())
            pieces.say(_program_output(values.get("output", "")))
    pieces.say(text[end:].strip())
    pieces.put_into(node)


def _details(text: str) -> Iterator[tuple[int, str, str, str, int]]:
    """Where each begins, its kind, its attributes, what is in it, and where it ends."""
    at = 0
    while (found := _DETAILS.search(text, at)) and (end := text.find(_END_OF_DETAILS, found.end())) >= 0:
        inside = text[found.end() : end]
        summary, mark, rest = inside.partition("</summary>")
        inside = rest if mark and summary.lstrip().startswith("<summary>") else inside
        at = end + len(_END_OF_DETAILS)
        yield found.start(), found[1], found[2], inside.strip(), at


def _take_output(items: list[Any], node: SketchNode) -> None:
    """The same as items, as newer versions have it."""
    pieces = Pieces()
    for item in map(fields_of, items):
        match item.get("type"):
            case "reasoning":
                pieces.think(_joined(item.get("summary")) or _joined(item.get("content")))
                node.thinking_s += duration_of(item.get("duration"))
            case "function_call":
                pieces.call(id_of(item.get("call_id")), item.get("name"), item.get("arguments"))
            case "function_call_output":
                pieces.result(id_of(item.get("call_id")), _joined(item.get("output")))
            case "open_webui:code_interpreter":
                pieces.say(fenced(text_of(item.get("code")), name_of(item.get("lang"))))
                pieces.say(_program_output(item.get("output")))
            case _:
                pieces.say(_joined(item.get("content")))
    pieces.put_into(node)


def _joined(parts: object) -> str:
    """A text, or the texts of parts."""
    texts = (text_of(part) or text_of(fields_of(part).get("text")) for part in items_of(parts))
    return text_of(parts) or "".join(texts)


def _unpacked(value: str) -> str:
    """JSON of a text, or a text."""
    read = read_json(value)
    return text_of(read) if isinstance(read, str) else value


def _program_output(output: object) -> str:
    result = fields_of(read_json(output) if isinstance(output, str) else output)
    printed = [text_of(result.get(name)).strip() for name in ("stdout", "result", "stderr")]
    text = "\n".join(filter(None, printed)) or ("" if result else text_of(output).strip())
    return fenced(text) if text else ""


def _unquoted(details: str) -> str:
    """The thinking is stored there as an escaped quotation."""
    return "\n".join(html.unescape(re.sub(r"^(?:>|&gt;) ?", "", line)) for line in details.split("\n"))


def _files(message: dict[str, Any]) -> list[Any]:
    """The files of the message, of its parts, and of its calls."""
    content = message.get("content")
    media = [part for part in items_of(content) if fields_of(part).get("type") in _MEDIA]
    of_calls = (
        dict(_ATTRIBUTE.findall(found[2])).get("files", "") for found in _DETAILS.finditer(_joined(content))
    )
    called = [file for written in of_calls for file in items_of(read_json(html.unescape(written)))]
    return [*items_of(message.get("files")), *called, *media]


def _file_id(file: object) -> str:
    outer = fields_of(file)
    return id_of(outer.get("id")) or id_of(fields_of(outer.get("file")).get("id")) or id_of(outer.get("url"))


def _attachments(files: list[Any]) -> list[Attachment]:
    """The texts of files, and pictures that are in it."""
    found = []
    for each in map(fields_of, files):
        if picture := from_url(each.get("url"), each.get("name")):
            found.append(picture)
            continue
        file = fields_of(each.get("file"))
        if text := text_of(fields_of(file.get("data")).get("content")):
            found.append(Attachment(name_of(file.get("filename")) or name_of(each.get("name")), text))
    return found
