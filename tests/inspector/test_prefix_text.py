from dataclasses import replace

import pytest

from app.inspector.prefix_text import (
    HEADS,
    num_prompt_tokens,
    share_text,
    what_happened,
    what_it_cost,
    what_to_do,
)
from app.protocol.output import PrefixEnd
from app.protocol.report import Lease
from tests.fakes import model_info


def lease(end: PrefixEnd, reused: int = 180, shared: int = 0, computed: int = 88) -> Lease:
    return Lease("r", "sums", 3, 212, reused, shared, 0, computed, end)


@pytest.mark.parametrize("end", list(PrefixEnd))
def test_every_reason_is_told_with_what_to_do_about_it(end: PrefixEnd) -> None:
    assert HEADS[end]
    for sentence in (what_happened(lease(end), model_info()), what_to_do(lease(end), None)):
        assert sentence.endswith(".")


def test_no_two_reasons_read_alike() -> None:
    assert len({what_happened(lease(end), None) for end in PrefixEnd}) == len(PrefixEnd)


def test_a_new_chat_that_begins_like_another_says_so() -> None:
    assert "another chat begins the same way" in what_happened(lease(PrefixEnd.NEW_CHAT, 0, 60), None)
    assert "no other chat begins" in what_happened(lease(PrefixEnd.NEW_CHAT, 0, 0), None)


def test_the_place_where_two_texts_part_is_named() -> None:
    assert "after 212 tokens" in what_happened(lease(PrefixEnd.EDITED), None)


@pytest.mark.parametrize(
    ("changes", "word"), [({"n_swa": 512}, "sliding window"), ({"is_recurrent": True}, "recurrent")]
)
def test_a_model_that_cannot_go_back_is_called_what_it_is(changes: dict[str, object], word: str) -> None:
    assert word in what_happened(lease(PrefixEnd.NO_ROLLBACK), model_info(**changes))


def test_a_model_that_takes_checkpoints_can_go_back_the_next_time() -> None:
    end = PrefixEnd.NO_ROLLBACK
    assert "recomputes the whole prompt" in what_to_do(lease(end), model_info(is_recurrent=True))
    with_checkpoints = model_info(is_recurrent=True, takes_checkpoints=True)
    assert what_to_do(lease(end), with_checkpoints) == "Nothing to do."


def test_what_a_checkpoint_saved_is_told_in_tokens_and_seconds() -> None:
    from_checkpoint = replace(lease(PrefixEnd.CHECKPOINT), is_from_checkpoint=True)
    assert "after 180 tokens" in what_happened(from_checkpoint, model_info(n_swa=512))
    assert what_it_cost(from_checkpoint, 0.44).endswith("A checkpoint saved 180 tokens, about 0.9 s.")
    assert "checkpoint" not in what_it_cost(from_checkpoint, 0.0)


def test_the_cost_is_told_in_tokens_and_seconds_where_they_are_known() -> None:
    assert what_it_cost(lease(PrefixEnd.EDITED), 0.42) == "88 of 268 prompt tokens computed in 0.4 s."
    assert what_it_cost(lease(PrefixEnd.EVICTED, reused=0), 0.0) == "88 prompt tokens computed."


def test_the_share_of_what_was_there_never_says_all_while_something_was_computed() -> None:
    assert share_text(lease(PrefixEnd.NEW_TEXT, reused=9999, computed=1)) == "99%"
    assert num_prompt_tokens(lease(PrefixEnd.NEW_TEXT)) == 268
