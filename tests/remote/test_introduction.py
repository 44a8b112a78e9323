"""Which server it is, and what its models are."""

import pytest

from app.protocol.load import Server, ServerKind
from app.remote.introduction import Introduction, Program, introduced
from app.remote.web import ServerError, Web
from tests.remote.fake_server import LLAMA_MODEL, LLAMA_PROPS, SGLANG_MODEL, VLLM_MODEL, FakeServer


async def ask(fake: FakeServer) -> Introduction:
    async with fake.running():
        web = Web(Server(fake.url, ServerKind.OPENAI))
        try:
            return await introduced(web)
        finally:
            await web.close()


@pytest.mark.parametrize(
    ("model", "pages", "program", "version"),
    [
        (LLAMA_MODEL, {"props": LLAMA_PROPS}, Program.LLAMA_SERVER, "b11434-0c1e570"),
        (LLAMA_MODEL | {"owned_by": "skein"}, {"metrics": "llamacpp:n_decode_total 3"}, Program.SKEIN, ""),
        (VLLM_MODEL, {"version": {"version": "0.11.0"}}, Program.VLLM, "0.11.0"),
        (SGLANG_MODEL, {}, Program.SGLANG, ""),
        (
            {"id": "m", "owned_by": "team"},
            {"metrics": "# HELP\nvllm:n{x} 1.0"},
            Program.VLLM,
            "",
        ),
        ({"id": "m"}, {"metrics": "sglang:num_running_reqs 0"}, Program.SGLANG, ""),
        ({"id": "gpt-4o", "owned_by": "system"}, {}, Program.UNKNOWN, ""),
    ],
)
async def test_a_server_is_recognised(model, pages, program, version):
    found = await ask(FakeServer([model], **pages))
    assert (found.program, found.version) == (program, version)


async def test_what_is_not_told_is_not_made_up():
    model = (await ask(FakeServer([{"id": "gpt-4o"}]))).model("gpt-4o", "")
    assert (model.n_ctx, model.n_params, model.n_seq_max, model.description) == (0, 0, 0, "")
    assert model.senses.sees  # the server may refuse a picture: that is better than words in its place


@pytest.mark.parametrize("models", [[], [{"no": "id"}]])
async def test_what_lists_no_models_is_no_such_server(models):
    with pytest.raises(ServerError, match="lists no models"):
        await ask(FakeServer(models))


async def test_numbers_that_are_none_are_not_believed():
    odd = {"id": "m", "max_model_len": "many", "meta": [1]}
    assert (await ask(FakeServer([odd]))).model("m", "").n_ctx == 0
