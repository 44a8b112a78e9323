from app.ui.message.folding import FOLD_AFTER, fold, unfold, without_reserved


def test_long_runs_get_places_to_wrap_and_lose_nothing() -> None:
    run = "x" * (3 * FOLD_AFTER + 1)
    assert max(map(len, fold(run).split("\u200b"))) <= FOLD_AFTER
    assert unfold(fold(run)) == run
    assert fold("short words only") == "short words only"


def test_what_qt_means_frames_and_objects_by_is_replaced() -> None:
    text = "a\ufffcb\ufdd0c\x00d"
    assert without_reserved(text) == fold(text) == "a\ufffdb\ufffdc\ufffdd"
