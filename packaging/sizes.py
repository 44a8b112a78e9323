"""Prints what takes the room in a bundle: each part with its size, the largest first."""

import re
import sys
from collections import Counter
from pathlib import Path

PARTS = (
    ("Qt", r"PySide6/|shiboken6/|libicu|libxcb|libwayland|libxkb"),
    ("llama.cpp", r"llama_cpp/|libgomp"),
    ("numpy", r"numpy"),
    ("starter model", r"models/"),
    ("Skein's other resources", r"app/"),
    ("Python code of Skein and all packages", r"^skein$"),
    ("Python itself", r"libpython|lib-dynload|base_library|python3"),
    ("libraries of the system", r"_internal/lib"),
)


def main(bundle: Path) -> None:
    sizes: Counter[str] = Counter()
    files = [path for path in bundle.rglob("*") if path.is_file() and not path.is_symlink()]
    for path in files:
        sizes[_part_of(str(path.relative_to(bundle)))] += path.stat().st_size
    for part, size in sizes.most_common():
        print(f"{size / 1e6:8.1f} MB  {part}")
    print(f"{sum(sizes.values()) / 1e6:8.1f} MB  in {len(files)} files")


def _part_of(name: str) -> str:
    return next((part for part, pattern in PARTS if re.search(pattern, name)), "other packages")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
