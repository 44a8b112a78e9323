import io
import logging
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.system import log


@pytest.fixture(autouse=True)
def former_logging() -> Iterator[None]:
    """Takes down what the test set up."""
    root, app = logging.getLogger(), logging.getLogger("app")
    handlers, levels = list(root.handlers), (root.level, app.level)
    yield
    for handler in [handler for handler in root.handlers if handler not in handlers]:
        root.removeHandler(handler)
        handler.close()
    root.setLevel(levels[0])
    app.setLevel(levels[1])


def test_what_was_logged_before_the_window_was_painted_is_in_the_file(tmp_path: Path) -> None:
    log.hold()
    logging.getLogger("app.look").info("The language is en.")
    logging.getLogger("app.look").debug("not this")
    file = log.configure(tmp_path, stream=io.StringIO())
    logging.getLogger("app.look").info("The window is complete.")
    told = [line.partition(": ")[2] for line in file.read_text().splitlines()]
    assert told == ["The language is en.", "The window is complete."]


def test_what_was_logged_is_kept_where_there_is_no_window(tmp_path: Path) -> None:
    log.hold()
    logging.getLogger("app").warning("no screen")
    log.write_held(tmp_path / "log")
    assert "no screen" in (tmp_path / "log" / "skein.log").read_text()


def test_the_last_lines_of_this_run_are_at_hand(tmp_path: Path) -> None:
    lines = log.RecentLines(max_lines=3)
    logger = logging.getLogger("app.test")
    logger.addHandler(lines)
    for number in range(5):
        logger.warning("line %d \x1b[2J", number)
    logger.removeHandler(lines)

    assert [line.text.rpartition(": ")[2] for line in lines.since(0)] == [
        f"line {n} \\x1b[2J" for n in (2, 3, 4)
    ]
    assert [line.number for line in lines.since(4)] == [5]
    assert lines.since(5) == []
    assert {line.level for line in lines.since(0)} == {logging.WARNING}


def test_warnings_go_to_the_terminal_and_everything_worth_knowing_to_the_file(tmp_path: Path) -> None:
    terminal = io.StringIO()
    path = log.configure(tmp_path, stream=terminal)
    logger = logging.getLogger("app.engine.engine")
    logger.debug("a step")
    logger.info("loaded")
    logger.warning("careful")
    text = path.read_text()
    assert ("a step" in text, "loaded" in text, "careful" in text) == (False, True, True)
    assert ("loaded" in terminal.getvalue(), "careful" in terminal.getvalue()) == (False, True)


def test_debug_adds_our_own_details_to_the_file(tmp_path: Path) -> None:
    path = log.configure(tmp_path, debug=True, stream=io.StringIO())
    logging.getLogger("app.engine.engine").debug("a step")
    logging.getLogger("qasync").debug("noise")
    assert "a step" in path.read_text()
    assert "noise" not in path.read_text()


def test_a_model_name_cannot_steer_the_terminal(tmp_path: Path) -> None:
    terminal = io.StringIO()
    path = log.configure(tmp_path, stream=terminal)
    logging.getLogger("app").warning("loading %s", "\x1b]0;x\x07\x1b[2J\x9b1m")
    for text in (terminal.getvalue(), path.read_text()):
        assert "\x1b" not in text
        assert "\x07" not in text
        assert "\x9b" not in text
        assert r"\x1b]0;x\x07\x1b[2J\x9b1m" in text


def test_half_a_surrogate_pair_can_be_logged(tmp_path: Path) -> None:
    path = log.configure(tmp_path, stream=io.StringIO())
    logging.getLogger("app").info("file \ud800")
    assert r"file \ud800" in path.read_text()


def test_nobody_else_can_read_the_log_and_those_before_it(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(log, "MAX_FILE_BYTES", 100)
    (tmp_path / "skein.log.3").touch(mode=0o644)
    path = log.configure(tmp_path, stream=io.StringIO())
    assert {stat.S_IMODE(each.stat().st_mode) for each in tmp_path.iterdir()} == {0o600}
    for number in range(3):
        logging.getLogger("app").info("line %d that fills a file", number)
    assert path.with_name("skein.log.2").exists()
    assert {stat.S_IMODE(each.stat().st_mode) for each in tmp_path.iterdir()} == {0o600}
