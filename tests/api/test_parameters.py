"""Numbers, tokens and grammars from strangers (T21, T22, T23): used or refused, no fault of the server."""

import itertools
import json
import threading

import pytest

from app.api.parameters import SAME_NAMES, SamplingFields
from app.protocol import grammar
from app.protocol.sampling import INTEGERS, NEVER, NUMBERS, SamplingParams
from tests.api.conftest import endless, serving

WILD = [-1, 0, 2**31, 2**32 - 1, 2**63, -(2**63), 1e300, -1e300, 1e-300, True, "x", [], {}, None]
NUMERIC = sorted(
    {name for name, field in SamplingFields.model_fields.items() if "int" in str(field.annotation)}
    | {name for name, field in SamplingFields.model_fields.items() if "float" in str(field.annotation)}
)
ENDPOINTS = {
    "/generate": {"prompt": "x", "max_tokens": 1},
    "/v1/completions": {"prompt": "x", "max_tokens": 1},
    "/v1/chat/completions": {"messages": [{"role": "user", "content": "x"}], "max_tokens": 1},
}


def test_every_sampling_parameter_can_be_set():
    renamed = {"penalty_last_n"}  # it is repeat_last_n outside
    own = {"top_k", "dry_penalty_last_n", "dry_sequence_breakers", "logit_bias", "json_schema", "seed"}
    assert set(SamplingParams.__dataclass_fields__) == set(SAME_NAMES) | own | renamed
    assert set(SamplingFields.model_fields) >= set(SAME_NAMES) | own | {"repeat_last_n"}


@pytest.mark.parametrize(
    ("path", "names"),
    [
        ("/generate", [*NUMERIC, "max_tokens"]),
        ("/v1/completions", ["max_tokens", "n", "logprobs", "temperature", "seed"]),
        ("/v1/chat/completions", ["max_tokens", "max_completion_tokens", "n", "logprobs", "top_logprobs"]),
    ],
)
async def test_no_number_is_a_fault_of_the_server(path, names):
    async with serving(endless(n_vocab=259)) as served:
        for name, value in itertools.product(names, WILD):
            status, body = await served.post(path, ENDPOINTS[path] | {name: value})
            assert status in (200, 400), (name, value, body)
            if status == 400:
                assert body["error"]["type"] == "invalid_request_error"
                assert name in body["error"]["message"], (name, value, body)


@pytest.mark.parametrize("value", ["NaN", "Infinity", "-Infinity", "1e999"])
async def test_what_is_no_number_in_json_is_refused(value):
    async with serving() as served:
        text = f'{{"prompt": "x", "max_tokens": 1, "temperature": {value}}}'
        async with served.http.post(served.server.address + "/generate", data=text) as response:
            assert response.status == 400


@pytest.mark.parametrize("name", [*INTEGERS, *NUMBERS])
def test_what_is_in_range_arrives(name):
    _low, high = (INTEGERS | NUMBERS)[name]
    outside = {"penalty_last_n": "repeat_last_n"}.get(name, name)
    given = {outside: high} | ({"temperature": 100.0} if name == "dynatemp_range" else {})
    assert getattr(SamplingFields(**given).sampling(SamplingParams()), name) == high


def test_what_is_not_given_stays_as_the_maker_recommends():
    recommended = SamplingParams(temperature=0.1, top_k=3, min_p=0.2, seed=5)
    assert SamplingFields().sampling(recommended) == recommended
    assert SamplingFields(top_k=None).sampling(recommended).top_k == 3


def test_minus_one_means_all():
    sampling = SamplingFields(top_k=-1, repeat_last_n=-1, dry_penalty_last_n=-1).sampling(SamplingParams())
    assert (sampling.top_k, sampling.penalty_last_n, sampling.dry_penalty_last_n) == (0, 65_536, 65_536)


@pytest.mark.parametrize(
    ("seed", "used"),
    [(None, None), (-1, None), (2**32 - 1, None), (7, 7), (2**32 - 2, 2**32 - 2), (2**63, 2**31)],
)
def test_seeds(seed, used):
    assert SamplingFields(seed=seed).sampling(SamplingParams()).seed == used


def test_copies_of_a_seeded_answer_have_seeds_of_their_own():
    fields = SamplingFields(seed=2**32 - 2)
    assert [fields.sampling(SamplingParams(), copy).seed for copy in range(3)] == [2**32 - 2, 0, 1]


@pytest.mark.parametrize(
    ("given", "used"),
    [
        ({"5": -100}, ((5, -100.0),)),
        ({"5": 1.5, "6": False}, ((5, 1.5), (6, NEVER))),
        ([[5, 1], [5, 2]], ((5, 3.0),)),
        ([[5, False]], ((5, NEVER),)),
        ([], ()),
        (None, ()),
    ],
)
def test_biases(given, used):
    fields = SamplingFields.model_validate_json(json.dumps({"logit_bias": given}))
    assert fields.sampling(SamplingParams()).logit_bias == used


@pytest.mark.parametrize(
    "bias", [{"1000": 1}, {"5": "x"}, {"5": 1e9}, {"5": True}, [[-1, 1]], [[1000, 1]], [[5]], [5], "x"]
)
async def test_biases_that_cannot_be_are_refused(bias):
    async with serving() as served:
        status, body = await served.post("/generate", {"prompt": "x", "max_tokens": 1, "logit_bias": bias})
        assert (status, body["error"]["type"]) == (400, "invalid_request_error"), body


@pytest.mark.parametrize("tokens", [[259], [-1], [2**31], [2**63], [1.5], [True], [], [[]], [[1], "x", [-5]]])
async def test_tokens_the_model_does_not_have_are_refused(tokens):
    async with serving() as served:
        status, _ = await served.post("/v1/completions", {"prompt": tokens, "max_tokens": 1})
        assert status == 400
        assert (await served.post("/v1/completions", {"prompt": [5, 6], "max_tokens": 1}))[0] == 200


@pytest.mark.parametrize(
    "text",
    [
        "root ::= " + "(" * 20_000 + '"a"' + ")" * 20_000,
        "root ::= root",
        'root ::= "a"{1000000000}',
        "root ::= " + '"a" | ' * 20_000 + '"a"',
        "root ::= missing",
        "x" * 70_000,
        "root ::= \0",
    ],
)
@pytest.mark.parametrize("path", ENDPOINTS)
async def test_grammars_that_would_end_the_process_are_refused(path, text):
    async with serving() as served:
        status, body = await served.post(path, ENDPOINTS[path] | {"grammar": text})
        assert (status, body["error"]["type"]) == (400, "invalid_request_error"), body


@pytest.mark.parametrize("path", ENDPOINTS)
async def test_a_grammar_is_looked_at_beside_the_loop_that_serves_all(path, monkeypatch):
    threads = []
    read_gbnf = grammar.read_gbnf
    monkeypatch.setattr(
        grammar, "read_gbnf", lambda text: threads.append(threading.current_thread()) or read_gbnf(text)
    )
    async with serving() as served:
        text = f'root ::= "{path}"'
        assert (await served.post(path, ENDPOINTS[path] | {"grammar": text}))[0] == 200
    assert [thread.name for thread in threads] == ["skein-prompt"]


@pytest.mark.parametrize("path", ENDPOINTS)
async def test_a_whole_number_may_have_a_point(path):
    async with serving() as served:
        asked = ENDPOINTS[path] | {"max_tokens": 1.0, "top_k": 5.0, "seed": 1e3, "temperature": 1.0}
        assert (await served.post(path, asked))[0] == 200
        assert (await served.post(path, asked | {"top_k": 5.5}))[0] == 400
        assert (await served.post(path, asked | {"seed": 1e300}))[0] == 400


@pytest.mark.parametrize("stop", [5, [5], ["x"] * 65, "x" * 1001, ["x" * 1000] * 9])
async def test_stop_strings_that_make_no_sense_are_refused(stop):
    async with serving() as served:
        assert (await served.post("/generate", {"prompt": "x", "max_tokens": 1, "stop": stop}))[0] == 400


async def test_nothing_but_the_model_file_is_ever_opened(tmp_path):
    import os

    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)  # opening it would hang
    async with serving() as served:
        for body in (
            {"model": str(fifo)},
            {"model": "../../etc/passwd"},
            {"filename": str(fifo)},
            {
                "messages": [
                    {
                        "role": "user",
                        "content": [{"type": "image_url", "image_url": {"url": f"file://{fifo}"}}],
                    }
                ]
            },
        ):
            status, answer = await served.post(
                "/v1/chat/completions", ENDPOINTS["/v1/chat/completions"] | body
            )
            assert status == (400 if "messages" in body else 200)
            assert str(fifo) not in str(answer)
