"""Tasks that a model hands out, on a real engine: each computes its own words, whatever the chat has."""

import asyncio
import json

import pytest

from app.chats.chat import Turn, TurnState
from app.chats.tasks import DELEGATE, TOLD, tasks_of
from app.chats.tool_use import Decision, ToolState
from app.protocol.request import Role
from app.tools.delegate import delegate_tool
from tests.bridge.conftest import until
from tests.bridge.tool_fakes import FakeKit
from tests.native.test_summaries import STEERED, talking
from tests.native.test_tool_rounds import TEMPLATES
from tests.native.tiny_ggufs import write_tiny_gguf

pytestmark = pytest.mark.native

FAMILIES = ["llama", "qwen2vl", "gemma2", "gemma3", "gpt-oss", "lfm2", "nemotron_h", "qwen35", "mamba"]
TRUNK = (
    "The fair needs twelve stalls and a mill. " * 50
)  # 2,050 tokens: the tiny models have one for each byte
TASKS = ["Count the stalls.", "Name the mills.", "Find a month.", "Who plays?"]
CALL = json.dumps({"name": DELEGATE, "arguments": {"tasks": TASKS}})
TEMPLATE_TOKENS = 64  # of a task, around its words


@pytest.fixture(params=FAMILIES)
def path(request, tmp_path):
    template = (TEMPLATES / "Qwen-Qwen2.5-7B-Instruct.jinja").read_text()
    return write_tiny_gguf(
        tmp_path / f"{request.param}.gguf", request.param, chat_template=template, n_ctx_train=16384
    )


async def handed_out(talk):
    """A chat whose model has written the call, which now asks."""
    talk.workspace.tools.kit = FakeKit(delegate_tool())
    session = talk.new()
    session.set_tools(["skein/*"])
    ends = await asyncio.wrap_future(talk.engine.use_prompts(lambda prompts: prompts.end_tokens))
    session.chat.sampling = {"temperature": 0.0, "logit_bias": tuple((end, 50.0) for end in ends)}
    written = f"<tool_call>\n{CALL}\n</tool_call>"
    session.chat.add(Turn(Role.USER, TRUNK), Turn(Role.ASSISTANT, written, TurnState.STOPPED))
    session.continue_answer()
    answer = session.chat.turns[-1]
    await until(lambda: answer.rounds and answer.rounds[0].uses[0].state is ToolState.ASKING)
    session.chat.sampling = dict(STEERED)
    return session, answer, answer.rounds[0].uses[0]


async def test_each_task_computes_its_own_words(qloop, path):
    async with talking(path) as talk:
        session, answer, use = await handed_out(talk)
        trunk = answer.rounds[0].usage
        session.decide(use, Decision.ONCE)
        await until(lambda: not session.is_busy)
        assert use.state is ToolState.DONE
        tasks = tasks_of(use, answer, session.chat.versions_of(answer))
        for number, (task, turn) in enumerate(zip(TASKS, tasks, strict=True), start=1):
            told = TOLD.format(number=number, total=len(TASKS), task=task)
            assert turn.usage.num_computed_prompt_tokens <= len(told) + TEMPLATE_TOKENS
            assert turn.usage.num_prompt_tokens > trunk.num_prompt_tokens + trunk.num_generated_tokens
            assert turn.text
            assert f"Task {number}: {task}\n{turn.text.strip()}" in use.result
        rest = answer.usage.num_prompt_tokens - trunk.num_prompt_tokens - trunk.num_generated_tokens
        assert answer.usage.num_computed_prompt_tokens <= rest + 1
        assert talk.is_as_alone()
        assert talk.held_by <= {session.chat.id, None}


async def test_nothing_is_computed_after_the_chat_was_stopped(qloop, path_of_llama):
    async with talking(path_of_llama) as talk:
        session, answer, use = await handed_out(talk)
        session.chat.max_tokens = 10_000
        session.decide(use, Decision.ONCE)
        tasks = []
        await until(lambda: len(tasks_of(use, answer, session.chat.versions_of(answer))) == len(TASKS))
        tasks = tasks_of(use, answer, session.chat.versions_of(answer))
        await until(lambda: all(turn.text for turn in tasks))
        session.stop()
        await until(lambda: not session.is_busy)
        num_tokens = [turn.usage.num_generated_tokens for turn in tasks]
        num_steps = len(talk.recorder.sampled)
        await asyncio.sleep(0.3)
        assert len(talk.recorder.sampled) == num_steps
        assert [turn.usage.num_generated_tokens for turn in tasks] == num_tokens
        assert [turn.state for turn in (answer, *tasks)] == [TurnState.STOPPED] * 5
        assert use.state is ToolState.STOPPED


@pytest.fixture
def path_of_llama(tmp_path):
    template = (TEMPLATES / "Qwen-Qwen2.5-7B-Instruct.jinja").read_text()
    return write_tiny_gguf(tmp_path / "llama.gguf", "llama", chat_template=template, n_ctx_train=16384)
