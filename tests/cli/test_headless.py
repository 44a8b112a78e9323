"""How `skein ask` and `skein serve` load a model: by options, by what the window keeps, over workers."""

import argparse
import json
import socket
from pathlib import Path
from urllib.error import HTTPError

import pytest

from app.cli import ask, headless
from app.models import memory_fit
from app.protocol.errors import ModelLoadError, NoRoomYetError
from app.protocol.load import USUAL_DRAFTED_TOKENS, KvType, LoadParams, LoraAdapter
from app.settings.settings import AdapterSettings, ModelSettings, Settings
from app.system import paths
from tests.cli.test_serve import address_of, end, serving
from tests.cli.test_serve import ask as ask_server
from tests.worker_machines import machines


def params_of(*arguments: str) -> LoadParams:
    parser = argparse.ArgumentParser()
    headless.add_model_options(parser, "slots")
    return headless.load_params_of(parser.parse_args(arguments), default_slots=4)


def keep_settings(**settings: object) -> None:
    kept = Settings.load(paths.settings_file())
    for name, value in settings.items():
        setattr(kept, name, value)
    kept.save()


def test_where_nothing_was_chosen_the_default_holds() -> None:
    assert params_of("--model", "x.gguf") == LoadParams(Path("x.gguf"), n_seq_max=4, is_recorded=False)


def test_a_loop_of_links_is_a_path_as_any_other(tmp_path: Path) -> None:
    loop = tmp_path / "loop.gguf"
    loop.symlink_to(loop)
    keep_settings(models={str(loop): ModelSettings()})
    assert params_of("--model", "x.gguf").path == Path("x.gguf")
    assert params_of("--model", str(loop)).path == loop


def test_a_draft_model_guesses_also_where_no_number_was_chosen() -> None:
    named = ("--model", "x.gguf", "--draft-model", "small.gguf")
    assert params_of(*named).of_draft_model == LoadParams(
        Path("small.gguf"), n_seq_max=4, num_drafted_tokens=0, swa_full=True, is_recorded=False
    )
    assert params_of(*named).num_drafted_tokens == USUAL_DRAFTED_TOKENS
    assert params_of(*named, "--draft", "3").num_drafted_tokens == 3
    assert params_of(*named, "--draft", "0").of_draft_model is None


def test_what_was_chosen_in_the_window_counts_and_the_options_go_before_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x.gguf"
    own = ModelSettings(
        n_ctx=1024,
        n_seq_max=2,
        type_k="q8_0",
        adapters=(AdapterSettings(path=tmp_path / "a.gguf", scale=0.5),),
        workers=("10.0.0.2:50052",),
    )
    keep_settings(models={str(path): own}, n_threads=3, n_seq_max=6)
    chosen = LoadParams(
        path,
        n_ctx=1024,
        n_seq_max=2,
        n_threads=3,
        type_k=KvType.Q8_0,
        adapters=(LoraAdapter(tmp_path / "a.gguf", 0.5),),
        workers=("10.0.0.2:50052",),
        is_recorded=False,
    )
    assert params_of("--model", str(path)) == chosen
    monkeypatch.chdir(tmp_path)
    assert params_of("--model", "./x.gguf").n_ctx == 1024  # the same file
    other = params_of("--model", str(path), "--ctx", "512", "--slots", "8", "--isolated", "--workers=")
    assert (other.n_ctx, other.n_seq_max, other.isolated, other.workers) == (512, 8, True, ())
    assert other.type_k is KvType.Q8_0
    assert params_of("--model", str(path), "--no-settings") == LoadParams(
        path, n_seq_max=4, is_recorded=False
    )
    assert params_of("--model", str(tmp_path / "y.gguf")).n_seq_max == 4  # how many tabs say nothing here


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--workers", "nowhere:port"], "not the address of a worker"),
        (["--slots", "0"], "at least 1"),
        (["--ctx", "many"], "no whole number"),
        (["--threads", "-1"], "at least 0"),
    ],
)
def test_what_makes_no_sense_is_refused_before_anything_is_loaded(
    arguments: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        params_of(*arguments)
    assert told in capsys.readouterr().err


@pytest.mark.native
def test_a_worker_that_is_not_there_is_named_with_what_to_do(tiny_gguf, capfd) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        address = f"127.0.0.1:{closed.getsockname()[1]}"
    assert ask.main(["--model", str(tiny_gguf("qwen3")), "--workers", address, "hi"]) == 1
    told = capfd.readouterr().err
    assert "trusted networks only" in told
    assert f"The worker {address} cannot be reached" in told
    assert "skein worker --host" in told


@pytest.mark.native
def test_workers_change_no_answer_and_the_loss_of_one_is_made_good(tiny_gguf, capfd) -> None:
    model = str(tiny_gguf("qwen3"))
    options = ["--threads", "1", "--ctx", "512"]
    question = [*options, "--model", model, "--temperature", "0", "--max-tokens", "8", "--json", "one", "two"]

    def texts(*arguments: str) -> list[str]:
        assert ask.main([*arguments, *question]) == 0
        return [json.loads(line)["text"] for line in capfd.readouterr().out.splitlines()]

    alone = texts()
    with machines(1, "loopback") as (machine,):
        assert texts("--workers", machine.address) == alone
        keep_settings(models={model: ModelSettings(workers=(machine.address,))})
        with serving("--model", model, *options, "--api-key", "k") as process:
            address, body = address_of(process), {"prompt": "one", "max_tokens": 8, "temperature": 0}
            expected = ask_server(address, "k", "/generate", body)["text"]
            assert expected
            assert process.stderr
            assert "trusted networks only" in process.stderr.readline()
            machine.kill()
            with pytest.raises(HTTPError, match="503"):  # who asks meanwhile
                ask_server(address, "k", "/generate", body)
            lines = iter(process.stderr.readline, "skein serve: it answers again.\n")
            told = next(line for line in reversed(list(lines)) if "loaded again without it" in line)
            assert f"{machine.address}, which held part of the model, no longer responds" in told
            assert ask_server(address, "k", "/generate", body)["text"] == expected
            assert end(process) == (0, "")


@pytest.mark.parametrize(("held", "error"), [({"": 1 << 40}, NoRoomYetError), ({}, ModelLoadError)])
def test_what_others_would_free_makes_a_load_wait_that_else_is_refused(
    held: dict[str, int], error: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory_fit, "free_memory_bytes", lambda: 1 << 20)
    params = LoadParams(paths.starter_model(), n_ctx=512, n_threads=1)
    with pytest.raises(ModelLoadError) as raised, headless.open_engine(params, lambda _: True, print, held):
        pass
    assert raised.type is error
