"""Applies a unified diff to the folder that its paths are relative to: `apply_patch.py PATCH FOLDER`.

Run by CMake while it configures llama-cpp-python; a machine with a compiler need not have `patch` or git.
Stricter than those: a hunk's lines must stand in the file exactly once. What is applied stays as it is.
"""

import re
import sys
from pathlib import Path

# A file's names, and its lines up to the next one's names, which begin as a removed line does.
FILE = re.compile(r"^--- \S+\n\+\+\+ b/(\S+)\n((?:(?!--- \S+\n\+\+\+ )[@ +-].*\n)+)", re.MULTILINE)
HUNK = re.compile(r"^@@ .*\n((?:[ +-].*\n)+)", re.MULTILINE)


def main(patch: Path, folder: Path) -> None:
    for name, hunks in FILE.findall(patch.read_text(encoding="utf-8")):
        path = folder / name
        text = path.read_text(encoding="utf-8")
        for hunk in HUNK.findall(hunks):
            text = with_hunk(text, hunk, path)
        path.write_text(text, encoding="utf-8")


def with_hunk(text: str, hunk: str, path: Path) -> str:
    """Raises SystemExit where the text is not the one that the hunk was made for."""
    lines = hunk.splitlines(keepends=True)
    old = "".join(line[1:] for line in lines if line[0] != "+")
    new = "".join(line[1:] for line in lines if line[0] != "-")
    if text.count(new) == 1:
        return text
    if text.count(old) != 1:
        raise SystemExit(f"{path} is not what the patch was made for. It lacks, or repeats:\n{old}")
    return text.replace(old, new)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
