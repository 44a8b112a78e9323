"""Applies a series of patches to llama.cpp, each whole or not at all: `apply_patch.py FOLDER NAMES`.

The patches are unified diffs in llama_cpp, whose paths are relative to FOLDER. One that does not fit is left
out with a warning, so that no update of llama.cpp waits for it. The names of the others go to the file NAMES.

Run by CMake while it configures llama-cpp-python; a machine with a compiler need not have `patch` or git.
Stricter than those: a hunk's lines must stand in the file exactly once. What is applied stays as it is.
"""

import re
import sys
from pathlib import Path

SERIES = Path(__file__).parent / "llama_cpp"

# A file's names, and its lines up to the next one's names, which begin as a removed line does.
FILE = re.compile(r"^--- \S+\n\+\+\+ b/(\S+)\n((?:(?!--- \S+\n\+\+\+ )[@ +-].*\n)+)", re.MULTILINE)
HUNK = re.compile(r"^@@ .*\n((?:[ +-].*\n)+)", re.MULTILINE)


class DoesNotFitError(Exception):
    """The sources are not those that the patch was made for."""


def main(folder: Path, names: Path) -> None:
    applied = []
    for patch in sorted(SERIES.glob("*.patch")):
        try:
            apply(patch, folder)
        except DoesNotFitError as error:
            print(f"WARNING: llama.cpp is built without {patch.name}. {error}", file=sys.stderr)
        else:
            applied.append(f"{patch.stem}\n")
    names.write_text("".join(applied), encoding="utf-8")


def apply(patch: Path, folder: Path) -> None:
    """Raises DoesNotFitError, and then has changed nothing."""
    changed = {}
    for name, hunks in FILE.findall(patch.read_text(encoding="utf-8")):
        path = folder / name
        text = path.read_text(encoding="utf-8") if path.is_file() else ""
        for hunk in HUNK.findall(hunks):
            text = with_hunk(text, hunk, name)
        changed[path] = text
    for path, text in changed.items():
        path.write_text(text, encoding="utf-8")


def with_hunk(text: str, hunk: str, name: str) -> str:
    lines = hunk.splitlines(keepends=True)
    old = "".join(line[1:] for line in lines if line[0] != "+")
    new = "".join(line[1:] for line in lines if line[0] != "-")
    if text.count(new) == 1:
        return text
    if text.count(old) != 1:
        raise DoesNotFitError(f"{name} lacks, or repeats:\n{old}")
    return text.replace(old, new)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
