"""Finds the texts in the code: the literals given to `tr`, `tr_n`, `mark`, `said`, `Words` and columns.

lupdate reads Python too, but gives each class a context of its own and does not know our functions.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from app.look.words import CONTEXT

# Which arguments are texts that translations are found by.
TEXT_ARGUMENTS: dict[str, tuple[int | str, ...]] = {
    "tr": (0,),
    "mark": (0,),
    "said": (0,),
    "tr_n": (1,),
    "Words": (0, 1, 3, "needs"),
    "Column": (0, 1),
    "SequenceColumn": (0, 1),
    "_figure": (0, 1),
}


@dataclass(frozen=True, slots=True)
class Text:
    text: str
    is_counted: bool
    place: str  # the file, from the folder that was searched
    context: str = CONTEXT


# What is new in Qt's own windows, and not in all of its translations yet.
OF_QT = (
    Text("&Look in:", False, "Qt", "QFileDialog"),
    Text("Files of &type:", False, "Qt", "QFileDialog"),
)


def collect(folder: Path) -> list[Text]:
    """In the order of files and lines, each text once."""
    found: dict[str, Text] = {}
    for path in sorted(folder.rglob("*.py")):
        for text in _texts_of(path, str(path.relative_to(folder.parent))):
            first = found.setdefault(text.text, text)
            if first.is_counted != text.is_counted:
                raise ValueError(f"{text.place}: “{text.text}” is counted here and not in {first.place}.")
    return list(found.values())


def _texts_of(path: Path, place: str) -> Iterator[Text]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    for call in sorted(calls, key=lambda call: (call.lineno, call.col_offset)):
        name = call.func.id if isinstance(call.func, ast.Name) else ""
        arguments: dict[int | str | None, ast.expr] = dict(enumerate(call.args))
        arguments |= {keyword.arg: keyword.value for keyword in call.keywords}
        for argument in (arguments.get(which) for which in TEXT_ARGUMENTS.get(name, ())):
            if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
                yield Text(argument.value, name == "tr_n", place)
