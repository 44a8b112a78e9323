"""Damaged and hostile files and the real child: each ends in words, and none reaches this process."""

from __future__ import annotations

import contextlib
import json
import os
import random
import re
import resource
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import gguf
import numpy as np
import psutil
import pytest

from app.engine.children import probe
from app.engine.children.probe import open_probed_backend
from app.engine.children.probe_child import EVERY_BYTE
from app.engine.engine import Engine
from app.engine.llama.loading import open_llama_backend
from app.protocol.errors import ModelLoadCancelledError, ModelLoadError
from app.protocol.load import LoadParams
from tests.driver import ask, request
from tests.effort import EFFORT
from tests.native.tiny_ggufs import ARCHITECTURES, write_tiny_gguf
from tests.ready_children import started_children

pytestmark = pytest.mark.native

ROOT = Path(__file__).parents[2]
CHAT_ARCHITECTURES = [name for name in ARCHITECTURES if name not in ("bert", "bert-ranker", "t5", "llada")]
NESTED_LOOPS = "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}"


def params(path: Path) -> LoadParams:
    return LoadParams(path, n_ctx=256, n_seq_max=1, n_threads=1)


def refusal(path: Path) -> str:
    with pytest.raises(ModelLoadError) as refused:
        probe.probe(path)
    return str(refused.value)


def load_refusal(path: Path) -> str:
    with pytest.raises(ModelLoadError) as refused, open_llama_backend(params(path)):
        pass
    return str(refused.value)


@pytest.fixture
def tiny(tmp_path) -> Path:
    """A model of its own for the test, to be damaged; without a template, so that no child renders it."""
    return write_tiny_gguf(tmp_path / "tiny.gguf", "qwen3", chat_template=None)


def set_metadata(path: Path, key: str, value: float) -> Path:
    reader = gguf.GGUFReader(path, "r+")
    reader.fields[key].parts[-1][0] = value
    reader.data.flush()
    return path


def set_weights(path: Path, tensor: str, value: float, count: int | None = None) -> Path:
    reader = gguf.GGUFReader(path, "r+")
    (weights,) = (one.data for one in reader.tensors if one.name == tensor)
    weights.reshape(-1)[:count] = value
    reader.data.flush()
    return path


# Good files


def test_a_file_that_passed_opens_without_a_child_from_then_on(tiny_gguf, monkeypatch):
    seen: list[float] = []
    with open_probed_backend(params(tiny_gguf("qwen3")), lambda done: not seen.append(done)) as backend:
        assert backend.model.architecture == "qwen3"
    assert seen == sorted(seen)
    assert seen[-1] == 1.0
    assert any(0 < done < probe.PROBE_SHARE for done in seen)

    monkeypatch.setattr("app.system.worker.command", None)
    with open_probed_backend(params(tiny_gguf("qwen3"))):
        pass


@pytest.mark.parametrize(
    "source", [NESTED_LOOPS, "{{ raise_exception('no') }}", "{% for", "{{ 'a' * 10 ** 10 }}"]
)
def test_a_template_that_fails_is_a_line_in_the_log(tmp_path, source, caplog):
    path = write_tiny_gguf(tmp_path / "tiny.gguf", "qwen3", chat_template=source)
    with caplog.at_level("INFO", "app.engine.children.probe"):
        assert probe.probe(path)
    assert "chat template" in caplog.text or "no" in caplog.text


# Refusals in the words of the load itself


def test_what_cannot_be_loaded_is_refused_as_the_load_would(tiny_gguf, tmp_path, tiny):
    letter = tmp_path / "letter.gguf"
    letter.write_text("Dear reader")
    pipe = tmp_path / "pipe.gguf"
    os.mkfifo(pipe)
    cut = tmp_path / "cut.gguf"
    cut.write_bytes(tiny.read_bytes()[:-1000])
    for path in (tiny_gguf("bert"), tmp_path / "none.gguf", tmp_path, letter, pipe, cut):
        message = refusal(path)
        assert message == load_refusal(path)
        assert path.name in message


def test_a_path_that_is_a_loop_of_links_is_refused(tmp_path):
    loop = tmp_path / "loop.gguf"
    loop.symlink_to(tmp_path / "other.gguf")
    (tmp_path / "other.gguf").symlink_to(loop)
    for path in (loop, loop / "model.gguf"):
        assert "cannot be read" in refusal(path)
        with pytest.raises(ModelLoadError, match="cannot be read"), open_probed_backend(params(path)):
            pass


@pytest.mark.parametrize("max_checked_bytes", [1 << 30, 0], ids=["small file", "too large to check"])
def test_weights_that_are_not_numbers_are_found(tiny, monkeypatch, max_checked_bytes):
    monkeypatch.setattr(probe, "MAX_CHECKED_BYTES", max_checked_bytes)
    message = refusal(set_weights(tiny, "blk.1.ffn_up.weight", np.nan, count=9))
    assert "NaN or infinite" in message
    assert re.search("The file may be damaged[.:] [Dd]ownload it again", message)


def test_a_file_of_zeros_where_the_weights_should_be_is_found(tiny):
    """What an interrupted download leaves that had reserved its space."""
    assert "only zeros" in refusal(set_weights(tiny, "token_embd.weight", 0.0))


def test_a_model_that_no_chat_fits_into_is_refused(tiny):
    assert "too short for chatting" in refusal(set_metadata(tiny, "qwen3.context_length", 1))


# Files that kill


def test_an_assertion_in_the_library_ends_the_child_and_is_named(tiny):
    message = refusal(set_metadata(tiny, "qwen3.block_count", 0))
    assert message.startswith("tiny.gguf crashed the process testing it (SIGABRT: llama.cpp/src/")
    assert "GGML_ASSERT" in message


def test_one_that_dies_only_of_a_decode_is_found(tiny):
    assert "SIGABRT" in refusal(set_metadata(tiny, "qwen3.attention.layer_norm_rms_epsilon", -1.0))


def write_with_tokenizer(path: Path, tokenizer: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    add = gguf.GGUFWriter.add_tokenizer_model
    monkeypatch.setattr(gguf.GGUFWriter, "add_tokenizer_model", lambda writer, _: add(writer, tokenizer))
    return write_tiny_gguf(path, "qwen3", chat_template=None)


def test_a_vocabulary_that_dies_of_letters_it_lacks_is_found(tmp_path, monkeypatch):
    assert len(set(EVERY_BYTE.encode())) == 256 - 1 - 13  # but 0 and the 13 bytes that UTF-8 never has
    path = write_with_tokenizer(tmp_path / "tiny.gguf", "llama", monkeypatch)
    assert "SIGABRT: what(): unordered_map::at" in " ".join(refusal(path).split())


def test_a_vocabulary_that_eats_the_memory_ends_at_the_limit(tmp_path, monkeypatch):
    """Unlimited, it takes all there is: the tokenizer does not move on from a letter that it lacks."""
    monkeypatch.setattr(probe, "BASE_MEMORY_BYTES", 512 << 20)
    path = write_with_tokenizer(tmp_path / "tiny.gguf", "rwkv", monkeypatch)
    assert "std::bad_alloc" in refusal(path)


def test_one_that_computes_without_end_is_ended(tmp_path, monkeypatch):
    monkeypatch.setattr(probe, "BASE_CPU_S", 1)
    monkeypatch.setattr(probe, "BASE_MEMORY_BYTES", 16 << 30)
    path = write_with_tokenizer(tmp_path / "tiny.gguf", "rwkv", monkeypatch)
    assert "took over 1 seconds of CPU time" in refusal(path)


def test_called_off_in_the_middle_it_leaves_no_process(tmp_path):
    path = write_tiny_gguf(tmp_path / "tiny.gguf", "qwen3", chat_template=NESTED_LOOPS)
    before = started_children()
    family: list[psutil.Process] = []

    def called_off_while_the_template_renders(fraction: float) -> bool:
        family[:] = started_children() - before
        return fraction < 1.0 or len(family) < 2

    with pytest.raises(ModelLoadCancelledError):
        probe.probe(path, called_off_while_the_template_renders)
    psutil.wait_procs(family, timeout=30)
    assert not [one for one in family if one.is_running() and one.status() != psutil.STATUS_ZOMBIE]


# Many


EXAMINE = """
import json, sys
from pathlib import Path
from app.engine.children import probe_child
from app.protocol.errors import EngineError
probe_child.limit(1 << 30, 60)
for path in sys.argv[1:]:
    try:
        remarks = probe_child.examine(Path(path), lambda _: True, check_tensors=True)
        verdict = "good"
    except EngineError as error:
        verdict = str(error)
    print(json.dumps([path, verdict]), flush=True)
"""


def examine(files: Sequence[Path]) -> dict[Path, str]:
    """What the child thinks of each file. One process takes as many as it survives: starting takes long."""
    verdicts: dict[Path, str] = {}
    while left := [file for file in files if file not in verdicts]:
        environment = os.environ | {"PYTHONPATH": str(ROOT), "GGML_NO_BACKTRACE": "1"}
        child = subprocess.run(
            [sys.executable, "-P", "-c", EXAMINE, *left], capture_output=True, check=False, env=environment
        )
        verdicts |= {Path(path): verdict for path, verdict in map(json.loads, child.stdout.splitlines())}
        if child.returncode:
            assert child.returncode < 0, child.stderr.decode()
            verdicts[next(file for file in files if file not in verdicts)] = "died"
    return verdicts


def test_good_files_of_each_kind_are_good(tiny_gguf):
    files = [tiny_gguf(architecture) for architecture in CHAT_ARCHITECTURES]
    assert examine(files) == dict.fromkeys(files, "good")


def test_a_file_cut_anywhere_is_refused(tmp_path, tiny_gguf):
    data = tiny_gguf("qwen3").read_bytes()
    cuts = [tmp_path / f"cut-{number}.gguf" for number in range(20)]
    for number, path in enumerate(cuts):
        path.write_bytes(data[: len(data) * number // 20])
    verdicts = examine(cuts)
    assert "good" not in verdicts.values()
    assert all(path.name in verdict for path, verdict in verdicts.items())


def bytes_changed(data: bytes, rng: random.Random) -> bytes:
    """A few bytes of the header are others, which hits sizes, types, keys and names."""
    mutant = bytearray(data)
    for _ in range(rng.choice([1, 2, 4])):
        mutant[rng.randrange(8, data.index(b"blk.3"))] = rng.choice(
            [0, 1, 0x7F, 0x80, 0xFF, rng.randrange(256)]
        )
    return bytes(mutant)


def count_changed(data: bytes, rng: random.Random) -> bytes:
    """One of the counts and lengths at the beginning claims an absurd size."""
    at = rng.choice([8, 16, 24])  # tensors, keys, letters of the first key
    claim = rng.choice([2**31, 2**32, 2**40, 2**60, 2**63 - 1, 2**64 - 1])
    return data[:at] + claim.to_bytes(8, "little") + data[at + 8 :]


@pytest.fixture
def mutants(tmp_path) -> list[Path]:
    rng = random.Random(1)
    sources = [
        write_tiny_gguf(tmp_path / f"{name}.gguf", name, chat_template=None)
        for name in ("qwen3", "lfm2", "mamba")
    ]
    written = []
    for number in range(90 * EFFORT):
        path = tmp_path / f"mutant-{number}.gguf"
        change = count_changed if number % 9 == 0 else bytes_changed
        path.write_bytes(change(rng.choice(sources).read_bytes(), rng))
        written.append(path)
    for key in (
        "context_length",
        "block_count",
        "attention.head_count",
        "attention.head_count_kv",
        "rope.freq_base",
    ):
        for value in (0, 1, 2**31 - 1):
            path = tmp_path / f"mutant-{key}-{value}.gguf"
            written.append(set_metadata(Path(shutil.copy(sources[0], path)), f"qwen3.{key}", value))
    return written


def test_every_mutant_ends_in_a_verdict_and_the_good_ones_answer_here(mutants):
    verdicts = examine(mutants)
    assert set(verdicts) == set(mutants)
    dead = [path for path in mutants if verdicts[path] == "died"]
    good = [path for path in mutants if verdicts[path] == "good"]
    assert dead, "none of them shows what a child is for"
    for path in dead[:3]:
        assert "crashed the process testing it" in refusal(path)
    assert good, "none of them shows that what passes may come in"
    for path in good:
        with open_llama_backend(params(path)) as backend, contextlib.closing(Engine(backend)) as engine:
            assert ask(engine, request("hello", max_tokens=2)).finish_reason


# Limits


def test_the_child_limits_itself_before_it_opens_anything():
    program = (
        "import json, os, resource, sys\n"
        "from app.engine.children import probe_child\n"
        "probe_child.limit(1 << 30, 77)\n"
        "limits = {name: resource.getrlimit(getattr(resource, name))[0]"
        " for name in ('RLIMIT_CORE', 'RLIMIT_CPU', 'RLIMIT_DATA')}\n"
        "print(json.dumps(limits | {'nice': os.nice(0), 'llama': 'llama_cpp' in sys.modules}))\n"
    )
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-P", "-c", program], capture_output=True, check=True, env=environment
    )
    limits = json.loads(done.stdout)
    assert (limits["RLIMIT_CORE"], limits["RLIMIT_DATA"]) == (0, 1 << 30)
    assert 77 <= limits["RLIMIT_CPU"] < 177
    assert limits["nice"] >= 10
    assert not limits["llama"]


def test_this_process_keeps_its_own_limits(tiny_gguf):
    kinds = (resource.RLIMIT_CORE, resource.RLIMIT_CPU, resource.RLIMIT_DATA, resource.RLIMIT_FSIZE)
    before = [resource.getrlimit(kind) for kind in kinds]
    probe.probe(tiny_gguf("qwen3"))
    assert [resource.getrlimit(kind) for kind in kinds] == before
