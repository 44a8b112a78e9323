"""The program where Qt is not installed: `python -m tests.cli.without_qt serve …`."""

import sys

sys.modules["PySide6"] = sys.modules["qasync"] = None  # type: ignore[assignment]

from app.cli import ask, serve  # noqa: E402, F401  (for those that start at once)
from app.main import main  # noqa: E402

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
