"""An embedding model as the shelves know it: what its vectors are kept by, and what it wants before texts.

GGUF files do not say with which words a model was trained to tell questions from documents; its maker does.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

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
