"""What goes through the pipe between the engine's process and this one."""

from dataclasses import replace
from pathlib import Path

from app.engine.engine import Engine
from app.engine.engine_child import Reports
from app.engine.engine_process import EngineProcess
from app.protocol.load import LoadParams
from app.protocol.report import HibernatedChat
from app.system.worker import Question
from tests.fakes import CountingBackend


def test_hibernated_chats_go_over_when_they_change_however_many_there_are():
    told_by_child = []
    reports = Reports(Question(({}, []), lambda _message, data: told_by_child.append(data)))
    many = tuple(HibernatedChat(f"chat {number}", 10, 1000, is_on_disk=False) for number in range(1000))
    sent = [(), many, many, many, many[1:], ()]
    for hibernated in sent:
        reports.send([replace(Engine(CountingBackend()).report(), hibernated=hibernated)])
    sizes = list(map(len, told_by_child))
    assert sizes[0] == sizes[2] == sizes[3] < sizes[1] / 10

    process = EngineProcess(LoadParams(Path("model.gguf")), lambda _: True, lambda: None)
    for data in told_by_child:
        process._take({}, data)
    told = [report.hibernated for report in process.take_reports()]
    assert told == sent
    assert told[1] is told[2] is told[3]
