"""Trains the starter model on a CPU, in the background of other work.

Begins with dense plain lines of arithmetic, goes over to chats, and ends with long chats while the
learning rate falls to zero. Writes a checkpoint every few minutes and goes on from it when started
again; every checkpoint can be exported.
"""

import argparse
import json
import random
import re
import signal
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer
from torch import Tensor
from torch.nn import functional as F

from starter_model import corpus, read_gguf, tools
from starter_model.model import Shape, StarterModel
from starter_model.tokenizer import (
    END_OF_TEXT,
    TURN_END,
    TURN_START,
    load_tokenizer,
    train_tokenizer,
)

NUM_TOKENS = 1536
TOKENS_PER_STEP = 8192
TOKENS_PER_TASK = 1024
PEAK_RATE = 3e-3
WARM_UP_STEPS, WARM_UP_AGAIN = 60, 10  # from nothing, and from a trained model
FALL_FRACTION = 0.33
EMA_DECAY = 0.995
# The user's words are learned a little: it helps to tell wordings apart and costs no answer.
USER_WEIGHT = 0.1
CHECKPOINT_SECONDS = 300
NAME_CHARS = 5  # of a tool's name tell which it is: the rest is copied, or written by the grammar
# Scores during training are only a guide: every third question will do.
SCORED_PART = 3


@dataclass(frozen=True, slots=True)
class Phase:
    """A part of the training: until when, how long its rows are, and what shares of them are plain lines,
    chats with tools, and texts to be copied."""

    until: float
    row_length: int
    plain_share: float
    tool_share: float = 0.0
    copy_share: float = 0.0


PHASES = (
    Phase(until=0.25, row_length=256, plain_share=0.6),
    Phase(until=0.5, row_length=256, plain_share=0.2),
    Phase(until=0.58, row_length=512, plain_share=0.05, tool_share=0.35, copy_share=0.35),
    Phase(until=0.97, row_length=512, plain_share=0.08, tool_share=0.47),
    Phase(until=1.0, row_length=2048, plain_share=0.05, tool_share=0.5),
)
# Training that goes on from a finished model learns to copy and to call tools, in short rows.
FROM, TO = 0.5, 0.96


@dataclass(frozen=True, slots=True)
class Rows:
    token_ids: Tensor
    weights: Tensor


class Encoder:
    """Turns chats and lines into token ids with a weight for each."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.tokenizer = tokenizer
        self.end_of_text = self.ids(END_OF_TEXT)[0]

    def ids(self, text: str) -> list[int]:
        ids: list[int] = self.tokenizer.encode(text).ids
        return ids

    def chat(self, chat: corpus.Chat) -> tuple[list[int], list[float]]:
        ids: list[int] = []
        weights: list[float] = []
        for role, content in chat.messages():
            head = self.ids(f"{TURN_START}{role}\n")
            body = self.ids(content)
            end = self.ids(TURN_END)
            tail = self.ids("\n")
            is_answer = role == "assistant"
            ids += head + body + end + tail
            weights += [0.0] * len(head)
            weights += [1.0 if is_answer else USER_WEIGHT] * len(body)
            weights += [1.0 if is_answer else 0.0] * len(end) + [0.0] * len(tail)
        return ids, weights

    def tool_chat(self, chat: tools.ToolChat) -> tuple[list[int], list[float]]:
        ids: list[int] = []
        weights: list[float] = []
        for role, content in chat.messages():
            head = self.ids(f"{TURN_START}{role}\n")
            body = self.tokenizer.encode(content)
            end = [*self.ids(TURN_END), *self.ids("\n")]
            ids += head + body.ids + end
            answered = (
                _answer_weights(content, body.offsets) if role == "assistant" else [0.0] * len(body.ids)
            )
            weights += [0.0] * len(head) + answered + [float(role == "assistant"), 0.0]
        return ids, weights

    def copied(self, rng: random.Random) -> tuple[list[int], list[float]]:
        """Something and the same again, sometimes quoted: nothing teaches copying as quickly."""
        if rng.random() < 0.5:
            first = [rng.randrange(3, NUM_TOKENS) for _ in range(rng.randint(4, 30))]
            return first * 3, [0.0] * len(first) + [1.0] * (2 * len(first))
        words = [tools.some_words(rng) for _ in range(rng.randint(1, 6))]
        first = self.ids(" ".join(words))
        quoted = self.ids("\n" + ", ".join(f'"{one}"' for one in words))
        return first + quoted, [0.0] * len(first) + [1.0] * len(quoted)

    def plain(self, text: str) -> tuple[list[int], list[float]]:
        ids = self.ids(text)
        return ids, [1.0] * len(ids)


def _answer_weights(content: str, offsets: list[tuple[int, int]]) -> list[float]:
    """What decides weighs most: whether a tool is called, and which; then what it is given."""
    if found := CALL.fullmatch(content):
        name, (given, given_end) = found.start(1), found.span(2)
        weights = [
            4.0 if name <= at < name + NAME_CHARS else 1.5 if given <= at < given_end else 0.3
            for at, _ in offsets
        ]
    else:
        weights = [0.7] * len(offsets)
    return [3.0, *weights[1:]]


CALL = re.compile(r'<tool_call>\n\{"name": "(.*?)", "arguments": (\{.*\})\}\n</tool_call>', re.S)


def make_rows(encoder: Encoder, rng: random.Random, phase: Phase) -> Rows:
    """The rows of one task: a part of a step that one worker computes."""
    num_rows = max(1, TOKENS_PER_TASK // phase.row_length)
    rows = [_row(encoder, rng, phase) for _ in range(num_rows)]
    return Rows(torch.tensor([r[0] for r in rows]), torch.tensor([r[1] for r in rows]))


def _row(encoder: Encoder, rng: random.Random, phase: Phase) -> tuple[list[int], list[float]]:
    """One row of `row_length` + 1 tokens; a chat starts it as a chat starts in the program."""
    length = phase.row_length
    ids: list[int] = []
    weights: list[float] = []
    kind = rng.random()
    while len(ids) <= length:
        if kind < phase.tool_share:
            more = encoder.tool_chat(tools.random_tool_chat(rng, longest=length // 80))
        elif kind < phase.tool_share + phase.copy_share:
            more = encoder.copied(rng)
        elif kind < phase.tool_share + phase.copy_share + phase.plain_share:
            more = encoder.plain(corpus.plain_text(rng, num_lines=length // 8))
        else:
            more = encoder.chat(corpus.random_chat(rng, length // 24))
        ids += more[0] + [encoder.end_of_text]
        weights += more[1] + [0.0]
    return ids[: length + 1], weights[: length + 1]


@dataclass(frozen=True, slots=True)
class Task:
    step: int
    index: int
    phase: Phase


class Workers:
    """Processes of one thread each that share the weights and take tasks as they become free.

    On a busy machine that is far faster than one process of two threads: there every operation waits
    for the thread whose core is taken.
    """

    def __init__(
        self, model: StarterModel, encoder: Encoder, num_workers: int, seed: int, compiled: bool
    ) -> None:
        self.model = model.share_memory()
        context = torch.multiprocessing.get_context("spawn")
        self._tasks: Any = context.SimpleQueue()
        self._losses: Any = context.SimpleQueue()
        self._gradients = [_zeros_like(model) for _ in range(num_workers)]
        for gradients in self._gradients:
            args = (model, gradients, encoder.tokenizer.to_str(), self._tasks, self._losses, seed, compiled)
            context.Process(target=_work, args=args, daemon=True).start()

    def compute(self, step: int, phase: Phase) -> float:
        """Leaves the mean gradient of the step in the model and returns the mean loss."""
        num_tasks = TOKENS_PER_STEP // max(TOKENS_PER_TASK, phase.row_length)
        for index in range(num_tasks):
            self._tasks.put(Task(step, index, phase))
        losses = [self._losses.get() for _ in range(num_tasks)]
        for weight, *parts in zip(self.model.parameters(), *self._gradients, strict=True):
            weight.grad = torch.stack(parts).sum(0) / num_tasks
            for part in parts:
                part.zero_()
        return float(sum(losses)) / num_tasks


def _zeros_like(model: StarterModel) -> list[Tensor]:
    return [torch.zeros_like(weight).share_memory_() for weight in model.parameters()]  # type: ignore[no-untyped-call]


def _work(
    model: StarterModel,
    gradients: list[Tensor],
    tokenizer: str,
    tasks: Any,
    losses: Any,
    seed: int,
    compiled: bool,
) -> None:
    torch.set_num_threads(1)
    encoder = Encoder(Tokenizer.from_str(tokenizer))
    for weight, gradient in zip(model.parameters(), gradients, strict=True):
        weight.grad = gradient
    if compiled:  # the layers alone: of how many positions logits are wanted differs from row to row
        model.hidden = torch.compile(model.hidden, dynamic=False)  # type: ignore[method-assign]
    while True:
        task: Task = tasks.get()
        rows = make_rows(encoder, random.Random(f"{seed} {task.step} {task.index}"), task.phase)
        loss = loss_of(model, rows)
        loss.backward()  # type: ignore[no-untyped-call]
        losses.put(loss.item())


def phase_at(progress: float) -> Phase:
    return next(phase for phase in PHASES if progress < phase.until or phase is PHASES[-1])


def rate_at(step: int, num_steps: int, warm_up: int) -> float:
    """A share of the peak: warm-up, a plateau, then a straight fall to almost nothing."""
    rise = min(1.0, (step + 1) / warm_up)
    fall = min(1.0, (num_steps - step) / (num_steps * FALL_FRACTION))
    return rise * fall


def make_optimizers(model: StarterModel) -> list[torch.optim.Optimizer]:
    """Muon for the matrices, which learns sums in far fewer steps; AdamW for tables and norms."""
    matrices = [p for n, p in model.named_parameters() if p.dim() == 2 and "embedding" not in n]
    others = [p for n, p in model.named_parameters() if p.dim() != 2 or "embedding" in n]
    muon = torch.optim.Muon(matrices, weight_decay=0.05, adjust_lr_fn="match_rms_adamw")
    adamw = torch.optim.AdamW(others, betas=(0.9, 0.98), weight_decay=0.0)
    return [muon, adamw]


def loss_of(model: torch.nn.Module, rows: Rows) -> Tensor:
    inputs, targets = rows.token_ids[:, :-1].contiguous(), rows.token_ids[:, 1:]
    weights = rows.weights[:, 1:]
    told = weights > 0
    with torch.autocast("cpu", torch.bfloat16):
        logits = model(inputs, told)
    losses = F.cross_entropy(logits.float(), targets[told], reduction="none")
    return (losses * weights[told]).sum() / weights.sum()


@torch.no_grad()
def exact_matches(model: StarterModel, encoder: Encoder, pairs: list[tuple[str, str]]) -> list[bool]:
    """Whether greedy decoding gives exactly the expected answer to each question.

    It does if, with the expected answer given, the likeliest token is the expected one at every
    place: one pass tells what a decode loop would.
    """
    found = [False] * len(pairs)
    encoded = [encoder.chat(corpus.Chat(None, (pair,))) for pair in pairs]
    # Rows of like length together: less padding to compute.
    order = sorted(range(len(pairs)), key=lambda i: len(encoded[i][0]))
    for first in range(0, len(pairs), 64):
        batch = order[first : first + 64]
        for i, right in zip(batch, _batch_matches(model, [encoded[i] for i in batch]), strict=True):
            found[i] = right
    return found


def _batch_matches(model: StarterModel, encoded: list[tuple[list[int], list[float]]]) -> list[bool]:
    longest = max(len(ids) for ids, _ in encoded)
    ids = torch.zeros(len(encoded), longest, dtype=torch.long)
    answers = torch.zeros(len(encoded), longest, dtype=torch.bool)
    for i, (row, weights) in enumerate(encoded):
        ids[i, : len(row)] = torch.tensor(row)
        answers[i, : len(row)] = torch.tensor(weights) == 1.0
    with torch.autocast("cpu", torch.bfloat16):
        likeliest = model(ids[:, :-1]).argmax(-1)
    right: list[bool] = ((likeliest == ids[:, 1:]) | ~answers[:, 1:]).all(dim=1).tolist()
    return right


class Training:
    """One run: its model, its optimizers, its average of weights, and where it stands."""

    def __init__(self, folder: Path, seed: int, num_steps: int, rate: float, start: Path | None) -> None:
        """`start`: a GGUF of this training whose weights it goes on from, with the last kinds of rows."""
        self.folder = folder
        self.seed = seed
        self.num_steps = num_steps
        self.rate = rate
        self.start = start
        self.step = 0
        self.seconds = 0.0
        torch.manual_seed(seed)
        self.encoder = Encoder(prepare_tokenizer(folder, seed, start))
        self.shape = Shape(num_tokens=self.encoder.tokenizer.get_vocab_size())
        self.model = StarterModel(self.shape)
        if start:
            self.model.load_state_dict(read_gguf.weights(start, self.model))
        self.average = StarterModel(self.shape)
        self.average.load_state_dict(self.model.state_dict())
        self.optimizers = make_optimizers(self.model)
        if self._checkpoint.exists():
            self._load()

    @property
    def _checkpoint(self) -> Path:
        return self.folder / "checkpoint.pt"

    def run(self, num_workers: int, compiled: bool) -> None:
        workers = Workers(self.model, self.encoder, num_workers, self.seed, compiled)
        saved_at = began_at = time.monotonic()
        seconds_before = self.seconds
        while self.step < self.num_steps:
            loss = self._train(workers)
            now = time.monotonic()
            self.seconds = seconds_before + now - began_at
            if self.step % 20 == 0:
                self._log({"loss": round(loss, 4)})
            if now - saved_at > CHECKPOINT_SECONDS:
                self._save()
                self._score()
                saved_at = time.monotonic()
        self._save()
        self._score()

    def _train(self, workers: Workers) -> float:
        progress = self.step / self.num_steps
        loss = workers.compute(self.step, phase_at(FROM + (TO - FROM) * progress if self.start else progress))
        warm_up = WARM_UP_AGAIN if self.start else WARM_UP_STEPS
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        for optimizer in self.optimizers:
            for group in optimizer.param_groups:
                group["lr"] = self.rate * rate_at(self.step, self.num_steps, warm_up)
            optimizer.step()
        self.step += 1
        self._update_average()
        return loss

    @torch.no_grad()
    def _update_average(self) -> None:
        # A young average must not remember the random weights it started from.
        keep = min(EMA_DECAY, self.step / (self.step + 10))
        for mean, new in zip(self.average.parameters(), self.model.parameters(), strict=True):
            mean.lerp_(new, 1 - keep)

    def _score(self) -> None:
        self.average.eval()
        scores = {}
        for name, every_pair in corpus.held_out_sets().items():
            pairs = every_pair[::SCORED_PART]
            right = exact_matches(self.average, self.encoder, pairs)
            scores[name] = round(sum(right) / max(1, len(right)), 4)
            wrong = [pair for pair, ok in zip(pairs, right, strict=True) if not ok]
            (self.folder / f"wrong_{name}.json").write_text(json.dumps(wrong, indent=1))
        self._log(scores)

    def _log(self, values: dict[str, float]) -> None:
        line = {"step": self.step, "seconds": round(self.seconds), **values}
        with (self.folder / "log.jsonl").open("a") as log:
            log.write(json.dumps(line) + "\n")

    def _save(self) -> None:
        state: dict[str, Any] = {
            "step": self.step,
            "seconds": self.seconds,
            "shape": asdict(self.shape),
            "model": self.model.state_dict(),
            "average": self.average.state_dict(),
            "optimizers": [optimizer.state_dict() for optimizer in self.optimizers],
        }
        fresh = self._checkpoint.with_suffix(".new")
        torch.save(state, fresh)
        fresh.replace(self._checkpoint)

    def _load(self) -> None:
        state = torch.load(self._checkpoint, weights_only=True)
        self.step, self.seconds = state["step"], state["seconds"]
        self.model.load_state_dict(state["model"])
        self.average.load_state_dict(state["average"])
        for optimizer, saved in zip(self.optimizers, state["optimizers"], strict=True):
            optimizer.load_state_dict(saved)


def prepare_tokenizer(folder: Path, seed: int, start: Path | None) -> Tokenizer:
    path = folder / "tokenizer.json"
    if not path.exists():
        texts = sample_texts(random.Random(seed))
        tokenizer = read_gguf.tokenizer(start) if start else train_tokenizer(texts, NUM_TOKENS)
        tokenizer.save(str(path))
    return load_tokenizer(path)


def sample_texts(rng: random.Random) -> Iterator[str]:
    for _ in range(6000):
        for _, content in corpus.random_chat(rng, longest=4).messages():
            yield content
    yield from ("system\n", "user\n", "assistant\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="where checkpoints, tokenizer and log go")
    parser.add_argument("--steps", type=int, default=2750)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rate", type=float, default=PEAK_RATE, help="the highest learning rate")
    parser.add_argument("--start", type=Path, help="a GGUF of this training to go on from")
    parser.add_argument("--workers", type=int, default=2, help="one for each core")
    parser.add_argument("--compile", action="store_true", help="faster, but needs a C++ compiler")
    args = parser.parse_args()
    # An ordinary exit takes the workers along.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    torch.set_num_threads(1)  # threads that wait for each other would keep the workers from theirs
    args.folder.mkdir(parents=True, exist_ok=True)
    training = Training(args.folder, args.seed, args.steps, args.rate, args.start)
    training.run(args.workers, args.compile)


if __name__ == "__main__":
    main()
