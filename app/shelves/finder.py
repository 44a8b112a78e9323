"""Finds the passages of a shelf that go with a message: by words, by vectors if there is a model for them,
joined, and sorted by a reranker if there is one. Only what stands out goes with it. One asyncio loop.

What fails costs its part only: then `trouble` says so in a sentence.
"""

from __future__ import annotations

import asyncio
import hashlib
import math
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from app.protocol.errors import EngineError
from app.shelves.index import ShelfIndex
from app.shelves.shelf import Passage, Shelf
from app.system.said import said, together

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

PART_BYTES = 1 << 20

# By a part of the name, as their model cards have it: what stands before a question, and before a passage.
PREFIXES = {
    "nomic-embed-text": ("search_query: ", "search_document: "),
    "embeddinggemma": ("task: search result | query: ", "title: none | text: "),
    "qwen3-embedding": (
        "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:",
        "",
    ),
    "multilingual-e5": ("query: ", "passage: "),
    "e5-small": ("query: ", "passage: "),
    "e5-base": ("query: ", "passage: "),
    "e5-large": ("query: ", "passage: "),
    "snowflake-arctic-embed": ("Represent this sentence for searching relevant passages: ", ""),
    "mxbai-embed": ("Represent this sentence for searching relevant passages: ", ""),
    "bge-small-en": ("Represent this sentence for searching relevant passages: ", ""),
    "bge-base-en": ("Represent this sentence for searching relevant passages: ", ""),
    "bge-large-en": ("Represent this sentence for searching relevant passages: ", ""),
}


@dataclass(frozen=True, slots=True)
class TextModel:
    """`key` changes with the file's content, and with what its passages begin with; not with its place."""

    path: Path
    key: str
    before_question: str
    before_passage: str


def text_model(path: Path) -> TextModel:
    """Reads a little of the file. Raises OSError."""
    name = path.stem.lower().replace("_", "-")
    before = next((words for part, words in PREFIXES.items() if part in name), ("", ""))
    with path.open("rb") as file:
        size = file.seek(0, 2)
        facts = hashlib.sha256(f"{size} {before[1]}".encode())
        for start in (0, max(0, size - PART_BYTES)):  # its metadata, and some of its weights
            file.seek(start)
            facts.update(file.read(PART_BYTES))
    return TextModel(path, facts.hexdigest(), *before)


DEPTH = 50  # passages that each way of searching names
NUM_RANKED, RANKED_AT_ONCE = 30, 3
MAX_QUESTION_CHARS = 2000
FOLLOWS = 0.5  # how much the question before counts
# What goes with a message has so large a part of the best score. Of 60 questions to 30 real files the right
# passage was among 2.4 sent for 59; six passages each, without a bound, had it no more often.
STANDS_OUT = 0.7
RANKED_STANDS_OUT = 0.5  # of the best one's probability
MAX_EMBED_S, MAX_RANK_S = 20.0, 20.0
AFTER_FAILURE_S = 30.0  # so long the model that failed is not asked for a message


class TextEngine(Protocol):
    """`TextModels`; tests have another. Blocks, and raises EngineError."""

    def embed(self, model: Path, texts: Sequence[str]) -> npt.NDArray[np.float32]: ...

    def rank(self, model: Path, query: str, texts: Sequence[str]) -> npt.NDArray[np.float32]: ...

    def close(self) -> None: ...


class _Trouble:
    def __init__(self) -> None:
        self.text = ""
        self._until = 0.0

    @property
    def is_fresh(self) -> bool:
        return time.monotonic() < self._until

    def note(self, text: str) -> None:
        self.text, self._until = text, time.monotonic() + AFTER_FAILURE_S

    def clear(self) -> None:
        self.text, self._until = "", 0.0


class ShelfFinder:
    def __init__(self, index: ShelfIndex, engine: TextEngine) -> None:
        self._index = index
        self._engine = engine
        self._embedder: Path | None = None
        self._ranker: Path | None = None
        self._model: TextModel | None = None
        self._of_vectors, self._of_ranks = _Trouble(), _Trouble()

    @property
    def trouble(self) -> str:
        """Why a search has less than what was chosen. Empty: it has all."""
        return self._of_vectors.text or self._of_ranks.text

    @property
    def state(self) -> tuple[object, ...]:
        """What else a search depends on, besides the index."""
        return self._embedder, self._ranker, self.trouble

    def choose(self, embedder: Path | None, ranker: Path | None) -> None:
        if embedder != self._embedder:
            self._embedder, self._model = embedder, None
            self._of_vectors.clear()
        if ranker != self._ranker:
            self._ranker = ranker
            self._of_ranks.clear()

    async def find(self, shelf: Shelf, text: str, limit: int, before: str = "") -> tuple[Passage, ...]:
        """The best first. `before` is the question before this one, which this one may refer to.

        Raises sqlite3.Error.
        """
        text, before = text[:MAX_QUESTION_CHARS], before[:MAX_QUESTION_CHARS]
        words = await self._index.by_words(shelf, text, DEPTH)
        if before:
            words = added(words, await self._index.by_words(shelf, before, DEPTH))
        scores = fused([(1.0, words)])
        if nearest := await self._nearest(shelf, text, before):
            certainty = await self._index.certainty(text, words)
            scores = fused([(certainty, words), (1 - certainty, nearest)])
        if self._ranker:
            found = await self._index.passages(shelf, list(scores)[:NUM_RANKED])
            question = f"{before}\n{text}".strip()
            if ranked := await self._ranked(self._ranker, question, found):
                return ranked[:limit]
        return await self._index.passages(shelf, outstanding(scores, STANDS_OUT)[:limit])

    async def embedded(self, shelf: Shelf, number: int) -> int:
        """Computes so many vectors that the shelf lacks. Returns how many it did: 0, it lacks none.

        Raises EngineError and sqlite3.Error.
        """
        model = await self.model()
        if model is None:
            return 0
        missing = await self._index.without_vector(shelf, model.key, number)
        if missing:
            texts = [model.before_passage + text for _, text in missing]
            try:
                vectors = await asyncio.to_thread(self._engine.embed, model.path, texts)
            except EngineError as error:
                self._note_vectors(model.path, str(error))
                raise
            if self._embedder == model.path:
                hashes = [text_hash for text_hash, _ in missing]
                kept = zip(hashes, vectors.astype("float16"), strict=True)
                await self._index.put_vectors(model.key, list(kept))
                self._of_vectors.clear()
        return len(missing)

    async def model(self) -> TextModel | None:
        """None if none is chosen. Raises EngineError."""
        path = self._embedder
        if path and self._model is None:
            try:
                model = await asyncio.to_thread(text_model, path)
            except OSError as error:
                reason = said("Its file cannot be read: {reason}.", reason=error.strerror or str(error))
                self._note_vectors(path, reason)
                raise EngineError(reason) from error
            if path == self._embedder:
                self._model = model
        return self._model

    def _note_vectors(self, model: Path, reason: str) -> None:
        if model == self._embedder:
            problem = said(
                "Shelves are searched by words alone: {name} computes no vectors.", name=model.name
            )
            self._of_vectors.note(together(problem, reason))

    async def _nearest(self, shelf: Shelf, text: str, before: str) -> dict[int, float]:
        """Empty without vectors."""
        path = self._embedder
        if path is None or self._of_vectors.is_fresh:
            return {}
        try:
            model = await self.model()
            if model is None or not (await self._index.num_vectors(shelf, model.key))[0]:
                return {}
            questions = [model.before_question + one for one in (text, before) if one]
            asked = asyncio.to_thread(self._engine.embed, path, questions)
            vector, *vectors_before = await asyncio.wait_for(asked, MAX_EMBED_S)
        except TimeoutError:
            self._note_vectors(path, said("It took over {seconds:.0f} seconds.", seconds=MAX_EMBED_S))
            return {}
        except EngineError as error:
            self._note_vectors(path, str(error))
            return {}
        self._of_vectors.clear()
        vector = vector + FOLLOWS * sum(vectors_before)
        return from_lowest(await self._index.by_vector(shelf, model.key, vector, DEPTH))

    async def _ranked(self, ranker: Path, text: str, found: Sequence[Passage]) -> tuple[Passage, ...]:
        """Those that stand out, the best first. Empty: they could not be ranked."""
        if self._of_ranks.is_fresh:
            return ()
        scores: list[float] = []
        try:
            async with asyncio.timeout(MAX_RANK_S):
                for start in range(0, len(found), RANKED_AT_ONCE):
                    texts = [one.text for one in found[start : start + RANKED_AT_ONCE]]
                    some = await asyncio.to_thread(self._engine.rank, ranker, text, texts)
                    scores += some.tolist()
        except TimeoutError:
            self._note_ranks(ranker, said("It took over {seconds:.0f} seconds.", seconds=MAX_RANK_S))
            return ()
        except EngineError as error:
            self._note_ranks(ranker, str(error))
            return ()
        self._of_ranks.clear()
        chances = {place: (1 + math.tanh(score / 2)) / 2 for place, score in enumerate(scores)}
        return tuple(found[place] for place in outstanding(chances, RANKED_STANDS_OUT))

    def _note_ranks(self, ranker: Path, reason: str) -> None:
        if ranker == self._ranker:
            problem = said("Passages are not sorted by {name}.", name=ranker.name)
            self._of_ranks.note(together(problem, reason))


def added(scores: Mapping[int, float], before: Mapping[int, float]) -> dict[int, float]:
    """With those of the question before, which count less."""
    anew = dict(scores)
    for one, score in before.items():
        anew[one] = anew.get(one, 0.0) + FOLLOWS * score
    return anew


def from_lowest(scores: Mapping[int, float]) -> dict[int, float]:
    """Above the lowest of them: models differ in how near to each other all texts are."""
    lowest = min(scores.values(), default=0.0)
    return {one: score - lowest for one, score in scores.items()}


def fused(searches: Iterable[tuple[float, Mapping[int, float]]]) -> dict[int, float]:
    """Joins searches by weight, each score as a part of its search's best (relative score fusion).

    Best first; among equals the one that comes first in an earlier search.
    """
    joined: dict[int, float] = {}
    for weight, scores in searches:
        best = max(scores.values(), default=0.0)
        for one, score in scores.items():
            joined[one] = joined.get(one, 0.0) + weight * (score / best if best > 0 else 1.0)
    return dict(sorted(joined.items(), key=lambda item: -item[1]))


def outstanding(scores: Mapping[int, float], part: float) -> tuple[int, ...]:
    """Those with at least so large a part of the best score, the best first."""
    least = part * max(scores.values(), default=0.0)
    return tuple(sorted((one for one in scores if scores[one] >= least), key=lambda one: -scores[one]))
