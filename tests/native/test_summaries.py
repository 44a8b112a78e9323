"""A chat's session on a real engine: a summary stands for its turns, as if they had never been there.

The tiny models have a token for each byte, so the question of a summary has some 600 tokens.
"""

import asyncio
from contextlib import asynccontextmanager, contextmanager

import pytest

from app.bridge import summary_writer
from app.bridge.chat_session import ChatSession
from app.bridge.engine_thread import EngineThread
from app.bridge.engines import Engines
from app.bridge.report_router import ReportRouter
from app.bridge.workspace import Workspace
from app.chats import summary
from app.chats.summary import ASKED, wish
from app.engine.llama.loading import open_llama_backend
from app.protocol.load import LoadParams
from app.protocol.output import Usage
from app.protocol.report import CellUsage
from app.protocol.request import SUMMARY, WAY, Message, Request, Role
from app.protocol.sampling import SamplingParams
from app.settings.settings import Settings
from tests.bridge.conftest import MemoryStore, until
from tests.native.oracle import Recorder, compare
from tests.native.random_engine import FEW_WORDS
from tests.native.tiny_ggufs import write_tiny_gguf

pytestmark = pytest.mark.native

FAMILIES = ["llama", "qwen2vl", "gemma2", "gemma3", "gpt-oss", "lfm2", "nemotron_h", "qwen35", "mamba"]
STEERED = {"temperature": 0.0, "logit_bias": FEW_WORDS}  # what is said has a text, and no end
NUM_ANSWERED, NUM_SUMMED_UP = 24, 64  # tokens
SHORT = ["The fair is in October.", "It needs a mill.", "Who plays?"]
TEXTS = [f"{number}. " + f"The fair needs {number} stalls and a mill. " * 24 for number in range(4)]


@pytest.fixture(scope="module")
def path_of(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ggufs")

    def path_of(family):
        path = folder / f"{family}.gguf"
        return path if path.exists() else write_tiny_gguf(path, family, n_ctx_train=16384)

    return path_of


@pytest.fixture(autouse=True)
def summaries_have_words(monkeypatch):
    """The models write nonsense without an end: it is steered, cut soon, and used as it is."""
    monkeypatch.setattr(summary, "MAX_TOKENS", NUM_SUMMED_UP)
    monkeypatch.setattr(summary_writer, "SamplingParams", lambda **_: SamplingParams(**STEERED))
    monkeypatch.setattr(summary_writer, "checked", lambda *_, **__: "")


class Talk:
    """Chats on one engine."""

    def __init__(self, path):
        self.params = LoadParams(path, n_ctx=16384, n_seq_max=4, n_threads=1, verify=True)
        self.recorder = None
        self.engine = Engines(make_thread=self._thread)
        self.workspace = Workspace(self.engine, MemoryStore(), Settings())
        ReportRouter(self.engine, self.workspace, self.workspace)
        self.engine.reported.connect(self._on_reported)
        self.cells, self.held_by, self.differences = CellUsage(0), set(), set()

    def _on_reported(self, reports):
        self.cells, self.held_by = reports[-1].cells, {slot.chat_id for slot in reports[-1].slots}
        self.differences |= {one.last_check.difference for one in reports if one.last_check}

    def _thread(self, params, parent):
        self.thread = EngineThread(params, parent, open_backend=self._opened)
        return self.thread

    @contextmanager
    def _opened(self, params, on_progress, _fit):
        with open_llama_backend(params, on_progress) as backend:
            self.recorder = Recorder(backend)
            yield backend

    async def load(self):
        self.engine.load(self.params)
        await until(lambda: self.engine.model is not None)
        self.recorder.engine = self.thread._engine._engine

    def new(self) -> ChatSession:
        session = self.workspace.new_chat()
        session.chat.system_prompt = "Be brief."
        session.chat.sampling, session.chat.max_tokens = dict(STEERED), NUM_ANSWERED
        return session

    async def ask(self, session, *texts) -> Usage:
        for text in texts:
            session.send(text)
            await until(lambda: not session.is_busy)
        return session.chat.turns[-1].usage

    async def sum_up(self, session):
        session.sum_up()
        await until(lambda: not session.summaries.is_busy)
        assert session.chat.num_summed_up()
        return session.summaries.usage

    def is_as_alone(self) -> bool:
        """Each row that was sampled so far, and our books of the cells."""
        sampled, self.recorder.sampled = self.recorder.sampled, {}
        assert compare(sampled, self.params).wrong == []
        return self.differences == {""}

    async def num_tokens(self, *messages) -> int:
        def count(prompts):
            return len(prompts.tokenize(prompts.render(Request("", "", messages))))

        return await asyncio.wrap_future(self.engine.use_prompts(count))


@asynccontextmanager
async def talking(path):
    talk = Talk(path)
    await talk.load()
    try:
        yield talk
    finally:
        await talk.workspace.stop_saving()
        await talk.engine.close()


@pytest.fixture(params=FAMILIES)
def path(request, path_of):
    return path_of(request.param)


async def test_only_the_question_is_computed_and_then_only_what_is_left(qloop, path):
    async with talking(path) as talk:
        session = talk.new()
        await talk.ask(session, *TEXTS)
        *_, answer = session.chat.turns
        usage = await talk.sum_up(session)
        # The fork has the state behind the last answer, so no model has to go back. That answer's last token
        # was never computed, and the template writes two tokens behind it.
        assert usage.num_missing_tokens == await talk.num_tokens(wish(NUM_SUMMED_UP)) + 3
        assert (
            usage.num_prompt_tokens
            == answer.usage.num_prompt_tokens + NUM_ANSWERED - 1 + usage.num_missing_tokens
        )

        first = await talk.ask(session, "And then?")
        assert first.num_cached_tokens <= await talk.num_tokens(*session.chat.messages()[:1])
        second = await talk.ask(session, "Why?")
        assert second.num_missing_tokens == await talk.num_tokens(Message(Role.USER, "Why?")) + 3

        fresh = talk.new()
        fresh.insert(Role.USER, ASKED)
        fresh.insert(Role.ASSISTANT, answer.summary.text)
        assert (await talk.ask(fresh, "And then?")).num_prompt_tokens == first.num_prompt_tokens
        assert (await talk.ask(fresh, "Why?")).num_prompt_tokens == second.num_prompt_tokens
        assert [turn.text for turn in fresh.chat.turns[2:]] == [turn.text for turn in session.chat.turns[8:]]

        session.set_summary(answer, "")
        whole = await talk.ask(session, "What was it?")
        assert whole.num_prompt_tokens == await talk.num_tokens(*session.chat.messages(-1))
        assert whole.num_prompt_tokens > usage.num_prompt_tokens - usage.num_missing_tokens
        assert talk.is_as_alone()


async def test_edited_summed_up_again_forked_and_regenerated(qloop, path):
    async with talking(path) as talk:
        session = talk.new()
        chat = session.chat
        await talk.ask(session, *SHORT)
        first = chat.turns[-1]
        await talk.sum_up(session)
        session.set_summary(first, "A fair is planned.")
        await talk.ask(session, "When is it?", "And where?")
        second = chat.turns[-1]
        assert chat.messages()[:3] == (
            Message(Role.SYSTEM, chat.system_prompt),
            Message(Role.USER, ASKED),
            Message(Role.ASSISTANT, "A fair is planned."),
        )

        before = chat.messages()
        usage = await talk.sum_up(session)
        assert usage.num_prompt_tokens == await talk.num_tokens(*before, wish(NUM_SUMMED_UP))
        assert usage.num_missing_tokens == await talk.num_tokens(wish(NUM_SUMMED_UP)) + 3
        assert [turn.summary is not None for turn in chat.turns].count(True) == 2
        await talk.ask(session, "Go on.")

        for num_turns, num_summed_up in ((5, 0), (6, 6), (8, 6), (10, 10), (None, 10)):
            fork = talk.workspace.fork(session, num_turns)
            assert fork.chat.num_summed_up() == num_summed_up
            usage = await talk.ask(fork, "And then?")
            assert usage.num_prompt_tokens == await talk.num_tokens(*fork.chat.messages(-1))
            talk.workspace.close(fork)

        for answer, num_summed_up in ((chat.turns[-1], 10), (second, 6), (first, 0)):
            session.regenerate(answer)
            await until(lambda: not session.is_busy)
            assert chat.num_summed_up() == num_summed_up
            usage = chat.turns[-1].usage
            assert usage.num_prompt_tokens == await talk.num_tokens(*chat.messages(-1))
        session.show_version(second)
        assert chat.num_summed_up() == 10
        assert talk.is_as_alone()


async def test_the_chat_goes_on_while_it_is_summed_up(qloop, path):
    async with talking(path) as talk:
        session = talk.new()
        await talk.ask(session, *SHORT)
        turn = session.chat.turns[-1]
        whole = session.chat.messages()
        session.sum_up()
        during = await talk.ask(session, "What else?")
        assert during.num_prompt_tokens == await talk.num_tokens(*whole, Message(Role.USER, "What else?"))
        assert during.num_missing_tokens == await talk.num_tokens(Message(Role.USER, "What else?")) + 3
        await until(lambda: not session.summaries.is_busy)
        assert turn.summary.is_used
        after = await talk.ask(session, "Good.")
        assert after.num_prompt_tokens < during.num_prompt_tokens
        assert talk.is_as_alone()


async def test_a_summary_that_is_stopped_leaves_no_cells(qloop, path, monkeypatch):
    monkeypatch.setattr(summary, "MAX_TOKENS", 2048)
    async with talking(path) as talk:
        session = talk.new()
        await talk.ask(session, *TEXTS)
        num_used = talk.cells.num_used
        turn = session.chat.turns[-1]
        session.sum_up()
        await until(lambda: turn.summary.text)
        fork = f"{session.chat.id}{WAY}{SUMMARY}"
        assert fork in talk.held_by
        session.stop()
        assert turn.summary is None
        await until(lambda: fork not in talk.held_by)
        assert talk.cells.num_used == num_used
        talk.recorder.sampled.clear()  # hundreds of rows of the summary
        usage = await talk.ask(session, "Why?")
        assert usage.num_missing_tokens == await talk.num_tokens(Message(Role.USER, "Why?")) + 3
        assert talk.is_as_alone()
