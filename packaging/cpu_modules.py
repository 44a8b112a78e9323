"""Tests a bundle's code for each family of CPUs, as far as this machine runs it: `cpu_modules.py [BUNDLE]`.

Run with the Python of .venv, once packaging/bundle and packaging/test have set up what it needs.
"""

import ctypes
import os
import shutil
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).parent.parent
BUNDLE = ROOT / "build" / "bundle" / "skein"
PATTERN = "*ggml-cpu-*"
TESTS = [f"tests/native/test_{name}.py" for name in ("attention", "attention_op", "multiplication")]


def main(bundle: Path) -> int:
    llama = bundle / "_internal" / "llama_cpp"
    ends = {}
    for module in sorted((llama / "lib").glob(PATTERN)):
        print(f"\n== {module.name}", flush=True)
        # libggml is at hand for it only where it is looked for.
        ctypes.CDLL(str(next((llama / "lib").glob("libggml-base.*"))), ctypes.RTLD_GLOBAL)
        is_for_here = ctypes.CDLL(str(module)).ggml_backend_score() > 0
        ends[module.name] = _tested(llama, module) if is_for_here else "not for this CPU"
    print()
    for name, end in ends.items():
        print(f"{name:<32} {end}")
    return int(not ends or "FAILED" in ends.values())


def _tested(llama: Path, module: Path) -> str:
    package = find_spec("llama_cpp")
    assert package is not None
    assert package.origin is not None
    with tempfile.TemporaryDirectory() as folder:
        only = Path(folder) / "llama_cpp"
        shutil.copytree(Path(package.origin).parent, only, ignore=shutil.ignore_patterns("lib"))
        shutil.copytree(llama / "lib", only / "lib", ignore=shutil.ignore_patterns(PATTERN))
        shutil.copy(module, only / "lib")
        command = [sys.executable, "-m", "pytest", "-q", *TESTS]
        code = subprocess.run(command, cwd=ROOT, env=os.environ | {"PYTHONPATH": folder}).returncode
    return "FAILED" if code else "ok"


if __name__ == "__main__":
    sys.exit(main(*map(Path, sys.argv[1:2] or [BUNDLE])))
