"""Checks that llama.cpp sees in the GGUF what torch sees in the checkpoint: tokens and logits."""

import argparse
import random
from pathlib import Path

import numpy as np
import torch
from llama_cpp import Llama

from starter_model import corpus
from starter_model.export_gguf import Trained, load_trained
from starter_model.tokenizer import TURN_END, TURN_START

NUM_TEXTS = 400
NUM_LOGIT_CHATS = 20
# F16 weights and other orders of summing move a logit by a few hundredths.
TOLERANCE = 0.1

_ODD_TEXTS = (
    "",
    " ",
    "  two  spaces ",
    "a\n\nb\r\n c\t\td",
    "it's WE'RE don't",
    "1234567890 3.14 -5+7=2",
    "äöüß éè ñ ¿qué? Ответ 是什么 🙂🙂 e\u0301",
    "<|im_end|> <|not_special|> im_start",
    "x" * 300,
)


def sample_texts(seed: str) -> list[str]:
    rng = random.Random(seed)
    texts = list(_ODD_TEXTS)
    while len(texts) < NUM_TEXTS:
        texts += [content for _, content in corpus.random_chat(rng, longest=3).messages()]
        texts.append(corpus.plain_text(rng, num_lines=4))
    return texts[:NUM_TEXTS]


def count_token_differences(trained: Trained, llama: Llama) -> int:
    different = 0
    for text in sample_texts("tokens"):
        ours = trained.tokenizer.encode(text).ids
        theirs = llama.tokenize(text.encode(), add_bos=False, special=True)
        different += ours != theirs
    return different


def largest_logit_difference(trained: Trained, llama: Llama) -> float:
    rng = random.Random("logits")
    largest = 0.0
    for _ in range(NUM_LOGIT_CHATS):
        text = "".join(
            f"{TURN_START}{role}\n{content}{TURN_END}\n"
            for role, content in corpus.random_chat(rng, longest=6).messages()
        )
        ids = trained.tokenizer.encode(text).ids
        with torch.no_grad():
            ours = trained.model(torch.tensor([ids]))[0].numpy()
        llama.reset()
        llama.eval(ids)
        theirs = np.array(llama.scores[: len(ids)])
        largest = max(largest, float(np.abs(ours - theirs).max()))
    return largest


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="the training folder")
    parser.add_argument("gguf", type=Path)
    args = parser.parse_args()
    trained = load_trained(args.folder)
    llama = Llama(str(args.gguf), n_ctx=2048, logits_all=True, verbose=False)
    different = count_token_differences(trained, llama)
    largest = largest_logit_difference(trained, llama)
    print(f"texts cut differently: {different} of {NUM_TEXTS}")
    print(f"largest difference of a logit: {largest:.4f}")
    if different or largest > TOLERANCE:
        raise SystemExit("the GGUF is not what was trained")


if __name__ == "__main__":
    main()
