"""With llama-cpp-python as it is published, without llama.cpp's chat layer."""

import pytest

from app.engine.prompts import message_reader
from app.system import worker
from tests.api.conftest import serving
from tests.api.parrot import QWEN3, SCHEMA, THOUGHT, Parrot, with_tools

PATH = "/v1/chat/completions"
ASKED = {"messages": [{"role": "user", "content": "Hello"}], "temperature": 0}
TOOLS = {"tools": [{"type": "function", "function": {"name": "add", "parameters": {"type": "object"}}}]}
WISHES = (
    TOOLS,
    {"response_format": {"type": "json_schema", "json_schema": {"schema": SCHEMA}}},
    {"json_schema": SCHEMA},
)


@pytest.fixture(autouse=True)
def plain_library(monkeypatch):
    command = worker.command

    def plain(module: str, *arguments: object) -> list[str]:
        return command(
            "tests.engine.prompts.plain_chat_child" if module == "app.engine.prompts.chat_child" else module,
            *arguments,
        )

    monkeypatch.setattr(worker, "command", plain)
    monkeypatch.setattr(message_reader, "library_path", lambda: None)


async def test_templates_work_and_answers_are_text():
    async with serving(with_tools(f"{THOUGHT}Hi.", QWEN3)) as served:
        _, body = await served.post("/apply-template", ASKED)
        assert body["prompt"] == "<|im_start|>user\nHello<|im_end|>\n<|im_start|>assistant\n"
        _, body = await served.post(PATH, ASKED)
        assert body["choices"][0]["message"]["content"] == f"{THOUGHT}Hi."
        *events, _done = await served.events(PATH, ASKED)
        texts = [event["choices"][0]["delta"].get("content") or "" for event in events]
        assert "".join(texts) == f"{THOUGHT}Hi."


@pytest.mark.parametrize("template", [QWEN3, None], ids=["with a template", "without"])
@pytest.mark.parametrize("wished", WISHES, ids=min)
async def test_tools_and_schemas_are_refused_with_what_to_do(template, wished):
    async with serving(Parrot("Hi.", template)) as served:
        status, body = await served.post(PATH, ASKED | wished)
        assert status == 400
        assert "Set Skein up again with packaging/run" in body["error"]["message"]
