"""A `PromptBuilder` in another process: what can be asked of it, and by which types that travels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any, Literal, TypeVar, cast

from app.engine.prompt import Prompt
from app.engine.prompts.prompt_builder import PromptBuilder
from app.protocol.errors import EngineError
from app.protocol.request import Request
from app.protocol.wire import Kind, WireError, packed_error, unpacked_error
from app.system.said import said

T = TypeVar("T")
Answer = tuple[dict[str, Any], list[bytes]]  # {} and the value, or {"error": …}

GONE = said("The engine stopped.")


class _Call:
    """A method's arguments by position and by name, and its result; or a property, without arguments."""

    def __init__(self, result: Any, arguments: Any = None, *names: str) -> None:
        self.result: Kind[Any] = Kind(result)
        self.is_property = arguments is None
        named = dict[Literal[names], bool] if names else dict[Literal[""], bool]  # type: ignore[valid-type]
        self.arguments: Kind[Any] = Kind(tuple[arguments or tuple[()], named])  # type: ignore[misc]


# A prompt travels as its tokens: nobody asks for the rest of it.
_TOKENS = tuple[int, ...]
_PROMPTS = ("build", "build_ahead")
CALLS = {
    "template_sources": _Call(tuple[str, str]),
    "edge_texts": _Call(tuple[str, str]),
    "takes_tools": _Call(bool),
    "end_tokens": _Call(frozenset[int]),
    "build": _Call(_TOKENS, tuple[Request]),
    "build_ahead": _Call(_TOKENS, tuple[Request]),
    "render": _Call(str, tuple[Request]),
    "tokenize": _Call(list[int], tuple[str | int, ...], "adds_leading", "parse_special"),
    "written": _Call(list[bytes], tuple[_TOKENS]),
    "tokens_behind": _Call(list[int], tuple[str]),
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
        call = partial(self._call, name)
        return call() if CALLS[name].is_property else call

    def _call(self, name: str, *arguments: Any, **named: bool) -> Any:
        if name == "written":
            arguments = (tuple(arguments[0]),)
        answer, value = self._ask(name, CALLS[name].arguments.packed((arguments, named)))
        if "error" in answer:
            raise unpacked_error(answer["error"])
        result = CALLS[name].result.unpacked(value)
        return Prompt(result) if name in _PROMPTS else result


def work_of(name: object, packed: Sequence[bytes]) -> Callable[[PromptBuilder], list[bytes]]:
    """What was asked, for `use_prompts` where the builder is. Raises WireError and InvalidRequestError."""
    call = CALLS.get(name) if isinstance(name, str) else None
    if call is None:
        raise WireError("nothing of this name can be asked")
    arguments, named = call.arguments.unpacked(packed)

    def work(prompts: PromptBuilder) -> list[bytes]:
        wanted = getattr(prompts, cast(str, name))
        result = wanted if call.is_property else wanted(*arguments, **named)
        return call.result.packed(result.token_ids if isinstance(result, Prompt) else result)

    return work


def answer_of(done: Future[list[bytes]]) -> Answer:
    error = done.exception()
    return ({"error": packed_error(error)}, []) if error else ({}, done.result())
