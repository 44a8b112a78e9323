from dataclasses import replace

from app.protocol.report import PauseState
from app.ui.engine.status_text import cells_text, model_text, queue_text, speed_text
from tests.fakes import model_info
from tests.inspector.reports import decoding, report


def test_the_model_is_named_or_said_to_be_missing() -> None:
    assert model_text(model_info(name="starter")) == "starter"
    assert model_text(None) == "No model"


def test_cells_are_told_as_used_total_shared_and_free() -> None:
    newest = report(1, decoding(0, "sums", 823))
    assert cells_text(newest, 4096) == "823 / 4,096 cells, 196 shared, 3,273 free"


def test_before_the_first_step_nothing_is_used() -> None:
    assert cells_text(None, 4096) == "0 / 4,096 cells, 0 shared, 4,096 free"
    assert queue_text(None) == "0 running, 0 waiting"
    assert speed_text(None) == "0 tok/s"


def test_without_a_model_there_are_no_cells() -> None:
    assert cells_text(None, 0) == ""


def test_running_and_waiting_answers_are_counted() -> None:
    assert queue_text(report(1, decoding(0, "sums"), decoding(1, "notes"))) == "2 running, 1 waiting"


def test_in_a_pause_nothing_runs() -> None:
    paused = replace(report(1, decoding(0, "sums")), pause=PauseState(""))
    assert queue_text(paused) == "1 paused, 1 waiting"


def test_the_speed_is_that_of_all_answers_together() -> None:
    assert speed_text(report(1, decoding(0, "sums"), decoding(1, "notes"))) == "82 tok/s"
