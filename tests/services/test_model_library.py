"""The models on this machine, looked for in real folders by a real thread."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import SignalInstance

from app.bridge import tasks
from app.models.folders import Folder, own_folders
from app.models.model_file import FileKind, ModelFile, ModelSource
from app.protocol.errors import ModelLoadError
from app.services import model_library
from app.services.model_library import ModelLibrary
from app.services.preferences import Preferences
from app.settings.settings import Settings
from app.system import paths
from tests.fakes import model_info
from tests.native.tiny_ggufs import write_tiny_gguf
from tests.ui.fakes import FakeEngine

Until = Callable[[SignalInstance, Callable[[], bool]], Awaitable[None]]


@pytest.fixture
def theirs(tmp_path: Path) -> Path:
    folder = tmp_path / "theirs"
    folder.mkdir()
    write_tiny_gguf(folder / "their model.gguf", "llama")
    return folder


@pytest.fixture
def ours(tmp_path: Path) -> Path:
    folder = tmp_path / "ours"
    folder.mkdir()
    return folder


@pytest.fixture
def engine() -> FakeEngine:
    return FakeEngine()


@pytest.fixture
def library(
    qloop: asyncio.AbstractEventLoop,
    engine: FakeEngine,
    ours: Path,
    theirs: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[ModelLibrary]:
    monkeypatch.setattr(model_library, "SETTLE_MS", 1)
    preferences = Preferences(Settings(download_folder=ours))

    def find(settings: Settings) -> tuple[Folder, ...]:
        return (*own_folders(settings), Folder(theirs, ModelSource.JAN))

    library = ModelLibrary(preferences, engine, find_folders=find)  # type: ignore[arg-type]
    yield library
    library.close()
    qloop.run_until_complete(tasks.finish_all())
    library.deleteLater()


@pytest.fixture
def until(library: ModelLibrary) -> Until:
    """Waits for a state that follows a signal."""

    async def wait(signal: SignalInstance, is_so: Callable[[], bool]) -> None:
        told = asyncio.Event()
        connection = signal.connect(lambda *_: told.set())
        while not is_so():
            await told.wait()
            told.clear()
        signal.disconnect(connection)

    return wait


def names(library: ModelLibrary) -> list[str]:
    return [model.path.name for model in library.models]


def named(library: ModelLibrary, name: str) -> ModelFile:
    return next(model for model in library.models if model.path.name == name)


async def looked(library: ModelLibrary, until: Until) -> None:
    library.refresh()
    await until(library.changed, lambda: library.progress is None)


async def test_it_lists_the_models_of_all_folders(qloop, library, until, ours) -> None:
    write_tiny_gguf(ours / "mine.gguf", "qwen3")
    assert library.models == ()
    library.refresh()
    assert library.progress == (0, 0)
    await until(library.changed, lambda: library.progress is None)
    assert names(library) == ["starter.gguf", "their model.gguf", "mine.gguf"]  # by their own names
    assert library.num_of_others == 1


async def test_it_notices_what_comes_and_what_goes(qloop, library, until, ours) -> None:
    await looked(library, until)
    write_tiny_gguf(ours / "new.gguf", "qwen3")
    await until(library.changed, lambda: "new.gguf" in names(library))
    (ours / "new.gguf").unlink()
    await until(library.changed, lambda: "new.gguf" not in names(library))


async def test_a_file_that_is_still_being_copied_is_good_once_it_is_whole(
    qloop, library, until, ours, tmp_path
) -> None:
    content = write_tiny_gguf(tmp_path / "source", "qwen3").read_bytes()
    (ours / "slow.gguf").write_bytes(content[:5000])
    await looked(library, until)
    assert named(library, "slow.gguf").kind is FileKind.DAMAGED
    with (ours / "slow.gguf").open("ab") as file:
        file.write(content[5000:])
    await until(library.changed, lambda: named(library, "slow.gguf").kind is FileKind.CHAT)


async def test_folders_are_added_and_removed(qloop, library, until, tmp_path) -> None:
    chosen = tmp_path / "chosen"
    chosen.mkdir()
    write_tiny_gguf(chosen / "chosen.gguf", "qwen3")
    library.add_folder(chosen)
    library.add_folder(chosen)
    assert [folder.path for folder in library.folders][1:] == [chosen]
    await until(library.changed, lambda: "chosen.gguf" in names(library))
    library.remove_folder(chosen)
    await until(library.changed, lambda: library.models != () and "chosen.gguf" not in names(library))
    assert (chosen / "chosen.gguf").exists()


async def test_a_model_goes_to_the_trash_and_comes_back(qloop, library, until, ours, tmp_path) -> None:
    (tmp_path / "xdg-data").mkdir()
    path = write_tiny_gguf(ours / "mine.gguf", "qwen3")
    content = path.read_bytes()
    await looked(library, until)
    trashed: list[model_library.Trashed] = []
    library.trashed.connect(trashed.append)

    library.trash(named(library, "mine.gguf"))
    await until(library.changed, lambda: "mine.gguf" not in names(library))
    assert not path.exists()
    trash = tmp_path / "xdg-data" / "Trash"
    assert [place.read_bytes() for place in (trash / "files").iterdir()] == [content]

    library.restore(trashed[0])
    await until(library.changed, lambda: "mine.gguf" in names(library))
    assert path.read_bytes() == content
    assert not list((trash / "info").iterdir())


async def test_of_several_parts_all_go_to_the_trash_or_none(
    qloop, library, until, ours, tmp_path, monkeypatch
) -> None:
    (tmp_path / "xdg-data").mkdir()
    parts = [ours / f"x-0000{number}-of-00003.gguf" for number in (1, 2)]
    for part in parts:
        part.write_text("some")
    await looked(library, until)
    model = named(library, parts[0].name)
    assert model.kind is FileKind.INCOMPLETE
    parts[1].unlink()  # in the same moment, by somebody else
    failed: list[str] = []
    library.failed.connect(failed.append)
    library.trash(model)
    await until(library.failed, lambda: bool(failed))
    assert "could not be moved to the trash" in failed[0]
    assert parts[0].read_text() == "some"


async def test_what_is_in_use_or_not_ours_is_not_moved(qloop, library, until, engine, ours) -> None:
    path = write_tiny_gguf(ours / "mine.gguf", "qwen3")
    await looked(library, until)
    refused: list[str] = []
    library.failed.connect(refused.append)
    mine = named(library, "mine.gguf")
    assert not library.why_not_trash(mine)

    engine.loading.emit(path)
    library.trash(mine)
    engine.load_failed.emit(path, ModelLoadError("no"))
    assert not library.why_not_trash(mine)
    engine.finish_load(model_info(path=path))
    library.trash(mine)
    library.trash(named(library, "their model.gguf"))
    library.trash(named(library, "starter.gguf"))

    assert [text.split(".")[0] for text in refused] == [
        "This model is in use",
        "This model is in use",
        "This model belongs to Jan",
        "This model comes with Skein",
    ]
    assert path.exists()


async def test_it_stops_looking_when_the_program_ends(qloop, library, ours, monkeypatch) -> None:
    for number in range(3):
        os.link(write_tiny_gguf(ours / f"{number}", "qwen3"), ours / f"{number}.gguf")
    library.refresh()
    library.close()
    await tasks.finish_all()
    assert library.models == ()
    library.refresh()
    assert library.progress is None


async def test_what_was_opened_is_remembered_the_last_first_but_not_the_starter(
    qloop, library, engine, tmp_path
) -> None:
    first, second = tmp_path / "a.gguf", tmp_path / "b.gguf"
    for path in (first, second, paths.starter_model(), first):
        engine.loading.emit(path)
        engine.finish_load(model_info(path=path))
    engine.finish_load(model_info(path=Path("Qwen/Qwen3"), server="http://gpu-box:8000"))  # no file
    assert library._preferences.value("recent_models") == [first, second]
