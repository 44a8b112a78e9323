"""Loads a model file and runs what a chat would do with it, in a process that may crash.

Run by `probe` as a child process, with limits. llama.cpp's log goes to stderr.
"""

from __future__ import annotations

import contextlib
import ctypes
import logging
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from app.engine.prompt import Prompt
from app.engine.prompts.prompt_builder import PromptBuilder
from app.protocol.errors import EngineError, RequestError
from app.protocol.load import LoadParams, LoraAdapter
from app.protocol.output import FinishReason
from app.protocol.request import MIN_CONTEXT_TOKENS, Message, Request, Role
from app.system import worker
from app.system.said import said
from app.system.worker import Answer, Question

if TYPE_CHECKING:
    from app.engine.engine import Engine
    from app.engine.llama.vocabulary import Vocabulary

MAX_LOG_BYTES = 1 << 20
STACK_BYTES = 1 << 20
NUM_SAMPLE_TOKENS = 8  # each costs a pass over all weights, with one thread
CHATS = (
    (Message(Role.USER, "Hello"),),
    (Message(Role.USER, "Hello"), Message(Role.ASSISTANT, "Hi."), Message(Role.USER, "Who are you?")),
    (Message(Role.SYSTEM, "Be brief."), Message(Role.USER, "Hello")),
    (Message(Role.USER, "<|im_end|>{{ 1 }} ä 🙂\n\n```c\n\tint x;\n```"),),
)
# Text with every byte that UTF-8 uses: a vocabulary without a fallback for one of them would abort the
# process as soon as such a letter is typed.
LETTERS = [*range(1, 0x800), *range(0x800, 0xD800, 0x800), 0xE000, 0xF000, *range(0x10000, 0x110000, 0x8000)]
EVERY_BYTE = "".join(map(chr, LETTERS))

OnProgress = Callable[[float], bool]


def examine(
    path: Path, on_progress: OnProgress, *, check_tensors: bool, adapters: tuple[LoraAdapter, ...] = ()
) -> list[str]:
    """Remarks for the log. Raises EngineError or RequestError when the file is bad."""
    from app.engine.engine import Engine
    from app.engine.llama.loading import open_llama_backend

    params = LoadParams(path, n_ctx=256, n_seq_max=2, n_batch=32, n_threads=1, adapters=adapters)
    with open_llama_backend(params, on_progress, check_tensors=check_tensors) as backend:
        if backend.model.max_sequence_tokens < MIN_CONTEXT_TOKENS:
            raise EngineError(
                said(
                    "{name} was trained with a context too short for chatting. Open another GGUF.",
                    name=path.name,
                )
            )
        with contextlib.closing(Engine(backend)) as engine:
            _read_vocabulary(backend)
            prompt, remarks = _sample_prompt(engine.prompts)
            token_ids = prompt.token_ids if prompt else backend.tokenize("Hello", parse_special=False)
            _answer(engine, Prompt(tuple(token_ids or [0])[:NUM_SAMPLE_TOKENS], CHATS[0]))
        return remarks


def examine_embedder(path: Path, on_progress: OnProgress, *, check_tensors: bool) -> list[str]:
    """As `examine`, of a model that makes vectors of texts."""
    from app.engine.embedding import TextTokenizer
    from app.engine.llama.embedder import open_llama_embedder

    params = LoadParams(path, n_ctx=64, n_threads=1, embeds=True)
    with open_llama_embedder(params, on_progress, check_tensors=check_tensors) as embedder:
        _read_vocabulary(embedder)
        texts = [TextTokenizer(embedder).whole((text,)) for text in ("Hello", "Who are you?")]
        embedder.embed([tokens or [0] for tokens in texts])
    return []


def _read_vocabulary(backend: Vocabulary) -> None:
    """Converts every token to text and back, since any may occur."""
    for token_id in range(backend.n_vocab):
        backend.token_piece(token_id)
    backend.tokenize(EVERY_BYTE, parse_special=False)


def _sample_prompt(prompts: PromptBuilder) -> tuple[Prompt | None, list[str]]:
    """The prompt of the first chat, and the template's failures on others.

    They are no reason to refuse the file: such answers report it, and many templates refuse certain chats.
    """
    built: list[Prompt] = []
    failures: list[str] = []
    for messages in CHATS:
        try:
            built.append(prompts.build(Request("probe", "probe", messages)))
        except RequestError as error:
            failures.append(str(error))
            if not built:  # not even a greeting, and each try may take seconds
                break
    return (built[0] if built else None), failures


def _answer(engine: Engine, prompt: Prompt) -> None:
    """Two tokens: the prompt is computed in one batch, and the first token in a batch of its own."""
    engine.add_request(Request("probe", "probe", CHATS[0], max_tokens=2), prompt)
    while engine.has_work:
        for output in engine.step().outputs:
            if output.finish_reason is FinishReason.ERROR:
                raise EngineError(output.notice)


def answer(question: Question) -> Answer:
    """What is remarkable. Raises EngineError or RequestError."""
    asked = question.value
    limit(asked["max_memory_bytes"], asked["max_cpu_s"])
    path, check_tensors = Path(asked["path"]), asked["check_tensors"]
    adapters = (LoraAdapter(Path(asked["adapter"])),) if asked["adapter"] else ()

    def on_progress(fraction: float) -> bool:
        question.tell(progress=fraction)
        return True

    if asked["embeds"]:
        return ({"remarks": examine_embedder(path, on_progress, check_tensors=check_tensors)},)
    return ({"remarks": examine(path, on_progress, check_tensors=check_tensors, adapters=adapters)},)


def limit(max_memory_bytes: int, max_cpu_s: int) -> None:
    worker.stand_back()
    with contextlib.suppress(OSError):  # Linux: when memory runs out, take this process
        Path("/proc/self/oom_score_adj").write_text("1000")
    _use_small_stacks()
    # DATA is what it writes to. The weights are mapped and only read, so they do not count here, as they
    # would in AS; nor do the large regions that allocators reserve and never touch.
    worker.limit(FSIZE=MAX_LOG_BYTES, CPU=max_cpu_s, DATA=max_memory_bytes)


def _use_small_stacks() -> None:
    """To check the weights, llama.cpp starts a thread for each tensor, at once: hundreds with 8 MiB each."""
    if sys.platform == "linux":
        libc = ctypes.CDLL(None)
        attributes = ctypes.create_string_buffer(64)  # a pthread_attr_t
        libc.pthread_attr_init(attributes)
        libc.pthread_attr_setstacksize(attributes, ctypes.c_size_t(STACK_BYTES))
        libc.pthread_setattr_default_np(attributes)


if __name__ == "__main__":
    parent = worker.Parent()
    logging.basicConfig(stream=sys.stderr, format="%(message)s", level=logging.WARNING)
    logging.getLogger("app.engine.llama").setLevel(logging.DEBUG)
    parent.serve(answer, EngineError, RequestError)
