"""Nothing is computed twice, on any kind of memory, and what is not computed again is as if it had been.

Every sampled row is compared with a run alone. `pytest -rP` shows what was computed and the least possible.
"""

import random
import sys
from itertools import chain, count, product

import llama_cpp
import pytest

from app.engine.cells.prefix import common_prefix
from app.engine.engine import Engine
from app.engine.llama.loading import open_llama_backend
from app.protocol.commands import KeepCells
from app.protocol.load import CellStore, LoadParams
from app.protocol.request import Request
from app.protocol.sampling import SamplingParams
from tests.driver import all_guesses_checked, run
from tests.effort import EFFORT
from tests.native.oracle import Recorder, compare
from tests.native.random_engine import WINDOW

pytestmark = pytest.mark.native

# One of each kind of memory, and with more effort the others.
FAMILIES = ("llama", "qwen2vl", "gemma3", "gpt-oss", "lfm2", WINDOW, "falcon-h1", "qwen35", "mamba2")
if EFFORT > 1:
    FAMILIES += ("gemma4", "nemotron_h", "qwen3next", "mamba")
WITH_WINDOW = ("gemma3", "gemma4", "gpt-oss", WINDOW)
CANNOT_TAKE_BACK = (WINDOW, "falcon-h1", "qwen3next", "mamba", "mamba2")
LAYOUTS = (
    *product(FAMILIES, ("unified",)),
    *product(FAMILIES if EFFORT > 1 else ("gpt-oss", "lfm2"), ("isolated",)),
    *product(WITH_WINDOW if EFFORT > 1 else (WINDOW,), ("whole window",)),
)
MOST_IN_VAIN = 64  # tokens computed beyond the least possible
LENGTH = 500  # of a document
ENDLESS = SamplingParams(temperature=0.0, ignore_eos=True)


@pytest.fixture(params=LAYOUTS, ids=" ".join)
def params(request, models):
    family, layout = request.param
    return LoadParams(
        models.path_of(family),
        n_ctx=4096,
        n_seq_max=4,
        n_threads=1,
        isolated=layout == "isolated",
        swa_full=layout == "whole window",
        num_drafted_tokens=4,
    )


class Chats:
    """Chats of raw tokens in one engine after another, and how much was computed of each prompt."""

    def __init__(self, backend, store=None):
        self._backend, self._store = backend, store
        self._random = random.Random(1)
        self._numbers = count()
        self._start, self._end = sorted(backend.control_tokens)[1:3]
        self._held = {}  # all tokens of each chat, those of its answer among them
        self.recorder = Recorder(backend)
        self.start()

    def start(self):
        self.engine = self.recorder.engine = Engine(self._backend, verify=True)
        self.engine.obey(KeepCells(self._store))

    def restart(self):
        self.engine.close()
        llama_cpp.llama_memory_clear(self._backend._memory, False)
        self.start()
        for name in self._held:
            self.engine.slots.hibernated.prefetch(name)

    def words(self, number):
        return [self._random.randrange(256) for _ in range(number)]

    def turn(self, *words):
        """One of the user, and the beginning of its answer."""
        return [self._start, *b"user\n", *chain(*words), self._end, self._start, *b"assistant\n"]

    def ask(self, name, prompt, max_tokens=20):
        """Prompt and answer. Fails if more was computed than has to be."""
        return self.ask_together({name: prompt}, max_tokens)[name]

    def ask_together(self, prompts, max_tokens=20):
        requests = [self._request(name, prompt, max_tokens) for name, prompt in prompts.items()]
        others = dict(self._held)
        least = {}
        for name, prompt in prompts.items():
            least[name] = len(prompt) - max(
                (common_prefix(held, prompt) for held in others.values()), default=0
            )
            others[name] = prompt  # may be shared while it is computed
        result = run(self.engine, *requests)
        for one in requests:
            answer = result.answers[one.request_id]
            prompt = prompts[one.chat_id]
            self._held[one.chat_id] = [*prompt, *answer.token_ids]
            num_computed = len(prompt) - answer.usage.num_cached_tokens
            told = f"{one.chat_id}: {num_computed} of {len(prompt)} computed, least {least[one.chat_id]}\n"
            sys.stdout.write(told)
            assert num_computed <= least[one.chat_id] + MOST_IN_VAIN
        return {name: self._held[name] for name in prompts}

    def fork(self, name, new):
        if self.engine.slots.fork(name, new):
            self._held[new] = self._held[name]

    def _request(self, name, prompt, max_tokens):
        number = next(self._numbers)
        return Request(
            f"r{number}", name, (), ENDLESS, max_tokens=max_tokens, prompt=tuple(prompt), is_saved=True
        )


@pytest.fixture
def chats(params, tmp_path):
    with open_llama_backend(params) as backend, all_guesses_checked():
        chats = Chats(backend, CellStore(tmp_path, bytes(32)))
        yield chats
        chats.engine.close()
        compared = compare(chats.recorder.sampled, params)
        assert compared.num_rows
        assert compared.wrong == []


def test_chats_that_begin_with_the_same_document(chats):
    document = chats.words(LENGTH)
    for name, length in (("ann", 20), ("bob", 45), ("cat", 30), ("dan", 10)):
        chats.ask(name, chats.turn(document, chats.words(length)))


def test_two_prompts_that_are_computed_at_the_same_time(chats):
    document = chats.words(LENGTH)
    chats.ask_together({name: chats.turn(document, chats.words(40)) for name in ("ann", "bob", "cat")})


def test_a_fork_at_the_end(chats):
    held = chats.ask("ann", chats.turn(chats.words(LENGTH)))
    chats.fork("ann", "bob")
    chats.ask("bob", [*held, *chats.turn(chats.words(10))])
    chats.ask("ann", [*held, *chats.turn(chats.words(12))])


def test_a_fork_in_the_middle(chats):
    first = chats.ask("ann", chats.turn(chats.words(200)))
    second = chats.ask("ann", [*first, *chats.turn(chats.words(100))])
    chats.ask("ann", [*second, *chats.turn(chats.words(50))])
    chats.ask("bob", [*first, *chats.turn(chats.words(30))])
    chats.ask("cat", [*second, *chats.turn(chats.words(30))])


def test_an_edit_of_the_first_turns_end(chats):
    words = chats.words(LENGTH)
    first = chats.ask("ann", chats.turn(words))
    chats.ask("ann", [*first, *chats.turn(chats.words(80))])
    chats.ask("ann", chats.turn(words[:-6], chats.words(9)))


def test_another_answer_to_an_earlier_turn(chats):
    prompt = chats.turn(chats.words(300))
    second = [*chats.ask("ann", prompt), *chats.turn(chats.words(90))]
    chats.ask("ann", [*chats.ask("ann", second), *chats.turn(chats.words(70))])
    chats.ask("ann", second)
    chats.ask("ann", prompt)
    chats.ask("ann", prompt)


def test_thinking_that_the_template_leaves_out_of_the_history(chats):
    prompt = chats.turn(chats.words(LENGTH))
    held = chats.ask("ann", prompt, max_tokens=150)
    chats.ask("ann", [*prompt, *held[len(prompt) + 100 :], *chats.turn(chats.words(20))])


def test_white_space_that_the_template_trims(chats):
    held = chats.ask("ann", chats.turn(chats.words(LENGTH)), max_tokens=100)
    chats.ask("ann", [*held[:-2], *chats.turn(chats.words(20))])


def test_a_round_of_tools_and_one_whose_call_is_written_anew(chats):
    held = chats.ask("ann", chats.turn(chats.words(LENGTH)), max_tokens=100)
    held = chats.ask("ann", [*held, *chats.turn(chats.words(60))], max_tokens=100)
    chats.ask("ann", [*held[:-30], *chats.words(28), *chats.turn(chats.words(60))])


def test_hibernation_in_between(chats):
    prompt = chats.turn(chats.words(300))
    held = chats.ask("ann", prompt)
    held = chats.ask("ann", [*held, *chats.turn(chats.words(100))])
    assert chats.engine.slots.hibernate_chat("ann")
    chats.ask("ann", [*held, *chats.turn(chats.words(10))])
    assert chats.engine.slots.hibernate_chat("ann")
    chats.ask("ann", prompt)


def test_a_restart_in_between(chats):
    prompt = chats.turn(chats.words(300))
    held = chats.ask("ann", prompt)
    held = chats.ask("ann", [*held, *chats.turn(chats.words(100))])
    chats.restart()
    chats.ask("ann", [*held, *chats.turn(chats.words(10))])
    chats.restart()
    chats.ask("ann", prompt)


def test_rejected_draft_tokens(chats):
    words = chats.words(30)
    held = chats.ask("ann", chats.turn(*[words] * 10), max_tokens=60)
    family = chats.engine.model.path.stem
    assert chats.engine.model.num_drafted_tokens == (0 if family in CANNOT_TAKE_BACK else 4)
    chats.ask("ann", [*held[:-30], *chats.turn(chats.words(20))])
