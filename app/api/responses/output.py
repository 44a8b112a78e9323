"""The output of a response: items that grow, and the events that tell of it."""

from __future__ import annotations

import base64
import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from app.api.answer_parts import logprobs_json
from app.api.as_chat import text_part
from app.api.json_body import AnyObject, as_json
from app.api.responses.fields import COMPACTION, VERSION
from app.protocol.output import MessageDelta, SampledToken, ToolCallDelta


class OutputItems:
    """One item is open at a time: reasoning, a message, or a call of a function."""

    def __init__(self, num_top_logprobs: int, namespaces: Mapping[str, tuple[str, str]]) -> None:
        """`namespaces`: those of functions, each with the function's own name, by the names in calls."""
        self.all: list[AnyObject] = []
        self._namespaces = namespaces
        self._num_top = num_top_logprobs
        self._is_open = False
        self._logprobs: list[AnyObject] = []  # of tokens whose text did not come yet

    def add(self, delta: MessageDelta, logprobs: Sequence[SampledToken]) -> list[AnyObject]:
        """The events that tell of it, in order."""
        events: list[AnyObject] = []
        self._logprobs += logprobs_json(logprobs, self._num_top)
        if delta.reasoning:
            events += [*self._begin("reasoning"), self._grow_reasoning(delta.reasoning)]
        if delta.content:
            events += [*self._begin("message"), self._grow_message(delta.content)]
        for call in delta.tool_calls:
            if call.id:
                events += self.close() + self._open(self._new_call(call))
            if call.arguments:
                events.append(self._grow_call(call.arguments))
        return events

    def add_whole(self, item: AnyObject) -> list[AnyObject]:
        self.all.append(item)
        return [self._item_event(f"response.output_item.{word}", item) for word in ("added", "done")]

    def close(self, status: str = "completed") -> list[AnyObject]:
        if not self._is_open:
            return []
        self._is_open = False
        item = self.all[-1]
        item["status"] = status
        match item["type"]:
            case "reasoning":
                text = item["content"][0]["text"]
                ends = [self._event("response.reasoning_text.done", content_index=0, text=text)]
            case "message":
                part = item["content"][0]
                text, logprobs = part["text"], part["logprobs"]
                ends = [
                    self._event("response.output_text.done", content_index=0, text=text, logprobs=logprobs),
                    self._event("response.content_part.done", content_index=0, part=dict(part)),
                ]
            case _:
                name, arguments = item["name"], item["arguments"]
                ends = [self._event("response.function_call_arguments.done", name=name, arguments=arguments)]
        return [*ends, self._item_event("response.output_item.done", item)]

    def _begin(self, kind: str) -> list[AnyObject]:
        if self._is_open and self.all[-1]["type"] == kind:
            return []
        if kind == "reasoning":
            events = self.close() + self._open(_new_reasoning())
            self.all[-1]["content"].append({"type": "reasoning_text", "text": ""})
            return events
        events = self.close() + self._open(_new_message())
        part = {"type": "output_text", "text": "", "annotations": [], "logprobs": []}
        self.all[-1]["content"].append(part)
        return [
            *events,
            self._event("response.content_part.added", content_index=0, part=part | {"logprobs": []}),
        ]

    def _open(self, item: AnyObject) -> list[AnyObject]:
        self.all.append(item)
        self._is_open = True
        shown = item | {"content": []} if "content" in item else dict(item)
        return [self._item_event("response.output_item.added", shown)]

    def _grow_reasoning(self, text: str) -> AnyObject:
        self.all[-1]["content"][0]["text"] += text
        return self._event("response.reasoning_text.delta", content_index=0, delta=text)

    def _grow_message(self, text: str) -> AnyObject:
        part = self.all[-1]["content"][0]
        logprobs, self._logprobs = self._logprobs, []
        part["text"] += text
        part["logprobs"] += logprobs
        return self._event("response.output_text.delta", content_index=0, delta=text, logprobs=logprobs)

    def _grow_call(self, arguments: str) -> AnyObject:
        self.all[-1]["arguments"] += arguments
        return self._event("response.function_call_arguments.delta", delta=arguments)

    def _new_call(self, call: ToolCallDelta) -> AnyObject:
        namespace, name = self._namespaces.get(call.name, ("", call.name))
        return {
            "id": _new_id("fc"),
            "type": "function_call",
            "status": "in_progress",
            "call_id": call.id,
            **({"namespace": namespace} if namespace else {}),
            "name": name,
            "arguments": "",
        }

    def _event(self, kind: str, **fields: Any) -> AnyObject:
        return {"type": kind, "item_id": self.all[-1]["id"], "output_index": len(self.all) - 1, **fields}

    def _item_event(self, kind: str, item: AnyObject) -> AnyObject:
        return {"type": kind, "output_index": len(self.all) - 1, "item": item}


def user_item(content: str | list[AnyObject]) -> AnyObject:
    """A message of the user's, whose parts are those of a chat completion."""
    parts = [text_part(content)] if isinstance(content, str) else content
    return _new_message() | {"status": "completed", "role": "user", "content": list(map(_input_part, parts))}


def _input_part(part: AnyObject) -> AnyObject:
    if part["type"] == "image_url":
        return {"type": "input_image", "image_url": part["image_url"]["url"]}
    return part | {"type": "input_text"} if part["type"] == "text" else part


def compaction_item(summary: str) -> AnyObject:
    """`Item.compacted` reads it."""
    content = as_json({"version": VERSION, "summary": summary}).encode()
    encrypted = base64.b64encode(content).decode()
    return {"id": _new_id("cmp"), "type": COMPACTION, "encrypted_content": encrypted}


def _new_reasoning() -> AnyObject:
    return {"id": _new_id("rs"), "type": "reasoning", "status": "in_progress", "summary": [], "content": []}


def _new_message() -> AnyObject:
    return {
        "id": _new_id("msg"),
        "type": "message",
        "status": "in_progress",
        "role": "assistant",
        "content": [],
    }


def _new_id(prefix: str) -> str:
    return f"{prefix}_{uuid.uuid4().hex}"
