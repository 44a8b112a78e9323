"""What is said about a bundle and put beside it: licences, sizes, icons, version data."""

import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import licences
import pytest
import sizes
from icons import PNG_SIZES, write_icons
from PySide6.QtGui import QImage
from windows.version import write_version

from app import paths


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
        (1.0, "Python and its standard library"),
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
