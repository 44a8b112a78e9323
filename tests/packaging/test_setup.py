"""The parts of packaging/setup.sh that decide, run by bash in a copy with a space in its path."""

import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PATCH = min((ROOT / "packaging" / "llama_cpp").glob("*.patch")).name


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    clone = tmp_path / "a copy"
    (clone / "packaging").mkdir(parents=True)
    for name in ("setup.sh", "llama_cpp_build.cmake", "apply_patch.py", "chat_library.py"):
        shutil.copy(ROOT / "packaging" / name, clone / "packaging")
    shutil.copytree(ROOT / "packaging" / "llama_cpp", clone / "packaging" / "llama_cpp")
    shutil.copy(ROOT / "pyproject.toml", clone)
    python = clone / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.symlink_to(shutil.which("true") or "true")
    return clone


def bash(clone: Path, script: str) -> subprocess.CompletedProcess[str]:
    command = f"set -euo pipefail; source '{clone}/packaging/setup.sh'; {script}"
    return subprocess.run(["bash", "-c", command], cwd="/", capture_output=True, text=True, timeout=20)


def stamp(clone: Path) -> None:
    bash(clone, 'stamp_key >"$venv/ready-gui"').check_returncode()


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
        set_up() { sleep 0.3; echo "set up"; stamp_key >"$venv/ready-gui"; }
        ensure_venv gui & ensure_venv gui & wait
        """,
    )
    assert result.stdout == "set up\n"
    assert "waiting" in result.stderr


def test_nothing_is_said_on_stdout(clone) -> None:
    result = bash(clone, "make_venv() { :; }; ensure_compiler() { :; }; install_skein() { :; }; set_up gui")
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
        ("  Running command Building wheel for llama-cpp-python", "compiling llama-cpp-python"),
        ("  [57/83] /usr/bin/g++ -DX [1/2]", "compiling llama-cpp-python, step [57/83]"),
        ("Installing collected packages: a, b", "installing the packages"),
    ],
)
def test_progress_is_read_from_the_log(clone, written, work) -> None:
    (clone / ".venv" / "setup.log").write_text(f"Collecting llama-cpp-python\n{written}\nother\n")
    assert bash(clone, "current_work").stdout == work


def test_the_build_finds_its_cmake_file_whatever_the_path(clone) -> None:
    odd = clone.rename(clone.parent / "kim's copy")
    command = "source ./packaging/setup.sh; CMAKE_ARGS='-DGGML_VULKAN=ON' cmake_args"
    said = subprocess.run(["bash", "-c", command], cwd=odd, capture_output=True, text=True, timeout=20)
    assert shlex.split(said.stdout) == [
        "-DMTMD_VIDEO=OFF",
        f"-DCMAKE_PROJECT_llama_cpp_INCLUDE={odd}/packaging/llama_cpp_build.cmake",
        "-DGGML_VULKAN=ON",
    ]


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


def test_llama_cpp_is_built_once_for_the_gpu_that_was_chosen_and_once_for_going_back(clone) -> None:
    tools = (
        "command() { :; }; HOME=/home/kim; XDG_CACHE_HOME='';"
        'pip_install() { echo "$PIP_CACHE_DIR"; printf "%s\n" $CMAKE_ARGS | grep GGML || :; echo "$@"; }'
    )
    begin = "want_gpu {}; is_set_up gui || echo new; ensure_llama; ensure_llama"
    stamp(clone)
    cached = []
    for kind, arguments in (("cuda", ["-DGGML_CUDA=ON"]), ("cpu", [])):
        new, cache, *said, command = bash(clone, f"{tools}; {begin.format(kind)}").stdout.splitlines()
        assert new == "new"
        assert said == arguments
        assert command.startswith(
            "--no-deps --force-reinstall --no-binary llama-cpp-python llama-cpp-python=="
        )
        cached.append(cache)
        stamp(clone)
        assert bash(clone, "is_set_up gui").returncode == 0
    assert cached[0].startswith("/home/kim/.cache/skein/pip/cuda-")
    assert cached[1].startswith("/home/kim/.cache/skein/pip/cpu-")


def test_llama_cpp_is_built_again_on_another_processor(clone) -> None:
    stamp(clone)
    here = bash(clone, "cpu_features").stdout.split()
    assert set(here) <= set(Path("/proc/cpuinfo").read_text().split())
    other = "cpu_features() { echo avx2; }"
    assert bash(clone, f"{other}; is_set_up gui").returncode == 1
    assert bash(clone, f"{other}; llama_cache").stdout != bash(clone, "llama_cache").stdout


@pytest.mark.parametrize("changed", [f"llama_cpp/{PATCH}", "llama_cpp_build.cmake"])
def test_llama_cpp_is_built_again_when_a_patch_changed(clone, changed) -> None:
    """And neither build is found in the place of the other."""
    before = bash(clone, "llama_cache").stdout
    stamp(clone)
    with (clone / "packaging" / changed).open("a") as file:
        file.write("# changed\n")
    assert bash(clone, "is_set_up gui").returncode == 1
    assert bash(clone, "llama_cache").stdout != before
    assert bash(clone, "CMAKE_ARGS=-DGGML_NATIVE=OFF; llama_cache").stdout not in (
        before,
        bash(clone, "llama_cache").stdout,
    )


def test_plain_llama_cpp_is_built_until_it_is_to_be_patched_again(clone) -> None:
    patched = bash(clone, "llama_cache; printf ' '; cmake_args").stdout
    plain = bash(clone, "want_llama plain; llama_cache; printf ' '; cmake_args").stdout
    assert plain.split()[0] != patched.split()[0]
    assert plain.endswith(" -DPLAIN_LLAMA=ON")
    (clone / "packaging" / "llama_cpp" / PATCH).unlink()
    assert bash(clone, "llama_cache; printf ' '; cmake_args").stdout == plain  # no patch makes a difference
    assert "PLAIN" not in bash(clone, "want_llama patched; cmake_args").stdout


def test_a_patch_that_was_left_out_is_named(clone) -> None:
    package = clone / ".venv" / "lib" / "python3.11" / "site-packages" / "llama_cpp"
    package.mkdir(parents=True)
    wanted = [path.stem for path in sorted((clone / "packaging" / "llama_cpp").glob("*.patch"))]
    (package / "patches.txt").write_text("\n".join(wanted[1:]) + "\n")
    said = bash(clone, "tell_missing_patches").stderr.splitlines()
    assert len(said) == 1
    assert f"without {wanted[0]}, which does not fit llama-cpp-python==" in said[0]
    assert bash(clone, "want_llama plain; tell_missing_patches").stderr == ""


def test_the_chat_layer_is_built_again_when_it_changed_and_llama_cpp_is_not(clone) -> None:
    before = bash(clone, "llama_cache").stdout
    stamp(clone)
    with (clone / "packaging" / "llama_cpp" / "chat" / "chat.cpp").open("a") as file:
        file.write("// changed\n")
    assert bash(clone, "is_set_up gui").returncode == 1
    assert bash(clone, "llama_cache").stdout == before


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
