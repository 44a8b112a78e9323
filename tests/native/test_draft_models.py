"""One GGUF that drafts for another: the same words as without it, whatever happens to either."""

import gc
import re
import shutil
import threading
from dataclasses import replace
from unittest import mock

import gguf
import numpy as np
import pytest

from app.engine.batching import draft_model
from app.engine.drafter import PromptLookup
from app.engine.llama.loading import open_llama_backend
from app.engine.llama.native_library import native_objects
from app.models.memory_fit import estimate
from app.models.model_file import read_whole_header
from app.protocol.errors import ModelLoadCancelledError, ModelLoadError
from app.protocol.events import EventKind
from app.protocol.load import LoadParams
from app.protocol.output import FinishReason
from app.protocol.sampling import SamplingParams
from app.system import paths
from tests.driver import all_guesses_checked, ask, next_turn, request, run
from tests.native.test_drafting import PLAIN, assert_same_but_for_ties, opened_engines, watched_answer
from tests.native.tiny_ggufs import Shape, write_tiny_gguf

pytestmark = pytest.mark.native

TEXTS = ("Count from 3 to 22", "What is a KV cache?", "What is 34 + 21?")


@pytest.fixture(autouse=True)
def checked(monkeypatch):
    """Tiny random models are sure of nothing."""
    monkeypatch.setattr(draft_model, "MIN_PROBABILITY", 0.0)
    with all_guesses_checked():
        yield


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("drafts")


@pytest.fixture(scope="module")
def other(folder):
    """Of the same vocabulary as all tiny models, and with other weights."""
    return write_tiny_gguf(folder / "other.gguf", "llama", seed=7, n_layer=1)


@pytest.fixture(scope="module")
def worse(folder):
    """The starter model without its last layer's knowledge: of the same vocabulary, and often wrong."""
    path = folder / "worse.gguf"
    shutil.copyfile(paths.starter_model(), path)
    path.chmod(0o600)
    for tensor in gguf.GGUFReader(path, "r+").tensors:
        if re.match(r"blk\.[1-9]\d*\.(ffn_down|attn_output)", tensor.name):
            tensor.data[:] = 0
    return path


def params(path, draft, **values):
    usual = {"n_ctx": 1024, "n_seq_max": 4, "n_batch": 64, "n_threads": 1, "num_drafted_tokens": 12}
    return LoadParams(path, draft_model=draft, **(usual | values))


def play(engine):
    """Several chats at once, then their next turns, one of them forked and one hibernated before."""
    first = [request(text, f"chat {number}", max_tokens=40) for number, text in enumerate(TEXTS)]
    told = run(engine, *first).answers
    engine.slots.fork("chat 0", "fork")
    engine.slots.hibernate_chat("chat 1")
    second = [next_turn(one, told[one.request_id].text, "And then?") for one in first]
    second = [replace(one, max_tokens=40) for one in second]
    second.append(replace(second[0], request_id="fork", chat_id="fork"))
    answers = run(engine, *second).answers
    for one in second:
        engine.forget(one.chat_id)
    assert engine.slots.cells.num_used == 0
    return [told[one.request_id] for one in first] + [answers[one.request_id] for one in second]


@pytest.mark.parametrize(
    ("is_itself", "is_isolated"), [(True, True), (False, False)], ids=["itself", "worse"]
)
def test_chats_answer_the_same_together_forked_and_hibernated(is_itself, is_isolated, worse):
    """The starter model is surer of these than rounding."""
    path = paths.starter_model()
    with opened_engines(params(path, path if is_itself else worse, n_ctx=2048, isolated=is_isolated)) as pair:
        answers, expected = map(play, pair)
    assert [one.text for one in answers] == [one.text for one in expected]
    drafted = sum(one.usage.num_model_drafted_tokens for one in answers)
    kept = sum(one.usage.num_model_kept_tokens for one in answers)
    assert drafted > 50
    assert kept > 0.9 * drafted if is_itself else kept < 0.5 * drafted


@pytest.mark.parametrize(("family", "is_itself"), [*((family, True) for family in PLAIN), ("qwen3", False)])
def test_every_family_computes_the_same_logits_with_guesses(family, is_itself, tiny_gguf, other, monkeypatch):
    monkeypatch.setattr(PromptLookup, "propose", lambda *_: [])  # they say the same again and again
    path = tiny_gguf(family)
    one = request("Hello", max_tokens=60, keep_cells=False)
    with opened_engines(params(path, path if is_itself else other)) as (engine, plain):
        _, expected = watched_answer(engine._backend, plain, one)
        answer, ours = watched_answer(engine._backend, engine, one)
    assert_same_but_for_ties(ours, expected)
    drafted, kept = answer.usage.num_model_drafted_tokens, answer.usage.num_model_kept_tokens
    assert kept > 0.9 * drafted > 30 if is_itself else kept < 0.3 * drafted


SAMPLING = {
    "drawn": SamplingParams(seed=7, temperature=0.9, top_k=20),
    "grammar": SamplingParams(seed=7, temperature=0.7, grammar='root ::= [0-9]+ (", " [0-9]+)* "."?'),
    "penalties": SamplingParams(seed=7, repeat_penalty=1.1, presence_penalty=0.2),
}


@pytest.mark.parametrize("kind", SAMPLING)
def test_what_is_drawn_is_drawn_by_the_chats_own_sampler(kind):
    starter = paths.starter_model()
    with opened_engines(params(starter, starter)) as (engine, plain):
        one = request("Count from 3 to 12", max_tokens=40, sampling=SAMPLING[kind], keep_cells=False)
        answer, expected = ask(engine, one), ask(plain, one)
    assert answer.text == expected.text
    assert answer.usage.num_model_drafted_tokens > 0


def test_an_answer_that_is_broken_off_in_any_step_leaves_its_chat_as_it_was():
    path = paths.starter_model()
    with opened_engines(params(path, path)) as (engine, plain):
        beside = request("Count from 5 to 90", "beside", max_tokens=200, keep_cells=False)
        engine.add_request(beside)
        for num_steps in (4, 5, 7):
            one = request(TEXTS[0], "chat", max_tokens=100, keep_cells=False)
            engine.add_request(one)
            for _ in range(num_steps):
                engine.step()
            engine.abort(one.request_id)
        result = run(engine, replace(one, request_id="again"))
        answer = result.answers["again"]
        assert answer.text == ask(plain, one).text
        assert answer.usage.num_model_kept_tokens > 20
        assert result.answers[beside.request_id].finish_reason is FinishReason.LENGTH


def test_an_interrupt_reaches_the_draft_model_in_the_middle_of_a_decode(tiny_gguf, folder):
    """It is the slower one here, so that the flag is set while it computes."""
    slow = write_tiny_gguf(folder / "slow.gguf", "llama", n_layer=2, shape=Shape(n_embd=512, n_ffn=2048))
    path = tiny_gguf("qwen3")
    with opened_engines(params(path, slow)) as (engine, plain):
        one = request("Hello" * 30, "chat", max_tokens=60, keep_cells=False)
        engine.add_request(one)
        for _ in range(3):
            engine.step()
        for delay_s in (0.0, 0.0005, 0.002, 0.004):
            timer = threading.Timer(delay_s, engine.interrupt)
            timer.start()
            engine.step()
            timer.join()
            engine.resume()
        [answer] = run(engine).answers.values()
        assert ask(plain, replace(one, chat_id="other")).text.endswith(answer.text)
        assert answer.finish_reason is FinishReason.LENGTH


def test_a_draft_model_that_computes_nan_is_given_up_and_the_answer_goes_on(tiny_gguf, other):
    with opened_engines(params(tiny_gguf("qwen3"), other)) as (engine, plain):
        draft = engine._backend.draft
        one = request("Hello", "chat", max_tokens=40, keep_cells=False)
        nan = np.full(draft.model.n_vocab, np.nan, np.float32)
        with mock.patch.object(draft.logits, "_views", mock.Mock(get=lambda _address: nan)):
            result = run(engine, one)
        answer = result.answers[one.request_id]
        told = [
            event.text
            for report in result.reports
            for event in report.events
            if event.kind is EventKind.DRAFT
        ]
        assert len(told) == 1
        assert "The model's logits are NaN or infinite" in told[0]
        assert answer.text == ask(plain, replace(one, chat_id="other")).text


@pytest.mark.parametrize("family", ["falcon-h1", "qwen3next", "mamba"])
def test_for_a_model_that_cannot_take_back_a_guess_none_is_loaded(family, tiny_gguf, other):
    with open_llama_backend(params(tiny_gguf(family), other)) as backend:
        assert backend.draft is None
        assert backend.model.draft_model == ""


def test_a_model_that_cannot_guess_is_refused_with_the_names_of_both(tiny_gguf, folder, other):
    path = tiny_gguf("qwen3")
    larger = write_tiny_gguf(folder / "larger.gguf", "llama", shape=Shape(n_vocab=600))
    otherwise = shutil.copyfile(other, folder / "otherwise.gguf")
    gguf.GGUFReader(otherwise, "r+").fields["tokenizer.ggml.add_bos_token"].parts[-1][0] = True
    reasons = {
        larger: "Its vocabulary has 600 tokens, the model",
        tiny_gguf("mamba"): "It cannot remove tokens it has computed",
        paths.starter_model(): "tokens, the model|is “.*” in its vocabulary",
        folder / "gone.gguf": "gone.gguf is not in",
        otherwise: "its special tokens differ",
    }
    before = native_objects.copy()
    for draft, reason in reasons.items():
        with pytest.raises(ModelLoadError, match=reason) as error, open_llama_backend(params(path, draft)):
            pass
        assert str(error.value).startswith(f"{draft.name} cannot be a draft model for {path.name}. ")
        assert native_objects == before


def test_its_memory_is_told_estimated_and_given_back(tiny_gguf, folder):
    shape = Shape(n_embd=64, n_ffn=128, n_head=4, n_head_kv=2)
    path = write_tiny_gguf(folder / "main.gguf", "qwen3", shape=shape)
    loaded = params(path, tiny_gguf("llama"), n_ctx=4096)
    before = native_objects.copy()
    with open_llama_backend(replace(loaded, draft_model=None)) as backend:
        alone = backend.model.memory
    with open_llama_backend(loaded) as backend:
        taken = backend.model.memory
        assert taken == alone + backend.draft.model.memory
    expected = estimate(read_whole_header(path), loaded)
    assert expected.total_bytes == pytest.approx(taken.total_bytes, rel=0.1)
    assert expected.kv_bytes == taken.kv_bytes > alone.kv_bytes
    gc.collect()
    assert native_objects == before


def test_a_load_can_be_called_off_while_the_draft_model_is_read(tiny_gguf, other):
    fractions = []

    def until_half(fraction):
        fractions.append(fraction)
        return fraction < 0.8

    before = native_objects.copy()
    with (
        pytest.raises(ModelLoadCancelledError),
        open_llama_backend(params(tiny_gguf("qwen3"), other), until_half),
    ):
        pass
    assert fractions == sorted(fractions)
    assert native_objects == before
