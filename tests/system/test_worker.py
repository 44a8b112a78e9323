"""Children must end with us, whatever they are doing, and none may be left."""

import contextlib
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator

import psutil
import pytest

from app.system import worker
from app.system.worker import Child, Worker, WorkerEndedError, WorkerRefusedError

BEGIN = "import os, sys, threading, time\nfrom app.system import worker\nparent = worker.Parent()\n"
ECHO = BEGIN + "parent.serve(lambda question: (question.value, *question.parts))"
BUSY = BEGIN + "next(parent.questions()).tell(begun=True)\nwhile True: pass"
PARENT = "from tests.system.test_worker import echo_once\nprint(echo_once(), flush=True)\nwhile True: pass"


@pytest.fixture
def play(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Worker]]:
    """A worker that runs a program."""
    workers = []

    def started(program: str, **options: bool) -> Worker:
        monkeypatch.setattr(worker, "command", lambda *_names: [sys.executable, "-c", program])
        workers.append(Worker("module", **options))
        return workers[-1]

    yield started
    for one in workers:
        one.close()
    assert "worker" not in [thread.name for thread in threading.enumerate()]


def echo_once() -> int:
    """The pid of one that is left alone in the middle of its work."""
    worker.command = lambda *_names: [sys.executable, "-c", BUSY]  # type: ignore[assignment]
    one = Worker("module")
    begun = threading.Event()
    threading.Thread(target=one.ask, args=({},), kwargs={"on_news": lambda _news: begun.set()}).start()
    begun.wait()
    return one.pid


def test_values_and_bytes_arrive_as_they_were_sent(play: Callable[..., Worker]) -> None:
    one = play(ECHO)
    value = {"text": "ä\n\udc80", "numbers": [1, 2.5, None, True]}
    for parts in ((), (b"", b"\n{}\n" * 100_000)):
        answer, told = one.ask(value, *parts)
        assert {name: answer[name] for name in value} == value
        assert told == [*parts]
    assert one.num_starts == 1


def test_several_ask_at_once_and_each_gets_its_own_answer_and_news(play: Callable[..., Worker]) -> None:
    one = play(
        BEGIN + "questions = parent.questions()\nfirst, second = next(questions), next(questions)\n"
        "for one in (second, first):\n    one.tell(b'12', of=one.value['name'])\n    one.answer({})\n"
        "time.sleep(99)"
    )
    news: dict[str, list[object]] = {"a": [], "b": []}

    def ask(name: str) -> None:
        one.ask({"name": name}, on_news=lambda *told: news[name].append(told))

    threads = [threading.Thread(target=ask, args=(name,)) for name in news]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert news == {name: [({"of": name}, b"12")] for name in news}


def test_what_it_refuses_is_said_and_what_ends_it_is_told(play: Callable[..., Worker]) -> None:
    one = play(
        BEGIN + "def answer(question):\n"
        "    if question.value['do'] == 'refuse': raise ValueError('no')\n"
        "    print('\\x1b/vendor/the last line', file=sys.stderr)\n"
        "    os.kill(os.getpid(), question.value['signal'])\n    time.sleep(99)\n"
        "parent.serve(answer, ValueError)",
        keeps_log=True,
    )
    with pytest.raises(WorkerRefusedError, match="no"):
        one.ask({"do": "refuse"})
    for number, has_crashed in ((signal.SIGSEGV, True), (signal.SIGKILL, False)):
        with pytest.raises(WorkerEndedError) as ended:
            one.ask({"do": "end", "signal": number})
        assert (ended.value.signal_name, ended.value.has_crashed) == (number.name, has_crashed)
        assert ended.value.last_lines == ["the last line"]
        assert not ended.value.is_late
    assert one.num_starts == 2


def test_one_that_ends_is_started_again_unless_it_is_for_once(play: Callable[..., Worker]) -> None:
    one = play(ECHO)
    one.ask({})
    child = psutil.Process(one.pid)
    child.kill()
    child.wait()
    one.ask({})
    assert one.num_starts == 2
    once = play(ECHO, is_once=True)
    once.ask({})
    once.kill()
    with pytest.raises(WorkerEndedError) as ended:
        once.ask({})
    assert ended.value.signal_name == "SIGKILL"


def test_one_has_ended_also_while_a_thread_still_waits_for_its_end(play: Callable[..., Worker]) -> None:
    one = play(ECHO)
    one.ask({})
    child = one._child
    assert child
    with child._process._waitpid_lock:  # as a thread that waits holds it
        psutil.Process(child.pid).kill()
        while not child.is_gone:
            time.sleep(0)
        assert child.has_ended


def test_a_question_ends_at_its_deadline_when_it_is_called_off_and_when_it_is_closed(
    play: Callable[..., Worker],
) -> None:
    one = play(BUSY)
    with pytest.raises(WorkerEndedError) as ended:
        one.ask({}, max_s=0.1)
    assert ended.value.is_late

    def call_off(news: object) -> None:
        if not news:
            raise KeyError

    with pytest.raises(KeyError):
        one.ask({}, on_news=call_off, every_s=0.05)
    threading.Timer(0.1, one.close).start()
    with pytest.raises(WorkerEndedError) as ended:
        one.ask({}, b"x" * 5_000_000)  # more than the pipe takes
    assert not ended.value.is_late
    with pytest.raises(WorkerEndedError):
        one.ask({})


def test_a_question_that_nobody_reads_ends_at_its_deadline(play: Callable[..., Worker]) -> None:
    one = play("import time; time.sleep(99)")
    with pytest.raises(WorkerEndedError):
        one.ask({}, b"x" * 5_000_000, max_s=0.1)


UNSAFE = '{"id": 1, "refusal": {"text": "{a.b}", "values": {"a": 1}}}'


@pytest.mark.parametrize("said", ["[]", "{", '{"id": 1, "parts": [9]}', '"id"', "\\xff", UNSAFE])
def test_what_is_no_message_ends_it(play: Callable[..., Worker], said: str) -> None:
    one = play(f"import os, time\nos.write(1, b'{said}\\n')\nos.close(1)\ntime.sleep(99)")
    with pytest.raises(WorkerEndedError):
        one.ask({})


def test_a_worker_does_not_outlive_a_program_that_is_killed() -> None:
    """All that such an end does is to close the pipe, while the worker computes."""
    command = [sys.executable, "-c", PARENT]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=worker.environment()) as parent:
        assert parent.stdout
        child = psutil.Process(int(parent.stdout.readline()))
        parent.kill()
    try:
        child.wait(30)
    finally:
        with contextlib.suppress(psutil.NoSuchProcess):
            child.kill()  # it would compute on


def test_what_it_has_started_is_killed_with_it(play: Callable[..., Worker]) -> None:
    one = play(
        BEGIN + "import subprocess\nother = subprocess.Popen([sys.executable, '-c', 'while True: pass'])\n"
        "parent.serve(lambda question: ({'pid': other.pid},))"
    )
    other = psutil.Process(one.ask({})[0]["pid"])
    one.close()
    other.wait(30)


def test_limits_of_time_are_from_here_on_and_no_core_is_left(play: Callable[..., Worker]) -> None:
    one = play(
        BEGIN + "import resource\n"
        "def answer(question):\n    worker.limit(CPU=5)\n"
        "    (cpu, _), (core, _) = map(resource.getrlimit, (resource.RLIMIT_CPU, resource.RLIMIT_CORE))\n"
        "    return ({'left_s': cpu - time.process_time(), 'core': core},)\n"
        "while time.process_time() < 1.0: pass\nparent.serve(answer)"
    )
    found, _ = one.ask({})
    assert 5 <= found["left_s"] <= 6.1
    assert found["core"] == 0


@pytest.mark.parametrize(
    ("at_end", "patience_s", "code"), [("sys.exit(3)", 30, 3), ("time.sleep(99)", 0, -9)]
)
def test_a_child_that_is_hung_up_on_may_end_in_its_own_way_but_soon(
    monkeypatch: pytest.MonkeyPatch, at_end: str, patience_s: float, code: int
) -> None:
    program = f"import sys, time\nprint('{{}}', flush=True)\nsys.stdin.read()\n{at_end}"
    monkeypatch.setattr(worker, "command", lambda *_names: [sys.executable, "-c", program])
    child = Child("module")
    assert child.receive() == ({}, [])
    began = time.monotonic()
    child.hang_up()
    child.await_end(patience_s)
    child.reap()
    assert child.exit_code == code
    assert time.monotonic() - began < 30
