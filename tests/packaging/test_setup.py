"""The parts of packaging/setup.sh that decide, run by bash in a copy with a space in its path."""

import _ctypes
import contextlib
import ctypes
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

ROOT = Path(__file__).parents[2]
PATCH = min((ROOT / "packaging" / "llama_cpp").glob("*.patch")).name


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    clone = tmp_path / "a copy"
    (clone / "packaging").mkdir(parents=True)
    for name in (
        "setup.sh",
        "build_llama.py",
        "apply_patch.py",
        "llama_cpp_sources.py",
        "binding.patch",
        "first_library.txt",
    ):
        shutil.copy(ROOT / "packaging" / name, clone / "packaging")
    shutil.copytree(ROOT / "packaging" / "llama_cpp", clone / "packaging" / "llama_cpp")
    shutil.copy(ROOT / "pyproject.toml", clone)
    python = clone / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.symlink_to(shutil.which("true") or "true")
    (clone / ".venv" / "lib" / "python3.11" / "site-packages" / "llama_cpp").mkdir(parents=True)
    (clone / ".venv" / "llama").mkdir()
    return clone


def bash(clone: Path, script: str) -> subprocess.CompletedProcess[str]:
    command = f"set -euo pipefail; source '{clone}/packaging/setup.sh'; {script}"
    environment = os.environ | {"HOME": str(clone / "home"), "XDG_CACHE_HOME": "", "CMAKE_ARGS": ""}
    return subprocess.run(
        ["bash", "-c", command], cwd="/", env=environment, capture_output=True, text=True, timeout=20
    )


def stamp(clone: Path) -> None:
    script = 'stamp gui "$(stamp_key)"; stamp llama "$(wanted_llama)"; stamp usable "$(usable_llama)"'
    bash(clone, script).check_returncode()


def test_a_stamped_extra_needs_no_set_up(clone) -> None:
    stamp(clone)
    assert bash(clone, "is_set_up gui").returncode == 0
    assert bash(clone, "is_set_up gui test").returncode == 1


def test_changed_requirements_need_a_new_set_up(clone) -> None:
    stamp(clone)
    with (clone / "pyproject.toml").open("a") as file:
        file.write("\n# changed\n")
    assert bash(clone, "is_set_up gui").returncode == 1


def test_a_moved_folder_needs_a_new_set_up(clone) -> None:
    stamp(clone)
    moved = clone.rename(clone.parent / "moved here")
    assert bash(moved, "is_set_up gui").returncode == 1


def test_another_python_behind_the_venv_needs_a_new_set_up(clone) -> None:
    stamp(clone)
    python = clone / ".venv" / "bin" / "python"
    python.unlink()
    python.symlink_to(shutil.which("false") or "false")
    assert bash(clone, "is_set_up gui").returncode == 1


def test_a_venv_made_in_another_folder_is_not_used(clone) -> None:
    config = clone / ".venv" / "pyvenv.cfg"
    config.write_text("version = 3.11.7\ncommand = /usr/bin/python3 -m venv /elsewhere/.venv\n")
    assert bash(clone, "venv_works").returncode == 1


def test_a_second_set_up_waits_for_the_first_and_does_nothing(clone) -> None:
    result = bash(
        clone,
        """
        has_llama() { :; }; has_ours() { :; }
        set_up() { sleep 0.3; echo "set up"; stamp gui "$(stamp_key)"; }
        ensure_venv gui & ensure_venv gui & wait
        """,
    )
    assert result.stdout == "set up\n"
    assert "waiting" in result.stderr


def test_nothing_is_said_on_stdout(clone) -> None:
    steps = "make_venv() { :; }; pip_install() { :; }; install_binding() { :; }; compile_ours() { :; }"
    result = bash(clone, f"{steps}; may_borrow() {{ false; }}; set_up gui")
    assert result.stdout == ""
    assert "done once" in result.stderr


@pytest.mark.parametrize(
    ("sonames", "packages"),
    [
        ("libEGL.so.1 libGL.so.1", ["libegl1", "libgl1"]),
        ("libX11.so.6 libX11-xcb.so.1", ["libx11-6", "libx11-xcb1"]),
        ("libdbus-1.so.3", ["libdbus-1-3"]),
        ("libglib-2.0.so.0 libgthread-2.0.so.0", ["libglib2.0-0"]),
        ("libxkbcommon-x11.so.0 libxcb-cursor.so.0", ["libxcb-cursor0", "libxkbcommon-x11-0"]),
    ],
)
def test_a_library_is_found_in_its_debian_package(clone, sonames, packages) -> None:
    assert bash(clone, f"debian_packages {sonames}").stdout.split() == packages


def test_a_user_who_is_not_root_is_told_the_command(clone) -> None:
    # EUID cannot be set, so the line that asks for it is what is replaced.
    result = bash(
        clone,
        """
        eval "$(declare -f install_packages | sed 's/EUID != 0/1/')"
        apt-get() { echo never; }
        install_packages "a C++ compiler" g++ make
        """,
    )
    assert result.returncode == 1
    assert "a C++ compiler" in result.stderr
    assert "sudo apt-get install g++ make" in result.stderr


def test_packages_are_installed_in_a_fresh_clone_too(clone) -> None:
    shutil.rmtree(clone / ".venv")
    result = bash(
        clone,
        """
        eval "$(declare -f install_packages | sed 's/EUID != 0/0/')"
        apt-get() { echo "apt-get $*"; }
        install_packages "what makes packages" dpkg-dev
        """,
    )
    assert result.returncode == 0, result.stderr
    assert "dpkg-dev" in (clone / ".venv" / "setup.log").read_text()


@pytest.mark.parametrize(
    ("written", "work"),
    [
        ("Collecting numpy", "looking for packages"),
        ("Downloading https://host/a/numpy-2.4.6-cp311.whl (16 MB)", "downloading numpy"),
        ("Installing collected packages: a, b", "installing the packages"),
    ],
)
def test_progress_is_read_from_the_log(clone, written, work) -> None:
    (clone / ".venv" / "setup.log").write_text(f"Collecting llama-cpp-python\n{written}\nother\n")
    assert bash(clone, "current_work").stdout.startswith(f"{work} (about ")


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (
            {"step": 57, "steps": 110, "seconds_left": 200},
            "compiling llama.cpp, step 57 of 110, about 4 min left",
        ),
        ({"step": 1, "steps": 110, "seconds_left": None}, "compiling llama.cpp, step 1 of 110"),
        ({"step": 0, "steps": 0, "seconds_left": None}, "compiling llama.cpp"),
    ],
)
def test_progress_is_read_from_the_build(clone, status, words) -> None:
    (clone / ".venv" / "setup.log").touch()
    running = {
        "state": "running",
        "what": "compiling llama.cpp",
        **status,
        "error": "",
        "pid": os.getpid(),
        "behind": False,
    }
    folder = Path(bash(clone, "llama_cache").stdout)
    folder.mkdir(parents=True)
    (folder / "status.json").write_text(json.dumps(running))
    assert bash(clone, "current_work").stdout == words
    (folder / "status.json").write_text(json.dumps(running | {"behind": True}))
    assert "compiling" not in bash(clone, "current_work").stdout  # nobody waits for that


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        ("cuda", "sudo apt-get install nvidia-cuda-toolkit"),
        ("vulkan", "sudo apt-get install glslc libvulkan-dev spirv-headers"),
        ("metal", "--gpu=metal is for macOS"),
        ("fast", "choose one of cuda, vulkan, metal and cpu"),
    ],
)
def test_what_a_gpu_needs_is_named_and_nothing_is_remembered(clone, kind, told) -> None:
    missing = "command() { return 1; }; uname() { echo Linux; }"
    result = bash(clone, f"{missing}; want_gpu {kind}")
    assert result.returncode == 1
    assert told in result.stderr
    assert bash(clone, "wanted_gpu").stdout == "cpu"


def test_the_cmake_arguments_of_a_gpu_go_before_those_of_the_user(clone) -> None:
    command = "want_gpu cuda; CMAKE_ARGS='-DA=\"b c\" -DD=e'; build_llama --behind"
    python = clone / ".venv" / "bin" / "python"
    python.unlink()
    python.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    python.chmod(0o755)
    _script, folder, *arguments = bash(clone, f"command() {{ :; }}; {command}").stdout.splitlines()
    assert arguments == ["--behind", "--", "-DGGML_CUDA=ON", "-DA=b c", "-DD=e"]
    assert Path(folder).parent == clone / "home" / ".cache" / "skein" / "llama"


OTHER_BUILDS = {
    "another GPU": "want_gpu vulkan",
    "another processor": "cpu_features() { echo avx2; }",
    "other arguments": "CMAKE_ARGS=-DGGML_NATIVE=OFF",
    "no patches": "want_llama plain",
}


@pytest.mark.parametrize("change", OTHER_BUILDS.values(), ids=OTHER_BUILDS.keys())
def test_what_is_compiled_for_something_else_does_not_answer(clone, change) -> None:
    stamp(clone)
    assert bash(clone, "is_set_up gui").returncode == 0
    before = bash(clone, "llama_cache").stdout
    asked = f"command() {{ :; }}; need_tool() {{ :; }}; need_file() {{ :; }}; {change}"
    assert bash(clone, f"{asked}; is_set_up gui").returncode == 1
    assert bash(clone, f"{asked}; llama_cache").stdout != before


@pytest.mark.parametrize("changed", [PATCH, "CMakeLists.txt", "chat/chat.cpp"])
def test_after_a_change_of_ours_the_older_build_answers_until_the_new_one_is_there(clone, changed) -> None:
    stamp(clone)
    before = bash(clone, "llama_cache").stdout
    with (clone / "packaging" / "llama_cpp" / changed).open("a") as file:
        file.write("# changed\n")
    assert bash(clone, "is_set_up gui && ! has_ours").returncode == 0
    assert bash(clone, "compiled_only=yes; is_set_up gui").returncode == 1
    assert bash(clone, "llama_cache").stdout != before


def test_without_patches_no_patch_makes_a_difference(clone) -> None:
    plain = bash(clone, "want_llama plain; llama_cache; cmake_args").stdout
    assert plain.endswith("-DPLAIN_LLAMA=ON ")
    (clone / "packaging" / "llama_cpp" / PATCH).unlink()
    assert bash(clone, "llama_cache; cmake_args").stdout == plain
    assert "PLAIN" not in bash(clone, "want_llama patched; cmake_args").stdout


AVX2 = "cpu_features() { printf '%s\\n' avx2 bmi2 f16c fma; }; uname() { echo Linux x86_64; }"


@pytest.mark.parametrize(
    ("here", "why"),
    [
        (AVX2, None),
        (f"{AVX2}; cpu_features() {{ printf '%s\\n' avx bmi2 f16c fma; }}", "this processor has no AVX2"),
        (f"{AVX2}; uname() {{ echo Linux aarch64; }}", ""),
        (f"{AVX2}; compiled_only=yes", ""),
        (f"{AVX2}; CMAKE_ARGS=-DGGML_NATIVE=OFF", ""),
        (f"{AVX2}; wanted_gpu() {{ echo cuda; }}", ""),
        (f"{AVX2}; wants_plain_llama() {{ :; }}", ""),
    ],
)
def test_a_library_is_borrowed_only_where_it_runs_and_nothing_else_is_wanted(clone, here, why) -> None:
    result = bash(clone, f"{here}; may_borrow")
    assert result.returncode == (why is not None)
    assert (why or "") in result.stderr
    assert bool(result.stderr) == bool(why)


SET_UP = """
    make_venv() { :; }; install_binding() { :; }; install_skein() { :; }; report_progress() { :; }
    may_borrow() { :; }; ensure_compiler() { :; }
    take_ours() { [[ -e $venv/compiled ]] && stamp llama "$(wanted_llama)"; }
    build_llama() { touch "$venv/compiled"; }
    first_library() {
        [[ $1 != REFUSED ]] || { echo "it is another"; return 1; }
        mkdir -p "$venv/llama/borrowed"
        echo "lib 1" >"$venv/llama/borrowed/borrowed.txt"
    }
"""


@pytest.mark.parametrize("refused", ["fetch", "check"])
def test_a_library_that_is_refused_is_named_and_ours_compiled_first(clone, refused) -> None:
    result = bash(clone, SET_UP.replace("REFUSED", refused) + "set_up gui")
    assert result.returncode == 0, result.stderr
    assert "has to be compiled before the first answer: it is another." in result.stderr
    assert (clone / ".venv" / "compiled").exists()
    assert bash(clone, "is_set_up gui && has_ours").returncode == 0


@pytest.mark.parametrize(
    ("code", "told"), [(1, "The last lines of {log}:\nno room"), (130, "Set-up stopped. ")]
)
def test_why_ours_could_not_be_compiled_is_told_from_its_own_log(clone, code, told) -> None:
    folder = bash(clone, "llama_cache").stdout
    fails = f'build_llama() {{ mkdir -p "{folder}"; echo no room >"{folder}/log"; return {code}; }}'
    result = bash(clone, SET_UP + f"compiled_only=yes; may_borrow() {{ false; }}; {fails}; set_up gui")
    assert result.returncode == 1
    assert told.format(log=f"{folder}/log") in result.stderr
    assert bash(clone, "is_set_up gui").returncode == 1


def test_ctrl_c_while_packages_are_installed_ends_that_too_and_says_how_to_go_on(clone) -> None:
    packages = 'install_skein() { echo $BASHPID >"$venv/packages"; exec sleep 60; }'
    # Sent by itself: bash may lose the trap of a signal that comes while it waits for a command.
    ctrl_c = "wait() { until [[ -s $venv/packages ]]; do sleep 0.05; done; kill -INT $$; }"
    result = bash(clone, SET_UP + f"{packages}; {ctrl_c}; set_up gui")
    assert result.returncode == 1
    assert "Set-up stopped.\nStart again to go on from here" in result.stderr
    with contextlib.suppress(psutil.NoSuchProcess):  # its parent is gone: it may be reaped late
        packages = psutil.Process(int((clone / ".venv" / "packages").read_text()))
        while packages.status() != psutil.STATUS_ZOMBIE:
            time.sleep(0.05)


@pytest.mark.parametrize("argument", ["aks", "--gpu"])
def test_a_word_that_is_no_command_is_refused_before_anything_is_set_up(clone, argument) -> None:
    shutil.copy(ROOT / "packaging" / "run", clone / "packaging")
    (clone / "link").symlink_to(clone / "packaging" / "run")
    done = subprocess.run([clone / "link", argument, "hi"], capture_output=True, text=True, timeout=20)
    assert done.returncode == 1
    assert ("no command of this name" if argument == "aks" else "--gpu=cuda") in done.stderr
    assert "Setting up" not in done.stderr


def test_a_borrowed_library_answers_and_nothing_is_compiled_in_front(clone) -> None:
    result = bash(clone, SET_UP + "set_up gui")
    assert result.returncode == 0, result.stderr
    assert "Skein answers with lib 1 until its own llama.cpp is compiled" in result.stderr
    link = clone / ".venv" / "lib" / "python3.11" / "site-packages" / "llama_cpp" / "lib"
    assert link.resolve() == clone / ".venv" / "llama" / "borrowed"
    assert not (clone / ".venv" / "compiled").exists()
    assert bash(clone, "is_set_up gui && ! has_ours").returncode == 0


def test_ours_takes_its_place_and_what_a_program_still_uses_stays(clone) -> None:
    ours = Path(bash(clone, "llama_cache").stdout, "lib")
    ours.mkdir(parents=True)
    (ours / "patches.txt").write_text("")
    used, unused = (clone / ".venv" / "llama" / name for name in ("borrowed", "cpu-earlier"))
    unused.mkdir()
    shutil.copytree(
        Path(_ctypes.__file__).parent,
        used,
        ignore=lambda _at, names: set(names) - {Path(_ctypes.__file__).name},
    )
    bash(clone, "use_libraries borrowed").check_returncode()
    library = ctypes.CDLL(str(used / Path(_ctypes.__file__).name))
    bash(clone, "take_ours && has_ours && remove_old_libraries").check_returncode()
    link = clone / ".venv" / "lib" / "python3.11" / "site-packages" / "llama_cpp" / "lib"
    assert link.resolve().name == bash(clone, "wanted_llama").stdout
    assert used.exists()
    assert not unused.exists()
    assert library._handle


def test_the_build_behind_waits_for_another_checkout_and_takes_what_that_made(clone) -> None:
    held = """
        mkdir -p "$(llama_cache)"
        build_llama() { echo "$*"; }  # another one has the lock
        (
            flock 7
            touch "$venv/held"
            while [[ ! -e $venv/go ]]; do sleep 0.05; done
            mkdir "$(llama_cache)/lib"
        ) 7>"$(llama_cache)/lock" &
        while [[ ! -e $venv/held ]]; do sleep 0.05; done
        until_ours & touch "$venv/go"; wait
        has_ours
    """
    result = bash(clone, f"wanted_patches() {{ :; }}; {held}")
    assert result.returncode == 0, result.stderr
    assert set(result.stdout.split()) <= {"--behind"}


def test_a_patch_that_was_left_out_is_named(clone) -> None:
    libraries = clone / ".venv" / "lib" / "python3.11" / "site-packages" / "llama_cpp" / "lib"
    libraries.mkdir()
    wanted = [path.stem for path in sorted((clone / "packaging" / "llama_cpp").glob("*.patch"))]
    (libraries / "patches.txt").write_text("\n".join(wanted[1:]) + "\n")
    said = bash(clone, "tell_missing_patches").stderr.splitlines()
    assert len(said) == 1
    assert f"without {wanted[0]}, which does not fit llama-cpp-python==" in said[0]
    assert bash(clone, "want_llama plain; tell_missing_patches").stderr == ""


WITHOUT_THE_TEST_TOOLS = """
import runpy, sys
sys.modules["gguf"] = None
runpy.run_module("tests.benchmarks", run_name="__main__")
"""


def test_benchmarks_say_what_installs_what_they_need() -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_THE_TEST_TOOLS, "fit"], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "gguf" in done.stderr
    assert "Run packaging/test first" in done.stderr
