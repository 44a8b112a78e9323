"""/v1/embeddings, /embeddings and /v1/rerank, on a fake and on llama.cpp with a tiny BERT."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from functools import partial
from typing import Any

import aiohttp
import numpy as np
import pytest

from app.api.embeddings import normalised
from app.api.engine_client import EngineClient
from app.api.server import ApiServer
from app.api.state import TextEngines
from app.api.threaded_engine import ThreadedEngine
from app.engine.opening import OpenEmbedder, open_embedding_engine
from app.engine.turns import StepTurns
from app.protocol.errors import DecodeError, DecodeInterruptedError
from app.protocol.load import LoadParams, Pooling
from tests.api.conftest import SOON, Served, serving, until
from tests.api.one_model import OneModel
from tests.conftest import TINY_CONTEXT
from tests.fakes import CountingBackend

START, END = 256, 258  # around a text
HELLO = {"input": "Hello"}
DOCUMENTS = ["a", "bb", "ccc", "dddd"]


class FakeEmbedder(CountingBackend):
    """The vector of a text: the sum of its tokens, their number, the first one."""

    rank_template = ""

    def __init__(self, pooling: Pooling = Pooling.MEAN, **model: Any) -> None:
        super().__init__(n_embd=3, pooling=pooling, **({"n_batch": 64, "n_seq_max": 4} | model))
        self.texts: list[list[list[int]]] = []  # of each batch
        self.before_embed: Callable[[], None] = lambda: None

    def tokenize_whole(self, text: str) -> list[int]:
        return [START, *self.tokenize(text, parse_special=True), END]

    def joined(self, query: Sequence[int], document: Sequence[int]) -> list[int]:
        return [START, *query, END, *document, END]

    def embed(self, texts: Sequence[Sequence[int]]) -> list[np.ndarray]:
        self.texts.append([list(text) for text in texts])
        self.before_embed()
        if self.is_interrupted:
            raise DecodeInterruptedError("interrupted", has_begun=True)
        match self.model.pooling:
            case Pooling.NONE:
                return [np.array([[token, 1, 0] for token in text], np.float32) for text in texts]
            case Pooling.RANK:
                return [np.array([[len(text)]], np.float32) for text in texts]
        return [np.array([[sum(text), len(text), text[0]]], np.float32) for text in texts]


@contextlib.asynccontextmanager
async def serving_texts(
    embedder: Any = None, open_embedder: OpenEmbedder | None = None, turn: Any = contextlib.nullcontext
) -> AsyncIterator[Served]:
    """A server whose only model turns texts into vectors."""
    embedder = embedder or FakeEmbedder()
    opener = open_embedder or (lambda _params, _on_progress: contextlib.nullcontext(embedder))

    def open_engine(on_progress: Any, on_reports_ready: Any) -> Any:
        params = LoadParams(embedder.model.path)
        return open_embedding_engine(params, on_progress, on_reports_ready, opener, turn)

    engine = ThreadedEngine(open_engine)
    client = EngineClient(engine)
    server = ApiServer(OneModel(client), key=None)
    await server.start()
    async with aiohttp.ClientSession() as http:
        await engine.start(client.on_reports)
        try:
            yield Served(embedder, engine, client, server, http)
        finally:
            await server.stop()
            await engine.stop()


async def test_texts_are_computed_in_turns_with_other_engines():
    turns = StepTurns()

    class Watched(FakeEmbedder):
        def embed(self, texts: Any) -> Any:
            assert turns._running == "texts"
            return super().embed(texts)

    async with serving_texts(Watched(), turn=lambda: turns.turn("texts")) as served:
        await embed(served, input=["Hi", "there"])


async def embed(served: Served, **fields: Any) -> Any:
    status, body = await served.post("/v1/embeddings", fields)
    assert status == 200, body
    return body


async def test_a_vector_has_the_length_one_and_the_tokens_are_counted():
    async with serving_texts() as served:
        body = await embed(served, input="Hi")
    vector = np.array([START + END + sum(b"Hi"), 4, START], np.float32)
    assert body["data"][0].keys() == {"object", "index", "embedding"}
    assert body["data"][0]["embedding"] == pytest.approx(vector / np.linalg.norm(vector))
    assert (body["object"], body["model"]) == ("list", "fake")
    assert body["usage"] == {"prompt_tokens": 4, "total_tokens": 4}


@pytest.mark.parametrize(
    ("given", "tokens"),
    [
        ("", [[START, END]]),
        ("ab", [[START, *b"ab", END]]),
        ([12, 34], [[12, 34]]),
        ([12, "a", 34], [[12, *b"a", 34]]),
        (["a", "b"], [[START, *b"a", END], [START, *b"b", END]]),
        (["a", [12, 34]], [[START, *b"a", END], [12, 34]]),
        ([[12], [34, "a"]], [[12], [34, *b"a"]]),
        ({"prompt_string": "a"}, [[START, *b"a", END]]),
        ({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}, [[START, *b"ab", END]]),
        (
            ["a", {"prompt_string": ["b", 7]}, {"content": [{"type": "text", "text": "c"}]}],
            [[START, *b"a", END], [START, *b"b", END, 7], [START, *b"c", END]],
        ),
    ],
)
async def test_texts_have_many_forms(given, tokens):
    async with serving_texts() as served:
        body = await embed(served, input=given)
    assert [text for batch in served.backend.texts for text in batch] == tokens
    assert [one["index"] for one in body["data"]] == list(range(len(tokens)))


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({}, "input"),
        ({"input": []}, "input"),
        ({"input": [[]]}, "input"),
        ({"input": None}, "input"),
        ({"input": 5}, "input"),
        ({"input": ["a"] * 2049}, "input"),
        ({"input": [1, 100_000]}, "no token of this model"),
        ({"input": "x" * 63}, "too large: it has at least 65 tokens"),
        ({"input": ["a", "x" * 10_000]}, "too large"),
        ({"input": "a", "encoding_format": "hex"}, "encoding_format"),
        ({"input": "a", "dimensions": 4}, "dimensions: this model's vectors have 3"),
        ({"input": "a", "embd_normalize": 99}, "embd_normalize"),
        ({"input": {"prompt_string": "a", "multimodal_data": ["x"]}}, "text only"),
        ({"input": {"content": "a"}}, "input"),
        ({"input": {"content": [{"type": "image_url", "image_url": {"url": "x"}}]}}, "input"),
    ],
)
async def test_what_cannot_be_embedded_is_refused(fields, message):
    async with serving_texts() as served:
        status, body = await served.post("/v1/embeddings", fields)
        assert status == 400
        assert message in body["error"]["message"]
        await embed(served, input="a")


async def test_more_texts_than_a_batch_holds_come_in_order():
    texts = ["x" * (1 + at % 20) for at in range(100)]
    async with serving_texts() as served:
        together = await embed(served, input=texts)
        alone = [(await embed(served, input=text))["data"][0]["embedding"] for text in texts[:20]]
    batches = served.backend.texts
    assert [one["embedding"] for one in together["data"]] == alone * 5
    assert all(sum(map(len, batch)) <= 64 and len(batch) <= 4 for batch in batches)
    assert max(map(len, batches)) > 1


async def test_numbers_can_come_as_base64_or_cut_or_as_they_are():
    async with serving_texts() as served:
        usual = (await embed(served, input="Hi"))["data"][0]["embedding"]
        packed = (await embed(served, input="Hi", encoding_format="base64"))["data"][0]["embedding"]
        cut = (await embed(served, input="Hi", dimensions=2))["data"][0]["embedding"]
        raw = (await embed(served, input="Hi", embd_normalize=-1))["data"][0]["embedding"]
    assert np.frombuffer(base64.b64decode(packed), "<f4").tolist() == usual
    assert (len(cut), np.linalg.norm(cut)) == (2, pytest.approx(1.0))
    assert raw == [START + END + sum(b"Hi"), 4, START]


def test_norms_are_llama_servers():
    rows = np.array([[3.0, -4.0], [0.0, 0.0]], np.float32)
    assert normalised(rows, -1).tolist() == rows.tolist()
    assert normalised(rows, 0)[0].tolist() == [24570.0, -32760.0]
    assert normalised(rows, 1)[0] == pytest.approx([3 / 7, -4 / 7])
    assert normalised(rows, 2)[0] == pytest.approx([0.6, -0.8])
    assert normalised(rows, 3)[0] == pytest.approx(np.array([3, -4]) / 91 ** (1 / 3))
    assert not normalised(rows, 2)[1].any()


async def test_llama_servers_own_form_has_rows():
    async with serving_texts() as served:
        _, listed = await served.post("/embeddings", {"input": ["a", "b"]})
        _, same = await served.post("/embedding", {"content": ["a", "b"]})
        _, openai = await served.post("/v1/embeddings", {"content": ["a", "b"]})
    assert listed == same == openai
    assert [one["index"] for one in listed] == [0, 1]
    assert [len(one["embedding"]) for one in listed] == [1, 1]


async def test_without_pooling_each_token_has_its_vector_and_openais_form_has_no_place_for_it():
    async with serving_texts(FakeEmbedder(Pooling.NONE)) as served:
        _, body = await served.post("/embeddings", {"input": "Hi"})
        status, refusal = await served.post("/v1/embeddings", {"input": "Hi"})
    assert body[0]["embedding"] == [[START, 1, 0], [ord("H"), 1, 0], [ord("i"), 1, 0], [END, 1, 0]]
    assert status == 400
    assert "ask /embeddings" in refusal["error"]["message"]


# Ranking.


async def test_documents_are_ranked_by_how_well_they_answer():
    async with serving_texts(FakeEmbedder(Pooling.RANK)) as served:
        _, body = await served.post("/v1/rerank", {"query": "?", "documents": DOCUMENTS})
        _, best = await served.post("/rerank", {"query": "?", "documents": DOCUMENTS, "top_n": 2})
        _, all_there = await served.post("/reranking", {"query": "?", "documents": DOCUMENTS, "top_n": 99})
    assert served.backend.texts[0][0] == [START, *b"?", END, *b"a", END]
    assert [result["index"] for result in body["results"]] == [3, 2, 1, 0]
    assert body["results"][0]["relevance_score"] == 8.0
    assert body["usage"] == {"prompt_tokens": 4 * 4 + 10, "total_tokens": 4 * 4 + 10}
    assert best["results"] == body["results"][:2]
    assert all_there["results"] == body["results"]


async def test_hugging_faces_form_is_a_list():
    async with serving_texts(FakeEmbedder(Pooling.RANK)) as served:
        _, body = await served.post(
            "/rerank", {"query": "?", "texts": DOCUMENTS, "return_text": True, "top_n": 1}
        )
    assert body == [{"index": 3, "score": 8.0, "text": "dddd"}]


@pytest.mark.parametrize("documents", [[], None, 123, [1, 2, 3], ["x" * 100]])
async def test_what_cannot_be_ranked_is_refused(documents):
    async with serving_texts(FakeEmbedder(Pooling.RANK)) as served:
        status, _ = await served.post("/rerank", {"query": "?", "documents": documents})
    assert status == 400


# Which model does what.


async def test_a_chat_model_says_where_embeddings_and_ranks_come_from():
    async with serving() as served:
        for path, fields, option in (
            ("/v1/embeddings", HELLO, "--embedding-model"),
            ("/embedding", HELLO, "--embedding-model"),
            ("/v1/rerank", {"query": "?", "documents": ["a"]}, "--rerank-model"),
        ):
            status, body = await served.post(path, fields)
            assert (status, option in body["error"]["message"]) == (400, True)


async def test_an_embedder_writes_no_answers_and_a_reranker_makes_no_embeddings():
    messages = [{"role": "user", "content": "Hi"}]
    async with serving_texts() as served:
        status, body = await served.post("/v1/chat/completions", {"messages": messages})
        assert status == 400
        assert "ask a chat model" in body["error"]["message"]
        status, _ = await served.post("/rerank", {"query": "?", "documents": ["a"]})
        assert status == 400
    async with serving_texts(FakeEmbedder(Pooling.RANK)) as served:
        status, body = await served.post("/v1/embeddings", HELLO)
        assert status == 400
        assert "/v1/rerank" in body["error"]["message"]


async def test_an_embedder_is_described_as_any_model():
    async with serving_texts() as served:
        _, models = await served.get("/v1/models")
        assert models["data"][0]["meta"]["n_embd"] == 3
        for path in ("/health", "/props", "/slots"):
            status, _ = await served.get(path)
            assert status == 200
        await embed(served, input=["a", "b"])
        async with served.http.get(served.server.address + "/metrics") as response:
            text = await response.text()
        _, tokens = await served.post("/tokenize", {"content": "Hi"})
    assert tokens["tokens"] == list(b"Hi")
    values = dict(line.split(" ") for line in text.splitlines() if line.startswith("llamacpp:"))
    assert values["llamacpp:prompt_tokens_total"] == "6"
    assert float(values["llamacpp:n_decode_total"]) > 0
    assert values["llamacpp:tokens_predicted_total"] == "0"


async def test_ollamas_clients_get_the_same_vectors():
    async with serving_texts() as served:
        _, same = await served.post("/v1/embeddings", {"input": ["Hello", "b"]})
        status, body = await served.post("/api/embed", {"model": "any", "input": ["Hello", "b"]})
        assert status == 200
        assert body["embeddings"] == [one["embedding"] for one in same["data"]]
        assert body["prompt_eval_count"] == same["usage"]["prompt_tokens"]
        assert body["model"] == same["model"]
        _, old = await served.post("/api/embeddings", {"model": "any", "prompt": "Hello"})
        assert old == {"embedding": body["embeddings"][0]}
        (listed,) = (await served.get("/api/tags"))[1]["models"]
        _, shown = await served.post("/api/show", {"model": listed["name"]})
        assert shown["capabilities"] == ["embedding"]
        assert shown["model_info"][f"{shown['details']['family']}.embedding_length"] == 3


async def test_ollamas_clients_may_send_nothing_or_too_much():
    async with serving_texts() as served:
        for nothing in ({}, {"input": None}, {"input": ""}, {"input": []}):
            status, body = await served.post("/api/embed", {"model": "any"} | nothing)
            assert (status, body["embeddings"], body["prompt_eval_count"]) == (200, [], 0)
        for nothing in ({}, {"prompt": None}, {"prompt": ""}):
            assert await served.post("/api/embeddings", nothing) == (200, {"embedding": []})
        for text in ("b" * 63, "b" * 1_000_000 + " b"):
            for more in ({}, {"truncate": None}, {"truncate": True, "dimensions": 0}):
                status, body = await served.post("/api/embed", {"input": [text, "c"]} | more)
                assert (status, len(body["embeddings"])) == (200, 2)
                computed = [text for batch in served.backend.texts for text in batch]
                assert computed[-2:] == [[START, *b"b" * 62, END], [START, *b"c", END]]
            assert (await served.post("/api/embeddings", {"prompt": text}))[0] == 200
            status, body = await served.post("/api/embed", {"input": text, "truncate": False})
            assert (status, "too large" in body["error"]) == (400, True)


async def test_a_chat_model_and_an_embedder_are_served_beside_each_other():
    async with serving_texts() as texts:
        engines = TextEngines(OneModel(texts.client))
        async with serving(CountingBackend(**TINY_CONTEXT), text_engines=engines) as served:
            status, _ = await served.post("/generate", {"prompt": "Hi", "max_tokens": 2})
            assert status == 200
            assert len((await embed(served, **HELLO))["data"]) == 1
            _, models = await served.get("/v1/models")
    assert [len(models["data"]), "n_embd" in models["data"][0]["meta"]] == [2, False]


# Trouble.


async def test_a_caller_that_leaves_takes_its_waiting_texts_along():
    embedder, may_go_on = FakeEmbedder(n_seq_max=1), threading.Event()
    embedder.before_embed = lambda: may_go_on.wait(SOON)  # type: ignore[assignment]
    async with serving_texts(embedder) as served:
        leaving = asyncio.ensure_future(embed(served, input=["a"] * 30))
        await until(lambda: bool(embedder.texts))
        leaving.cancel()
        await until(lambda: served.client.num_open == 0)
        may_go_on.set()
        await embed(served, input="b")
    assert len(embedder.texts) <= 3


async def test_two_callers_take_turns():
    embedder = FakeEmbedder(n_seq_max=1)
    async with serving_texts(embedder) as served:
        many = asyncio.ensure_future(embed(served, input=["a"] * 200))
        await until(lambda: bool(embedder.texts))
        await embed(served, input="b")
        assert not many.done()
        await many


async def test_a_vector_that_is_no_number_ends_its_own_request():
    embedder = FakeEmbedder()
    async with serving_texts(embedder) as served:
        right = embedder.embed
        embedder.embed = lambda texts: [np.full((1, 3), np.nan, np.float32) for _text in texts]  # type: ignore[method-assign]
        status, body = await served.post("/v1/embeddings", HELLO)
        assert (status, "no usable vector" in body["error"]["message"]) == (400, True)
        embedder.embed = right  # type: ignore[method-assign]
        await embed(served, **HELLO)


async def test_a_failed_step_ends_every_request_and_the_engine():
    embedder = FakeEmbedder()

    def fail() -> None:
        raise DecodeError("the step failed")

    embedder.before_embed = fail
    async with serving_texts(embedder) as served:
        status, body = await served.post("/v1/embeddings", HELLO)
        assert status == 500
        assert "the step failed" in body["error"]["message"]
        await until(served.engine.ended.done)
        assert isinstance(served.engine.ended.result(), DecodeError)


async def test_it_stops_in_the_middle_of_a_batch():
    embedder = FakeEmbedder()

    async with serving_texts(embedder) as served:
        embedder.before_embed = lambda: until_interrupted(embedder)
        waiting = asyncio.ensure_future(served.post("/v1/embeddings", HELLO))
        await until(lambda: bool(embedder.texts))
        await served.engine.stop()
        status, _ = await waiting
    assert status == 503


def until_interrupted(embedder: FakeEmbedder) -> None:
    pause = threading.Event()
    while not embedder.is_interrupted:
        pause.wait(0.001)


@pytest.mark.native
async def test_a_tiny_bert_answers_openais_client(tiny_gguf):
    from openai import AsyncOpenAI

    from app.engine.llama.embedder import open_llama_embedder

    params = LoadParams(tiny_gguf("bert"), n_threads=1, embeds=True)

    def opener(_params: LoadParams, on_progress: Callable[[float], bool]) -> Any:
        return open_llama_embedder(params, on_progress)

    async with serving_texts(open_embedder=opener) as served:
        client = AsyncOpenAI(api_key="x", base_url=f"{served.server.address}/v1")
        async with client:
            embeddings = partial(client.embeddings.create, model="any")
            first = await embeddings(input="Hello")  # as base64, which this client asks for
            second = await embeddings(input=["Hello", "another"], encoding_format="float")
    assert np.linalg.norm(first.data[0].embedding) == pytest.approx(1.0, abs=1e-5)
    assert first.data[0].embedding == pytest.approx(second.data[0].embedding, abs=1e-4)
    assert second.data[1].embedding != pytest.approx(second.data[0].embedding, abs=1e-2)
