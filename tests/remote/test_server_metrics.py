"""What servers tell of their work, by the names of each. Samples as their documentation shows them."""

import pytest

from app.protocol.server_figures import FigureKind
from app.remote import server_metrics
from app.remote.introduction import Program
from app.remote.server_metrics import ServerMetrics

LLAMA = """# TYPE llamacpp:requests_processing gauge
llamacpp:requests_processing 2
llamacpp:requests_deferred 1
llamacpp:prompt_tokens_total {prompt}
llamacpp:prompt_seconds_total {cached}
llamacpp:prompt_tokens_cached_total {cached}
llamacpp:tokens_predicted_total {answer}
llamacpp:tokens_predicted_seconds_total 5.0
llamacpp:n_busy_slots_per_decode 1.5
"""
VLLM = """vllm:num_requests_running{{engine="0",model_name="a b"}} 3.0
vllm:kv_cache_usage_perc{{engine="0"}} 0.25
vllm:kv_cache_usage_perc{{engine="1"}} 0.75
vllm:prefix_cache_queries_total{{engine="0"}} {prompt}
vllm:prefix_cache_hits_total{{engine="0"}} {cached}
vllm:generation_tokens_total{{engine="0"}} {answer}
vllm:time_to_first_token_seconds_bucket{{le="0.1"}} 1.0
vllm:time_to_first_token_seconds_count{{engine="0"}} 0.0
vllm:time_to_first_token_seconds_sum{{engine="0"}} 0.0
"""
SGLANG = """sglang:num_running_reqs{{model_name="m"}} 4.0
sglang:num_queue_reqs{{model_name="m"}} NaN
sglang:token_usage{{model_name="m"}} 0.28
sglang:prompt_tokens_total{{model_name="m"}} {prompt}
sglang:cached_tokens_total{{cache_source="device"}} {cached}
sglang:cached_tokens_total{{cache_source="host"}} 0.0
sglang:gen_throughput{{model_name="m"}} 86.5
"""


@pytest.fixture
def two_seconds(monkeypatch):
    times = iter((10.0, 12.0, 14.0))
    monkeypatch.setattr(server_metrics.time, "monotonic", lambda: next(times))


def values(program: Program, text: str) -> dict[FigureKind, float | None]:
    metrics = ServerMetrics(program)
    metrics.figures(text.format(prompt=100, cached=10, answer=50), None)
    found = metrics.figures(text.format(prompt=200, cached=35, answer=70), None)
    return {one.kind: one.value for one in found}


def test_a_llama_server_counts_cached_tokens_beside_the_others(two_seconds):
    assert values(Program.LLAMA_SERVER, LLAMA) == {
        FigureKind.RUNNING: 2,
        FigureKind.WAITING: 1,
        FigureKind.PREFIX_HITS: 25 / 125,
        FigureKind.BATCH: 1.5,
        FigureKind.PROMPT_RATE: 4,
        FigureKind.ANSWER_RATE: None,
    }


def test_vllm_may_have_several_engines_and_nothing_to_tell_of_a_second(two_seconds):
    assert values(Program.VLLM, VLLM) == {
        FigureKind.RUNNING: 3,
        FigureKind.KV_USE: 0.5,
        FigureKind.PREFIX_HITS: 0.25,
        FigureKind.ANSWER_RATE: 10,
        FigureKind.FIRST_TOKEN_S: None,
    }


def test_sglang_tells_a_rate_itself_and_sometimes_no_number(two_seconds):
    assert values(Program.SGLANG, SGLANG) == {
        FigureKind.RUNNING: 4,
        FigureKind.KV_USE: 0.28,
        FigureKind.PREFIX_HITS: 0.25,
        FigureKind.PROMPT_RATE: 50,
        FigureKind.ANSWER_RATE: 86.5,
    }


def test_a_figure_names_its_source():
    [one, *_] = ServerMetrics(Program.VLLM).figures(VLLM.format(prompt=1, cached=1, answer=1), None)
    assert one.source == "vllm:num_requests_running"


def test_a_server_that_was_started_again_has_no_rate_of_that_second():
    metrics = ServerMetrics(Program.LLAMA_SERVER)
    metrics.figures(LLAMA.format(prompt=100, cached=10, answer=50), None)
    found = metrics.figures(LLAMA.format(prompt=1, cached=0, answer=0), None)
    rates = [one.value for one in found if one.kind is FigureKind.ANSWER_RATE]
    assert rates == [None]


def test_slots_tell_how_many_are_at_work_where_there_are_no_metrics():
    slots = [{"id": 0, "is_processing": True}, {"id": 1, "is_processing": False}, "odd"]
    [one] = ServerMetrics(Program.LLAMA_SERVER).figures(None, slots)
    assert (one.kind, one.value, one.source) == (FigureKind.RUNNING, 1, "/slots is_processing")


@pytest.mark.parametrize("metrics", [None, "", {"not": "text"}, "nonsense {{{\n\n# x"])
def test_what_tells_nothing_has_no_figures(metrics):
    assert ServerMetrics(Program.VLLM).figures(metrics, None) == ()
    assert ServerMetrics(Program.UNKNOWN).figures(VLLM, None) == ()
