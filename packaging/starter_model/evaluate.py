"""Scores a GGUF on what training never saw.

Anything that answers prompts can be scored: `score` takes a callable. Here that is llama-cpp-python at
temperature 0, through the chat template of the GGUF.
"""

import argparse
import json
from collections.abc import Callable
from pathlib import Path

from starter_model import corpus, tools
from starter_model.tokenizer import TURN_END, TURN_START

Answer = Callable[[list[str]], list[str]]
Message = tuple[str, str]

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


def score_tools(
    go_on: Callable[[list[Message]], str],
) -> tuple[dict[str, float], dict[str, list[dict[str, str]]]]:
    """Of chats with tools. A call is right if its tool and all its arguments are."""
    sets = {
        "calls": [_split(chat, 2) for chat in tools.held_out_calls()],
        "answers from results": [_split(chat, 4) for chat in tools.held_out_results()],
        "no tool fits": [_split(chat, 2) for chat in tools.held_out_without_fit()],
    }
    scores: dict[str, float] = {}
    wrong: dict[str, list[dict[str, str]]] = {}
    for name, asked in sets.items():
        answers = [go_on(messages) for messages, _ in asked]
        wrong[name] = [
            {"asked": messages[-1][1], "tools": messages[0][1], "expected": expected, "got": answer}
            for (messages, expected), answer in zip(asked, answers, strict=True)
            if answer.strip() != expected
        ]
        scores[name] = 1 - len(wrong[name]) / len(asked)
        if name == "no tool fits":
            scores["calls where no tool fits"] = sum("<tool_call>" in one for one in answers) / len(asked)
    return scores, wrong


def _split(chat: tools.ToolChat, num_messages: int) -> tuple[list[Message], str]:
    """The messages before the one that is to be written, and that one."""
    messages = list(chat.messages())
    return messages[:num_messages], messages[num_messages][1]


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

    def go_on(self, messages: list[Message]) -> str:
        """The next message, written without any grammar."""
        prompt = "".join(f"{TURN_START}{role}\n{content}{TURN_END}\n" for role, content in messages)
        prompt += f"{TURN_START}assistant\n"
        reply = self._llama.create_completion(prompt, temperature=0.0, repeat_penalty=1.0, max_tokens=500)
        return str(reply["choices"][0]["text"])

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
    tool_scores, tool_wrong = score_tools(answerer.go_on)
    return scores | tool_scores, wrong | tool_wrong


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
