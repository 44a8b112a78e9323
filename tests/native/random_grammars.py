"""Follows random grammars with a tiny model: `python -m tests.native.random_grammars MODEL FIRST COUNT`.

A grammar that llama.cpp does not survive ends the process, so the test runs this one as a child.
"""

import random
import sys
from pathlib import Path

import numpy as np

from app.engine.llama.backend import LlamaBackend
from app.engine.llama.loading import open_llama_backend
from app.protocol.errors import GrammarError, InvalidRequestError
from app.protocol.load import LoadParams
from app.protocol.sampling import SamplingParams
from tests.native.test_sampler import one_row

TEXTS = ['"a"', '"ab"', '"é"', "[a-c]", "[^a]", ".", r'"\n"', r"[\x00-\x1F]"]
REPETITIONS = ["*", "+", "?", "{2}", "{0,3}", "{2,}", "{1,40}", "{0}"]
NUM_TOKENS = 15


def random_grammar(seed: int) -> str:
    draw = random.Random(seed)
    names = ["root", *(f"r{number}" for number in range(draw.randint(0, 5)))]
    rules = []
    for index, name in enumerate(names):
        later = names[index + 1 :] or ['"z"']  # else nearly all would have no end
        rules.append(
            f"{name} ::= {_alternatives(draw, names if draw.random() < 0.4 else later, 0)} | {name[0]!r}"
        )
    return "\n".join(rules).replace("'", '"')


def _alternatives(draw: random.Random, names: list[str], depth: int) -> str:
    sequences = (
        [_symbol(draw, names, depth) for _ in range(draw.randint(0, 3))] for _ in range(draw.randint(1, 3))
    )
    return " | ".join(" ".join(symbols) for symbols in sequences)


def _symbol(draw: random.Random, names: list[str], depth: int) -> str:
    kind = draw.random()
    if kind < 0.55:
        symbol = draw.choice(TEXTS)
    elif kind < 0.8 or depth > 1:
        symbol = draw.choice(names)
    else:
        symbol = f"({_alternatives(draw, names, depth + 1)} )"
    return symbol + (draw.choice(REPETITIONS) if draw.random() < 0.3 else "")


def follow(backend: LlamaBackend, grammar: str) -> bool:
    """False: it was refused."""
    try:
        sampler = backend.new_sampler(SamplingParams(temperature=100.0, grammar=grammar), [])
    except InvalidRequestError:
        return False
    try:
        for _ in range(NUM_TOKENS):
            if backend.is_end_of_generation(sampler.sample(0)):
                break
    except GrammarError:
        pass  # no token fits, or too slow
    finally:
        sampler.close()
    return True


def main(model: str, first: str, count: str) -> None:
    with open_llama_backend(LoadParams(Path(model), n_ctx=256, n_threads=1)) as backend:
        backend.decode(one_row(backend))
        backend.logits[0][:] = np.random.default_rng(3).normal(0.0, 2.0, backend.model.n_vocab)
        seeds = range(int(first), int(first) + int(count))
        num_followed = sum(follow(backend, random_grammar(seed)) for seed in seeds)
        sys.stdout.write(str(num_followed))


if __name__ == "__main__":
    main(*sys.argv[1:])
