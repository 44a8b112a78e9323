"""Makes the program's icon in the forms that systems ask for, from its SVG."""

import os
import sys
from pathlib import Path

PNG_SIZES = (16, 24, 32, 48, 64, 128, 256, 512)


def write_icons(svg: Path, folder: Path) -> Path:
    """Writes skein-SIZE.png in all usual sizes, and returns the one file this system's programs carry."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    from PySide6.QtCore import QSize
    from PySide6.QtGui import QGuiApplication, QIcon

    application = QGuiApplication.instance() or QGuiApplication([])
    folder.mkdir(parents=True, exist_ok=True)
    icon = QIcon(str(svg))
    for size in PNG_SIZES:
        icon.pixmap(QSize(size, size)).save(str(folder / f"skein-{size}.png"))
    name = {"win32": "skein.ico", "darwin": "skein.icns"}.get(sys.platform, "skein-256.png")
    if not (folder / name).exists() and not icon.pixmap(QSize(256, 256)).save(str(folder / name)):
        raise SystemExit(f"Qt could not write {folder / name}")
    del application
    return folder / name


if __name__ == "__main__":
    write_icons(Path(sys.argv[1]), Path(sys.argv[2]))
