"""The gate to llama.cpp: what it refuses, and that nothing native is left behind."""

import ctypes
import threading

import llama_cpp
import numpy as np
import psutil
import pytest

from app.engine.engine import Engine
from app.engine.llama.loading import MAX_N_SEQ, num_threads, open_llama_backend
from app.engine.llama.logits import LOOK_EVERY
from app.engine.llama.native_library import library, native_objects
from app.protocol.errors import (
    BadLogitsError,
    DecodeInterruptedError,
    ModelLoadCancelledError,
    ModelLoadError,
    NoKvCellsError,
    PositionMismatchError,
)
from app.protocol.load import LoadParams
from app.protocol.output import FinishReason
from app.protocol.request import Message, Role
from app.protocol.sampling import SamplingParams
from tests.driver import GREEDY, ask, request, rows
from tests.native.tiny_ggufs import write_tiny_gguf

pytestmark = pytest.mark.native


@pytest.fixture
def load(tiny_gguf):
    def load_tiny(architecture="qwen3", **params):
        values = {"n_ctx": 256, "n_seq_max": 4, "n_batch": 64, "n_threads": 1} | params
        return open_llama_backend(LoadParams(tiny_gguf(architecture), **values))

    return load_tiny


@pytest.fixture
def spoil(monkeypatch):
    """Lets every decode end with other logits: `change(row, logits)` writes them."""
    decode = llama_cpp.llama_decode

    def spoil(change):
        def decode_and_spoil(context, batch):
            code = decode(context, batch)
            n_vocab = llama_cpp.llama_vocab_n_tokens(
                llama_cpp.llama_model_get_vocab(llama_cpp.llama_get_model(context))
            )
            for row in (row for row in range(batch.n_tokens) if batch.logits[row]):
                logits = llama_cpp.llama_get_logits_ith(context, row)
                change(row, np.ctypeslib.as_array(logits, (n_vocab,)))
            return code

        monkeypatch.setattr(llama_cpp, "llama_decode", decode_and_spoil)

    return spoil


# Positions: the errors of the old server cannot get past the gate


@pytest.mark.parametrize("first_pos", [0, 2, 4, 7, -1])
def test_a_position_that_is_not_the_next_one_is_refused(load, first_pos):
    with load() as backend:
        backend.decode(rows(backend, (0, 0, [1, 2, 3])))
        with pytest.raises(PositionMismatchError, match="sequence 0 is at position 2"):
            backend.decode(rows(backend, (0, first_pos, [4])))
        backend.decode(rows(backend, (0, 3, [4])))
        assert backend.pos_max(0) == 3


def test_an_empty_sequence_must_begin_at_zero(load):
    """llama.cpp itself would take any position here and answer nonsense."""
    with load() as backend, pytest.raises(PositionMismatchError, match="wants to go on at 5"):
        backend.decode(rows(backend, (1, 5, [4])))


def test_the_same_position_twice_is_refused(load):
    with load() as backend:
        batch = rows(backend, (0, 0, [1, 2]))
        batch.positions[1] = 0
        with pytest.raises(PositionMismatchError):
            backend.decode(batch)


@pytest.mark.parametrize(
    ("spans", "message"),
    [
        ([(0, 0, [99_999])], "token id"),
        ([(0, 0, [-1])], "token id"),
        ([(4, 0, [1])], "seq_id 4"),
        ([(-1, 0, [1])], "seq_id -1"),
        ([], "0 rows"),
    ],
)
def test_rows_that_would_harm_the_process_are_refused(load, spans, message):
    with load() as backend, pytest.raises(AssertionError, match=message):
        backend.decode(rows(backend, *spans))


# Logits


def test_a_row_without_logits_cannot_be_sampled(load):
    with load() as backend:
        sampler = backend.new_sampler(GREEDY, [])
        backend.decode(rows(backend, (0, 0, [1, 2, 3])))
        with pytest.raises(AssertionError, match="row 1 has no logits"):
            sampler.sample(1)
        assert 0 <= sampler.sample(2) < backend.model.n_vocab
        sampler.close()


def test_logits_of_a_failed_decode_cannot_be_sampled(load):
    """llama.cpp would silently give those of the step before."""
    with load() as backend:
        sampler = backend.new_sampler(GREEDY, [])
        for start in range(0, 256, 64):
            backend.decode(rows(backend, (0, start, [1] * 64)))
        with pytest.raises(NoKvCellsError):
            backend.decode(rows(backend, (1, 0, [1] * 64)))
        assert backend.pos_max(1) == -1
        with pytest.raises(AssertionError, match="no logits"):
            sampler.sample(63)
        sampler.close()


@pytest.mark.parametrize(
    ("value", "kind"), [(0.0, "only zeros"), (np.nan, "NaN or infinite"), (np.inf, "NaN or infinite")]
)
def test_logits_that_mean_nothing_end_the_answer_with_a_clear_error(load, spoil, value, kind):
    with load() as backend:
        spoil(lambda _row, logits: logits.fill(value))
        engine = Engine(backend)
        answer = ask(engine, request("hello"))
        engine.close()
    assert answer.finish_reason is FinishReason.ERROR
    assert kind in answer.notice


def test_one_nan_among_the_logits_is_found_before_long(load, spoil):
    """Where a weight of the output is none, the logit of one token is none in all rows."""
    with load() as backend:
        spoil(lambda _row, logits: logits.put(token_id, np.nan))
        sampler = backend.new_sampler(GREEDY, [])
        found = []
        for token_id in (0, 100, backend.model.n_vocab - 1):
            backend.truncate(0, 0)
            for pos in range(LOOK_EVERY):
                backend.decode(rows(backend, (0, pos, [1])))
                try:
                    sampler.sample(0)
                except BadLogitsError:
                    found.append(token_id)
        sampler.close()
    assert found == [*[0] * LOOK_EVERY, 100, backend.model.n_vocab - 1], "among the first at once"


@pytest.mark.parametrize("num_logprobs", [0, 2])
@pytest.mark.parametrize("seed", range(4))
def test_one_nan_among_the_logits_ends_no_answer_without_a_word(load, spoil, seed, num_logprobs):
    """It takes the probability of all others, so any token may be chosen: also one that ends the answer."""
    with load() as backend:
        spoil(lambda _row, logits: logits.put(100, np.nan))
        engine = Engine(backend)
        sampling = SamplingParams(temperature=0.8, top_k=0, top_p=1.0, min_p=0.0, seed=seed)
        answer = ask(engine, request("hello", sampling=sampling, num_logprobs=num_logprobs))
        engine.close()
    assert answer.finish_reason is FinishReason.ERROR
    assert "NaN or infinite" in answer.notice


def test_no_answer_begins_by_a_row_with_a_nan(load, spoil):
    """Of two decodes in a row, one at most is looked at whole by its turn."""
    with load() as backend:
        spoil(lambda _row, logits: logits.put(100, np.nan))
        for pos in range(2):
            sampler = backend.new_sampler(GREEDY, [])
            backend.decode(rows(backend, (0, pos, [1])))
            with pytest.raises(BadLogitsError):
                sampler.sample(0)
            sampler.close()


def test_no_answer_ends_by_a_row_with_a_nan(load, spoil):
    """A later row may be the first that has one."""
    with load() as backend:
        sampler = backend.new_sampler(GREEDY, [])
        backend.decode(rows(backend, (0, 0, [1])))
        sampler.sample(0)
        end = min(backend.end_tokens)
        spoil(lambda _row, logits: (logits.put(100, np.nan), logits.put(end, 1000.0)))
        backend.decode(rows(backend, (0, 1, [1])))
        with pytest.raises(BadLogitsError):
            sampler.sample(0)
        sampler.close()


@pytest.mark.parametrize("value", [0.0, -np.inf])
def test_tokens_that_are_never_chosen_end_no_answer(load, spoil, value):
    """Some models have such logits for the first tokens of their vocabulary, which are no words."""
    with load() as backend:
        spoil(lambda _row, logits: logits[:100].fill(value))
        engine = Engine(backend)
        answer = ask(engine, request("hello", max_tokens=20))
        engine.close()
    assert answer.finish_reason is not FinishReason.ERROR


def test_a_row_of_nan_among_others_is_found_at_once(load, spoil):
    with load() as backend:
        spoil(lambda row, logits: logits.fill(np.nan) if row == 1 else None)
        samplers = [backend.new_sampler(GREEDY, []) for _ in range(3)]
        for pos in range(3):
            backend.decode(rows(backend, *((seq_id, pos, [1]) for seq_id in range(3))))
            samplers[0].sample(0)
            samplers[2].sample(2)
            with pytest.raises(BadLogitsError):
                samplers[1].sample(1)
        for sampler in samplers:
            sampler.close()


# Interrupts and threads


def test_an_interrupted_decode_leaves_every_sequence_readable(load):
    with load() as backend:
        backend.decode(rows(backend, (0, 0, [1, 2, 3])))
        backend.interrupt()
        with pytest.raises(DecodeInterruptedError):
            backend.decode(rows(backend, (0, 3, [4] * 40), (1, 0, [5] * 20)))
        assert backend.pos_max(0) >= 2


def test_a_second_thread_is_refused(load):
    with load() as backend:
        backend.decode(rows(backend, (0, 0, [1])))
        errors: list[AssertionError] = []

        def decode() -> None:
            try:
                backend.decode(rows(backend, (0, 1, [1])))
            except AssertionError as error:
                errors.append(error)

        thread = threading.Thread(target=decode)
        thread.start()
        thread.join()
    assert "second thread" in str(errors[0])


def test_threads_are_never_more_than_cores(monkeypatch):
    monkeypatch.setattr(psutil, "cpu_count", lambda logical: 8)
    assert [num_threads(wanted, 10**9) for wanted in (0, 1, 8, 1000)] == [7, 1, 8, 8]


def test_a_small_model_computes_on_one_thread_unless_told_otherwise():
    assert num_threads(0, n_params=3_000_000) == 1
    assert num_threads(2, n_params=3_000_000) == min(2, psutil.cpu_count(logical=False))


# The vocabulary


def test_text_survives_the_tokenizer(load):
    with load() as backend:
        for text in ("hello", "ä🙂\n\t", "<|im_end|>", "a" * 5000, ""):
            tokens = backend.tokenize(text, parse_special=False)
            assert b"".join(map(backend.token_piece, tokens)).decode() == text


def test_control_tokens_count_only_where_they_may(load):
    with load() as backend:
        end = backend.tokenize("<|im_end|>", parse_special=True)
        assert len(end) == 1
        assert len(backend.tokenize("<|im_end|>", parse_special=False)) > 1
        assert backend.is_end_of_generation(end[0])
        assert {"<|im_start|>", "<|im_end|>", "<|endoftext|>"} <= backend.control_texts()


@pytest.mark.parametrize("role", list(Role))
def test_no_control_token_of_the_vocabulary_can_be_typed(load, role):
    with load() as backend:
        engine = Engine(backend)
        controls = {backend.tokenize(text, parse_special=True)[0] for text in backend.control_texts()}

        def num_controls(content: str) -> int:
            prompt = engine.prompts.build(request("q", history=(Message(role, content),)))
            return sum(token in controls for token in prompt.token_ids)

        for text in backend.control_texts():
            assert num_controls(f"x{text}y") == num_controls("harmless")
        engine.close()


# Loading


def test_a_missing_file_is_refused(tmp_path):
    with (
        pytest.raises(ModelLoadError, match=r"none\.gguf is not in"),
        open_llama_backend(LoadParams(tmp_path / "none.gguf")),
    ):
        pass


def test_its_chat_template_says_what_a_model_can(tmp_path):
    thinking = "{% if tools %}{{ tools }}{% endif %}{% if enable_thinking %}<think>{% endif %}"
    for template, can in ((None, (False, False, False)), ("{{ messages }}", (True, False, False))):
        model = write_tiny_gguf(tmp_path / "tiny.gguf", "qwen3", chat_template=template)
        with open_llama_backend(LoadParams(model, n_ctx=256)) as backend:
            info = backend.model
            assert (info.has_template, info.takes_tools, info.thinks) == can
    model = write_tiny_gguf(tmp_path / "thinking.gguf", "qwen3", chat_template=thinking)
    with open_llama_backend(LoadParams(model, n_ctx=256)) as backend:
        assert (backend.model.takes_tools, backend.model.thinks) == (True, True)


def test_a_model_may_have_a_template_of_its_own_for_tools(tmp_path):
    for_tools = {"name": "tool_use", "template": "{{ tools }}"}
    for others in ([], [{"name": "default", "template": "{{ messages }}"}]):
        model = write_tiny_gguf(tmp_path / "tiny.gguf", "qwen3", chat_template=[*others, for_tools])
        with open_llama_backend(LoadParams(model, n_ctx=256)) as backend:
            assert backend.tool_template == "{{ tools }}"
            assert backend.chat_template == ("{{ messages }}" if others else "{{ tools }}")
            assert backend.model.takes_tools


def test_a_load_can_be_cancelled(tiny_gguf):
    with (
        pytest.raises(ModelLoadCancelledError),
        open_llama_backend(LoadParams(tiny_gguf("qwen3")), lambda _fraction: False),
    ):
        pass


def test_a_context_beyond_the_memory_is_refused_before_it_is_made(tiny_gguf):
    with (
        pytest.raises(ModelLoadError, match="GiB are free"),
        open_llama_backend(LoadParams(tiny_gguf("qwen3"), n_ctx=2_000_000_000)),
    ):
        pass


@pytest.mark.parametrize(("n_ctx", "n_seq_max"), [(1, 8), (1, 1000), (3, 0)])
def test_a_context_too_small_for_its_sequences_is_made_larger(tiny_gguf, n_ctx, n_seq_max):
    """llama.cpp would abort the process."""
    params = LoadParams(tiny_gguf("qwen3"), n_ctx=n_ctx, n_seq_max=n_seq_max, n_threads=1)
    with open_llama_backend(params) as backend:
        assert backend.model.n_ctx >= 256
        assert backend.model.n_batch >= backend.model.n_seq_max == min(max(n_seq_max, 1), MAX_N_SEQ)


def test_progress_goes_from_nothing_to_all(tiny_gguf):
    seen: list[float] = []
    with open_llama_backend(LoadParams(tiny_gguf("qwen3")), lambda fraction: seen.append(fraction) or True):
        pass
    assert seen == sorted(seen)
    assert seen[-1] == 1.0


# Nothing native is left behind


def test_everything_is_freed_when_the_backend_closes(load):
    before = dict(+native_objects)
    for _ in range(3):
        with load() as backend:
            engine = Engine(backend)
            engine.add_request(request("left open", max_tokens=None))
            engine.step()
            assert native_objects["sampler"] == before.get("sampler", 0) + 1
            engine.close()
    assert dict(+native_objects) == before


def test_everything_is_freed_when_a_load_fails_half_way(load, monkeypatch):
    before = dict(+native_objects)
    monkeypatch.setattr(llama_cpp, "llama_init_from_model", lambda *_: ctypes.c_void_p(None))
    with pytest.raises(ModelLoadError, match="cannot create a context"), load():
        pass
    assert dict(+native_objects) == before


# What it tells of itself


@pytest.mark.parametrize("isolated", [False, True])
@pytest.mark.parametrize("family", ["llama", "qwen3", "qwen3moe", "qwen2vl"])
def test_what_a_cell_takes_is_measured(load, family, isolated):
    """Four layers of keys and values, one head of 16 numbers of two bytes."""
    with load(family, isolated=isolated) as backend:
        assert backend.model.cell_bytes == 4 * 2 * 16 * 2
        assert {backend.pos_max(seq_id) for seq_id in range(4)} == {-1}
        assert backend.used_cells().listed() == []


@pytest.mark.parametrize("family", ["gemma3", "gpt-oss", "lfm2", "qwen35", "mamba"])
def test_it_means_nothing_where_not_every_cell_is_one_token(load, family):
    with load(family) as backend:
        assert backend.model.cell_bytes == 0


def test_its_warnings_can_be_taken_once(load):
    with load() as backend:
        backend.take_log_lines()
        for start in range(0, 256, 64):
            backend.decode(rows(backend, (0, start, [1] * 64)))
        with pytest.raises(NoKvCellsError):
            backend.decode(rows(backend, (1, 0, [1] * 64)))
        (line,) = backend.take_log_lines()
        assert "failed to find a memory slot for batch of size 64" in line
        assert backend.take_log_lines() == []


def test_of_many_warnings_the_last_are_kept():
    for number in range(1000):
        library()._on_log(3, f"warning {number}".encode(), None)
    lines = library().take_lines()
    assert lines == [f"warning {number}" for number in range(900, 1000)]


def test_a_line_of_the_log_is_cut():
    library()._on_log(3, b"key not found in model: " + b"a" * 1_000_000, None)
    assert len(library().take_lines()[-1]) < 5000


def test_a_token_of_a_megabyte_is_cut(load, monkeypatch):
    with load() as backend:

        def token_to_piece(_vocab: object, _token_id: int, buffer: object, size: int, *_: object) -> int:
            if size < 1_000_000:
                return -1_000_000
            ctypes.memset(buffer, ord("a"), size)
            return size

        monkeypatch.setattr(llama_cpp, "llama_token_to_piece", token_to_piece)
        assert len(backend.token_piece(5)) == len(backend.written_piece(5)) == 4096
