"""For work on the series of patches (packaging/llama_cpp/*.patch): as commits of a git repository, and back.

    python packaging/series.py open FOLDER     llama.cpp as it comes, tagged `pinned`, and a commit a patch
    python packaging/series.py write FOLDER    the commits since `pinned` become the patches

A commit's subject is `name: what it does`; its patch is NN-name.patch, in their order. What stands above
a diff is kept. `write` fails with DoesNotFitError for a patch that the build would leave out.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

from apply_patch import SERIES, DoesNotFitError, apply
from llama_cpp_sources import downloaded, unpacked

# A machine that never used git has none.
IDENTITY = ("-c", "user.name=Skein", "-c", "user.email=skein@localhost")
LEFT_OUT = {".git", "models", "docs", "media", "benches"}  # a submodule's, and most of its size


def open_(folder: Path) -> None:
    with tempfile.TemporaryDirectory(dir=folder.parent) as work:
        archive = downloaded(Path(work))
        unpacked(archive, Path(work), lambda path: path.parts[0] not in LEFT_OUT).rename(folder)
    git(folder, "init", "--quiet")
    commit(folder, "llama.cpp as llama-cpp-python has it")
    git(folder, "tag", "pinned")
    for patch in sorted(SERIES.glob("*.patch")):
        try:
            apply(patch, folder)
        except DoesNotFitError as error:
            print(f"{patch.name} no longer applies. {error}", file=sys.stderr)
        else:
            title = patch.read_text(encoding="utf-8").splitlines()[0]
            commit(folder, f"{patch.stem.partition('-')[2]}: {title}")


def write(folder: Path) -> None:
    before = {patch.stem.partition("-")[2]: patch for patch in SERIES.glob("*.patch")}
    commits = git(folder, "log", "--reverse", "--format=%H %s", "pinned..HEAD").splitlines()
    written = {}
    for number, line in enumerate(commits, 1):
        commit_id, _, subject = line.partition(" ")
        name, _, title = subject.partition(": ")
        text = before[name].read_text(encoding="utf-8") if name in before else f"{title}\n\n--- "
        head = text.partition("\n--- ")[0]
        diff = git(folder, "diff", "--relative", f"{commit_id}~", commit_id)
        plain = re.sub(r"^(?:diff --git|index|new file mode) .*\n", "", diff, flags=re.MULTILINE)
        written[SERIES / f"{number:02}-{name}.patch"] = f"{head}\n{plain}"
    for patch in before.values():
        patch.unlink()
    for patch, text in written.items():
        patch.write_text(text, encoding="utf-8")
    with tempfile.TemporaryDirectory() as work:
        git(folder, "worktree", "add", "--detach", work, "pinned")
        try:
            for patch in written:
                apply(patch, Path(work))
        finally:
            git(folder, "worktree", "remove", "--force", work)


def commit(folder: Path, subject: str) -> None:
    git(folder, "add", "--all", "--force")
    git(folder, *IDENTITY, "commit", "--quiet", "--message", subject)


def git(folder: Path, *arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    {"open": open_, "write": write}[sys.argv[1]](Path(sys.argv[2]).absolute())
