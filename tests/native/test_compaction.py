"""A chat that is summed up over HTTP computes what is new, by the real library."""

import pytest

from app.engine.llama.loading import open_llama_backend
from app.protocol.load import LoadParams
from app.system import paths
from tests.api.conftest import serving

pytestmark = pytest.mark.native

PATH = "/v1/messages"
EDIT = {"type": "compact_20260112", "trigger": {"type": "input_tokens", "value": 200}}
FEW = 50  # tokens: "Go on.", a short answer and a short question, in the template's words
ASKED = {"role": "user", "content": "What is 2 + 2?"}
CHAT = {
    "messages": [
        {"role": "user", "content": "They met in the old town. " * 60},
        {"role": "assistant", "content": "I see."},
        ASKED,
    ],
    "system": "You are kind. " * 10,
    "tools": [{"name": "look", "description": "Looks around.", "input_schema": {"type": "object"}}],
    "max_tokens": 20,
    "temperature": 0,
}


async def test_only_question_and_summary_are_computed_and_then_what_is_new():
    params = LoadParams(paths.starter_model(), n_ctx=4096, n_seq_max=4, n_threads=1)
    async with serving(open_backend=lambda _on_progress: open_llama_backend(params)) as served:
        _, body = await served.post(PATH, CHAT)
        num_tokens = body["usage"]["input_tokens"]
        edits = {"context_management": {"edits": [EDIT]}}
        _, body = await served.post(PATH, CHAT | edits)
        compaction, _text = body["content"]
        assert compaction["content"]
        summed_up, answered = body["usage"]["iterations"]
        assert summed_up["cache_read_input_tokens"] > num_tokens - 10
        assert summed_up["input_tokens"] < 150  # the question alone has 130
        kept = answered["cache_read_input_tokens"]  # system prompt and tools: the first part of all prompts
        assert num_tokens > 500 > kept > 80
        messages = [*CHAT["messages"], {"role": "assistant", "content": body["content"]}, ASKED]
        _, body = await served.post(PATH, CHAT | edits | {"messages": messages})
        assert [block["type"] for block in body["content"]] == ["text"]
        assert body["usage"]["input_tokens"] < FEW
        assert body["usage"]["cache_read_input_tokens"] > kept + summed_up["output_tokens"]


async def test_a_compacted_response_is_gone_on_with_from_its_summary():
    params = LoadParams(paths.starter_model(), n_ctx=4096, n_seq_max=4, n_threads=1)
    async with serving(open_backend=lambda _on_progress: open_llama_backend(params)) as served:
        _, first = await served.post("/v1/responses", {"input": CHAT["messages"], "temperature": 0})
        beyond = [{"type": "compaction", "compact_threshold": 200}]
        asked = {"input": CHAT["messages"], "context_management": beyond, "temperature": 0}
        _, body = await served.post("/v1/responses", asked)
        assert [item["type"] for item in body["output"]] == ["compaction", "message"]
        usage = body["usage"]
        assert usage["input_tokens"] < first["usage"]["input_tokens"] / 4
        follow = {"input": "What is 3 + 3?", "previous_response_id": body["id"], "temperature": 0}
        _, body = await served.post("/v1/responses", follow)
        assert body["usage"]["input_tokens_details"]["cached_tokens"] >= usage["input_tokens"]
