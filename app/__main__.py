"""`python -m app` is `skein`, and so is the frozen program, which also runs our modules as its children."""

import os
import sys

from app import CHILD_OPTION


def run() -> int:
    """Returns the exit code. A child needs little, so no more is imported for it."""
    if getattr(sys, "frozen", False):
        _leave_no_trace_for_others()
    if sys.argv[1:2] == [CHILD_OPTION]:
        import runpy

        _program, _option, module, *arguments = sys.argv
        sys.argv = [module, *arguments]
        runpy.run_module(module, run_name="__main__", alter_sys=True)
        return 0
    from app.main import main

    return main()


def _leave_no_trace_for_others() -> None:
    """A browser that we start must find its own libraries. Ours are found: the loader reads this once."""
    former = os.environ.pop("LD_LIBRARY_PATH_ORIG", None)
    if former is None:
        os.environ.pop("LD_LIBRARY_PATH", None)
    else:
        os.environ["LD_LIBRARY_PATH"] = former


if __name__ == "__main__":
    sys.exit(run())
