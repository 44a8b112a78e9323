"""Compiles all that Skein loads of llama.cpp: `build_llama.py FOLDER [--behind] [-- CMAKE_ARGS…]`.

FOLDER is a cache that all checkouts of a user share. In it, `lib` appears in one step once all is made, and
`chat`, the chat layer alone, before that. Where a run was stopped, the next one goes on. `status.json` says
what is being done, and `log` all that was said; "running" is true only while `lock` is locked.

With --behind it runs at the lowest priority, holds still while others compute, and ends at once if another
run is at work. Without, somebody waits for it: it ends a run behind and goes on from there. Run with the
Python of .venv.
"""

from __future__ import annotations

import argparse
import ctypes
import fcntl
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

import apply_patch
from llama_cpp_sources import downloaded, unpacked

OURS = Path(__file__).parent / "llama_cpp"
NEEDED = ("cmake", "common", "ggml", "include", "src", "tools/mtmd", "vendor", "CMakeLists.txt")
LICENCES = {"LICENSE": "LICENSE-llama.cpp", "licenses/LICENSE-jsonhpp": "LICENSE-jsonhpp"}
REQUIRED = ("llama", "mtmd")
OPTIONAL = {"chat": "skein-chat", "rpc": "skein-rpc"}
LIBRARIES = {"chat": "libskein-chat.*", "rpc": "libggml-rpc.so"}
OLDEST_CMAKE = (3, 21)
STEP = re.compile(r"\[\d+/\d+\] (.+)")
# CPU seconds of steps, by a part of their names. The first that fits counts.
COSTS = dict.fromkeys(("Linking", "symlink"), 0.2) | {
    **dict.fromkeys(("CUDA", "unity_text", "unity_parsers"), 28),
    **dict.fromkeys(("llama-cold.dir/Unity/unity_0", "unity_memory", "unity_jinja"), 20),
    **dict.fromkeys(("mtmd-cold.dir/Unity/unity_1", "unity_step", "mtmd-helper.cpp", "/ops.cpp"), 16),
    **dict.fromkeys(("Unity", "repack", "sgemm", "quants.c", "tiled", "cmake_pch", "/json.cpp"), 6),
    "": 2,
}
# As much is left to guess until the pace of this machine shows.
GUESSED = 20
# Behind: it holds still from this share of all cores that others use, looks so often, and has a turn of some
# seconds where they never stop.
BUSY, LOOK_EVERY_S, LONGEST_REST_S, TURN_S = 0.4, 0.25, 60, 4


class BuildError(Exception):
    """Says in one sentence what failed, and what to do."""


def main(arguments: list[str]) -> int:
    end = arguments.index("--") if "--" in arguments else len(arguments)
    parser = argparse.ArgumentParser(prog="build_llama.py", allow_abbrev=False)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--behind", action="store_true")
    given = parser.parse_args(arguments[:end])
    build = Build(given.folder.absolute(), given.behind, arguments[end + 1 :])
    try:
        return build.run()
    except KeyboardInterrupt:
        return 130


@dataclass
class Build:
    folder: Path
    behind: bool
    cmake_args: list[str]
    lock: int = -1
    told: dict[str, Any] = field(default_factory=dict)
    told_at: float = 0

    def __post_init__(self) -> None:
        self.sources, self.build, self.tools, self.lib, self.chat = (
            self.folder / name for name in ("sources", "build", "tools", "lib", "chat")
        )

    # 1. One run at a time.

    def run(self) -> int:
        self.folder.mkdir(parents=True, exist_ok=True)
        if self.behind:
            go_behind()
        if not self.take_lock():
            return 0
        terminal = os.dup(2)
        log = os.open(self.folder / "log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
        os.dup2(log, 1)
        os.dup2(log, 2)
        try:
            self.make()
        except (BuildError, OSError, subprocess.CalledProcessError) as error:
            self.tell("failed", error=str(error), seconds_left=None)
            os.write(terminal, f"{error}\n".encode())
            return 1
        return 0

    def take_lock(self) -> bool:
        """False: another run is at work, and nobody waits for this one."""
        self.lock = os.open(self.folder / "lock", os.O_RDWR | os.O_CREAT, 0o666)
        while True:
            with suppress(BlockingIOError):
                fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return True
            holder = self.last_told()
            is_alive = is_running(holder.get("pid"))
            if self.behind and is_alive:
                return False
            if holder.get("behind") and is_alive:
                send(signal.SIGTERM, session=holder["pid"])
            time.sleep(0.1)  # what it had started still ends

    def last_told(self) -> dict[str, Any]:
        with suppress(OSError, ValueError):
            return json.loads((self.folder / "status.json").read_text(encoding="utf-8"))
        return {}

    def tell(self, state: str = "running", **facts: Any) -> None:
        """Steps at most once a second, all else at once."""
        before, self.told = self.told, {**self.told, "state": state, **facts}
        is_news = any(before.get(name) != self.told.get(name) for name in ("state", "what"))
        if not is_news and time.monotonic() < self.told_at + 1:
            return
        self.told_at = time.monotonic()
        whole = self.told | {"pid": os.getpid(), "behind": self.behind}
        written = self.folder / "status.new"
        written.write_text(json.dumps(whole), encoding="utf-8")
        written.replace(self.folder / "status.json")

    # 2. The parts, each of which is skipped if an earlier run has done it.

    def make(self) -> None:
        self.tell(what="looking for a compiler", step=0, steps=0, seconds_left=None, error="")
        for left in self.folder.glob("*-half"):
            shutil.rmtree(left, ignore_errors=True)
        if not self.lib.exists():
            need_compiler()
            self.ensure_tools()
            self.ensure_sources()
            self.ensure_plan()
            self.compile()
            self.install()
        for left in (self.build, self.sources, self.tools):
            shutil.rmtree(left, ignore_errors=True)
        without = [part for part, name in LIBRARIES.items() if not list(self.lib.glob(name))]
        self.tell("done", what="", seconds_left=0, without=without)

    def ensure_tools(self) -> None:
        """CMake and Ninja, from PyPI where the system lacks one or CMake is too old."""
        if self.tools.exists() or (cmake_version() >= OLDEST_CMAKE and shutil.which("ninja")):
            return
        self.tell(what="downloading CMake and Ninja")
        with self.half(self.tools) as half:
            pip = [sys.executable, "-m", "pip", "install", "--no-input", "--disable-pip-version-check"]
            if self.call([*pip, "--target", str(half), "cmake>=3.21", "ninja"]):
                raise BuildError(f"CMake and Ninja could not be downloaded. {self.why}")

    def ensure_sources(self) -> None:
        """With the patches and all that is ours: the checkout may be gone when the next run goes on."""
        if self.sources.exists():
            return
        self.tell(what="downloading llama.cpp's sources")
        with self.half(self.sources) as half:
            try:
                archive = downloaded(half)
            except subprocess.CalledProcessError:
                raise BuildError(f"llama.cpp's sources could not be downloaded. {self.why}") from None
            self.tell(what="unpacking llama.cpp's sources")
            unpacked(archive, half, is_needed).rename(half / "llama.cpp")
            archive.unlink()
            shutil.copytree(OURS, half / "ours")
            if "-DPLAIN_LLAMA=ON" in self.cmake_args:
                (half / "patches.txt").touch()
            else:
                apply_patch.main(half / "llama.cpp", half / "patches.txt")

    def ensure_plan(self) -> None:
        """CMake's part. Half of it is none: it begins anew."""
        if self.plan.exists():
            return
        self.tell(what="configuring llama.cpp")
        shutil.rmtree(self.build, ignore_errors=True)
        cmake = [self.tool("cmake"), "-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={self.tool('ninja')}"]
        paths = ["-S", self.sources / "ours", "-B", self.build, f"-DLLAMA_CPP={self.sources / 'llama.cpp'}"]
        if self.call([*cmake, *paths, "-DCMAKE_BUILD_TYPE=Release", *self.cmake_args]):
            raise BuildError(f"llama.cpp could not be configured. {self.why}")
        written = self.plan.with_suffix(".new")
        written.write_text("\n".join(self.steps_left()), encoding="utf-8")
        written.rename(self.plan)

    def compile(self) -> None:
        pace = Pace(
            self.plan.read_text(encoding="utf-8").splitlines(), self.steps_left(), num_jobs(self.behind)
        )
        for part, target in OPTIONAL.items():
            self.ninja(pace, target)
            if part == "chat":
                self.publish_chat()
        if self.ninja(pace, *REQUIRED):
            raise BuildError(f"llama.cpp could not be compiled. {self.why}")

    def publish_chat(self) -> None:
        made = list((self.build / "bin").glob(LIBRARIES["chat"]))
        if made and not self.chat.exists():
            with self.half(self.chat) as half:
                copy_all([*made, self.sources / "llama.cpp" / "licenses" / "LICENSE-jsonhpp"], half)

    def install(self) -> None:
        with self.half(self.lib) as half:
            copy_all((self.build / "bin").glob("lib*"), half)
            for name, ours in LICENCES.items():
                shutil.copy(self.sources / "llama.cpp" / name, half / ours)
            shutil.copy(self.sources / "patches.txt", half)

    # 3. What the parts are made with.

    @property
    def plan(self) -> Path:
        return self.build / "plan"

    @property
    def why(self) -> str:
        return f"{self.folder / 'log'} tells why."

    @contextmanager
    def half(self, whole: Path) -> Iterator[Path]:
        """A folder that becomes `whole` at the end, in one step or not at all."""
        half = Path(tempfile.mkdtemp(suffix="-half", dir=self.folder))
        half.chmod(0o755)
        yield half
        half.rename(whole)

    def tool(self, name: str) -> str:
        own = self.tools / {"cmake": "cmake/data/bin/cmake", "ninja": "bin/ninja"}[name]
        return str(own) if own.exists() else name

    def call(self, command: list[Any]) -> int:
        return subprocess.run(command, **self.ties).returncode

    @property
    def ties(self) -> dict[str, Any]:
        """A child ends with this program, and until it has, nobody else takes the lock."""
        return {"pass_fds": [self.lock], "preexec_fn": end_with_parent if sys.platform == "linux" else None}

    def steps_left(self) -> list[str]:
        command = [self.tool("ninja"), "-n", "-C", self.build, *OPTIONAL.values(), *REQUIRED]
        said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        return STEP.findall(said)

    def ninja(self, pace: Pace, *targets: str) -> int:
        command = [self.tool("ninja"), "-C", self.build, "-j", str(pace.num_jobs), *targets]
        environment = os.environ | {"NINJA_STATUS": "[%f/%t] "}
        with (
            subprocess.Popen(
                command, stdout=subprocess.PIPE, text=True, env=environment, **self.ties
            ) as ninja,
            standing_back() if self.behind else nullcontext(),
        ):
            for line in ninja.stdout or ():
                print(line, end="", flush=True)
                if step := STEP.match(line):
                    pace.take(step[1])
                self.tell(what="compiling llama.cpp", **pace.told())
        return ninja.returncode


@dataclass
class Pace:
    """How far the compiling is, and for how long it goes on."""

    planned: list[str]
    left: list[str]
    num_jobs: int
    done: float = 0
    started: float = field(default_factory=time.monotonic)

    def take(self, step: str) -> None:
        if step in self.left:
            self.left.remove(step)
            self.done += cost(step)

    def told(self) -> dict[str, int]:
        seconds = time.monotonic() - self.started
        left = sum(map(cost, self.left)) * (seconds + GUESSED) / (self.done + GUESSED * self.num_jobs)
        num_planned = len(self.planned)
        return {"step": num_planned - len(self.left), "steps": num_planned, "seconds_left": round(left)}


def cost(step: str) -> float:
    return next(seconds for part, seconds in COSTS.items() if part in step)


def is_needed(path: PurePosixPath) -> bool:
    return str(path) in LICENCES or any(path.is_relative_to(name) for name in NEEDED)


def copy_all(files: Iterable[Path], folder: Path) -> None:
    for file in files:
        shutil.copy2(file, folder, follow_symlinks=False)


def need_compiler() -> None:
    if not any(map(shutil.which, (os.environ.get("CXX", "c++"), "c++", "g++", "clang++"))):
        raise BuildError("A C++ compiler is missing. Install one (sudo apt-get install g++) and start again.")


def cmake_version() -> tuple[int, ...]:
    with suppress(OSError):
        said = subprocess.run(["cmake", "--version"], capture_output=True, text=True).stdout
        if number := re.search(r"(\d+)\.(\d+)", said):
            return tuple(map(int, number.groups()))
    return ()


def num_jobs(behind: bool) -> int:
    num_cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, num_cores - behind)


def go_behind() -> None:
    """A nice value alone does nothing where the kernel groups processes by their sessions."""
    with suppress(PermissionError):  # it leads a group already
        os.setsid()
    os.nice(19)
    if hasattr(os, "SCHED_IDLE"):
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))


@contextmanager
def standing_back() -> Iterator[None]:
    """Stops what this program has started while others compute.

    At the lowest priority alone a compiler halves the speed of an answer on two cores: whenever one of
    llama.cpp's threads waits for the others, the compiler is let in. If this program is killed meanwhile, so
    is Ninja, and then the kernel ends the stopped compilers, since nobody is left to continue them.
    """
    ended = threading.Event()
    thread = threading.Thread(target=stand_back, args=(ended,), daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def stand_back(ended: threading.Event) -> None:
    used, at = seconds_of_others(), time.monotonic()
    busy_at = stopped_at = turn_until = 0.0  # 0: not stopped
    while not ended.wait(LOOK_EVERY_S):
        before, used, since, at = used, seconds_of_others(), at, time.monotonic()
        if used - before > BUSY * (os.cpu_count() or 1) * (at - since):
            busy_at = at
        if not stopped_at and busy_at == at > turn_until:
            send(signal.SIGSTOP, os.getsid(0))
            stopped_at = at
        elif stopped_at and (at - busy_at > 1.5 * LOOK_EVERY_S or at - stopped_at > LONGEST_REST_S):
            send(signal.SIGCONT, os.getsid(0))
            stopped_at, turn_until = 0.0, at + TURN_S * (at - stopped_at > LONGEST_REST_S)
    if stopped_at:
        send(signal.SIGCONT, os.getsid(0))


def send(number: signal.Signals, session: int) -> None:
    """To all of the session but this program. Ninja gives each compiler a group of its own."""
    for process in (int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()):
        with suppress(ProcessLookupError):
            if os.getsid(process) == session and process != os.getpid():
                os.kill(process, number)


def seconds_of_others() -> float:
    """Processor time of all programs that are not nice, as the compilers are. 0: it is not told here."""
    try:
        total = Path("/proc/stat").read_text(encoding="ascii").split(maxsplit=2)[1]
    except OSError:
        return 0.0
    return int(total) / os.sysconf("SC_CLK_TCK")


def end_with_parent() -> None:
    """By the one signal that a stopped program takes."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def is_running(pid: int | None) -> bool:
    if pid is None:
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
