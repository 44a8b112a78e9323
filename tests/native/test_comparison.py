"""Two models on one text, in a child process, against what plain numpy makes of the logits of each."""

import ctypes
import os
import threading
from collections.abc import Callable
from pathlib import Path

import gguf
import llama_cpp as lib
import numpy as np
import numpy.typing as npt
import pytest

from app.engine.children.comparing import CHILD, compared
from app.engine.llama.loading import open_llama_backend
from app.models import comparing, memory_fit
from app.models.comparing import prepared
from app.protocol.comparison import Compare, Comparison
from app.protocol.errors import EngineError, ModelLoadError
from app.protocol.load import LoadParams
from app.system.worker import Worker
from tests.driver import rows
from tests.native.tiny_ggufs import END_OF_TEXT, write_tiny_gguf

pytestmark = pytest.mark.native

TEXT = "The quick brown fox jumps over the lazy dog, and näive “quotes” are bytes here."


def quantised(source: Path, path: Path, ftype: str) -> Path:
    params = lib.llama_model_quantize_default_params()
    params.ftype = getattr(lib, f"LLAMA_FTYPE_MOSTLY_{ftype}")
    assert lib.llama_model_quantize(os.fsencode(source), os.fsencode(path), ctypes.byref(params)) == 0
    return path


def written(folder: Path, *, has_bos: bool) -> tuple[Path, Path]:
    floats = write_tiny_gguf(folder / "f32.gguf", "llama", seed=3)
    if has_bos:
        with_bos(floats)
    return quantised(floats, folder / "f16.gguf", "F16"), quantised(floats, folder / "q4.gguf", "Q4_0")


@pytest.fixture(scope="module", params=[False, True], ids=["no bos", "bos"])
def pair(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return written(tmp_path_factory.mktemp("pair"), has_bos=request.param)


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A model of f16, and its quantisation."""
    return written(tmp_path_factory.mktemp("plain"), has_bos=False)


def with_bos(path: Path) -> None:
    reader = gguf.GGUFReader(path, "r+")
    reader.fields["tokenizer.ggml.add_bos_token"].parts[-1][0] = True
    reader.data.flush()


def ask(
    base: Path, other: Path, on_progress: Callable[[float], object] = lambda _done: None, **options: object
) -> Comparison:
    loads = (LoadParams(path, n_threads=1) for path in (base, other))
    question = Compare(*loads, **({"text": TEXT} | options))  # type: ignore[arg-type]
    return compared(prepared(question), Worker(CHILD, keeps_log=True, is_once=True), on_progress)


def log_probabilities(path: Path, token_ids: list[int]) -> npt.NDArray[np.float64]:
    """After each token, decoded one by one in the engine's own context."""
    with open_llama_backend(LoadParams(path, n_ctx=512, n_seq_max=1, n_threads=1)) as backend:
        found = []
        for pos, token_id in enumerate(token_ids):
            backend.decode(rows(backend, (0, pos, [token_id])))
            logits = np.asarray(backend.logits[0], np.float64)
            found.append(logits - np.log(np.exp(logits).sum()))
    return np.array(found)


def test_a_file_is_as_far_from_itself_as_nothing(plain: tuple[Path, Path]) -> None:
    found = ask(plain[1], plain[1])
    assert (found.kl == 0).all()
    assert found.perplexities[0] == found.perplexities[1] > 1
    assert (found.partings, found.same_share) == ([], 1)
    assert (found.ranks[0] == found.ranks[1]).all()


def test_a_quantisation_is_as_far_away_as_numpy_says(pair: tuple[Path, Path]) -> None:
    told: list[float] = []
    found = ask(*pair, told.append)
    assert b"".join(found.pieces).decode() == TEXT
    token_ids = found.token_ids.tolist()
    with open_llama_backend(LoadParams(pair[0], n_ctx=256, n_seq_max=1, n_threads=1)) as backend:
        leading = backend.leading_tokens()
        likely = found.greedy_ids.ravel().tolist()
        assert found.control_ids == {token for token in likely if not backend.token_piece(token)}
    assert found.num_given == 1 - len(leading)
    base, other = (log_probabilities(path, [*leading, *token_ids][:-1]) for path in pair)
    nexts = token_ids[found.num_given :]
    places = range(len(nexts))
    assert len(found.kl) == len(nexts)
    np.testing.assert_allclose(found.kl, (np.exp(base) * (base - other)).sum(axis=1), atol=1e-6)
    assert found.mean_kl > 1e-5, "these two do differ"
    np.testing.assert_allclose(found.logprobs, [base[places, nexts], other[places, nexts]], atol=1e-5)
    assert (found.greedy_ids == [base.argmax(axis=1), other.argmax(axis=1)]).all()
    by_rank = [(-one).argsort(axis=1) for one in (base, other)]
    ranks = [[order[place].tolist().index(nexts[place]) + 1 for place in places] for order in by_rank]
    assert (found.ranks == ranks).all()
    parts = [place for place in places if base[place].argmax() != other[place].argmax()]
    assert found.partings == [place + found.num_given for place in parts]
    assert found.perplexities == pytest.approx([np.exp(-one[places, nexts].mean()) for one in (base, other)])
    assert told == sorted(told)
    assert told[-1] == 1


def test_in_turn_and_side_by_side_are_the_same(plain: tuple[Path, Path], monkeypatch) -> None:
    monkeypatch.setattr(memory_fit, "free_memory_bytes", lambda: 1 << 40)
    together = ask(*plain)
    needed = memory_fit.estimate(
        comparing.open_header(plain[0]), LoadParams(plain[0], n_ctx=4096, n_seq_max=1)
    )
    monkeypatch.setattr(memory_fit, "free_memory_bytes", lambda: int(1.5 * needed.total_bytes))
    question = prepared(Compare(*(LoadParams(path, n_threads=1) for path in plain), TEXT))
    assert not question.are_together
    in_turn = compared(question, Worker(CHILD, is_once=True), lambda _done: None)
    for one, two in ((together, in_turn), (in_turn, together)):
        assert (one.kl == two.kl).all()
        assert (one.logprobs == two.logprobs).all()
        assert one.greedy_pieces == two.greedy_pieces
    monkeypatch.setattr(memory_fit, "free_memory_bytes", lambda: needed.total_bytes // 2)
    with pytest.raises(ModelLoadError, match="GiB are free"):
        prepared(Compare(LoadParams(plain[0]), LoadParams(plain[1]), TEXT))


def test_a_text_longer_than_a_window_has_half_a_window_before_each_token(pair: tuple[Path, Path]) -> None:
    found, size = ask(*pair, n_ctx=32), 32
    whole = ask(*pair)
    token_ids, given = found.token_ids.tolist(), found.num_given
    np.testing.assert_array_equal(found.kl[: size - 2], whole.kl[: size - 2])
    with open_llama_backend(LoadParams(pair[0], n_ctx=256, n_seq_max=1, n_threads=1)) as backend:
        leading = backend.leading_tokens()
    stream = [*leading, *token_ids]
    token = 2 * size + 5  # in the fourth window's second half
    begin = token // 16 * 16 - 16
    read = [*leading, *stream[begin + len(leading) : token]]
    base, other = (log_probabilities(path, read)[-1] for path in pair)
    place = token - len(leading) - given
    assert found.kl[place] == pytest.approx((np.exp(base) * (base - other)).sum(), abs=1e-6)
    assert found.kl[place] != whole.kl[place]


def test_of_an_answer_its_own_tokens_are_compared_after_their_prompt(pair: tuple[Path, Path]) -> None:
    whole = ask(*pair)
    with open_llama_backend(LoadParams(pair[0], n_ctx=256, n_seq_max=1, n_threads=1)) as backend:
        stream = (*backend.leading_tokens(), *whole.token_ids.tolist())
    found = ask(*pair, text="", token_ids=stream, first=20)
    assert (found.num_given, len(found.kl)) == (0, len(stream) - 20)
    assert found.token_ids.tolist() == list(stream[20:])
    np.testing.assert_allclose(found.kl, whole.kl[-len(found.kl) :], atol=1e-9)


@pytest.mark.parametrize("text", ["", "a"])
def test_where_there_is_nothing_to_compare_it_says_so(text: str, pair: tuple[Path, Path]) -> None:
    with open_llama_backend(LoadParams(pair[0], n_ctx=256, n_seq_max=1, n_threads=1)) as backend:
        if text and backend.leading_tokens():
            assert len(ask(*pair, text=text).kl) == 1
            return
    with pytest.raises(EngineError, match="The text is too short"):
        ask(*pair, text=text)


def test_pictures_and_too_long_texts_are_refused_in_words(plain: tuple[Path, Path]) -> None:
    with pytest.raises(EngineError, match="pictures or sounds"):
        ask(*plain, text="", token_ids=(5, -7, 5), first=1)
    with pytest.raises(EngineError, match="Compare a part of it, up to 65,536"):
        ask(*plain, text="a b" * 40_000)


def test_another_vocabulary_is_refused_before_anything_is_computed(plain, tmp_path) -> None:
    other = write_tiny_gguf(tmp_path / "other.gguf", "qwen3", seed=1)
    data = other.read_bytes()
    assert data.count(b"<|im_end|>") > 0
    other.write_bytes(data.replace(END_OF_TEXT.encode(), b"<|endoftexts>"))
    with pytest.raises(ModelLoadError, match=r"other\.gguf cannot be compared with f16\.gguf\. Its tokens"):
        ask(plain[0], other)


def test_another_architecture_with_the_same_tokens_is_fine(plain: tuple[Path, Path], tiny_gguf) -> None:
    assert ask(plain[0], tiny_gguf("qwen3")).mean_kl > 0
    assert ask(plain[0], tiny_gguf("mamba")).mean_kl > 0


@pytest.mark.parametrize("is_base", [True, False])
def test_a_file_that_is_no_model_is_refused_in_words(is_base: bool, plain, tmp_path: Path, tiny_gguf) -> None:
    bad = tmp_path / "bad.gguf"

    def refusal() -> str:
        with pytest.raises(EngineError) as caught:
            ask(*((bad, plain[0]) if is_base else (plain[0], bad)))
        return str(caught.value)

    assert "bad.gguf cannot be read" in refusal()
    bad.write_bytes(b"no model")
    assert "bad.gguf cannot be used: it is not a GGUF file" in refusal()
    data = plain[1].read_bytes()
    bad.write_bytes(data[: len(data) // 2])
    assert "bad.gguf" in refusal()
    bad.write_bytes(tiny_gguf("t5").read_bytes())
    assert "it is an encoder-decoder model" in refusal()


def test_weights_that_are_no_numbers_are_told(plain: tuple[Path, Path], tmp_path: Path) -> None:
    bad = write_tiny_gguf(tmp_path / "bad.gguf", "llama", seed=3)
    reader = gguf.GGUFReader(bad, "r+")
    next(one for one in reader.tensors if one.name == "output_norm.weight").data[3] = np.nan
    reader.data.flush()
    with pytest.raises(EngineError, match=r"The logits of bad\.gguf are NaN or infinite"):
        ask(plain[0], bad)


def test_it_can_be_ended_while_it_computes(plain: tuple[Path, Path]) -> None:
    loads = (LoadParams(path, n_threads=1) for path in plain)
    child, has_begun = Worker(CHILD, is_once=True), threading.Event()
    question = prepared(Compare(*loads, "one two three " * 1_500))
    ender = threading.Thread(target=lambda: has_begun.wait(60) and child.end())
    ender.start()
    with pytest.raises(EngineError):
        compared(question, child, lambda done: has_begun.set() if done < 0.5 else None)
    ender.join()
    assert child.pid == 0 or not Path(f"/proc/{child.pid}").exists()


def test_a_process_that_ends_by_itself_is_told(plain: tuple[Path, Path]) -> None:
    question = prepared(Compare(LoadParams(plain[0]), LoadParams(plain[1]), TEXT))
    with pytest.raises(EngineError, match=r"ended \(exit code 1\)"):
        compared(question, Worker("tests.no_such_child", is_once=True), lambda _done: None)
