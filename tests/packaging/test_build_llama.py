"""packaging/build_llama.py, stopped anywhere, with a CMake and a Ninja that only pretend."""

import json
import os
import signal
import subprocess
import sys
import tarfile
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import Any

import build_llama
import pytest
from build_llama import BuildError, Pace, cost

PACKAGING = Path(build_llama.__file__).parent
LIBRARIES = {"libllama.so", "libllama.so.0", "libmtmd.so", "libggml-rpc.so", "libskein-chat.so"}
TEXTS = {"LICENSE-llama.cpp", "LICENSE-jsonhpp", "patches.txt"}
SOURCES = ("CMakeLists.txt", "LICENSE", "licenses/LICENSE-jsonhpp", "src/llama.cpp", "tests/left-out.cpp")
PATCH = "Why.\n\n--- /dev/null\n+++ b/src/new.h\n@@ -0,0 +1,1 @@\n+new\n"

# The program, with an archive instead of the network. It kills itself where the test says.
DRIVER = """
import os, signal, shutil, sys
from pathlib import Path
sys.path.insert(0, {packaging!r})
import apply_patch, build_llama

def downloaded(folder):
    with open({here!r} + "/downloads", "a") as noted:
        noted.write("one\\n")
    return Path(shutil.copy({here!r} + "/sources.tar.gz", folder))

def killed_in(module, name):
    real = getattr(module, name)
    def killing(*given, **named):
        if name in ("unpacked", "copytree", "copy"):
            real(*given, **named)
        os.kill(os.getpid(), signal.SIGKILL)
    setattr(module, name, killing)

apply_patch.SERIES = Path({here!r}, "series")
build_llama.BUSY = 2  # it does not stand back for the other tests
build_llama.downloaded = downloaded
if (place := os.environ.get("KILLED_IN", "cmake")) not in ("cmake", "ninja"):
    name = place.rpartition(".")[2]
    killed_in(shutil if "." in place else build_llama, name)
sys.exit(build_llama.main(sys.argv[1:]))
"""

CMAKE = """
import os, signal, sys
from pathlib import Path
if "--version" in sys.argv:
    sys.exit(print("cmake version 3.25.1"))
build = Path(sys.argv[sys.argv.index("-B") + 1])
(build / "bin").mkdir(parents=True)  # fails where half of an earlier one is
sources = Path(next(one for one in sys.argv if "LLAMA_CPP=" in one).partition("=")[2])
assert (sources / "src" / "llama.cpp").exists() and not (sources / "tests").exists()
if os.environ.get("KILLED_IN") == "cmake":
    os.kill(os.getppid(), signal.SIGKILL)
(build / "arguments").write_text(" ".join(sys.argv))
"""

NINJA = """
import os, signal, sys, time
from pathlib import Path
steps = {"skein-chat": ["chat.o", "libskein-chat.so"], "skein-rpc": ["libggml-rpc.so"],
         "llama": ["llama.o", "libllama.so"], "mtmd": ["libmtmd.so"]}
build = Path(sys.argv[sys.argv.index("-C") + 1])
wanted = [step for target, all in steps.items() if target in sys.argv for step in all]
left = [step for step in wanted if not (build / "bin" / step).exists()]
for number, step in enumerate(left, 1):
    if "-n" not in sys.argv:
        if step in os.environ.get("BROKEN", ""):
            print(f"FAILED: {step}")
            sys.exit(1)
        if step == os.environ.get("STUCK_AT"):
            policy = os.sched_getscheduler(0) if hasattr(os, "sched_getscheduler") else os.nice(0)
            with open(os.environ["HERE"] + "/stuck", "w") as told:
                print(policy, os.getsid(0) == os.getppid(), sys.argv[sys.argv.index("-j") + 1], file=told)
            signal.pause()
        if os.environ.get("KILLED_IN") == "ninja" and step == "llama.o":
            os.kill(os.getppid(), signal.SIGKILL)
            signal.pause()
        (build / "bin" / step).write_text(step)
        if step == "libllama.so":
            (build / "bin" / "libllama.so.0").symlink_to(step)
    print(f"[{number}/{len(left)}] Building {step}", flush=True)
"""


class Runs:
    def __init__(self, here: Path) -> None:
        self.here, self.folder = here, here / "cache" / "of a build"
        (here / "bin").mkdir()
        (here / "series").mkdir()
        (here / "series" / "01-new.patch").write_text(PATCH)
        (here / "driver.py").write_text(DRIVER.format(packaging=str(PACKAGING), here=str(here)))
        for name, text in (("cmake", CMAKE), ("ninja", NINJA), ("c++", "")):
            program = here / "bin" / name
            program.write_text(f"#!/bin/sh\nexec '{sys.executable}' -ESs - \"$@\" <<'END'\n{text}\nEND\n")
            program.chmod(0o755)
        os.mkfifo(here / "stuck")
        with tarfile.open(here / "sources.tar.gz", "w:gz") as archive:
            for name in SOURCES:
                archive.addfile(tarfile.TarInfo(f"llama_cpp_python-1/vendor/llama.cpp/{name}"), BytesIO())

    def start(self, *arguments: str, **environment: str) -> subprocess.Popen[str]:
        command = [sys.executable, str(self.here / "driver.py"), str(self.folder), *arguments]
        given = os.environ | {"PATH": str(self.here / "bin"), "HERE": str(self.here)} | environment
        given.pop("CXX", None)
        pipe = subprocess.PIPE
        return subprocess.Popen(command, env=given, stdout=pipe, stderr=pipe, text=True)

    def run(self, *arguments: str, **environment: str) -> int:
        run = self.start(*arguments, **environment)
        self.said = "".join(run.communicate(timeout=20))
        return run.returncode

    def stuck(self, *arguments: str) -> tuple[subprocess.Popen[str], list[str]]:
        """A run that compiles until it is ended, and what its Ninja said of itself."""
        run = self.start(*arguments, STUCK_AT="llama.o")
        return run, (self.here / "stuck").read_text().split()

    @property
    def status(self) -> dict[str, Any]:
        return json.loads((self.folder / "status.json").read_text())

    @property
    def num_downloads(self) -> int:
        return (self.here / "downloads").read_text().count("one")

    def has_all(self) -> bool:
        return {path.name for path in (self.folder / "lib").iterdir()} == LIBRARIES | TEXTS


@pytest.fixture
def runs(tmp_path: Path) -> Runs:
    return Runs(tmp_path)


def test_all_comes_into_one_folder_and_nothing_else_is_left(runs) -> None:
    assert runs.run("--", "-DGGML_CUDA=ON", "-DX=a b") == 0
    assert runs.has_all()
    assert (runs.folder / "lib" / "libllama.so.0").is_symlink()
    assert (runs.folder / "lib" / "patches.txt").read_text() == "01-new\n"
    left = {path.name for path in runs.folder.iterdir()}
    assert left == {"lib", "chat", "lock", "log", "status.json"}
    assert {path.name for path in (runs.folder / "chat").iterdir()} == {"libskein-chat.so", "LICENSE-jsonhpp"}
    assert "Building llama.o" in (runs.folder / "log").read_text()
    assert runs.status["state"] == "done"
    assert runs.status["without"] == []
    assert runs.said == ""
    assert runs.run() == 0
    assert runs.num_downloads == 1


def test_plain_llama_cpp_is_left_as_it_is(runs) -> None:
    assert runs.run("--behind", "--", "-DPLAIN_LLAMA=ON") == 0
    assert (runs.folder / "lib" / "patches.txt").read_text() == ""


def test_without_a_compiler_it_says_what_to_install(runs) -> None:
    (runs.here / "bin" / "c++").unlink()
    assert runs.run() == 1
    assert runs.status["state"] == "failed"
    assert (
        runs.status["error"]
        == "A C++ compiler is missing. Install one (sudo apt-get install g++) and start again."
    )
    assert runs.status["error"] in runs.said


def test_a_failure_is_told_and_the_next_run_goes_on(runs) -> None:
    assert runs.run(BROKEN="libmtmd.so") == 1
    assert runs.status["state"] == "failed"
    assert runs.status["error"].startswith("llama.cpp could not be compiled.")
    assert "FAILED: libmtmd.so" in (runs.folder / "log").read_text()
    assert not (runs.folder / "lib").exists()
    assert (runs.folder / "chat" / "libskein-chat.so").exists()
    assert runs.run() == 0
    assert runs.has_all()
    assert runs.num_downloads == 1
    assert (runs.folder / "log").read_text().count("Building llama.o") == 1


@pytest.mark.parametrize(("part", "broken"), [("chat", "chat.o"), ("rpc", "libggml-rpc.so")])
def test_what_can_be_done_without_does_not_end_the_build(runs, part, broken) -> None:
    assert runs.run(BROKEN=broken) == 0
    assert runs.status["state"] == "done"
    assert runs.status["without"] == [part]
    assert (runs.folder / "lib" / "libmtmd.so").exists()


@pytest.mark.parametrize(
    "place", ["downloaded", "unpacked", "shutil.copytree", "cmake", "ninja", "shutil.copy"]
)
def test_a_killed_run_leaves_nothing_that_the_next_one_could_take_for_whole(runs, place) -> None:
    assert runs.run("--behind", KILLED_IN=place) == -signal.SIGKILL
    assert not (runs.folder / "lib").exists()
    assert runs.run("--behind") == 0
    assert runs.has_all()
    assert not list(runs.folder.glob("*-half"))
    assert runs.num_downloads <= 2


def test_behind_it_has_the_lowest_priority_and_ends_where_another_is_at_work(runs) -> None:
    first, (policy, leads_session, jobs) = runs.stuck("--behind")
    if hasattr(os, "SCHED_IDLE"):
        assert int(policy) == os.SCHED_IDLE
    assert leads_session == "True"
    assert int(jobs) == max(1, len(os.sched_getaffinity(0)) - 1)
    assert runs.status["state"] == "running"
    assert runs.status["what"] == "compiling llama.cpp"
    assert runs.run("--behind") == 0
    assert first.poll() is None
    first.kill()
    first.communicate(timeout=20)


def test_somebody_who_waits_ends_the_run_behind_and_goes_on_from_there(runs) -> None:
    behind, _ = runs.stuck("--behind")
    assert runs.run() == 0
    behind.communicate(timeout=20)
    assert behind.returncode == -signal.SIGTERM
    assert runs.has_all()
    assert runs.num_downloads == 1
    assert (runs.folder / "log").read_text().count("Building chat.o") == 1


def test_two_in_front_make_it_once(runs) -> None:
    both = [runs.start(), runs.start()]
    for run in both:
        run.communicate(timeout=20)
    assert [run.returncode for run in both] == [0, 0]
    assert runs.has_all()
    assert runs.num_downloads == 1


def test_a_status_of_long_ago_ends_nobody(runs) -> None:
    """Its number may be another program's by now."""
    bystander = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, process_group=0)
    runs.folder.mkdir(parents=True)
    stale = {"state": "running", "behind": True, "pid": bystander.pid}
    (runs.folder / "status.json").write_text(json.dumps(stale))
    assert runs.run() == 0
    assert bystander.poll() is None
    bystander.communicate(b"\n", timeout=20)
    assert bystander.returncode == 0


def test_the_time_that_is_left_follows_the_pace(monkeypatch) -> None:
    now = 0.0
    monkeypatch.setattr(build_llama.time, "monotonic", lambda: now)
    planned = ["Building done.cpp", "Building cpu/ops.cpp.o", *(f"Building {name}.cpp" for name in range(40))]
    pace = Pace(planned, planned[1:], num_jobs=2, started=0.0)
    whole = sum(map(cost, planned[1:]))
    assert pace.told() == {"step": 1, "steps": 42, "seconds_left": round(whole / 2)}
    now = 300.0
    pace.take("Building cpu/ops.cpp.o")
    told = pace.told()
    assert told["step"] == 2
    assert told["seconds_left"] > 2 * whole  # the machine is slow
    for step in planned[2:]:
        pace.take(step)
    pace.take("Re-running CMake...")
    assert pace.told() == {"step": 42, "steps": 42, "seconds_left": 0}


def test_steps_are_told_once_a_second_and_news_at_once(tmp_path, monkeypatch) -> None:
    now = 100.0
    monkeypatch.setattr(build_llama.time, "monotonic", lambda: now)
    build = build_llama.Build(tmp_path, behind=False, cmake_args=[])
    told = []
    for what, step, seconds in (("a", 1, 0.0), ("a", 2, 0.9), ("b", 3, 0.95), ("b", 4, 2.0)):
        now = 100 + seconds
        build.tell(what=what, step=step)
        told.append(build.last_told()["step"])
    assert told == [1, 1, 3, 4]


def test_cmake_comes_from_pypi_where_it_is_too_old(tmp_path, monkeypatch) -> None:
    build = build_llama.Build(tmp_path, behind=False, cmake_args=[])
    monkeypatch.setattr(build_llama, "cmake_version", lambda: (3, 18))
    commands = []

    def fail(command: list[str]) -> int:
        commands.append(command)
        return 1

    monkeypatch.setattr(build, "call", fail)
    with pytest.raises(BuildError, match="could not be downloaded"):
        build.ensure_tools()
    assert not build.tools.exists()
    assert build.tool("cmake") == "cmake"

    def install(command: list[str]) -> int:
        program = Path(command[command.index("--target") + 1], "cmake", "data", "bin", "cmake")
        program.parent.mkdir(parents=True)
        program.touch()
        return 0

    monkeypatch.setattr(build, "call", install)
    build.ensure_tools()
    assert build.tool("cmake") == str(build.tools / "cmake" / "data" / "bin" / "cmake")
    assert {"cmake>=3.21", "ninja"} < set(commands[0])


@pytest.mark.parametrize(
    ("path", "is_needed"),
    [
        ("CMakeLists.txt", True),
        ("LICENSE", True),
        ("licenses/LICENSE-jsonhpp", True),
        ("ggml/src/ggml-cuda/common.cuh", True),
        ("tools/mtmd/models/llava.cpp", True),
        ("tools/server/server.cpp", False),
        ("models/ggml-vocab-bert-bge.gguf", False),
    ],
)
def test_what_is_unpacked(path: str, is_needed: bool) -> None:
    assert build_llama.is_needed(PurePosixPath(path)) is is_needed


@pytest.mark.parametrize(
    ("others", "sent"),
    [
        ("......", ""),
        ("..##....", "T2 C5"),  # it goes on when nobody has computed for two looks
        ("#.#.#.#...", "T0 C8"),  # not between two tokens
        ("...##", "T3 C5"),  # it is over while it is held
        ("#" * 270, "T0 C241 T258 C270"),  # others that never stop leave it a turn
    ],
)
def test_what_compiles_behind_holds_still_while_others_compute(monkeypatch, others, sent) -> None:
    """A look each quarter of a second: # is one at which others have used all cores since the one before."""
    looks = -1
    used = 0.0

    class Ended:
        def wait(self, seconds: float) -> bool:
            nonlocal looks, used
            looks += 1
            if looks < len(others):
                used += seconds * (os.cpu_count() or 1) * (others[looks] == "#")
            return looks == len(others)

    signals: list[str] = []
    letters = {signal.SIGSTOP: "T", signal.SIGCONT: "C"}
    monkeypatch.setattr(build_llama, "seconds_of_others", lambda: used)
    now = lambda: 1000 + (looks + 1) * build_llama.LOOK_EVERY_S  # noqa: E731
    monkeypatch.setattr(build_llama.time, "monotonic", now)
    monkeypatch.setattr(
        build_llama, "send", lambda number, _session: signals.append(f"{letters[number]}{looks}")
    )
    build_llama.stand_back(Ended())  # type: ignore[arg-type]
    assert " ".join(signals) == sent
