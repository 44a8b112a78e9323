"""Pictures and sounds in the shared context, on the real library: as its own helper computes them alone.

Each kind of projector once: causal (llava), planes (Qwen VL), rows that see each other (Gemma 3), sound.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from app.engine.cells.hibernation import HibernatedChats
from app.engine.cells.kept_cells import KeptCells
from app.engine.engine import Engine
from app.engine.llama.projector import types_of
from app.media import reading
from app.protocol.commands import KeepCells
from app.protocol.load import CellStore
from app.protocol.output import FinishReason, PrefixEnd
from app.protocol.request import Message, Role
from tests.driver import request, run
from tests.native.mtmd_alone import logits_alone
from tests.native.oracle import NOISE
from tests.native.pictures import asked, backend_with_projector, picture, run_encoding, sound
from tests.native.random_pictures import Projectors, random_play
from tests.native.tiny_projectors import KINDS, write_tiny_projector

pytest.importorskip("llama_cpp.mtmd_cpp", reason="this llama-cpp-python was built without libmtmd")
pytestmark = pytest.mark.native

QUESTION = "What is this?"
PROMPT = "<|im_start|>user\n<__media__>What is this?<|im_end|>\n<|im_start|>assistant\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("pictures")


@pytest.fixture(params=KINDS)
def kind(request):
    return request.param


def media_of(kind, seed=0):
    return sound(seed) if kind == "ultravox" else picture(seed)


def raw(media):
    if media.duration_s:
        return {"data": reading.samples(media, 16_000).hex()}
    pixels = reading.picture(media)
    return {"data": pixels.rgb.hex(), "width": pixels.width, "height": pixels.height}


def about(media, text=QUESTION, chat=None, **options):
    return replace(request("", chat, **options), messages=(asked(text, media),))


class Logits:
    """Of the rows that requests after `begin` sample."""

    def __init__(self, backend):
        self.rows, self._is_on = [], False
        new_sampler = backend.new_sampler

        def recorded(*values):
            sampler = new_sampler(*values)
            if self._is_on:
                sample = sampler.sample
                sampler.sample = lambda row: (self.rows.append(backend.logits[row].copy()), sample(row))[1]
            return sampler

        backend.new_sampler = recorded

    def of(self, engine, one):
        self.rows.clear()
        self._is_on = True
        engine.add_request(one)
        self._is_on = False
        answer = run_encoding(engine).answers[one.request_id]
        assert answer.finish_reason is FinishReason.LENGTH, answer.notice
        return answer, list(self.rows)


def worst(rows, alone):
    return max(float(np.abs(one - other).max() / other.std()) for one, other in zip(rows, alone, strict=True))


def test_a_picture_beside_running_chats_is_computed_as_alone(folder, kind):
    media = media_of(kind)
    with backend_with_projector(folder, kind, n_seq_max=8) as backend:
        engine, logits = Engine(backend, verify=True), Logits(backend)
        for number in range(3):
            engine.add_request(request(f"a story about the number {number}", max_tokens=80))
        for _ in range(5):
            engine.step()
        first, rows = logits.of(engine, about(media, chat="a", max_tokens=6))
        model, projector = backend.model.path, backend.model.senses.projector
        alone, num_tokens, _ = logits_alone(
            model, projector, PROMPT, [raw(media)], list(first.token_ids[:-1])
        )
        assert first.usage.num_prompt_tokens == num_tokens
        distances = {"beside others": worst(rows, alone)}
        ways = {
            "asked again": ("a", 0),
            "in a new chat": ("b", 0),
            "after a fork": ("fork", 0),
            "after a hibernation": ("a", 0),
        }
        for way, (chat, num_encoded) in ways.items():
            if way == "after a fork":
                assert engine.slots.fork("a", "fork")
            if way == "after a hibernation":
                assert engine.slots.hibernate_chat("a")
            before = backend.media_encoder.num_encoded
            again, rows = logits.of(engine, about(media, chat=chat, max_tokens=6))
            assert again.token_ids == first.token_ids
            assert backend.media_encoder.num_encoded - before == num_encoded
            distances[way] = worst(rows, alone)
        print(kind, {way: f"{distance:.1e}" for way, distance in distances.items()})  # noqa: T201
        assert max(distances.values()) <= NOISE, distances
        check_only_what_comes_behind_is_computed(engine, backend, kind)
        engine.close()


def check_only_what_comes_behind_is_computed(engine, backend, kind):
    media, num_encoded = media_of(kind), backend.media_encoder.num_encoded
    changed = about(media, "And who?", chat="a")
    usage = run_encoding(engine, changed).answers[changed.request_id].usage
    num_same = len("<user\n") + engine.prompts.num_media_tokens(media)  # a control token is one
    assert 0 < usage.num_cached_tokens <= num_same
    if not backend.model.takes_checkpoints:
        assert usage.num_cached_tokens == num_same
    assert backend.media_encoder.num_encoded == num_encoded
    other = about(media_of(kind, seed=1), chat="a")  # of the same size, so only its hash differs
    usage = run_encoding(engine, other).answers[other.request_id].usage
    assert usage.prefix_end == PrefixEnd.EDITED
    assert usage.num_cached_tokens < num_same
    assert backend.media_encoder.num_encoded == num_encoded + 1


@pytest.mark.parametrize("kind", ["qwen2vl_merger", "gemma3"], indirect=True)
def test_a_picture_is_there_after_a_restart_without_being_encoded(folder, kind, tmp_path):
    media, store = media_of(kind), CellStore(tmp_path, b"k" * 32)
    history = asked(QUESTION, media)
    with backend_with_projector(folder, kind) as backend:
        engine = Engine(backend, verify=True)
        engine.obey(KeepCells(store))
        first = replace(about(media, chat="a", max_tokens=4), is_saved=True)
        answer = run_encoding(engine, first).answers[first.request_id]
        engine.close()
    with backend_with_projector(folder, kind) as backend:
        engine = Engine(backend, verify=True)
        kept = KeptCells(store, backend.fingerprint)
        engine.slots.hibernated.kept = kept
        engine.slots.hibernated.prefetch("a")
        messages = (history, Message(Role.ASSISTANT, answer.text), Message(Role.USER, "More?"))
        second = replace(request("", "a", max_tokens=4), messages=messages)
        usage = run_encoding(engine, second).answers[second.request_id].usage
        assert usage.num_restored_tokens > engine.prompts.num_media_tokens(media)
        assert backend.media_encoder.num_encoded == 0
        span = engine.report().slots[0].media[0]
        assert (span.sha256, span.num_cells > 0) == (media.sha256, True)
        engine.close()


def test_a_projector_that_crashes_ends_one_answer_and_not_the_others(folder, tmp_path):
    projector = write_tiny_projector(tmp_path / "mmproj.gguf", "ultravox", stack=8)
    with backend_with_projector(folder, "ultravox", projector=projector) as backend:
        engine = Engine(backend, verify=True)
        beside, one, again = request("a story", max_tokens=30), about(sound()), about(sound())
        answers = run_encoding(engine, beside, one).answers | run_encoding(engine, again).answers
        for crashed in (one, again):
            assert answers[crashed.request_id].finish_reason is FinishReason.ERROR
            assert "projector" in answers[crashed.request_id].notice
        assert answers[beside.request_id].finish_reason is FinishReason.LENGTH
        engine.close()


def test_an_aborted_answer_stops_its_encoding_and_without_a_projector_one_is_told_what_is_missing(folder):
    with backend_with_projector(folder, "mlp") as backend:
        engine = Engine(backend, HibernatedChats(ram_bytes=0), verify=True)
        one = about(picture(8))
        engine.add_request(one)
        engine.step()
        assert engine.report().encodings[0].request_id == one.request_id
        engine.abort(one.request_id)
        assert run(engine).answers[one.request_id].finish_reason is FinishReason.ABORT
        assert not engine.has_open_answers
        again = about(picture(8))
        assert run_encoding(engine, again).answers[again.request_id].finish_reason is FinishReason.LENGTH
        engine.close()
        backend.media_encoder, encoder = None, backend.media_encoder
        backend.forget_all()
        blind, one = Engine(backend), about(picture())
        assert "mmproj" in run(blind, one).answers[one.request_id].notice
        blind.close()
        backend.media_encoder = encoder


@pytest.mark.parametrize("seed", [1, 2])
def test_books_equal_the_librarys_in_random_schedules(seed, tmp_path):
    """More: `python -m tests.native.random_pictures`."""
    projectors = Projectors(tmp_path)
    try:
        random_play(seed, projectors)
    finally:
        projectors.close()


def test_a_kind_whose_rows_depend_on_what_comes_before_is_refused(folder, tmp_path):
    projector = write_tiny_projector(tmp_path / "mmproj.gguf", "mlp")
    assert types_of(projector) == {b"mlp"}
    strange = projector.read_bytes().replace(b"\x03\0\0\0\0\0\0\0mlp", b"\x0a\0\0\0\0\0\0\0deepseek4v")
    projector.write_bytes(strange)
    with backend_with_projector(folder, "mlp", projector=projector) as backend:
        assert "deepseek4v" in backend.model.senses.reason
        assert backend.media_encoder is None
