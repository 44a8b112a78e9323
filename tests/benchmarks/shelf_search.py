"""150 questions with known places in real documentation: is the right passage among the first five?

The rule that makes a question: of each passage with at least 40 words, in an order drawn by chance, the three
rarest words of it that stand in at least 100 passages, in alphabetical order. Words are lower case, of four
letters at least. Beside ours: `rank-bm25` (BM25Okapi) on the same passages, if it is installed.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import re
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from app.shelves.index import ShelfIndex
from app.shelves.passages import passages
from app.shelves.scan import Changes
from app.shelves.shelf import Shelf, Stamp
from tests.benchmarks.figures import Verdict, show_ms

DOCS = Path("/usr/share/doc")
NUM_QUESTIONS, FIRST, SEED = 150, 5, 26
MAX_FILES, MAX_FILE_BYTES = 1_000, 200_000
MIN_WORDS, NUM_ASKED, MIN_PLACES = 40, 3, 100
WANTED_RECALL = 0.9
_WORD = re.compile(r"[a-z]{4,}")
SHELF = Shelf("Docs", id="docs")


@dataclass(frozen=True)
class Question:
    text: str
    name: str
    start: int
    end: int


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--questions", type=int, default=NUM_QUESTIONS)


def run(options: argparse.Namespace) -> int:
    texts = real_texts()
    places = [(name, start, end) for name, text in texts.items() for start, end in passages(text)]
    asked = questions(texts, places, options.questions)
    print(f"{len(texts)} files of {DOCS}, {len(places):,} passages, {len(asked)} questions, such as:")
    for one in asked[:3]:
        print(f"  {one.text}  ({one.name})")
    found, seconds = asyncio.run(_ours(texts, asked))
    show_ms("one search", seconds)
    verdict = Verdict()
    verdict.at_least(f"recall at {FIRST}, FTS5", found / len(asked), WANTED_RECALL)
    theirs = _rank_bm25(texts, places, asked)
    if theirs is None:
        print("  rank-bm25 is not installed: pip install rank-bm25")
    else:
        print(f"  recall at {FIRST}, rank-bm25           {theirs / len(asked):.3f}")
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
            asked.append(Question(" ".join(sorted(rarest)), *place))
        if len(asked) == number:
            break
    return asked


async def _ours(texts: dict[str, str], asked: list[Question]) -> tuple[int, list[float]]:
    with tempfile.TemporaryDirectory() as folder:
        index = ShelfIndex(Path(folder) / "texts.db")
        stamp = Stamp(0, 0, 0)
        await index.apply(SHELF, Changes(new={f"/{name}": stamp for name in texts}))
        numbers = {one.path[1:]: one.number for one in await index.files(SHELF)}
        for name, text in texts.items():
            await index.put(SHELF, numbers[name], text)
        num_right, seconds = 0, []
        for one in asked:
            began = time.perf_counter()
            found = await index.search(SHELF, one.text, FIRST)
            seconds.append(time.perf_counter() - began)
            num_right += any(
                each.file_number == numbers[one.name] and each.start < one.end and each.end > one.start
                for each in found
            )
        await index.close()
    return num_right, seconds


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
        scores = model.get_scores(one.text.split())
        best = sorted(range(len(places)), key=lambda index: -scores[index])[:FIRST]
        num_right += any(places[index] == (one.name, one.start, one.end) for index in best)
    return num_right
