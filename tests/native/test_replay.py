"""`skein replay`: what was recorded is computed again to the same bits, and one other bit is found.

By hand, over many schedules: `SKEIN_TEST_EFFORT=20`.
"""

import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import gguf
import pytest

from app.cli import replay
from app.engine.engine import Engine
from app.engine.llama import fingerprint
from app.engine.llama.loading import open_llama_backend
from app.inspector.recording import Recording
from app.inspector.recording_file import save
from app.protocol.events import EventKind, Told
from app.protocol.load import LoadParams
from app.protocol.model import ModelInfo
from app.protocol.report import StepReport
from app.protocol.request import Request
from app.protocol.sampling import SamplingParams
from tests.driver import all_guesses_checked, run
from tests.effort import EFFORT
from tests.native.oracle import IS_SAME_ALONE
from tests.native.random_engine import FAMILIES, Models, _Play, random_params

pytestmark = [
    pytest.mark.native,
    pytest.mark.skipif(not IS_SAME_ALONE, reason="no patches, or not on x86"),
]

NUM_SCHEDULES = 20 * EFFORT  # each family once


def recorded(model: ModelInfo, reports: list[StepReport], path: Path, **options: bool) -> Path:
    recording = Recording()
    recording.start(model)
    recording.append(reports)
    save(recording, path, **options)
    return path


def replayed(path: Path, model: Path) -> int:
    return replay.main([str(path), "--model", str(model), "--threads", "1"])


@pytest.mark.parametrize("seed", range(NUM_SCHEDULES))
def test_random_schedules_are_the_same_to_the_bit(seed, models, tmp_path, capfd):
    family = FAMILIES[seed % len(FAMILIES)]
    path, params = schedule(seed, models, family, tmp_path)
    assert replayed(path, params.path) == replay.SAME, f"{capfd.readouterr()}"
    assert "The same to the last bit" in capfd.readouterr().out


def schedule(seed: int, models: Models, family: str, folder: Path) -> tuple[Path, LoadParams]:
    """A recording of chats that are asked, forked, edited, aborted and hibernated, with draft tokens."""
    rng = random.Random(seed)
    params = replace(random_params(rng, models, family), adapters=())
    with open_llama_backend(params) as backend, all_guesses_checked():
        assert backend.model.is_same_alone
        play = _Play(rng, backend, folder)
        play._restart = lambda _name: None  # type: ignore[method-assign]
        play.play(45)
        model = backend.model
    return recorded(model, play._run.reports, folder / f"{seed}.html"), params


@pytest.fixture
def tiny(models: Models, monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """Two chats one after the other, of which only the second has an x; and what a copy is called."""
    monkeypatch.setattr(fingerprint, "HEAD_BYTES", 2048)  # a tiny model's weights begin before a MiB
    path = models.path_of("gpt-oss")
    with open_llama_backend(LoadParams(path, n_ctx=512, n_seq_max=3, n_threads=1)) as backend:
        engine = Engine(backend)
        first = run(engine, request(0, b"abcdefgh"), request(1, b"abcdefgh"))
        second = run(engine, request(2, b"abcdefxh"))
        engine.close()
        return SimpleNamespace(path=path, model=backend.model, first=first.reports, second=second.reports)


def request(number: int, prompt: bytes) -> Request:
    sampling = SamplingParams(temperature=0.0, ignore_eos=True)
    return Request(f"r{number}", f"c{number}", prompt=tuple(prompt), sampling=sampling, max_tokens=9)


def flipped(tiny: SimpleNamespace, path: Path, tensor: str, row: int) -> Path:
    """A copy with the sign of one weight the other way."""
    content = bytearray(tiny.path.read_bytes())
    [found] = [one for one in gguf.GGUFReader(tiny.path).tensors if one.name == tensor]
    width = int(found.shape[0])
    content[int(found.data_offset) + 4 * (row * width + 5) + 3] ^= 0x80
    path.write_bytes(content)
    return path


def first_sampled(reports: list[StepReport]) -> tuple[int, int]:
    """Step and sequence."""
    spans = ((report.step, span) for report in reports for span in report.spans)
    return next((step, span.seq_id) for step, span in spans if span.logits_hashes)


def test_a_flipped_bit_is_found_at_its_step(tiny, tmp_path, capfd):
    path = recorded(tiny.model, tiny.first + tiny.second, tmp_path / "a.html")
    assert replayed(path, tiny.path) == replay.SAME
    assert "27 tokens of 3 answers" in capfd.readouterr().out
    in_all = flipped(tiny, tmp_path / "all.gguf", "blk.1.attn_output.weight", 3)
    assert replayed(path, in_all) == replay.PART
    step, _ = first_sampled(tiny.first)
    assert f"The logits part at step {step}: sequence 0, position 7. 27 of 27" in capfd.readouterr().out
    in_one = flipped(tiny, tmp_path / "one.gguf", "token_embd.weight", ord("x"))
    assert replayed(path, in_one) == replay.PART
    step, seq_id = first_sampled(tiny.second)
    place = f"part at step {step}: sequence {seq_id}, position 7. 9 of 27"
    assert place in capfd.readouterr().out


def test_a_hash_that_differs_is_found_where_it_is(tiny, tmp_path, capfd):
    reports = list(tiny.first)
    report = reports[4]
    spans = (report.spans[0], replace(report.spans[1], logits_hashes=b"1234"))
    reports[4] = replace(report, spans=spans)
    assert replayed(recorded(tiny.model, reports, tmp_path / "a.html"), tiny.path) == replay.PART
    at = spans[1].first_pos
    place = f"part at step {report.step}: sequence {spans[1].seq_id}, position {at}. 1 of 18"
    assert place in capfd.readouterr().out


def changed(change: Callable[[StepReport], StepReport]) -> Callable[[SimpleNamespace], list[StepReport]]:
    return lambda tiny: [change(report) for report in tiny.first]


@pytest.mark.parametrize(
    ("reports", "why"),
    [
        (lambda tiny: tiny.second[1:], "1 answers that had begun before the recording"),
        (
            changed(lambda report: replace(report, events=(Told(EventKind.SHIFT, "moved", 0, "c0"),))),
            "1 answers that go on in cells that were moved",
        ),
        (
            changed(
                lambda report: replace(
                    report,
                    leases=tuple(replace(one, prompt_bytes=b"\xfe\xff\xff\xff" * 8) for one in report.leases),
                )
            ),
            "2 answers that have pictures or sounds",
        ),
    ],
)
def test_what_is_not_computed_again_is_said(tiny, reports, why, tmp_path, capfd):
    path = recorded(tiny.model, reports(tiny), tmp_path / "a.html")
    assert replayed(path, tiny.path) in (replay.SAME, replay.CANNOT)
    assert f"Not computed again: {why}" in capfd.readouterr().out


def test_what_cannot_be_told_is_refused(tiny, models, tmp_path, capfd):
    def refusal(path: Path, model: Path = tiny.path) -> str:
        assert replayed(path, model) == replay.CANNOT
        return capfd.readouterr().err

    path = recorded(tiny.model, tiny.first, tmp_path / "a.html")
    assert "is not the file that was recorded, gpt-oss.gguf" in refusal(path, models.path_of("llama"))
    away = tmp_path / "away.gguf"
    assert f"skein replay: {away} was not found. Put it beside the recording" in refusal(path, away)
    untold = recorded(tiny.model, tiny.first, tmp_path / "b.html", is_told=False)
    assert "it was saved without prompts and answers" in refusal(untold)
    old = recorded(replace(tiny.model, loaded_as=None), tiny.first, tmp_path / "c.html")
    assert "it has no logits to compare" in refusal(old)
    foreign = replace(tiny.first[0].leases[0], prompt_bytes=b"\x7f\x7f\x7f\x7f" * 8)
    odd = [replace(tiny.first[0], leases=(foreign,)), *tiny.first[1:]]
    assert "have tokens that the model does not take" in refusal(
        recorded(tiny.model, odd, tmp_path / "d.html")
    )
    (tmp_path / "e.html").write_text("<!doctype html>")
    assert "cannot be opened as a recording" in refusal(tmp_path / "e.html")
    assert "No such file" in refusal(tmp_path / "f.html")


def test_another_library_is_said(tiny, tmp_path, capfd):
    library = replace(tiny.model.library, version="0.0.1 (abc)")
    told = replace(tiny.model, library=library, is_same_alone=False)
    assert replayed(recorded(told, tiny.first, tmp_path / "a.html"), tiny.path) == replay.SAME
    said = capfd.readouterr().err
    assert "it was recorded with another llama.cpp (version: 0.0.1 (abc); here " in said
    assert "Last bits may differ without a fault." in said


def test_the_model_is_found_beside_the_recording(tiny, tmp_path, capfd):
    path = recorded(tiny.model, tiny.first, tmp_path / "a.html")
    assert replay.main([str(path)]) == replay.CANNOT
    assert (
        "gpt-oss.gguf was not found. Put it beside the recording, or name it by --model."
        in capfd.readouterr().err
    )
    (tmp_path / "gpt-oss.gguf").symlink_to(tiny.path)
    assert replay.main([str(path)]) == replay.SAME
