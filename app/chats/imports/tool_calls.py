"""Calls of tools in the messages of other programs, and their results. Any thread."""

import json
from collections.abc import Iterable

from app.chats.imports.sketch import SketchNode, fields_of, id_of, items_of, name_of, paragraphs, text_of
from app.chats.tool_use import ToolRound, ToolState, ToolUse
from app.protocol.json_object import check_size

MAX_CALLS = 1_000  # of a round


class Pieces:
    """The thinking, the text and the calls of one answer, told in the order in which they were written."""

    def __init__(self) -> None:
        self._rounds: list[ToolRound] = []
        self._thoughts: list[str] = []
        self._texts: list[str] = []
        self._uses: dict[str, ToolUse] = {}

    def think(self, text: str) -> None:
        self._thoughts += [text] if text else []

    def say(self, text: str) -> None:
        self._texts += [text] if text else []

    def call(self, call_id: str, tool: object, arguments: object) -> None:
        """`arguments` is an object, or JSON of one."""
        written = text_of(arguments) if isinstance(arguments, str) else json.dumps(fields_of(arguments))
        use = ToolUse(call_id, name_of(tool), written, ToolState.STOPPED)
        is_next = self._rounds and not self._texts and not self._thoughts
        if not is_next or len(self._rounds[-1].uses) == MAX_CALLS:
            said, thought = paragraphs(self._texts), paragraphs(self._thoughts)
            self._rounds.append(ToolRound("", said, thought, is_whole=True))
            self._texts, self._thoughts = [], []
        self._rounds[-1].uses.append(use)
        self._uses[call_id] = use

    def result(self, call_id: str, text: str) -> None:
        """One without its call becomes a call of a tool without a name."""
        if call_id not in self._uses:
            self.call(call_id, "", {})
        use = self._uses[call_id]
        use.result, use.state = text, ToolState.DONE

    def put_into(self, node: SketchNode) -> None:
        node.rounds = tuple(self._rounds)
        node.text, node.thinking = paragraphs(self._texts), paragraphs(self._thoughts)


def take_calls(node: SketchNode, calls: object) -> None:
    """`calls` is a list, or JSON of one. What was said before them is part of the round."""
    pieces = Pieces()
    pieces.think(node.thinking)
    pieces.say(node.text)
    for call in map(fields_of, items_of(read_json(calls) if isinstance(calls, str) else calls)):
        function = fields_of(call.get("function"))
        pieces.call(id_of(call.get("id")), function.get("name"), function.get("arguments"))
    pieces.put_into(node)


def join_results(nodes: Iterable[SketchNode], call_ids: dict[str, str]) -> None:
    """`call_ids` by node, in the file's order: what was called there. A result becomes part of its call."""
    by_id = {node.id: node for node in nodes}
    open_calls = {
        node.id: {use.id: use for round_ in node.rounds for use in round_.uses}
        for node in by_id.values()
        if node.rounds
    }
    for node_id, call_id in call_ids.items():
        result = by_id[node_id]
        calls = open_calls.get(result.parent, {})
        open_calls[node_id] = calls  # the next result follows this one
        if use := calls.get(call_id):
            use.result, use.state = result.text, ToolState.DONE
            result.is_message = False


def read_json(text: str) -> object:
    """None for what is none, or is too much to be read at once."""
    try:
        check_size(text.encode("utf-8", "replace"))
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
