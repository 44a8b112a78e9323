"""A decode that breaks off anywhere in its graph spoils no answer, neither now nor after the next start."""

import itertools
import random

import llama_cpp
import pytest

from app.engine.engine import Engine
from app.engine.llama.loading import open_llama_backend
from app.protocol.commands import KeepCells
from app.protocol.load import CellStore, LoadParams
from app.protocol.output import FinishReason
from app.protocol.request import Request
from tests.driver import GREEDY, run
from tests.native.oracle import Recorder, broken_off, compare

pytestmark = pytest.mark.native

PLACES = range(5, 80, 15)  # nodes of the graph
CHATS = "ann", "bob", "cat"


@pytest.fixture(params=["qwen3", "gemma3", "lfm2", "falcon-h1", "qwen35", "mamba", "mamba2"])
def params(request, models):
    return LoadParams(models.path_of(request.param), n_ctx=512, n_seq_max=3, n_batch=64, n_threads=1)


class Chats:
    """Three chats, one engine after another, and the logits of all that was sampled."""

    def __init__(self, backend, store=None):
        self._backend, self._store = backend, store
        self._random = random.Random(0)
        self._numbers = itertools.count()
        self._token_ids = dict.fromkeys(CHATS, ())
        self.recorder = Recorder(backend)
        self.start()

    def start(self):
        self.engine = self.recorder.engine = Engine(self._backend, verify=True)
        self.engine.obey(KeepCells(self._store))
        for name in CHATS:
            self.engine.slots.hibernated.prefetch(name)

    def restart(self):
        self.engine.close()
        llama_cpp.llama_memory_clear(self._backend._memory, False)
        self.start()

    def settle(self):
        """Sequences 0 and 1 are ann's and cat's, and where states have cells, bob's lies between theirs."""
        self.ask("ann")
        self.ask("cat")
        self.ask("bob")
        self.engine.forget("cat")
        self.start_anew("bob", "cat")  # bob's is computed again, into the cell that was cat's
        self.ask("bob")
        self.ask("cat")

    def start_anew(self, *names):
        """Their next turn is a first one."""
        self._token_ids |= dict.fromkeys(names, ())

    def ask(self, *names):
        """The next turn of each, together."""
        asked = [self._next_turn(name) for name in names]
        self._note(asked, run(self.engine, *asked))

    def ask_long(self, name, num_tokens):
        self._token_ids[name] = tuple(self._random.randrange(256) for _ in range(num_tokens))
        self.ask(name)

    def fork(self, name, new):
        assert self.engine.slots.fork(name, new)
        self._token_ids[new] = self._token_ids[name]

    def break_off(self, place, *names):
        """The same, but the first decode ends after so many nodes."""
        asked = [self._next_turn(name) for name in names]
        for one in asked:
            self.engine.add_request(one)
        with broken_off(self._backend, place) as was_broken_off:
            self.engine.step()
        assert was_broken_off()
        return asked

    def finish(self, asked):
        self._note(asked, run(self.engine))

    def _next_turn(self, name):
        held, number = self._token_ids[name], next(self._numbers)
        # Random states fade fast, so little is said to a chat that has one.
        prompt = (*held, *(self._random.randrange(256) for _ in range(1 if held else 20)))
        self._token_ids[name] = prompt
        return Request(f"r{number}", name, (), GREEDY, max_tokens=4, prompt=prompt, is_saved=True)

    def _note(self, asked, result):
        for one in asked:
            self._token_ids[one.chat_id] += result.answers[one.request_id].token_ids


def assert_as_alone(chats, params):
    compared = compare(chats.recorder.sampled, params)
    assert compared.num_rows
    assert compared.wrong == []


@pytest.mark.parametrize("place", PLACES)
def test_an_idle_chat_goes_on_from_what_it_was(params, place):
    """Recurrent models move its state when others are computed together for the first time."""
    with open_llama_backend(params) as backend:
        chats = Chats(backend)
        chats.settle()
        asked = chats.break_off(place, "ann", "cat")
        chats.finish(asked)
        chats.ask("bob")
        chats.engine.close()
        assert_as_alone(chats, params)


@pytest.mark.parametrize("place", PLACES)
def test_a_chat_that_begins_later_begins_with_no_state(params, place):
    """A cell that held none is noted as the source of the next state all the same."""
    with open_llama_backend(params) as backend:
        chats = Chats(backend)
        for name in ("ann", "bob", "cat"):
            chats.ask(name)
        chats.engine.forget("bob")  # leaves an empty cell between theirs
        asked = chats.break_off(place, "ann", "cat")
        chats.engine.abort_all(FinishReason.ABORT, "")
        for one in asked:
            chats.engine.forget(one.chat_id)
        chats.start_anew(*CHATS)
        chats.ask(*CHATS)
        chats.engine.close()
        assert_as_alone(chats, params)


@pytest.mark.parametrize("place", PLACES)
def test_what_is_kept_for_the_next_start_was_not_spoilt(tmp_path, params, place):
    with open_llama_backend(params) as backend:
        chats = Chats(backend, CellStore(tmp_path, bytes(32)))
        chats.settle()
        chats.break_off(place, "ann", "cat")
        chats.restart()
        chats.ask(*CHATS)
        chats.engine.close()
        assert_as_alone(chats, params)


def test_chats_that_no_longer_share_their_beginning_need_not_fit(models):
    """Each is put back by itself. llama.cpp takes any number of tokens where a model has states alone."""
    params = LoadParams(models.path_of("mamba2"), n_ctx=256, n_seq_max=3, n_batch=64, n_threads=1)
    with open_llama_backend(params) as backend:
        chats = Chats(backend)
        chats.ask_long("ann", 150)
        chats.fork("ann", "bob")
        asked = chats.break_off(20, "cat")
        chats.finish(asked)
        chats.ask("bob")
        chats.engine.close()
        assert_as_alone(chats, params)


def test_a_prompt_that_was_whole_when_a_decode_broke_off_behind_it_is_answered(models):
    """All of its rows are in cells, but their logits are gone."""
    params = LoadParams(models.path_of("qwen3"), n_ctx=512, n_seq_max=3, n_batch=64, n_ubatch=20, n_threads=1)
    num_whole = 0
    for place in (90, 120):  # in the second micro-batch, which is bob's
        with open_llama_backend(params) as backend:
            chats = Chats(backend)
            asked = chats.break_off(place, "ann", "bob")
            num_whole += len(chats.engine.slots.slots[0].token_ids) == len(asked[0].prompt) - 1
            result = run(chats.engine)
            chats.engine.close()
            reasons = [result.answers[one.request_id].finish_reason for one in asked]
            assert reasons == [FinishReason.LENGTH] * 2
            assert_as_alone(chats, params)
    assert num_whole
