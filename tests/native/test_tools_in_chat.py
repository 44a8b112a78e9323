"""A chat's session, llama.cpp's chat layer and a real engine: a call is read, run, and answered from."""

import asyncio

import pytest

from app.bridge.engines import Engines
from app.bridge.report_router import ReportRouter
from app.bridge.workspace import Workspace
from app.chats.chat import Turn, TurnState
from app.chats.tool_use import ToolState
from app.protocol.load import LoadParams
from app.protocol.output import PrefixEnd
from app.protocol.request import Role
from app.settings.settings import Settings
from app.tools.tool import Approval, Tool
from tests.bridge.conftest import MemoryStore
from tests.bridge.tool_fakes import FakeKit
from tests.native.test_tool_rounds import CHOICE, START, TEMPLATES
from tests.native.tiny_ggufs import write_tiny_gguf

pytestmark = pytest.mark.native


async def never(_arguments, _where):
    raise AssertionError


async def test_a_call_is_written_read_run_and_answered_from(qloop, tmp_path) -> None:
    template = (TEMPLATES / "Qwen-Qwen2.5-7B-Instruct.jinja").read_text()
    path = write_tiny_gguf(tmp_path / "tiny.gguf", "qwen3", chat_template=template, n_ctx_train=16384)
    engine = Engines()
    workspace = Workspace(engine, MemoryStore(), Settings())
    ReportRouter(engine, workspace, workspace)
    kit = FakeKit(Tool("look", "Look", "Looks.", CHOICE, never, key="fake/look"))
    kit.approvals, kit.answers = (
        {"fake/look": Approval.ALWAYS},
        {"look": lambda asked: f"It is {asked['warm']}."},
    )
    workspace.tools.kit = kit
    engine.load(LoadParams(path, n_ctx=8192, n_seq_max=2, n_threads=1))
    await until(lambda: engine.model is not None)

    session = workspace.new_chat()
    session.set_tools(["fake/*"])
    # The model writes nonsense, but what has begun as a call is one: of `look`, alone, and then it ends.
    ends = await asyncio.wrap_future(engine.use_prompts(lambda prompts: prompts.end_tokens))
    bias = (ord(","), -20.0), (ord("r"), -20.0), *((end, 20.0) for end in ends)
    session.chat.max_tokens = 300
    session.chat.sampling = {"temperature": 1.0, "top_k": 0, "top_p": 1.0, "min_p": 0.0, "logit_bias": bias}
    begun = Turn(Role.ASSISTANT, START, TurnState.STOPPED)
    session.chat.add(Turn(Role.USER, "How is it?"), begun)
    session.continue_answer()
    await until(lambda: begun.rounds and begun.rounds[0].uses[0].state is ToolState.DONE)
    (use,) = begun.rounds[0].uses[:1]
    assert (use.tool, use.result.startswith("It is ")) == ("look", True)
    assert begun.rounds[0].content == "Hm. "
    await until(lambda: not session.is_busy)

    assert (len(begun.rounds), begun.state) == (1, TurnState.DONE)
    first, last = begun.rounds[0].usage, begun.usage
    assert last.prefix_end == PrefixEnd.NEW_TEXT
    assert last.num_cached_tokens == first.num_prompt_tokens + first.num_generated_tokens

    await workspace.stop_saving()
    await engine.close()


async def until(condition) -> None:
    while not condition():
        await asyncio.sleep(0.005)
