"""`python -m tests.benchmarks engine`: how fast Skein is on this machine. Run it on a quiet one."""

import argparse
import sys

from tests.benchmarks import engine_speed


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    benchmarks = parser.add_subparsers(required=True, metavar="BENCHMARK")
    engine_speed.add_arguments(
        benchmarks.add_parser("engine", help="tokens/s of the engine against a bare llama_decode loop")
    )
    options = parser.parse_args()
    result = options.run(options)
    assert isinstance(result, int)
    return result


if __name__ == "__main__":
    sys.exit(main())
