"""Random runs of the engine with pictures and sounds: after every step our books equal the library's.

Chats ask about the same few files, are asked on, forked, edited, aborted, hibernated and cleared, in few
slots and few cells, while decodes break off. Greedy answers to the same prompt must be the same ones.

    python -m tests.native.random_pictures --seeds 200
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from unittest import mock

from app.engine.engine import Engine
from app.engine.llama import loading
from app.engine.llama.backend import LlamaBackend
from app.engine.media.encoder import MediaEncoder
from app.protocol.load import LoadParams
from app.protocol.media import Media
from app.protocol.output import FinishReason
from app.protocol.request import Message, Request, Role
from tests.driver import Run, request
from tests.native.oracle import broken_off
from tests.native.pictures import asked, picture, sound
from tests.native.tiny_ggufs import write_tiny_gguf
from tests.native.tiny_projectors import KINDS, MODEL_OF, Kind, write_tiny_projector

CHATS = ("ann", "bob", "cat", "dan")
QUESTIONS = ("What is it?", "And why?", "Tell me more about the left side of it.", "No.")
NUM_EVENTS = 40
MOST_NODES = 60


@dataclass
class Projectors:
    """The files of each kind, and one child for it whatever the context is."""

    folder: Path
    _encoders: dict[Kind, MediaEncoder] = field(default_factory=dict)

    def files_of(self, kind: Kind) -> tuple[Path, Path]:
        model, projector = self.folder / f"{kind}.gguf", self.folder / f"mmproj-{kind}.gguf"
        if not projector.exists():
            write_tiny_gguf(model, MODEL_OF[kind])
            write_tiny_projector(projector, kind)
        return model, projector

    @contextmanager
    def opened(self, kind: Kind, **params: object) -> Iterator[LlamaBackend]:
        model, projector = self.files_of(kind)
        wanted = LoadParams(model, projector=projector, n_threads=1, **params)  # type: ignore[arg-type]
        if kind not in self._encoders:
            self._encoders[kind] = MediaEncoder(projector, model, 1, "projector")
        encoder = self._encoders[kind]
        with (
            mock.patch.object(loading, "_opened_encoder", return_value=(encoder, encoder.senses)),
            mock.patch.object(encoder, "close"),
            loading.open_llama_backend(wanted) as backend,
        ):
            yield backend

    def close(self) -> None:
        for encoder in self._encoders.values():
            encoder.close()


class Play:
    def __init__(self, seed: int, backend: LlamaBackend, kind: Kind) -> None:
        self._random = random.Random(seed)
        self._backend, self._engine = backend, Engine(backend, verify=True)
        self._files = [sound(number, 0.5) for number in range(2)] if kind == "ultravox" else []
        self._files = self._files or [picture(0), picture(1), picture(2, 60, 140)]
        self._history: dict[str, tuple[Message, ...]] = {}
        self._asked: dict[str, Request] = {}
        self._run = Run()
        self.answers: dict[tuple[Message, ...], set[tuple[int, ...]]] = {}
        self.num_steps = self.num_broken_off = 0
        self._encoded = threading.Event()
        self._engine.when_encoded(self._encoded.set)

    def play(self, num_events: int = NUM_EVENTS) -> None:
        events = [self._ask] * 5 + [self._steps] * 6
        events += [self._fork, self._hibernate, self._restore, self._abort, self._clear, self._edit]
        for _ in range(num_events):
            self._random.choice(events)()
        self._finish()
        self._engine.close()

    def _ask(self) -> None:
        chat = self._random.choice(CHATS)
        if chat in self._asked:
            return
        media = self._random.sample(self._files, self._random.choice([0, 1, 1, 2]))
        text = self._random.choice(QUESTIONS)
        placed = tuple(sorted((self._placed(one, text) for one in media), key=lambda one: one.at))
        messages = (*self._history.get(chat, ())[-4:], asked(text, *placed))
        self._send(chat, messages)

    def _placed(self, media: Media, text: str) -> Media:
        return replace(media, at=self._random.choice([0, len(text), 3]))

    def _send(self, chat: str, messages: tuple[Message, ...]) -> None:
        one = replace(request("", chat, max_tokens=self._random.choice([1, 4, 12])), messages=messages)
        self._asked[chat] = one
        self._engine.add_request(one)

    def _edit(self) -> None:
        """Another question behind the same beginning."""
        chat = self._random.choice(CHATS)
        history = self._history.get(chat, ())
        if history and chat not in self._asked:
            self._send(chat, (*history[:-2], Message(Role.USER, "Or not?", media=history[-2].media)))

    def _fork(self) -> None:
        source, target = self._random.sample(CHATS, 2)
        if target not in self._asked and self._engine.slots.fork(source, target):
            self._history[target] = self._history.get(source, ())

    def _hibernate(self) -> None:
        self._engine.slots.hibernate_chat(self._random.choice(CHATS))

    def _restore(self) -> None:
        self._engine.slots.restore_chat(self._random.choice(CHATS))

    def _clear(self) -> None:
        self._engine.slots.clear_chat(self._random.choice(CHATS))

    def _abort(self) -> None:
        for one in list(self._asked.values()):
            if self._random.random() < 0.3:
                self._engine.abort(one.request_id)

    def _steps(self) -> None:
        for _ in range(self._random.choice([1, 2, 5, 20])):
            self._step()

    def _step(self) -> None:
        if not self._engine.has_work:
            if self._engine.has_open_answers:
                assert self._encoded.wait(60), "no encoding ends"
                self._encoded.clear()
            return
        if self._random.random() < 0.05:
            with broken_off(self._backend, self._random.randrange(1, MOST_NODES)) as is_broken:
                report = self._engine.step()
                self.num_broken_off += is_broken()
        else:
            report = self._engine.step()
        self.num_steps += 1
        self._run.add(report)
        for output in report.outputs:
            if output.finish_reason:
                self._note_end(output.chat_id, output.request_id)

    def _note_end(self, chat: str, request_id: str) -> None:
        one, answer = self._asked.pop(chat), self._run.answers[request_id]
        assert answer.finish_reason is not FinishReason.ERROR or "context" in answer.notice, answer.notice
        if answer.finish_reason in (FinishReason.STOP, FinishReason.LENGTH) and answer.token_ids:
            self.answers.setdefault(one.messages, set()).add(answer.token_ids)
            self._history[chat] = (*one.messages, Message(Role.ASSISTANT, answer.text))

    def _finish(self) -> None:
        for _ in range(20_000):
            if not self._engine.has_open_answers and not self._engine.has_work:
                return
            self._step()
        raise AssertionError("the engine makes no progress")


def random_play(seed: int, projectors: Projectors) -> Play:
    """Raises where the books differ, or the same prompt has got two answers."""
    rng = random.Random(seed)
    kind = KINDS[seed % len(KINDS)]
    params = {
        "n_ctx": rng.choice([1280, 2048]) if kind == "ultravox" else rng.choice([512, 768]),
        "n_seq_max": rng.choice([1, 3, 4]),
        "n_batch": rng.choice([32, 160]),
        "n_ubatch": rng.choice([16, 32]),
        "isolated": rng.random() < 0.2 and kind != "ultravox",
    }
    with projectors.opened(kind, **params) as backend:
        play = Play(seed, backend, kind)
        play.play()
    for messages, answers in play.answers.items():
        shortest = min(map(len, answers))
        beginnings = {answer[:shortest] for answer in answers}
        assert len(beginnings) == 1, f"seed {seed}: {messages} got {answers}"
    return play


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=200)
    parser.add_argument("--first", type=int, default=0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        projectors = Projectors(Path(folder))
        num_steps = num_broken_off = 0
        for seed in range(options.first, options.first + options.seeds):
            try:
                play = random_play(seed, projectors)
            except Exception:
                print(f"seed {seed} ({KINDS[seed % len(KINDS)]}) failed")
                raise
            num_steps += play.num_steps
            num_broken_off += play.num_broken_off
        projectors.close()
    print(f"{options.seeds} seeds, {num_steps} steps, {num_broken_off} decodes broken off: all books equal")
    return 0


if __name__ == "__main__":
    sys.exit(main())
