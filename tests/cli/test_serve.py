"""`skein serve` as a program: what it prints, how it ends, what it refuses."""

import asyncio
import hashlib
import json
import os
import re
import signal
import socket
import ssl
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from app.cli import serve
from app.settings.settings import Settings
from app.shelves.index import ShelfIndex
from app.shelves.scan import Changes
from app.shelves.shelf import Shelf, write_shelves
from app.system import paths
from app.system.files import Stamp

pytestmark = pytest.mark.native

ROOT = Path(__file__).parents[2]
SOON = 60
STARTER = ["--threads", "1", "--ctx", "512"]  # the starter model needs no trial in a child process


@contextmanager
def serving(*arguments: str, **environment: str) -> Iterator[subprocess.Popen[str]]:
    """The program, without Qt, in whatever state it is in."""
    command = [sys.executable, "-m", "tests.cli.without_qt", "serve", *arguments]
    variables = {**os.environ, **environment}
    process = subprocess.Popen(
        command, cwd=ROOT, env=variables, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate(timeout=SOON)


def address_of(process: subprocess.Popen[str]) -> str:
    """Waits for it to be ready."""
    assert process.stdout
    line = process.stdout.readline()
    found = re.fullmatch(r"listening on (http://127\.0\.0\.1:\d+)\n", line)
    assert found, (line, process.stderr and process.stderr.read())
    return found[1]


def ask(address: str, key: str, path: str = "/v1/models", body: object = None) -> dict:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(address + path, data, {"X-Api-Key": key})
    with urllib.request.urlopen(request, timeout=SOON) as answer:
        return json.load(answer)


def end(process: subprocess.Popen[str], number: signal.Signals = signal.SIGTERM) -> tuple[int, str]:
    process.send_signal(number)
    _out, err = process.communicate(timeout=SOON)
    return process.returncode, err


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_serves_until_it_is_told_to_stop(number):
    with serving(*STARTER, "--api-key", "k") as process:
        address = address_of(process)
        body = {"prompt": "x", "max_tokens": 2}
        assert ask(address, "k", "/generate", body)["usage"]["completion_tokens"] > 0
        assert end(process, number) == (0, "")


def test_it_stops_soon_in_the_middle_of_an_answer():
    with serving(*STARTER, "--api-key", "k") as process:
        body = json.dumps({"prompt": "x", "stream": True, "ignore_eos": True}).encode()
        request = urllib.request.Request(f"{address_of(process)}/generate", body, {"X-Api-Key": "k"})
        with urllib.request.urlopen(request, timeout=SOON) as answer:
            answer.readline()
            assert end(process) == (0, "")
            assert b"The server was stopped." in answer.read()


def test_a_key_is_made_and_told_once_on_stderr():
    with serving(*STARTER) as process:
        address = address_of(process)
        assert process.stderr
        key = process.stderr.readline().split()[-1]
        assert len(key) >= 43
        assert ask(address, key)["object"] == "list"
        with pytest.raises(urllib.error.HTTPError, match="401"):
            ask(address, "another")
        assert end(process)[0] == 0


def test_the_key_can_come_from_the_environment_and_then_neither_it_nor_a_prompt_is_told():
    with serving(*STARTER, "--alias", "clever", SKEIN_API_KEY="canary-key") as process:
        address = address_of(process)
        assert ask(address, "canary-key")["data"][0]["id"] == "clever"
        ask(address, "canary-key", "/generate", {"prompt": "canary-prompt", "max_tokens": 1})
        with pytest.raises(urllib.error.HTTPError, match="400"):
            ask(address, "canary-key", "/generate", {"prompt": "canary-prompt " * 500})
        assert end(process) == (0, "")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--model", "nowhere.gguf"], "nowhere.gguf"),
        (["--host", "0.0.0.0", "--no-api-key"], "a key is needed"),
        (["--host", "203.0.113.7", "--api-key", "k"], "203.0.113.7"),
        (["--api-key", "k", "--no-api-key"], "not allowed with"),
        (["--port", "many"], "a port is a number from 0 to 65,535, not many"),
        (["--port", "99999"], "a port is a number from 0 to 65,535, not 99999"),
        (["--port", "-1"], "a port is a number"),
        (["--host", "127.0.0.1,::1"], "need a --port"),
        (["--host", "127.0.0.1,203.0.113.7", "--port", "1", "--no-api-key"], "a key is needed"),
        (["--allow-origin", "example.com"], "is not an origin"),
        (["--allow-origin", "*", "--no-api-key"], "a key is needed then"),
        (["--allow-host", "*"], "is not a host name"),
        (["--tls-key", "key.pem"], "its certificate is missing"),
        (["--tls-cert", "nowhere.pem"], "nowhere.pem"),
        (["--tls", "--tls-cert", "c.pem"], "not allowed with"),
        (["--temp", "-1"], "temperature must be between"),
        (["--max-tokens", "0"], "max_tokens must be at least 1"),
        (["--chat-template-kwargs", "{"], "cannot be read as JSON"),
        (["--sleep-idle-seconds", "0", "--no-api-key"], "some seconds"),
        (["--rerank", "--no-api-key"], "is not a reranker"),
        (["--tools", "all", "--no-api-key"], "--tools-folder"),
        (["--tools", "format", "--tools-folder", ".", "--no-api-key"], "no tool 'format'"),
        (["--mcp-servers-json", "x", "--no-api-key"], "list of MCP servers"),
        (["--mcp-servers-config", "/no/such/file", "--no-api-key"], "/no/such/file"),
        (["--slot-save-path", "/no/such/folder", "--no-api-key"], "/no/such/folder"),
        (["--models-dir", "/no/such/folder", "--no-api-key"], "/no/such/folder"),
        (["--models-dir", "resources/help", "--no-api-key"], "there are no models"),
        (["--models-dir", ".", "--alias", "x", "--no-api-key"], "go without FILE, --model, --alias"),
        (["--models-dir", ".", "x.gguf", "--no-api-key"], "go without FILE"),
        (["--library", "--model", "x.gguf", "--no-api-key"], "go without FILE"),
        (["--models-max", "-1", "--no-api-key"], "no whole number"),
        (["--engine", "--models-dir", "resources/models", "--no-api-key"], "it lends one model"),
    ],
)
def test_what_cannot_be_is_said_without_a_traceback(arguments, message, capfd):
    try:
        code = serve.main(arguments)
    except SystemExit as error:
        code = error.code
    err = capfd.readouterr().err
    assert code in (1, 2)
    assert message in err
    assert "Traceback" not in err


def test_an_embedding_model_is_served_without_being_told_what_it_is(tiny_gguf):
    with serving("--model", str(tiny_gguf("bert")), "--threads", "1", "--no-api-key") as process:
        address = address_of(process)
        data = ask(address, "", "/v1/embeddings", {"input": ["Hello", "there"]})["data"]
        assert [len(one["embedding"]) for one in data] == [32, 32]
        assert end(process) == (0, "")


def test_a_model_for_texts_is_not_lent(tiny_gguf, capfd):
    assert serve.main(["--model", str(tiny_gguf("bert")), "--engine", "--no-api-key"]) == 1
    assert "has no engine to lend" in capfd.readouterr().err


def test_a_lent_model_may_sleep():
    with serving(*STARTER, "--engine", "--sleep-idle-seconds", "0.05", "--no-api-key") as process:
        address = address_of(process)
        while not ask(address, "", "/props")["is_sleeping"]:
            pass
        assert end(process) == (0, "")


def test_embeddings_and_ranks_come_from_models_beside_the_chat_model(tiny_gguf):
    beside = ["--embedding-model", str(tiny_gguf("bert")), "--rerank-model", str(tiny_gguf("bert-ranker"))]
    with serving(*STARTER, *beside, "--text-tokens", "64", "--no-api-key") as process:
        address = address_of(process)
        assert len(ask(address, "", "/v1/models")["data"]) == 3
        assert ask(address, "", "/v1/embeddings", {"input": "Hello"})["usage"]["prompt_tokens"]
        ranked = ask(address, "", "/v1/rerank", {"query": "What?", "documents": ["a", "b"]})["results"]
        assert {result["index"] for result in ranked} == {0, 1}
        assert ask(address, "", "/generate", {"prompt": "x", "max_tokens": 1})["usage"]["completion_tokens"]
        with pytest.raises(urllib.error.HTTPError, match="400"):
            ask(address, "", "/v1/embeddings", {"input": "x " * 100})
        assert end(process) == (0, "")


async def put_on_shelf(shelf: Shelf, text: str) -> None:
    """As the window does, which has ended since."""
    write_shelves(paths.shelves_file(), [shelf])
    index = ShelfIndex(paths.shelf_texts_file())
    await index.apply(shelf, Changes(new={"/docs/anchor.txt": Stamp(1, 2, 3)}))
    await index.put(shelf, 1, text)
    await index.close()


def test_a_chat_names_a_shelf_of_the_windows():
    asyncio.run(put_on_shelf(Shelf("Boats", "/docs"), "The anchor weighs nine kilos."))
    chat = {"messages": [{"role": "user", "content": "Hello"}], "max_tokens": 1, "shelf": "Boats"}
    with serving(*STARTER, "--verbose", "--no-api-key") as process:
        address = address_of(process)
        answer = ask(address, "", "/v1/chat/completions", chat)
        assert "[1] anchor.txt" in answer["__verbose"]["prompt"]
        assert "nine kilos" in answer["__verbose"]["prompt"]
        (listed,) = ask(address, "", "/v1/shelves")["data"]
        assert (listed["name"], listed["num_files"], listed["is_whole"]) == ("Boats", 1, True)
        assert end(process) == (0, "")


def test_a_chat_model_makes_embeddings_only_if_it_is_asked_to():
    with serving(*STARTER, "--embeddings", "--pooling", "last", "--no-api-key") as process:
        address = address_of(process)
        assert ask(address, "", "/v1/embeddings", {"input": "Hello"})["data"][0]["embedding"]
        assert ask(address, "", "/generate", {"prompt": "x", "max_tokens": 1})["usage"]["completion_tokens"]
        assert end(process) == (0, "")


def test_an_idle_server_frees_its_model_and_loads_it_again_for_the_next_request():
    with serving(*STARTER, "--sleep-idle-seconds", "0.05", "--no-api-key") as process:
        address = address_of(process)
        while not ask(address, "", "/props")["is_sleeping"]:
            pass
        assert ask(address, "", "/generate", {"prompt": "x", "max_tokens": 1})["usage"]["completion_tokens"]
        assert end(process) == (0, "")


def test_models_of_folders_are_loaded_when_a_request_names_them(tiny_gguf, tmp_path):
    for name, kind in (("one", "llama"), ("two", "qwen3"), ("vectors", "bert")):
        (tmp_path / f"{name}.gguf").symlink_to(tiny_gguf(kind))
    limits = ["--models-max", "2", "--threads", "1", "--ctx", "256"]
    with serving("--models-dir", str(tmp_path), *limits, "--no-api-key") as process:
        address = address_of(process)

        def states() -> dict[str, str]:
            return {one["id"]: one["status"]["value"] for one in ask(address, "")["data"]}

        assert states() == {"one": "unloaded", "two": "unloaded", "vectors": "unloaded"}
        for name in ("one", "two"):
            answer = ask(address, "", "/v1/completions", {"model": name, "prompt": "x", "max_tokens": 2})
            assert answer["model"] == name
        body = ask(address, "", "/v1/embeddings", {"model": "vectors", "input": "Hello"})
        assert (body["model"], len(body["data"][0]["embedding"])) == ("vectors", 32)
        assert states() == {"one": "unloaded", "two": "loaded", "vectors": "loaded"}
        with pytest.raises(urllib.error.HTTPError, match="400"):
            ask(address, "", "/v1/embeddings", {"model": "one", "input": "Hello"})
        with pytest.raises(urllib.error.HTTPError, match="400"):
            ask(address, "", "/generate", {"model": "three", "prompt": "x"})
        assert end(process) == (0, "")


def test_two_files_of_one_name_are_told_apart_by_their_folders(tiny_gguf, tmp_path):
    for folder in ("new", "old"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "same.gguf").write_bytes(tiny_gguf("llama").read_bytes())
    options = serve._parse(["--models-dir", str(tmp_path), "--no-api-key"])
    assert [one.name for one in options.offers] == ["new/same", "old/same"]
    assert [one.aliases for one in options.offers] == [(), ()]


def test_the_library_is_what_the_window_lists(tiny_gguf):
    settings = Settings.load(paths.settings_file())
    settings.model_folders = [tiny_gguf("llama").parent]
    settings.save()
    names = [one.name for one in serve._parse(["--library", "--no-api-key"]).offers]
    assert tiny_gguf("llama").stem in names
    assert paths.starter_model().stem in names


def test_tools_of_mcp_servers_and_of_files_are_there_from_the_first_request(tmp_path):
    program = str(Path(__file__).parents[1] / "tools" / "sdk_server.py")
    servers = {"good": {"command": sys.executable, "args": [program]}, "bad": {"command": "no-such-program"}}
    text = json.dumps({"mcpServers": servers})
    tools = ["--mcp-servers-json", text, "--tools", "read_file", "--tools-folder", str(tmp_path)]
    with serving(*STARTER, *tools, "--no-api-key") as process:
        listed = ask(address_of(process), "", "/tools")
        assert [tool["tool"] for tool in listed][:2] == ["read_file", "good_echo"]
        code, err = end(process)
        assert code == 0
        assert "bad cannot be started" in err


def test_a_port_in_use_is_said_so():
    with serving(*STARTER, "--api-key", "k") as first:
        port = address_of(first).rpartition(":")[2]
        with serving(*STARTER, "--api-key", "k", "--port", port) as second:
            _out, err = second.communicate(timeout=SOON)
            assert second.returncode == 1
            assert f"port {port} is in use. Choose another --port" in err
            assert "Traceback" not in err


def test_other_machines_are_let_in_only_with_a_warning():
    with serving(*STARTER, "--host", "0.0.0.0", "--api-key", "k") as process:
        assert process.stderr
        assert "other machines can ask" in process.stderr.readline()
        assert process.stdout
        assert process.stdout.readline().startswith("listening on http://0.0.0.0:")


def test_with_tls_it_tells_the_fingerprint_of_its_certificate():
    with serving(*STARTER, "--host", "0.0.0.0", "--api-key", "k", "--tls") as process:
        assert process.stderr
        told = process.stderr.readline()
        assert process.stdout
        line = process.stdout.readline()
        port = int(re.fullmatch(r"listening on https://0\.0\.0\.0:(\d+)\n", line)[1])
        der = ssl.PEM_cert_to_DER_cert(ssl.get_server_certificate(("127.0.0.1", port), timeout=SOON))
        assert told.endswith(f"SHA-256 {hashlib.sha256(der).digest().hex(':').upper()}\n")
        assert end(process) == (0, "")  # and no warning that others can read along


def test_without_a_key_everybody_on_this_machine_may_ask():
    with serving(*STARTER, "--no-api-key", str(paths.starter_model())) as process:  # or --model
        assert ask(address_of(process), "")["object"] == "list"


def test_it_listens_on_several_addresses_and_keeps_to_what_its_options_say():
    with socket.socket(socket.AF_INET6) as probe:
        probe.bind(("::1", 0))
        port = str(probe.getsockname()[1])
    choices = ["--alias", "clever,wise", "--tags", "small", "--max-tokens", "3", "--temp", "0", "--seed", "5"]
    more = ["--isolated", "--slots", "2", "--no-monitoring", "--verbose"]
    hosts = ["--host", "127.0.0.1,::1", "--port", port]
    with serving(*STARTER, "--no-api-key", *hosts, *choices, *more) as process:
        for address in (address_of(process), f"http://[::1]:{port}"):
            model = ask(address, "")["data"][0]
            assert (model["id"], model["aliases"], model["tags"]) == ("clever", ["clever", "wise"], ["small"])
        props = ask(address, "", "/props")
        settings = props["default_generation_settings"]
        assert (settings["n_ctx"], props["total_slots"], props["endpoint_slots"]) == (256, 2, False)
        params = settings["params"]
        assert (params["n_predict"], params["temperature"], params["seed"]) == (3, 0.0, 5)
        answer = ask(address, "", "/v1/chat/completions", {"messages": [{"role": "user", "content": "Hi"}]})
        assert "Hi" in answer["__verbose"]["prompt"]
