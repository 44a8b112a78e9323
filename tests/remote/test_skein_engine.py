"""An engine that is lent: its answers arrive whole and once, whatever becomes of the connection."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import random
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiohttp import web

from app.api import lending as lending_module
from app.api.certificate import own_certificate
from app.api.model_router import ModelRouter, Offer
from app.api.server import ApiServer
from app.protocol.commands import (
    Abort,
    AbortAll,
    DescribeTokens,
    Forget,
    KeepCells,
    Pause,
    ReadAhead,
    Resume,
    SaveSlot,
    Submit,
    TokensOf,
    WatchCells,
)
from app.protocol.errors import EngineCrashedError, InvalidRequestError, ModelLoadError
from app.protocol.load import CellStore
from app.protocol.media import Media, MediaKind
from app.protocol.output import FinishReason
from app.protocol.report import CellUsage, ChatTokens, SlotAnswer, SlotState, TokenTexts
from app.protocol.request import Message, Request, Role
from app.protocol.sampling import SamplingParams
from app.protocol.wire import COMMAND, MODEL, ReportWriter, frame, message_in
from app.remote import link, skein_engine
from tests.api.conftest import KEY, Served, Steps, endless, serving, until, with_backend
from tests.api.test_model_router import Loads
from tests.conftest import TINY_CONTEXT
from tests.driver import ask, request
from tests.fakes import CountingBackend, endless_token, model_info
from tests.inspector.reports import decoding, report
from tests.remote.windows import Counted, Proxy, Window, is_answered, lending, opened, params

GREEDY = SamplingParams(temperature=0.0)


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(skein_engine, "RETRY_S", (0.0, 0.01))


async def test_it_answers_as_an_engine_here() -> None:
    from app.engine.engine import Engine

    expected = ask(Engine(endless()), request("Hello", max_tokens=40))
    async with lending(backend=endless()) as (served, _), opened(params(served.server.address)) as window:
        assert window.model
        assert window.model.address == f"{served.server.address}#fake"
        assert window.model.n_ctx == 512
        window.ask("r", max_tokens=40)
        await until(is_answered(window, "r"))
        assert tuple(window.tokens("r")) == expected.token_ids
        assert window.text("r") == expected.text
        assert window.ends("r") == [FinishReason.LENGTH]
        assert window.reports[-1].slots[0].state is SlotState.WARM
        assert {slot.chat_id for slot in window.reports[-1].slots} == {"chat r", None}


async def test_a_lent_model_sleeps_only_while_no_window_is_connected() -> None:
    open_engine = with_backend(Loads().open)
    router = ModelRouter([Offer(lambda _held, *callbacks: open_engine(*callbacks))], idle_s=0.02)
    server = ApiServer(router, key=KEY, lender=lending_module.Lender(router))
    await server.start()
    await router.start()
    client = router.models[0].client
    await until(lambda: client.is_asleep)
    async with opened(params(server.address)) as window:
        window.ask("r", max_tokens=4)
        await until(is_answered(window, "r"))
        await asyncio.sleep(0.1)
        assert not client.is_asleep
    await until(lambda: client.is_asleep)
    await server.stop()
    await router.stop()


async def test_texts_are_tokenised_there_and_errors_come_back() -> None:
    async with lending() as (served, _), opened(params(served.server.address)) as window:
        assert window.engine
        use = window.engine.use_prompts
        tokens = await asyncio.wrap_future(use(lambda prompts: prompts.tokenize("abc", parse_special=False)))
        assert tokens == [97, 98, 99]
        assert await asyncio.wrap_future(use(lambda prompts: prompts.written(tokens))) == [b"a", b"b", b"c"]
        assert await asyncio.wrap_future(use(lambda prompts: prompts.end_tokens)) == {258}
        with pytest.raises(InvalidRequestError, match="is no token"):
            await asyncio.wrap_future(use(lambda prompts: prompts.written([9999])))
        picture = Media(MediaKind.PICTURE, "a" * 64, b"")
        with pytest.raises(InvalidRequestError):  # it does not see
            await asyncio.wrap_future(use(lambda prompts: prompts.num_media_tokens(picture)))


@contextlib.asynccontextmanager
async def cut_in_mid_answer() -> AsyncIterator[tuple[Served, Proxy, Window, Steps]]:
    """The answer "r", of 60 tokens; the connection stays cut."""
    steps = Steps()
    backend = CountingBackend(endless_token, before_decode=steps.wait, **TINY_CONTEXT)
    async with (
        lending(backend=backend) as (served, _),
        Proxy(served.port).listening() as proxy,
        opened(to(proxy)) as window,
    ):
        window.ask("r", max_tokens=60)
        steps.allow(10)
        await until(lambda: len(window.tokens("r")) > 5)
        proxy.is_cut = True
        proxy.cut()
        await until(lambda: "broken" in window.trouble)
        yield served, proxy, window, steps


async def test_an_answer_is_stopped_while_the_connection_is_broken() -> None:
    async with cut_in_mid_answer() as (_, _, window, steps):
        window.post(Abort("r"))
        await until(lambda: window.ends("r") == [FinishReason.ABORT])
        steps.allow(100)


async def test_cutting_the_connection_loses_nothing_and_doubles_nothing() -> None:
    async with cut_in_mid_answer() as (served, proxy, window, steps):
        before = len(window.tokens("r"))
        steps.allow(20)  # it goes on there
        await until(lambda: served.num_steps >= 25)
        assert len(window.tokens("r")) == before
        proxy.is_cut = False
        await until(lambda: len(window.tokens("r")) > before)
        assert window.trouble == ""
        for _ in range(5):
            steps.allow(3)
            proxy.cut()
        steps.allow(60)
        await until(is_answered(window, "r"))
        expected = [output for report in served.reports for output in report.outputs]
        assert window.text("r") == "".join(output.text for output in expected)
        assert window.tokens("r") == [token for output in expected for token in output.token_ids]
        assert len(window.tokens("r")) == 60
        kinds = [event.kind for report in window.reports for event in report.events]
        assert kinds.count("connection") >= 2


async def test_a_server_that_was_started_again_is_a_crash_that_can_be_recovered_from() -> None:
    async with (
        lending(backend=endless()) as (served, _),
        Proxy(served.port).listening() as proxy,
        opened(to(proxy)) as window,
    ):
        window.ask("r", max_tokens=400)
        await until(lambda: len(window.tokens("r")) > 5)
        async with lending(backend=endless()) as (other, _):
            proxy.upstream = other.port
            proxy.cut()
            await until(lambda: window.has_ended)
        assert isinstance(window.error, EngineCrashedError)
        assert window.ends("r") == []  # it is taken up by the next engine


async def test_a_lender_that_waited_long_enough_ends_what_was_open() -> None:
    async with (
        lending(backend=endless(), grace_s=0.0) as (served, lender),
        Proxy(served.port).listening() as proxy,
        opened(to(proxy)) as window,
    ):
        window.ask("r")
        await until(lambda: len(window.tokens("r")) > 3)
        proxy.is_cut = True
        proxy.cut()
        await until(lambda: not lender._windows)
        await until(served.is_idle)
        proxy.is_cut = False
        await until(lambda: window.has_ended)
        assert isinstance(window.error, EngineCrashedError)
        slots = served.reports[-1].slots
        assert not any(slot.chat_id for slot in slots)  # its cells are free


async def test_stopping_ends_all_here_and_there() -> None:
    async with lending(backend=endless()) as (served, lender):
        async with opened(params(served.server.address)) as window:
            window.ask("r")
            await until(lambda: len(window.tokens("r")) > 3)
        assert window.error is None
        assert window.ends("r") == [FinishReason.ABORT]
        await until(lambda: not lender._windows)
        await until(served.is_idle)


async def test_a_model_stays_loaded_as_long_as_a_window_uses_it() -> None:
    async with lending() as (served, lender):
        held = lender._engines
        assert isinstance(held, Counted)
        async with Proxy(served.port).listening() as proxy, opened(to(proxy)) as window:
            assert held.num_leases == 1
            proxy.is_cut = True
            proxy.cut()
            await until(lambda: "broken" in window.trouble)
            assert held.num_leases == 1
            proxy.is_cut = False
            await until(lambda: not window.trouble)
        await until(lambda: held.num_leases == 0)
        assert served.client.listeners == []


async def test_it_can_be_stopped_while_nobody_is_there() -> None:
    async with (
        lending(backend=endless()) as (served, _),
        Proxy(served.port).listening() as proxy,
        opened(to(proxy)) as window,
    ):
        window.ask("r")
        await until(lambda: len(window.tokens("r")) > 3)
        proxy.is_cut = True
        proxy.cut()
        await until(lambda: "broken" in window.trouble)
        assert window.engine
        asked = window.engine.use_prompts(lambda prompts: prompts.tokenize("abc"))
        window.engine.stop()
        await until(lambda: window.has_ended)
        assert window.ends("r") == [FinishReason.ABORT]
        told = [event for report in window.reports for event in report.events]
        assert not any("there again" in getattr(event, "text", "") for event in told)
        with pytest.raises(Exception, match="stopped"):
            await asyncio.wrap_future(asked)


async def test_an_abort_ends_one_answer() -> None:
    async with lending(backend=endless()) as (served, _), opened(params(served.server.address)) as window:
        window.ask("r")
        window.ask("other", max_tokens=50)
        await until(lambda: len(window.tokens("r")) > 3)
        window.post(Abort("r"))
        await until(is_answered(window, "r"))
        assert window.ends("r") == [FinishReason.ABORT]
        await until(is_answered(window, "other"))


async def test_what_is_ended_twice_ends_once() -> None:
    async with (
        lending(backend=endless()) as (served, lender),
        opened(params(served.server.address)) as window,
    ):
        window.ask("r")
        await until(lambda: len(window.tokens("r")) > 3)
        for command in (Abort("r"), Abort("r"), Forget("chat r"), AbortAll(), Forget("chat r")):
            window.post(command)
        await until(is_answered(window, "r"))
        window.ask("s", max_tokens=3)
        await until(is_answered(window, "s"))
        assert window.ends("r") == [FinishReason.ABORT]
        [lent] = lender._windows.values()
        assert len(lent._chats) == 1


async def test_cells_are_told_to_those_who_watch_them() -> None:
    async with (
        lending() as (served, _),
        opened(params(served.server.address)) as one,
        opened(params(served.server.address)) as two,
    ):
        one.post(WatchCells())
        two.ask("r", max_tokens=3)
        await until(lambda: any(report.cell_map for report in one.reports))
        await until(is_answered(two, "r"))
        assert not any(report.cell_map for report in two.reports)


async def test_answers_that_wait_for_their_turn_can_be_aborted_too() -> None:
    async with lending(backend=endless()) as (served, _), opened(params(served.server.address)) as window:
        for number in range(20):
            window.ask(str(number))
        await until(lambda: served.client.num_waiting > 0)
        for number in range(20):
            window.post(Abort(str(number)))
        await until(lambda: all(window.ends(str(number)) for number in range(20)))
        assert all(window.ends(str(number)) == [FinishReason.ABORT] for number in range(20))


async def test_two_windows_have_turns_and_do_not_see_each_other() -> None:
    steps = Steps()
    backend = CountingBackend(endless_token, before_decode=steps.wait, **TINY_CONTEXT)
    async with (
        lending(backend=backend) as (served, lender),
        opened(params(served.server.address)) as one,
        opened(params(served.server.address)) as two,
    ):
        for number in range(12):
            one.ask(str(number), "my secret is 1234", max_tokens=30)
        await until(lambda: served.client.num_waiting > 0)
        two.ask("0", "What?", max_tokens=30)  # the same names as the other's
        steps.allow(500)
        await until(is_answered(two, "0"))
        two.post(WatchCells())
        two.post(Abort("1"))
        two.post(TokensOf("chat 1"))
        await until(lambda: any(report.cell_map for report in two.reports))

        def told() -> list[ChatTokens]:
            return [one for report in two.reports for one in report.answers if isinstance(one, ChatTokens)]

        await until(lambda: bool(told()))
        assert told() == [ChatTokens("chat 1")]
        steps.allow(5000)
        await until(lambda: all(one.ends(str(number)) for number in range(12)))
        assert all(one.ends(str(number)) == [FinishReason.LENGTH] for number in range(12))
        every = [output for report in served.reports for output in report.outputs]
        order = [output.request_id for output in every if output.finish_reason]
        assert order.index(f"{list(lender._windows.values())[1]._view._prefix}0") < 10
        seen = {slot.chat_id for report in two.reports for slot in report.slots} - {None, "chat 0"}
        assert seen
        assert all(name and name.startswith("other ") for name in seen)
        for report in two.reports:
            for span in report.spans:
                assert (span.token_bytes == b"") == (span.chat_id != "chat 0")
            assert {output.request_id for output in report.outputs} <= {"0"}
            if report.cell_map is not None:
                mine = bytes(token for token in report.cell_map.token_ids if 0 < token < 256)
                assert b"secret" not in mine
        assert "secret" not in str(two.reports)


async def test_a_window_pauses_the_engine_only_where_it_may() -> None:
    for gives_control in (False, True):
        async with (
            lending(gives_control=gives_control) as (served, _),
            opened(params(served.server.address)) as window,
        ):
            window.post(Pause())
            window.post(SaveSlot("q", 0))
            await until(lambda: any(report.answers for report in window.reports))
            [saved] = [one for report in window.reports for one in report.answers]
            assert isinstance(saved, SlotAnswer)
            assert saved.query_id == "q"
            assert saved.refusal
            assert any(report.pause for report in served.reports) == gives_control
            told = [event for report in window.reports for event in report.events]
            assert any("without control" in getattr(event, "text", "") for event in told) != gives_control
            window.post(Resume())


LONG = random.Random(1).randbytes(10_000)  # which compression leaves long


@pytest.mark.parametrize(
    "secret",
    [
        ReadAhead(Request("draft", "chat", (Message(Role.USER, LONG.hex()),), max_tokens=0)),
        KeepCells(CellStore(Path("cells"), key=LONG)),
    ],
)
async def test_what_was_not_sent_does_not_travel(secret: Any) -> None:
    async with (
        lending() as (served, _),
        Proxy(served.port).listening() as proxy,
        opened(to(proxy)) as window,
    ):
        before = proxy.num_bytes_up
        window.post(secret)
        window.ask("r", max_tokens=4)
        await until(is_answered(window, "r"))
        assert proxy.num_bytes_up - before < 2000


async def test_pictures_travel_once() -> None:
    file = b"picture" * 10_000
    picture = Media(MediaKind.PICTURE, hashlib.sha256(file).hexdigest(), file, 8, 8)
    messages = (Message(Role.USER, "What is it?", media=(picture, picture)),)
    async with lending() as (served, lender), Proxy(served.port).listening() as proxy:
        async with opened(to(proxy)) as window:
            for name in ("r", "s"):
                window.post(Submit(Request(name, "chat", messages)))
                await until(is_answered(window, name))  # this model does not see: it is refused
            assert lender.files.num_bytes == len(file)
            assert len(lender.files._files) == 1
        async with opened(to(proxy)) as window:
            before = proxy.num_bytes_up
            window.post(Submit(Request("r", "chat", messages)))
            await until(is_answered(window, "r"))
            assert proxy.num_bytes_up - before < 2000


async def test_questions_about_tokens_are_answered() -> None:
    async with lending() as (served, _), opened(params(served.server.address)) as window:
        window.post(DescribeTokens((97, 98)))
        await until(lambda: any(report.answers for report in window.reports))
        [answer] = [one for report in window.reports for one in report.answers]
        assert answer == TokenTexts((97, 98), (b"a", b"b"))


async def test_a_wrong_key_and_a_missing_name_are_refused_with_a_sentence() -> None:
    async with lending() as (served, _):
        async with opened(params(served.server.address, key="wrong")) as window:
            assert isinstance(window.error, ModelLoadError)
            assert "key" in str(window.error)
        async with opened(params(served.server.address, name="another")) as window:
            assert "has fake now" in str(window.error)


async def test_a_server_that_lends_nothing_says_so() -> None:
    async with serving() as served, opened(params(served.server.address)) as window:
        assert isinstance(window.error, ModelLoadError)


async def test_an_old_version_is_refused_with_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(skein_engine, "VERSION", 0)
    async with lending() as (served, _), opened(params(served.server.address)) as window:
        assert isinstance(window.error, ModelLoadError)
        assert "Update the older Skein" in str(window.error)


async def test_a_wrong_certificate_gets_no_key(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    certificate = own_certificate(["127.0.0.1"])
    seen: list[str] = []
    async with lending(tls=certificate.context()) as (served, lender):
        original = served.server._check
        right = params(served.server.address, fingerprint=certificate.fingerprint)
        wrong = params(served.server.address, fingerprint="AB" + certificate.fingerprint[2:])
        assert original
        async with opened(right) as window:
            window.ask("r", max_tokens=3)
            await until(is_answered(window, "r"))
        lender._serve = lambda request: seen.append(request.path)  # type: ignore[method-assign,assignment,return-value,func-returns-value]
        async with opened(wrong) as window:
            assert isinstance(window.error, ModelLoadError)
            assert "nothing was sent" in str(window.error)
        assert not seen


async def test_a_window_that_reads_slowly_costs_bounded_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lending_module, "MANY_BYTES", 20_000)
    monkeypatch.setattr(lending_module, "MOST_BYTES", 60_000)
    async with (
        lending(backend=CountingBackend(endless_token, **(TINY_CONTEXT | {"n_ctx": 16_384}))) as (
            served,
            lender,
        ),
        Proxy(served.port).listening() as proxy,
        opened(to(proxy)) as window,
    ):
        proxy.goes_on.clear()
        window.ask("r")
        await until(lambda: bool(lender._windows))
        [lent] = lender._windows.values()
        most = 0

        def is_given_up() -> bool:
            nonlocal most
            most = max(most, lent._link.num_unseen_bytes)
            return not lender._windows

        await until(is_given_up)
        assert most < 70_000
        await until(served.is_idle)
        proxy.goes_on.set()
        proxy.cut()
        await until(lambda: window.has_ended)


async def test_who_catches_up_sees_the_states_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lending_module, "MANY_BYTES", 20_000)
    async with (
        lending(backend=endless()) as (served, _),
        Proxy(served.port).listening() as proxy,
        opened(to(proxy)) as window,
    ):
        proxy.goes_on.clear()
        window.ask("r", max_tokens=200)
        await until(lambda: served.num_steps > 100 and served.is_idle())
        proxy.goes_on.set()
        await until(is_answered(window, "r"))
        assert window.reports[-1].slots[0].state is SlotState.WARM
        assert len(window.tokens("r")) == 200
        assert any(report.outputs and not report.spans for report in window.reports)


@contextlib.asynccontextmanager
async def greeted(served: Any, **hello: Any) -> AsyncIterator[aiohttp.ClientWebSocketResponse[bool]]:
    usual = {"version": link.VERSION, "name": "fake", "session": "", "seen": 0}
    async with served.http.ws_connect(served.server.address + link.PATH) as socket:
        await socket.send_bytes(frame(usual | hello))
        yield socket


async def test_fuzzed_frames_are_refused_and_the_lender_serves_on() -> None:
    chance = random.Random(56)
    good = frame({"n": 1, "do": "post"}, *COMMAND.packed(Pause()))
    async with lending() as (served, lender), opened(params(served.server.address)) as window:
        for number in range(200):
            data = bytearray(good)
            for _ in range(chance.randint(1, 5)):
                data[chance.randrange(len(data))] = chance.randrange(256)
            async with greeted(served) as socket:
                assert "session" in message_in(await socket.receive_bytes())[0]
                await socket.send_bytes(bytes(data))
                if number % 2:
                    await socket.send_str("text")
        await until(lambda: len(lender._windows) <= 64)
        window.ask("r", max_tokens=5)
        await until(is_answered(window, "r"))


def wrong_frames() -> list[bytes]:
    told = report(1, decoding(0, "chat"))
    too_large = replace(told, cells=CellUsage(2**60))
    no_sequence = replace(told, slots=(replace(told.slots[0], seq_id=-3),))
    return [
        b"",
        b"{}\n",
        frame({"n": 1, "files": [], "do": "unknown"}),
        frame({"n": 5, "files": [], "do": "reports"}, *ReportWriter().packed([told])),
        frame({"n": 1, "files": ["00"], "do": "reports"}, *ReportWriter().packed([told])),
        frame({"n": 1, "files": [], "do": "reports"}, b"[]"),
        frame({"n": 1, "files": [], "do": "reports"}, *ReportWriter().packed([too_large])),
        frame({"n": 1, "files": [], "do": "reports"}, *ReportWriter().packed([no_sequence])),
        frame({"n": 1, "files": [], "do": "answer", "id": 7}),
        frame({"seen": 99}),
    ]


@pytest.mark.parametrize("wrong", wrong_frames(), ids=range(10))
async def test_what_no_lender_would_send_ends_the_engine_with_a_sentence(wrong: bytes) -> None:
    async def lend(request: web.Request) -> web.WebSocketResponse:
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        await socket.receive()
        welcome = {"session": "s", "seen": 0, "clock": 1.0}
        await socket.send_bytes(frame(welcome, *MODEL.packed(model_info())))
        await socket.send_bytes(wrong)
        async for _ in socket:
            pass
        return socket

    application = web.Application()
    application.router.add_get(link.PATH, lend)
    runner = web.AppRunner(application)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        async with opened(params(f"http://127.0.0.1:{runner.addresses[0][1]}")) as window:
            await until(lambda: window.has_ended)
            assert "is not an answer" in str(window.error)
    finally:
        await runner.cleanup()


@pytest.mark.parametrize(
    "hello",
    [{"version": "1"}, {"version": None}, {"seen": 5}, {"seen": "x"}, {"session": "unknown"}, {"name": 3}],
)
async def test_strange_greetings_end_the_connection(hello: dict[str, Any]) -> None:
    async with lending() as (served, lender):
        async with greeted(served, **hello) as socket, asyncio.timeout(5):
            while (await socket.receive()).type is aiohttp.WSMsgType.BINARY:
                pass
        assert not lender._windows


def to(proxy: Proxy) -> Any:
    return params(proxy.url)
