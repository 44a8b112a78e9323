"""An answer with many rounds of tool calls computes what is new, and nothing twice, on any kind of memory."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from app.chats.chat import Turn
from app.chats.tool_use import ToolRound, ToolState, ToolUse
from app.engine.engine import Engine
from app.engine.llama.loading import open_llama_backend
from app.engine.prompts.chat_worker import ChatWorker
from app.engine.prompts.message_reader import AnswerReader
from app.protocol.answer_format import AnswerFormat, ChatParams
from app.protocol.events import Triggered
from app.protocol.load import LoadParams
from app.protocol.output import AnswerMessage, FinishReason, PrefixEnd
from app.protocol.request import Request, Role
from app.protocol.sampling import SamplingParams
from tests.driver import run
from tests.effort import EFFORT
from tests.native.tiny_ggufs import write_tiny_gguf

pytestmark = pytest.mark.native

TEMPLATES = Path(__file__).parents[1] / "templates"
FAMILIES = "llama", "qwen3", "gemma3", "gemma4", "gpt-oss", "lfm2", "falcon-h1", "qwen35", "mamba2"
NUM_ROUNDS = 20 if EFFORT > 1 else 3  # each costs more than the one before
CHOICE = {"type": "object", "properties": {"warm": {"type": "boolean"}}, "required": ["warm"]}
TOOL = {"type": "function", "function": {"name": "look", "description": "Looks.", "parameters": CHOICE}}
WISHES = ChatParams(tools=json.dumps([TOOL]), parallel_tool_calls=False)
# These models write nonsense. Once a call has begun, its grammar holds: with blanks that no template would
# write, in tokens that no tokenizer would choose.
WILD = SamplingParams(
    temperature=1.5, top_k=0, top_p=1.0, min_p=0.0, logit_bias=((ord("<"), -10.0),)
)  # mostly one call
NEWLINE_FIRST = replace(WILD, logit_bias=((ord("\n"), 100.0), (ord("<"), -10.0)))
START = "Hm. <tool_call>\n"


class Rounds:
    """Asks an engine as a session does."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.chat_layer = ChatWorker()
        self.turns = [Turn(Role.USER, "How is it?"), Turn(Role.ASSISTANT, "")]
        self.num_held = 0
        self.num_asked = 0

    @property
    def rounds(self) -> list[ToolRound]:
        return self.turns[-1].rounds

    def request(self, **changes: object) -> Request:
        self.num_asked += 1
        messages = tuple(message for turn in self.turns for message in turn.messages)
        sampling = replace(WILD, seed=self.num_asked)
        asked = Request(
            f"r{self.num_asked}",
            "chat",
            messages,
            sampling,
            answer_start=START,
            chat_params=WISHES,
            is_saved=True,
        )
        return replace(asked, **changes)

    def ask(self, request: Request) -> tuple[str, AnswerFormat]:
        """The answer with its start. Fails if more of the prompt was computed than is new."""
        outputs = [output for report in run(self.engine, request).reports for output in report.outputs]
        usage = outputs[-1].usage
        num_new = usage.num_prompt_tokens - self.num_held
        assert usage.num_prompt_tokens - usage.num_cached_tokens == num_new
        # A row for each new token of the prompt, and for each of the answer but the last of one that was cut.
        num_last = outputs[-1].finish_reason is FinishReason.LENGTH
        assert usage.num_computed_tokens == num_new + usage.num_generated_tokens - num_last
        assert usage.prefix_end == (PrefixEnd.NEW_TEXT if self.num_held else PrefixEnd.NEW_CHAT)
        self.num_held = usage.num_prompt_tokens + usage.num_generated_tokens - num_last
        assert outputs[0].format
        return str(request.answer_start or "") + "".join(output.text for output in outputs), outputs[0].format

    def call(self) -> None:
        """A round."""
        text, form = self.ask(self.request())
        message = AnswerMessage().grown(AnswerReader(self.chat_layer, form.parser).read(text, is_last=True))
        uses = [ToolUse(call.id, call.name, call.arguments) for call in message.tool_calls]
        for use in uses:
            use.state, use.result = ToolState.DONE, f"It is number {self.num_asked}."
        assert uses
        self.rounds.append(ToolRound(text, message.content, message.reasoning, uses, is_whole=True))


@pytest.fixture(params=FAMILIES)
def rounds(request, tmp_path):
    template = (TEMPLATES / "Qwen-Qwen2.5-7B-Instruct.jinja").read_text()
    path = write_tiny_gguf(tmp_path / "tiny.gguf", request.param, chat_template=template, n_ctx_train=16384)
    params = LoadParams(path, n_ctx=8192, n_seq_max=2, n_threads=1, num_drafted_tokens=0)
    with open_llama_backend(params) as backend:
        engine = Engine(backend, verify=True)
        rounds = Rounds(engine)
        yield rounds
        rounds.chat_layer.close()
        engine.close()


@pytest.mark.parametrize("rounds", ["llama"], indirect=True)
def test_the_trigger_of_the_grammar_is_told(rounds) -> None:
    request = rounds.request(answer_start="Hm. <tool_call>", sampling=NEWLINE_FIRST)
    reports = run(rounds.engine, request).reports
    told = [event for report in reports for event in report.events if isinstance(event, Triggered)]
    assert [(event.chat_id, event.num_tokens) for event in told] == [("chat", 1)]


def test_many_rounds_and_the_next_turn_compute_only_new_tokens(rounds) -> None:
    for _round in range(NUM_ROUNDS):
        rounds.call()
    calls = [one.text for one in rounds.rounds]
    assert len(set(calls)) > 1
    # The end of the answer, in words, and another question.
    rounds.turns[-1].text, _format = rounds.ask(rounds.request(answer_start="", max_tokens=10))
    rounds.turns += Turn(Role.USER, "And now?"), Turn(Role.ASSISTANT, "")
    rounds.call()
    shown = rounds.engine.prompts.render(rounds.request())
    assert all(text in shown for text in calls)
