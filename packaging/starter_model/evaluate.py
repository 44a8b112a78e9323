"""Scores a GGUF on what training never saw.

Anything that answers prompts can be scored: `score` takes a callable. Here that is llama-cpp-python at
temperature 0, through the chat template of the GGUF.
"""

import argparse
import json
from collections.abc import Callable
from pathlib import Path

from starter_model import corpus

Answer = Callable[[list[str]], list[str]]

SYSTEM_PROMPTS = (None, "You are a helpful assistant.")
GOALS = {"sums": 0.98, "differences": 0.95, "questions": 0.90}


def score(answer: Answer, pairs: list[tuple[str, str]]) -> tuple[float, list[dict[str, str]]]:
    """The share of exactly right answers, and what came instead of the others."""
    answers = answer([asked for asked, _ in pairs])
    wrong = [
        {"asked": asked, "expected": expected, "got": got}
        for (asked, expected), got in zip(pairs, answers, strict=True)
        if got.strip() != expected
    ]
    return 1 - len(wrong) / len(pairs), wrong


def score_chats(answer_chat: Callable[[corpus.Chat], list[str]]) -> float:
    """The share of chats whose every turn is right, each answered after the model's own answers."""
    chats = corpus.held_out_chats()
    right = sum(answer_chat(chat) == [answer for _, answer in chat.turns] for chat in chats)
    return right / len(chats)


class LlamaAnswerer:
    """Answers with llama-cpp-python, greedily."""

    def __init__(self, gguf: Path, system: str | None = None) -> None:
        from llama_cpp import Llama

        self._llama = Llama(str(gguf), n_ctx=2048, verbose=False)
        self.system = system

    def __call__(self, prompts: list[str]) -> list[str]:
        return [self._reply([{"role": "user", "content": prompt}]) for prompt in prompts]

    def answer_chat(self, chat: corpus.Chat) -> list[str]:
        messages: list[dict[str, str]] = []
        for asked, _ in chat.turns:
            messages.append({"role": "user", "content": asked})
            messages.append({"role": "assistant", "content": self._reply(messages)})
        return [message["content"] for message in messages[1::2]]

    def _reply(self, messages: list[dict[str, str]]) -> str:
        if self.system is not None:
            messages = [{"role": "system", "content": self.system}, *messages]
        reply = self._llama.create_chat_completion(
            messages, temperature=0.0, repeat_penalty=1.0, max_tokens=500
        )
        return str(reply["choices"][0]["message"]["content"])


def score_all(gguf: Path) -> tuple[dict[str, float], dict[str, list[dict[str, str]]]]:
    scores: dict[str, float] = {}
    wrong: dict[str, list[dict[str, str]]] = {}
    answerer = LlamaAnswerer(gguf)
    for system in SYSTEM_PROMPTS:
        answerer.system = system
        suffix = " with a system prompt" if system else ""
        for name, pairs in corpus.held_out_sets().items():
            scores[name + suffix], wrong[name + suffix] = score(answerer, pairs)
        scores["chats" + suffix] = score_chats(answerer.answer_chat)
    return scores, wrong


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("gguf", type=Path)
    parser.add_argument("--wrong", type=Path, help="where to write the wrong answers, as JSON")
    args = parser.parse_args()
    scores, wrong = score_all(args.gguf)
    for name, value in scores.items():
        print(f"{value:7.2%}  {name}")
    if args.wrong:
        args.wrong.write_text(json.dumps(wrong, indent=1, ensure_ascii=False))
    if any(scores[name] < goal for name, goal in GOALS.items()):
        raise SystemExit("below the goals")


if __name__ == "__main__":
    main()
