"""Writes the notices that go with a bundle: LICENCES.md, from what is really inside, and the licences.

Run by the Python the bundle was made with, after it was made.
"""

import sys
from importlib.metadata import Distribution, distributions
from pathlib import Path

QT_NOTICE = """\
This program uses Qt {version} and Qt for Python (PySide6, Shiboken6) {version}, which are licensed under the
GNU Lesser General Public License, version 3. They are in this folder as libraries of their own
(`_internal/PySide6`, `_internal/shiboken6`): you may replace them by versions of your own making that have
the same interface. Their complete sources are at

- https://download.qt.io/official_releases/QtForPython/pyside6/PySide6-{version}-src/
- https://download.qt.io/official_releases/qt/{series}/{version}/

Nothing in Skein's own terms forbids to study or change them, or to debug such changes.
"""
LLAMA_NOTICE = "llama.cpp and ggml (MIT) are inside llama_cpp_python: https://github.com/ggml-org/llama.cpp"
COMMON = Path("/usr/share/common-licenses")  # Debian's
NAMES = ("LICENSE", "LICENCE", "COPYING", "NOTICE", "AUTHORS")


def main(bundle: Path) -> None:
    inside = sorted(_inside(bundle), key=lambda one: one.name.lower())
    folder = bundle / "licences"
    folder.mkdir(exist_ok=True)
    columns = ("| package | version | licence | home |", "| --- | --- | --- | --- |")
    lines = ["# What Skein is made with", "", *columns]
    for package in inside:
        lines.append(f"| {package.name} | {package.version} | {_licence(package)} | {_home(package)} |")
        _copy_texts(package, folder)
    qt = next((one.version for one in inside if one.name.startswith("PySide6")), "")
    notice = QT_NOTICE.format(version=qt, series=".".join(qt.split(".")[:2]))
    python = f"Python {sys.version.split()[0]} (PSF licence): https://www.python.org"
    for name in ("LGPL-3", "GPL-3"):  # Qt's wheels come without them
        (folder / f"Qt-{name}.txt").write_bytes((COMMON / name).read_bytes())
    (bundle / "LICENCES.md").write_text("\n".join([*lines, "", LLAMA_NOTICE, "", python, "", notice]))
    print(f"{len(inside)} packages in {bundle / 'LICENCES.md'}")


def _inside(bundle: Path) -> list[Distribution]:
    """Packages of which at least one module or library is in the bundle."""
    from PyInstaller.archive.readers import CArchiveReader

    names = {path.name for path in (bundle / "_internal").iterdir()}
    archive = CArchiveReader(str(bundle / "skein")).open_embedded_archive("PYZ.pyz")
    modules = {name.split(".")[0] for name in archive.toc} | names
    packages = (one for one in distributions() if one.name.lower() != "pyinstaller")
    return [one for one in packages if _top_levels(one) & modules]


def _top_levels(package: Distribution) -> set[str]:
    tops = {Path(str(file)).parts[0] for file in package.files or () if not str(file).startswith("..")}
    modules = {top.removesuffix(".py") for top in tops if not top.endswith((".dist-info", ".pth"))}
    return modules - {"bin", "lib"}


def _licence(package: Distribution) -> str:
    about = package.metadata
    stated = about.get("License-Expression") or about.get("License") or ""
    if not stated or len(stated) > 60:
        classifiers = about.get_all("Classifier") or []
        stated = ", ".join(one.split(" :: ")[-1] for one in classifiers if one.startswith("License"))
    return stated.splitlines()[0] if stated else "see its own text"


def _home(package: Distribution) -> str:
    links = dict(link.split(", ", 1) for link in package.metadata.get_all("Project-URL") or [])
    by_label = {label.lower(): link for label, link in links.items()}
    labels = ("homepage", "home", "repository", "source", "source code", "github")
    named = next((by_label[label] for label in labels if label in by_label), "")
    return package.metadata.get("Home-page") or named or next(iter(links.values()), "")


def _copy_texts(package: Distribution, folder: Path) -> None:
    for file in package.files or ():
        if ".dist-info" in str(file) and file.name.upper().startswith(NAMES):
            source = Path(str(package.locate_file(file)))
            if source.is_file():
                (folder / f"{package.name}-{file.name}").write_bytes(source.read_bytes())


if __name__ == "__main__":
    main(Path(sys.argv[1]))
