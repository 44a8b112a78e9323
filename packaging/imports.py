"""Has a bundle import all that Skein's code imports anywhere, and fails if the bundle lacks something.

Much is imported only when it is first needed: what the recipe left out would else be missed at a user's.
"""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from app import CHILD_OPTION

ELSEWHERE = {"TYPE_CHECKING", *(f"sys.platform == {name!r}" for name in {"win32", "darwin"} - {sys.platform})}
SCRIPT = """\
import sys

missing = []
for line in {lines!r}:
    try:
        exec(line, {{}})
    except ImportError as error:
        missing.append(f"{{line}}: {{error}}")
    except OSError as error:
        if "PortAudio" not in str(error):  # the system's, on Linux
            raise
sys.exit("\\n".join(missing) or 0)
"""


def main(bundle: Path, code: Path) -> int:
    lines = sorted({line for file in code.rglob("*.py") for line in _imports(file, code.parent)})
    script = bundle / "_internal" / "all_imports.py"  # where the program looks for modules
    script.write_text(SCRIPT.format(lines=lines))
    try:
        return subprocess.run([bundle / "skein", CHILD_OPTION, script.stem], check=False).returncode
    finally:
        script.unlink()


def _imports(file: Path, root: Path) -> Iterator[str]:
    """The file itself, and what it imports, as lines of code."""
    if not file.name.startswith("__"):
        yield f"import {'.'.join(file.relative_to(root).with_suffix('').parts)}"
    for node in _nodes(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (f"import {name.name}" for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module != "__future__":
            yield from (f"from {node.module} import {name.name}" for name in node.names)


def _nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """All that runs on this system."""
    yield tree
    is_elsewhere = isinstance(tree, ast.If) and ast.unparse(tree.test) in ELSEWHERE
    for name, value in ast.iter_fields(tree):
        children = value if isinstance(value, list) else [value]
        for child in () if is_elsewhere and name == "body" else children:
            if isinstance(child, ast.AST):
                yield from _nodes(child)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(__file__).parents[1] / "app"))
