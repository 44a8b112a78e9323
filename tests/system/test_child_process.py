"""Children must end with us, whatever they are doing, and none may be left."""

import subprocess
import sys
from pathlib import Path

import pytest

from app.system import child_process

ROOT = Path(__file__).parents[2]


@pytest.fixture
def start():
    """Runs a program as a child, which has said a first line when it is handed over."""
    children = []

    def start_program(program: str, **options: object) -> subprocess.Popen[bytes]:
        child = subprocess.Popen(
            [sys.executable, "-c", program],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={"PYTHONPATH": str(ROOT)},
            **options,
        )
        children.append(child)
        assert child.stdout.readline()
        return child

    yield start_program
    for child in children:
        child_process.reap(child)


def test_values_arrive_as_they_were_sent(start):
    echo = (
        "import sys\nfrom app.system import child_process\nprint('ready', flush=True)\n"
        "child_process.send(sys.stdout.buffer, child_process.receive(sys.stdin.buffer))"
    )
    child = start(echo)
    value = {"text": "ä\n\udc80", "numbers": [1, 2.5, None, True]}
    child_process.send(child.stdin, value)
    assert child_process.receive(child.stdout) == value


@pytest.mark.parametrize("busy", ["while True: pass", "import time; time.sleep(1000)"])
def test_a_child_ends_when_its_parent_does(start, busy):
    """All that a parent's end does, however sudden, is to close the pipe."""
    child = start(
        "from app.system import child_process\n"
        "child_process.end_with_parent()\n"
        f"print('busy', flush=True)\n{busy}"
    )
    child.stdin.close()
    assert child.wait(30) == 1
    child.stdin = None  # communicate() would flush it


def test_what_a_leader_has_started_is_killed_with_it(start):
    child = start(
        "import subprocess, sys\n"
        "other = subprocess.Popen([sys.executable, '-c', 'while True: pass'])\n"
        "print('started', flush=True)\nother.wait()",
        start_new_session=True,
    )
    child_process.kill(child)
    assert child.stdout.read() == b""  # there is an end only when the last of them is gone


def test_to_kill_one_that_has_ended_does_nothing(start):
    child = start("print('done')", start_new_session=True)
    assert child.wait(30) == 0
    child_process.kill(child)
    child_process.reap(child)
    assert child.returncode == 0


def test_a_child_that_is_hung_up_on_may_end_in_its_own_way(start):
    child = start("import sys\nprint('listening', flush=True)\nsys.stdin.read()\nprint('bye')\nsys.exit(3)")
    child_process.hang_up(child)
    child_process.await_end(child, 30)
    assert (child.stdout.read(), child.returncode) == (b"bye\n", 3)


def test_a_child_that_does_not_end_is_killed(start):
    child = start("print('busy', flush=True)\nwhile True: pass", start_new_session=True)
    child_process.hang_up(child)
    child_process.await_end(child, 0)
    assert child.wait(30) < 0
