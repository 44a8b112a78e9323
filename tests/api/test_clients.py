"""What people use: the clients of OpenAI, Anthropic and Ollama, and curl, on the starter model."""

import asyncio
import contextlib
import json
import re
from collections.abc import AsyncIterator, Iterator
from typing import Any

import anthropic
import ollama
import openai
import pydantic
import pytest

from app.engine.llama.backend import LlamaBackend
from app.engine.llama.loading import open_llama_backend
from app.protocol.load import LoadParams
from app.system import paths
from tests.api.conftest import KEY, Served, serving, until
from tests.api.parrot import CALL, with_tools
from tests.api.test_model_router import Library, serving_many

pytestmark = pytest.mark.native

WHO = [{"role": "user", "content": "Who?"}]
SUM = [{"role": "user", "content": "What is 2 + 2?"}]


@contextlib.asynccontextmanager
async def starter() -> AsyncIterator[Served]:
    @contextlib.contextmanager
    def open_starter(_on_progress: object) -> Iterator[LlamaBackend]:
        params = LoadParams(paths.starter_model(), n_ctx=4096, n_seq_max=4, n_threads=1)
        with open_llama_backend(params) as backend:
            yield backend

    async with serving(open_backend=open_starter) as served:
        yield served


@contextlib.asynccontextmanager
async def openai_client(served: Served) -> AsyncIterator[openai.AsyncOpenAI]:
    address = f"{served.server.address}/v1"
    async with openai.AsyncOpenAI(base_url=address, api_key=KEY, max_retries=0) as client:
        yield client


@contextlib.asynccontextmanager
async def anthropic_client(served: Served) -> AsyncIterator[anthropic.AsyncAnthropic]:
    async with anthropic.AsyncAnthropic(base_url=served.server.address, api_key=KEY, max_retries=0) as client:
        yield client


@contextlib.asynccontextmanager
async def ollama_client(served: Served) -> AsyncIterator[ollama.AsyncClient]:
    async with ollama.AsyncClient(
        served.server.address, headers={"Authorization": f"Bearer {KEY}"}
    ) as client:
        yield client


async def shell(served: Served, script: str) -> str:
    """What a bash script prints; it knows the server as $url and has the header with the $key."""
    process = await asyncio.create_subprocess_exec(
        "bash",
        "-euc",
        f"url={served.server.address}\nkey='X-Api-Key: {KEY}'\n{script}",
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await process.communicate()
    assert process.returncode == 0, (out, err)
    return out.decode()


def prompt_of(text: str) -> str:
    return json.dumps(
        {"prompt": f"<|im_start|>user\n{text}<|im_end|>\n<|im_start|>assistant\n", "max_tokens": 24}
    )


async def nothing_more_is_computed(served: Served) -> None:
    await until(served.is_idle)
    num_steps = served.num_steps
    await shell(served, 'curl -sSfH "$key" $url/health')
    assert served.num_steps == num_steps


class TestOpenAi:
    async def test_models_are_listed(self):
        async with starter() as served, openai_client(served) as client:
            (model,) = (await client.models.list()).data
            assert (await client.models.retrieve(model.id)).id == model.id

    async def test_a_chat_is_answered_whole_and_streamed(self):
        async with starter() as served, openai_client(served) as client:
            whole = await client.chat.completions.create(model="any", messages=SUM)
            assert "4" in whole.choices[0].message.content
            assert whole.choices[0].finish_reason == "stop"
            stream = await client.chat.completions.create(
                model="any", messages=SUM, stream=True, stream_options={"include_usage": True}
            )
            chunks = [chunk async for chunk in stream]
            text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
            assert text == whole.choices[0].message.content
            assert chunks[-1].usage.completion_tokens == whole.usage.completion_tokens
            assert chunks[-1].usage.prompt_tokens_details.cached_tokens > 0

    async def test_what_it_reads_beside_the_text(self):
        async with starter() as served, openai_client(served) as client:
            answer = await client.chat.completions.create(
                model="any", messages=SUM, n=2, seed=1, logprobs=True, top_logprobs=2, stop=["\n"]
            )
            for choice in answer.choices:
                assert "".join(token.token for token in choice.logprobs.content) == choice.message.content
                assert len(choice.logprobs.content[0].top_logprobs) == 2
            raw = await client.completions.create(model="any", prompt=["1 + 1 =", "2 + 2 ="], max_tokens=4)
            assert [choice.index for choice in raw.choices] == [0, 1]

    async def test_an_answer_follows_a_schema(self):
        schema = {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}
        wish: Any = {"type": "json_schema", "json_schema": {"name": "it", "schema": schema}}
        async with starter() as served, openai_client(served) as client:
            answer = await client.chat.completions.create(model="any", messages=SUM, response_format=wish)
            assert json.loads(answer.choices[0].message.content)["ok"] in (True, False)

    async def test_a_tool_that_must_be_called_is_called(self):
        """By a model that knows the form of its calls: before them, llama.cpp's grammar allows any text."""
        number = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
        tools: Any = [
            {"type": "function", "function": {"name": name, "parameters": number}} for name in ("add", "down")
        ]
        choice: Any = {"type": "function", "function": {"name": "add"}}
        for wish in ("required", choice):
            async with serving(with_tools(CALL)) as served, openai_client(served) as client:
                answer = await client.chat.completions.create(
                    model="any", messages=SUM, tools=tools, tool_choice=wish
                )
                assert answer.choices[0].finish_reason == "tool_calls"
                (call,) = answer.choices[0].message.tool_calls
                assert call.function.name == "add"
                assert isinstance(json.loads(call.function.arguments)["a"], int)

    async def test_errors_become_its_own(self):
        async with starter() as served, openai_client(served) as client:
            with pytest.raises(openai.BadRequestError, match="temperature must be between"):
                await client.chat.completions.create(model="any", messages=SUM, temperature=-1)
            long: Any = [{"role": "user", "content": "word " * 5000}]
            with pytest.raises(openai.BadRequestError, match="tokens"):
                await client.chat.completions.create(model="any", messages=long, stream=True)
            with pytest.raises(openai.AuthenticationError):
                await client.with_options(api_key="wrong").models.list()
            with pytest.raises(openai.NotFoundError):
                await client.models.retrieve("another")

    async def test_leaving_a_stream_ends_the_answer(self):
        async with starter() as served, openai_client(served) as client:
            stream = await client.chat.completions.create(
                model="any", messages=SUM, stream=True, extra_body={"ignore_eos": True}
            )
            await anext(aiter(stream))
            await stream.close()
            await until(lambda: served.client.num_open == 0)
            await nothing_more_is_computed(served)


class TestOpenAiResponses:
    async def test_an_answer_whole_and_streamed(self):
        async with starter() as served, openai_client(served) as client:
            whole = await client.responses.create(model="any", input="What is 2 + 2?")
            assert "4" in whole.output_text
            assert whole.status == "completed"
            async with client.responses.stream(model="any", input="What is 2 + 2?") as stream:
                text = "".join(
                    [one.delta async for one in stream if one.type == "response.output_text.delta"]
                )
                final = await stream.get_final_response()
            assert text == final.output_text == whole.output_text
            assert final.usage.output_tokens == whole.usage.output_tokens
            assert final.usage.input_tokens_details.cached_tokens > 0

    async def test_a_chat_goes_on_by_its_id(self):
        async with starter() as served, openai_client(served) as client:
            first = await client.responses.create(model="any", input="What is 2 + 2?")
            second = await client.responses.create(
                model="any", input="What is 3 + 4?", previous_response_id=first.id
            )
            assert "7" in second.output_text
            assert second.usage.input_tokens_details.cached_tokens >= first.usage.total_tokens - 1
            assert (await client.responses.retrieve(first.id)).output_text == first.output_text
            await client.responses.delete(first.id)
            with pytest.raises(openai.NotFoundError):
                await client.responses.retrieve(first.id)

    async def test_an_answer_is_parsed_into_a_class(self):
        class Verdict(pydantic.BaseModel):
            ok: bool

        async with starter() as served, openai_client(served) as client:
            answer = await client.responses.parse(model="any", input="What is 2 + 2?", text_format=Verdict)
            assert isinstance(answer.output_parsed, Verdict)

    async def test_a_function_is_called_and_its_result_read(self):
        tools: Any = [{"type": "function", "name": "add", "parameters": {"type": "object"}, "strict": False}]
        asked: Any = {"role": "user", "content": "What is 2 + 2?"}
        async with serving(with_tools(CALL)) as served, openai_client(served) as client:
            answer = await client.responses.create(model="any", input=[asked], tools=tools)
            text, call = answer.output
            assert (text.type, call.type, call.name) == ("message", "function_call", "add")
            assert json.loads(call.arguments) == {"a": 1}
            async with client.responses.stream(model="any", input=[asked], tools=tools) as stream:
                kinds = [one.type async for one in stream]
                final = await stream.get_final_response()
            assert "response.function_call_arguments.done" in kinds
            assert json.loads(final.output[1].arguments) == {"a": 1}
        async with serving(with_tools("It is 4.")) as served, openai_client(served) as client:
            result: Any = {"type": "function_call_output", "call_id": call.call_id, "output": "4"}
            turns: Any = [asked, *answer.output, result]
            answer = await client.responses.create(model="any", input=turns, tools=tools)
            assert answer.output_text == "It is 4."

    async def test_errors_become_its_own(self):
        async with starter() as served, openai_client(served) as client:
            with pytest.raises(openai.BadRequestError, match="temperature must be between"):
                await client.responses.create(model="any", input="x", temperature=-1)
            with pytest.raises(openai.BadRequestError, match="tokens"):
                await client.responses.create(model="any", input="word " * 5000, stream=True)


class TestAnthropic:
    async def test_an_answer_whole_and_streamed(self):
        async with starter() as served, anthropic_client(served) as client:
            whole = await client.messages.create(model="any", max_tokens=50, messages=SUM)
            assert "4" in whole.content[0].text
            assert whole.stop_reason == "end_turn"
            async with client.messages.stream(model="any", max_tokens=50, messages=SUM) as stream:
                text = "".join([text async for text in stream.text_stream])
                final = await stream.get_final_message()
            assert text == final.content[0].text == whole.content[0].text
            assert final.usage.output_tokens == whole.usage.output_tokens
            assert final.usage.cache_read_input_tokens > 0

    async def test_tokens_are_counted(self):
        async with starter() as served, anthropic_client(served) as client:
            counted = await client.messages.count_tokens(model="any", messages=SUM, system="Be brief.")
            answer = await client.messages.create(
                model="any", max_tokens=1, messages=SUM, system=[{"type": "text", "text": "Be brief."}]
            )
            assert counted.input_tokens == answer.usage.input_tokens
            assert answer.stop_reason == "max_tokens"

    async def test_a_tool_is_used_and_its_result_read(self):
        tools: Any = [{"name": "add", "input_schema": {"type": "object"}}]
        asked: Any = {"model": "any", "max_tokens": 500, "tools": tools}
        async with serving(with_tools(CALL)) as served, anthropic_client(served) as client:
            answer = await client.messages.create(messages=SUM, **asked)
            assert answer.stop_reason == "tool_use"
            text, use = answer.content
            assert (text.type, use.name, use.input) == ("text", "add", {"a": 1})
            async with client.messages.stream(messages=SUM, **asked) as stream:
                assert (await stream.get_final_message()).content[1].input == {"a": 1}
        async with serving(with_tools("It is 4.")) as served, anthropic_client(served) as client:
            result: Any = {"type": "tool_result", "tool_use_id": use.id, "content": "4"}
            turns: Any = [
                *SUM,
                {"role": "assistant", "content": answer.content},
                {"role": "user", "content": [result]},
            ]
            answer = await client.messages.create(messages=turns, **asked)
            assert answer.content[0].text == "It is 4."

    async def test_errors_become_its_own(self):
        async with starter() as served, anthropic_client(served) as client:
            with pytest.raises(anthropic.BadRequestError, match="temperature must be between"):
                await client.messages.create(
                    model="any", max_tokens=9, messages=SUM, extra_body={"temperature": -1}
                )
            long: Any = [{"role": "user", "content": "word " * 5000}]
            with pytest.raises(anthropic.BadRequestError, match="prompt is too long"):
                await client.messages.create(model="any", max_tokens=9, messages=long, stream=True)
            with pytest.raises(anthropic.AuthenticationError):
                await client.with_options(api_key="wrong").messages.create(
                    model="any", max_tokens=9, messages=SUM
                )


class TestOllama:
    async def test_the_model_is_found_and_answers(self):
        async with starter() as served, ollama_client(served) as client:
            (model,) = (await client.list()).models
            assert model.details.format == "gguf"
            shown = await client.show(model.model)
            assert "completion" in shown.capabilities
            (running,) = (await client.ps()).models
            assert running.context_length == shown.modelinfo["qwen3.context_length"]
            whole = await client.chat(model.model, SUM)
            assert "4" in whole.message.content
            assert (whole.done, whole.done_reason) == (True, "stop")
            pieces = [piece async for piece in await client.chat(model.model, SUM, stream=True)]
            assert "".join(piece.message.content for piece in pieces) == whole.message.content
            assert pieces[-1].eval_count == whole.eval_count
            assert "7" in (await client.generate(model.model, "What is 3 + 4?")).response

    async def test_an_answer_follows_a_schema(self):
        schema: Any = {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}
        async with starter() as served, ollama_client(served) as client:
            for wish in (schema, "json"):
                options = {"num_predict": 50}
                answer = await client.chat("any", SUM, format=wish, options=options)
                assert answer.done_reason == "length" or isinstance(json.loads(answer.message.content), dict)
            answer = await client.chat("any", SUM, format=schema)
            assert json.loads(answer.message.content)["ok"] in (True, False)

    async def test_a_tool_is_called_and_its_result_read(self):
        def add(a: int) -> int:
            """One more.

            Args:
                a: any number
            """
            return a + 1

        async with serving(with_tools(CALL)) as served, ollama_client(served) as client:
            answer = await client.chat("any", SUM, tools=[add])
            (call,) = answer.message.tool_calls
            assert (call.function.name, call.function.arguments) == ("add", {"a": 1})
            pieces = [
                piece.message async for piece in await client.chat("any", SUM, tools=[add], stream=True)
            ]
            (streamed,) = [call for piece in pieces for call in piece.tool_calls or []]
            assert streamed.function.arguments == {"a": 1}
        async with serving(with_tools("It is 2.")) as served, ollama_client(served) as client:
            result = {"role": "tool", "tool_name": "add", "content": "2"}
            answer = await client.chat("any", [*SUM, answer.message, result], tools=[add])
            assert answer.message.content == "It is 2."

    async def test_errors_become_its_own(self):
        async with starter() as served, ollama_client(served) as client:
            with pytest.raises(ollama.ResponseError, match="temperature must be between"):
                await client.chat("any", SUM, options={"temperature": -1})
            with pytest.raises(ollama.ResponseError, match="tokens"):
                await anext(await client.chat("any", [SUM[0] | {"content": "word " * 5000}], stream=True))
            with pytest.raises(ollama.ResponseError, match="one model"):
                await client.pull("another")
            with pytest.raises(ollama.ResponseError, match="cannot see"):
                await client.chat("any", [SUM[0] | {"images": [b"x"]}])


class TestCurl:
    async def test_three_in_a_row(self):
        async with starter() as served:
            script = "".join(
                f"curl -sSfH \"$key\" $url/generate -d '{prompt_of(f'{n} + {n} =')}'; echo\n"
                for n in (1, 2, 3)
            )
            answers = [json.loads(line) for line in (await shell(served, script)).splitlines()]
            assert [re.search(r"(\d+)$", one["text"])[1] for one in answers] == ["2", "4", "6"]
            assert {one["finish_reason"] for one in answers} == {"stop"}
            await nothing_more_is_computed(served)

    async def test_ten_in_a_row_compute_and_answer_the_same(self):
        async with starter() as served:
            costs = []
            for _ in range(10):
                before = sum(report.num_rows for report in served.reports)
                answer = await shell(served, f"curl -sSfH \"$key\" $url/generate -d '{prompt_of('3 + 4 =')}'")
                await until(served.is_idle)
                rows = sum(report.num_rows for report in served.reports) - before
                cells = served.reports[-1].cells.num_used
                costs.append((json.loads(answer)["text"], rows, cells))
            assert len(set(costs[1:])) == 1  # the first one computes its prompt, the others find it
            assert costs[0][0] == costs[1][0]
            await nothing_more_is_computed(served)

    async def test_a_stream_comes_in_pieces(self):
        async with starter() as served:
            body = json.dumps({"messages": SUM, "stream": True})
            script = f"curl -sSNfH \"$key\" $url/v1/chat/completions -d '{body}'"
            lines = (await shell(served, script)).split("\n\n")
            assert lines[-2] == "data: [DONE]"
            assert len(lines) > 5

    async def test_a_curl_that_is_killed_takes_its_work_along(self):
        async with starter() as served:
            body = json.dumps({"prompt": "1 2 3", "ignore_eos": True})
            begin = f"curl -sSfH \"$key\" $url/generate -d '{body}' >/dev/null &"
            await shell(served, f"{begin}\nsleep 0.3; kill $!; wait || true")
            assert served.num_steps > 0
            await until(lambda: served.client.num_open == 0)
            await nothing_more_is_computed(served)


async def test_a_client_of_each_kind_names_one_of_several_models() -> None:
    async with serving_many(Library()) as many:
        async with openai_client(many) as client:
            assert [one.id async for one in client.models.list()] == ["a", "b", "c"]
            for name in ("a", "b"):
                chat = await client.chat.completions.create(model=name, messages=WHO)
                assert (chat.model, chat.choices[0].message.content) == (name, f"I am {name}.")
            with pytest.raises(openai.BadRequestError, match="model 'd' not found"):
                await client.chat.completions.create(model="d", messages=WHO)
        async with anthropic_client(many) as claude:
            message = await claude.messages.create(model="c", messages=WHO, max_tokens=20)
            assert (message.model, message.content[0].text) == ("c", "I am c.")
        async with ollama_client(many) as llama:
            assert [one.model for one in (await llama.list()).models] == ["a", "b", "c"]
            answer = await llama.chat("a:latest", WHO)
            assert (answer.model, answer.message.content) == ("a", "I am a.")
