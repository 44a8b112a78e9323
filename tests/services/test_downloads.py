import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from PySide6.QtCore import QObject

from app.bridge.io_thread import IoThread
from app.models import download
from app.models.order import Order, unfinished
from app.services.downloads import MAX_AT_ONCE, Download, Downloads, State
from app.services.preferences import Preferences
from app.settings.settings import Settings
from tests.models.lies import OTHER, SOURCE
from tests.models.standin_hub import StandInHub, standing
from tests.models.test_download import REPO, files_in, order_for

NAME = "owner/tiny-GGUF/tiny.gguf"


@pytest.fixture(autouse=True)
def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(download, "BATCH_BYTES", 16 * 1024)
    monkeypatch.setattr(download, "MARGIN_BYTES", 0)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "models"


async def no_token(_endpoint: str) -> str:
    return ""


@asynccontextmanager
async def downloading(folder: Path) -> AsyncIterator[Downloads]:
    io = IoThread()
    downloads = Downloads(Preferences(Settings(download_folder=folder)), no_token, io)
    yield downloads
    await downloads.close()
    await io.close()
    downloads.deleteLater()


async def until(downloads: Downloads, is_so: Callable[[], bool]) -> None:
    """Checks again after every signal."""
    told = asyncio.Event()
    for signal in (downloads.changed, downloads.progressed):
        signal.connect(told.set)
    while not is_so():
        told.clear()
        await told.wait()


def states(downloads: Downloads) -> list[State]:
    return [item.state for item in downloads.items]


async def test_one_that_is_done_has_its_file(qapp: QObject, qloop: object, folder: Path) -> None:
    async with standing(StandInHub()) as hub, downloading(folder) as downloads:
        finished: list[Download] = []
        downloads.finished.connect(finished.append)
        downloads.start(order_for(hub))
        assert states(downloads) == [State.WAITING]
        await until(downloads, lambda: bool(finished))
        (item,) = downloads.items
        assert (item.state, item.num_bytes, item.size_bytes) == (State.DONE, len(SOURCE), len(SOURCE))
        assert item == finished[0]
        assert item.path == folder / NAME
        assert item.path.read_bytes() == SOURCE
        downloads.cancel(item.id)  # only the note of it
        assert downloads.items == ()
    assert files_in(folder) == {NAME: SOURCE}


async def test_paused_gone_on_with_and_given_up(qapp: QObject, qloop: object, folder: Path) -> None:
    async with standing(StandInHub()) as hub, downloading(folder) as downloads:
        order = order_for(hub)
        hub.stops_at = len(SOURCE) // 2
        downloads.start(order)
        await hub.has_stopped.wait()
        await until(downloads, lambda: downloads.items[0].num_bytes > 0)
        assert states(downloads) == [State.LOADING]
        downloads.pause(order.id)
        assert states(downloads) == [State.PAUSED]
        hub.let_go()
        hub.stops_at = len(SOURCE) // 4
        downloads.resume(order.id)
        await until(downloads, lambda: len(hub.ranges) == 2 and hub.has_stopped.is_set())
        assert hub.ranges[1]  # not from the begin
        downloads.cancel(order.id)
        downloads.start(order)  # before its files are gone
        hub.let_go()
        await until(downloads, lambda: states(downloads) == [State.DONE])
        assert hub.ranges[2] == ""
    assert files_in(folder) == {NAME: SOURCE}


async def test_only_some_are_loaded_at_once(qapp: QObject, qloop: object, folder: Path) -> None:
    async with standing(StandInHub()) as hub, downloading(folder) as downloads:
        contents = {f"part{number}": SOURCE + bytes([number]) for number in range(MAX_AT_ONCE + 1)}
        whole = order_for(hub, **contents)
        hub.stops_at = 0
        for file in whole.files:
            downloads.start(whole.model_copy(update={"files": (file,)}))
        await until(downloads, lambda: states(downloads).count(State.LOADING) == MAX_AT_ONCE)
        assert states(downloads)[-1] is State.WAITING
        assert downloads.num_running == MAX_AT_ONCE + 1
        downloads.pause(downloads.items[-1].id)
        downloads.resume(downloads.items[-1].id)
        hub.let_go()
        await until(downloads, lambda: set(states(downloads)) == {State.DONE})
    assert sorted(files_in(folder).values()) == sorted(contents.values())


async def test_the_end_of_the_program_pauses_and_the_next_start_offers_it(
    qapp: QObject, qloop: object, folder: Path
) -> None:
    async with standing(StandInHub()) as hub:
        order = order_for(hub)
        hub.stops_at = len(SOURCE) // 2
        async with downloading(folder) as downloads:
            downloads.start(order)
            await hub.has_stopped.wait()
            await until(downloads, lambda: downloads.items[0].num_bytes > 0)
            await asyncio.wait_for(downloads.close(), 2)
            downloads.resume(order.id)  # too late
            assert states(downloads) == [State.PAUSED]
        assert unfinished(folder) == (order,)
        hub.let_go()
        orphan = folder / ".partial" / f"{'f' * 64}.part"
        orphan.write_bytes(b"GGUF")  # of an order that is lost
        async with downloading(folder) as downloads:
            restored: list[bool] = []
            downloads.restored.connect(lambda: restored.append(True))
            await downloads.restore()
            assert restored
            assert not orphan.exists()
            (item,) = downloads.items
            assert (item.name, item.state) == ("tiny", State.PAUSED)
            assert 0 < item.num_bytes < len(SOURCE)
            downloads.resume(item.id)
            await until(downloads, lambda: states(downloads) == [State.DONE])
    assert files_in(folder) == {NAME: SOURCE}


@pytest.mark.parametrize(
    ("refusal", "text", "has_page"),
    [((403, {}), "acceptance of its terms", True), ((404, {}), "Search for it again", False)],
)
async def test_a_failure_says_why_and_can_be_tried_again(
    qapp: QObject, qloop: object, folder: Path, refusal: tuple[int, dict[str, str]], text: str, has_page: bool
) -> None:
    async with standing(StandInHub()) as hub, downloading(folder) as downloads:
        order: Order = order_for(hub)
        failed: list[Download] = []
        downloads.failed.connect(failed.append)
        hub.refusal = refusal
        downloads.start(order)
        await until(downloads, lambda: bool(failed))
        assert failed[0].state is State.FAILED
        assert text in failed[0].trouble
        assert failed[0].page == (f"{hub.endpoint}/{REPO}" if has_page else "")
        hub.refusal = None
        downloads.start(order)
        await until(downloads, lambda: states(downloads) == [State.DONE])
        assert downloads.items[0].trouble == ""


async def test_what_is_gone_from_one_repository_is_gone_on_with_from_another(
    qapp: QObject, qloop: object, folder: Path
) -> None:
    async with standing(StandInHub()) as hub, downloading(folder) as downloads:
        order = order_for(hub)
        hub.stops_at = len(SOURCE) // 2
        downloads.start(order)
        await until(downloads, lambda: downloads.items[0].num_bytes > 0)
        downloads.pause(order.id)
        hub.let_go()
        hub.repos = {"other/tiny-GGUF": hub.repos[REPO]}
        downloads.start(order)
        await until(downloads, lambda: states(downloads) == [State.FAILED])
        assert "is not at" in downloads.items[0].trouble
        downloads.start(order.model_copy(update={"repo_id": "other/tiny-GGUF"}))
        await until(downloads, lambda: states(downloads) == [State.DONE])
        assert hub.ranges[-1]  # not from the begin
    assert files_in(folder) == {"other/tiny-GGUF/tiny.gguf": SOURCE}


async def test_a_bug_of_ours_does_not_leave_it_running(
    qapp: QObject, qloop: asyncio.AbstractEventLoop, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def run(_fetch: object) -> Path:
        raise RuntimeError

    bugs: list[dict[str, object]] = []
    qloop.set_exception_handler(lambda _loop, context: bugs.append(context))
    monkeypatch.setattr(download.Fetch, "run", run)
    async with standing(StandInHub()) as hub, downloading(folder) as downloads:
        downloads.start(order_for(hub))
        await until(downloads, lambda: states(downloads) == [State.FAILED])
    assert bugs


async def test_the_room_that_others_will_take_is_not_given_twice(
    qapp: QObject, qloop: object, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = type("usage", (), {"free": len(SOURCE) + len(OTHER) - 1})
    monkeypatch.setattr(download.shutil, "disk_usage", lambda _path: usage)
    async with standing(StandInHub()) as hub, downloading(folder) as downloads:
        whole = order_for(hub, first=SOURCE, second=OTHER)
        first, second = (whole.model_copy(update={"files": (file,)}) for file in whole.files)
        hub.stops_at = 0
        downloads.start(first)
        await hub.has_stopped.wait()
        downloads.start(second)
        await until(downloads, lambda: State.FAILED in states(downloads))
        assert "Free some space" in downloads.items[1].trouble
        hub.let_go()
        await until(downloads, lambda: states(downloads)[0] is State.DONE)
