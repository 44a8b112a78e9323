import asyncio
import errno
import hashlib
import os
import shutil
import stat
from collections import namedtuple
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from app.models import download
from app.models.download import Fetch
from app.models.hub_address import DownloadError, GatedError, HubError
from app.models.order import FileOrder, Order, OrderFolder, unfinished
from app.models.part_file import PartFile
from app.system import proxies
from tests.models.lies import LIES, OTHER, SOURCE, cuts_each_tenth, flips_a_byte
from tests.models.standin_hub import Answer, StandInHub, honest, standing

REPO = "owner/tiny-GGUF"


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(download, "BATCH_BYTES", 16 * 1024)
    monkeypatch.setattr(download, "MARGIN_BYTES", 0)
    monkeypatch.setattr(download, "RETRY_DELAYS_S", (0.0, 0.0))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "models"


def order_for(hub: StandInHub, **files: bytes) -> Order:
    """Of what the hub then has in its one repository; the announcement is honest."""
    contents = {
        f"{name.replace('__', '-')}.gguf": content for name, content in (files or {"tiny": SOURCE}).items()
    }
    hub.repos[REPO] = contents
    return Order(
        endpoint=hub.endpoint,
        repo_id=REPO,
        revision="a" * 40,
        name="tiny",
        files=tuple(
            FileOrder(path=path, size_bytes=len(content), sha256=hashlib.sha256(content).hexdigest())
            for path, content in contents.items()
        ),
    )


def files_in(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


async def test_what_was_announced_gets_its_name_and_nothing_else_stays(folder: Path) -> None:
    async with standing(StandInHub()) as hub:
        fetched = Fetch(order_for(hub), folder)
        path = await fetched.run()
    assert path == folder / "owner" / "tiny-GGUF" / "tiny.gguf"
    assert fetched.num_bytes == len(SOURCE)
    assert files_in(folder) == {"owner/tiny-GGUF/tiny.gguf": SOURCE}
    assert unfinished(folder) == ()


# The server lies


@pytest.mark.parametrize("answer", LIES, ids=lambda answer: answer.__name__)
async def test_however_the_server_lies_and_then_it_is_stopped(answer: Answer, folder: Path) -> None:
    """What is killed instead is in `test_download_kills`."""
    async with standing(StandInHub()) as hub:
        wanted = order_for(hub)
        target = OrderFolder(wanted, folder).target(wanted.files[0])
        hub.answer = answer
        hub.stops_at = len(SOURCE) // 2
        task = asyncio.create_task(Fetch(wanted, folder).run())
        stopped = asyncio.create_task(hub.has_stopped.wait())
        await asyncio.wait((task, stopped), return_when=asyncio.FIRST_COMPLETED)
        for each in (task, stopped):
            each.cancel()
        await asyncio.gather(task, stopped, return_exceptions=True)
        assert not target.exists() or target.read_bytes() == SOURCE
        hub.let_go()

        again = asyncio.create_task(Fetch(wanted, folder).run())
        await asyncio.wait((again,))
        assert (again.exception() is None) == LIES[answer], again.exception()
        assert isinstance(again.exception(), HubError | DownloadError | None)
        assert target.exists() == LIES[answer]

        hub.answer = honest
        await Fetch(wanted, folder).run()
    assert files_in(folder) == {"owner/tiny-GGUF/tiny.gguf": SOURCE}


async def test_only_what_is_missing_is_asked_for(folder: Path) -> None:
    async with standing(StandInHub()) as hub:
        hub.answer = cuts_each_tenth
        await Fetch(order_for(hub), folder).run()
        begins = [int(span.removeprefix("bytes=").rstrip("-") or 0) for span in hub.ranges]
    assert begins == sorted(set(begins))
    assert len(begins) > 10


async def test_a_server_that_only_cuts_is_given_up(folder: Path) -> None:
    async with standing(StandInHub()) as hub:
        hub.answer = lambda content, begin: replace(honest(content, begin), body=b"", ends_early=True)
        fetched = Fetch(order_for(hub), folder)
        with pytest.raises(HubError, match="cannot be reached"):
            await fetched.run()
        assert len(hub.ranges) == 3
        assert fetched.trouble


async def test_a_part_that_the_disk_has_spoilt_is_fetched_anew(folder: Path) -> None:
    async with standing(StandInHub()) as hub:
        wanted = order_for(hub)
        place = OrderFolder(wanted, folder)
        place.make()
        part = place.part(wanted.files[0])
        part.write_bytes(bytes(len(SOURCE) // 2))
        await Fetch(wanted, folder).run()
        part.parent.mkdir()
        place.target(wanted.files[0]).unlink()
        part.write_bytes(SOURCE + b"too long")
        await Fetch(wanted, folder).run()
    assert files_in(folder) == {"owner/tiny-GGUF/tiny.gguf": SOURCE}


async def test_what_crashed_between_its_two_names_is_finished_and_not_written_to(folder: Path) -> None:
    async with standing(StandInHub()) as hub:
        wanted = order_for(hub, tiny__00001__of__00002=SOURCE, tiny__00002__of__00002=OTHER)
        place = OrderFolder(wanted, folder)
        place.make()
        place.save({})
        first, second = wanted.files
        place.part(first).write_bytes(SOURCE)
        os.link(place.part(first), place.target(first))
        await Fetch(wanted, folder).run()
        assert hub.ranges == [""]  # of the second alone
    assert set(files_in(folder).values()) == {SOURCE, OTHER}
    # The same as a part that would be written to: its other name is left alone.
    place.make()
    os.link(place.target(second), place.part(first))
    place.target(first).unlink()
    async with standing(StandInHub()) as hub:
        await Fetch(order_for(hub, tiny__00001__of__00002=SOURCE, tiny__00002__of__00002=OTHER), folder).run()
    assert place.target(second).read_bytes() == OTHER


# What may be loaded


@pytest.mark.parametrize("begin", [b"PK\x03\x04", b"\x1f\x8b\x08\x00", b"<!DO"])
async def test_only_a_gguf_is_kept(begin: bytes, folder: Path) -> None:
    async with standing(StandInHub()) as hub:
        wanted = order_for(hub, tiny=begin + SOURCE)
        with pytest.raises(DownloadError, match="not a GGUF"):
            await Fetch(wanted, folder).run()
    assert [
        path for path, content in files_in(folder).items() if content and not path.endswith(".json")
    ] == []


async def test_a_split_model_gets_its_names_when_every_part_is_right(folder: Path) -> None:
    async with standing(StandInHub()) as hub:
        parts = {f"tiny__0000{number}__of__00003": SOURCE + bytes([number]) for number in (1, 2, 3)}
        wanted = order_for(hub, **parts)
        hub.answer = lambda content, begin: (
            flips_a_byte(content, begin) if content[-1] == 3 else honest(content, begin)
        )
        with pytest.raises(DownloadError, match="SHA-256"):
            await Fetch(wanted, folder).run()
        home = folder / "owner" / "tiny-GGUF"
        assert list(home.iterdir()) == []
        hub.answer = honest
        assert await Fetch(wanted, folder).run() == home / "tiny-00001-of-00003.gguf"
        assert hub.ranges == ["", "", "", "", ""][:4]  # the first two are not fetched again
    assert [path.read_bytes() for path in sorted(home.iterdir())] == list(parts.values())


async def test_no_file_is_ever_replaced(folder: Path) -> None:
    async with standing(StandInHub()) as hub:
        wanted = order_for(hub)
        target = OrderFolder(wanted, folder).target(wanted.files[0])
        target.parent.mkdir(parents=True)
        target.write_bytes(b"mine")
        with pytest.raises(DownloadError, match="Another file"):
            await Fetch(wanted, folder).run()
        assert target.read_bytes() == b"mine"
        target.unlink()
        hub.stops_at = 0
        task = asyncio.create_task(Fetch(wanted, folder).run())
        await hub.has_stopped.wait()
        target.write_bytes(b"mine, too")  # while it is loaded
        hub.let_go()
        with pytest.raises(DownloadError, match="Another file"):
            await task
        assert target.read_bytes() == b"mine, too"


# The disk


async def test_a_full_disk_is_told_before_and_survived_after(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = namedtuple("usage", "free")
    async with standing(StandInHub()) as hub:
        wanted = order_for(hub)
        with monkeypatch.context() as patch:
            patch.setattr(shutil, "disk_usage", lambda _path: usage(len(SOURCE) + 999))
            with pytest.raises(DownloadError, match="Free some space"):
                await Fetch(wanted, folder, reserved_bytes=lambda: 1000).run()
            assert hub.requests == []
        written = PartFile.append

        def append(part: PartFile, data: bytes) -> None:
            if part.num_bytes > 100_000:
                raise OSError(errno.ENOSPC, "No space left on device")
            written(part, data)

        with monkeypatch.context() as patch:
            patch.setattr(PartFile, "append", append)
            with pytest.raises(DownloadError, match="is full"):
                await Fetch(wanted, folder).run()
        await Fetch(wanted, folder).run()
        assert int(hub.ranges[-1].removeprefix("bytes=").rstrip("-")) > 100_000
    assert files_in(folder) == {"owner/tiny-GGUF/tiny.gguf": SOURCE}


@pytest.mark.parametrize("code", [errno.EPERM, errno.EINVAL])
async def test_a_disk_that_can_do_less_keeps_the_same_promises(
    code: int, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such as a memory stick or a network drive: it knows no links, locks or syncs of folders."""

    def link(_source: object, _target: object) -> None:
        raise OSError(code, os.strerror(code))

    def flock(_file: object, _operation: int) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    def sync_file(handle: int) -> None:
        if stat.S_ISDIR(os.fstat(handle).st_mode):
            raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "link", link)
    monkeypatch.setattr(os, "fsync", sync_file)
    monkeypatch.setattr("fcntl.flock", flock)
    async with standing(StandInHub()) as hub:
        path = await Fetch(order_for(hub), folder).run()
    assert path.read_bytes() == SOURCE


# Where it may go


@pytest.mark.parametrize(
    "place",
    [
        "file:///etc/passwd",
        "ftp://huggingface.co/x",
        "http://example.com/x",
        "http://169.254.169.254/latest",
        "http://192.168.0.1/x",
        "https://user@",
        "gopher://127.0.0.1",
    ],
)
async def test_a_redirect_leads_nowhere_but_over_https(place: str, folder: Path) -> None:
    async with standing(StandInHub()) as hub:
        hub.redirect = lambda _request: place
        with pytest.raises(HubError, match="not safe"):
            await Fetch(order_for(hub), folder).run()


async def test_the_token_is_told_to_the_hub_alone(folder: Path) -> None:
    async with standing(StandInHub()) as hub, standing(StandInHub()) as elsewhere:
        wanted = order_for(hub)
        elsewhere.repos = hub.repos
        hub.redirect = lambda request: f"{elsewhere.endpoint}{request.path}"
        path = await Fetch(wanted, folder, token="hf_secret").run()
        assert [headers.get("Authorization") for _, headers in hub.requests] == ["Bearer hf_secret"]
        assert [headers.get("Authorization") for _, headers in elsewhere.requests] == [None]
    assert path.read_bytes() == SOURCE


async def test_an_address_that_is_good_no_longer_is_asked_for_anew(folder: Path) -> None:
    async with standing(StandInHub()) as hub, standing(StandInHub()) as elsewhere:
        wanted = order_for(hub)
        hub.redirect = lambda request: (
            f"{elsewhere.endpoint}{request.path}" if len(hub.requests) < 3 else None
        )
        elsewhere.refusal = (403, {})
        assert (await Fetch(wanted, folder).run()).read_bytes() == SOURCE
        assert (len(hub.requests), len(elsewhere.requests)) == (3, 2)


async def test_five_redirects_are_enough(folder: Path) -> None:
    async with standing(StandInHub()) as hub:
        hub.redirect = lambda request: str(request.url)
        with pytest.raises(HubError, match="redirects endlessly"):
            await Fetch(order_for(hub), folder).run()
        assert len(hub.requests) == 6


@pytest.mark.parametrize(
    ("status", "headers", "error", "text"),
    [
        (401, {"X-Error-Code": "GatedRepo"}, GatedError, "token"),
        (403, {}, GatedError, "terms"),
        (404, {}, HubError, "Search for it again"),
        (429, {}, HubError, "limits requests"),
        (503, {}, HubError, "HTTP 503"),
    ],
)
async def test_a_refusal_says_what_to_do(
    status: int, headers: dict[str, str], error: type[HubError], text: str, folder: Path
) -> None:
    async with standing(StandInHub()) as hub:
        hub.refusal = (status, headers)
        with pytest.raises(error, match=text):
            await Fetch(order_for(hub), folder).run()


async def test_a_file_that_was_changed_on_the_hub_is_not_begun(folder: Path) -> None:
    async with standing(StandInHub()) as hub:
        hub.answer = lambda content, begin: replace(
            honest(content, begin), headers={"X-Linked-Etag": f'"{"0" * 64}"'}
        )
        with pytest.raises(HubError, match="has changed"):
            await Fetch(order_for(hub), folder).run()


@pytest.mark.parametrize("planted", [".partial", "owner", "owner/tiny-GGUF"])
async def test_a_planted_link_leads_nowhere(planted: str, folder: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (folder / planted).parent.mkdir(parents=True)
    (folder / planted).symlink_to(outside, target_is_directory=True)
    async with standing(StandInHub()) as hub:
        with pytest.raises(DownloadError, match="link out of the download folder"):
            await Fetch(order_for(hub), folder).run()
    assert list(outside.iterdir()) == []


async def test_a_hub_that_is_busy_is_left_alone_for_as_long_as_it_asks(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)
        hub.refusal = None if len(slept) == 2 else hub.refusal

    monkeypatch.setattr(download.asyncio, "sleep", sleep)
    async with standing(StandInHub()) as hub:
        hub.refusal = (429, {"Retry-After": "240"})
        await Fetch(order_for(hub), folder).run()
        assert slept == [240, 240]
        hub.refusal = (503, {"Retry-After": "86400"})
        with pytest.raises(HubError, match="HTTP 503"):
            await Fetch(order_for(hub, other=OTHER), folder).run()
        assert len(slept) == 2  # it does not wait for a day


async def test_passwords_for_other_programs_are_not_told(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of ~/.netrc. One for the hub would also take the place of the token."""
    netrc = tmp_path / "netrc"
    netrc.write_text("default login somebody password secret\n")
    netrc.chmod(0o600)
    monkeypatch.setenv("NETRC", str(netrc))
    async with standing(StandInHub()) as hub:
        await Fetch(order_for(hub), folder, token="hf_secret").run()
        assert hub.requests[0][1]["Authorization"] == "Bearer hf_secret"
        await Fetch(order_for(hub, other=OTHER), folder).run()
        assert "Authorization" not in hub.requests[1][1]


@pytest.mark.parametrize("scheme", ["http://", ""])
async def test_a_proxy_is_used_where_the_system_names_one(
    scheme: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with standing(StandInHub()) as hub, standing(StandInHub()) as proxy:
        wanted = order_for(hub)
        proxy.repos = hub.repos
        monkeypatch.setenv("http_proxy", f"{scheme}me:pw@{proxy.endpoint.removeprefix('http://')}")
        with monkeypatch.context() as patch:  # as if the hub were on another machine
            patch.setattr(proxies, "is_this_machine", lambda _host: False)
            await Fetch(wanted, folder).run()
        assert hub.requests == []
        assert proxy.requests[0][1]["Proxy-Authorization"].startswith("Basic ")
        await Fetch(order_for(hub, other=OTHER), folder).run()
        assert len(proxy.requests) == 1
        assert len(hub.requests) == 1


async def test_two_never_write_one_file(folder: Path) -> None:
    """The same model as part of two orders, or in two Skeins."""
    async with standing(StandInHub()) as hub:
        wanted = order_for(hub)
        hub.stops_at = len(SOURCE) // 2
        first = asyncio.create_task(Fetch(wanted, folder).run())
        await hub.has_stopped.wait()
        with pytest.raises(DownloadError, match="another download"):
            await Fetch(wanted, folder).run()
        hub.let_go()
        assert (await first).read_bytes() == SOURCE


async def test_a_folder_that_vanishes_or_may_not_be_written_is_named(folder: Path) -> None:
    async with standing(StandInHub()) as hub:
        wanted = order_for(hub)
        hub.stops_at = len(SOURCE) // 2
        task = asyncio.create_task(Fetch(wanted, folder).run())
        await hub.has_stopped.wait()
        shutil.rmtree(folder)
        folder.write_bytes(b"no folder any more")
        hub.let_go()
        with pytest.raises(DownloadError, match="Check the download folder"):
            await task
        with pytest.raises(DownloadError, match="Check the download folder"):
            await Fetch(wanted, folder).run()
        folder.unlink()
        assert (await Fetch(wanted, folder).run()).read_bytes() == SOURCE


@pytest.fixture
def victim(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "victim"
    path.write_bytes(b"precious")
    yield path
    assert path.read_bytes() == b"precious"


async def test_a_link_in_the_place_of_a_file_is_not_followed(folder: Path, victim: Path) -> None:
    async with standing(StandInHub()) as hub:
        wanted = order_for(hub)
        place = OrderFolder(wanted, folder)
        place.make()
        place.part(wanted.files[0]).symlink_to(victim)
        place.target(wanted.files[0]).symlink_to(victim)
        with pytest.raises(DownloadError, match="Another file"):
            await Fetch(wanted, folder).run()
        place.target(wanted.files[0]).unlink()
        with pytest.raises(DownloadError, match="cannot be written"):
            await Fetch(wanted, folder).run()
