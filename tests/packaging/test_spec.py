"""packaging/skein.spec run by a PyInstaller that only notes what it is told, on folders that are made up."""

import importlib.util
import plistlib
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

SPEC = Path(__file__).parents[2] / "packaging" / "skein.spec"

Entry = tuple[str, str, str]
SCRIPTS = [("pyi_rth_pyside6", "hook", "PYSOURCE"), ("__main__", "main", "PYSOURCE")]


class Noted:
    """Stands for each of PyInstaller's steps."""

    def __init__(self) -> None:
        self.calls: dict[str, tuple[tuple[Any, ...], dict[str, Any]]] = {}

    def step(self, name: str) -> Any:
        def note(*args: Any, **kwargs: Any) -> object:
            self.calls[name] = (args, kwargs)
            return name

        return note

    def __getitem__(self, name: str) -> dict[str, Any]:
        return self.calls[name][1]


@pytest.fixture
def site_packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """llama_cpp is installed here, with nothing in it yet."""
    package = tmp_path / "site-packages" / "llama_cpp"
    (package / "lib").mkdir(parents=True)
    found = SimpleNamespace(origin=str(package / "__init__.py"))
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: found)
    return package.parent


@pytest.fixture
def run_spec(
    tmp_path: Path, site_packages: Path, qapp: object, monkeypatch: pytest.MonkeyPatch
) -> Any:  # (platform, binaries, imports) -> what was analysed, what was noted
    def run(
        platform: str = "linux",
        binaries: list[Entry] | None = None,
        imports: dict[str, list[str]] | None = None,
        datas: list[Entry] | None = None,
    ) -> tuple[SimpleNamespace, Noted]:
        needs = imports or {}
        for name, members in {
            "PyInstaller": {},
            "PyInstaller.depend": {},
            "PyInstaller.depend.bindepend": {
                "get_imports": lambda source: [(name, None) for name in needs.get(source, [])]
            },
            "PyInstaller.utils": {},
            "PyInstaller.utils.hooks": {
                "collect_data_files": lambda name: [],
                "collect_submodules": lambda name: [name],
            },
        }.items():
            module = ModuleType(name)
            module.__dict__.update(members)
            monkeypatch.setitem(sys.modules, name, module)
        monkeypatch.setattr(sys, "platform", platform)
        monkeypatch.setattr(sys, "path", list(sys.path))  # the spec adds to it
        analysis = SimpleNamespace(binaries=binaries or [], datas=datas or [], pure=[], scripts=list(SCRIPTS))
        noted = Noted()
        names = ("PYZ", "EXE", "COLLECT", "BUNDLE")
        steps = {name: noted.step(name) for name in names}
        exec(  # noqa: S102
            compile(SPEC.read_text(encoding="utf-8"), SPEC, "exec"),
            {
                "SPECPATH": str(SPEC.parent),
                "workpath": str(tmp_path),
                "Analysis": lambda *args, **kwargs: analysis,
                **steps,
            },
        )
        return analysis, noted

    return run


def write(folder: Path, *names: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        (folder / name).touch()


def places(entries: list[Entry]) -> set[str]:
    return {place for place, _source, _kind in entries}


def test_each_of_llama_cpps_libraries_comes_once_and_by_the_name_it_is_asked_for(
    run_spec, site_packages
) -> None:
    """The wheel has every library under three names in two folders, and the modules in a third.

    The one for other machines was made beside them.
    """
    names = [f"libggml{end}" for end in (".so", ".so.0", ".so.0.1.2")] + ["libllama.so", "libllama.so.0"]
    write(site_packages / "llama_cpp" / "lib", *names, "libggml-rpc.so", "ggml-rpc.new")
    write(site_packages / "lib", *names)
    write(site_packages / "bin", "libggml-cpu-x64.so", "libggml-cpu-haswell.so", "llama-bench")
    found, _noted = run_spec()
    assert places(found.binaries) == {
        "llama_cpp/lib/libllama.so",
        "llama_cpp/lib/libggml.so.0",
        "llama_cpp/lib/libggml-rpc.so",
        "llama_cpp/lib/libggml-cpu-x64.so",
        "llama_cpp/lib/libggml-cpu-haswell.so",
    }


@pytest.mark.parametrize(
    ("system", "installed", "taken"),
    [
        (
            "win32",
            ["llama.dll", "ggml.dll", "ggml-cpu-x64.dll", "ggml.lib"],
            {"llama.dll", "ggml.dll", "ggml-cpu-x64.dll"},
        ),
        (
            "darwin",
            [
                *("libllama.dylib", "libllama.0.dylib", "libggml.dylib", "libggml.0.dylib"),
                *("libggml.0.25.3.dylib", "libggml-cpu-apple_m1.so", "libggml-rpc.so"),
            ],
            {"libllama.dylib", "libggml.0.dylib", "libggml-cpu-apple_m1.so", "libggml-rpc.so"},
        ),
    ],
)
def test_other_systems_have_other_endings(
    run_spec, site_packages, system: str, installed: list[str], taken: set[str]
) -> None:
    write(site_packages / "llama_cpp" / "lib", *installed)
    found, _noted = run_spec(system)
    assert {Path(place).name for place in places(found.binaries)} == taken


def test_libllama_has_the_name_by_which_libmtmd_asks_for_it_too(run_spec, site_packages) -> None:
    """The Debian package looks up there what it depends on."""
    write(site_packages / "llama_cpp" / "lib", "libllama.so", "libllama.so.0", "libmtmd.so", "libmtmd.so.0")
    found, _noted = run_spec()
    assert places(found.binaries) == {
        "llama_cpp/lib/libllama.so",
        "llama_cpp/lib/libllama.so.0",
        "llama_cpp/lib/libmtmd.so",
    }
    assert ("llama_cpp/lib/libllama.so.0", "libllama.so", "SYMLINK") in found.binaries


def test_a_library_stays_only_if_something_that_is_used_needs_it(run_spec) -> None:
    found, _noted = run_spec(
        binaries=[
            ("PySide6/QtCore.abi3.so", "QtCore", "EXTENSION"),
            ("PySide6/Qt/lib/libQt6Core.so.6", "Core", "BINARY"),
            ("PySide6/Qt/lib/libicuuc.so.73", "icu", "BINARY"),
            ("PySide6/Qt/lib/libQt6Orphan.so.6", "Orphan", "BINARY"),
            ("PySide6/Qt/plugins/sqldrivers/libqsqlite.so", "sql", "BINARY"),
            ("PySide6/Qt/plugins/platforms/libqxcb.so", "xcb", "BINARY"),
            ("PySide6/Qt/plugins/platforms/libqvnc.so", "vnc", "BINARY"),
        ],
        imports={
            "QtCore": ["libQt6Core.so.6", "libc.so.6"],
            "Core": ["libicuuc.so.73"],
            "sql": ["libQt6Orphan.so.6"],
        },
    )
    assert places(found.binaries) == {
        "PySide6/QtCore.abi3.so",
        "PySide6/Qt/lib/libQt6Core.so.6",
        "PySide6/Qt/lib/libicuuc.so.73",
        "PySide6/Qt/plugins/platforms/libqxcb.so",
    }


@pytest.mark.parametrize("name", ["libX11.so.6", "libmvec.so.1"])
def test_what_belongs_to_the_system_stays_out_on_linux_only(run_spec, name: str) -> None:
    """A part of the C library would tie the Debian package to one version of that."""
    binaries = [("x.so", "x", "EXTENSION"), (name, name, "BINARY"), ("libssl.so.3", "ssl", "BINARY")]
    imports = {"x": [name, "libssl.so.3"]}
    assert places(run_spec("linux", binaries, imports)[0].binaries) == {"x.so", "libssl.so.3"}
    assert places(run_spec("darwin", binaries, imports)[0].binaries) == {"x.so", name, "libssl.so.3"}


def test_portaudio_is_the_systems_on_linux_and_comes_along_elsewhere(run_spec) -> None:
    """PyInstaller's hook takes that of the machine which makes the bundle: one for another sound system."""
    entry = ("libportaudio.so.2", "/usr/lib/libportaudio.so.2", "BINARY")
    needs_it = ("x.so", "x", "EXTENSION")
    found, _noted = run_spec("linux", [entry, needs_it], {"x": ["libportaudio.so.2"]})
    assert places(found.binaries) == {"x.so"}
    for system, name in (("darwin", "libportaudio.dylib"), ("win32", "libportaudio64bit.dll")):
        place = f"_sounddevice_data/portaudio-binaries/{name}"
        assert place in places(run_spec(system, [(place, name, "BINARY")])[0].binaries)


def test_the_headers_and_second_copies_of_llama_cpp_stay_out(run_spec) -> None:
    found, _noted = run_spec(
        datas=[
            ("llama_cpp/lib/libllama.so", "", "DATA"),
            ("llama_cpp/include/llama.h", "", "DATA"),
            ("PySide6/Qt/translations/qtbase_zh_CN.qm", "", "DATA"),
            ("PySide6/Qt/translations/qtbase_de.qm", "", "DATA"),  # Skein itself is not translated into it
            ("PySide6/Qt/translations/qtquick_zh_CN.qm", "", "DATA"),
            ("app/resources/models/starter.gguf", "", "DATA"),
        ]
    )
    assert places(found.datas) == {
        "PySide6/Qt/translations/qtbase_zh_CN.qm",
        "app/resources/models/starter.gguf",
    }


def test_only_linux_has_a_console_and_only_the_others_an_icon_in_the_program(run_spec) -> None:
    programs = {system: run_spec(system)[1]["EXE"] for system in ("linux", "win32", "darwin")}
    assert {system: program["console"] for system, program in programs.items()} == {
        "linux": True,
        "win32": False,
        "darwin": False,
    }
    assert programs["linux"]["icon"] is None
    assert [Path(programs[system]["icon"][0]).name for system in ("win32", "darwin")] == [
        "skein.ico",
        "skein.icns",
    ]


def test_on_linux_nothing_runs_before_the_program(run_spec) -> None:
    """PySide6's hook would set variables that Qt programs started by Skein obey, too."""
    assert places(run_spec("linux")[0].scripts) == {"__main__"}
    assert places(run_spec("win32")[0].scripts) == {"pyi_rth_pyside6", "__main__"}


def test_macos_gets_an_application_that_opens_ggufs(run_spec) -> None:
    assert "BUNDLE" not in run_spec("linux")[1].calls
    about = run_spec("darwin")[1]["BUNDLE"]["info_plist"]
    (kind,) = about["UTImportedTypeDeclarations"]
    (document,) = about["CFBundleDocumentTypes"]
    assert kind["UTTypeTagSpecification"] == {"public.filename-extension": ["gguf"]}
    assert document["LSItemContentTypes"] == [kind["UTTypeIdentifier"]]
    assert plistlib.loads(plistlib.dumps(about)) == about
