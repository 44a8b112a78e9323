"""Chats in which the model may call tools: what is offered, what is asked, what a call and its answer are.

The kinds of tools stand in tools.toml; many more are made of nouns and verbs by chance, so that the model
learns to compare a question with descriptions. Names of tools and parameters are often nonsense. Marked
"final" there is what training never sees: descriptions and wordings of every kind, and the names that go with
them.
"""

import json
import random
import re
import tomllib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from starter_model import arithmetic, questions, small_talk, variation
from starter_model.questions import expand
from starter_model.tool_words import CITIES, DOMAINS, EXTENSIONS, LANGUAGES, NOUNS, STEMS, VERBS, ZONES

_KINDS_FILE = Path(__file__).with_name("tools.toml")

NUM_LINES_TOLD = 3
NUM_HELD_OUT = 200
MAX_RESULT_CHARS = 500  # the chat template shows the model no more of a result
MAX_DESCRIPTION_CHARS = 160  # nor more than that of a description

Arguments = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Parameter:
    name: str
    note: str = ""
    type: str = "string"
    is_required: bool = True
    default: str = ""  # what the note says to use where the user says nothing


@dataclass(frozen=True, slots=True)
class OfferedTool:
    """A tool as one chat offers it. `group`: what it does; two of one group would fit one question."""

    group: str
    name: str
    description: str
    parameters: tuple[Parameter, ...]
    ask: Callable[[random.Random], tuple[str, Arguments]] = field(compare=False)
    result: str = "text"

    def definition(self) -> dict[str, Any]:
        """As OpenAI has it."""
        properties: dict[str, Any] = {}
        for one in self.parameters:
            properties[one.name] = {"type": one.type} | ({"description": one.note} if one.note else {})
        required = [one.name for one in self.parameters if one.is_required]
        parameters = {"type": "object", "properties": properties, "required": required}
        function = {"name": self.name, "description": self.description, "parameters": parameters}
        return {"type": "function", "function": function}


@dataclass(frozen=True, slots=True)
class ToolTurn:
    """A question; the call and its result, if a tool fits; the answer."""

    asked: str
    answer: str
    name: str = ""
    arguments: Arguments = field(default_factory=dict)
    result: str = ""


@dataclass(frozen=True, slots=True)
class ToolChat:
    system: str | None
    tools: tuple[OfferedTool, ...]
    turns: tuple[ToolTurn, ...]

    def messages(self) -> Iterator[tuple[str, str]]:
        """Role and content as the chat template writes them."""
        yield "system", "\n\n".join(filter(None, (self.system, listing(self.tools))))
        for turn in self.turns:
            yield "user", turn.asked
            if turn.name:
                yield "assistant", written_call(turn.name, turn.arguments)
                yield "tool", turn.result[:MAX_RESULT_CHARS]
            yield "assistant", turn.answer


def listing(tools: Sequence[OfferedTool]) -> str:
    """The part of the prompt that tells of tools: what export_gguf.CHAT_TEMPLATE makes of their definitions.

    What a tool is for stands before its name, so that what the model remembers of the name tells it.
    """
    return "# Tools" + "".join(_listed(tool) for tool in tools)


def _listed(tool: OfferedTool) -> str:
    description = (tool.description or tool.name).strip().split("\n")[0].split(". ")[0]
    lines = [description[:MAX_DESCRIPTION_CHARS].rstrip("."), tool.name]
    shown = [one for one in tool.parameters if one.is_required] or tool.parameters
    for one in shown:
        line = f'"{one.name}"' + ("" if one.is_required else "?")
        line += f" ({one.type})" if one.type != "string" else ""
        note = one.note.split("\n")[0][:MAX_DESCRIPTION_CHARS]
        lines.append(f"{line}: {note}" if note else line)
    return "\n\n" + "\n".join(lines)


def written_call(name: str, arguments: Arguments) -> str:
    written = json.dumps(arguments, ensure_ascii=False)
    return f'<tool_call>\n{{"name": "{name}", "arguments": {written}}}\n</tool_call>'


def told(result: str) -> str:
    """The answer to a result: the fields of a JSON object, or the first lines."""
    shown = result[:MAX_RESULT_CHARS]
    try:
        fields = json.loads(shown)
    except ValueError:
        fields = None
    if isinstance(fields, dict) and fields:
        lines = [
            f"{name}: {value if isinstance(value, str) else json.dumps(value)}"
            for name, value in fields.items()
        ]
    else:
        lines = [line for line in shown.strip().split("\n") if line.strip()]
    if not lines:
        return EMPTY
    return "\n".join(lines[:NUM_LINES_TOLD]) + ("\n…" if len(lines) > NUM_LINES_TOLD else "")


EMPTY = "The result is empty."


def random_tool_chat(rng: random.Random, longest: int, final: bool = False) -> ToolChat:
    tools = draw_tools(rng, rng.choice((1, 2, 3, 3, 4, 4, 5, 5, 6, 6)), final)
    system = (
        rng.choice(
            (
                "You are a helpful assistant.",
                "Answer briefly.",
                "You are Skein's starter model.",
                "Be brief and correct.",
                "Reply in plain English.",
            )
        )
        if rng.random() < 0.15
        else None
    )
    turns: list[ToolTurn] = []
    result: int | None = None
    for _ in range(longest):
        turn = _next_turn(rng, tools, result)
        number = turn.result if turn.name else turn.answer.rpartition(" = ")[2]
        result = int(number) if re.fullmatch(r"-?\d{1,9}", number) else None
        turns.append(turn)
    return ToolChat(system, tools, tuple(turns))


def _next_turn(rng: random.Random, tools: tuple[OfferedTool, ...], result: int | None) -> ToolTurn:
    maths = [tool for tool in tools if tool.group == "math" and len(tool.parameters) == 1]
    if result is not None and maths and rng.random() < 0.25:
        b = rng.randrange(1, 100)
        sign, wordings = rng.choice((("+", arithmetic.ADD_TO_THAT), ("-", arithmetic.TAKE_FROM_THAT)))
        arguments = {maths[0].parameters[0].name: f"{result} {sign} {b}"}
        return call_turn(rng, maths[0], rng.choice(wordings).format(b=b), arguments)
    if rng.random() < 0.68:
        tool = rng.choice(tools)
        return call_turn(rng, tool, *tool.ask(rng))
    return no_call_turn(rng, tools)


def call_turn(rng: random.Random, tool: OfferedTool, asked: str, arguments: Arguments) -> ToolTurn:
    result = _draw_result(rng, tool)
    return ToolTurn(asked, told(result), tool.name, arguments, result)


def no_call_turn(rng: random.Random, tools: Sequence[OfferedTool]) -> ToolTurn:
    """A question that none of the tools fits: another tool would, or it is one that needs none."""
    if rng.random() < 0.45 and (turn := another_tools_turn(rng, tools)):
        return turn
    groups = {tool.group for tool in tools}
    while True:
        asked, answer = _plain_turn(rng, "math" in groups)
        if not _may_fit(asked, groups if answer == small_talk.OFF_TOPIC else groups & {"define"}):
            return ToolTurn(asked, answer)


def another_tools_turn(
    rng: random.Random, tools: Sequence[OfferedTool], final: bool = False
) -> ToolTurn | None:
    groups = {tool.group for tool in tools}
    near = _family_of(rng, rng.choice(tools)) if not final and rng.random() < 0.5 else None
    other = draw_tool(rng, final, family=near)
    if other.group in groups | {"math", "echo", "define"} or (
        other.group in _SEARCHES and groups & _SEARCHES
    ):
        return None
    return ToolTurn(other.ask(rng)[0], small_talk.OFF_TOPIC)


def _may_fit(asked: str, groups: set[str]) -> bool:
    return any(re.search(_FITS[group], asked, re.I) for group in groups & _FITS.keys())


_SEARCHES = {"grep", "list", "web search", "chat search"}
# What of the untrained prompts such a tool might be asked after all.
_FITS = {
    "time": "time|day|date|late",
    "weather": "weather|rain|snow",
    "price": "cost|buy|price|much",
    "play": "play|song|music|sing",
    "translate": "translate|say|spell|mean",
    "note": "write|note|remember",
    "send": "write|send|tell|letter",
    "echo": "say|repeat|echo",
    "write": "write",
    "web search": "search|find|look|what|who|news",
    "fetch": "http",
    "timer": "remind|minute",
    "define": "mean|word|defin",
    "joke": "joke|laugh",
    "image": "draw|picture|paint|image",
    "system": "computer|processor|memory|system|disk",
    "process": "program|process|run",
    "app": "open|start|run|launch|program",
    "route": "far|way|get to|distance",
    "units": "how many|convert|how much",
    "event": "calendar|appointment|meeting",
    "memory": "remember|memor|store",
    "thinking": "think|plan|step|explain|how",
    "case": "capital|upper|write",
    "count words": "count|how many|how long|word",
    "clipboard": "clipboard|copy|paste",
    "sql": "sql|database|select|query",
    "copy": "copy",
}


def _plain_turn(rng: random.Random, has_maths: bool) -> tuple[str, str]:
    kind = rng.random()
    if kind < 0.35:
        return questions.question_turn(rng)
    if kind < 0.42:
        return small_talk.polite_turn(rng)
    if kind < 0.52:
        return arithmetic.count_turn(rng, longest=20)
    if kind < 0.55:
        return arithmetic.too_far_turn(rng)
    if kind < 0.72 and not has_maths:
        if rng.random() < 0.3:
            return arithmetic.too_hard_turn(rng)
        turn = arithmetic.sum_turn if rng.random() < 0.6 else arithmetic.difference_turn
        return turn(rng)[:2]
    while True:
        asked, answer = small_talk.off_topic_turn(rng)
        if len(asked) < 150:
            return asked, answer


# --- What is held out ---


def held_out_calls() -> list[ToolChat]:
    """A tool fits, among up to five others; none of their descriptions, names and wordings was trained."""
    return list(_held_out_calls("held-out calls", NUM_HELD_OUT))


def held_out_results() -> list[ToolChat]:
    """To be answered from the result."""
    return list(_held_out_calls("held-out results", NUM_HELD_OUT // 2))


def _held_out_calls(seed: str, num_chats: int) -> Iterator[ToolChat]:
    rng = random.Random(seed)
    for _ in range(num_chats):
        tools = draw_tools(rng, rng.randint(1, 6), final=True)
        tool = rng.choice(tools)
        yield ToolChat(None, tools, (call_turn(rng, tool, *tool.ask(rng)),))


def held_out_without_fit() -> list[ToolChat]:
    """No tool fits: half ask for another tool, half for something that the model answers by itself."""
    rng = random.Random("held-out without fit")
    known = questions.held_out_questions() + questions.final_questions() + small_talk.held_out_off_topic()
    chats: list[ToolChat] = []
    while len(chats) < NUM_HELD_OUT:
        tools = draw_tools(rng, rng.randint(1, 6), final=True)
        turn = another_tools_turn(rng, tools, final=True) if len(chats) % 2 else ToolTurn(*rng.choice(known))
        if turn and not _may_fit(turn.asked, {tool.group for tool in tools}):
            chats.append(ToolChat(None, tools, (turn,)))
    return chats


# --- Tools ---

# As the tools of one server are: groups that have to do with the same, or a noun that all have in common.
Family = tuple[str, ...] | str
_FAMILIES: tuple[Family, ...] = (
    (
        "read",
        "list",
        "grep",
        "mkdir",
        "delete",
        "info",
        "move",
        "write",
        "tree",
        "allowed",
        "find files",
        "copy",
    ),
    ("read", "write", "delete", "move"),
    ("git status", "git log", "git diff", "git branch", "commit", "grep", "list"),
    ("time", "convert time", "timer", "event", "weather"),
    ("fetch", "web search", "define", "price", "chat search", "read"),
    ("send", "note", "echo", "translate", "case", "count words", "memory", "write"),
    ("math", "units", "random", "price"),
    ("play", "switch", "volume", "app", "image", "screenshot", "process", "system"),
)


def draw_tools(rng: random.Random, num_tools: int, final: bool = False) -> tuple[OfferedTool, ...]:
    """Of different groups and with different names."""
    tools: list[OfferedTool] = []
    family = _draw_family(rng) if not final and rng.random() < 0.4 else None
    prefix = (
        rng.choice(("git_", "skein_", "fs-", "my_", f"{_made_up_word(rng)}_")) if rng.random() < 0.12 else ""
    )
    if not final and rng.random() < 0.15:  # it must learn not to do sums by itself where there is a tool
        tools.append(kind_tool(rng, rng.choice([kind for kind in _kinds() if kind["group"] == "math"])))
    while len(tools) < num_tools:
        tool = draw_tool(rng, final, prefix, family)
        if tool.name not in [one.name for one in tools] and tool.group not in [one.group for one in tools]:
            tools.append(tool)
    return tuple(tools)


def draw_tool(
    rng: random.Random, final: bool = False, prefix: str = "", family: Family | None = None
) -> OfferedTool:
    """`family`: most are of it."""
    if family and rng.random() < 0.75:
        if isinstance(family, str):
            return _lexical_tool(rng, final, prefix, family)
        return kind_tool(
            rng, rng.choice([kind for kind in _kinds() if kind["group"] in family]), final, prefix
        )
    if rng.random() < (0.2 if final else 0.4):
        return _lexical_tool(rng, final, prefix)
    return kind_tool(rng, rng.choice(_kinds(final)), final, prefix)


def _draw_family(rng: random.Random) -> Family:
    return rng.choice(_FAMILIES) if rng.random() < 0.6 else _noun(rng)


def _family_of(rng: random.Random, tool: OfferedTool) -> Family:
    families = [family for family in _FAMILIES if tool.group in family]
    return rng.choice(families) if families else tool.group.partition(" ")[2]


def _noun(rng: random.Random) -> str:
    return _made_up_word(rng).lower() if rng.random() < 0.3 else rng.choice(NOUNS)


@cache
def _kinds(final: bool = False) -> tuple[dict[str, Any], ...]:
    kinds = tomllib.loads(_KINDS_FILE.read_text(encoding="utf-8"))["kind"]
    # Those that everybody has are met more often.
    often = {"time", "math", "chat search", "read", "fetch", "list", "grep"}
    known = (kind for kind in kinds if "final" in kind or not final)
    return tuple(kind for kind in known for _ in range(2 if kind["group"] in often else 1))


@cache
def _final_wordings() -> tuple[str, ...]:
    return tuple(questions.fold(wording) for kind in _kinds(final=True) for wording in kind["final"])


def _trained_wording(rng: random.Random, wordings: Sequence[str]) -> str:
    while True:
        wording = _led(rng, expand(rng, rng.choice(wordings)))
        folded = questions.fold(wording)
        if not any(final in folded for final in _final_wordings()):
            return wording


def _led(rng: random.Random, wording: str) -> str:
    """An order is sometimes a request; more may be said than what is asked for."""
    if rng.random() < 0.2 and _ORDER.match(wording):
        wording = rng.choice(_REQUESTS).format(wording[:1].lower() + wording[1:])
    if wording[-1:] in ".?" and rng.random() < 0.05:
        wording += rng.choice(_AFTERWORDS)
    return wording


def kind_tool(rng: random.Random, kind: dict[str, Any], final: bool = False, prefix: str = "") -> OfferedTool:
    name = _draw_name(rng, kind["names"], final, prefix)
    description = expand(rng, rng.choice(kind["final_descriptions" if final else "descriptions"]))
    if rng.random() < 0.3:
        description += rng.choice(
            (".", ". It is quick.", ". Use it when the user asks for it.", ".\nMore follows.")
        )
    if rng.random() < 0.1:
        description = description.lower()
    slots = kind.get("parameters", [])
    names: list[str] = []
    for _slot, known, *_more in slots:
        while (drawn := _parameter_name(rng, known, final)) in names:
            pass
        names.append(drawn)
    is_zone = kind["group"] == "time" and bool(slots)
    may_lack = is_zone and rng.random() < 0.5
    is_required = not may_lack or rng.random() < 0.6
    default = rng.choice([zone for _, zone in ZONES] + ["Etc/UTC"] * 9) if may_lack and is_required else ""
    parameters = tuple(
        _parameter(rng, name, slot, is_required, default) for name, slot in zip(names, slots, strict=True)
    )
    wordings = kind["final" if final else "asked"]
    if kind["group"] == "math" and not final:
        wordings = [*wordings, *(_SUMS if len(slots) == 2 else _EXPRESSIONS)]
    without = _without_zone(final)
    drawn = _final_wording if final else _trained_wording

    def ask(rng: random.Random) -> tuple[str, Arguments]:
        if may_lack and rng.random() < 0.45:
            arguments = {names[0]: default} if default else {}
            return _dressed(rng, drawn(rng, without), {}), arguments
        values = {slot[0]: _SLOTS[slot[0].rstrip("2")](rng) for slot in slots}
        asked = _dressed(rng, drawn(rng, wordings), {slot: said for slot, (said, _) in values.items()})
        return asked, {name: values[slot[0]][1] for name, slot in zip(names, slots, strict=True)}

    return OfferedTool(kind["group"], name, description, parameters, ask, kind["result"])


# What the model answers by itself where there is no such tool.
_SUMS = arithmetic.SUM_WORDINGS
_EXPRESSIONS = tuple(
    wording.replace("{a} + {b}", "{expression}") for wording in _SUMS if "{a} + {b}" in wording
)


def _final_wording(rng: random.Random, wordings: Sequence[str]) -> str:
    return expand(rng, rng.choice(wordings))


def _without_zone(final: bool) -> list[str]:
    wordings: list[str] = _kinds()[0]["final" if final else "asked"]
    return wordings


def _parameter(rng: random.Random, name: str, slot: list[Any], is_required: bool, default: str) -> Parameter:
    type_ = slot[3] if len(slot) > 3 else "string"
    note = "" if rng.random() < 0.3 and slot[0] != "zone" else expand(rng, rng.choice(slot[2]))
    note = re.sub(r"\{(\w+)\}", lambda found: str(_SLOTS[found[1]](rng)[1]), note)
    if default:
        note += rng.choice(
            (
                f". Use '{default}' as local timezone if no timezone provided by the user.",
                f". {default} if none is given.",
                f". Default: {default}",
            )
        )
    return Parameter(name, note, type_, is_required, default)


def _lexical_tool(rng: random.Random, final: bool, prefix: str, noun: str = "") -> OfferedTool:
    """A tool of a noun, and perhaps a verb, that a question then has, too."""
    noun = noun or (_made_up_word(rng).lower() if final else _noun(rng))
    thing = rng.choice((*NOUNS[:40], "name", "id", "thing", "item", "person", "city"))
    verb = rng.choice(VERBS)
    slot = rng.choice(("word", "word", "word", "n", "query"))
    kind = rng.randrange(4)
    description, wordings, known, has_value = (
        (
            (
                "(Get|Return|Look up|Tell|Show|Find) the {noun} of (a|an|the|some) {thing}",
                "[The] {noun} of (a|the) {thing}",
                "{noun} by {thing}",
            ),
            (
                "What is the {noun} of {v}?",
                "{noun} of {v}",
                "(Tell|Give|Show) me the {noun} of {v}",
                "(Get|Look up) the {noun} of {v}",
                "What {noun} does {v} have?",
                "Which {noun} has {v}?",
            ),
            [f"get_{noun}", f"{noun}_of", f"{thing}_{noun}", noun],
            True,
        ),
        (
            (
                "(List|Show|Get|Return) [all|all of] [the|your|my] {noun}s",
                "[All] {noun}s [that there are]",
                "Which {noun}s there are",
            ),
            (
                "(List|Show) [me] [all] [my|the] {noun}s",
                "Which {noun}s are there?",
                "What {noun}s do I have?",
                "(Give|Tell) me (the|all|my) {noun}s",
                "Are there {noun}s?",
                "my {noun}s",
                "{noun}s please",
            ),
            [f"list_{noun}s", f"get_{noun}s", f"all_{noun}s", f"{noun}s"],
            False,
        ),
        (
            (
                "{Verb} (a|an|the|one) {noun}",
                "{Verb} (a|an) {noun} [of the user|by its name]",
                "{Verb}s (a|one) {noun}",
            ),
            (
                "{verb} the {noun} {v}",
                "[Please|Can you] {verb} [the] {noun} {v}",
                "I want to {verb} the {noun} {v}",
                "{verb} {noun} {v}",
                "{verb} {v}, the {noun}",
            ),
            [f"{verb}_{noun}", f"{noun}_{verb}", f"{verb}{noun.capitalize()}"],
            True,
        ),
        (
            ("(Search|Find|Look for) {noun}s [by words]", "(Search|Find) [the] {noun}s that match"),
            (
                "(Find|Search|Show|Show me) {noun}s about {v}",
                "search [the|my|all] {noun}s for {v}",
                "(Look for|Find|Search) {v} in [the|my] {noun}s",
                "Which {noun}s are about {v}?",
            ),
            [f"search_{noun}s", f"find_{noun}", f"{noun}_search"],
            True,
        ),
    )[kind]
    verb_of = verb if kind == 2 else ("get", "list", "", "search")[kind]
    fill = {"noun": noun, "thing": thing, "verb": verb, "Verb": verb.capitalize()}
    described = _fill(expand(rng, rng.choice(description)), fill)
    name = _draw_name(rng, known, final, prefix)
    parameters: tuple[Parameter, ...] = ()
    if kind == 3:
        slot = "query"
    if has_value:
        type_ = "integer" if slot == "n" else "string"
        called = _parameter_name(
            rng,
            [thing, "name", "id", noun, "value", "which"] if kind < 3 else ["query", "words", "text", "q"],
            final,
        )
        note = rng.choice(
            ("", "", f"The {thing}", f"Which {thing if kind == 0 else noun}", f"Name of the {noun}")
        )
        parameters = (Parameter(called, note, type_),)

    def ask(rng: random.Random) -> tuple[str, Arguments]:
        said, value = _SLOTS[slot](rng)
        wording = _fill(expand(rng, rng.choice(wordings)), fill)
        asked = _dressed(rng, wording if final else _led(rng, wording), {"v": said})
        return asked, {parameters[0].name: value} if has_value else {}

    result = ("words", "found", "done", "found")[kind]
    return OfferedTool(f"{verb_of} {noun}", name, described, parameters, ask, result)


def _fill(text: str, values: dict[str, str]) -> str:
    return re.sub(r"\{(\w+)\}", lambda found: values.get(found[1], found[0]), text)


def _draw_name(rng: random.Random, known: Sequence[str], final: bool, prefix: str) -> str:
    kind = rng.random()
    if final:
        return _final_name(rng, "") if kind < 0.6 else _final_name(rng, rng.choice(known))
    if kind < 0.4:
        return prefix + rng.choice(known)
    if kind < 0.55:
        name = rng.choice(known)
        return prefix + rng.choice(
            (
                f"{name}_{rng.randrange(1, 10)}",
                f"{_made_up_word(rng).lower()}_{name}",
                f"do_{name}",
                name.replace("_", "-"),
                f"{name}_tool",
            )
        )
    words = [
        _made_up_word(rng).lower() if rng.random() < 0.5 else _plain_word(rng)
        for _ in range(rng.randint(1, 2))
    ]
    return (
        prefix
        + rng.choice(("_", "_", "-", "")).join(words)
        + (str(rng.randrange(1, 100)) if rng.random() < 0.15 else "")
    )


def _final_name(rng: random.Random, known: str) -> str:
    """A name that training cannot draw: it is made of other syllables, and written in another way."""
    word = "".join(rng.choice("qxyzw") + rng.choice("aeiou") + rng.choice("dktm") for _ in range(2))
    return (
        f"{word}_{known}"
        if known
        else rng.choice((word, f"{word}_{_plain_word(rng)}_{rng.randrange(100, 999)}"))
    )


def _parameter_name(rng: random.Random, known: Sequence[str], final: bool) -> str:
    if final:
        return rng.choice((_final_name(rng, ""), f"the_{rng.choice(known)}", f"{rng.choice(known)}_in"))
    if rng.random() < 0.75:
        return rng.choice(known)
    return _plain_word(rng) if rng.random() < 0.5 else _made_up_word(rng).lower()


# --- What people say, and what the argument then is ---

_ORDERS = (
    "search", "find", "show", "list", "read", "open", "get", "tell", "give", "look", "fetch", "load",
    "set", "start", "write", "save", "add", "put", "send", "roll", "throw", "repeat", "echo", "define",
    "play", "turn", "switch", "create", "make", "delete", "remove", "move", "rename", "convert",
    "commit", "translate", "draw", "check", "take", "print", "display", "calculate", "compute", "work",
    "say", "keep", "store", "visit", "go", "have", "pick", "choose", "erase", "copy", "run", "do", "sum",
    "browse", "let", "note", "remember", *VERBS,
)  # fmt: skip
_ORDER = re.compile(rf"({'|'.join(_ORDERS)}) ", re.I)
_REQUESTS = (
    "Please {}", "Could you {}?", "Could you please {}?", "Can you {}?", "Would you {}?",
    "I want you to {}", "I need you to {}", "I would like you to {}", "You should {}", "Now {}",
    "Go and {}", "Be so kind and {}", "It would be nice if you could {}", "Next, {}",
    "Will you please {}?", "May I ask you to {}?", "I'd like you to {}.", "Kindly {}", "First {}.",
    "Then {}", "Just {}", "Quickly {}", "Try to {}",
)  # fmt: skip
_AFTERWORDS = (
    " I need it soon.", " It is for work.", " That is all.", " Thank you!", " I have to know.",
    " It is urgent.", " I forgot.", " Thanks a lot.",
)  # fmt: skip


def _dressed(rng: random.Random, wording: str, values: dict[str, str]) -> str:
    """Only the words of the wording change their case: arguments are copied as they were typed."""
    kind = rng.random()
    if kind < 0.3:
        wording = wording[:1].lower() + wording[1:]
    elif kind < 0.4:
        wording = wording.lower()
    if rng.random() < 0.3:
        wording = wording.rstrip("?.!")
    if rng.random() < 0.15:
        wording = rng.choice(variation.BEFORE) + wording[:1].lower() + wording[1:]
    if rng.random() < 0.06 and wording[-1:] not in "}?.":
        wording += rng.choice((" please", ", please", " thanks"))
    if wording.endswith("}") and rng.random() < 0.25:
        wording += rng.choice((".", ".", ".", ", please", " now"))
    return _fill(wording, values)


def _made_up_word(rng: random.Random) -> str:
    return small_talk.made_up_word(rng)


def _plain_word(rng: random.Random) -> str:
    return rng.choice(small_talk.material("plain_words")) if rng.random() < 0.6 else rng.choice(NOUNS)


def _some_word(rng: random.Random) -> str:
    kind = rng.random()
    if kind < 0.35:
        word = rng.choice(NOUNS) + rng.choice(("", "s"))
    elif kind < 0.65:
        word = rng.choice(small_talk.material("plain_words"))
    else:
        word = _made_up_word(rng)
    return word.capitalize() if rng.random() < 0.15 else word


def some_words(rng: random.Random) -> str:
    slot = rng.choice(("query", "word", "path", "url", "folder", "n", "city", "query"))
    return str(_SLOTS[slot](rng)[1])


def _draw_query(rng: random.Random) -> tuple[str, str]:
    if rng.random() < 0.15:
        words = rng.choice(small_talk.material("topics"))
    else:
        words = " ".join(_some_word(rng) for _ in range(rng.choice((1, 1, 1, 2, 2, 3, 4))))
    if rng.random() < 0.1:
        words += f" {rng.randrange(3000)}"
    return _perhaps_quoted(rng, words, 0.2), words


def _perhaps_quoted(rng: random.Random, words: str, share: float) -> str:
    if rng.random() >= share:
        return words
    return f'"{words}"' if rng.random() < 0.6 else f"'{words}'"


def _draw_word(rng: random.Random) -> tuple[str, str]:
    word = _some_word(rng) if rng.random() < 0.7 else f"{_some_word(rng)} {_some_word(rng)}"
    if rng.random() < 0.1:
        word = f"{rng.choice('ABKXZ')}{rng.randrange(10, 9999)}"
    return _perhaps_quoted(rng, word, 0.1), word


def _draw_text(rng: random.Random) -> tuple[str, str]:
    words = " ".join(_some_word(rng) for _ in range(rng.randint(1, 5)))
    return _perhaps_quoted(rng, words, 0.7), words


def _draw_path(rng: random.Random) -> tuple[str, str]:
    name = f"{_file_stem(rng)}.{rng.choice(EXTENSIONS)}"
    kind = rng.random()
    path = name if kind < 0.4 else _folder(rng) + "/" + name
    if rng.random() < 0.05:
        path = "C:\\" + "\\".join(_file_stem(rng) for _ in range(rng.randint(1, 2))) + "\\" + name
    return _perhaps_quoted(rng, path, 0.08), path


def _draw_folder(rng: random.Random) -> tuple[str, str]:
    path = _folder(rng)
    return _perhaps_quoted(rng, path, 0.08), path


def _folder(rng: random.Random) -> str:
    parts = [_file_stem(rng) for _ in range(rng.choice((1, 1, 2, 2, 3)))]
    return rng.choice(("", "", "/", "/home/", "~/", "./", "/tmp/", "/data/")) + "/".join(parts)


def _file_stem(rng: random.Random) -> str:
    stem = rng.choice(STEMS) if rng.random() < 0.4 else _some_word(rng)
    if rng.random() < 0.15:
        stem += rng.choice("-_") + (_some_word(rng) if rng.random() < 0.6 else str(rng.randrange(1, 2030)))
    return stem


def _draw_url(rng: random.Random) -> tuple[str, str]:
    host = f"{rng.choice(('', '', 'www.', 'docs.', 'en.'))}{_host(rng)}.{rng.choice(DOMAINS)}"
    path = "".join(f"/{_file_stem(rng)}" for _ in range(rng.choice((0, 0, 1, 1, 2))))
    if rng.random() < 0.1:
        path += rng.choice(("/", ".html", "?page=2", f"?q={_plain_word(rng)}", "/index.html"))
    scheme = "http://" if rng.random() < 0.1 else "https://"
    return (
        host + path if scheme == "https://" and rng.random() < 0.25 else scheme + host + path
    ), scheme + host + path


def _host(rng: random.Random) -> str:
    return (
        rng.choice(("example", "wikipedia", "github", "python", "bbc", "debian"))
        if rng.random() < 0.3
        else _some_word(rng).lower()
    )


def _draw_city(rng: random.Random) -> tuple[str, str]:
    kind = rng.random()
    city = (
        rng.choice(ZONES)[0]
        if kind < 0.4
        else rng.choice(CITIES)
        if kind < 0.7
        else _made_up_word(rng).capitalize()
    )
    return city, city


def _draw_clock(rng: random.Random) -> tuple[str, str]:
    clock = f"{rng.randrange(24):02}:{rng.randrange(60):02}"
    return clock, clock


def _draw_glob(rng: random.Random) -> tuple[str, str]:
    ending = rng.choice(EXTENSIONS)
    glob = rng.choice(
        (f"*.{ending}", f"*.{ending}", f"{_file_stem(rng)}.*", f"{_file_stem(rng)}*", f"**/*.{ending}")
    )
    return glob, glob


def _draw_person(rng: random.Random) -> tuple[str, str]:
    person = (
        rng.choice(small_talk.material("names")[:24])
        if rng.random() < 0.5
        else _made_up_word(rng).capitalize()
    )
    return person, person


def _draw_count(rng: random.Random) -> tuple[str, int]:
    number = rng.choice((rng.randint(1, 60), rng.randint(1, 20), rng.randint(1, 5000)))
    return str(number), number


def _draw_number(rng: random.Random) -> tuple[str, int]:
    number = rng.randrange(10 ** rng.randint(1, 5))
    return str(number), number


def _operand(rng: random.Random) -> str:
    kind = rng.random()
    if kind < 0.12:
        return f"{rng.randrange(100)}.{rng.randrange(1, 100)}"
    return str(rng.randrange(1, 10 ** rng.choice((1, 2, 2, 3, 4, 5))))


_SIGNS = {
    "+": ("+", "+", "plus"),
    "-": ("-", "-", "minus", "−"),
    "*": ("*", "*", "x", "times", "×", "multiplied by"),
    "/": ("/", "/", "divided by", "÷"),
    "**": ("^", "**", "to the power of"),
}


def _draw_expression(rng: random.Random) -> tuple[str, str]:
    a, b, c = (_operand(rng) for _ in range(3))
    kind = rng.random()
    if kind < 0.06:
        return f"the square root of {a}" if rng.random() < 0.7 else f"sqrt({a})", f"sqrt({a})"
    if kind < 0.12:
        return f"{a}{rng.choice(('%', ' %', ' percent'))} of {b}", f"{b} * {a} / 100"
    sign = rng.choice(("+", "-", "*", "*", "/", "**")) if rng.random() < 0.9 else "*"
    if sign == "**":
        b = str(rng.randint(2, 12))
    said = rng.choice(_SIGNS[sign])
    if kind < 0.8:
        space = "" if rng.random() < 0.35 and len(said) < 3 else " "
        return f"{a}{space}{said}{space}{b}", f"{a} {sign} {b}"
    other = rng.choice("+-*/")
    value = rng.choice(("({a} {s} {b}) {o} {c}", "{a} {s} {b} {o} {c}", "{c} {o} ({a} {s} {b})")).format(
        a=a, b=b, c=c, s=sign, o=other
    )
    return value if rng.random() < 0.7 else re.sub(r" ([-+*/]+) ", r"\1", value), value


def _draw_sql(rng: random.Random) -> tuple[str, str]:
    table = rng.choice(NOUNS).replace(" ", "_") + "s"
    sql = rng.choice(("SELECT * FROM {}", "select count(*) from {}", "SELECT name FROM {}")).format(table)
    if rng.random() < 0.3:
        sql += f" LIMIT {rng.randint(1, 50)}"
    return _perhaps_quoted(rng, sql, 0.1), sql


_UNITS = (
    "metres", "feet", "miles", "kilometres", "inches", "centimetres", "pounds", "kilograms", "grams",
    "ounces", "litres", "gallons", "cups", "hours", "minutes", "days", "weeks", "euros", "dollars",
    "yen", "bytes",
)  # fmt: skip
_SLOTS: dict[str, Callable[[random.Random], tuple[str, Any]]] = {
    "zone": lambda rng: rng.choice(ZONES),
    "expression": _draw_expression,
    "a": _draw_number,
    "b": _draw_number,
    "n": _draw_count,
    "query": _draw_query,
    "word": _draw_word,
    "text": _draw_text,
    "language": lambda rng: (rng.choice(LANGUAGES),) * 2,
    "path": _draw_path,
    "folder": _draw_folder,
    "url": _draw_url,
    "city": _draw_city,
    "clock": _draw_clock,
    "glob": _draw_glob,
    "person": _draw_person,
    "unit": lambda rng: (rng.choice(_UNITS),) * 2,
    "sql": _draw_sql,
}


# --- Results ---


def _draw_result(rng: random.Random, tool: OfferedTool) -> str:
    kind = rng.random()
    if kind < 0.06:
        return f"Error: {_sentence(rng)}"
    if kind < 0.08:
        return ""
    value = _RESULTS[tool.result](rng)
    if kind < 0.2 and "\n" not in value:
        return json.dumps({rng.choice(("result", "value", "text", "output", tool.result)): value})
    if kind < 0.25:
        fields = {
            _plain_word(rng): rng.choice((_sentence(rng), rng.randrange(1000), True))
            for _ in range(rng.randint(1, 5))
        }
        return json.dumps(fields, indent=rng.choice((None, 2)))
    return value


def _sentence(rng: random.Random) -> str:
    words = [_some_word(rng) for _ in range(rng.randint(2, 9))]
    text = " ".join(words)
    return text[:1].upper() + text[1:] + rng.choice((".", "", "."))


def _draw_time(rng: random.Random) -> str:
    clock = f"{rng.randrange(24):02}:{rng.randrange(60):02}"
    date = f"20{rng.randint(24, 35)}-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}"
    zone = rng.choice(ZONES)[1]
    day = rng.choice(("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"))
    if rng.random() < 0.3:
        fields = {
            "timezone": zone,
            "datetime": f"{date}T{clock}:00+0{rng.randrange(10)}:00",
            "day_of_week": day,
            "is_dst": False,
        }
        return json.dumps(fields, indent=2)
    return rng.choice(
        (
            f"{day}, {date}, {clock} ({zone})",
            f"{date} {clock}:{rng.randrange(60):02}",
            clock,
            f"{date}T{clock}:00+00:00",
            f"{day} {date} {clock} {zone}",
        )
    )


def _draw_weather(rng: random.Random) -> str:
    sky = rng.choice(("sunny", "cloudy", "rain", "snow", "clear sky", "light rain", "fog", "windy"))
    return rng.choice(
        (f"{rng.randint(-15, 38)} °C, {sky}", f"{sky.capitalize()}, {rng.randint(10, 99)} °F", f"{sky}")
    )


def _draw_found(rng: random.Random) -> str:
    lines = [rng.choice((_sentence, lambda rng: _draw_path(rng)[1]))(rng) for _ in range(rng.randint(1, 6))]
    mark = rng.choice(("", "", "- ", "number"))
    return "\n".join(f"{i}. {line}" if mark == "number" else mark + line for i, line in enumerate(lines, 1))


def _draw_lines(rng: random.Random) -> str:
    return "\n".join(_sentence(rng) for _ in range(rng.choice((1, 1, 2, 3, 4, 5))))


def _draw_plain_number(rng: random.Random) -> str:
    number = str(rng.randrange(10 ** rng.randint(1, 9)))
    return rng.choice(("", "", "", "-")) + number + (f".{rng.randrange(1000)}" if rng.random() < 0.25 else "")


_RESULTS: dict[str, Callable[[random.Random], str]] = {
    "time": _draw_time,
    "number": _draw_plain_number,
    "found": _draw_found,
    "text": _draw_lines,
    "weather": _draw_weather,
    "words": lambda rng: " ".join(_some_word(rng) for _ in range(rng.randint(1, 4))),
    "done": lambda rng: rng.choice(("Done.", "ok", "OK", "Done", _sentence(rng), "Saved.", "success")),
}
