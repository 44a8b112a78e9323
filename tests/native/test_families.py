"""Models of every kind of memory: never a wrong word, at worst a prompt computed again.

Expected is always what an engine answers alone, as far as that is unambiguous.
"""

import dataclasses
from dataclasses import dataclass

import llama_cpp
import numpy as np
import pytest

from app.engine.cells.checkpoints import GAP
from app.engine.detokenizer import Detokenizer
from app.engine.engine import Engine
from app.engine.llama.backend import LlamaBackend
from app.engine.llama.loading import open_llama_backend
from app.protocol.errors import ModelLoadError
from app.protocol.load import LoadParams
from app.protocol.output import FinishReason, PrefixEnd
from app.protocol.request import Overflow
from tests.driver import ask, next_turn, request, run
from tests.effort import EFFORT
from tests.native.oracle import NOISE
from tests.native.tiny_ggufs import write_tiny_gguf

pytestmark = pytest.mark.native

PLAIN = ["llama", "qwen3", "qwen3moe"] if EFFORT > 1 else ["llama"]
FAMILIES = [*PLAIN, "qwen2vl", "gemma3", "gpt-oss", "lfm2", "qwen35", "mamba"]
TEXTS = ["first chat", "second chat, which is longer than the window of the sliding one", "third"]
DOCUMENT = "A document that several chats begin with, and that is longer than a window of thirty-two tokens. "


@pytest.fixture(scope="module", params=[False, True], ids=["unified", "isolated"])
def is_isolated(request):
    return request.param


@pytest.fixture(scope="module", params=FAMILIES)
def params(request, is_isolated, tiny_gguf):
    """Four sequences of 256 tokens at least, in 1,024 cells."""
    path = tiny_gguf(request.param)
    return LoadParams(path, n_ctx=1024, n_seq_max=4, n_batch=64, n_threads=1, isolated=is_isolated)


@pytest.fixture
def engine(params, alone):
    with open_llama_backend(params) as backend:
        engine = Engine(backend, verify=True)
        alone.written_tokens = engine.prompts.written_tokens
        yield engine
        engine.close()


@dataclass(frozen=True)
class Expected:
    """An answer as far as it is sure: behind a tie, rounding may choose either way."""

    text: str
    is_whole: bool

    def fits(self, answer: str) -> bool:
        return answer == self.text if self.is_whole else answer.startswith(self.text)


class WatchedSampler:
    """Remembers the tokens that were sure."""

    waits_for_trigger = False

    def __init__(self, backend, *values) -> None:
        self.backend = backend
        self.sampler = LlamaBackend.new_sampler(backend, *values)
        self.sure_token_ids: list[int] = []
        self.is_sure = True

    def sample(self, row: int) -> int:
        second, first = np.partition(self.backend.logits[row], -2)[-2:]
        self.is_sure = self.is_sure and first - second > NOISE
        token_id = self.sampler.sample(row)
        if self.is_sure:
            self.sure_token_ids.append(token_id)
        return token_id

    def close(self) -> None:
        self.sampler.close()


@pytest.fixture(scope="module")
def alone(params):
    """What an engine answers to a request that finds all cells free.

    It reads earlier answers in the tokens in which the engine that is tested has written them.
    """
    with open_llama_backend(params) as backend:
        engine = Engine(backend)
        samplers = []
        backend.new_sampler = lambda *values: (
            samplers.append(WatchedSampler(backend, *values)) or samplers[-1]
        )

        def answer_to(one) -> Expected:
            engine.prompts.written_tokens = answer_to.written_tokens
            text = ask(engine, dataclasses.replace(one, keep_cells=False)).text
            assert engine.slots.cells.num_used == 0
            if samplers[-1].is_sure:
                return Expected(text, is_whole=True)
            detokenizer = Detokenizer(backend.token_piece)
            return Expected("".join(map(detokenizer.add, samplers[-1].sure_token_ids)), is_whole=False)

        yield answer_to
        engine.close()


def assert_as_alone(result, asked, alone):
    for one in asked:
        answer, expected = result.answers[one.request_id].text, alone(one)
        assert expected.fits(answer), f"{answer!r} is not {expected}"


def test_together_as_alone(engine, alone):
    asked = [request(text) for text in TEXTS]
    assert_as_alone(run(engine, *asked), asked, alone)


def test_the_next_turn_of_an_idle_chat_is_right_after_others_have_talked(engine, alone):
    """Another tab's rows may take the idle one's window cells; the answer must not show it."""
    first = request("what is first?")
    answer = ask(engine, first)
    run(engine, *[request(text, max_tokens=30) for text in TEXTS])
    second = next_turn(first, answer.text, "and then?")
    assert_as_alone(run(engine, second), [second], alone)


def test_an_idle_chat_is_not_computed_again_after_others_have_talked(engine, alone):
    """The others take all cells that its next token does not see, and no more."""
    first = request(DOCUMENT, max_tokens=40)
    answer = ask(engine, first)
    run(engine, *[request(f"{number}. {DOCUMENT}", max_tokens=60) for number in range(2)])
    second = next_turn(first, answer.text, "and then?")
    result = run(engine, second)
    usage = result.answers[second.request_id].usage
    held = answer.usage.num_prompt_tokens + answer.usage.num_generated_tokens - 1
    assert (usage.num_reused_tokens, usage.prefix_end) == (held, PrefixEnd.NEW_TEXT)
    assert_as_alone(result, [second], alone)


def test_more_chats_than_slots_and_cells(engine, alone):
    """Ten chats of some 120 tokens each, two turns, in 1,024 cells and four slots."""
    first_turn = [request(f"{DOCUMENT[index:]} {index}?") for index in range(10)]
    first = run(engine, *first_turn)
    assert_as_alone(first, first_turn, alone)
    second_turn = [next_turn(one, first.answers[one.request_id].text, "and then?") for one in first_turn]
    assert_as_alone(run(engine, *second_turn), second_turn, alone)


def test_a_rolling_window(engine, alone):
    """Turns are left out. Moved cells remember them; where they cannot be moved, nothing does."""
    first = request(DOCUMENT, max_context_tokens=200, overflow=Overflow.ROLLING_WINDOW)
    answer = ask(engine, first)
    second = dataclasses.replace(
        next_turn(first, answer.text, DOCUMENT), max_context_tokens=200, overflow=Overflow.ROLLING_WINDOW
    )
    result = run(engine, second)
    assert result.answers[second.request_id].finish_reason in (FinishReason.STOP, FinishReason.LENGTH)
    assert result.answers[second.request_id].usage.num_prompt_tokens < 200
    if not engine.model.can_shift:
        assert_as_alone(result, [second], alone)


def test_no_cells_are_left_after_many_requests(engine):
    for _ in range(30):
        answer = ask(engine, request("again and again", keep_cells=False, max_tokens=4))
        assert answer.finish_reason is not FinishReason.ERROR
    assert [slot.pos_max for slot in engine.slots.snapshots()] == [-1] * 4


# What a model can do is asked of the library


def test_what_each_family_can_do(tiny_gguf, params):
    with open_llama_backend(params) as backend:
        model = backend.model
    family = model.architecture
    assert (model.n_swa > 0) == (family in ("gemma3", "gpt-oss"))
    assert model.is_hybrid == (family in ("lfm2", "qwen35"))
    assert model.is_recurrent == (family == "mamba")
    assert model.has_plain_attention == (family in (*PLAIN, "qwen2vl"))
    assert model.takes_checkpoints == (not model.has_plain_attention)
    assert model.can_share_cells == (not params.isolated)
    assert model.can_shift == (family in PLAIN)


@pytest.mark.parametrize("is_isolated", [False, True], indirect=True)
@pytest.mark.parametrize(
    ("family", "flag"),
    [("lfm2", "is_hybrid"), ("qwen35", "is_hybrid"), ("gemma3", "n_swa"), ("mamba", "is_recurrent")],
)
def test_a_flag_that_lies_is_found_out(tiny_gguf, monkeypatch, is_isolated, family, flag):
    """Some memories of several parts come without one; an empty state shows what a memory is made of."""
    monkeypatch.setattr(llama_cpp, f"llama_model_{flag}", lambda _model: 0)
    params = LoadParams(tiny_gguf(family), n_ctx=256, n_threads=1, isolated=is_isolated)
    with open_llama_backend(params) as backend:
        assert not backend.model.has_plain_attention
        assert not backend.model.can_share_cells
        assert not backend.model.can_shift


def test_why_a_prompt_is_computed_again_is_told(engine):
    one = request(DOCUMENT, max_tokens=40)
    ask(engine, one)
    usage = ask(engine, dataclasses.replace(one, request_id="again")).usage
    goes_anywhere = engine.model.has_plain_attention
    assert usage.prefix_end in ([PrefixEnd.SAME] if goes_anywhere else [PrefixEnd.SAME, PrefixEnd.CHECKPOINT])
    num_again = usage.num_prompt_tokens - usage.num_reused_tokens
    assert num_again == 1 if engine.model.has_plain_attention else 1 <= num_again <= GAP


# Models that cannot chat are refused


@pytest.mark.parametrize("is_isolated", [False], indirect=True)
@pytest.mark.parametrize(
    ("architecture", "options", "reason"),
    [
        ("bert", {}, "is an embedding model"),
        ("qwen3", {"metadata": {"qwen3.pooling_type": 3}}, "is an embedding model"),
        ("llama", {"metadata": {"llama.attention.causal": False}}, "is an embedding model"),
        ("t5", {}, "is an encoder-decoder model"),
        ("llada", {}, "is a diffusion model"),
        ("llama", {"has_vocabulary": False}, "has no vocabulary"),
        ("llama", {"has_weights": False}, "lacks the tensor “token_embd.weight”"),
    ],
    ids=[
        "encoder",
        "embedding",
        "not causal",
        "encoder-decoder",
        "diffusion",
        "no vocabulary",
        "vocabulary only",
    ],
)
def test_a_model_that_cannot_chat_is_refused_with_the_reason(
    tmp_path, is_isolated, architecture, options, reason
):
    path = write_tiny_gguf(tmp_path / "odd.gguf", architecture, **options)
    with (
        pytest.raises(ModelLoadError, match=reason) as caught,
        open_llama_backend(LoadParams(path, n_ctx=256)),
    ):
        pass
    assert "odd.gguf" in str(caught.value)
    assert "pen another " in str(caught.value)
