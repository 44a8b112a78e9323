"""The lens: does leaving passages out name the fact that an answer needs, and how long does that take?

For each question the model reads twenty numbered facts and is asked for one. It answers twice: from a given
beginning, and with the right answer given to its end, as one that the user has edited is. Both are scored
without each fact; dropping is right if it names the fact whose name is in the answer. What counts is how
often it is right for the given answers, and for its own with the right name, of which a small model has few.
"""

from __future__ import annotations

import argparse
import random
import statistics
import time
from dataclasses import dataclass
from pathlib import Path

from app.engine.engine import Engine
from app.engine.lens import answers_to
from app.engine.llama.backend import LlamaBackend
from app.engine.llama.loading import open_llama_backend
from app.inspector.answer_finder import text_of
from app.inspector.lens_text import ReadPart, ReadText, heat_of, parts_of, sentence_tokens, sentences_of
from app.protocol.commands import TokensOf
from app.protocol.lens import Attention, LeaveOut, ReadAttention, Scores
from app.protocol.load import LoadParams
from app.protocol.report import ChatTokens
from app.protocol.request import Message, Request, Role
from app.protocol.sampling import SamplingParams
from app.system import paths
from tests.benchmarks.figures import Verdict

NUM_FACTS = 20
WANTED = 0.95
N_CTX = 2048
ANSWER_TOKENS = 12
NAMES = (
    "Anna Ben Clara David Emma Frank Grace Henry Ivy Jack Kate Liam Maria Noah Olive Peter Quinn Rosa Simon "
    "Tara"
)
SURNAMES = (
    "Whitfield Okafor Lindqvist Marchetti Novak Hargreaves Petrov Delgado Yamamoto Fischer Kowalski Brennan "
    "Castellano Ibrahim Sorensen Vandenberg Abernathy Moreau Takahashi Robertson"
)
THINGS = (
    "bakery library mill school bridge station museum harbour garden church theatre market hotel farm tower "
    "bank cinema factory hospital lighthouse"
)


@dataclass(frozen=True)
class Found:
    """Of an answer with a name: is it the one that was asked for, was its source found; the seconds."""

    is_right: bool
    by_dropping: bool
    by_attention: bool
    looking_s: float
    dropping_s: float


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--model", type=Path, help="another GGUF (default: the starter model)")
    parser.add_argument("--threads", type=int, default=0, help="0: as Skein chooses")
    parser.add_argument("--questions", type=int, default=100)


def run(options: argparse.Namespace) -> int:
    verdict = Verdict()
    path = options.model or paths.starter_model()
    with open_llama_backend(LoadParams(path, n_ctx=N_CTX, n_threads=options.threads)) as backend:
        print(f"{backend.model.name}: {options.questions} questions for one of {NUM_FACTS} facts")
        engine = Engine(backend)
        for is_given, title in ((False, "its own answers"), (True, "given answers")):
            asked = (_ask(engine, backend, number, is_given) for number in range(options.questions))
            _judge(verdict, title, list(filter(None, asked)))
        engine.close()
    return verdict.exit_code


def _judge(verdict: Verdict, title: str, found: list[Found]) -> None:
    right = [one for one in found if one.is_right]
    print(f"{title}: {len(right)} with the name asked for, {len(found) - len(right)} with another one")
    for name, some in (("that one", right), ("any name", found)):
        dropped, looked = sum(one.by_dropping for one in some), sum(one.by_attention for one in some)
        print(f"  with {name}: source found by dropping {dropped} / {len(some)}, by attention alone {looked}")
    if found:
        looking_ms = 1000 * statistics.median(one.looking_s for one in found)
        dropping_ms = 1000 * statistics.median(one.dropping_s for one in found)
        print(f"  a sentence, medians: attention {looking_ms:.0f} ms, each fact dropped {dropping_ms:.0f} ms")
        num_found = sum(one.by_dropping for one in right)
        verdict.at_least(f"sources found, {title}", num_found, WANTED * len(right))


def _ask(engine: Engine, backend: LlamaBackend, number: int, is_given: bool) -> Found | None:
    """None: the answer names no fact."""
    rng = random.Random(number)
    things = THINGS.split()
    names = [f"{first} {last}" for first, last in zip(NAMES.split(), SURNAMES.split(), strict=True)]
    rng.shuffle(things)
    rng.shuffle(names)
    asked = rng.randrange(NUM_FACTS)
    facts = [f"{n + 1}. The owner of the {things[n]} is {names[n]}.\n" for n in range(NUM_FACTS)]
    messages = (
        Message(Role.SYSTEM, "".join(facts)),
        Message(Role.USER, f"Who is the owner of the {things[asked]}?"),
    )
    begin = f"The owner of the {things[asked]} is" + (f" {names[asked]}." if is_given else "")
    tokens = _answered(engine, messages, begin, f"question {number}", 1 if is_given else ANSWER_TOKENS)
    answer = text_of(tokens.pieces)
    read = ReadText(
        [*map(backend.written_piece, tokens.token_ids[: tokens.num_prompt_tokens]), *tokens.pieces]
    )
    spans = sentences_of(answer)
    part = sentence_tokens(read, tokens.num_prompt_tokens, answer, spans, 0) if spans else None
    passages = [one for one in parts_of(read, messages, tokens.num_prompt_tokens) if one.message is not None]
    assert len(passages) == NUM_FACTS
    given = next((n for n in range(NUM_FACTS) if names[n] in answer), None)
    if part is None or given is None:
        return None
    looking, by_attention = _looked(backend, tokens, part, passages)
    dropping, by_dropping = _dropped(backend, tokens, part, passages)
    return Found(given == asked, by_dropping == given, by_attention == given, looking, dropping)


def _answered(
    engine: Engine, messages: tuple[Message, ...], begin: str, chat_id: str, max_tokens: int
) -> ChatTokens:
    greedy = SamplingParams(temperature=0.0)
    request = Request(chat_id, chat_id, messages, greedy, max_tokens=max_tokens, answer_start=begin)
    engine.add_request(request)
    while engine.has_work:
        engine.step()
    engine.obey(TokensOf(chat_id))
    tokens = next(one for one in engine.report().answers if isinstance(one, ChatTokens))
    engine.forget(chat_id)
    return tokens


def _looked(
    backend: LlamaBackend, tokens: ChatTokens, part: tuple[int, int], passages: list[ReadPart]
) -> tuple[float, int]:
    assert backend.lens
    began = time.perf_counter()
    question = ReadAttention("look", tokens.chat_id, tokens.token_ids, part)
    attention = next(iter(answers_to(question, backend.lens, None)))
    assert isinstance(attention, Attention)
    heat = heat_of(attention.weights, None, None, part, [0])
    sums = [float(heat[slice(*one.tokens)].sum()) for one in passages]
    return time.perf_counter() - began, sums.index(max(sums))


def _dropped(
    backend: LlamaBackend, tokens: ChatTokens, part: tuple[int, int], passages: list[ReadPart]
) -> tuple[float, int]:
    assert backend.lens
    began = time.perf_counter()
    spans = tuple(one.tokens for one in passages)
    question = LeaveOut("drop", tokens.chat_id, tokens.token_ids, part, spans)
    likely = {}
    for scores in answers_to(question, backend.lens, None):
        assert isinstance(scores, Scores)
        likely[scores.left_out] = sum(scores.logprobs)
    least = min(spans, key=lambda span: likely[span])
    return time.perf_counter() - began, spans.index(least)
