"""Numbers, tokens and grammars from strangers (T21, T22, T23): used or refused, no fault of the server."""

import itertools
import json
import threading

import pytest

from app.api.parameters import SAME_NAMES, SamplingFields
from app.protocol import grammar
from app.protocol.sampling import INTEGERS, NEVER, NUMBERS, SamplingParams
from tests.api.conftest import Served, endless, serving
from tests.driver import all_guesses_checked
from tests.fakes import CountingBackend

WILD = [-1, 0, 2**31, 2**32 - 1, 2**63, -(2**63), 1e300, -1e300, 1e-300, True, "x", [], {}, None]


def numeric(kind: str) -> set[str]:
    fields = SamplingFields.model_fields.items()
    return {field.alias or name for name, field in fields if kind in str(field.annotation)}


NUMERIC = sorted(numeric("int") | numeric("float"))
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


MESSAGES = [{"role": "user", "content": "aaaaaa"}]
DRAFTING = {  # what is sent, and where the fields of sampling are
    "/completion": {"prompt": "aaaaaa", "n_predict": 20},
    "/v1/completions": {"prompt": "aaaaaa", "max_tokens": 20},
    "/generate": {"prompt": "aaaaaa", "max_tokens": 20},
    "/v1/chat/completions": {"messages": MESSAGES, "max_tokens": 20},
    "/v1/messages": {"messages": MESSAGES, "max_tokens": 20},
    "/v1/responses": {"input": "aaaaaa", "max_output_tokens": 20},
    "/api/chat": {"messages": MESSAGES, "stream": False, "options": {"num_predict": 20}},
}


def num_drafted_at_most(served: Served) -> int:
    return max(span.num_drafted for report in served.reports for span in report.spans)


@pytest.mark.parametrize("path", DRAFTING)
@pytest.mark.parametrize(
    ("asked", "most"),
    [
        ({}, 4),
        ({"speculative.n_max": 2}, 2),
        ({"speculative.n_max": 0}, 0),
        ({"speculative.type": "none", "speculative.n_max": 3}, 0),
    ],
)
async def test_a_request_says_how_many_tokens_may_be_drafted_for_it(path, asked, most):
    body = DRAFTING[path]
    asked = {"options": body["options"] | asked} if "options" in body else asked
    with all_guesses_checked():
        async with serving(CountingBackend(lambda _token_ids: ord("a"), num_drafted_tokens=4)) as served:
            status, answer = await served.post(path, body | asked)
            assert (status, "warnings" in answer) == (200, False), answer
            assert num_drafted_at_most(served) == most


@pytest.mark.parametrize(
    "wrong",
    [
        {"speculative.n_max": -1},
        {"speculative.n_max": "all"},
        {"speculative.n_min": -1},
        {"speculative.p_min": 1.5},
        {"speculative.type": "magic"},
    ],
)
@pytest.mark.parametrize("path", ["/completion", "/v1/chat/completions", "/v1/messages", "/v1/responses"])
async def test_what_says_nothing_of_drafting_is_refused_by_its_name(path, wrong):
    async with serving(endless()) as served:
        status, answer = await served.post(path, DRAFTING[path] | wrong)
    assert status == 400
    assert next(iter(wrong)) in json.dumps(answer)


async def test_what_is_measured_anyway_is_not_for_the_caller_to_say():
    asked = {"speculative.n_min": 2, "speculative.p_min": 0.5, "speculative.type": "ngram-simple"}
    async with serving(endless()) as served:
        _, answer = await served.post("/completion", DRAFTING["/completion"] | asked)
    because = "has no effect: measured times decide what is drafted."
    assert answer["warnings"] == [f"{name} {because}" for name in asked]


async def test_what_drafts_is_told_with_the_settings():
    def drafting(settings):
        return settings["speculative.types"], settings["speculative.n_max"]

    backend = CountingBackend(num_drafted_tokens=4)
    async with serving(backend) as served:
        _, props = await served.get("/props")
        assert drafting(props["default_generation_settings"]["params"]) == ("ngram-map-k", 4)
        for asked, told in ((3, ("ngram-map-k", 3)), (9, ("ngram-map-k", 4)), (0, ("none", 0))):
            body = DRAFTING["/completion"] | {"n_predict": 1, "speculative.n_max": asked}
            _, answer = await served.post("/completion", body)
            assert drafting(answer["generation_settings"]) == told


@pytest.mark.parametrize("path", ["/completion", "/v1/completions", "/v1/chat/completions"])
async def test_streams_tell_of_drafts_as_whole_answers_do(path):
    with all_guesses_checked():
        async with serving(CountingBackend(lambda _token_ids: ord("a"), num_drafted_tokens=4)) as served:
            _, whole = await served.post(path, DRAFTING[path])
            events = await served.events(path, DRAFTING[path] | {"stream_options": {"include_usage": True}})
            named = await served.named_events("/v1/responses", DRAFTING["/v1/responses"])
    last = next(event for event in reversed(events) if "timings" in event)
    for timings in (whole["timings"], last["timings"], named[-1][1]["timings"]):
        assert timings["draft_n"] == timings["draft_n_accepted"] > 10
