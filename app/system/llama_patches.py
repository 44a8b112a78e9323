"""Which patches of packaging/llama_cpp are in the llama.cpp that is installed here. Any thread."""

from functools import cache
from importlib.util import find_spec
from pathlib import Path


@cache
def llama_patches() -> tuple[str, ...]:
    """Their names, such as "attention", in the order in which they were applied."""
    package = find_spec("llama_cpp")
    listed = Path(package.origin).parent / "lib" / "patches.txt" if package and package.origin else None
    if listed is None or not listed.is_file():
        return ()
    return tuple(line.partition("-")[2] for line in listed.read_text(encoding="utf-8").split())
