import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from app.cli import worker

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--host", "0.0.0.0"], "--every-network"),
        (["--host", "no.such.host.invalid"], "no address of this machine"),
        (["--port", "70000"], "not between 0 and 65535"),
        (["--threads", "-1"], "--threads"),
    ],
)
def test_what_makes_no_sense_is_refused_before_anything_is_lent(arguments, told, capsys) -> None:
    with pytest.raises(SystemExit) as ended:
        worker.main(arguments)
    assert ended.value.code == 2
    assert told in capsys.readouterr().err


def test_a_port_that_is_used_is_named(capsys) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        assert worker.main(["--port", str(port)]) == 1
    told = capsys.readouterr().err
    assert f"cannot listen on 127.0.0.1:{port}" in told
    assert "another --port" in told


def test_an_address_of_another_machine_cannot_be_listened_on(capsys) -> None:
    assert worker.main(["--host", "203.0.113.9", "--port", "0"]) == 1
    assert "cannot listen on 203.0.113.9" in capsys.readouterr().err


@pytest.mark.native
def test_it_warns_says_where_it_listens_and_ends_when_it_is_told_to() -> None:
    """Also with the weights kept on disk, and without Qt."""
    command = [sys.executable, "-m", "app", "worker", "--port", "0", "--cache"]
    with subprocess.Popen(
        command, cwd=ROOT, env=os.environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout
        lines = []
        while not lines or not lines[-1].startswith("listening on 127.0.0.1:"):
            lines.append(process.stdout.readline())
        process.terminate()
        output, errors = process.communicate(timeout=20)
    assert process.returncode == 0
    assert any(line.startswith("lending ") and "MiB free" in line for line in lines)
    assert "RPC protocol 7.0.0, llama-cpp-python " in "".join(lines)
    assert "trusted networks only" in errors
    assert output.endswith("ended\n")
