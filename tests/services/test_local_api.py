"""The API beside the window, in the window's own loop: on, off, and the requests in between."""

import asyncio
import contextlib
import shutil
import socket
import threading
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path

import aiohttp
import pytest
from PySide6.QtCore import QObject

from app.bridge import tasks
from app.bridge.engine_thread import EngineThread
from app.bridge.engines import Engines
from app.bridge.io_thread import IoThread
from app.models.folders import Folder
from app.models.model_file import ModelSource
from app.protocol.commands import Submit
from app.protocol.load import LoadParams
from app.protocol.output import Output
from app.protocol.report import StepReport
from app.protocol.request import Message, Request, Role
from app.services.local_api import LocalApi
from app.services.model_library import ModelLibrary
from app.services.preferences import Preferences
from app.settings.settings import Settings
from app.shelves.shelf import NamedShelves
from tests.api.test_shelves import Shelves
from tests.conftest import TINY_CONTEXT
from tests.fakes import CountingBackend, endless_token

SOON = 5.0
QUESTION = {"messages": [{"role": "user", "content": "Hello there"}], "max_tokens": 4, "temperature": 0}


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(SOON):
        while not condition():
            await asyncio.sleep(0.002)


@dataclass
class Beside:
    api: LocalApi
    engine: Engines
    settings: Settings
    http: aiohttp.ClientSession

    async def switch(self, is_on: bool) -> None:
        self.api.switch(is_on)
        await tasks.finish_all()

    async def ask(self, path: str = "/v1/chat/completions", **changes: object) -> tuple[int, dict]:
        headers = {"Authorization": f"Bearer {self.settings.api_key}"}
        async with self.http.post(
            self.api.address + path, json=QUESTION | changes, headers=headers
        ) as answer:
            return answer.status, await answer.json()


@contextlib.asynccontextmanager
async def beside(
    parent: QObject,
    *,
    has_model: bool = True,
    shelves: NamedShelves | None = None,
    folders: tuple[Folder, ...] = (),
) -> AsyncIterator[Beside]:
    def make_thread(params: LoadParams, owner: QObject) -> EngineThread:
        model = {"path": params.path, "n_ctx": 16_384, "n_seq_max": 3}
        backend = CountingBackend(endless_token, **(TINY_CONTEXT | model))
        return EngineThread(params, owner, lambda *_: contextlib.nullcontext(backend))

    engine = Engines(make_thread=make_thread)
    settings = Settings(api_port=free_port())
    io = IoThread()
    library = ModelLibrary(Preferences(settings), engine, parent, lambda _settings: folders)
    api = LocalApi(engine, library, settings, io, parent, shelves)
    async with aiohttp.ClientSession() as http:
        try:
            if has_model:
                engine.load(LoadParams(Path("fake.gguf")))
                await until(lambda: engine.model)
            yield Beside(api, engine, settings, http)
        finally:
            await api.close()
            await engine.close()
            await io.close()
            library.close()
            await tasks.finish_all()
            engine.deleteLater()


@pytest.fixture
def parent(qapp: QObject) -> QObject:
    return QObject()


async def test_it_is_off_until_it_is_switched_on(qloop, parent) -> None:
    async with beside(parent) as one:
        one.api.apply()
        await tasks.finish_all()
        assert not one.api.is_on
        with pytest.raises(aiohttp.ClientConnectionError):
            await one.ask()


async def test_a_switched_on_api_answers_with_its_own_key_and_remembers_both(qloop, parent) -> None:
    async with beside(parent) as one:
        saved: list[bool] = []
        one.api.settings_changed.connect(lambda: saved.append(one.settings.api_enabled))
        await one.switch(True)
        assert one.api.is_on
        assert one.api.address == f"http://127.0.0.1:{one.settings.api_port}"
        assert one.settings.api_enabled
        assert len(one.settings.api_key) >= 43
        assert saved[-1] is True
        status, answer = await one.ask()
        assert (status, answer["usage"]["completion_tokens"]) == (200, 4)
        await one.switch(False)
        assert not one.api.is_on
        assert not one.settings.api_enabled


async def test_a_new_key_shuts_out_who_has_the_old_one(qloop, parent) -> None:
    async with beside(parent) as one:
        await one.switch(True)
        old = one.settings.api_key
        one.api.renew_key()
        await tasks.finish_all()
        assert one.settings.api_key != old
        headers = {"X-Api-Key": old}
        async with one.http.get(one.api.address + "/v1/models", headers=headers) as answer:
            assert answer.status == 401
        assert (await one.ask())[0] == 200


async def test_asked_again_to_be_as_it_is_it_goes_on(qloop, parent) -> None:
    async with beside(parent) as one:
        await one.switch(True)
        server = one.api._server
        one.api.apply()
        await tasks.finish_all()
        assert one.api._server is server
        one.settings.api_port = free_port()
        one.api.apply()
        await tasks.finish_all()
        assert one.api._server is not server
        assert (await one.ask())[0] == 200


async def test_a_port_in_use_is_said_so_and_another_one_helps(qloop, parent) -> None:
    async with beside(parent) as one:
        with socket.socket() as other:
            other.bind(("127.0.0.1", one.settings.api_port))
            other.listen()
            failures: list[str] = []
            one.api.failed.connect(failures.append)
            await one.switch(True)
            assert not one.api.is_on
            assert not one.settings.api_enabled
            assert f"port {one.settings.api_port} is used by another program" in failures[0]
        one.api.set_port(free_port())
        await one.switch(True)
        assert (await one.ask())[0] == 200


async def test_callers_are_counted_and_their_chats_have_names(qloop, parent) -> None:
    async with beside(parent) as one:
        counts: list[int] = []
        titles: list[dict[str, str]] = []
        one.api.changed.connect(lambda: counts.append(one.api.num_requests))
        one.api.titles_changed.connect(titles.append)
        await one.switch(True)
        asked = asyncio.ensure_future(one.ask(max_tokens=None))
        await until(lambda: 1 in counts)
        assert list(titles[-1].values()) == ["API: Hello there"]
        asked.cancel()
        await until(lambda: counts[-1] == 0)


async def test_one_slot_stays_for_the_windows_chats(qloop, parent) -> None:
    async with beside(parent) as one:
        reports: list[StepReport] = []
        one.engine.reported.connect(reports.extend)
        await one.switch(True)
        asked = [asyncio.ensure_future(one.ask(max_tokens=None)) for _ in range(6)]
        await until(lambda: one.api.num_requests == 6 and reports)
        own = Request("own", "tab", (Message(Role.USER, "mine"),), max_tokens=3)
        one.engine.post(Submit(own))
        assert (await last_output_of(own, reports)).usage.num_generated_tokens == 3
        most = max(sum(slot.is_running for slot in report.slots) for report in reports)
        assert most == 3
        for task in asked:
            task.cancel()
        await until(lambda: one.api.num_requests == 0)
        await until(lambda: not any(slot.is_running for slot in reports[-1].slots))


async def last_output_of(request: Request, reports: list[StepReport]) -> Output:
    def last() -> Output | None:
        outputs = (output for report in reports for output in report.outputs)
        ends = (output for output in outputs if output.finish_reason)
        return next((end for end in ends if end.request_id == request.request_id), None)

    await until(last)
    output = last()
    assert output
    return output


async def test_without_a_model_callers_are_told_to_come_back(qloop, parent) -> None:
    async with beside(parent, has_model=False) as one:
        await one.switch(True)
        status, body = await one.ask()
        assert (status, body["error"]["type"]) == (503, "unavailable_error")
        one.engine.load(LoadParams(Path("fake.gguf")))
        await until(lambda: one.engine.model)
        assert (await one.ask())[0] == 200


async def test_a_request_goes_on_in_its_model_when_another_one_is_chosen(qloop, parent) -> None:
    async with beside(parent) as one:
        await one.switch(True)
        asked = asyncio.ensure_future(one.ask(max_tokens=200))
        await until(lambda: any(each.is_begun for each in one.engine.front._open))
        one.engine.load(LoadParams(Path("other.gguf")))
        status, body = await asked
        assert (status, body["choices"][0]["finish_reason"]) == (200, "length")
        assert (await one.ask())[0] == 200


async def test_a_request_goes_on_when_the_same_model_is_loaded_again_and_wakes_one_that_sleeps(
    qloop, parent
) -> None:
    async with beside(parent) as one:
        await one.switch(True)
        asked = asyncio.ensure_future(one.ask(max_tokens=200))
        await until(lambda: any(each.is_begun for each in one.engine.front._open))
        one.engine.load(one.engine.front.params)
        status, body = await asked
        assert (status, body["choices"][0]["finish_reason"]) == (200, "length")
        one.engine.front.sleep()
        assert (await one.ask())[0] == 200
        assert not one.engine.is_asleep


async def test_a_request_may_name_any_model_of_the_library_which_is_loaded_for_it(
    qloop, parent, tmp_path, tiny_gguf
) -> None:
    for name in ("first", "second"):
        shutil.copy(tiny_gguf("qwen3"), tmp_path / f"{name}.gguf")
    folders = (Folder(tmp_path, ModelSource.FOLDER),)
    async with beside(parent, folders=folders) as one:
        await one.switch(True)

        async def states() -> dict[str, str]:
            headers = {"Authorization": f"Bearer {one.settings.api_key}"}
            async with one.http.get(one.api.address + "/v1/models", headers=headers) as answer:
                return {each["id"]: each["status"]["value"] for each in (await answer.json())["data"]}

        default, *others = list((await states()).items())
        assert (default[1], others) == ("loaded", [("first", "unloaded"), ("second", "unloaded")])
        assert (await one.ask("/v1/chat/completions?autoload=0", model="first"))[0] == 400
        for name in ("first", "second", "gpt-4o"):
            status, answer = await one.ask(model=name)
            assert (status, answer["model"]) == (200, default[0] if name == "gpt-4o" else name)
        one.engine.tidy()  # no chat uses them, and yet they stay until they are idle for long
        assert await states() == {default[0]: "loaded", "first": "loaded", "second": "loaded"}
        second = one.engine.known(str(tmp_path / "second.gguf"))
        assert second
        await until(lambda: second.can_sleep)
        second.sleep()
        assert (await states())["second"] == "sleeping"
        one.engine.tidy()
        assert (await one.ask(model="second"))[0] == 200
        assert one.engine.front.params == LoadParams(Path("fake.gguf"))


async def test_closing_ends_what_is_being_answered(qloop, parent) -> None:
    async with beside(parent) as one:
        await one.switch(True)
        asked = asyncio.ensure_future(one.ask(max_tokens=None))
        await until(lambda: one.api.num_requests == 1)
        await one.api.close()
        assert (await asked)[0] == 503
        assert not one.api.is_on
        one.api.switch(True)
        await tasks.finish_all()
        assert not one.api.is_on


async def test_counting_tokens_works_beside_the_engine(qloop, parent) -> None:
    async with beside(parent) as one:
        await one.switch(True)
        status, body = await one.ask("/v1/chat/completions/input_tokens")
        assert (status, body["input_tokens"] > 10) == (200, True)


async def test_it_listens_on_the_io_thread_and_asks_shelves_and_engine_on_the_windows(qloop, parent) -> None:
    class Asked(Shelves):
        async def refresh(self) -> None:
            threads.add(threading.current_thread())

    threads: set[threading.Thread] = set()
    async with beside(parent, shelves=Asked(fits=True)) as one:
        await one.switch(True)
        assert (await one.ask(shelf="Docs"))[0] == 200
        assert threads == {threading.current_thread()}
        status, body = await one.ask(shelf="Books")
        assert (status, "no shelf 'Books'" in body["error"]["message"]) == (400, True)
        assert "skein-io" in {thread.name for thread in threading.enumerate()}


async def test_it_is_encrypted_and_lets_in_who_is_allowed_where_the_settings_say_so(qloop, parent) -> None:
    async with beside(parent) as one:
        await one.switch(True)
        assert one.api.fingerprint == ""
        one.settings.api_encrypted = True
        one.settings.api_origins, one.settings.api_hosts = "app://obsidian.md", "*.lan"
        one.api.apply()
        await tasks.finish_all()
        assert one.api.address == f"https://127.0.0.1:{one.settings.api_port}"
        pinned = aiohttp.Fingerprint(bytes.fromhex(one.api.fingerprint.replace(":", "")))
        headers = {"Origin": "app://obsidian.md", "Host": "pc.lan", "X-Api-Key": one.settings.api_key}
        async with one.http.get(f"{one.api.address}/v1/models", ssl=pinned, headers=headers) as answer:
            assert answer.status == 200
        await one.switch(False)
        assert one.api.fingerprint == ""


async def test_without_a_certificate_it_stays_off_and_says_why(qloop, parent, monkeypatch) -> None:
    def fail(_hosts):
        raise OSError("the disk is full")

    monkeypatch.setattr("app.api.certificate.own_certificate", fail)
    async with beside(parent) as one:
        told = []
        one.api.failed.connect(told.append)
        one.settings.api_encrypted = True
        await one.switch(True)
        assert not one.api.is_on
        assert not one.settings.api_enabled
        assert "the disk is full" in told[0]
