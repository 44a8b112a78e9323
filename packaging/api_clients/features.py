"""What each client is asked to do, and what several of them ask with. Runs with the clients' packages."""

from __future__ import annotations

import gc
import json
import os
import signal
import time
import urllib.request
from collections.abc import Callable
from importlib.metadata import version
from typing import Any, Literal

from pydantic import BaseModel, Field

FEATURES = {
    "chat": "a chat of three turns",
    "stream": "the same in pieces",
    "tools": "a flat tool that must be called",
    "nested": "a tool with $defs that must be called",
    "forced": "the second of two tools, by name",
    "parallel": "two calls in one answer, which the model chose to write",
    "streamed": "the same in pieces",
    "results": "what a tool returned, sent back",
    "schema": "an answer of a flat schema",
    "schema_nested": "an answer of a nested schema",
    "logprobs": "with three alternatives",
    "n": "two answers to one prompt",
    "errors": "a wrong key, and a body that makes no sense",
    "cancel": "the reader leaves; the server stops computing",
}
TIMEOUT_S = 120
FOREVER = 30_000  # tokens; a cancelled answer has fewer
CANCELLED_WITHIN_S = 20
CLIENT_TIMEOUT_S = 60

URL = os.environ.get("SKEIN_CLIENTS_URL", "")  # of a model that babbles
CALLER_URL = os.environ.get("SKEIN_CLIENTS_CALLER_URL", "")  # of one that calls get_weather twice
KEY = os.environ.get("SKEIN_CLIENTS_KEY", "")
MODEL = "any"

PARIS = {"city": "Paris", "days": 3, "metric": True}
ROME = {"city": "Rome", "days": 2, "metric": False}


class Weather(BaseModel):
    """The weather of the next days."""

    city: str = Field(max_length=20)
    days: int = Field(ge=1, le=9)
    metric: bool


class Place(BaseModel):
    name: str = Field(max_length=20)
    kind: Literal["town", "village"]


class Trip(BaseModel):
    """A journey from place to place."""

    start: Place
    stops: list[Place] = Field(max_length=2)
    note: str | None = Field(max_length=20)


def function_tool(name: str, model: type[BaseModel]) -> dict[str, Any]:
    """As OpenAI has it."""
    function = {"name": name, "description": model.__doc__, "parameters": model.model_json_schema()}
    return {"type": "function", "function": function}


WEATHER_TOOL = function_tool("get_weather", Weather)
TRIP_TOOL = function_tool("book_trip", Trip)
MESSAGES = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Hello!"},
    {"role": "assistant", "content": "Hello. What is it?"},
    {"role": "user", "content": "Nothing."},
]


def run(package: str, functions: dict[str, Any]) -> None:
    """Calls those named after a feature. Prints a line of JSON for each: null if it works, else why not."""
    print(json.dumps({"version": f"{package} {version(package)}"}), flush=True)
    for feature, case in ((name, functions[name]) for name in FEATURES if name in functions):
        signal.signal(signal.SIGALRM, _too_late)
        signal.alarm(TIMEOUT_S)
        try:
            case()
            reason = None
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"
        signal.alarm(0)
        print(json.dumps({"feature": feature, "reason": reason}), flush=True)


def _too_late(*_: object) -> None:
    raise TimeoutError(f"no answer within {TIMEOUT_S} s")


def check(is_so: object, what: object) -> None:
    if not is_so:
        raise AssertionError(str(what))


def check_raises(
    kind: type[BaseException] | tuple[type[BaseException], ...], call: Callable[[], object]
) -> str:
    """The message of the error."""
    try:
        result = call()
    except kind as error:
        check(len(str(error)) > 10, f"says nothing: {error}")
        return str(error)
    raise AssertionError(f"no error, but {result!r:.200}")


def check_calls(calls: list[tuple[str, Any]]) -> None:
    """Names and arguments (as JSON or read) of both calls that the other model makes."""
    read = [(name, json.loads(given) if isinstance(given, str) else dict(given)) for name, given in calls]
    check(read == [("get_weather", PARIS), ("get_weather", ROME)], f"calls: {read}")


def check_cancelled(leave: Callable[[], object]) -> None:
    """`leave` begins an answer of FOREVER tokens and goes away."""
    before = _metrics()["llamacpp:tokens_predicted_total"]
    leave()
    gc.collect()  # some clients close a stream only when nothing holds it any more
    deadline = time.monotonic() + CANCELLED_WITHIN_S
    while (metrics := _metrics())["llamacpp:requests_processing"]:
        check(time.monotonic() < deadline, "the server goes on computing")
        time.sleep(0.1)
    num_tokens = metrics["llamacpp:tokens_predicted_total"] - before
    check(num_tokens < FOREVER - 1000, f"the server computed {num_tokens:.0f} tokens for nobody")


def _metrics() -> dict[str, float]:
    asked = urllib.request.Request(f"{URL}/metrics", headers={"Authorization": f"Bearer {KEY}"})
    with urllib.request.urlopen(asked) as response:
        lines = response.read().decode().splitlines()
    return {line.split()[0]: float(line.split()[1]) for line in lines if not line.startswith("#")}
