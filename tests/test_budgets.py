"""How large each folder of app may be."""

import tomllib
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
BUDGETS = tomllib.loads((ROOT / "tests" / "budgets.toml").read_text(encoding="utf-8"))["folders"]


def test_no_folder_is_larger_than_its_budget() -> None:
    lines, files = Counter[str](), Counter[str]()
    for path in (ROOT / "app").rglob("*.py"):
        folder = "/".join(path.relative_to(ROOT).parts[:-1][:2])
        files[folder] += 1
        lines[folder] += len(path.read_text(encoding="utf-8").splitlines())
    assert files.keys() == BUDGETS.keys()
    over = {
        folder: (lines[folder], files[folder])
        for folder, budget in BUDGETS.items()
        if lines[folder] > budget["lines"] or files[folder] > budget["files"]
    }
    assert over == {}, "Drop something, or raise the budget in tests/budgets.toml and say why."
    assert all(budget["for"] for budget in BUDGETS.values())
