from collections.abc import Iterator
from dataclasses import replace

import pytest
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from app.inspector.prefix_view import (
    BAR_HEIGHT,
    HEADS,
    PartingView,
    SourceBar,
    head_of_lease,
    num_prompt_tokens,
    parts_of,
    share_text,
    what_happened,
    what_it_cost,
    what_to_do,
)
from app.inspector.recording import LeasedPrompt
from app.look.tokens import current
from app.protocol.output import CHANGES, PrefixEnd
from app.protocol.report import Lease
from tests.fakes import model_info

LEASE = Lease("r", "sums", 3, 212, 60, 0, 0, 40, PrefixEnd.EDITED)


@pytest.fixture
def frame(qtbot: QtBot) -> Iterator[QWidget]:
    frame = QWidget()
    qtbot.addWidget(frame)
    frame.resize(500, 100)
    yield frame


def test_the_parts_are_the_whole_prompt() -> None:
    lease = Lease("r", "sums", 3, 212, 180, 0, 0, 88, PrefixEnd.EDITED, num_ahead_tokens=60)
    parts = (("reused", 120), ("read ahead", 60), ("computed", 50), ("not computed", 38))
    assert parts_of(LeasedPrompt(lease, 50)) == parts
    restored = replace(lease, num_reused_tokens=0, num_restored_tokens=180)
    assert parts_of(LeasedPrompt(restored, 88)) == (("restored", 120), ("read ahead", 60), ("computed", 88))


def test_each_part_is_as_long_as_its_share(frame: QWidget) -> None:
    bar = SourceBar(frame)
    bar.resize(500, 40)
    bar.apply(LeasedPrompt(LEASE, 40))
    frame.show()
    image = bar.grab().toImage()
    line = [image.pixelColor(x, BAR_HEIGHT // 2) for x in range(500)]
    assert line.count(QColor(current().accent)) == pytest.approx(300, abs=4)
    assert line.count(QColor(current().warning)) == pytest.approx(200, abs=4)
    assert bar.accessibleDescription() == "reused 60, computed 40"


def test_the_same_lease_again_paints_nothing(frame: QWidget, monkeypatch: pytest.MonkeyPatch) -> None:
    bar = SourceBar(frame)
    bar.apply(LeasedPrompt(LEASE, 40))
    monkeypatch.setattr(bar, "update", lambda: pytest.fail("it already exists"))
    bar.apply(LeasedPrompt(LEASE, 40))


def test_both_lines_begin_alike_and_part_where_the_tokens_do(frame: QWidget) -> None:
    view = PartingView(frame)
    view.resize(500, 52)
    view.apply(["The", "␣"], ["red"], ["blue", "."])
    frame.show()
    assert view.text == "cached: The ␣ | red\nwanted: The ␣ | blue ."
    image = view.grab().toImage()
    colours = {image.pixelColor(x, 26).name() for x in range(500)}
    assert current().text in colours  # the line between what is the same and what is not


def lease(end: PrefixEnd, reused: int = 180, shared: int = 0, computed: int = 88) -> Lease:
    return Lease("r", "sums", 3, 212, reused, shared, 0, computed, end)


@pytest.mark.parametrize("end", list(PrefixEnd))
def test_every_reason_is_told_with_what_to_do_about_it(end: PrefixEnd) -> None:
    assert HEADS[end]
    assert what_to_do(lease(end), None).endswith(".")
    happened = what_happened(lease(end), model_info())
    assert happened.endswith(".") or end not in CHANGES


def test_the_legend_takes_as_many_lines_as_the_room_leaves_it(frame: QWidget) -> None:
    lease = replace(LEASE, num_ahead_tokens=20)
    bar = SourceBar(frame)
    bar.apply(LeasedPrompt(lease, 20))
    assert bar.heightForWidth(180) > bar.heightForWidth(700)
    for width in (180, 320, 700):
        places = [place for _, _, place in bar._legend(width)]
        assert all(place.right() <= width for place in places)
        assert max(place.bottom() for place in places) <= bar.heightForWidth(width)


def test_no_two_reasons_read_alike() -> None:
    assert len(set(HEADS.values())) == len(PrefixEnd)


def test_a_new_chat_that_begins_like_another_says_so() -> None:
    assert "Another chat begins the same way" in what_happened(lease(PrefixEnd.NEW_CHAT, 0, 60), None)
    assert "Nothing of another chat was used" in what_happened(lease(PrefixEnd.NEW_CHAT, 0, 0), None)


def test_nothing_that_was_cached_and_what_was_read_ahead_do_not_contradict_each_other() -> None:
    new = replace(lease(PrefixEnd.NEW_CHAT, 12, 0), num_ahead_tokens=12)
    assert head_of_lease(new) == "Only what had been read ahead was cached"
    assert "12 tokens had been read ahead." in what_happened(new, None)


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
    told = what_it_cost(LeasedPrompt(from_checkpoint, 88, 440.0))
    assert told.endswith("A checkpoint saved 180 tokens, about 0.9 s.")
    assert "checkpoint" not in what_it_cost(LeasedPrompt(from_checkpoint))


def test_the_cost_is_told_in_tokens_and_seconds() -> None:
    told = what_it_cost(LeasedPrompt(lease(PrefixEnd.EDITED), 88, 420.0))
    assert told == "88 of 268 prompt tokens computed in 0.4 s."
    new = lease(PrefixEnd.EVICTED, reused=0)
    assert what_it_cost(LeasedPrompt(new, 88, 420.0)) == "88 prompt tokens computed in 0.4 s."
    assert what_it_cost(LeasedPrompt(new), is_running=True) == "0 of 88 prompt tokens computed."


def test_the_share_of_what_was_there_never_says_all_while_something_was_computed() -> None:
    assert share_text(lease(PrefixEnd.NEW_TEXT, reused=9999, computed=1)) == "99%"
    assert num_prompt_tokens(lease(PrefixEnd.NEW_TEXT)) == 268
