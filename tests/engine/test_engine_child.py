"""What goes through the pipe between the engine's process and this one."""

import logging
import pickle
from collections.abc import Callable
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import pytest

from app.engine.engine import Engine
from app.engine.engine_child import Channel, Reports
from app.engine.engine_process import EngineProcess
from app.protocol.load import LoadParams
from app.protocol.report import HibernatedChat
from app.system import child_process
from tests.fakes import CountingBackend


def test_hibernated_chats_go_over_when_they_change_however_many_there_are():
    pipe = BytesIO()
    reports = Reports(Channel(pipe))
    many = tuple(HibernatedChat(f"chat {number}", 10, 1000, is_on_disk=False) for number in range(1000))
    sent = [(), many, many, many, many[1:], ()]
    sizes = []
    for hibernated in sent:
        before = pipe.tell()
        reports.send([replace(Engine(CountingBackend()).report(), hibernated=hibernated)])
        sizes.append(pipe.tell() - before)
    assert sizes[0] == sizes[2] == sizes[3] < sizes[1] / 10

    process = EngineProcess(LoadParams(Path("model.gguf")), lambda _: True, lambda: None)
    pipe.seek(0)
    for _ in sent:
        process._take(pickle.load(pipe))
    told = [report.hibernated for report in process.take_reports()]
    assert told == sent
    assert told[1] is told[2] is told[3]


@pytest.mark.native
def test_it_ends_when_the_program_that_started_it_is_gone(tiny_gguf: Callable[[str], Path]):
    child = child_process.start("app.engine.engine_child")
    try:
        pickle.dump((LoadParams(tiny_gguf("qwen3"), n_ctx=512, n_threads=1), logging.WARNING), child.stdin)
        child.stdin.flush()
        while pickle.load(child.stdout)[0] != "loaded":
            pass
        child_process.hang_up(child)
        assert child.wait(timeout=30) == 1
    finally:
        child_process.reap(child)
