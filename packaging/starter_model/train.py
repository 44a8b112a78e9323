"""Trains the starter model: from nothing in minutes on a GPU, or a little further on a CPU.

From nothing, it begins with many plain lines of arithmetic, goes over to chats, and ends with long rows while
the learning rate falls to zero. How long it takes is given; what is seen in that time depends on the machine.
"""

import argparse
import copy
import json
import random
import re
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from tokenizers import Tokenizer
from torch import Tensor
from torch.nn import functional as F
from torch.utils.data import DataLoader, IterableDataset

from starter_model import corpus, documents, read_gguf, tools
from starter_model.model import Shape, StarterModel
from starter_model.tokenizer import END_OF_TEXT, TURN_END, TURN_START

TOKENS_PER_STEP = 65_536
PEAK_RATE = 3e-3
WARM_UP, FALL = 0.02, 0.5  # parts of the whole time
EMA_DECAY = 0.999
# The user's words are learned a little: it helps to tell wordings apart and costs no answer.
USER_WEIGHT = 0.1
NAME_CHARS = 5  # of a tool's name tell which it is: the rest is copied, or written by the grammar
LOG_SECONDS = 10


@dataclass(frozen=True, slots=True)
class Phase:
    """A part of the training: until when, how long its rows are, and what shares of them are plain lines,
    chats with tools, chats about documents, and texts to be copied; the rest are chats."""

    until: float
    row_length: int
    plain: float
    tools: float
    documents: float
    copied: float


# What goes on from trained weights, on a CPU, too, sees the kinds of the whole training.
TUNING = (Phase(until=1.0, row_length=512, plain=0.03, tools=0.5, documents=0.1, copied=0.0),)
PHASES = (
    Phase(until=0.06, row_length=1024, plain=0.4, tools=0.2, documents=0.1, copied=0.15),
    Phase(until=0.75, row_length=1024, plain=0.08, tools=0.42, documents=0.15, copied=0.03),
    Phase(until=1.0, row_length=2048, plain=0.08, tools=0.42, documents=0.15, copied=0.0),
)


class Encoder:
    """Turns chats and lines into token ids with a weight for each."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.tokenizer = tokenizer
        self.end_of_text = self.ids(END_OF_TEXT)[0]
        self._end = [*self.ids(TURN_END), *self.ids("\n")]
        self._heads = {
            role: self.ids(f"{TURN_START}{role}\n") for role in ("system", "user", "assistant", "tool")
        }

    def ids(self, text: str) -> list[int]:
        ids: list[int] = self.tokenizer.encode(text).ids
        return ids

    def chat(self, messages: Iterator[tuple[str, str]]) -> tuple[list[int], list[float]]:
        ids: list[int] = []
        weights: list[float] = []
        for role, content in messages:
            head = self._heads[role]
            body = self.tokenizer.encode(content)
            ids += head + body.ids + self._end
            is_answer = role == "assistant"
            learned = _answer_weights(content, body.offsets) if is_answer else _given(role, body.ids)
            weights += [0.0] * len(head) + learned + [float(is_answer), 0.0]
        return ids, weights

    def copied(self, rng: random.Random) -> tuple[list[int], list[float]]:
        """Something and the same again, sometimes quoted: nothing teaches copying as quickly."""
        if rng.random() < 0.5:
            first = [rng.randrange(3, self.tokenizer.get_vocab_size()) for _ in range(rng.randint(4, 30))]
            return first * 3, [0.0] * len(first) + [1.0] * (2 * len(first))
        words = [tools.some_words(rng) for _ in range(rng.randint(1, 6))]
        first = self.ids(" ".join(words))
        quoted = self.ids("\n" + ", ".join(f'"{one}"' for one in words))
        return first + quoted, [0.0] * len(first) + [1.0] * len(quoted)

    def plain(self, text: str) -> tuple[list[int], list[float]]:
        ids = self.ids(text)
        return ids, [1.0] * len(ids)


def _given(role: str, ids: list[int]) -> list[float]:
    return [USER_WEIGHT if role == "user" else 0.0] * len(ids)


def _answer_weights(content: str, offsets: list[tuple[int, int]]) -> list[float]:
    """What decides weighs most: whether a tool is called, and which; then what it is given."""
    if not (found := CALL.fullmatch(content)):
        return [3.0, *[1.0] * (len(offsets) - 1)]
    name, (given, given_end) = found.start(1), found.span(2)
    weights = [
        4.0 if name <= at < name + NAME_CHARS else 1.5 if given <= at < given_end else 0.3
        for at, _ in offsets
    ]
    return [3.0, *weights[1:]]


CALL = re.compile(r'<tool_call>\n\{"name": "(.*?)", "arguments": (\{.*\})\}\n</tool_call>', re.S)


class Batches(IterableDataset[tuple[Tensor, Tensor]]):
    """Token ids and weights of the rows of one step after the other, without end, each in a worker."""

    def __init__(self, encoder: Encoder, phase: Phase, step_tokens: int, seed: int) -> None:
        self._encoder, self._phase, self._seed = encoder, phase, seed
        self._num_rows = step_tokens // phase.row_length

    def __iter__(self) -> Iterator[tuple[Tensor, Tensor]]:
        worker = torch.utils.data.get_worker_info()
        rng = random.Random(f"{self._seed} {self._phase.until} {worker.id if worker else 0}")
        while True:
            rows = [self._row(rng) for _ in range(self._num_rows)]
            ids, weights = zip(*rows, strict=True)
            yield torch.tensor(ids, dtype=torch.int16), torch.tensor(weights, dtype=torch.float16)

    def _row(self, rng: random.Random) -> tuple[list[int], list[float]]:
        """One row of `row_length` + 1 tokens; a chat starts it as a chat starts in the program."""
        length = self._phase.row_length
        ids: list[int] = []
        weights: list[float] = []
        while len(ids) <= length:
            more, their_weights = self._text(rng, length - len(ids))
            ids += [*more, self._encoder.end_of_text]
            weights += [*their_weights, 0.0]
        return ids[: length + 1], weights[: length + 1]

    def _text(self, rng: random.Random, num_left: int) -> tuple[list[int], list[float]]:
        phase, encoder = self._phase, self._encoder
        shares = (phase.plain, phase.tools, phase.documents, phase.copied)
        [kind] = rng.choices(("plain", "tools", "documents", "copied", "chat"), (*shares, 1 - sum(shares)))
        if kind == "copied":
            return encoder.copied(rng)
        if kind == "plain":
            return encoder.plain(corpus.plain_text(rng, num_lines=rng.randint(4, 40)))
        if kind == "documents":
            return encoder.chat(documents.random_chat(rng, longest=5).messages())
        if kind == "tools":
            longest = rng.randint(1, max(1, num_left // 100))
            return encoder.chat(tools.random_tool_chat(rng, longest).messages())
        return encoder.chat(corpus.random_chat(rng, longest=max(1, num_left // 24)).messages())


def rate_at(progress: float) -> float:
    """A share of the peak: warm-up, a plateau, then a straight fall to nothing."""
    return max(0.0, min(1.0, progress / WARM_UP, (1 - progress) / FALL))


def make_optimizers(model: StarterModel, device: str) -> list[torch.optim.Optimizer]:
    """Muon for the matrices, which learns sums in far fewer steps; AdamW for tables and norms.

    Muon computes in bfloat16, which most CPUs have no fast multiplication for: there AdamW does it all.
    """
    is_matrix = {n: p.dim() == 2 and "embedding" not in n for n, p in model.named_parameters()}
    muon = [p for n, p in model.named_parameters() if device == "cuda" and is_matrix[n]]
    others = [p for n, p in model.named_parameters() if device != "cuda" or not is_matrix[n]]
    adamw = torch.optim.AdamW(others, betas=(0.9, 0.98), weight_decay=0.0)
    if not muon:
        return [adamw]
    return [torch.optim.Muon(muon, weight_decay=0.05, adjust_lr_fn="match_rms_adamw"), adamw]


class Training:
    """One run: its model, its optimizers, and its average of weights."""

    def __init__(self, model: StarterModel, device: str, rate: float) -> None:
        self.device, self.rate = device, rate
        self.model = model.to(device)
        self.average = copy.deepcopy(self.model)
        self.optimizers = make_optimizers(self.model, device)
        self.num_steps = 0
        self._loss = _loss_of
        if device == "cuda":
            self._loss = torch.compile(_loss_of, dynamic=False)
            for block in self.model.blocks:
                block.compile(dynamic=False)  # one by one: they are alike, and so are compiled once

    def step(self, ids: Tensor, weights: Tensor, progress: float) -> Tensor:
        """Of rows of one phase; the mean loss, which is still being computed."""
        with torch.autocast(self.device, torch.bfloat16, enabled=self.device == "cuda"):
            hidden = self.model.hidden(ids[:, :-1])
            loss: Tensor = self._loss(hidden, self.model.embedding.weight, ids[:, 1:], weights[:, 1:])
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        for optimizer in self.optimizers:
            for group in optimizer.param_groups:
                group["lr"] = self.rate * rate_at(progress)
            optimizer.step()
            optimizer.zero_grad()
        self.num_steps += 1
        # A young average must not remember the random weights it started from.
        keep = min(EMA_DECAY, self.num_steps / (self.num_steps + 10))
        with torch.no_grad():
            torch._foreach_lerp_(list(self.average.parameters()), list(self.model.parameters()), 1 - keep)
        return loss.detach()

    def save(self, path: Path) -> None:
        """What `export_gguf` reads."""
        average = {name: weight.cpu() for name, weight in self.average.state_dict().items()}
        torch.save({"step": self.num_steps, "shape": asdict(self.model.shape), "average": average}, path)


def _loss_of(hidden: Tensor, table: Tensor, targets: Tensor, weights: Tensor) -> Tensor:
    logits = F.linear(hidden, table).float()
    losses = F.cross_entropy(logits.flatten(0, 1), targets.flatten(), reduction="none")
    return (losses * weights.flatten()).sum() / weights.sum()


def train(
    training: Training, encoder: Encoder, phases: tuple[Phase, ...], options: argparse.Namespace
) -> None:
    began = logged = time.monotonic()
    for phase in phases:
        loader = DataLoader(
            Batches(encoder, phase, options.step_tokens, options.seed),
            batch_size=None,
            num_workers=options.workers,
            prefetch_factor=4 if options.workers else None,
            pin_memory=training.device == "cuda",
            worker_init_fn=lambda _: torch.set_num_threads(1),
        )
        for ids, weights in loader:
            now = time.monotonic()
            progress = (now - began) / (options.minutes * 60)
            if progress >= phase.until:
                break
            on_device = ids.to(training.device, torch.long), weights.to(training.device, torch.float)
            loss = training.step(*on_device, progress)
            if now - logged > LOG_SECONDS:
                logged = now
                told = {"seconds": round(now - began), "step": training.num_steps, "loss": loss.item()}
                print(json.dumps(told), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="where the checkpoint and the tokenizer go")
    parser.add_argument("vocabulary", type=Path, help="a GGUF whose vocabulary is kept: the shipped one")
    parser.add_argument("--start", action="store_true", help="go on from the checkpoint that is there")
    parser.add_argument("--minutes", type=float, default=8.5)
    parser.add_argument("--rate", type=float, default=PEAK_RATE, help="the highest learning rate")
    parser.add_argument("--step-tokens", type=int, default=TOKENS_PER_STEP)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=14, help="processes that make rows")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    tokenizer = read_gguf.tokenizer(options.vocabulary)
    tokenizer.save(str(options.folder / "tokenizer.json"))
    torch.manual_seed(options.seed)
    checkpoint = options.folder / "checkpoint.pt"
    model = StarterModel(Shape(tokenizer.get_vocab_size()))
    if options.start:
        model.load_state_dict(torch.load(checkpoint, weights_only=True)["average"])
    training = Training(model, "cuda" if torch.cuda.is_available() else "cpu", options.rate)
    train(training, Encoder(tokenizer), TUNING if options.start else PHASES, options)
    training.save(checkpoint)


if __name__ == "__main__":
    main()
