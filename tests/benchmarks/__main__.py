"""`python -m tests.benchmarks intrusion`: how fast Skein is on this machine. Run it on a quiet one."""

import argparse
import subprocess
import sys
from types import ModuleType

try:
    from tests.benchmarks import (
        chat,
        drafting,
        durability,
        engine_speed,
        hostile,
        hostile_messages,
        intrusion,
        kernels,
        rows,
        rows_beside,
        start,
        summaries,
        two_models,
        typing_ahead,
        working_day,
        workload,
    )
except ModuleNotFoundError as error:
    if (error.name or "").partition(".")[0] in ("app", "tests"):
        raise
    sys.exit(f"{error}. Run packaging/test first: it installs what the benchmarks need.")

# Each has `add_arguments(parser)` and `run(options)`, which returns 1 when a figure fell short.
BENCHMARKS: dict[str, ModuleType] = {
    "engine": engine_speed,
    "intrusion": intrusion,
    "typing": typing_ahead,
    "drafting": drafting,
    "durability": durability,
    "day": working_day,
    "start": start,
    "kernels": kernels,
    "chat": chat,
    "two": two_models,
    "messages": hostile_messages,
    "hostile": hostile,
    "summaries": summaries,
    "rows": rows,
    "rows_beside": rows_beside,
}
# They take none of the shared options, or tell nothing of random weights.
NOT_OF_SPEED = {
    "day",
    "durability",
    "hostile",
    "kernels",
    "messages",
    "rows",
    "rows_beside",
    "start",
    "summaries",
    "two",
    "typing",
}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    benchmarks = parser.add_subparsers(required=True, metavar="BENCHMARK")
    for name, module in BENCHMARKS.items():
        summary = (module.__doc__ or "").splitlines()[0]
        benchmark = benchmarks.add_parser(name, help=summary, description=module.__doc__)
        module.add_arguments(benchmark)
        benchmark.set_defaults(run=module.run)
    every = benchmarks.add_parser("all", help="each that has a wanted figure, in a process of its own")
    workload.add_arguments(every)
    every.set_defaults(run=_run_all)
    options = parser.parse_args()
    result = options.run(options)
    assert isinstance(result, int)
    return result


def _run_all(options: argparse.Namespace) -> int:
    """Each in its own process: memory and threads begin anew, and a crash ends one benchmark only."""
    shared = ["--threads", str(options.threads), "--repeats", str(options.repeats)]
    if options.model:
        shared += ["--model", str(options.model)]
    codes: dict[str, int] = {}
    for name in [name for name in BENCHMARKS if name not in NOT_OF_SPEED]:
        print(f"\n===== {name}", flush=True)
        codes[name] = subprocess.run([sys.executable, "-m", "tests.benchmarks", name, *shared]).returncode
    print()
    for name, code in codes.items():
        print(f"{name:<14} {'ok' if code == 0 else f'SHORT (exit code {code})'}")
    return int(any(codes.values()))


if __name__ == "__main__":
    sys.exit(main())
