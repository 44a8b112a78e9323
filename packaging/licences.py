"""Writes the notices that go with a bundle: LICENCES.md, from what is really inside, and the licences.

Run by the Python the bundle was made with, after it was made, on the Debian whose libraries went into it.
"""

import subprocess
import sys
from dataclasses import dataclass
from importlib.metadata import Distribution, distribution, distributions
from pathlib import Path

from apply_patch import SERIES

QT_NOTICE = """\
This program uses Qt {version} and Qt for Python (PySide6, Shiboken6) {version}, which are licensed under the
GNU Lesser General Public License, version 3. They are in this folder as libraries of their own
(`_internal/PySide6`, `_internal/shiboken6`): you may replace them by versions of your own making that have
the same interface. Their complete sources are at

- https://download.qt.io/official_releases/QtForPython/pyside6/PySide6-{version}-src/
- https://download.qt.io/official_releases/qt/{series}/{version}/

Nothing in Skein's own terms forbids to study or change them, or to debug such changes.
"""
LLAMA_NOTICE = """\
llama.cpp and ggml (MIT) are inside llama_cpp_python: https://github.com/ggml-org/llama.cpp
Skein's changes to them are in `licences/llama.cpp-patches`, under the same licence:
{patches}

JSON for Modern C++ (MIT) is inside libskein-chat: https://github.com/nlohmann/json"""
SOUND_NOTICE = """\
libsndfile (LGPL 2.1) reads sounds. It is a library of its own, which you may replace:
https://github.com/libsndfile/libsndfile. libsoxr (LGPL 2.1) is inside soxr, which is made of
https://github.com/dofuuz/python-soxr. stb (public domain) and miniaudio (MIT) are inside libmtmd."""
FONTS = Path(__file__).parent.parent / "resources" / "fonts"
FONT_NOTICE = "The fonts Inter and JetBrains Mono are inside, unchanged, under the SIL Open Font License 1.1."
COMMON = Path("/usr/share/common-licenses")  # Debian's
DOC = Path("/usr/share/doc")
NAMES = ("LICENSE", "LICENCE", "COPYING", "NOTICE", "AUTHORS")


@dataclass(frozen=True)
class DebianPackage:
    name: str
    version: str
    source: str
    source_version: str


def main(bundle: Path) -> None:
    inside = sorted(_inside(bundle), key=lambda one: one.name.lower())
    folder = bundle / "licences"
    folder.mkdir(exist_ok=True)
    columns = ("| package | version | licence | home |", "| --- | --- | --- | --- |")
    lines = ["# What Skein is made with", "", *columns]
    for package in inside:
        lines.append(f"| {package.name} | {package.version} | {_licence(package)} | {_home(package)} |")
        _copy_texts(package, folder)
    lines += _of_the_system(bundle, folder)
    llama = Path(str(distribution("llama-cpp-python").locate_file("llama_cpp")))
    for name, part in (("llama.cpp", "llama.cpp"), ("nlohmann-json", "jsonhpp")):
        (folder / f"{name}-LICENSE").write_bytes((llama / "lib" / f"LICENSE-{part}").read_bytes())
    qt = next((one.version for one in inside if one.name.startswith("PySide6")), "")
    notice = QT_NOTICE.format(version=qt, series=".".join(qt.split(".")[:2]))
    for name in ("LGPL-3", "GPL-3"):  # Qt's wheels come without them
        (folder / f"Qt-{name}.txt").write_bytes((COMMON / name).read_bytes())
    for licence in FONTS.glob("LICENSE-*.txt"):
        (folder / f"font-{licence.name}").write_bytes(licence.read_bytes())
    ours = LLAMA_NOTICE.format(patches=_patches(llama, folder))
    notices = (ours, "", SOUND_NOTICE, "", FONT_NOTICE, "", notice)
    (bundle / "LICENCES.md").write_text("\n".join([*lines, "", *notices]))
    print(f"{len(inside)} packages in {bundle / 'LICENCES.md'}")


def _patches(package: Path, folder: Path) -> str:
    """A line for each that is in this llama.cpp. They go to the licences."""
    lines = []
    (folder / "llama.cpp-patches").mkdir(exist_ok=True)
    for name in (package / "lib" / "patches.txt").read_text(encoding="utf-8").split():
        text = (SERIES / f"{name}.patch").read_text(encoding="utf-8")
        (folder / "llama.cpp-patches" / f"{name}.patch").write_text(text, encoding="utf-8")
        lines.append(f"- {name}: {text.splitlines()[0]}")
    return "\n".join(lines)


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
        is_beside_code = len(file.parts) == 2  # as libsndfile's
        if (".dist-info" in str(file) or is_beside_code) and file.name.upper().startswith(NAMES):
            source = Path(str(package.locate_file(file)))
            if source.is_file():
                (folder / f"{package.name}-{file.name}").write_bytes(source.read_bytes())


def _of_the_system(bundle: Path, folder: Path) -> list[str]:
    """What came from Debian's packages, such as Python itself; their licences go to the others."""
    names = {path.name for path in (bundle / "_internal").glob("lib*") if not path.is_symlink()}
    columns = ("| from Debian | version | licence | source |", "| --- | --- | --- | --- |")
    lines = ["", *columns]
    for package in sorted(_debian_packages(names), key=lambda one: one.name):
        text = f"{package.name}-copyright"
        (folder / text).write_bytes((DOC / package.name / "copyright").read_bytes())
        home = f"https://snapshot.debian.org/package/{package.source}/{package.source_version}/"
        lines.append(f"| {package.name} | {package.version} | `licences/{text}` | {home} |")
    return lines


def _debian_packages(libraries: set[str]) -> set[DebianPackage]:
    """Those that own the libraries of these names, whichever folder they are registered in."""
    if not libraries:
        return set()
    owners = set()
    for line in _output("dpkg-query", "--search", *sorted(f"*/{name}" for name in libraries)):
        owner, path = line.split(": ", 1)
        if Path(path).name in libraries and Path(path).parent.parent.name == "lib":
            owners.add(owner)
    form = "${Package} ${Version} ${source:Package} ${source:Version}\\n"
    told = _output("dpkg-query", "--show", f"--showformat={form}", *sorted(owners)) if owners else []
    return {DebianPackage(*line.split()) for line in told}


def _output(*command: str) -> list[str]:
    """Some names may be unknown to Debian, which is no failure: wheels have libraries of their own."""
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.splitlines()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
