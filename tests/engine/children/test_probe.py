"""The parent's side, with small programs in the place of the child that loads the model."""

import json
import os
import sys
import threading
from pathlib import Path

import pytest

from app.engine.children import probe
from app.protocol.errors import ModelLoadCancelledError, ModelLoadError
from app.system import paths, worker
from tests.ready_children import started_children

PROLOGUE = """
import json, os, signal, subprocess, sys, time
words = json.loads(sys.stdin.buffer.readline())
def say(**values): print(json.dumps({"id": words["id"]} | values), flush=True)
def complain(line): print(line, file=sys.stderr, flush=True)
"""
GOOD = "say(remarks=[])"


class Children:
    """Runs `program` wherever the probe would start its child."""

    def __init__(self) -> None:
        self.prologue, self.program = PROLOGUE, GOOD
        self.num_started = 0

    def command(self, _module: str, _arguments: object) -> list[str]:
        self.num_started += 1
        return [sys.executable, "-I", "-S", "-c", self.prologue + self.program]


@pytest.fixture
def children(monkeypatch):
    children = Children()
    monkeypatch.setattr(worker, "command", children.command)
    yield children
    assert not started_children(), "a child was left"
    assert "worker" not in [thread.name for thread in threading.enumerate()]


@pytest.fixture
def model(tmp_path) -> Path:
    path = tmp_path / "model.gguf"
    path.write_bytes(b"GGUF")
    return path


def refusal(path: Path) -> str:
    with pytest.raises(ModelLoadError) as refused:
        probe.probe(path)
    return str(refused.value)


# What is remembered


def test_a_good_file_is_tried_once(children, model):
    assert probe.probe(model)
    assert not probe.probe(model)
    assert children.num_started == 1


def test_a_file_that_changed_is_tried_again(children, model):
    probe.probe(model)
    os.utime(model, ns=(0, 0))
    assert probe.probe(model)


def test_another_version_of_the_library_tries_again(children, model, monkeypatch):
    probe.probe(model)
    monkeypatch.setattr("app.engine.llama.loading.LIBRARY_VERSION", "0.4.0")
    assert probe.probe(model)


def test_a_refused_file_is_tried_again(children, model):
    children.program = "say(refusal='model.gguf is not a chat model.')"
    assert refusal(model) == refusal(model) == "model.gguf is not a chat model."
    assert children.num_started == 2


def test_the_starter_model_comes_with_us_and_is_not_tried(children):
    assert not probe.probe(paths.starter_model())
    assert children.num_started == 0


def test_a_file_that_changes_meanwhile_is_neither_let_in_nor_remembered(children, model):
    children.program = f"open(words['path'], 'a').write('more'); {GOOD}"
    assert "still downloading" in refusal(model)
    children.program = GOOD
    assert probe.probe(model)


# What the child may say, and how it may end


@pytest.mark.parametrize(
    ("end", "told"),
    [
        ("os.abort()", r"crashed .* \(SIGABRT: the last line\)"),
        ("os.kill(os.getpid(), signal.SIGSEGV)", r"crashed .* \(SIGSEGV: the last line\)"),
        ("sys.exit(3)", r"crashed .* \(exit code 3: the last line\)"),
        ("os.kill(os.getpid(), signal.SIGXCPU)", "took over 60 seconds of CPU time"),
        ("os.kill(os.getpid(), signal.SIGKILL)", "ran out of memory"),
        ("", r"crashed .* \(exit code 0: the last line\)"),
    ],
)
def test_a_child_that_dies_is_no_good_sign(children, model, end, told):
    children.program = f"complain('a line\\n\\n/build/vendor/the last line \\n'); {end}"
    with pytest.raises(ModelLoadError, match=f"model.gguf.*{told}|{told}.*model.gguf|model.gguf {told}"):
        probe.probe(model)


def test_it_may_die_before_it_is_told_anything(children, model):
    children.prologue, children.program = "", "import os; os.abort()"
    assert "SIGABRT" in refusal(model)


def test_half_a_line_and_megabytes_of_log_do_no_harm(children, model):
    children.program = (
        "complain('x' * 5_000_000); complain('\\x1b[2Jend'); print('{\"rem', end='', flush=True); os.abort()"
    )
    assert "(SIGABRT: [2Jend)" in refusal(model)


def test_a_child_that_cannot_be_started_is_said_so(children, model, monkeypatch):
    def start(*_arguments: object, **_options: object) -> None:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(worker, "command", start)
    assert "cannot be tested before loading: Resource temporarily unavailable." in refusal(model)


def test_what_it_remarks_goes_to_the_log(children, model, caplog):
    children.program = "say(remarks=['The template is slow.'])"
    with caplog.at_level("INFO"):
        probe.probe(model)
    assert "model.gguf: The template is slow." in caplog.text


def test_names_come_through_as_they_are(children, model):
    children.program = "assert os.path.exists(words['path']); say(remarks=[])"
    assert probe.probe(model.rename(model.with_name("a\n\udc80ä.gguf")))


# How long it may take


def test_one_that_does_nothing_is_ended(children, model, monkeypatch):
    monkeypatch.setattr(probe, "BASE_WALL_S", 0.0)
    children.program = "time.sleep(1000)"
    assert "took longer than 0 seconds" in refusal(model)


def test_a_load_that_is_called_off_ends_the_child_and_leaves_no_verdict(children, model):
    children.program = "say(news={'progress': 0.5})\ntime.sleep(1000)"
    with pytest.raises(ModelLoadCancelledError):
        probe.probe(model, lambda fraction: fraction < 0.5)
    children.program = GOOD
    assert probe.probe(model)


def test_progress_is_the_childs(children, model):
    children.program = "say(news={'progress': 0.25}); say(news={'progress': 0.75}); say(remarks=[])"
    seen: list[float] = []
    probe.probe(model, lambda fraction: not seen.append(fraction))
    assert seen == sorted(seen)
    assert {0.25, 0.75} <= set(seen)


def test_limits_grow_with_the_file(children, model, caplog):
    children.program = "say(remarks=[json.dumps(words)])"

    def told(num_bytes: int) -> dict[str, float]:
        with model.open("wb") as file:
            file.truncate(num_bytes)
        caplog.clear()
        with caplog.at_level("INFO"):
            probe.probe(model)
        return json.loads(caplog.messages[-1].split(": ", 1)[1])

    small, large = told(1 << 30), told(5 << 30)
    assert (small["check_tensors"], large["check_tensors"]) == (True, False)
    assert large["max_memory_bytes"] - small["max_memory_bytes"] == 8 << 30
    assert large["max_cpu_s"] > small["max_cpu_s"]
    assert large["max_wall_s"] > small["max_wall_s"]
