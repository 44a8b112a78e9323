"""packaging/install, and the files for the desktop, in a folder that is made up as packaging/deb makes it."""

import os
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from app import main

ROOT = Path(__file__).parents[2]
DESKTOP = ROOT / "resources" / "desktop"
ICONS = "share/icons/hicolor"


@pytest.fixture
def unpacked(tmp_path: Path) -> Path:
    """The archive's folder, with a program that says what it was started with."""
    folder = tmp_path / "un packed"
    program = folder / "lib" / "skein" / "skein"
    program.parent.mkdir(parents=True)
    program.write_text('#!/bin/sh\necho "Skein $*"\n')
    program.chmod(0o755)
    for source, place in {
        "skein.desktop": "applications/skein.desktop",
        "skein-mime.xml": "mime/packages/skein.xml",
        "skein.metainfo.xml": "metainfo/skein.metainfo.xml",
        "skein.1": "man/man1/skein.1.gz",
    }.items():
        target = folder / "share" / place
        target.parent.mkdir(parents=True)
        shutil.copy(DESKTOP / source, target)
    for place in (
        "scalable/apps/skein.svg",
        "scalable/mimetypes/application-x-gguf.svg",
        "48x48/apps/skein.png",
        "48x48/mimetypes/application-x-gguf.png",
    ):
        target = folder / ICONS / place
        target.parent.mkdir(parents=True)
        target.touch()
    shutil.copy(ROOT / "packaging" / "install", folder)
    return folder


@pytest.fixture
def prefix(tmp_path: Path) -> Path:
    """Where other programs are, too."""
    prefix = tmp_path / "prefix"
    (prefix / "bin").mkdir(parents=True)
    (prefix / "bin" / "other").touch()
    other_icon = prefix / ICONS / "48x48" / "apps" / "other.png"
    other_icon.parent.mkdir(parents=True)
    other_icon.touch()
    return prefix


def install(unpacked: Path, prefix: Path, *arguments: str) -> str:
    """Without the desktop's own tools, which leave caches."""
    tools = unpacked / "tools"
    tools.mkdir(exist_ok=True)
    for tool in ("sh", "id", "dirname", "rm", "mkdir", "cp", "ln", "sed"):
        if not (tools / tool).exists():
            (tools / tool).symlink_to(shutil.which(tool) or tool)
    done = subprocess.run(
        [unpacked / "install", *arguments],
        env={"PATH": str(tools), "PREFIX": str(prefix), "HOME": "/nowhere"},
        cwd="/",
        capture_output=True,
        text=True,
        timeout=20,
        check=True,
    )
    assert not done.stderr
    return done.stdout


def files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir()}


def test_it_starts_by_its_name_and_from_the_menu(unpacked: Path, prefix: Path) -> None:
    install(unpacked, prefix)
    by_name = {**os.environ, "PATH": f"{prefix / 'bin'}:{os.environ['PATH']}"}
    said = subprocess.run(["skein", "a.gguf"], env=by_name, capture_output=True, text=True, check=True)
    assert said.stdout == "Skein a.gguf\n"
    entry = (prefix / "share" / "applications" / "skein.desktop").read_text()
    assert f'Exec="{prefix}/bin/skein" %f' in entry
    assert f"{ICONS}/48x48/mimetypes/application-x-gguf.png" in files(prefix)


def test_a_newer_one_takes_the_place_of_an_older_one(unpacked: Path, prefix: Path) -> None:
    install(unpacked, prefix)
    (prefix / "lib" / "skein" / "old.so").touch()
    install(unpacked, prefix)
    assert "lib/skein/old.so" not in files(prefix)


def test_removing_it_leaves_nothing_of_it_and_all_of_others(unpacked: Path, prefix: Path) -> None:
    others = files(prefix)
    install(unpacked, prefix)
    assert files(prefix) > others
    assert "your chats stay" in install(unpacked, prefix, "--remove")
    assert files(prefix) == others
    install(unpacked, prefix, "--remove")  # once more does no harm


def test_whatever_the_package_has_the_script_removes(unpacked: Path, prefix: Path) -> None:
    """packaging/deb decides what there is."""
    script = (ROOT / "packaging" / "deb").read_text()
    put = {
        word.strip('"')
        for line in script.splitlines()
        if line.strip().startswith("put ")
        for word in line.split()
    }
    shared = {word.removeprefix("usr/") for word in put if word.startswith("usr/share/")}
    taken = {place for place in shared if not place.startswith(("share/doc", "share/lintian"))}
    assert len(taken) >= 7
    for place in taken:
        target = unpacked / place.replace("${size}x$size", "48x48").replace("skein.1", "skein.1.gz")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.touch()
    others = files(prefix)
    install(unpacked, prefix)
    install(unpacked, prefix, "--remove")
    assert files(prefix) == others


@pytest.mark.skipif(not shutil.which("desktop-file-validate"), reason="desktop-file-utils is not installed")
def test_the_entry_is_valid_after_it_was_installed(unpacked: Path, prefix: Path) -> None:
    install(unpacked, prefix)
    entry = prefix / "share" / "applications" / "skein.desktop"
    subprocess.run(["desktop-file-validate", str(entry)], check=True, timeout=20)


def test_entry_type_and_metainfo_speak_of_the_same_things() -> None:
    entry = (DESKTOP / "skein.desktop").read_text()
    kind = ElementTree.parse(DESKTOP / "skein-mime.xml").getroot()[0].get("type")
    about = ElementTree.parse(DESKTOP / "skein.metainfo.xml").getroot()
    assert f"MimeType={kind};\n" in entry
    assert about.findtext("provides/mediatype") == kind
    assert about.findtext("launchable") == "skein.desktop"


def test_the_manual_has_every_option(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main.main(["--help"])
    options = {
        word.strip("[],.;`") for word in capsys.readouterr().out.split() if word.startswith(("--", "[--"))
    }
    manual = (DESKTOP / "skein.1").read_text().replace("\\-", "-")
    assert "--install-desktop" in options
    assert not {option for option in options if option not in manual}
