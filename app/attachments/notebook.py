"""A Jupyter notebook: its text, its code and what the code printed. In the child process only."""

import json
from collections.abc import Iterator
from typing import Any

from app.attachments.refusal import Reason, RefusedError

MAX_OUTPUT_CHARS = 10_000  # of one cell


def text_of(text: str) -> str:
    """Raises RefusedError for what is no notebook."""
    notebook = json.loads(text)
    if not isinstance(notebook, dict) or not isinstance(notebook.get("cells"), list):
        raise RefusedError(Reason.DAMAGED)
    try:
        language = notebook["metadata"]["kernelspec"]["language"]
    except (LookupError, TypeError):
        language = "python"
    return "\n\n".join(part for cell in notebook["cells"] for part in _cell(cell, language))


def _cell(cell: Any, language: str) -> list[str]:
    try:
        return list(_parts(cell, language))
    except (AttributeError, TypeError):  # its values are of other kinds than in any notebook
        return ["[unreadable cell]"]


def _parts(cell: dict[str, Any], language: str) -> Iterator[str]:
    source = _joined(cell.get("source", "")).strip("\n")
    if not source:
        return
    if cell.get("cell_type") != "code":
        yield source
        return
    yield f"```{language}\n{source}\n```"
    printed = "".join(map(_printed, cell.get("outputs", []))).strip("\n")
    if printed:
        yield f"Output:\n```\n{printed[:MAX_OUTPUT_CHARS]}\n```"


def _printed(output: dict[str, Any]) -> str:
    if "traceback" in output:
        return "\n".join(output["traceback"]) + "\n"
    data = output.get("data", {})
    return _joined(output.get("text", data.get("text/plain", ""))) + ("\n" if data else "")


def _joined(lines: str | list[str]) -> str:
    return lines if isinstance(lines, str) else "".join(lines)
