"""Another program that has copied a picture: `python -m tests.e2e.clipboard FILE`. It ends with its stdin."""

import sys
from pathlib import Path

from PySide6.QtCore import QMimeData, QSocketNotifier
from PySide6.QtGui import QGuiApplication


def main() -> None:
    application = QGuiApplication(sys.argv)
    copied = QMimeData()
    copied.setData("image/png", Path(sys.argv[1]).read_bytes())
    application.clipboard().setMimeData(copied)
    end = QSocketNotifier(sys.stdin.fileno(), QSocketNotifier.Type.Read)
    end.activated.connect(application.quit)
    sys.stdout.write("copied\n")
    sys.stdout.flush()
    application.exec()


if __name__ == "__main__":
    main()
