"""A server's model behind our own API, and in the window's engine thread."""

from __future__ import annotations

from functools import partial

from app.bridge.engine_thread import EngineThread
from app.protocol.commands import Submit
from app.protocol.request import Request
from app.remote.opening import open_remote
from tests.api.conftest import serving, until
from tests.remote.fake_server import FakeServer, call, text, usage
from tests.remote.test_openai_engine import HELLO, params

ASKED = {"messages": [{"role": "user", "content": "Hello"}]}


def answer() -> list:
    calls = [call(0, "look", '{"x": 1}', "a1"), text(reason="tool_calls")]
    return [text(reasoning_content="Hm."), text("I look."), *calls, usage(12, 5)]


async def test_thinking_and_calls_are_passed_on_as_their_server_has_read_them():
    fake = FakeServer()
    fake.answers = [answer(), answer()]
    tools = [{"type": "function", "function": {"name": "look", "parameters": {}}}]
    async with fake.running(), serving(open_engine=partial(open_remote, params(fake))) as served:
        status, whole = await served.post("/v1/chat/completions", ASKED | {"tools": tools})
        events = await served.events("/v1/chat/completions", ASKED | {"tools": tools})
    assert status == 200
    [choice] = whole["choices"]
    assert choice["finish_reason"] == "tool_calls"
    message = choice["message"]
    assert (message["reasoning_content"], message["content"]) == ("Hm.", "I look.")
    assert message["tool_calls"][0]["function"] == {"name": "look", "arguments": '{"x": 1}'}
    deltas = [event["choices"][0]["delta"] for event in events[:-1] if event["choices"]]
    assert "".join(delta.get("content") or "" for delta in deltas) == "I look."
    assert "".join(delta.get("reasoning_content") or "" for delta in deltas) == "Hm."
    assert fake.bodies[0]["tools"][0]["function"]["name"] == "look"


async def test_a_window_has_it_on_an_engine_thread_as_any_other(qloop):
    fake = FakeServer()
    fake.answers = [answer()]
    async with fake.running():
        thread, models = EngineThread(params(fake)), []
        thread.loaded.connect(models.append)
        thread.start()
        await until(lambda: bool(models))
        thread.post(Submit(Request("r", "c", HELLO)))
        outputs: list = []

        def has_ended() -> bool:
            outputs.extend(one for report in thread.take_reports() for one in report.outputs)
            return bool(outputs) and outputs[-1].finish_reason is not None

        await until(has_ended)
        thread.stop()
        assert thread.wait(5000)
        thread.let_go()
    assert models[0].server == fake.url
    assert "".join(output.text for output in outputs) == "<think>\nHm.\n</think>\n\nI look."
