"""Models that draft for themselves: the same words as without, whatever happens to their chats or heads."""

import gc
import importlib
from array import array
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from unittest import mock

import numpy as np
import pytest

from app.engine.batch import Batch
from app.engine.batching import draft_model
from app.engine.drafter import PromptLookup
from app.engine.engine import Engine
from app.engine.llama import draft as loading_drafts
from app.engine.llama import heads as native_heads
from app.engine.llama.draft import has_heads, heads_beside
from app.engine.llama.loading import _context_params, open_llama_backend
from app.engine.llama.native_batch import NativeBatch
from app.engine.llama.native_library import native_objects
from app.models.memory_fit import estimate
from app.models.model_file import read_whole_header
from app.protocol.commands import KeepCells
from app.protocol.errors import DecodeError, DecodeInterruptedError
from app.protocol.events import EventKind
from app.protocol.load import CellStore, LoadParams
from app.protocol.output import FinishReason
from app.protocol.sampling import SamplingParams
from tests.driver import all_guesses_checked, ask, next_turn, request, rows, run
from tests.native.test_drafting import assert_same_but_for_ties, opened_engines, watched_answer
from tests.native.tiny_ggufs import Shape, write_tiny_gguf

pytestmark = pytest.mark.native

FAMILIES = {"glm4moe": 1, "deepseek2": 1, "qwen35": 1, "step35": 2}  # and their heads
PLAIN = ("glm4moe", "deepseek2")  # whose cells can be cut anywhere
EXACT, NEAR = 1e-4, 0.01  # logits
TEXT = "One two three four five six seven eight nine ten"


@pytest.fixture(autouse=True)
def checked(monkeypatch):
    """Tiny random models are sure of nothing, and say the same again and again."""
    monkeypatch.setattr(draft_model, "MIN_PROBABILITY", 0.0)
    monkeypatch.setattr(PromptLookup, "propose", lambda *_: [])
    with all_guesses_checked():
        yield


@pytest.fixture(scope="module")
def with_heads(tmp_path_factory):
    folder = tmp_path_factory.mktemp("heads")

    def path_of(family):
        path = folder / f"{family}.gguf"
        if not path.exists():
            write_tiny_gguf(path, family, num_heads=FAMILIES[family], chat_template=None)
        return path

    return path_of


def params(path, **values):
    usual = {"n_ctx": 1024, "n_seq_max": 4, "n_batch": 64, "n_threads": 1, "num_drafted_tokens": 8}
    return LoadParams(path, **(usual | values))


def check_books(engine):
    """The heads hold no more than the main context, and few rows wait for them."""
    heads = engine._backend.heads
    for seq_id in range(engine.model.n_seq_max):
        last = engine._backend.pos_max(seq_id)
        assert native_heads.lib.llama_memory_seq_pos_max(heads._memory, seq_id) <= last
        assert len(heads._waiting[seq_id]) <= last + 1
    num_waiting = sum(map(len, heads._waiting.values()))
    assert num_waiting <= native_heads.MOST_BATCHES * engine.model.n_batch


def all_of(engine, *requests):
    for one in requests:
        engine.add_request(one)
    answers = {}
    while engine.has_work:
        for output in engine.step().outputs:
            answers.setdefault(output.request_id, []).append(output)
        if engine._backend.heads:
            check_books(engine)
    return answers


def tokens_of(outputs):
    return tuple(token for output in outputs for token in output.token_ids)


@pytest.mark.parametrize("is_isolated", [False, True], ids=["unified", "isolated"])
@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_computes_the_same_logits_with_heads(family, is_isolated, with_heads):
    endless = SamplingParams(temperature=0.0, ignore_eos=True)
    one = request("Hello", max_tokens=60, keep_cells=False, sampling=endless)
    with opened_engines(params(with_heads(family), isolated=is_isolated)) as (engine, plain):
        drafts = engine.model.num_drafted_tokens > 0
        assert drafts or family not in PLAIN
        assert bool(engine._backend.heads) is drafts
        _, expected = watched_answer(engine._backend, plain, one)
        answer, ours = watched_answer(engine._backend, engine, one)
    assert_same_but_for_ties(ours, expected)
    drafted, kept = answer.usage.num_model_drafted_tokens, answer.usage.num_model_kept_tokens
    assert kept > 0.3 * drafted > 10 if drafts else drafted == 0


def play(engine, num_chats):
    """Chats at once, then their next turns: one was forked, one hibernated, one is edited."""
    first = [request(TEXT[: 6 * number + 6], f"chat {number}", max_tokens=30) for number in range(num_chats)]
    told = all_of(engine, *first)
    engine.slots.fork("chat 0", "fork")
    if num_chats > 1:
        engine.slots.hibernate_chat("chat 1")
    second = [next_turn(one, "".join(out.text for out in told[one.request_id]), "And?") for one in first]
    second = [replace(one, max_tokens=30) for one in second]
    second.append(replace(second[0], request_id="fork", chat_id="fork"))
    if num_chats > 2:
        second[2] = replace(first[2], request_id="edited", max_tokens=20)
    answers = all_of(engine, *second)
    for one in second:
        engine.forget(one.chat_id)
    assert engine.slots.cells.num_used == 0
    asked = [told[one.request_id] for one in first] + [answers[one.request_id] for one in second]
    return [tokens_of(outputs) for outputs in asked], sum(
        out[-1].usage.num_model_kept_tokens for out in asked
    )


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("num_chats", [1, 4, 8])
def test_chats_answer_the_same_together_forked_edited_and_hibernated(num_chats, family, with_heads):
    loaded = params(with_heads(family), n_seq_max=num_chats + 1, n_batch=32)
    with opened_engines(loaded) as (engine, plain):
        (answers, num_kept), (expected, _) = play(engine, num_chats), play(plain, num_chats)
    assert answers == expected
    assert num_kept > 20 or not engine.model.num_drafted_tokens


def test_chats_that_wait_for_cells_answer_the_same(with_heads):
    with opened_engines(params(with_heads("glm4moe"), n_ctx=256)) as (engine, plain):
        chats = [request(TEXT * 2, max_tokens=90, keep_cells=False) for _ in range(3)]
        answers, expected = all_of(engine, *chats), all_of(plain, *chats)
        assert engine.slots.cells.num_used == 0
    for one in chats:
        assert tokens_of(answers[one.request_id]) == tokens_of(expected[one.request_id])
    assert sum(outputs[-1].usage.num_model_kept_tokens for outputs in answers.values()) > 20


def test_an_answer_that_is_broken_off_in_any_step_leaves_its_chat_as_it_was(with_heads):
    with opened_engines(params(with_heads("deepseek2"))) as (engine, plain):
        beside = request(TEXT, "beside", max_tokens=150, keep_cells=False)
        engine.add_request(beside)
        for num_steps in (3, 4, 6):
            one = request("Hello", "chat", max_tokens=80, keep_cells=False)
            engine.add_request(one)
            for _ in range(num_steps):
                engine.step()
            engine.abort(one.request_id)
        result = run(engine, replace(one, request_id="again"))
        assert result.answers["again"].token_ids == ask(plain, one).token_ids
        assert result.answers["again"].usage.num_model_kept_tokens > 20
        assert result.answers[beside.request_id].finish_reason is FinishReason.LENGTH


def test_after_a_start_heads_go_on_from_what_was_computed_since(with_heads, tmp_path):
    def play(path, store):
        with open_llama_backend(params(path, num_drafted_tokens=8 if store else 0)) as backend:
            engine = Engine(backend, verify=True)
            engine.obey(KeepCells(store))
            engine.slots.hibernated.prefetch("ann")
            first = request(TEXT, "ann", max_tokens=30, is_saved=True)
            answer = ask(engine, first)
            engine.close()
        return answer

    store = CellStore(tmp_path, bytes(range(32)))
    path = with_heads("glm4moe")
    fresh, first, again = play(path, None), play(path, store), play(path, store)
    assert first.token_ids == again.token_ids == fresh.token_ids
    assert again.usage.num_restored_tokens > 0
    assert again.usage.num_model_kept_tokens > 5


@pytest.mark.parametrize("kind", ["drawn", "penalties"])
def test_what_is_drawn_is_drawn_by_the_chats_own_sampler(kind, with_heads):
    values = {"drawn": {"temperature": 0.5, "top_k": 20}, "penalties": {"repeat_penalty": 1.1}}[kind]
    one = request("Hello", max_tokens=40, sampling=SamplingParams(seed=7, **values), keep_cells=False)
    with opened_engines(params(with_heads("glm4moe"))) as (engine, plain):
        answer, expected = ask(engine, one), ask(plain, one)
    assert answer.token_ids == expected.token_ids
    assert answer.usage.num_model_drafted_tokens > 0


# What the heads compute.


def computed(backend, token_ids):
    """Let the main context compute them as a continuation of what sequence 0 holds."""
    while token_ids:
        part, token_ids = token_ids[: backend.model.n_batch], token_ids[backend.model.n_batch :]
        backend.decode(rows(backend, (0, backend.pos_max(0) + 1, part)))


def guessed(backend, seq_id, token_ids, number):
    """The logits of so many guesses after them; the last one is not computed yet."""
    heads, found = backend.heads, []
    if unread := token_ids[heads.num_held(seq_id) : -1]:
        for start in range(0, len(unread), backend.model.n_batch):
            heads.read({seq_id: unread[start : start + backend.model.n_batch]})
    token_id = token_ids[-1]
    for _ in range(number):
        row = heads.guess({seq_id: token_id})[seq_id]
        found.append(heads._logits[row].copy())
        token_id = int(found[-1].argmax())
    heads.drop_guesses([seq_id])
    return np.array(found)


@contextmanager
def opened(path, **values):
    """Also of a family whose draft tokens cannot be rejected yet."""
    loaded = params(path, **({"n_ctx": 512} | values))
    with open_llama_backend(loaded) as backend, ExitStack() as stack:
        if not backend.heads:
            native = _context_params(backend._model, loaded)
            stack.enter_context(heads_beside(backend, backend._model, backend._context, native))
        yield backend


TOKENS = [(7 * number) % 200 + 20 for number in range(150)]


def cut_and_go_on(backend):
    computed(backend, [*TOKENS[:100], *range(50, 80)])
    guessed(backend, 0, [*TOKENS[:100], *range(50, 80), 9], 2)
    assert backend.truncate(0, 100)
    computed(backend, TOKENS[100:-1])


def fork(backend):
    computed(backend, TOKENS[:90])
    guessed(backend, 0, TOKENS[:91], 2)
    backend.share_prefix(0, 1, 80)
    backend.truncate(0, 0)
    backend.share_prefix(1, 0, 80)
    computed(backend, TOKENS[80:-1])


@pytest.mark.parametrize("family", FAMILIES)
def test_guesses_are_those_of_a_chat_that_was_read_at_once(family, with_heads):
    changes = [lambda backend: computed(backend, TOKENS[:-1])]
    changes += [cut_and_go_on, fork] if family in PLAIN else []
    found = []
    for change in changes:
        with opened(with_heads(family)) as backend:
            change(backend)
            found.append(guessed(backend, 0, TOKENS, 2))
            check_guesses_end(backend)
    for logits in found[1:]:  # the row at the border is lost, which changes little
        assert np.abs(logits - found[0]).max() < NEAR


def check_guesses_end(backend):
    heads = backend.heads
    assert heads.num_held(0) == backend.pos_max(0) + 1
    assert len(heads._waiting[0]) == 1


def as_llama_server(backend, token_ids, number):
    """All rows at once for each head, then one decode a guess; for a chain with all tokens of the draft."""
    heads, last = backend.heads, len(token_ids) - 1
    computed(backend, token_ids[:last])
    known = [np.zeros_like(heads._waiting[0][0]), *heads._waiting[0]]
    chat, hidden, found = list(token_ids), list(known), []

    def decode(first, end, head, *, wants_logits):
        batch = Batch(end - first)
        batch.token_ids[:], batch.positions[:] = array("i", chat[first:end]), array("i", range(first, end))
        batch.wants_logits[-1], rows = wants_logits, np.array(hidden[first:end])
        kept = NativeBatch(batch)
        native = kept.native
        native.n_tokens, native.embd = end - first, rows.ctypes.data_as(native_heads.FLOATS)
        heads._lib.llama_set_nextn_layer_offset(heads._context.pointer, head)
        native_heads.lib.llama_memory_seq_rm(heads._memory, 0, first, -1)
        assert native_heads.lib.llama_decode(heads._context.pointer, native) == 0

    for head in range(heads.num_in_chain):
        decode(0, last, head, wants_logits=False)
    for depth in range(number):
        is_chain = heads.num_in_chain > 1
        first, end = (last if is_chain else last + depth), last + depth + 1
        decode(first, end, depth if is_chain else 0, wants_logits=True)
        heads._logits.note_decoded([end - first - 1])
        found.append(heads._logits[end - first - 1].copy())
        row = heads._lib.llama_get_embeddings_nextn_ith(heads._context.pointer, end - first - 1)
        hidden.append(heads._copied(row, 1)[0])
        chat.append(int(found[-1].argmax()))
    return np.array(found)


@pytest.mark.parametrize("family", FAMILIES)
def test_guesses_are_those_of_llama_server(family, with_heads):
    with opened(with_heads(family), n_batch=256, n_ubatch=256) as backend:
        expected = as_llama_server(backend, TOKENS, 2)
    with opened(with_heads(family)) as backend:
        computed(backend, TOKENS[:-1])
        assert np.abs(guessed(backend, 0, TOKENS, 2) - expected).max() < EXACT
        assert np.abs(guessed(backend, 0, TOKENS, 2) - expected).max() < EXACT


def test_a_fork_shares_what_heads_have_read_and_what_they_have_not(with_heads):
    with opened(with_heads("glm4moe")) as backend:
        computed(backend, TOKENS[:-1])
        backend.share_prefix(0, 1, 100)
        assert backend.heads.num_held(1) == 0
        guessed(backend, 0, TOKENS, 2)
        backend.share_prefix(0, 2, 100)
        assert native_heads.lib.llama_memory_seq_pos_max(backend.heads._memory, 2) == 99


def test_after_a_decode_that_broke_off_hidden_rows_are_not_mistaken_for_others(with_heads):
    with opened(with_heads("glm4moe")) as backend:
        computed(backend, TOKENS[:50])
        with mock.patch.object(backend, "_decode", return_value=2), pytest.raises(DecodeInterruptedError):
            computed(backend, TOKENS[50:60])
        assert not backend.heads._waiting[0]
        computed(backend, TOKENS[50:60])
        assert len(backend.heads._waiting[0]) == 10


@pytest.mark.parametrize("family", FAMILIES)
def test_heads_are_right_as_often_as_their_weights_are_made_to_be(family, with_heads):
    num_right = 0
    with opened(with_heads(family)) as backend:
        chat = [65, 66]
        computed(backend, chat[:1])
        for _ in range(20):
            first, second = (int(logits.argmax()) for logits in guessed(backend, 0, chat, 2))
            computed(backend, chat[-1:])
            token_id, _ = backend.likeliest(0)
            num_right += first == token_id
            computed(backend, [token_id])
            next_id, _ = backend.likeliest(0)
            num_right += first == token_id and second == next_id
            chat += [token_id, next_id]
    assert num_right > 25


def test_of_a_long_prompt_the_last_rows_wait(with_heads):
    with opened(with_heads("glm4moe")) as backend:
        computed(backend, TOKENS * 3)
        num_waiting = len(backend.heads._waiting[0])
        assert num_waiting == native_heads.MOST_BATCHES * backend.model.n_batch
        assert backend.heads.num_held(0) == 3 * len(TOKENS) - num_waiting
        assert np.isfinite(guessed(backend, 0, [*TOKENS * 3, 9], 2)).all()
        check_guesses_end(backend)


def test_after_a_shift_heads_go_on_from_what_is_computed_then(with_heads):
    with opened(with_heads("glm4moe")) as backend:
        assert backend.model.can_shift
        computed(backend, TOKENS[:100])
        guessed(backend, 0, TOKENS[:101], 2)
        backend.remove_and_shift(0, 10, 40)
        computed(backend, TOKENS[100:110])
        assert backend.heads.num_held(0) == 70
        assert np.isfinite(guessed(backend, 0, TOKENS[:10] + TOKENS[40:111], 2)).all()
        check_guesses_end(backend)


def test_an_interrupt_reaches_the_heads_and_they_go_on_after_it(with_heads):
    with opened(with_heads("glm4moe")) as backend:
        computed(backend, TOKENS[:100])
        expected = guessed(backend, 0, TOKENS[:101], 2)
        backend.interrupt()
        with pytest.raises(DecodeInterruptedError):
            guessed(backend, 0, TOKENS[:101], 1)
        backend.resume()
        backend.heads.drop_guesses([0])
        assert np.array_equal(guessed(backend, 0, TOKENS[:101], 2), expected)


# Where there are none.


def test_a_draft_model_that_was_chosen_drafts_instead(with_heads, tiny_gguf):
    with open_llama_backend(params(with_heads("glm4moe"), draft_model=tiny_gguf("qwen3"))) as backend:
        assert backend.draft
        assert backend.heads is None


def test_heads_that_llama_cpp_cannot_compute_are_left_alone(tmp_path, tiny_gguf):
    """It would end the process."""
    two = write_tiny_gguf(tmp_path / "two.gguf", "glm4moe", num_heads=2, chat_template=None)
    with opened_engines(params(two)) as (engine, _):
        assert engine._backend.heads is None
        assert ask(engine, request("Hello", max_tokens=5)).token_ids
    assert not has_heads(params(tiny_gguf("qwen3")))
    assert not has_heads(params(tmp_path / "gone.gguf"))


def test_without_the_functions_of_the_library_an_answer_is_made_without_heads(with_heads, caplog):
    missing = AttributeError("None of the shared library symbols were found: llama_set_embeddings_nextn")
    load = mock.Mock(wraps=importlib.import_module, side_effect=missing)
    with (
        mock.patch.object(loading_drafts.importlib, "import_module", load),
        opened_engines(params(with_heads("glm4moe"))) as (engine, _),
    ):
        assert engine._backend.heads is None
        answer = ask(engine, request("Hello", max_tokens=10))
    assert answer.finish_reason is FinishReason.LENGTH
    assert "its heads are not used: None of the shared library symbols" in caplog.text


def failing_decode(heads):
    return mock.patch.object(heads, "_decode", side_effect=DecodeError("llama.cpp failed (code -3)."))


def computing_nan(heads):
    nan = np.full(heads._logits._n_vocab, np.nan, np.float32)
    return mock.patch.object(heads._logits, "_views", mock.Mock(get=lambda _address: nan))


@pytest.mark.parametrize("fault", [failing_decode, computing_nan])
def test_heads_that_fail_are_given_up_and_the_answer_goes_on(fault, with_heads):
    with opened_engines(params(with_heads("glm4moe"))) as (engine, plain):
        one = request("Hello", "chat", max_tokens=40, keep_cells=False)
        with fault(engine._backend.heads):
            result = run(engine, one)
        events = [event for report in result.reports for event in report.events]
        [told] = [event.text for event in events if event.kind is EventKind.DRAFT]
        assert told.startswith("The heads of the model have been switched off. ")
        answer = result.answers[one.request_id]
        assert answer.token_ids == ask(plain, replace(one, chat_id="other")).token_ids


def test_their_memory_is_told_estimated_and_given_back(tmp_path):
    shape = Shape(n_embd=64, n_ffn=128, n_head=4, n_head_kv=2)
    path = write_tiny_gguf(tmp_path / "main.gguf", "glm4moe", shape=shape, num_heads=1, chat_template=None)
    loaded = params(path, n_ctx=4096)
    before = native_objects.copy()
    with open_llama_backend(replace(loaded, num_drafted_tokens=0)) as backend:
        alone = backend.model.memory
    with open_llama_backend(loaded) as backend:
        taken = backend.model.memory
        assert backend.model.has_heads
    expected = estimate(read_whole_header(path), loaded)
    assert expected.total_bytes == pytest.approx(taken.total_bytes, rel=0.1)
    assert expected.kv_bytes == taken.kv_bytes > alone.kv_bytes
    gc.collect()
    assert native_objects == before
