"""Writes the version data that Windows shows of a program, in the form PyInstaller reads."""

import sys
from pathlib import Path


def write_version(version: str, path: Path) -> Path:
    numbers = [int(part) for part in version.split(".")[:3]]
    four = (*numbers, *[0] * (4 - len(numbers)))
    texts = {
        "CompanyName": "Skein",
        "FileDescription": "Skein",
        "FileVersion": version,
        "InternalName": "skein",
        "OriginalFilename": "skein.exe",
        "ProductName": "Skein",
        "ProductVersion": version,
    }
    strings = ", ".join(f"StringStruct({name!r}, {text!r})" for name, text in texts.items())
    path.write_text(
        f"VSVersionInfo(ffi=FixedFileInfo(filevers={four}, prodvers={four},\n"
        f"    mask=0x3f, flags=0x0, OS=0x40004, fileType=0x1, subtype=0x0, date=(0, 0)),\n"
        f"  kids=[StringFileInfo([StringTable('040904B0', [{strings}])]),\n"
        f"    VarFileInfo([VarStruct('Translation', [1033, 1200])])])\n",
        encoding="utf-8",
    )
    return path


if __name__ == "__main__":
    write_version(sys.argv[1], Path(sys.argv[2]))
