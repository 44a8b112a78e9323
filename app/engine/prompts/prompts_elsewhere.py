"""A `PromptBuilder` in another process: what can be asked of it, and by which types that travels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Literal, TypeVar, cast

from app.engine.prompt import Prompt
from app.engine.prompts.prompt_builder import PromptBuilder
from app.protocol.errors import EngineError
from app.protocol.media import Media
from app.protocol.request import Request
from app.protocol.wire import Kind, WireError, unpacked_error
from app.system.said import said

T = TypeVar("T")
Answer = tuple[dict[str, Any], list[bytes]]  # {} and the value, or {"error": …}

GONE = said("The engine stopped.")


_Tokens = tuple[int, ...]
_Flags = dict[Literal["adds_leading", "parse_special"], bool]
_OfRequest = Kind[Any](tuple[tuple[Request], _Flags])
# The arguments of each method by position and by name (None: a property), and the result. A prompt travels as
# its tokens: nobody asks for the rest of it.
CALLS: dict[str, tuple[Kind[Any] | None, Kind[Any]]] = {
    "template_sources": (None, Kind(tuple[str, str])),
    "edge_texts": (None, Kind(tuple[str, str])),
    "takes_tools": (None, Kind(bool)),
    "end_tokens": (None, Kind(frozenset[int])),
    "build": (_OfRequest, Kind(_Tokens)),
    "build_ahead": (_OfRequest, Kind(_Tokens)),
    "render": (_OfRequest, Kind(str)),
    "tokenize": (Kind(tuple[tuple[str | int, ...], _Flags]), Kind(list[int])),
    "written": (Kind(tuple[tuple[_Tokens], _Flags]), Kind(list[bytes])),
    "num_media_tokens": (Kind(tuple[tuple[Media], _Flags]), Kind(int)),
    "tokens_behind": (Kind(tuple[tuple[str], _Flags]), Kind(list[int])),
}


class PromptsElsewhere:
    """Calls `work` of others on a thread of its own, with a proxy of the builder."""

    def __init__(self, ask: Callable[[str, list[bytes]], Answer]) -> None:
        """`ask` gets a name of CALLS and the arguments. It blocks. Raises EngineError."""
        self._builder = cast(PromptBuilder, _Proxy(ask))
        self._thread = ThreadPoolExecutor(1, "prompts elsewhere")

    def use(self, work: Callable[[PromptBuilder], T]) -> Future[T]:
        """Any thread."""
        try:
            return self._thread.submit(work, self._builder)
        except RuntimeError:  # the thread has ended
            future: Future[T] = Future()
            future.set_exception(EngineError(GONE))
            return future

    def close(self) -> None:
        self._thread.shutdown(wait=False)


class _Proxy:
    def __init__(self, ask: Callable[[str, list[bytes]], Answer]) -> None:
        self._ask = ask

    def __getattr__(self, name: str) -> Any:
        arguments, result = CALLS[name]

        def call(*values: Any, **flags: bool) -> Any:
            if name == "written":
                values = (tuple(values[0]),)
            answer, value = self._ask(name, arguments.packed((values, flags)) if arguments else [])
            if "error" in answer:
                raise unpacked_error(answer["error"])
            found = result.unpacked(value)
            return Prompt(found) if name.startswith("build") else found

        return call if arguments else call()


def work_of(name: object, packed: Sequence[bytes]) -> Callable[[PromptBuilder], list[bytes]]:
    """What was asked, for `use_prompts` where the builder is. Raises WireError and InvalidRequestError."""
    if not isinstance(name, str) or name not in CALLS:
        raise WireError("nothing of this name can be asked")
    arguments, result = CALLS[name]
    values, flags = arguments.unpacked(packed) if arguments else ((), {})

    def work(prompts: PromptBuilder) -> list[bytes]:
        wanted = getattr(prompts, name)
        found = wanted(*values, **flags) if arguments else wanted
        return result.packed(found.token_ids if isinstance(found, Prompt) else found)

    return work
