"""A shelf of 30 real files: computed once, sealed to disk, and the first token of a new chat after a restart.

The files are documentation of Debian's packages. Ten chats with it must hold its cells once.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from app.engine.engine import Engine
from app.engine.hibernation import HibernatedChats
from app.engine.llama.loading import open_llama_backend
from app.protocol.commands import KeepCells
from app.protocol.load import CellStore, LoadParams, RopeScaling
from app.protocol.request import Message, Request, Role
from app.services.shelf_reader import beginning
from app.shelves.documents import documents_text, with_text_before
from app.shelves.shelf import Shelf
from app.system import paths
from tests.benchmarks.figures import Verdict, show, show_ms
from tests.driver import GREEDY
from tests.driver import run as run_engine

DOCS = Path("/usr/share/doc")
NUM_FILES, NUM_CHATS = 30, 10
FILE_BYTES = range(700, 1_800)
WANTED_SHARE = 0.03
KEY = bytes(range(32))
SHELF = Shelf("Docs", id="docs")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--model", type=Path, default=paths.starter_model())
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--n-ctx", type=int, default=32_768)


def run(options: argparse.Namespace) -> int:
    verdict, text = Verdict(), documents_text(real_files(NUM_FILES))
    with tempfile.TemporaryDirectory() as folder:
        store = CellStore(Path(folder), KEY, max_bytes=64 << 30)
        with opened(options, None) as engine:
            computed_s = first_token_s(engine, text, "cold")
            num_tokens = len(engine.prompts.build_ahead(beginning(SHELF.chat_id, text)).token_ids)
        print(f"{NUM_FILES} files of {DOCS}, {len(text):,} characters, {num_tokens:,} tokens")
        with opened(options, store) as engine:
            seconds = read(engine, text)
            show_ms("read ahead", [seconds])
            num_used = engine.slots.cells.usage.num_used
            requests = [asked(text, f"chat {number}", f"Question {number}?") for number in range(NUM_CHATS)]
            answers = run_engine(engine, *requests).answers.values()
            num_own = sum(
                one.usage.num_prompt_tokens + one.usage.num_generated_tokens - num_used for one in answers
            )
            extra = max(0, engine.slots.cells.usage.num_used - num_used - num_own)
            engine.slots.hibernated._writer.submit(lambda: None).result()
        size = sum(file.stat().st_size for file in Path(folder).iterdir())
        print(f"  sealed: {size / 2**20:.1f} MiB on disk")
        restored = []
        for number in range(options.repeats):
            with opened(options, store) as engine:
                restored.append(first_token_s(engine, text, f"after restart {number}"))
                forked_s = first_token_s(engine, text, "the next chat")
    show_ms("first token, computing it", [computed_s])
    show_ms("first token, after a restart", restored)
    show_ms("first token of the next chat", [forked_s])
    share = show("after a restart / computing it", [one / computed_s for one in restored], "", 4)
    verdict.at_most("after a restart / computing it", share, WANTED_SHARE)
    verdict.equal(f"cells of the shelf held more than once by {NUM_CHATS} chats", extra, 0)
    return verdict.exit_code


def real_files(number: int) -> list[tuple[int, str, str]]:
    """Number, name and text: a README of each of the first packages that have one of middle length."""
    files = (
        file
        for folder in sorted(DOCS.iterdir())
        for file in sorted(folder.glob("README*"))[:1]
        if file.is_file() and file.suffix != ".gz" and file.stat().st_size in FILE_BYTES
    )
    texts = ((file, file.read_text(encoding="utf-8", errors="replace")) for file in files)
    chosen = [(str(file.relative_to(DOCS)), text) for file, text in texts][:number]
    return [(index, name, text) for index, (name, text) in enumerate(chosen, 1)]


@contextmanager
def opened(options: argparse.Namespace, store: CellStore | None) -> Iterator[Engine]:
    """As after a start. The end is not part of what is measured."""
    params = LoadParams(
        options.model,
        n_ctx=options.n_ctx,
        n_seq_max=NUM_CHATS + 2,
        n_threads=options.threads,
        rope_scaling=RopeScaling.YARN,
        rope_factor=16.0,
    )
    with open_llama_backend(params) as backend:
        engine = Engine(backend, HibernatedChats())
        engine.obey(KeepCells(store))
        run_engine(engine, asked("", "warm-up", "Hello"))
        engine.forget("warm-up")
        yield engine
        engine.close()


def asked(text: str, chat: str, question: str) -> Request:
    messages = (Message(Role.USER, question),)
    whole = with_text_before(text, messages) if text else messages
    begins_as = SHELF.chat_id if text else ""
    return Request(f"r {chat}", chat, whole, GREEDY, max_tokens=4, is_saved=True, begins_as=begins_as)


def read(engine: Engine, text: str) -> float:
    began = time.perf_counter()
    request = replace(beginning(SHELF.chat_id, text), sampling=GREEDY)
    engine.read_ahead(request, engine.prompts.build_ahead(request))
    run_engine(engine)
    return time.perf_counter() - began


def first_token_s(engine: Engine, text: str, chat: str) -> float:
    """With all that comes before it: template, tokens, what is read from the disk, and the restore."""
    request = asked(text, chat, f"What is it about, {chat}?")
    began = time.perf_counter()
    prompt = engine.prompts.build(request)
    for name in (request.chat_id, request.begins_as):  # as the thread does where prompts are built
        engine.slots.hibernated.prefetch(name)
    engine.add_request(request, prompt)
    answer = run_engine(engine).answers[request.request_id]
    rest_s = answer.usage.decode_s
    return time.perf_counter() - began - rest_s
