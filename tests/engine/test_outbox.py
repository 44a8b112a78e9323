"""The way out of an engine's thread."""

from app.engine.command_loop import Outbox
from app.engine.engine import Engine
from tests.fakes import CountingBackend


def test_reports_pile_up_without_waking_the_reader_twice():
    report = Engine(CountingBackend()).report()
    wakes: list[int] = []
    outbox = Outbox(lambda: wakes.append(1))
    for _ in range(5):
        outbox.put(report)
    assert len(wakes) == 1
    assert len(outbox.take()) == 5
    outbox.put(report)
    assert len(wakes) == 2
