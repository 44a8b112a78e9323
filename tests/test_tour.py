"""What the tour of the code names is there."""

import ast
import re
from itertools import chain
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TOUR = (ROOT / "app" / "README.md").read_text(encoding="utf-8")
PROSE = re.sub(r"```.*?```", "", TOUR, flags=re.DOTALL)
IS_PATH = re.compile(r"(app|tests|packaging)(/[\w.]+)*|pyproject\.toml")
IS_NAME = re.compile(r"\w+(\.\w+)?")
OF_OTHERS = {"llama_decode", "seq_id"}  # llama.cpp's


def spans(text: str) -> list[str]:
    return re.findall(r"`([^`\n]+)`", text)


def defined_in(path: Path) -> set[str]:
    """Classes, functions, methods and values, each also with the name of its class."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names |= set(_bound(node))
        if isinstance(node, ast.ClassDef):
            names |= {f"{node.name}.{name}" for part in node.body for name in _bound(part)}
    return names


def _bound(node: ast.AST) -> list[str]:
    if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else []
    return [target.id for target in targets if isinstance(target, ast.Name)]


@pytest.mark.parametrize("path", sorted({span for span in spans(PROSE) if IS_PATH.fullmatch(span)}))
def test_a_path_of_the_tour_is_there(path: str) -> None:
    assert (ROOT / path).exists()


@pytest.mark.parametrize("row", [row for row in PROSE.splitlines() if row.startswith("|") and ".py`" in row])
def test_what_a_row_names_is_defined_in_its_files(row: str) -> None:
    files = [ROOT / span for span in spans(row) if span.endswith(".py")]
    names = {span for span in spans(row) if IS_NAME.fullmatch(span) and not IS_PATH.fullmatch(span)}
    assert names <= set().union(*map(defined_in, files)) | OF_OTHERS


def test_every_name_of_the_tour_is_defined_somewhere() -> None:
    names = {span for span in spans(PROSE) if IS_NAME.fullmatch(span) and not IS_PATH.fullmatch(span)}
    names -= OF_OTHERS
    for path in chain((ROOT / "app").rglob("*.py"), (ROOT / "tests").rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if any(name.rpartition(".")[2] in text for name in names):
            names -= defined_in(path)
    assert not names


def test_the_tour_is_short() -> None:
    assert len(TOUR.splitlines()) <= 200
