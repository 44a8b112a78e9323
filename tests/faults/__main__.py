"""Plants each old fault in a copy of the tree, and runs the tests that find it.

`python -m tests.faults [NAME…]`. The exit code is 0 only if all are found.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import NamedTuple

from tests.faults.faults import Copy, Fault, all_faults

FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+::.+?)(?: - .*)?$", re.MULTILINE)
# A test ends itself long before: it takes 300 s at most.
PATIENCE_S = 900


class Run(NamedTuple):
    """Of some tests. `failed`: the first that failed, `""` if they passed, None if they could not be run."""

    failed: str | None
    output: str


def main() -> int:
    args = parsed()
    faults = [fault for fault in all_faults() if not args.names or fault.name in args.names]
    if unknown := set(args.names) - {fault.name for fault in faults}:
        sys.exit(f"No fault has the name {', '.join(sorted(unknown))}. See tests/faults/*.toml.")
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(args.jobs) as pool:
        copies: SimpleQueue[Copy] = SimpleQueue()
        for number in range(args.jobs):
            copies.put(Copy(Path(folder, str(number))))
        tests = sorted({test for fault in faults for test in fault.tests})
        if not args.no_check and not all(list(pool.map(lambda test: passes(test, copies), tests))):
            return 1
        verdicts = list(pool.map(lambda fault: looked_for(fault, copies, args.verbose), faults))
    num_found = verdicts.count("found")
    print(f"{num_found} of {len(faults)} faults found in {time.perf_counter() - began:.0f} s")
    return 0 if num_found == len(faults) else 1


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these faults")
    parser.add_argument("--jobs", type=int, default=1, help="how many copies of the tree are tested at once")
    parser.add_argument("--no-check", action="store_true", help="do not run the tests without a fault first")
    parser.add_argument("--verbose", action="store_true", help="show what the tests print")
    return parser.parse_args()


def passes(test: str, copies: SimpleQueue[Copy]) -> bool:
    """Without a fault."""
    copy = copies.get()
    run = ran(copy, [test])
    copies.put(copy)
    if run.failed != "":
        print(run.output, f"{test} {'fails' if run.failed else 'does not run'} without a fault", sep="\n")
    return run.failed == ""


def looked_for(fault: Fault, copies: SimpleQueue[Copy], is_verbose: bool) -> str:
    began = time.perf_counter()
    failed = ""
    if fault.times_found() != 1:
        verdict = "does not fit any more"
    else:
        copy = copies.get()
        copy.plant(fault)
        run = ran(copy, list(fault.tests))
        copy.take_out(fault)
        copies.put(copy)
        failed = run.failed or ""
        verdict = "tests do not run" if run.failed is None else "found" if failed else "NOT FOUND"
        if is_verbose:
            print(run.output)
    seconds = time.perf_counter() - began
    print(f"{verdict:9} {fault.area:7} {fault.name:41} {fault.commit} {seconds:5.1f} s  {failed}", flush=True)
    return verdict


def ran(copy: Copy, tests: list[str]) -> Run:
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-n0", "-p", "no:cacheprovider", *tests]
    env = os.environ | {"PYTHONPATH": str(copy.root), "SKEIN_TEST_EFFORT": "1"}
    try:
        done = subprocess.run(
            command,
            cwd=copy.root,
            env=env,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=PATIENCE_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Run(None, f"{tests} took more than {PATIENCE_S} s")
    first = FAILED.search(done.stdout)
    if done.returncode == 0:
        return Run("", done.stdout)
    if done.returncode == 1 and first:
        return Run(first[1], done.stdout)
    if done.returncode < 0:
        return Run(f"ended by signal {-done.returncode}", done.stdout)
    return Run(None, done.stdout)


if __name__ == "__main__":
    sys.exit(main())
