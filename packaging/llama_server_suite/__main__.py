"""Runs the suite file by file and compares what passes with what passes on llama-server.

    packaging/llama_server_suite/run [FILE…] [--llama-server PATH]

What passes there is written in expected.toml. A llama-server built from the same source package can be run
again beside Skein. Exit code 0: all passes that passes there, but for the differences that are meant.
"""

from __future__ import annotations

import argparse
import os
import shlex
import socket
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import platformdirs

from llama_server_suite.compare import Comparison, compare
from llama_server_suite.source import Suite, prepare
from llama_server_suite.stand_in import projector, stand_in
from llama_server_suite.wrapper import FOLDER_VARIABLE

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
EXPECTED = HERE / "expected.toml"
FILE_TIMEOUT_S = 1800


def main() -> int:
    options = _parse()
    expected = tomllib.loads(EXPECTED.read_text(encoding="utf-8"))
    suite = prepare(Path(platformdirs.user_cache_dir("skein")) / "llama_server_suite")
    files = options.files or [
        file for file in expected["llama_server_passes"] if file not in expected["not_claimed"]
    ]
    run_llama_server = _llama_server(options.llama_server, suite) if options.llama_server else None
    comparisons = []
    for file in files:
        theirs = set(expected["llama_server_passes"].get(file, []))
        if run_llama_server:
            theirs = _passes(suite, file, run_llama_server)
        _show(f"llama-server passes of {file}", theirs)
        ours = _passes(suite, file, _skein(suite))
        _show(f"Skein passes of {file}", ours)
        comparison = compare(file, ours, theirs, expected["differences"].get(file, {}))
        print(comparison.line, flush=True)
        comparisons.append(comparison)
    not_run = {} if options.files else expected["not_claimed"]
    for file, subject in not_run.items():
        print(f"not run: {file}: {subject}; llama-server passes {len(expected['llama_server_passes'][file])}")
    return _summary(comparisons)


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="packaging/llama_server_suite/run", description=__doc__)
    parser.add_argument("files", nargs="*", metavar="FILE", help="such as test_completion.py")
    parser.add_argument("--llama-server", type=Path, metavar="PATH", help="run this program, too")
    return parser.parse_args()


def _skein(suite: Suite) -> Path:
    """A program with llama-server's flags that is Skein."""
    module_path = os.pathsep.join([str(ROOT), str(ROOT / "packaging")])
    command = [sys.executable, "-m", "llama_server_suite.wrapper"]
    return _program(
        suite.folder / "skein-as-llama-server",
        f"export PYTHONPATH={shlex.quote(module_path)} {FOLDER_VARIABLE}={shlex.quote(str(suite.folder))}",
        f'exec {shlex.join(command)} "$@"',
    )


def _llama_server(binary: Path, suite: Suite) -> Path:
    """llama-server itself, with the stand-in instead of what it would download."""
    model = stand_in(suite.models, suite.vocabulary)
    return _program(
        suite.folder / "llama-server-offline",
        f"arguments=() projector={shlex.quote(str(projector(suite.models)))}",
        "while (($#)); do",
        r'    case "$1 ${2-}" in --hf-repo\ *tinygemma3*) arguments+=(--mmproj "$projector") ;; esac',
        '    case $1 in --hf-repo | --hf-file) shift ;; --offline) ;; *) arguments+=("$1") ;; esac',
        "    shift",
        "done",
        f'exec {shlex.quote(str(binary.resolve()))} -m {shlex.quote(str(model))} "${{arguments[@]}}"',
    )


def _program(path: Path, *lines: str) -> Path:
    path.write_text("\n".join(["#!/usr/bin/env bash", *lines, ""]))
    path.chmod(0o755)
    return path


def _passes(suite: Suite, file: str, program: Path) -> set[str]:
    """The tests of one file that pass with `program` as llama-server."""
    report = suite.folder / f"{program.name}-{Path(file).stem}.xml"
    report.unlink(missing_ok=True)
    log = report.with_suffix(".log")
    environment = os.environ | {"LLAMA_SERVER_BIN_PATH": str(program), "PORT": str(_free_port())}
    options = ["-q", "-m", "not slow", f"--junit-xml={report}"]
    command = [str(suite.python), "-m", "pytest", *options, f"unit/{file}"]
    with log.open("w") as output:
        subprocess.run(
            command, cwd=suite.tests, env=environment, stdout=output, stderr=output, timeout=FILE_TIMEOUT_S
        )
    if not report.exists():
        raise SystemExit(f"The suite did not run: see {log}.")
    cases = list(ElementTree.parse(report).iter("testcase"))
    print(f"{program.name}: {file}: {len(cases)} tests, log in {log}", flush=True)
    return {str(case.get("name")) for case in cases if len(case) == 0 or not _has_failed(case)}


def _has_failed(case: ElementTree.Element) -> bool:
    return any(case.find(end) is not None for end in ("failure", "error", "skipped"))


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _show(title: str, names: set[str]) -> None:
    print(f"\n{title}: {len(names)}")
    for name in sorted(names):
        print(f"  {name}")


def _summary(comparisons: list[Comparison]) -> int:
    def total(count: Callable[[Comparison], int]) -> int:
        return sum(map(count, comparisons))

    print()
    for comparison in comparisons:
        print(comparison.line)
    num_ours, num_theirs = total(lambda one: len(one.ours)), total(lambda one: len(one.theirs))
    print(f"all: Skein passes {num_ours}, llama-server {num_theirs}")
    for comparison in comparisons:
        for name, reason in sorted(comparison.differences.items()):
            print(f"  meant: {comparison.file}::{name}: {reason}")
        for name in sorted(comparison.missing):
            print(f"  MISSING: {comparison.file}::{name}")
    return 1 if any(comparison.missing for comparison in comparisons) else 0


if __name__ == "__main__":
    sys.exit(main())
