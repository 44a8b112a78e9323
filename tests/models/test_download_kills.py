"""Processes that load a model get a SIGKILL: what the next start finds, and what it makes of it."""

import asyncio
import random
import shutil
import sys
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from app.models.download import Fetch
from app.models.order import OrderFolder, remove_remains, unfinished
from tests.models.fetching import POINTS, Fetching, fetching
from tests.models.lies import LIES, OTHER, SOURCE
from tests.models.standin_hub import Answer, StandInHub, honest, standing
from tests.models.test_download import files_in, folder, order_for, small_batches
from tests.storage.power_cuts import Disk, power_cuts, record

__all__ = ["folder", "small_batches"]
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL, and no fork")
NAME = "owner/tiny-GGUF/tiny.gguf"
KILLED, WHOLE, REFUSED = -9, 0, 1


@pytest.fixture(scope="module")
def program() -> Iterator[Fetching]:
    with fetching() as program:
        yield program


@pytest.mark.parametrize("answer", LIES, ids=lambda answer: answer.__name__)
@pytest.mark.parametrize("point", POINTS)
async def test_a_lying_server_and_a_kill_and_the_file_is_the_source_or_is_not(
    answer: Answer, point: str, folder: Path, program: Fetching
) -> None:
    async with standing(StandInHub()) as hub:
        wanted = order_for(hub)
        place = OrderFolder(wanted, folder)
        target = place.target(wanted.files[0])
        hub.answer = answer
        assert await program.run(wanted, folder, point) == KILLED
        assert not target.exists()
        assert unfinished(folder) == (wanted,)
        num_here, hub.requests[:] = place.num_bytes, []

        assert await program.run(wanted, folder) == (WHOLE if LIES[answer] else REFUSED)
        if answer is honest:  # and only the rest was asked for
            assert hub.ranges == {len(SOURCE): []}.get(num_here, [f"bytes={num_here}-"])
        if LIES[answer]:
            assert files_in(folder) == {NAME: SOURCE}
            assert not (folder / ".partial").exists()
            return
        assert not target.exists()
        hub.answer = honest
        given_up = shutil.copytree(folder, folder.with_name("given up"))
        await Fetch(wanted, folder).run()
    assert files_in(folder) == {NAME: SOURCE}
    OrderFolder(wanted, given_up).forget()
    assert list(given_up.iterdir()) == []


async def test_a_kill_before_any_change_of_the_folder_leaves_nothing_wrong_and_nothing_behind(
    folder: Path, program: Fetching
) -> None:
    """A model in two parts: both get their names, or the next start goes on, or it is given up."""
    async with standing(StandInHub()) as hub:
        wanted = order_for(hub, tiny__00001__of__00002=SOURCE, tiny__00002__of__00002=OTHER)
        targets = {
            f"owner/tiny-GGUF/{file.name}": hub.repos["owner/tiny-GGUF"][file.path] for file in wanted.files
        }
        for number in count():
            if await program.run(wanted, folder, number) != KILLED:
                break
            left = files_in(folder) if folder.exists() else {}
            assert all(left[name] == content for name, content in targets.items() if name in left)
            remove_remains(folder)
            given_up = folder.with_name(f"given up {number}")
            if folder.exists():
                shutil.copytree(folder, given_up)
            for order in unfinished(given_up):
                OrderFolder(order, given_up).forget()
            assert (files_in(given_up) if given_up.exists() else {}).items() <= targets.items()
            await Fetch(wanted, folder).run()
            assert files_in(folder) == targets
            shutil.rmtree(folder)
    assert number > 15
    assert files_in(folder) == targets


@pytest.mark.skipif(not shutil.which("strace"), reason="strace records what is written")
async def test_after_a_power_cut_a_name_stands_for_the_source_or_for_nothing(
    folder: Path, tmp_path: Path
) -> None:
    """A name may last only once its bytes do; and when the program has ended, both do."""
    async with standing(StandInHub()) as hub:
        wanted = order_for(hub)
        command = ("-m", "tests.models.fetching", wanted.model_dump_json(), str(folder))
        calls = await asyncio.to_thread(lambda: record(*command, folder=tmp_path))
    disk, chance = Disk(folder), random.Random(1)

    def found_after_a_cut(after: Path) -> bytes | None:
        disk.after_power_cut(after, chance)
        return (after / NAME).read_bytes() if (after / NAME).exists() else None

    cuts = enumerate(power_cuts(calls, disk, 150, chance))
    assert {found_after_a_cut(tmp_path / f"{number}") for number, _ in cuts} == {None, SOURCE}
    assert {found_after_a_cut(tmp_path / f"end {number}") for number in range(20)} == {SOURCE}
