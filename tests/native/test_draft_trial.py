"""A draft model is tried in a child process, and what was found is remembered with both files."""

import pytest

from app.protocol.load import LoadParams
from app.services import draft_offers
from app.services.draft_offers import TRIAL, _measured, _remember
from app.system.worker import Worker


@pytest.fixture
def params(tiny_gguf, monkeypatch) -> LoadParams:
    monkeypatch.setattr(draft_offers, "MOST_OF_OTHERS", 1000.0)
    path = tiny_gguf("qwen3")
    return LoadParams(path, n_ctx=512, n_seq_max=1, n_threads=1, draft_model=tiny_gguf("llama"))


def test_each_pair_is_tried_once_and_a_refusal_is_remembered(params) -> None:
    found = _measured(params, (), Worker(TRIAL, is_once=True))
    assert len(found) == 2
    assert all(0.01 < one < 100 for one in found)

    unused = Worker(TRIAL, is_once=True)
    assert _measured(params, (), unused) == found
    assert unused.num_starts == 0
    _remember(params.path, params.draft_model, "refused")
    assert _measured(params, (), unused) == "refused"


def test_on_a_busy_machine_nothing_is_found_out_and_it_is_tried_again(params, monkeypatch) -> None:
    monkeypatch.setattr(draft_offers, "MOST_OF_OTHERS", -1000.0)
    assert _measured(params, (), Worker(TRIAL, is_once=True)) == []
    monkeypatch.setattr(draft_offers, "MOST_OF_OTHERS", 1000.0)
    assert len(_measured(params, (), Worker(TRIAL, is_once=True))) == 2


def test_one_that_was_ended_is_tried_again(params) -> None:
    worker = Worker(TRIAL, is_once=True)
    worker.end()
    assert _measured(params, (), worker) is None
    assert len(_measured(params, (), Worker(TRIAL, is_once=True))) == 2


def test_where_there_is_no_room_for_both_nothing_is_started(params, monkeypatch) -> None:
    monkeypatch.setattr(draft_offers, "free_memory_bytes", lambda: 0)
    worker = Worker(TRIAL, is_once=True)
    assert _measured(params, (), worker) == []
    assert worker.num_starts == 0
