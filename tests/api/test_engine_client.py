"""Requests in and outputs out, on an engine that does what the test says."""

import asyncio
import json
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from app.api import engine_client
from app.api.engine_client import CALLER, Defaults, EngineClient
from app.api.errors import ApiError
from app.protocol import request as protocol_request
from app.protocol.commands import Abort, Command, Forget, Submit
from app.protocol.errors import InvalidRequestError
from app.protocol.model import ModelInfo
from app.protocol.output import FinishReason, Output
from app.protocol.report import CellUsage, StepReport
from app.protocol.request import Caller, Message, Overflow, Request, Role
from app.protocol.sampling import SamplingParams
from tests.api.conftest import endless, serving
from tests.fakes import model_info


class ScriptedEngine:
    is_asleep = False

    def __init__(self) -> None:
        self.model: ModelInfo | None = model_info(n_seq_max=4)
        self.submitted: list[str] = []
        self.aborted: list[str] = []
        self.forgotten: list[str] = []
        self.on_submit: Callable[[Request], None] = lambda _request: None

    def post(self, command: Command) -> None:
        match command:
            case Submit(request):
                self.submitted.append(request.request_id)
                self.on_submit(request)
            case Abort(request_id):
                self.aborted.append(request_id)
            case Forget(chat_id):
                self.forgotten.append(chat_id)

    def use_prompts(self, work: Callable[[Any], Any]) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_result(work("prompts"))
        return future


@pytest.fixture
def engine() -> ScriptedEngine:
    return ScriptedEngine()


def request(name: str, text: str = "") -> Request:
    return Request(name, "", (Message(Role.USER, text or name),))


def report(*outputs: Output) -> StepReport:
    return StepReport(1, outputs, (), (), CellUsage(512))


def output(name: str, text: str = "", reason: FinishReason | None = None) -> Output:
    return Output(name, "", text, reason)


async def texts(answers: engine_client.OpenAnswers) -> list[tuple[int, str]]:
    return [(index, one.text) async for batch in answers for index, one in batch]


async def test_outputs_reach_who_asked_until_the_last_one(engine):
    client = EngineClient(engine)
    with client.answer(request("a"), request("b")) as answers, client.answer(request("c")) as others:
        client.on_reports([report(output("b", "1"), output("x", "?"), output("c", "3"))])
        client.on_reports([report(output("a", "2", FinishReason.STOP), output("b", "", FinishReason.STOP))])
        assert await texts(answers) == [(1, "1"), (0, "2"), (1, "")]
        client.on_output(output("c", "!", FinishReason.LENGTH))
        assert await texts(others) == [(0, "3"), (0, "!")]
    assert (client.num_open, engine.aborted) == (0, [])


async def test_leaving_ends_what_is_not_finished(engine):
    client = EngineClient(engine)
    with client.answer(request("a"), request("b")):
        client.on_output(output("a", "", FinishReason.STOP))
    assert engine.aborted == ["b"]
    assert client.num_open == 0
    client.on_output(output("b", "too late", FinishReason.ABORT))


async def test_of_many_that_are_left_at_once_none_is_begun_any_more(engine):
    client = EngineClient(engine)
    with client.answer(*(request(f"{number}") for number in range(100))):
        begun = len(engine.submitted)
    assert len(engine.submitted) == begun == 8
    assert sorted(engine.aborted) == sorted(engine.submitted)
    assert client.num_open == 0


async def test_cancelling_ends_it_too(engine):
    client = EngineClient(engine)

    async def ask() -> None:
        with client.answer(request("a")) as answers:
            await texts(answers)

    task = asyncio.create_task(ask())
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert engine.aborted == ["a"]


async def test_a_request_that_was_broken_off_goes_on_when_it_comes_again(engine):
    client = EngineClient(engine)
    with client.answer(request("a", "x")) as answers:
        broken_off = answers.requests[0].chat_id
    assert engine.aborted == ["a"]
    with client.answer(request("b", "x")) as answers:
        assert answers.requests[0].chat_id == broken_off
    assert engine.forgotten == []


async def test_a_new_chat_that_could_not_be_answered_is_forgotten(engine):
    client = EngineClient(engine)
    with client.answer(request("a")) as answers:
        chat_id = answers.requests[0].chat_id
        client.on_output(Output("a", chat_id, finish_reason=FinishReason.ERROR))
    assert engine.forgotten == [chat_id]
    assert client.titles == {}


async def test_with_a_spare_slot_the_others_wait_and_come_in_order(engine):
    client = EngineClient(engine, num_spare_slots=1)
    asked = [client.answer(request(name)) for name in "abcde"]
    assert engine.submitted == ["a", "b", "c"]
    assert client.num_waiting == 2
    asked[3].abort()
    assert engine.aborted == []  # the engine never had it
    client.on_output(output("b", "", FinishReason.STOP))
    assert engine.submitted == ["a", "b", "c", "e"]


async def test_a_context_of_one_slot_still_answers_one(engine):
    engine.model = model_info(n_seq_max=1)
    client = EngineClient(engine, num_spare_slots=1)
    client.answer(request("a"))
    client.answer(request("b"))
    assert engine.submitted == ["a"]


async def test_a_full_house_refuses_many_more_but_neither_a_few_nor_a_single_large_request(engine):
    client = EngineClient(engine, max_open=100)
    with client.answer(*(request(f"a{number}") for number in range(1_024))):
        with pytest.raises(ApiError, match="Ask for at most 32 at once") as refused:
            client.answer(*(request(f"b{number}") for number in range(33)))
        assert refused.value.status == 503
        client.answer(*(request(f"c{number}") for number in range(32))).abort()
    client.answer(*(request(f"d{number}") for number in range(1_024)))


@contextmanager
def called(program: str, connection: str = "1") -> Iterator[None]:
    token = CALLER.set(Caller(program, connection))
    yield
    CALLER.reset(token)


async def test_the_engine_gets_no_more_than_it_can_soon_begin_and_the_rest_in_turn(engine):
    client = EngineClient(engine)
    with called("busy"):
        client.answer(*(request(f"b{number}") for number in range(1_024)))
    assert len(engine.submitted) == 8  # four have a slot, four come next
    with called("other"):
        client.answer(request("o"))
    with called("busy", "2"):  # the same program again, on another connection
        client.answer(request("p"))
    assert engine.submitted[8:] == ["o", "p"]
    client.on_output(output("b0", "", FinishReason.STOP))
    assert len(engine.submitted) == 10  # those who were let in beyond the places
    for number in range(1, 4):
        client.on_output(output(f"b{number}", "", FinishReason.STOP))
    assert engine.submitted[10:] == ["b8", "b9"]
    assert client.num_waiting == 1_024 - 10


async def test_beside_a_spare_slot_another_caller_is_let_in_too(engine):
    client = EngineClient(engine, num_spare_slots=1)
    with called("busy"):
        client.answer(*(request(f"b{number}") for number in range(5)))
    with called("other"):
        client.answer(request("o"))
    assert engine.submitted == ["b0", "b1", "b2", "o"]


async def test_copies_of_a_request_are_not_read_again_and_again(engine, monkeypatch):
    """A megabyte of tools takes 20 ms each time, on the loop."""
    read = []
    read_object = protocol_request.read_object
    monkeypatch.setattr(
        protocol_request, "read_object", lambda text, name: read.append(name) or read_object(text, name)
    )
    variables = json.dumps({"tools": ["x"] * 1_000})
    copies = [replace(request(str(number)), template_variables=variables) for number in range(32)]
    EngineClient(engine).answer(*copies)
    assert read.count("template_variables") <= 2  # none are one, too


async def test_without_a_model_nothing_is_taken(engine):
    engine.model = None
    client = EngineClient(engine)
    with pytest.raises(ApiError, match="Loading model"):
        client.answer(request("a"))
    with pytest.raises(ApiError):
        await client.use_prompts(lambda _prompts: None)


async def test_what_waits_when_the_engine_goes_is_ended_by_it_not_forgotten(engine):
    client = EngineClient(engine, num_spare_slots=3)
    asked = [client.answer(request(str(number))) for number in range(200)]

    def refuse(one: Request) -> None:
        client.on_output(Output(one.request_id, one.chat_id, finish_reason=FinishReason.ERROR))

    engine.model, engine.on_submit = None, refuse
    client.on_output(output("0", "", FinishReason.ERROR))
    assert client.num_open == 0
    for answers in asked:
        assert len(await texts(answers)) == 1


async def test_who_reads_too_slowly_loses_his_answer_and_no_other(engine):
    client = EngineClient(engine)
    with client.answer(request("slow")) as slow, client.answer(request("fast")) as fast:
        for _ in range(engine_client.MAX_UNREAD_BYTES // 1000 + 2):
            client.on_output(output("slow", "x" * 1000))
            client.on_output(output("fast", "x" * 1000))
            await anext(fast)
        assert engine.aborted == ["slow"]
        with pytest.raises(ApiError, match="not read as fast"):
            await anext(slow)


async def test_silence_is_told_so_that_the_caller_can_be_told(engine, monkeypatch):
    monkeypatch.setattr(engine_client, "QUIET_SECONDS", 0.01)
    client = EngineClient(engine)
    with client.answer(request("a")) as answers:
        assert await anext(answers) == []
        client.on_output(output("a", "x"))
        assert [one.text for _, one in await anext(answers)] == ["x"]


async def test_closing_ends_every_answer_and_refuses_new_ones(engine):
    client = EngineClient(engine)
    with client.answer(request("a")) as answers:
        client.close()
        with pytest.raises(ApiError, match="stopped"):
            await anext(answers)
    assert engine.aborted == ["a"]
    with pytest.raises(ApiError, match="stopped"):
        client.answer(request("b"))


async def test_closing_leaves_no_cells_of_callers(engine):
    client = EngineClient(engine)
    with client.answer(request("a")) as answers:
        chat_id = answers.requests[0].chat_id
        client.on_output(Output("a", chat_id, finish_reason=FinishReason.STOP))
    client.close()
    assert engine.forgotten == [chat_id]


async def test_work_on_prompts_is_done_elsewhere_and_awaited(engine):
    assert await EngineClient(engine).use_prompts(lambda prompts: f"{prompts} used") == "prompts used"


CHAT = Request("r", "c", (Message(Role.USER, "Hi"),))
RAW = Request("r", "c", prompt=("Hi",))


def test_without_a_choice_a_request_stays_as_it_is():
    assert Defaults().applied_to(CHAT) == CHAT
    recommended = SamplingParams(temperature=0.3, seed=5)
    assert Defaults().sampling(recommended) == recommended


def test_a_choice_takes_the_place_of_the_models():
    sampling = Defaults(temperature=0.0, seed=7).sampling(SamplingParams(top_k=3))
    assert (sampling.temperature, sampling.seed, sampling.top_k) == (0.0, 7, 3)
    assert Defaults(overflow=Overflow.TRUNCATE_MIDDLE).applied_to(RAW).overflow is Overflow.TRUNCATE_MIDDLE


def test_an_answer_is_as_long_as_its_caller_says():
    defaults = Defaults(max_tokens=64)
    assert defaults.applied_to(CHAT).max_tokens == 64
    assert defaults.applied_to(Request("r", "c", prompt=("Hi",), max_tokens=80)).max_tokens == 80
    assert defaults.applied_to(Request("r", "c", prompt=("Hi",), max_tokens=0)).max_tokens == 0


def test_a_callers_template_variables_go_before_the_servers():
    defaults = Defaults(template_variables='{"enable_thinking": false, "style": "short"}')
    asked = Request("r", "c", CHAT.messages, template_variables='{"style": "long"}')
    given = json.loads(defaults.applied_to(asked).template_variables)
    assert given == {"enable_thinking": False, "style": "long"}
    assert defaults.applied_to(RAW).template_variables == ""


@pytest.mark.parametrize(
    "defaults",
    [
        Defaults(temperature=-1.0),
        Defaults(seed=2**40),
        Defaults(max_tokens=0),
        Defaults(template_variables="[1]"),
        Defaults(template_variables='{"messages": []}'),
    ],
)
def test_what_no_request_could_have_is_refused_at_the_start(defaults):
    with pytest.raises(InvalidRequestError):
        defaults.check()


async def test_every_endpoint_keeps_to_the_servers_choices():
    defaults = Defaults(max_tokens=3, seed=9)
    messages = [{"role": "user", "content": "Hi"}]
    async with serving(endless(), defaults=defaults) as served:
        for path in ("/generate", "/v1/completions"):
            _, body = await served.post(path, {"prompt": "Hi"})
            assert body["usage"]["completion_tokens"] == 3
        _, body = await served.post("/v1/chat/completions", {"messages": messages})
        assert body["usage"]["completion_tokens"] == 3
        _, body = await served.post("/completion", {"prompt": "Hi"})
        assert body["tokens_predicted"] == body["generation_settings"]["n_predict"] == 3
        assert body["generation_settings"]["seed"] == 9
