"""Three agents ask through HTTP: a clean one, one with a clock, one that mixes its tools."""

import asyncio
from dataclasses import dataclass
from typing import Any

import pytest

from app.engine.llama.loading import open_llama_backend
from app.inspector.prefix_view import num_had
from app.inspector.recording import Recording
from app.inspector.session_costs import Parting, advice_on, costs_of, session_of
from app.protocol.load import LoadParams
from app.system import paths
from tests.api.conftest import serving

pytestmark = pytest.mark.native

RULES = "Answer each question in one short sentence, and say so when you do not know. " * 12
QUESTIONS = ("What is a boat?", "And a car?", "Which is faster?", "Thank you.")


def tool(name: str) -> dict[str, Any]:
    words = {"type": "object", "properties": {"words": {"type": "string"}}}
    description = f"Search {name} for words, and return the lines that have them. " * 6
    return {"type": "function", "function": {"name": name, "description": description, "parameters": words}}


NAMES = ("files", "letters", "notes", "photos", "songs", "maps", "books", "plans")
TOOLS = [tool(name) for name in NAMES]


@dataclass
class Agent:
    name: str
    is_clocked: bool = False
    mixes: bool = False

    async def ask_all(self, served) -> list[int]:
        """The cached tokens of each answer, as it tells them."""
        history: list[dict[str, Any]] = []
        cached = []
        for turn, question in enumerate(QUESTIONS):
            clock = f"\nNow it is 12:0{turn}.\n" if self.is_clocked else "\n"
            history.append({"role": "user", "content": question})
            body: dict[str, Any] = {
                "messages": [{"role": "system", "content": f"You help.{clock}{RULES}"}, *history],
                "max_tokens": 8,
            }
            if self.mixes:
                body |= {"tools": TOOLS[turn:] + TOOLS[:turn], "tool_choice": "none"}
            status, answer = await served.post(
                "/v1/chat/completions", body, headers={"User-Agent": self.name}
            )
            assert status == 200, answer
            history.append({"role": "assistant", "content": answer["choices"][0]["message"]["content"] or ""})
            cached.append(answer["usage"]["prompt_tokens_details"]["cached_tokens"])
        return cached


CLEAN, CLOCK, MIXED = Agent("clean/1"), Agent("clock/1", is_clocked=True), Agent("mixed/1", mixes=True)


async def test_causes_are_named_and_tokens_are_those_that_callers_were_told():
    params = LoadParams(paths.starter_model(), n_ctx=12_288, n_seq_max=4, n_threads=1)
    recording = Recording()
    async with serving(open_backend=lambda _on_progress: open_llama_backend(params)) as served:
        cached = {agent.name: await agent.ask_all(served) for agent in (CLEAN, CLOCK, MIXED)}
        recording.start(served.client.model)
        recording.append(served.reports)
        prompts = [entry.what.lease for entry in recording.leases.entries]
        known = {token for lease in prompts for token in lease.prompt_ids}
        written = served.engine.use_prompts(lambda builder: builder.written(sorted(known)))
        pieces = await asyncio.wrap_future(written)
    texts = dict(zip(sorted(known), pieces, strict=True))
    found = {}
    for session in dict.fromkeys(map(session_of, prompts)):
        costs = costs_of(recording.leases.entries, session, texts)
        name = next(name for name in cached if name in session)
        assert [num_had(cost.prompt.lease) for cost in costs] == cached[name]
        found[name] = costs
        for cost in costs:
            assert sum(part.num_tokens for part in cost.parts) == len(cost.prompt.lease.prompt_ids)
            assert sum(part.num_computed for part in cost.parts) == cost.prompt.lease.num_tokens_to_compute

    def partings(name: str) -> set[Parting]:
        return {cost.place.parting for cost in found[name][1:]}

    assert partings(CLEAN.name) == {Parting.GOES_ON}
    assert advice_on(found[CLEAN.name]) == ""
    assert partings(CLOCK.name) == {Parting.LINE}
    assert "line 2 of the system prompt holds the time of day" in advice_on(found[CLOCK.name])
    assert partings(MIXED.name) == {Parting.TOOLS_MOVED}
    assert "the tools came in another order" in advice_on(found[MIXED.name])
