"""What is said about a bundle and put beside it: licences, sizes, icons, version data."""

import os
import runpy
import shlex
import shutil
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import imports
import licences
import pytest
import sizes
from apply_patch import SERIES
from icons import PNG_SIZES, write_icons
from PySide6.QtGui import QImage
from windows.version import write_version

from app.system import paths

PATCH = min(SERIES.glob("*.patch"))


@pytest.fixture
def bundle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """With Qt and numpy as folders, Jinja2 in the program's archive, and nothing else."""
    bundle = tmp_path / "skein"
    for name in ("PySide6", "shiboken6", "numpy"):
        (bundle / "_internal" / name).mkdir(parents=True)
    archive = SimpleNamespace(toc=["jinja2", "jinja2.environment", "app.main"])
    readers = ModuleType("PyInstaller.archive.readers")
    readers.CArchiveReader = lambda path: SimpleNamespace(  # type: ignore[attr-defined]
        open_embedded_archive=lambda name: archive
    )
    for name in ("PyInstaller", "PyInstaller.archive"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    monkeypatch.setitem(sys.modules, readers.__name__, readers)
    common = tmp_path / "common-licenses"
    common.mkdir()
    for name in ("LGPL-3", "GPL-3"):
        (common / name).write_text(f"the {name}")
    monkeypatch.setattr(licences, "COMMON", common)
    beside_llama = SimpleNamespace(locate_file=lambda _place: tmp_path)
    monkeypatch.setattr(licences, "distribution", lambda _name: beside_llama)
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "LICENSE-llama.cpp").write_text("the ggml authors")
    (tmp_path / "lib" / "LICENSE-jsonhpp").write_text("Niels Lohmann")
    (tmp_path / "lib" / "patches.txt").write_text(f"{PATCH.stem}\n")
    return bundle


def test_the_notices_name_what_is_inside_and_nothing_else(bundle: Path) -> None:
    licences.main(bundle)
    listed = (bundle / "LICENCES.md").read_text()
    rows = dict(line.strip("| ").split(" | ", 1) for line in listed.splitlines() if line.count("|") == 5)
    assert {"Jinja2", "numpy", "PySide6_Essentials", "shiboken6"} <= rows.keys()
    assert not {"pytest", "aiohttp", "skein"} & {name.lower() for name in rows}
    assert "BSD" in rows["Jinja2"]
    assert "https://" in rows["Jinja2"]


def test_the_lgpls_demands_are_met(bundle: Path) -> None:
    import PySide6

    licences.main(bundle)
    listed = (bundle / "LICENCES.md").read_text()
    series = ".".join(PySide6.__version__.split(".")[:2])
    assert f"official_releases/qt/{series}/{PySide6.__version__}/" in listed
    assert (bundle / "licences" / "Qt-LGPL-3.txt").read_text() == "the LGPL-3"
    assert (bundle / "licences" / "Qt-GPL-3.txt").exists()


def test_every_licence_comes_in_its_own_words(bundle: Path) -> None:
    licences.main(bundle)
    kept = {path.name.lower() for path in (bundle / "licences").iterdir()}
    assert any(name.startswith("jinja2-licen") for name in kept)
    assert any(name.startswith("numpy-licen") for name in kept)

    assert (bundle / "licences" / "llama.cpp-LICENSE").read_text() == "the ggml authors"
    assert f"- {PATCH.stem}: " in (bundle / "LICENCES.md").read_text()
    assert [path.name for path in (bundle / "licences" / "llama.cpp-patches").iterdir()] == [PATCH.name]
    for name in ("inter", "jetbrains-mono"):
        text = (bundle / "licences" / f"font-LICENSE-{name}.txt").read_text().upper()
        assert "SIL OPEN FONT LICENSE" in text


@pytest.mark.skipif(not shutil.which("dpkg-query"), reason="bundles are made on Debian")
def test_libraries_of_debian_are_named_with_their_sources(bundle: Path) -> None:
    (bundle / "_internal" / "libz.so.1").touch()
    (bundle / "_internal" / "libof_a_wheel.so.3").touch()
    (bundle / "_internal" / "libstdc++.so.6").symlink_to("libof_a_wheel.so.3")
    licences.main(bundle)
    listed = (bundle / "LICENCES.md").read_text().partition("from Debian")[2]
    assert "https://snapshot.debian.org/package/zlib/1" in listed
    assert "Copyright" in (bundle / "licences" / "zlib1g-copyright").read_text()
    assert "libstdc++" not in listed


def test_a_bundle_that_lacks_what_is_imported_late_is_noticed(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its program is played by one that runs a module as the frozen one does."""
    monkeypatch.setattr(imports, "ELSEWHERE", {"TYPE_CHECKING", "sys.platform == 'cobol'"})
    code = tmp_path / "made_up"
    code.mkdir()
    (code / "one.py").write_text(
        "import json\n\nif TYPE_CHECKING:\n    from json import Never\n\n"
        "def f():\n    from left_out.early import late\n\n"
        "if sys.platform == 'cobol':\n    import cobol\n"
    )
    (tmp_path / "_internal" / "made_up").mkdir(parents=True)
    (tmp_path / "_internal" / "made_up" / "one.py").touch()
    program = tmp_path / "skein"
    player = tmp_path / "player.py"
    player.write_text(
        f"import runpy, sys\nsys.path.insert(0, {str(tmp_path / '_internal')!r})\n"
        "runpy.run_module(sys.argv[2], run_name='__main__')\n"
    )
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} {shlex.quote(str(player))} "$@"\n')
    program.chmod(0o755)
    assert imports.main(tmp_path, code) == 1
    assert capfd.readouterr().err == "from left_out.early import late: No module named 'left_out'\n"
    package = tmp_path / "_internal" / "left_out"
    package.mkdir()
    (package / "early.py").write_text("late = 1")
    assert imports.main(tmp_path, code) == 0
    assert {path.name for path in (tmp_path / "_internal").glob("*.py")} == set()


@pytest.mark.parametrize(
    ("there", "chosen"),
    [
        ({"/usr/lib/ssl/certs", "/etc/ssl/certs/ca-certificates.crt"}, None),  # OpenSSL finds them itself
        ({"/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem"}, "/etc/pki/tls/certs/ca-bundle.crt"),
        (set(), None),
    ],
)
def test_whom_a_system_trusts_is_found_where_it_keeps_that(
    there: set[str], chosen: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", "of the user")
    monkeypatch.setattr(os.path, "exists", there.__contains__)
    hook = Path(licences.__file__).parent / "certificates.py"
    runpy.run_path(str(hook))
    assert os.environ["SSL_CERT_FILE"] == "of the user"
    monkeypatch.delenv("SSL_CERT_FILE")
    runpy.run_path(str(hook))
    assert os.environ.get("SSL_CERT_FILE") == chosen


def test_every_file_counts_as_part_of_something_and_links_are_not_counted_twice(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, size in {
        "skein": 1,
        "_internal/PySide6/Qt/lib/libQt6Core.so.6": 5,
        "_internal/llama_cpp/lib/libllama.so": 3,
        "_internal/app/resources/models/starter.gguf": 2,
        "_internal/yaml/x.so": 4,
    }.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(bytes(size * 1_000_000))
    (tmp_path / "_internal" / "libQt6Core.so.6").symlink_to("PySide6/Qt/lib/libQt6Core.so.6")
    sizes.main(tmp_path)
    lines = [line.split(" MB  ") for line in capsys.readouterr().out.splitlines()]
    assert [(float(size), part) for size, part in lines] == [
        (5.0, "Qt"),
        (4.0, "other packages"),
        (3.0, "llama.cpp"),
        (2.0, "starter model"),
        (1.0, "Python code of Skein and all packages"),
        (15.0, "in 5 files"),
    ]


@pytest.mark.parametrize(
    ("system", "name", "magic"),
    [
        ("linux", "skein-256.png", b"\x89PNG"),
        ("win32", "skein.ico", b"\0\0\1\0"),
        ("darwin", "skein.icns", b"icns"),
    ],
)
def test_each_system_gets_the_icon_in_its_own_form(
    qapp: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, system: str, name: str, magic: bytes
) -> None:
    monkeypatch.setattr(sys, "platform", system)
    icon = write_icons(paths.resources_dir() / "icons" / "skein.svg", tmp_path)
    assert icon == tmp_path / name
    assert icon.read_bytes().startswith(magic)


def test_the_icon_is_drawn_in_every_size(qapp: object, tmp_path: Path) -> None:
    write_icons(paths.resources_dir() / "icons" / "skein.svg", tmp_path)
    for size in PNG_SIZES:
        image = QImage(str(tmp_path / f"skein-{size}.png"))
        assert (image.width(), image.height()) == (size, size)
        assert image.pixelColor(size // 2, size // 2).alpha() > 0


def test_windows_installer_names_what_there_is() -> None:
    """It was never run: so at least its tasks, its paths and its file type match the rest."""
    script = Path(licences.__file__).parent / "windows" / "skein.iss"
    sections: dict[str, list[str]] = {}
    for line in script.read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            section = sections.setdefault(line.strip("[]"), [])
        elif line and not line.startswith((";", "#", " ")):
            section.append(line)
    entries = [
        dict(part.strip().split(": ", 1) for part in line.split("; "))
        for name in ("Tasks", "Files", "Icons", "Registry", "Run")
        for line in sections[name]
    ]
    tasks = {entry["Name"].strip('"') for entry in entries[: len(sections["Tasks"])]}
    assert {entry["Tasks"] for entry in entries if "Tasks" in entry} == tasks
    (source,) = [entry["Source"].strip('"') for entry in entries if "Source" in entry]
    *up, build, bundle, program, _all = source.split("\\")
    assert (script.parent.joinpath(*up).resolve(), build) == (paths.resources_dir().parent, "build")
    assert (bundle, program) == ("bundle", "skein")
    opens = [entry["ValueData"] for entry in entries if "open\\command" in entry.get("Subkey", "")]
    assert opens == ['"""{app}\\skein.exe"" ""%1"""']


@pytest.mark.parametrize(("version", "numbers"), [("0.1.0", (0, 1, 0, 0)), ("2.13", (2, 13, 0, 0))])
def test_the_version_data_is_what_pyinstaller_evaluates(tmp_path: Path, version: str, numbers) -> None:
    written = write_version(version, tmp_path / "version.txt").read_text()

    def note(*args: object, **values: object) -> tuple[tuple[object, ...], dict[str, object]]:
        return args, values

    kinds = (
        "VSVersionInfo",
        "FixedFileInfo",
        "StringFileInfo",
        "StringTable",
        "StringStruct",
        "VarFileInfo",
        "VarStruct",
    )
    _args, about = eval(written, dict.fromkeys(kinds, note))  # noqa: S307
    assert about["ffi"][1]["filevers"] == about["ffi"][1]["prodvers"] == numbers
    assert f"(('FileVersion', '{version}'), {{}})" in str(about["kids"])
