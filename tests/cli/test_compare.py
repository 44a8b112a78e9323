"""`skein compare` with tiny random models: figures, JSON of every token, and refusals."""

import io
import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from app.cli import compare
from app.main import main

pytestmark = pytest.mark.native

TEXT = "Hello, 你好 and good bye."


@pytest.fixture
def command(tiny_gguf, tmp_path: Path) -> list[str]:
    path = tmp_path / "text.txt"
    path.write_text(TEXT, encoding="utf-8")
    return [str(tiny_gguf("llama")), str(tiny_gguf("qwen3")), str(path), "--threads", "1"]


def test_the_table_has_the_figures_and_the_farthest_places(command, capfd) -> None:
    assert main(["compare", *command]) == 0
    lines = capfd.readouterr().out.splitlines()
    assert lines[0].startswith(f"base   {command[0]}: perplexity ")
    assert lines[1].startswith(f"other  {command[1]}: perplexity ")
    assert lines[2].startswith("KL divergence of 24 tokens: mean ")
    assert lines[4].startswith("They would part at token 4: ")
    columns = [line.split() for line in lines[7:]]
    assert len(columns) == 20
    divergences = [float(column[1]) for column in columns]
    assert divergences == sorted(divergences, reverse=True)


def test_json_has_everything_of_every_token(command, capfd, monkeypatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(TEXT.encode())))
    assert compare.main([*command[:2], "-", "--json", "--ctx", "16", *command[3:]]) == 0
    found = json.loads(capfd.readouterr().out)
    assert (found["base"], found["n_ctx"], found["num_compared"]) == (
        command[0],
        16,
        len(found["tokens"]) - 1,
    )
    first, second, *_ = found["tokens"]
    assert "kl" not in first
    assert set(second) == {"token", "id", "text", "kl", "base", "other"}
    assert set(second["base"]) == {"logprob", "rank", "choice_id", "choice"}
    assert "".join(one["text"] for one in found["tokens"]).startswith("Hello, \\xe4\\xbd")
    assert found["tokens"][-1]["text"] == "."
    kl = [one["kl"] for one in found["tokens"][1:]]
    assert found["kl"]["mean"] == pytest.approx(sum(kl) / len(kl))
    assert found["kl"]["100.0%"] == max(kl) > found["kl"]["50.0%"]
    assert found["first_parting"] == next(
        one["token"] for one in found["tokens"][1:] if one["base"]["choice_id"] != one["other"]["choice_id"]
    )


def test_a_byte_order_mark_is_no_token(command, capfd) -> None:
    Path(command[2]).write_text("ab", encoding="utf-8-sig")
    assert compare.main(command) == 0
    assert "KL divergence of 1 token:" in capfd.readouterr().out


def test_a_file_against_itself_never_parts(command, capfd) -> None:
    assert compare.main([command[0], command[0], *command[2:], "--json"]) == 0
    found = json.loads(capfd.readouterr().out)
    assert found["kl"]["100.0%"] == 0
    assert found["perplexity"]["base"] == found["perplexity"]["other"]
    assert (found["same_choice"], found["first_parting"]) == (1, None)


def test_refusals_go_to_stderr(command, tmp_path, capfd) -> None:
    assert compare.main([command[0], "none.gguf", *command[2:]]) == 1
    out, err = capfd.readouterr()
    assert out == ""
    assert err == "skein compare: none.gguf cannot be read: No such file or directory.\n"
    with pytest.raises(SystemExit, match="2"):
        compare.main([*command[:2], str(tmp_path / "none.txt")])
    assert "none.txt cannot be read" in capfd.readouterr().err


def test_ctrl_c_ends_it_and_its_child(command, tmp_path) -> None:
    Path(command[2]).write_text("one two three " * 4_000)
    program = [sys.executable, "-m", "app", "compare", *command]
    process = subprocess.Popen(program, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        while not psutil.Process(process.pid).children():
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
    finally:
        process.kill()
    assert (process.returncode, out) == (130, b"")
    assert b"Traceback" not in err
